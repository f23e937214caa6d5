"""Overload: at each limit a refusal is sent at once, and accepted requests do not notice."""

import contextlib
import http.client
import os
import re
import signal
import tempfile
import time
import unittest
from unittest import mock

import server
from server import ServerCase, wait_until
from steady import steadily
from stored import PATH, simple

RAW = "/v1/encodings/integer?length=4&format=raw"
LIMIT = 20
AT_ONCE = 0.2  # seconds: upper bound on the median time to a refusal, on a busy machine
SOON = 20  # seconds: whatever takes longer hangs, also under a sanitizer


class Connections(ServerCase):
    flags = ("--max-connections", str(LIMIT))

    def enter(self, stack):
        """A kept connection, or None while there is no room."""
        wire = self.server.wire()
        try:
            if wire.exchange("GET", RAW).status == 200:
                return stack.enter_context(wire)
        except OSError:
            pass
        wire.close()
        return None

    def fill(self, stack):
        """Open as many kept connections as the limit allows."""
        return [wait_until(lambda: self.enter(stack), "let in", SOON) for _ in range(LIMIT)]

    def is_open(self):
        with contextlib.suppress(OSError, EOFError):
            return self.server.request("GET", RAW).status == 200
        return False

    def is_empty(self):
        with contextlib.suppress(
            OSError, EOFError, KeyError, ValueError, http.client.HTTPException
        ):
            return self.server.metrics()["posenc_connections"] == 1  # of this request
        return False

    def setUp(self):
        wait_until(self.is_empty, "the connections of the test before are gone")

    def test_one_more_is_answered_503_at_once_and_may_come_back(self):
        with contextlib.ExitStack() as stack:
            self.fill(stack)
            times = []
            for _ in range(50):
                start = time.monotonic()
                with self.server.wire() as wire:
                    reply = wire.exchange("GET", RAW)
                    times.append(time.monotonic() - start)
                    self.assert_problem(reply, 503, code="unavailable")
                    self.assertEqual(reply.header("Retry-After"), "1")
                    self.assertEqual(reply.header("Connection"), "close")
                    self.assertTrue(wire.is_closed())
            self.assertLess(sorted(times)[25], AT_ONCE)
        wait_until(self.is_open, "let in again")

    def test_above_the_limit_probes_and_metrics_are_answered(self):
        with contextlib.ExitStack() as stack:
            self.fill(stack)
            for target in ("/health/live", "/health/ready", "/metrics", "/health/live?x=1"):
                for given in (target, f"http://localhost{target}"):
                    for method in ("GET", "HEAD"):
                        with self.server.wire() as wire, self.subTest(given, method=method):
                            reply = wire.exchange(method, given)
                            self.assert_ok(reply)
                            self.assertEqual(reply.header("Connection"), "close")
                            self.assertEqual(reply.body == b"", method == "HEAD")
                            self.assertTrue(wire.is_closed())
            self.assertEqual(self.server.metrics()["posenc_connections"], LIMIT)
            for method, target in (
                ("GET", "/v1/info"),
                ("GET", "http://localhost/v1/info"),
                ("POST", "/health/live"),
                ("GET", "/health/livex"),
                ("GET", "/"),
            ):
                with self.server.wire() as wire:
                    self.assert_problem(wire.exchange(method, target), 503, code="unavailable")

    def test_above_the_limit_a_draining_server_says_so(self):
        running = self.start(*self.flags, "--drain-seconds", "600")
        with contextlib.ExitStack() as stack:
            for _ in range(LIMIT):
                stack.enter_context(running.wire()).exchange("GET", RAW)
            self.assertEqual(running.request("GET", "/health/ready").status, 200)
            running.signal(signal.SIGTERM)
            wait_until(
                lambda: running.request("GET", "/health/ready").status == 503, "draining"
            )
            self.assertIn("draining", running.request("GET", "/health/ready").body.decode())
            running.signal(signal.SIGTERM)

    @steadily(1)
    def test_a_client_that_sends_a_body_first_reads_its_503(self):
        with contextlib.ExitStack() as stack:
            self.fill(stack)
            for _ in range(5):
                with self.server.wire() as wire:
                    length = {"Content-Length": "100000"}
                    wire.ask("POST", "/v1/encodings/integer", length)
                    for _ in range(
                        5
                    ):  # a server that closed at once would have reset the connection
                        time.sleep(0.01)
                        wire.send(b"x" * 20_000)
                    self.assert_problem(wire.receive(), 503)

    def test_a_client_that_neither_sends_nor_reads_is_seen_off(self):
        with contextlib.ExitStack() as stack:
            self.fill(stack)
            start = time.monotonic()
            silent = stack.enter_context(self.server.wire())
            self.assertEqual(silent.receive().status, 503)
            with contextlib.suppress(OSError):
                while True:  # until the server has closed completely and resets
                    silent.send(b"x")
                    time.sleep(0.05)
                    self.assertLess(time.monotonic() - start, 2 * SOON)
            self.assertGreater(time.monotonic() - start, 0.5)

    def test_a_crowd_at_the_door_does_not_slow_down_those_inside(self):
        with contextlib.ExitStack() as stack:
            inside = self.fill(stack)
            quiet = self.median(inside)
            crowd = [stack.enter_context(self.server.wire()) for _ in range(400)]
            loud = self.median(inside)
            self.assertLess(loud, quiet + AT_ONCE)
            for wire in crowd:
                self.assertEqual(wire.receive().status, 503)

    def median(self, wires):
        times = []
        for _ in range(5):
            for wire in wires:
                start = time.monotonic()
                self.assertEqual(wire.exchange("GET", RAW).status, 200)
                times.append(time.monotonic() - start)
        return sorted(times)[len(times) // 2]

    def test_a_burst_never_passes_the_limit(self):
        with contextlib.ExitStack() as stack:
            wires = [stack.enter_context(self.server.wire()) for _ in range(5 * LIMIT)]
            for wire in wires:
                with contextlib.suppress(OSError):
                    wire.ask("GET", RAW)
            statuses = [self.status(wire) for wire in wires]
            self.assertIn(statuses.count(200), (LIMIT - 1, LIMIT))  # one may still be closing
            self.assertEqual(statuses.count(200) + statuses.count(503), 5 * LIMIT)

    def status(self, wire):
        return wire.receive().status

    def test_refused_connections_are_counted_and_all_are_given_back(self):
        name = "posenc_connections_refused_total"
        before = self.server.metrics()[name]
        for _ in range(3):
            with contextlib.ExitStack() as stack:
                self.fill(stack)
                for _ in range(10):
                    with self.server.wire() as wire:
                        self.assertEqual(wire.receive().status, 503)
            wait_until(self.is_open, "let in again")
        wait_until(lambda: self.server.metrics()[name] - before >= 30, "all are counted")
        self.assertLessEqual(self.server.metrics()["posenc_connections"], LIMIT)


class Bursts(ServerCase):
    def test_128_requests_at_the_same_moment_are_answered(self):
        """libmicrohttpd fetches up to 128 events; if it gets exactly 128, it waits for
        another."""
        running = self.start("--threads", "1")
        for count in (128, 127, 256):
            with contextlib.ExitStack() as stack:
                wires = [stack.enter_context(running.wire()) for _ in range(count)]
                for wire in wires:
                    self.assertEqual(wire.exchange("GET", RAW).status, 200)
                running.signal(signal.SIGSTOP)
                for wire in wires:
                    wire.ask("GET", RAW)
                running.signal(signal.SIGCONT)
                for wire in wires:
                    wire.socket.settimeout(SOON)
                    self.assertEqual(wire.receive().status, 200)

    def test_what_wakes_the_event_threads_is_not_counted_as_a_connection(self):
        running = self.start()
        with contextlib.ExitStack() as stack:
            wires = [stack.enter_context(running.wire()) for _ in range(200)]
            for wire in wires:
                self.assertEqual(wire.exchange("GET", "/health/live").status, 200)
            time.sleep(1)  # rounds of the watch, each of which wakes the event threads
            with running.wire() as other:

                def each_is_counted():  # a connection may be answered before it counts
                    text = other.exchange("GET", "/metrics").body
                    names = (b"posenc_connections", b"posenc_connections_total")
                    return all(b"\n%s 201\n" % name in text for name in names)

                wait_until(each_is_counted, "201 connections, and no other")


class Requests(ServerCase):
    flags = ("--max-streams", "2", "--send-seconds", "600")
    streamed = "/v1/encodings/sinusoidal?length=2000000&dim=64&format=raw"

    def occupy(self, stack, target, count):
        """Send requests and do not read their answers."""
        for _ in range(count):
            wire = stack.enter_context(self.server.wire(receive_buffer=4096))
            wire.ask("GET", target)
            self.assertEqual(wire.receive_head().status, 200)

    def is_idle(self):
        return self.server.metrics()["posenc_requests_under_way"] == 1  # this request

    def setUp(self):
        wait_until(self.is_idle, "the requests of the test before are gone")

    def test_a_stream_too_many_is_503_and_tables_are_answered(self):
        with contextlib.ExitStack() as stack:
            self.occupy(stack, self.streamed, 2)
            reply = self.get(self.streamed)
            self.assert_problem(reply, 503, code="unavailable")
            self.assertEqual(reply.header("Retry-After"), "1")
            self.assertIn("streams", reply.json()["detail"])
            self.assert_ok(self.head(self.streamed))
            self.assert_ok(self.get(RAW))
        wait_until(self.is_idle, "they have ended")
        with contextlib.ExitStack() as stack:
            self.occupy(stack, self.streamed, 2)


class Descriptors(ServerCase):
    """The limit on the descriptors of a process; each connection takes one."""

    def start_with(self, limits, *flags):
        with tempfile.NamedTemporaryFile("w", suffix=".sh", delete=False) as script:
            script.write(f'#!/bin/sh\n{limits}\nexec "{server.BINARY}" "$@"\n')
        self.addCleanup(os.unlink, script.name)
        os.chmod(script.name, 0o700)
        with mock.patch("server.BINARY", script.name):
            return self.start(*flags)

    def let_in(self, running, stack, count):
        """How many of `count` connections are answered 200."""
        wires = [stack.enter_context(running.wire()) for _ in range(count)]
        for wire in wires:
            with contextlib.suppress(OSError):
                wire.ask("GET", RAW)
        return sum(wire.receive().status == 200 for wire in wires)

    def test_it_is_raised_as_far_as_it_may_be(self):
        running = self.start_with("ulimit -S -n 100", "--max-connections", "200")
        with contextlib.ExitStack() as stack:
            self.assertEqual(self.let_in(running, stack, 200), 200)

    def test_connections_over_it_are_refused_like_those_over_the_limit(self):
        running = self.start_with("ulimit -n 400", "--max-connections", "400", "--threads", "2")
        warning = "too few descriptors are allowed"
        self.assertIn(warning, running.log())
        (allowed,) = re.findall(r"connections=(\d+)", running.log())
        with contextlib.ExitStack() as stack:
            self.assertEqual(self.let_in(running, stack, 400), int(allowed))
        self.assertNotIn(warning, self.server.log())

    def test_64_descriptors_are_enough_to_work(self):
        data = tempfile.TemporaryDirectory(prefix="posenc-")
        self.addCleanup(data.cleanup)
        running = self.start_with("ulimit -n 64", "--data-dir", data.name, "--threads", "2")
        (allowed,) = re.findall(r"connections=(\d+)", running.log())
        self.assertGreaterEqual(int(allowed), 16)
        with contextlib.ExitStack() as stack:
            self.assertEqual(self.let_in(running, stack, 100), int(allowed))
            for _ in range(3):
                self.assertEqual(running.request("GET", "/health/live").status, 200)
                self.assertEqual(running.request("GET", "/metrics").status, 200)
                self.assertEqual(running.request("GET", RAW).status, 503)
        wait_until(lambda: running.request("GET", RAW).status == 200, "let in again")
        self.assertEqual(running.request("PUT", f"{PATH}/a", None, simple()).status, 201)
        self.assertEqual(running.request("DELETE", f"{PATH}/a").status, 204)


if __name__ == "__main__":
    unittest.main()
