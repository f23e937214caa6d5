"""Deadlines: clients that send or read too slowly are disconnected; the others do not
notice."""

import contextlib
import select
import threading
import time
import unittest
from collections import Counter, defaultdict
from pathlib import Path

from server import ServerCase, wait_until
from steady import steadily
from stored import PATH, simple

CLIENTS = 256
HEADER, BODY, SEND = 2, 2, 2  # seconds, as in the flags below; no test's pauses are that long
STANDSTILL = (
    1  # seconds for which the machine may stand still without an effect on the deadlines
)
SLACK = (
    15  # seconds from a deadline until the last connection is closed, also on a busy machine
)
TRICKLE = 0.2  # seconds between two bytes
USUAL = 0.5  # seconds: upper bound on the median of other requests meanwhile
FLAGS = (
    "--header-seconds", str(HEADER), "--body-seconds", str(BODY), "--send-seconds", str(SEND),
    "--idle-seconds", "60",
)  # fmt: skip
HEAD = b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n"
POST = (
    b"POST /v1/encodings/integer HTTP/1.1\r\nHost: localhost\r\n"
    b"Content-Type: application/json\r\n"
)
PUT = b"PUT " + PATH.encode() + b"/slow HTTP/1.1\r\nHost: localhost\r\n"
LARGE = "/v1/encodings/sinusoidal?length=65536&dim=64&format=raw"
FIN_WAIT_1 = "04"  # in /proc/net/tcp
LARGE_BYTES = 65536 * 64 * 4


def states_of_sockets():
    """{(port, the other side's port): states}, as the kernel has them."""
    states = defaultdict(list)
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        *addresses, state = line.split()[1:4]
        ends = tuple(int(address.split(":")[1], 16) for address in addresses)
        states[ends].append(state)
    return states


def ends_of(wire):
    """The ports of a connection, the server's first; None where it has been reset."""
    try:
        return wire.socket.getpeername()[1], wire.socket.getsockname()[1]
    except OSError:
        return None


class Fresh(threading.Thread):
    """Sends requests, each on a new connection, and records how long they take."""

    def __init__(self, server):
        super().__init__()
        self.server, self.times, self.failures = server, [], []
        self.ended = threading.Event()

    def run(self):
        while not self.ended.is_set():
            start = time.monotonic()
            try:
                reply = self.server.request("GET", "/v1/encodings/integer?length=4&format=raw")
                if reply.status != 200:
                    self.failures.append(reply)
            except OSError as failure:
                self.failures.append(failure)
            self.times.append(time.monotonic() - start)
            time.sleep(0.002)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join()

    def median(self):
        return sorted(self.times)[len(self.times) // 2]


@steadily(STANDSTILL)
class Deadlines(ServerCase):
    flags = FLAGS

    def late(self):
        return self.server.metrics()["posenc_connections_late_total"]

    def is_gone(self, wire):
        """Whether the server has closed the connection, even if unread bytes are left."""
        poll = select.poll()
        poll.register(wire.socket, select.POLLRDHUP)
        return bool(poll.poll(0))

    def trickle(self, wire, byte):
        """Send `byte`, or read a byte if it is None."""
        wire.socket.setblocking(False)
        with contextlib.suppress(OSError):
            if byte:
                wire.socket.send(byte)
            else:
                wire.socket.recv(1)

    def hold(self, wires, byte, limit):
        """Trickle on all connections until the server has closed them. A reset may be lost on
        its way, as on a busy machine, and is never sent again: it is enough that the server's
        side is no more."""
        start = time.monotonic()
        while wires and time.monotonic() - start < limit:
            for wire in wires:
                self.trickle(wire, byte)
            time.sleep(TRICKLE)
            states = states_of_sockets()
            for wire in list(wires):
                if self.is_gone(wire) or not states[ends_of(wire)]:
                    wire.close()
                    wires.remove(wire)
        states = states_of_sockets()
        left = Counter(state for wire in wires for state in states[ends_of(wire)])
        for wire in wires:
            wire.close()
        self.assertEqual(len(wires), 0, f"still there after {limit} s, in states {left}")

    def attack(self, begin, byte, deadline):
        """Check that all slow connections are closed in time, but not at once, and that other
        requests are answered meanwhile."""
        before, start = self.late(), time.monotonic()
        with Fresh(self.server) as fresh:
            wires = [self.server.wire(4096) for _ in range(CLIENTS)]
            for wire in wires:
                wire.send(begin)
            self.hold(wires, byte, deadline + SLACK)
            self.assertGreater(time.monotonic() - start, deadline)
        self.assertEqual(fresh.failures, [])
        self.assertLess(fresh.median(), USUAL)
        self.assertGreater(len(fresh.times), 20)
        self.assertEqual(self.late() - before, CLIENTS)

    def test_256_slow_heads_are_dropped(self):
        self.attack(HEAD, b"X", HEADER)

    def test_256_slow_bodies_are_dropped(self):
        self.attack(POST + b"Content-Length: 4096\r\n\r\n{", b" ", BODY)

    def test_256_slow_readers_are_dropped(self):
        self.server.request("GET", LARGE)  # the table is cached from now on
        self.attack(f"GET {LARGE} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode(), None, SEND)

    def test_a_slow_reader_of_a_stream_is_dropped(self):
        grid = "/v1/encodings/sinusoidal?length=2000000&dim=64&format=raw"
        wire = self.server.wire(4096)
        wire.ask("GET", grid)
        self.hold([wire], None, SEND + SLACK)

    def test_a_client_that_pipelines_and_never_reads_is_dropped(self):
        target = b"/v1/encodings/sinusoidal?length=1024&dim=64&format=raw"
        wire = self.server.wire(4096)
        wire.send(b"".join([b"GET " + target + b" HTTP/1.1\r\nHost: a\r\n\r\n"] * 50))
        self.hold([wire], None, SEND + SLACK)

    def test_a_slow_head_of_a_later_request_is_dropped_from_its_first_byte_on(self):
        wire = self.server.wire()
        self.assertEqual(wire.exchange("GET", "/health/live").status, 200)
        time.sleep(2 * HEADER)  # it may be idle for longer than a head may take
        self.assertFalse(self.is_gone(wire))
        wire.send(HEAD)
        self.hold([wire], b"X", HEADER + SLACK)

    def test_slow_uploads_are_dropped_and_give_their_memory_back(self):
        most = 64 << 10
        server = self.start(*FLAGS, "--max-upload-bytes", str(most), "--max-body-bytes", "64")
        body = simple(most // 4 - 64)
        framings = (
            b"Content-Length: %d\r\n\r\n" % len(body),
            b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(body),
        )
        for framing in framings:
            wires = [server.wire() for _ in range(8)]  # the budget is for about two
            for wire in wires:
                wire.send(PUT + framing + body[:-4096])
            self.hold(wires, b"x", BODY + SLACK)
            wait_until(
                lambda: server.request("PUT", f"{PATH}/quick", None, body).status in (201, 204),
                "there is memory again",
            )
        self.assertEqual(server.request("GET", f"{PATH}/slow").status, 404)
        self.assertEqual(server.metrics()["posenc_connections_late_total"], 16)

    def test_a_body_that_keeps_the_rate_may_take_longer(self):
        document, pieces = b'{"length": 4}', 3 * BODY * 4
        with self.server.wire() as wire:
            size = len(document) + pieces * 512
            wire.send(POST + b"Content-Length: %d\r\n\r\n" % size)
            for _ in range(pieces):  # 2 KiB a second
                wire.send(b" " * 512)
                time.sleep(0.25)
            wire.send(document)
            self.assertEqual(wire.receive().status, 200)

    def test_a_reader_that_keeps_the_rate_may_take_longer(self):
        with self.server.wire(receive_buffer=1 << 16) as wire:
            wire.ask("GET", LARGE)
            self.assertEqual(wire.receive_head().status, 200)
            start, missing = time.monotonic(), LARGE_BYTES
            while time.monotonic() - start < 2.5 * SEND:
                missing -= len(wire.take(1 << 16))
                time.sleep(0.05)
            self.assertEqual(len(wire.take(missing)), missing)

    def test_silence_between_requests_ends_without_being_late(self):
        server = self.start(*FLAGS[:-1], "1")
        with server.wire() as wire:
            start = time.monotonic()
            self.assertEqual(wire.exchange("GET", "/health/live").status, 200)
            self.assertTrue(wire.is_closed())
            self.assertTrue(1 < time.monotonic() - start < 1 + SLACK)
        self.assertEqual(server.metrics()["posenc_connections_late_total"], 0)

    def test_an_answer_that_is_never_taken_is_not_kept_by_the_kernel_either(self):
        target = "/v1/encodings/sinusoidal?length=320&dim=50&format=raw"  # 64 KB
        with self.server.wire(4096) as wire:
            wire.ask("GET", target, {"Connection": "close"})
            ends = ends_of(wire)
            wait_until(
                lambda: states_of_sockets()[ends] == [FIN_WAIT_1], "closed by the server"
            )
            wait_until(lambda: not states_of_sockets()[ends], "given up by the kernel")

    def test_a_dropped_socket_is_never_another_ones(self):
        """Descriptors of closed connections are used again at once; the watch must not cut the
        new connections."""
        slow = [self.server.wire() for _ in range(64)]
        ended = time.monotonic() + 2 * HEADER
        while time.monotonic() < ended:
            for wire in slow:
                self.trickle(wire, b"G")
            for _ in range(20):
                reply = self.server.request("GET", "/v1/encodings/integer?length=4&format=raw")
                self.assertEqual((reply.status, len(reply.body)), (200, 16))
        for wire in slow:
            wire.close()


if __name__ == "__main__":
    unittest.main()
