"""Tables whose preparation takes long: deadline, progress, stopping, and other requests
meanwhile."""

import signal
import time
import unittest

from server import PATIENCE, Server, ServerCase, wait_until

ENDLESS = (
    "/v1/encodings/floater?length=3&offset=1000000&dim=256&method=rk4&dt=0.0001&format=raw"
)
QUICK = "/v1/encodings/floater?length=3&dim=4"
RATIO = 'posenc_preparation_progress_ratio{scheme="floater"}'
SOON = (
    20  # seconds: upper bound on what is done at once, also under a sanitizer on a busy machine
)


class Deadline(ServerCase):
    flags = ("--compute-cost", "0", "--compute-seconds", "1")

    def test_a_preparation_ends_at_its_deadline(self):
        begun = time.monotonic()
        reply = self.get(ENDLESS)
        self.assert_problem(reply, 422, code="deadline_exceeded")
        self.assertIsNone(reply.header("Retry-After"))
        self.assertGreaterEqual(time.monotonic() - begun, 1)
        self.assertLess(time.monotonic() - begun, SOON)
        self.assertEqual(self.server.metrics()[RATIO], 1)
        # each preparation has its own deadline, and a machine that stands still may miss that
        wait_until(lambda: self.get(QUICK).status == 200, "one that is quick")

    def test_head_needs_no_preparation(self):
        reply = self.head(ENDLESS)
        self.assertEqual(reply.status, 200)
        self.assertEqual(reply.header("Content-Length"), str(3 * 256 * 4))


class Failures(ServerCase):
    flags = ("--threads", "1", "--compute-cost", "0", "--compute-seconds", "600")

    def test_a_preparation_fails_once_for_all_who_wait(self):
        failing = "/v1/similarity/integer?length=5000&metric=dot&dtype=f16&format=raw"
        busy, *wires = (self.server.wire() for _ in range(11))
        for wire in (busy, *wires):
            self.addCleanup(wire.close)
        busy.ask("GET", ENDLESS)
        wait_until(lambda: self.server.metrics().get(RATIO, 1) < 1, "the worker is busy")
        for number, wire in enumerate(wires):  # half of them written in another way
            wire.ask("GET", failing + "&offset=0" * (number % 2))
        wait_until(lambda: self.server.metrics()["posenc_jobs_waiting"] == 10, "all wait")
        busy.close()
        for wire in wires:
            self.assertEqual(wire.receive().status, 422)
        self.assertEqual(self.server.metrics()["posenc_cache_misses_total"], 2)
        self.assert_problem(self.get(failing), 422)  # a later one tries again
        self.assertEqual(self.server.metrics()["posenc_cache_misses_total"], 3)


class Progress(unittest.TestCase):
    def setUp(self):
        self.server = Server(
            "--threads", "2", "--compute-cost", "0", "--compute-seconds", "600"
        )
        self.addCleanup(self.server.stop)

    def ratio(self):
        return self.server.metrics().get(RATIO, 1)

    def begin(self):
        wire = self.server.wire()
        self.addCleanup(wire.close)
        wire.ask("GET", ENDLESS)
        wait_until(lambda: 0 < self.ratio() < 1, "the preparation has begun")

    def test_progress_grows_while_others_are_answered(self):
        self.begin()
        before = self.ratio()
        wait_until(lambda: self.ratio() > before, "progress")
        self.assertLess(self.ratio(), 1)
        for target in (QUICK, "/v1/encodings/learned?length=4&dim=4", "/health/ready"):
            self.assertEqual(self.server.request("GET", target).status, 200)

    def test_a_server_that_stops_ends_its_preparations(self):
        for one in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(one.name):
                self.server = Server(
                    "--drain-seconds", "1", "--compute-cost", "0", "--compute-seconds", "600"
                )
                self.addCleanup(self.server.stop)
                self.begin()
                begun = time.monotonic()
                self.server.signal(one)
                self.server.wait(PATIENCE)
                self.assertLess(time.monotonic() - begun, SOON)


if __name__ == "__main__":
    unittest.main()
