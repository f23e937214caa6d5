"""Bounds under load: single flight, the cache's budget, sizes refused before any work."""

import hashlib
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor

from server import PATIENCE, ServerCase

SINUSOIDAL = "/v1/encodings/sinusoidal"
CLIENTS = 100
KEYS = 10_000
BATCH = 50
REQUEST = "GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n"


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

    def test_parallel_misses_of_different_keys_compute_each_once(self):
        targets = [f"{SINUSOIDAL}?length=64&dim=64&offset={i}&format=raw" for i in range(20)]
        answers = self.ask_at_once(targets * 4)
        self.assertEqual(len(set(answers)), 20)
        self.assertEqual(self.moved("computed"), 20)


class Budget(ServerCase):
    flags = ("--cache-bytes", "1MiB")

    def sample(self):
        """The size of the cache and its budget at the same moment."""
        metrics = self.server.metrics()
        return metrics["posenc_cache_bytes"], metrics["posenc_cache_budget_bytes"]

    def watch(self, ended, samples):
        while not ended.is_set():
            samples.append(self.sample())

    def test_10_000_keys_never_take_the_cache_over_its_budget(self):
        ended, samples = threading.Event(), []
        watcher = threading.Thread(target=self.watch, args=(ended, samples))
        watcher.start()
        try:
            self.ask_for_every_key(samples)
        finally:
            ended.set()
            watcher.join()
        self.assertEqual({budget for _, budget in samples}, {1 << 20})
        highest = max(used for used, _ in samples)
        self.assertLessEqual(highest, 1 << 20)
        self.assertGreater(highest, 1 << 18, "the cache was in use")
        self.assertGreater(len(samples), KEYS // BATCH)
        metrics = self.server.metrics()
        self.assertEqual(metrics["posenc_computed_total"], KEYS)
        self.assertEqual(metrics["posenc_cache_misses_total"], KEYS)
        self.assertGreater(metrics["posenc_cache_evictions_total"], 0)
        self.assertEqual(
            metrics["posenc_cache_evictions_total"] + metrics["posenc_cache_entries"], KEYS
        )

    def ask_for_every_key(self, samples):
        """Request tables of 64 B to 13 KB in all formats, in pipelined batches; each batch asks
        for its last tables again."""
        formats = ("raw", "npy", "json", "safetensors")
        with self.server.wire() as wire:
            for first in range(0, KEYS, BATCH):
                keys = range(first, first + BATCH)
                targets = [
                    f"{SINUSOIDAL}?length={1 + key % 200}&dim=16&offset={key}"
                    f"&format={formats[key % 4]}"
                    for key in keys
                ]
                targets += targets[-3:]
                wire.send("".join(REQUEST.format(target) for target in targets).encode())
                for _ in targets:
                    self.assertEqual(wire.receive().status, 200)
                samples.append(self.sample())

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
