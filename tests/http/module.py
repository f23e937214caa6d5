"""The module as one of two sides that are asked the same: posenc.wasm in Node, behind pipes."""

import json
import os
import re
import struct
import subprocess
from pathlib import Path

from comparison import ENDED, Answer

BRIDGE = Path(__file__).parent / "module_bridge.mjs"
MODULE = Path(os.environ.get("TEST_MODULE", "build/wasm/posenc.js")).resolve()
# Of a server's flags the module has these.
SETTINGS = (
    "memory-bytes", "cache-bytes", "max-elements", "json-max-elements", "png-max-pixels",
    "max-list-length", "max-target-bytes", "max-body-bytes", "max-upload-bytes",
    "max-store-bytes", "max-table-bytes", "max-stored-sets", "compute-seconds", "compute-cost",
)  # fmt: skip
# What a server has by default, as far as a module has less.
STANDARD = {"memory-bytes": "2GiB", "cache-bytes": "256MiB", "max-upload-bytes": "256MiB"}
# Fields of answers that belong to the wire, and those that only say how the work was done.
OF_THE_WIRE = {
    "connection": "there is none",
    "date": "the clock of a server",
    "keep-alive": "there is no connection",
    "server-timing": "how long computing took",
    "transfer-encoding": "a body of unknown length ends where it ends",
}
# Entries of the cache are smaller with pointers of 32 bits, so that others are evicted.
KEPT_OR_NOT = re.compile(r"posenc; (hit|fwd=miss)(; collapsed)?\b")
# Documents that say what runs.
OWN = ("/v1/info", "/metrics")
PAGES = ("/", "/docs", "/assets/")
# Fields of requests that frame the message, which fetch does not let a caller set.
FRAMING = ("content-length", "expect", "transfer-encoding")


def is_module(path):
    return str(path).endswith(".js")


def settings_of(flags):
    """{name: value} for a module beside a server with these flags."""
    pairs = zip(flags, flags[1:])
    given = {
        flag[2:]: value
        for flag, value in pairs
        if flag.startswith("--") and flag[2:] in SETTINGS
    }
    return STANDARD | given


def reason_to_skip(method, target, headers, version="1.1", raw=None):
    """Why the module is not asked this; None if it is."""
    path = target.partition("?")[0]
    if raw is not None:
        return "bytes that are no request, or several"
    if version != "1.1":
        return "HTTP/1.0"
    if path in OWN:
        return "what runs: " + ", ".join(OWN)
    if path in PAGES or path.startswith("/assets/"):
        return "the pages, which are files beside the module"
    if any(name.lower() in FRAMING and value is not None for name, value in headers.items()):
        return "fields that frame a message"
    return None


class Module:
    """A process with an instance."""

    def __init__(self, settings=None, path=MODULE):
        self.process = subprocess.Popen(
            ["node", str(BRIDGE), str(path), json.dumps(settings or {})],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def give(self, block):
        self.process.stdin.write(struct.pack("<I", len(block)) + block)

    def take(self):
        size = self.process.stdout.read(4)
        if len(size) < 4:
            raise EOFError(self.process.stderr.read().decode())
        return self.process.stdout.read(struct.unpack("<I", size)[0])

    def ask(self, method, target, headers=None, body=b""):
        """An Answer."""
        fields = list(fields_of({"Host": "localhost", **(headers or {})}).items())
        head = {"method": method, "target": as_text(target), "headers": fields}
        self.give(json.dumps(head).encode())
        self.give(body or b"")
        self.process.stdin.flush()
        reply, data = json.loads(self.take()), self.take()
        if "failure" in reply:
            return Answer(0, [], reply["failure"].encode(), ENDED)
        return Answer(reply["status"], [tuple(pair) for pair in reply["headers"]], data)

    def stop(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


def fields_of(headers):
    """{name: value} of what tests write, with the lines of one field joined as fetch does."""
    fields = {}
    for name, value in headers.items():
        for line in f"{name}: {as_text(value)}".split("\r\n"):
            name, _, text = line.partition(": ")
            fields.setdefault(name.lower(), []).append(text)
    return {name: ", ".join(texts) for name, texts in fields.items()}


def as_text(value):
    return value.decode("latin-1") if isinstance(value, bytes) else value


class ModuleSide:
    """As the Side of same_answers.py."""

    def __init__(self, path, flags):
        self.path, self.settings = path, settings_of(flags)
        self.start()

    def start(self):
        self.module = Module(self.settings, self.path)

    def stop(self):
        self.module.stop()

    def restart(self):
        self.stop()
        self.start()

    def send(self, asked, tag):
        headers = {name: value.replace("{tag}", tag) for name, value in asked.headers.items()}
        self.answer = self.module.ask(asked.method, asked.target, headers, asked.body)

    def receive(self, _asked):
        return self.answer


def without_wire(answer):
    """What is compared of an answer."""
    kept = [
        (name, KEPT_OR_NOT.sub("posenc; hit or miss", value))
        for name, value in answer.fields
        if name.lower() not in OF_THE_WIRE
    ]
    return answer._replace(fields=kept)
