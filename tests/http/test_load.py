"""Bounds under load: single flight, what is not kept, sizes refused before any work."""

import hashlib
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor

from server import PATIENCE, ServerCase

SINUSOIDAL = "/v1/encodings/sinusoidal"
CLIENTS = 100


class SingleFlight(ServerCase):
    flags = ("--cache-bytes", "16MiB", "--threads", "16")

    def setUp(self):
        self.before = self.server.metrics()

    def moved(self, counter):
        name = f"posenc_{counter}_total"
        return self.server.metrics()[name] - self.before[name]

    def ask_at_once(self, targets):
        """Send requests at the same moment on a connection each; returns digests of the
        bodies."""
        barrier = threading.Barrier(len(targets), timeout=PATIENCE)

        def ask(target):
            connection = self.server.connect()
            connection.connect()
            barrier.wait()
            connection.request("GET", target)
            response = connection.getresponse()
            digest, size = hashlib.sha256(), 0
            while piece := response.read(1 << 16):
                digest.update(piece)
                size += len(piece)
            connection.close()
            return response.status, size, digest.hexdigest()

        with ThreadPoolExecutor(len(targets)) as pool:
            return list(pool.map(ask, targets))

    def test_100_parallel_misses_of_one_key_compute_once(self):
        target = f"{SINUSOIDAL}?length=6144&dim=128&offset=0.5&format=raw"
        answers = self.ask_at_once([target] * CLIENTS)
        self.assertEqual(len(set(answers)), 1)
        self.assertEqual(answers[0][:2], (200, 3 << 20))
        self.assertEqual(self.moved("computed"), 1)
        self.assertEqual(self.moved("cache_misses"), 1)
        self.assertEqual(self.moved("cache_hits") + self.moved("cache_coalesced"), CLIENTS - 1)

    def test_parallel_misses_in_several_formats_and_spellings_compute_once(self):
        spellings = ["length=512&dim=64&offset=7", "offset=7.0&dim=64&length=5.12e2"]
        targets = [
            f"{SINUSOIDAL}?{spelling}&format={name}"
            for spelling in spellings
            for name in ("json", "npy", "safetensors", "raw")
        ]
        answers = self.ask_at_once(targets * 5)
        self.assertEqual({status for status, _, _ in answers}, {200})
        self.assertEqual(len(set(answers)), 4)
        self.assertEqual(self.moved("computed"), 1)


class Budget(ServerCase):
    flags = ("--cache-bytes", "1MiB")

    def test_a_table_over_a_quarter_of_the_cache_is_streamed_and_not_kept(self):
        grid = "/v1/encodings/sinusoidal_2d?width=16&dim=64&format=raw&height="
        held = self.assert_ok(self.get(f"{grid}64"))
        self.assertNotIn("streamed", held.header("Cache-Status"))
        before = self.server.metrics()
        self.assertIn("streamed", self.assert_ok(self.get(f"{grid}65")).header("Cache-Status"))
        after = self.server.metrics()
        for name in ("posenc_computed_total", "posenc_cache_entries"):
            self.assertEqual(after[name], before[name], name)


class HugeRequests(ServerCase):
    def test_a_huge_length_is_422_that_names_the_element_limit_and_moves_nothing(self):
        huge = [
            f"{SINUSOIDAL}?length=1000000000000000&dim=8",
            f"{SINUSOIDAL}?length=1000000000000000&dim=1048576&dtype=f64&format=npy",
            f"{SINUSOIDAL}?length=9007199254740992&dim=2&format=raw",
            "/v1/encodings/integer?length=1000000000000000",
            "/v1/encodings/normalized?length=1e15&format=npy",
            "/v1/encodings/sinusoidal_2d?height=16777216&width=16777216&dim=1048576",
        ]
        self.get(huge[0])  # memory that the first request needs must not count
        resident, computed = self.server.resident(), self.server.computed()
        for target in huge:
            for _ in range(20):
                with self.subTest(target):
                    problem = self.assert_problem(self.get(target), 422, code="too_large")
                    self.assertIn(problem["errors"][0]["parameter"], ("length", "height"))
                    self.assertIn("68719476736", problem["errors"][0]["allowed"])
                    self.assertIn("element limit", problem["detail"])
        self.assertLess(self.server.resident() - resident, 32 << 20)
        self.assertEqual(self.server.computed(), computed)

    def test_the_element_limit_is_exact(self):
        server = self.start("--max-elements", "64")
        queries = {"length=8&dim=8": 200, "length=65&dim=1&odd_dim=truncate": 422}
        for target, status in queries.items():
            reply = server.request("GET", f"{SINUSOIDAL}?{target}&format=raw")
            self.assertEqual(reply.status, status)
        problem = self.assert_problem(reply, 422, "length", code="too_large")
        self.assertIn("64", problem["errors"][0]["allowed"])

    def test_a_huge_width_names_a_parameter_that_sets_it(self):
        reply = self.get(f"{SINUSOIDAL}?length=1e6&dim=1e6&format=raw")
        problem = self.assert_problem(reply, 422, code="too_large")
        self.assertIn(problem["errors"][0]["parameter"], ("length", "dim"))


if __name__ == "__main__":
    unittest.main()
