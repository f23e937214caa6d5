"""A posenc server for one test class, and a plain client that reads its tensors."""

import http.client
import json
import os
import select
import subprocess
import tempfile
import unittest
from collections import deque, namedtuple
from urllib.parse import urlencode, urlsplit

import numpy as np

SERVER = os.path.abspath(os.environ.get("TEST_SERVER", "build/posenc-server"))
PATIENCE = 60  # seconds until anything that does not answer fails its test
# For connections that are kept while a test computes, and a machine of any speed.
PATIENT = ("--idle-seconds", "3600", "--header-seconds", "3600", "--compute-seconds", "600")

# the unsigned integers that hold the bits of an element
BITS = {
    "f32": np.dtype("<u4"),
    "f64": np.dtype("<u8"),
    "f16": np.dtype("<u2"),
    "bf16": np.dtype("<u2"),
    "i32": np.dtype("<u4"),
}
REAL = {"f32": np.dtype("<f4"), "f64": np.dtype("<f8"), "f16": np.dtype("<f2")}

Reply = namedtuple("Reply", "status headers body")


def query_text(options):
    """A query string: lists joined by commas, booleans in small letters, exact numbers."""

    def text(value):
        if isinstance(value, (list, tuple)):
            return ",".join(text(item) for item in value)
        return json.dumps(value) if isinstance(value, (bool, int, float)) else str(value)

    return urlencode({name: text(value) for name, value in options.items()}, safe=",")


class Server:
    """A running server on a port that the system picked."""

    recent = deque(maxlen=2)  # the servers started last: a failed test shows their last words

    def __init__(self, *flags):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("POSENC_")}
        self.log = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen(
            [SERVER, "--port", "0", "--drain-seconds", "0", *PATIENT, *flags],
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            env=clean,
        )
        Server.recent.append(self)
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
        line = self.process.stdout.readline() if ready else ""
        if " listening on " not in line:
            self.process.kill()
            raise RuntimeError(f"{SERVER} did not start: {line!r} {self.read_log()}")
        self.url = line.split()[-1]

    def read_log(self):
        self.log.seek(0)
        return self.log.read()

    def last_words(self, lines=3):
        return [] if self.log.closed else self.read_log().splitlines()[-lines:]

    def stop(self):
        """SIGTERM, as an operator stops it; returns the exit status."""
        self.process.terminate()
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()
        finally:
            self.process.stdout.close()


class ServiceTest(unittest.TestCase):
    """A test class with its own server and one connection to it."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        parts = urlsplit(cls.server.url)
        cls.connection = http.client.HTTPConnection(
            parts.hostname, parts.port, timeout=PATIENCE
        )

    @classmethod
    def tearDownClass(cls):
        cls.connection.close()
        status, log = cls.server.stop(), cls.server.read_log()
        cls.server.log.close()
        if status != 0:
            raise AssertionError(f"the server ended with status {status}:\n{log}")

    def request(self, method, target, body=None, headers=None):
        """One request on the connection, or on a new one: the server closes what was idle while
        this process has computed."""
        try:
            return self._ask(method, target, body, headers)
        except ConnectionError:
            self.connection.close()
            return self._ask(method, target, body, headers)

    def _ask(self, method, target, body, headers):
        self.connection.request(method, target, body=body, headers=headers or {})
        answer = self.connection.getresponse()
        return Reply(answer.status, answer.headers, answer.read())

    def get(self, target, expect=200):
        reply = self.request("GET", target)
        self.assertEqual(reply.status, expect, f"GET {target}\n{reply.body[:2000]!r}")
        return reply

    def encoding(self, scheme, options):
        """The answer to a GET of one encoding."""
        return self.get(f"/v1/encodings/{scheme}?{query_text(options)}")

    def bits(self, scheme, options):
        """The bits of the primary tensor, by the raw format; long lists go by POST."""
        options = {"format": "raw", **options}
        if any(isinstance(v, (list, tuple)) and len(v) > 100 for v in options.values()):
            reply = self.request(
                "POST",
                f"/v1/encodings/{scheme}",
                json.dumps(options),
                {"Content-Type": "application/json"},
            )
            self.assertEqual(reply.status, 200, f"POST {scheme}\n{reply.body[:2000]!r}")
        else:
            reply = self.encoding(scheme, options)
        return self.tensor(reply)

    def tensor(self, reply):
        """The bits of a raw body, shaped as its Tensor-* headers say."""
        self.assertEqual(reply.headers["Tensor-Byte-Order"], "little")
        shape = [int(extent) for extent in reply.headers["Tensor-Shape"].split(", ")]
        dtype = BITS[reply.headers["Tensor-Dtype"]]
        self.assertEqual(len(reply.body), dtype.itemsize * int(np.prod(shape)))
        return np.frombuffer(reply.body, dtype).reshape(shape)

    def schemes(self):
        """Every scheme's own description."""
        names = [entry["name"] for entry in json.loads(self.get("/v1/schemes").body)["schemes"]]
        return [json.loads(self.get(f"/v1/schemes/{name}").body) for name in names]


def parameter(scheme, name):
    """A parameter's description, or None."""
    return next((p for p in scheme["parameters"] if p["name"] == name), None)


def example_options(scheme):
    """The scheme's own small legal query as a dictionary of texts."""
    return dict(pair.split("=") for pair in scheme["example"].split("&"))


def value_of(described, text):
    """A query's text as the JSON value that the parameter's description makes of it."""
    if described["type"] == "array":
        return [json.loads(item) for item in text.split(",")]
    return text if described["type"] == "string" else json.loads(text)


def example_document(scheme):
    """The same query as a JSON body's values."""
    return {
        name: value_of(parameter(scheme, name), text)
        for name, text in example_options(scheme).items()
    }
