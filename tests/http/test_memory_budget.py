"""--memory-bytes bounds what the process holds, whatever is asked for: memory_mix.py in its
short form. What requests have reserved returns to zero on every path."""

import contextlib
import os
import re
import resource
import unittest
from pathlib import Path

import memory_mix
from faults import SANITIZED
from memory_mix import MIB, Mix, reserved
from server import ServerCase, wait_until

LIMIT = 96  # MiB
SECONDS = float(os.environ.get("MEMORY_SECONDS", "6"))
KINDS = memory_mix.KINDS
SPARE = 4  # descriptors for what the server opens for moments


def peak(server):
    """The most that has been resident, in bytes."""
    status = Path(f"/proc/{server.pid}/status").read_text()
    return 1024 * int(re.search(r"VmHWM:\s+(\d+)", status)[1])


class MemoryBudget(ServerCase):
    flags = ("--memory-bytes", f"{LIMIT}MiB", "--threads", "2")

    def nothing_is_reserved(self):
        wait_until(lambda: reserved(self.server) == 0, "nothing is reserved any more")

    def test_the_worst_mix_stays_below_the_limit_and_small_tables_are_answered(self):
        mix = Mix(self.server, LIMIT, clients=24)
        most = mix.run(SECONDS)
        self.nothing_is_reserved()
        self.assertGreater(mix.hits, 0)
        self.assertLess(most, LIMIT * MIB)
        answered = {status for _, status in mix.statuses}
        self.assertLessEqual(answered, {200, 400, 409, 413, 422, 503})
        self.assertIn(200, answered)

    def test_every_kind_of_request_gives_back_what_it_reserved(self):
        rng = memory_mix.random.Random(1)
        for kind in KINDS:
            for read in (True, False):
                with self.subTest(kind.__name__, read=read):
                    method, target, *rest = kind(rng, 4)
                    headers = {"Content-Type": rest[0]} if rest else {}
                    with self.server.wire() as wire:
                        wire.ask(method, target, headers, rest[1] if rest else b"")
                        while (head := wire.receive_head()).status < 200:
                            pass
                        self.assertIn(head.status, (200, 400, 409, 413, 422, 503))
                    self.nothing_is_reserved()

    def test_a_stream_is_counted_while_it_is_read(self):
        target = "/v1/similarity/sinusoidal?length=1500&dim=256&metric=l1&format=raw"
        stream = "/v1/encodings/sinusoidal?length=4000000&dim=64&format=raw"
        with self.server.wire(receive_buffer=4096) as wire:
            wire.ask("GET", stream)
            self.assertEqual(wire.receive_head().status, 200)
            self.assertGreater(reserved(self.server), 512 << 10)
            self.assertEqual(self.server.request("GET", target).status, 200)
        self.nothing_is_reserved()

    def test_streams_beyond_the_budget_get_503_with_retry_after(self):
        stream = "/v1/encodings/sinusoidal?length=4000000&dim=64&format=raw"
        wires = []
        try:
            for _ in range(64):
                wires.append(self.server.wire(receive_buffer=4096))
                wires[-1].ask("GET", stream)
                head = wires[-1].receive_head()
                if head.status == 503:
                    break
            self.assertEqual(head.status, 503)
            self.assertIsNotNone(head.header("Retry-After"))
            self.assertEqual(self.server.request("GET", memory_mix.HIT).status, 200)
        finally:
            for wire in wires:
                wire.close()
        self.nothing_is_reserved()

    def test_what_never_fits_is_too_large(self):
        for kind in (memory_mix.numbers, memory_mix.gguf):
            method, target, media_type, body = kind(memory_mix.random.Random(0), LIMIT)
            with self.subTest(kind.__name__):
                reply = self.server.request(method, target, {"Content-Type": media_type}, body)
                self.assert_problem(reply, 422, "request", code="too_large")

    def test_tables_of_two_plans_are_reserved(self):
        server = self.start("--memory-bytes", "64MiB", "--threads", "2")
        rng = memory_mix.random.Random(0)
        method, target, media_type, body = memory_mix.wide_configs(rng, LIMIT)
        reply = server.request(method, target, {"Content-Type": media_type}, body)
        self.assert_problem(reply, 422, "request", code="too_large")
        small = body.replace(b"43680", b"256")
        reply = server.request(method, target, {"Content-Type": media_type}, small)
        self.assertEqual(reply.status, 200, reply)

    def test_components_of_components_take_little(self):
        """The plan keeps the path of each key that is looked for, also of components that are
        too many."""
        method, target, media_type, body = memory_mix.config(memory_mix.random.Random(0), LIMIT)
        server = self.start("--memory-bytes", "512MiB", "--threads", "2")
        before = peak(server)
        reply = server.request(method, target, {"Content-Type": media_type}, body)
        self.assert_problem(reply, 422, "body")
        if not SANITIZED:  # which holds freed memory back
            self.assertLess(peak(server) - before, 16 * len(body) + 8 * MIB)


class Descriptors(ServerCase):
    def test_long_bodies_leave_descriptors_to_probes(self):
        few = (64, 64)
        server = self.start(before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, few))
        head = (
            "POST /v1/compare/sinusoidal?length=100000&dim=64 HTTP/1.1\r\nHost: localhost\r\n"
            "Content-Type: application/x-npy\r\nContent-Length: 25600128\r\n\r\n"
        )
        wires, most = [], 0
        try:
            for _ in range(64):
                wires.append(server.wire())
                with contextlib.suppress(OSError):  # those beyond the limit are turned away
                    wires[-1].socket.settimeout(1)
                    wires[-1].send(head.encode() + bytes(1100 << 10))
                most = max(most, len(os.listdir(f"/proc/{server.pid}/fd")))
            self.assertLessEqual(most, few[0] - SPARE)
            for target in ("/health/live", "/metrics"):
                self.assertEqual(server.request("GET", target).status, 200)
        finally:
            for wire in wires:
                wire.close()


if __name__ == "__main__":
    unittest.main()
