"""Something to pin: files that are the same from every server and in the next release."""

import hashlib
import json
import re
import shutil
import tempfile
import unittest
from pathlib import Path

from registry import example, query_of
from server import BINARY, Server, ServerCase

SINUSOIDAL = "/v1/encodings/sinusoidal"
BINARY_FORMATS = ("npy", "safetensors", "raw")
FORMATS = (*BINARY_FORMATS, "json", "csv", "png")
BATCH = [
    {"name": "a", "scheme": "rope", "length": 300, "dim": 64},
    {"name": "b", "scheme": "alibi", "length": 70, "heads": 8, "tensor": "bias"},
    {"name": "c", "scheme": "sinusoidal", "length": 3000, "dim": 120},
]


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class Streams(ServerCase):
    """What is computed as it is read."""

    flags = ("--cache-bytes", "1MiB", "--compute-cost", "50000000")
    target = f"{SINUSOIDAL}?length=4000&dim=100&format="

    def test_files_are_those_of_a_larger_server(self):
        larger = self.start()
        targets = [
            *(self.target + name for name in BINARY_FORMATS),
            "/v1/encodings/rope?length=60000&dim=128&format=safetensors",
            "/v1/models/llama-3.1-8b?length=3000&format=safetensors",
        ]
        for target in targets:
            with self.subTest(target):
                small, large = self.get(target), larger.request("GET", target)
                self.assertEqual(small.header("ETag"), large.header("ETag"))
                self.assertEqual(sha256(small.body), sha256(large.body))
                self.assertEqual(
                    int(self.head(target).header("Content-Length")), len(large.body)
                )
                for bounds in ("bytes=0-99", "bytes=-1000"):
                    part = self.get(target, {"Range": bounds})
                    if part.status == 206:
                        first, last = part.header("Content-Range")[6:].split("/")[0].split("-")
                        self.assertEqual(part.body, large.body[int(first) : int(last) + 1])


class Releases(ServerCase):
    """The same program under another number."""

    NUMBER = re.compile(rb"(?<![\d.])(\d+\.\d+\.\d+)(?![\d.])")

    def start_next(self):
        """A server whose program has another release number of the same length."""
        number = self.get("/v1/info").json()["version"].encode()
        other = bytes(b ^ 1 if chr(b).isdigit() else b for b in number)
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        program = Path(folder, "posenc-server")
        shutil.copy(BINARY, program)
        content = program.read_bytes()
        self.assertIn(number, content)
        program.write_bytes(
            self.NUMBER.sub(lambda found: other if found[1] == number else found[1], content)
        )
        server = Server(*self.flags, binary=str(program))
        self.addCleanup(server.stop)
        self.assertEqual(server.request("GET", "/v1/info").json()["version"].encode(), other)
        return server

    def test_a_pinned_script_survives_a_change_of_release(self):
        after = self.start_next()
        targets = [
            f"/v1/{root}{scheme['name']}?{query_of(example(scheme))}&format={name}{more}"
            for scheme in self.get("/v1/schemes").json()["schemes"]
            for root, more in (("encodings/", ""), ("similarity/", "&metric=l2"))
            for name in FORMATS
        ]
        targets += [
            f"/v1/models/llama-3.1-8b?length=50&format={n}" for n in ("json", "safetensors")
        ]
        pins = {}
        for target in targets:
            reply = self.get(target)
            if reply.status == 200:
                pins[target] = sha256(reply.body)
        self.assertGreater(len(pins), 200)
        for target, pin in pins.items():
            reply = after.request("GET", target)
            self.assertEqual(sha256(reply.body), pin, target)
            if "models" not in target:
                tag = self.head(target).header("ETag")
                same = after.request("GET", target, {"If-None-Match": tag})
                self.assertEqual(same.status, 304, target)
        for name in ("safetensors", "json"):
            body = json.dumps({"requests": BATCH, "format": name}).encode()
            types = {"Content-Type": "application/json"}
            before, later = (
                server.request("POST", "/v1/batch", types, body)
                for server in (self.server, after)
            )
            self.assertEqual(sha256(before.body), sha256(later.body))


if __name__ == "__main__":
    unittest.main()
