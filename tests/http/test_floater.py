"""A large floater: other requests are answered while its path is computed, the path is cached,
paths that take too many steps are refused, and clients that leave waste only the
computation."""

import statistics
import struct
import threading
import time
import unittest

from server import PATIENCE, Server, ServerCase, wait_until
from stored import PATH, write

FLOATER = "/v1/encodings/floater"
LARGE = f"{FLOATER}?length=4096&dim=512&format=raw"
LARGE_BYTES = 4096 * 512 * 4
SMALL = "/v1/encodings/sinusoidal?length=16&dim=16&format=raw"
RATIO = 'posenc_preparation_progress_ratio{scheme="floater"}'
HITS = 500
HIT_SECONDS = 0.1  # upper bound on the median; a millisecond is usual on two busy cores
LONG = 10 * PATIENCE  # what a path may take under a sanitizer on a busy machine


def vector(count, value):
    return ("F32", [count], struct.pack(f"<{count}f", *[value] * count))


def matrix(rows, columns, value):
    """All elements are `value`, but 0 in the last column, which multiplies the time."""
    row = [value] * (columns - 1) + [0.0]
    return ("F32", [rows, columns], struct.pack(f"<{rows * columns}f", *row * rows))


def network(size, first, second):
    """A set with as many hidden units as states: p' = second Σ act(first Σ p) in every
    state."""
    return write({
        "p0": vector(size, 1.0), "w1": matrix(size, size + 1, first), "b1": vector(size, 0.0),
        "w2": matrix(size, size + 1, second), "b2": vector(size, 0.0),
    })  # fmt: skip


class Asked:
    """A request on a connection of its own whose reply a thread waits for."""

    def __init__(self, server, target):
        self.wire, self.reply = server.wire(), None
        self.wire.socket.settimeout(LONG)
        self.wire.ask("GET", target)
        self.thread = threading.Thread(target=self._receive)
        self.thread.start()

    def _receive(self):
        self.reply = self.wire.receive()
        self.wire.close()

    def result(self):
        self.thread.join(LONG)
        return self.reply


class Load(unittest.TestCase):
    def setUp(self):
        self.server = Server(
            "--threads", "2", "--compute-cost", "0", "--compute-seconds", "3600"
        )
        self.addCleanup(self.server.stop)

    def ratio(self):
        return self.server.metrics().get(RATIO, 1)

    def hit_seconds(self):
        """How long each of many small hits takes, one after the other on one connection."""
        taken = []
        with self.server.wire() as wire:
            wire.exchange("GET", SMALL)
            for _ in range(HITS):
                begun = time.monotonic()
                reply = wire.exchange("GET", SMALL)
                taken.append(time.monotonic() - begun)
                self.assertIn("hit", reply.header("Cache-Status"))
        return taken

    def test_a_large_path_delays_nobody_and_is_kept(self):
        asked = Asked(self.server, LARGE)
        wait_until(lambda: 0 < self.ratio() < 1, "its progress")
        before = self.ratio()
        hits = self.hit_seconds()
        self.assertIsNone(asked.reply, "it is computed still")
        wait_until(lambda: self.ratio() > before, "more progress")
        self.assertLess(statistics.median(hits), HIT_SECONDS)
        reply = asked.result()
        self.assertEqual((reply.status, len(reply.body)), (200, LARGE_BYTES))
        self.assertIn("fwd=miss", reply.header("Cache-Status"))
        self.assertIn("compute;dur=", reply.header("Server-Timing"))
        self.assertEqual(self.ratio(), 1)
        computed = self.server.computed()
        again = self.server.request("GET", LARGE)
        self.assertIn("hit", again.header("Cache-Status"))
        self.assertEqual(again.body, reply.body)
        self.assertEqual(self.server.computed(), computed)

    def test_a_client_that_leaves_hurts_nobody(self):
        target = f"{FLOATER}?length=300&dim=96&format=raw&seed="
        whole = self.server.request("GET", f"{target}0")
        for seed in range(1, 6):
            with self.server.wire() as wire:
                wire.ask("GET", f"{target}{seed}")
        with self.server.wire() as wire:
            wire.ask("GET", f"{target}6")
            second = Asked(self.server, f"{target}6")
            wire.abort()
        self.assertEqual(second.result().status, 200)
        self.assertEqual(self.server.request("GET", f"{target}0").body, whole.body)
        wait_until(lambda: self.server.metrics()["posenc_connections"] == 1, "they are gone")
        wait_until(lambda: self.ratio() == 1, "nothing is computed for them")

    def test_many_who_ask_for_one_path_share_it(self):
        asked = [Asked(self.server, f"{FLOATER}?length=500&dim=128&format={form}")
                 for form in ("raw", "npy", "safetensors", "raw") * 3]  # fmt: skip
        replies = [one.result() for one in asked]
        self.assertEqual({reply.status for reply in replies}, {200})
        self.assertEqual(len({reply.body for reply in replies}), 3)
        self.assertEqual(self.server.computed(), 1)


class Runaway(ServerCase):
    flags = ("--threads", "2", "--compute-cost", "0", "--compute-seconds", "600")

    def put(self, name, body):
        reply = self.server.request("PUT", f"{PATH}/{name}", None, body)
        self.assertEqual(reply.status, 201, reply)

    def refuse(self, query, parameter, rule):
        begun = time.monotonic()
        problem = self.assert_problem(self.get(f"{FLOATER}?{query}"), 422, parameter)
        self.assertIn(rule, problem["errors"][0]["allowed"])
        self.assertLess(time.monotonic() - begun, PATIENCE / 2)
        return problem

    def test_a_path_that_explodes_is_422_that_says_where(self):
        self.put("explodes", network(16, 100.0, 100.0))
        for method in ("dopri5", "rk4"):
            for dtype in ("f32", "f64"):
                query = f"set=explodes&length=4096&method={method}&dtype={dtype}"
                reply = self.get(f"{FLOATER}?{query}")
                problem = self.assert_problem(reply, 422)
                self.assertIn(problem["errors"][0]["parameter"], ("dt", "dtype"), problem)
        self.refuse("set=explodes&length=4096&dtype=f64", "dt", "after position ")
        self.assert_ok(self.get(f"{FLOATER}?set=explodes&length=1"))  # needs p0 only

    def test_a_path_of_too_many_steps_is_422_in_bounded_time(self):
        """A stiff network: its states stay small, but steps longer than 1e-9 make them
        swing."""
        self.put("stiff", network(8, 1e4, -1e4))
        query = "set=stiff&length=4096&activation=tanh"
        self.refuse(query, "rtol", "16384 steps between two positions")

    def test_a_path_slowly_out_of_its_dtype_is_422_that_names_it(self):
        self.put("grows", network(4, 1.0, 1.0))
        query = "set=grows&length=400&dt=0.1"
        self.refuse(f"{query}&dtype=f16", "dtype", "f16, which ends below 65520")
        self.refuse(
            f"{query}&dtype=f64&length=40000".replace("length=400&", ""), "dt", "±1e100"
        )

    def test_the_server_is_as_before(self):
        self.put("bad", network(4, 1e30, 1e30))
        for _ in range(20):
            self.assertEqual(self.get(f"{FLOATER}?set=bad&length=9").status, 422)
        self.assertEqual(self.server.metrics()[RATIO], 1)
        self.assert_ok(self.get(f"{FLOATER}?length=3&dim=4"))


if __name__ == "__main__":
    unittest.main()
