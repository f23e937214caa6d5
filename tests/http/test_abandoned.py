"""Clients that leave before their answer is there: their work is dropped, that of others is
not. Small requests do not wait behind work that takes long.

TEST_FIGURES=1 prints what the class Beside measures.
"""

import itertools
import os
import select
import socket
import struct
import tempfile
import time

from server import PATIENCE, ServerCase, wait_until

FLOATER = "/v1/encodings/floater?format=raw"
ENDLESS = f"{FLOATER}&positions=16000&dim=512&hidden=2048&method=rk4&substeps=1000"
LONG = f"{FLOATER}&positions=500&dim=256&hidden=512&method=rk4&substeps=10"  # a second or so
SMALL = "/v1/encodings/sinusoidal?length=300&dim=64"
LEFT = 'posenc_rejected_total{reason="client_left"}'


class AbandonedCase(ServerCase):
    flags = ("--threads", "2", "--compute-cost", "0", "--compute-seconds", "600")

    def asking(self, *targets, **how):
        """A connection for each target, all of them asked."""
        wires = []
        for target in targets:
            wires.append(self.server.wire())
            self.addCleanup(wires[-1].close)
            wires[-1].ask("GET", target, **how)
        return wires

    def metric(self, name):
        return self.server.metrics().get(name, 0)

    def under_way(self):
        return self.metric("posenc_requests_under_way") - 1  # without this one

    def wait_for(self, count):
        wait_until(lambda: self.under_way() == count, f"{count} requests are under way")

    def wait_for_work(self, computed=None):
        """Until the server computes, and has read all that was sent; or has computed more than
        `computed` tables, where the work may end before it is looked at."""
        ratio = 'posenc_preparation_progress_ratio{scheme="floater"}'

        def has_begun():
            if computed is not None and self.server.computed() > computed:
                return True
            return 0 < self.metric(ratio) < 1

        wait_until(has_begun, "the work has begun")

    def assert_idle(self):
        def is_idle():
            begun, used = time.monotonic(), self.server.processor_seconds()
            time.sleep(0.3)
            return self.server.processor_seconds() - used < 0.1 * (time.monotonic() - begun)

        wait_until(is_idle, "the processor is idle")

    def leave(self, wires):
        """Close the connections; all their work ends."""
        before = self.metric(LEFT)
        for wire in wires:
            wire.close()
        self.wait_for(0)
        self.assertEqual(self.metric(LEFT) - before, len(wires))
        self.assertEqual(self.metric("posenc_jobs_waiting"), 0)
        self.assert_idle()


class Leaving(AbandonedCase):
    def test_work_for_clients_that_have_closed_ends(self):
        wires = self.asking(*(f"{ENDLESS}&seed={i}" for i in range(6)))
        self.wait_for(6)
        self.wait_for_work()
        self.leave(wires)
        self.assert_ok(self.get(f"{FLOATER}&length=2&dim=4"))  # and the workers are as before

    def test_a_client_that_resets_has_left_whatever_its_version(self):
        for version in ("1.0", "1.1"):
            wires = self.asking(ENDLESS, version=version)
            self.wait_for_work()
            no_linger = struct.pack("ii", 1, 0)
            wires[0].socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, no_linger)
            self.leave(wires)

    def test_one_that_had_other_answers_before_and_has_sent_more(self):
        for more in ("", SMALL):
            (wire,) = self.asking(SMALL)
            self.assert_ok(wire.receive())
            wire.ask("GET", ENDLESS)
            if more:
                wire.ask("GET", more)
            self.wait_for_work()
            self.leave([wire])

    def test_one_that_has_posted(self):
        wire = self.server.wire()
        body = (
            b'{"positions": [16000], "dim": 512, "hidden": 2048, "substeps": 1000, '
            b'"method": "rk4"}'
        )
        headers = {"Content-Type": "application/json", "Accept": "application/octet-stream"}
        wire.ask("POST", "/v1/encodings/floater", headers, body)
        self.wait_for_work()
        self.leave([wire])

    def test_the_one_who_stays_gets_the_result_that_both_wanted(self):
        computed = self.server.computed()
        first, second = self.asking(LONG, LONG)
        self.wait_for_work(computed)
        first.close()
        self.assert_ok(second.receive())
        self.assertEqual(self.server.computed() - computed, 1)

    def test_the_last_one_to_leave_ends_it(self):
        for spelling in (ENDLESS, f"{ENDLESS}&dtype=f32"):
            wires = self.asking(ENDLESS, ENDLESS, spelling)
            self.wait_for(3)
            self.wait_for_work()
            self.leave(wires)

    def test_the_log_says_that_the_client_had_left(self):
        server = self.server = self.start("--access-log", *self.flags)
        wires = self.asking(ENDLESS)
        self.wait_for_work()
        self.leave(wires)
        self.assertNotIn("rejected=queue_full", server.log())
        self.assertNotIn("rejected=compute_deadline", server.log())


class HalfClosed(AbandonedCase):
    """A client that has ended its own side and still reads."""

    def ask_and_end(self, target, version="1.1"):
        computed = self.server.computed()
        (wire,) = self.asking(target, version=version)
        self.wait_for_work(computed)
        wire.socket.shutdown(socket.SHUT_WR)
        return wire

    def test_it_gets_an_interim_response_and_its_answer(self):
        before, seeds = self.metric(LEFT), itertools.count(100)

        def an_interim_response_came():
            wire = self.ask_and_end(f"{LONG}&seed={next(seeds)}")
            first = wire.receive_head()
            if first.status == 100:
                self.assert_ok(wire.receive())
            else:  # it was computed before the end was noticed
                self.assert_ok(first)
            return first.status == 100

        wait_until(an_interim_response_came, "an interim response")
        self.assertEqual(self.metric(LEFT), before)

    def test_by_http_1_0_it_gets_its_answer_alone(self):
        self.assert_ok(self.ask_and_end(f"{LONG}&seed=2", version="1.0").receive())

    def test_one_that_closes_before_it_has_read_that_has_left(self):
        self.wait_for(0)
        wire = self.ask_and_end(ENDLESS)
        readable, _, _ = select.select([wire.socket], [], [], PATIENCE)
        self.assertTrue(readable)
        self.leave([wire])

    def test_on_a_unix_socket_it_gets_its_answer_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            self.server = self.start("--unix-socket", f"{folder}/socket", *self.flags)
            self.assert_ok(self.ask_and_end(LONG).receive())
            wires = self.asking(ENDLESS, f"{ENDLESS}&seed=1", f"{ENDLESS}&seed=2")
            self.wait_for(3)
            self.wait_for_work()
            self.leave(wires)


class Beside(AbandonedCase):
    """64 requests that take long, and small ones. The bounds are for a busy machine."""

    def measure(self, title, bound):
        """How long small requests take whose tables are not in the cache."""
        times = []
        for i in range(200):
            target = f"{SMALL}&offset={self.offset + i}" if i % 10 else "/v1/schemes"
            begun = time.monotonic()
            self.assert_ok(self.get(target))
            times.append(time.monotonic() - begun)
        times.sort()
        self.offset += 1000
        if os.environ.get("TEST_FIGURES"):
            print(f"{title}: p50 {1e3 * times[100]:.1f} ms, p99 {1e3 * times[197]:.1f} ms")
        self.assertLess(times[197], bound)

    def ask_64(self):
        wires = self.asking(*(f"{ENDLESS}&seed={i}" for i in range(64)))
        self.wait_for(64)
        self.wait_for_work()
        return wires

    def setUp(self):
        self.offset = 0

    def test_small_requests_after_64_long_ones_were_abandoned(self):
        self.leave(self.ask_64())
        self.measure("64 abandoned", 2)

    def test_work_that_is_abandoned_ends_within_a_second(self):
        wires = self.ask_64()
        begun = time.monotonic()
        for wire in wires:
            wire.close()
        self.wait_for(0)
        if os.environ.get("TEST_FIGURES"):
            print(
                f"64 clients have left: noticed after {1e3 * (time.monotonic() - begun):.0f} ms"
            )
        self.assert_idle()
