"""Random traffic against a server, and an account of the bytes in flight."""

import contextlib
import json
import math
import random
import socket
import threading
import time

import stored
from server import Wire

MEBI = 1 << 20
HUGE = 2 * MEBI  # memory of large tables and texts is a multiple of this
SHARE = 16 * MEBI  # a larger table is streamed
STREAM = 4 * MEBI + MEBI // 2  # a stream's own block and libmicrohttpd's
LINGER = 5  # looks, ten a second, in which a server notices that a client has gone
SIZES = {"f32": 4, "f64": 8, "f16": 2, "bf16": 2}
DIGITS = {
    "f32": 14,
    "f64": 23,
    "f16": 10,
    "bf16": 10,
}  # bytes of a number in JSON: roughly the most
JSON_ELEMENTS = MEBI
SETS = 24


class Ledger:
    """The bytes of all requests in flight, each from its first byte until LINGER looks after
    its end, and of connections likewise. `highest` is a look: the maximum since its last call.
    Looks, and not seconds, since a machine that stands still notices nothing meanwhile."""

    def __init__(self, each_connection):
        self.each_connection = each_connection
        self.lock = threading.Lock()
        self.bytes = self.most = self.looks = 0
        self.leaving = []  # (look, bytes)
        self.counts = {}

    def _settle(self):
        while self.leaving and self.leaving[0][0] < self.looks:
            self.bytes -= self.leaving.pop(0)[1]

    @contextlib.contextmanager
    def hold(self, size):
        with self.lock:
            self._settle()
            self.bytes += size
            self.most = max(self.most, self.bytes)
        try:
            yield
        finally:
            with self.lock:
                self.leaving.append((self.looks + LINGER, size))

    def connection(self):
        return self.hold(self.each_connection)

    def highest(self):
        with self.lock:
            most = self.most
            self.looks += 1
            self._settle()
            self.most = self.bytes
            return max(most, self.bytes)

    def count(self, what):
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + 1


def rounded(size):
    return size if size < HUGE else (size + HUGE - 1) // HUGE * HUGE


class Request:
    """A request, the statuses that may answer it, and the bytes of memory the server needs for
    it."""

    def __init__(self, method, target, size, statuses=(200,), headers=None, body=b""):
        self.method, self.target, self.size = method, target, size
        self.statuses, self.headers, self.body = statuses, headers or {}, body


class Aborted(Exception):
    """The client has closed the connection on purpose."""


class Client(threading.Thread):
    """Sends random requests over connections that it keeps for a while."""

    def __init__(self, address, ledger, seed, until):
        super().__init__(daemon=True)
        self.address, self.ledger, self.until = address, ledger, until
        self.random = random.Random(seed)
        self.pause = threading.Event()
        self.failures = []
        self.buffer = bytearray(1 << 18)

    def run(self):
        try:
            while time.monotonic() < self.until:
                if self.pause.is_set():
                    time.sleep(0.02)
                else:
                    self.connected()
        except Exception as error:  # the main thread reports it
            self.failures.append(repr(error))

    def connected(self):
        with self.ledger.connection(), contextlib.suppress(Aborted, ConnectionError):
            buffer = self.random.choice((None, None, 4096))
            with Wire(self.address, buffer) as wire:
                for _ in range(self.random.choice((1, 5, 50))):
                    if self.pause.is_set() or time.monotonic() > self.until:
                        return
                    self.converse(wire)

    # ---- one request ----

    def converse(self, wire):
        request = self.choose()
        fate = self.random.random()
        with self.ledger.hold(request.size):
            if request.body and fate < 0.1:
                self.send_a_part(wire, request)
            wire.ask(request.method, request.target, request.headers, request.body)
            if fate > 0.97:
                self.leave(wire, "aborted unanswered")
            try:
                head = wire.receive_head()
            except EOFError:
                raise Aborted from None  # refused, and closed
            self.ledger.count(head.status)
            if head.status not in request.statuses and head.status != 503:
                raise AssertionError(f"{request.method} {request.target}: {head}")
            self.take_body(wire, request, head, fate)
            if (head.header("Connection") or "").lower() == "close":
                raise Aborted

    def leave(self, wire, how):
        self.ledger.count(how)
        if self.random.random() < 0.5:  # resets
            wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        raise Aborted

    def send_a_part(self, wire, request):
        """The head and a part of the body, slowly."""
        length = {"Content-Length": str(len(request.body)), **request.headers}
        wire.ask(request.method, request.target, length)
        end = self.random.randrange(len(request.body))
        for at in range(0, end, 1 << 17):
            wire.send(request.body[at : min(at + (1 << 17), end)])
            time.sleep(0.005)
        self.leave(wire, "aborted uploads")

    def take_body(self, wire, request, head, fate):
        """Read the whole body, or a part of it and leave; sometimes slowly."""
        length = head.header("Content-Length")
        if request.method == "HEAD" or head.status in (204, 304):
            return
        left = int(length) if length else math.inf
        stop = self.random.randrange(1 << 22) if left > 1 << 25 or fate > 0.9 else math.inf
        slow = self.random.random() < 0.05
        taken = len(wire.pending)
        chunks_end = wire.pending[-5:]
        wire.pending = b""
        while taken < left and not (length is None and chunks_end.endswith(b"0\r\n\r\n")):
            if taken > stop:
                self.leave(wire, "aborted bodies")
            room = min(len(self.buffer), left - taken) if length else len(self.buffer)
            got = wire.socket.recv_into(self.buffer, room)
            if got == 0:
                raise AssertionError(f"{request.target}: cut off at {taken} of {length}")
            taken += got
            chunks_end = (chunks_end + self.buffer[max(0, got - 5) : got])[-5:]
            if slow:
                time.sleep(0.003)

    # ---- what to ask for ----

    def choose(self):
        kinds = {
            self.hit: 20,
            self.table: 30,
            self.large: 4,
            self.stream: 3,
            self.text: 8,
            self.drawn: 4,
            self.tensors: 6,
            self.similarity: 3,
            self.posted: 5,
            self.dry: 5,
            self.document: 5,
            self.mistake: 4,
            self.upload: 5,
            self.removal: 2,
            self.trained: 5,
        }
        return self.random.choices(list(kinds), kinds.values())[0]()

    def query(self, elements):
        """(query, elements, dtype) of a window of a table with about so many elements."""
        dtype = self.random.choice(list(SIZES))
        dim = 2 * self.random.randrange(1, 513)
        length = max(1, min(int(elements) // dim, SHARE // (dim * SIZES[dtype])))
        offset = self.random.randrange(1 << 40)
        return f"length={length}&dim={dim}&offset={offset}&dtype={dtype}", length * dim, dtype

    def binary(self, dtype):
        return self.random.choice(
            ("raw", "safetensors") + (("npy",) if dtype != "bf16" else ())
        )

    def hit(self):
        number = self.random.randrange(40)
        form = self.random.choice(("raw", "npy", "safetensors", "json"))
        headers = {"Accept-Encoding": "gzip"} if self.random.random() < 0.3 else {}
        return Request(
            "GET",
            f"/v1/encodings/sinusoidal?length={16 + number}&dim=32&format={form}",
            64 << 10,
            headers=headers,
        )

    def table(self):
        query, elements, dtype = self.query(2 ** self.random.uniform(1, 20))
        headers = {}
        if self.random.random() < 0.2:
            headers["Range"] = f"bytes={self.random.randrange(64)}-"
        return Request(
            "GET",
            f"/v1/encodings/sinusoidal?{query}&format={self.binary(dtype)}",
            rounded(elements * SIZES[dtype] + 4096),
            (200, 206, 416),
            headers,
        )

    def large(self):
        query, elements, dtype = self.query(2 ** self.random.uniform(20, 22))
        return Request(
            "GET",
            f"/v1/encodings/sinusoidal?{query}&format={self.binary(dtype)}",
            rounded(elements * SIZES[dtype] + 4096),
        )

    def stream(self):
        length = self.random.randrange(1 << 17, 1 << 24)
        form = self.random.choice(("raw", "npy", "safetensors"))
        headers = {}
        if self.random.random() < 0.5:
            headers[
                "Range"
            ] = f"bytes={self.random.randrange(1 << 20, 1 << 24)}-{(1 << 24) + 4096}"
        return Request(
            "GET",
            f"/v1/encodings/sinusoidal?length={length}&dim=64&format={form}",
            STREAM,
            (200, 206),
            headers,
        )

    def text(self):
        query, elements, dtype = self.query(2 ** self.random.uniform(1, 19.5))
        size = rounded(elements * SIZES[dtype]) + rounded(
            elements * DIGITS[dtype] + (100 << 10)
        )
        headers = {}
        if self.random.random() < 0.4:
            headers["Accept-Encoding"] = "gzip"
            size += rounded(elements * DIGITS[dtype] // 2 + (400 << 10))
        return Request("GET", f"/v1/encodings/sinusoidal?{query}", size, headers=headers)

    def drawn(self):
        query, elements, dtype = self.query(2 ** self.random.uniform(1, 17))
        form = self.random.choice(("png", "csv"))
        return Request(
            "GET",
            f"/v1/encodings/sinusoidal?{query}&format={form}",
            rounded(elements * SIZES[dtype]) + rounded(elements * DIGITS[dtype] + MEBI),
        )

    def tensors(self):
        length, dim = self.random.randrange(1, 100), 2 * self.random.randrange(1, 65)
        scheme, query, size = self.random.choice(
            (
                ("rope", f"length={20 * length}&dim={dim}", 20 * length * dim),
                ("relative_sinusoidal", f"length={length}&dim={dim}", length * length * dim),
                ("alibi", f"length={2 * length}&heads=4", 4 * length * length * 4),
            )
        )
        return Request(
            "GET",
            f"/v1/encodings/{scheme}?{query}&format=safetensors",
            rounded(4 * size + 4096),
        )

    def similarity(self):
        rows = self.random.randrange(1, 300)
        query = f"length={rows}&dim=32&metric=l2&format=raw"
        return Request(
            "GET", f"/v1/similarity/sinusoidal?{query}", rounded(rows * rows * 8 + (64 << 10))
        )

    def posted(self):
        count = int(2 ** self.random.uniform(0, 15))
        positions = [self.random.randrange(1 << 20) for _ in range(count)]
        body = json.dumps({"positions": positions, "dim": 32, "format": "raw"}).encode()
        # the text, jansson's values, the arguments' text, the list; then the table
        size = 6 * len(body) + rounded(count * 128 + 4096)
        return Request(
            "POST",
            "/v1/encodings/sinusoidal",
            size,
            headers={"Content-Type": "application/json"},
            body=body,
        )

    def dry(self):
        query, _, dtype = self.query(2 ** self.random.uniform(1, 24))
        target = f"/v1/encodings/sinusoidal?{query}&format={self.binary(dtype)}"
        if self.random.random() < 0.5:
            return Request("HEAD", target, 0)
        return Request("GET", target, 0, (304,), {"If-None-Match": "*"})

    def document(self):
        target = self.random.choice(
            (
                "/v1/schemes",
                "/v1/info",
                "/openapi.json",
                "/metrics",
                "/v1/schemes/rope",
                "/v1/sets",
            )
        )
        headers = {"Accept-Encoding": "gzip"} if self.random.random() < 0.5 else {}
        return Request("GET", target, MEBI, headers=headers)

    def mistake(self):
        target = self.random.choice(
            (
                "/nothing",
                "/v1/encodings/sinusoidal?lenght=4",
                "/v1/encodings/sinusoidal?length=0&dim=3",
                "/v1/encodings/x",
            )
        )
        return Request("GET", target, 0, (400, 404, 422))

    # ---- sets ----

    def name(self):
        return f"/v1/sets/set{self.random.randrange(SETS)}"

    def upload(self):
        count = int(2 ** self.random.uniform(3, 20.5)) // 8 * 8
        body = stored.write({"table": ("F32", [count // 8, 8], bytes(4 * count))})
        return Request("PUT", self.name(), len(body) + MEBI, (201, 204), body=body)

    def removal(self):
        return Request("DELETE", self.name(), 0, (204, 404))

    def trained(self):
        if self.random.random() < 0.5:
            return Request("GET", self.name(), 6 * MEBI, (200, 404))
        target = self.name().replace("/v1/sets/", "/v1/encodings/learned?set=")
        return Request("GET", target + "&format=raw", 14 * MEBI, (200, 400, 404, 422))
