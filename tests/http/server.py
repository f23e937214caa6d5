"""Starts posenc-server for a test, talks to it over real sockets and stops it."""

import contextlib
import http.client
import json
import os
import random
import re
import select
import signal
import socket
import subprocess
import tempfile
import time
import unittest
from collections import deque
from pathlib import Path
from urllib.parse import urlsplit

BINARY = str(Path(os.environ.get("TEST_SERVER", "build/posenc-server")).resolve())
PATIENCE = 180  # seconds to wait for something that must happen, also under a sanitizer
SANITIZER_TEXT = re.compile(r"runtime error:|Sanitizer")
PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")  # a second


def environment_with(variables=None):
    """This process's environment without the POSENC_ variables, plus `variables`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("POSENC_")}
    return {**kept, **(variables or {})}


def run(*arguments, environment=None, seconds=PATIENCE, before=None):
    """Run the binary until it exits; returns a CompletedProcess with texts. `before` is called
    in the new process, before it becomes the server."""
    ended = subprocess.run(
        [BINARY, *arguments],
        env=environment_with(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
        preexec_fn=before,
    )
    if SANITIZER_TEXT.search(ended.stderr):
        raise AssertionError(f"{arguments}: {ended.stderr}")
    return ended


def free_port():
    """A port that is free now, for a program that cannot choose one. Connections and servers on
    port 0 get theirs from another range, so that none of them takes it meanwhile."""
    begin = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.randrange(min(10000, begin // 2), begin)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def library_version():
    """The version of the libmicrohttpd that runs, as numbers: (0, 9, 75)."""
    found = re.search(r"\(libmicrohttpd (\d+)\.(\d+)\.(\d+)", run("--version").stdout)
    return tuple(int(part) for part in found.groups())


def look_at(paths, read):
    """What `read` says of each path below /proc, without those that are gone meanwhile:
    descriptors are closed and threads end between the listing and the look."""
    found = []
    for path in paths:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            found.append(read(path))
    return found


def wait_until(holds, what, seconds=PATIENCE):
    """Poll until `holds()` is true and return its value; fail after `seconds`."""
    deadline = time.monotonic() + seconds
    while not (value := holds()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.002)
    return value


def wait_for_health(*flags, environment=None):
    """Wait until --healthcheck finds the server: one look gives up after three seconds, also
    where neither process ran meanwhile."""

    def is_found():
        return run("--healthcheck", *flags, environment=environment).returncode == 0

    wait_until(is_found, "it is healthy")


class Reply:
    """Status, header fields in their order, body."""

    def __init__(self, status, fields, body):
        self.status, self.fields, self.body = status, fields, body

    def header(self, name):
        """A field's value, None if absent; a field given twice is a failure."""
        values = [value for key, value in self.fields if key.lower() == name.lower()]
        if len(values) > 1:
            raise AssertionError(f"{name} is given {len(values)} times: {values}")
        return values[0] if values else None

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {dict(self.fields)} {self.body[:400]!r}"


def directly(_method, _target, _headers, _body, perform):
    return perform()


class Way:
    """How an exchange reaches the server: `carry` calls `perform`, which returns the reply. The
    contract's tests replace it to put a validating proxy in between."""

    carry = staticmethod(directly)


class Wire:
    """One raw connection: any bytes out, replies in, framed strictly by the protocol."""

    def __init__(self, address, receive_buffer=None):
        if isinstance(address, str):
            family = socket.AF_UNIX
        else:
            family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.settimeout(PATIENCE)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        try:
            self.socket.connect(address)
        except OSError:
            self.socket.close()
            raise
        self.pending = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def abort(self):
        """End both directions, so that another thread's send or receive returns."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)

    def send(self, data):
        self.socket.sendall(data)

    def ask(self, method, target, headers=None, body=b"", version="1.1"):
        """Send one request; header values and the target may be bytes."""
        lines = [method.encode() + b" " + as_bytes(target) + b" HTTP/" + version.encode()]
        given = {"Host": "localhost", **(headers or {})}
        if body and "Transfer-Encoding" not in given:
            given.setdefault("Content-Length", str(len(body)))
        lines += [name.encode() + b": " + as_bytes(value) for name, value in given.items()]
        self.send(b"\r\n".join(lines) + b"\r\n\r\n" + body)

    def exchange(self, method, target, headers=None, body=b"", version="1.1"):
        def perform():
            self.ask(method, target, headers, body, version)
            return self.receive(method)

        return Way.carry(method, target, headers or {}, body, perform)

    def _fill(self):
        data = self.socket.recv(1 << 20)
        if not data:
            raise EOFError(f"connection closed after {self.pending[:200]!r}")
        self.pending += data

    def _take_until(self, mark):
        while mark not in self.pending:
            self._fill()
        text, self.pending = self.pending.split(mark, 1)
        return text

    def take(self, count):
        parts, missing = [self.pending[:count]], count - len(self.pending)
        self.pending = self.pending[count:]
        while missing > 0:
            data = self.socket.recv(min(missing, 1 << 20))
            if not data:
                raise EOFError(f"connection closed, {missing} of {count} bytes missing")
            parts.append(data)
            missing -= len(data)
        return b"".join(parts)

    def take_rest(self):
        """Everything until the server closes."""
        parts = [self.pending]
        self.pending = b""
        while data := self.socket.recv(1 << 20):
            parts.append(data)
        return b"".join(parts)

    def is_closed(self):
        """Whether the server has closed (waits for it) without sending anything more."""
        return self.pending == b"" and self.socket.recv(1) == b""

    def receive_head(self):
        head = self._take_until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        status = re.fullmatch(r"HTTP/1\.[01] (\d{3}) .*", head[0])
        if not status:
            raise AssertionError(f"no status line: {head[0]!r}")
        field = re.compile(r"([!-9;-~]+):[ \t]*(.*?)[ \t]*")
        fields = [field.fullmatch(line).groups() for line in head[1:]]
        return Reply(int(status[1]), fields, b"")

    def receive(self, method="GET"):
        """The next reply, whole."""
        reply = self.receive_head()
        coding, length = reply.header("Transfer-Encoding"), reply.header("Content-Length")
        if method == "HEAD" or reply.status in (204, 304) or reply.status < 200:
            return reply
        if coding == "chunked":
            while size := int(self._take_until(b"\r\n"), 16):
                reply.body += self.take(size)
                self._take_until(b"\r\n")
            self._take_until(b"\r\n")
        elif length is not None:
            reply.body = self.take(int(length))
        else:
            reply.body = self.take_rest()
        return reply


def as_bytes(text):
    return text if isinstance(text, bytes) else text.encode()


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=PATIENCE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(self.path)


class Server:
    """A running server. `url` is what it printed; `address` is for sockets."""

    recent = deque(maxlen=4)  # the servers started last: a failed test shows their last words

    def __init__(self, *flags, environment=None, before=None, binary=None):
        """`before` is called in the new process, before it becomes the server."""
        flags = list(flags)
        # a machine may be so busy that what takes a second needs minutes
        defaults = (("--port", "0"), ("--drain-seconds", "0"), ("--compute-seconds", "600"))
        for name, value in defaults:
            if name not in flags:
                flags += [name, value]
        self.flags = tuple(flags)
        self.stderr, self.ended_with = tempfile.TemporaryFile(), []
        self.process = subprocess.Popen(
            [binary or BINARY, *flags],
            env=environment_with(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self.stderr,
            preexec_fn=before,
        )
        self.pid = self.process.pid
        Server.recent.append(self)
        try:
            self.url = self._read_url()
        except BaseException:
            self.kill()
            raise
        if self.url.startswith("unix:"):
            self.address = self.url[len("unix:") :]
        else:
            parts = urlsplit(self.url)
            self.address = (parts.hostname, parts.port)

    def _read_url(self):
        readable, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
        line = self.process.stdout.readline().decode() if readable else ""
        found = re.fullmatch(r"posenc \S+ listening on (\S+)\n", line)
        if not found:
            raise AssertionError(f"no address printed: {line!r}; stderr: {self.log()!r}")
        return found[1]

    def log(self):
        """What the server has written to stderr so far."""
        size = os.fstat(self.stderr.fileno()).st_size
        return os.pread(self.stderr.fileno(), size, 0).decode("utf-8", "backslashreplace")

    def last_words(self, lines=3):
        """The last lines of its log, also once it has stopped."""
        return self.ended_with if self.stderr.closed else self.log().splitlines()[-lines:]

    # ---- talking ----

    def connect(self):
        """An http.client connection."""
        if isinstance(self.address, str):
            return UnixConnection(self.address)
        return http.client.HTTPConnection(*self.address, timeout=PATIENCE)

    def wire(self, receive_buffer=None):
        return Wire(self.address, receive_buffer)

    def request(self, method, target, headers=None, body=None):
        """One request on a connection of its own."""

        def perform():
            connection = self.connect()
            try:
                connection.request(method, target, body=body, headers=headers or {})
                response = connection.getresponse()
                return Reply(response.status, response.getheaders(), response.read())
            finally:
                connection.close()

        return Way.carry(method, target, headers or {}, body, perform)

    def metrics(self):
        """{series: value} of /metrics; a series is the name with its labels."""
        lines = self.request("GET", "/metrics").body.decode().splitlines()
        pairs = [line.rsplit(" ", 1) for line in lines if not line.startswith("#")]
        return {series: float(value) for series, value in pairs}

    def computed(self):
        return self.metrics()["posenc_computed_total"]

    def resident(self):
        """Resident memory of the process in bytes."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * PAGE

    def processor_seconds(self):
        """What the process has used of the processors."""
        figures = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(figures[11]) + int(figures[12])) / TICKS

    # ---- stopping ----

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, seconds=PATIENCE):
        """Wait until the process ends; fail on a bad exit status or a sanitizer's report."""
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"still running after {seconds} s: {self.log()}") from None
        self.process.stdout.close()
        log = self.log()
        if status != 0 or SANITIZER_TEXT.search(log):
            raise AssertionError(f"exit status {status}, stderr: {log}")

    def stop(self):
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
        if not self.process.stdout.closed:
            self.wait()
        self.ended_with = self.last_words()
        self.stderr.close()

    def kill(self):
        self.process.kill()
        self.process.wait(PATIENCE)
        self.process.stdout.close()


class ServerCase(unittest.TestCase):
    """Tests that share one server, started with the class's `flags`."""

    flags = ()
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.server = Server(*cls.flags)
        cls.addClassCleanup(cls.server.stop)

    def start(self, *flags, environment=None, before=None):
        """Another server, for this test alone."""
        server = Server(*flags, environment=environment, before=before)
        self.addCleanup(server.stop)
        return server

    def get(self, target, headers=None):
        return self.server.request("GET", target, headers)

    def head(self, target, headers=None):
        return self.server.request("HEAD", target, headers)

    def post(self, target, document, headers=None):
        """POST a JSON value, or bytes as they are."""
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        given = {"Content-Type": "application/json", **(headers or {})}
        return self.server.request("POST", target, given, body)

    def browsers(self, reply):
        """Check the headers that every reply has. Returns whose pages may read: all or own."""
        self.assertEqual(reply.header("X-Content-Type-Options"), "nosniff", reply)
        policies = {("*", "cross-origin"): "all", (None, "same-origin"): "own"}
        names = ("Access-Control-Allow-Origin", "Cross-Origin-Resource-Policy")
        found = tuple(reply.header(name) for name in names)
        self.assertIn(found, policies, reply)
        return policies[found]

    def assert_open_to_browsers(self, reply):
        self.assertEqual(self.browsers(reply), "all", reply)

    def assert_ok(self, reply, media_type=None):
        self.assertEqual(reply.status, 200, reply)
        self.browsers(reply)
        if media_type:
            self.assertEqual(reply.header("Content-Type"), media_type)
        return reply

    def assert_in_step(self, wire, reply):
        """Check, after a reply without a body, that no byte follows its head and that the
        connection is usable, or closed if the reply announces that."""
        if (reply.header("Connection") or "").lower() == "close":
            self.assertTrue(wire.is_closed(), reply)
        else:
            self.assert_ok(wire.exchange("GET", "/health/live"))
            self.assertEqual(wire.pending, b"")

    def assert_problem(self, reply, status, *parameters, code=None):
        """A problem document of this status whose errors name exactly `parameters`, if any are
        given; returns it."""
        self.assertEqual(reply.status, status, reply)
        self.browsers(reply)
        self.assertEqual(reply.header("Content-Type"), "application/problem+json", reply)
        self.assertEqual(reply.header("Content-Length"), str(len(reply.body)), reply)
        self.assertIsNone(reply.header("ETag"), reply)
        problem = reply.json()
        self.assertEqual(problem["status"], status, problem)
        for member in ("type", "title", "code", "detail"):
            self.assertTrue(problem[member] and isinstance(problem[member], str), problem)
        self.assertRegex(problem["code"], r"\A[a-z]+(_[a-z]+)*\Z")
        if code:
            self.assertEqual(problem["code"], code, problem)
        for error in problem.get("errors", []):
            self.assertLessEqual(
                {"parameter", "given", "allowed", "message"}, set(error), problem
            )
            self.assertTrue(error["allowed"] and error["message"], problem)
        if parameters:
            named = sorted(error["parameter"] for error in problem["errors"])
            self.assertEqual(named, sorted(parameters), problem)
        return problem
