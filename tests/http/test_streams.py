"""Tables too large to hold are computed while they are sent; long work leaves the event threads."""

import hashlib
import threading
import time
import unittest

from decode import read_npy
from server import ServerCase

SINUSOIDAL = "/v1/encodings/sinusoidal"
GRID = "/v1/encodings/sinusoidal_2d"


class Streams(ServerCase):
    flags = ("--cache-bytes", "1MiB", "--max-elements", "100000000000")

    def test_a_streamed_table_has_the_bits_of_its_windows(self):
        whole = self.assert_ok(self.get(f"{SINUSOIDAL}?length=30000&dim=100&format=raw"))
        self.assertIn("streamed", whole.header("Cache-Status"))
        self.assertEqual(len(whole.body), 30000 * 400)
        for first in (0, 1, 63, 10485, 10486, 29500):
            window = self.get(f"{SINUSOIDAL}?length=500&offset={first}&dim=100&format=raw")
            self.assertNotIn("streamed", window.header("Cache-Status"))
            self.assertEqual(window.body, whole.body[first * 400 : (first + 500) * 400])

    def test_binary_forms_agree_and_state_their_length(self):
        query = f"{SINUSOIDAL}?length=5000&dim=64&dtype=f64"
        raw = self.get(f"{query}&format=raw").body
        for name in ("raw", "npy", "safetensors"):
            reply = self.assert_ok(self.get(f"{query}&format={name}"))
            self.assertEqual(reply.header("Content-Length"), str(len(reply.body)))
            self.assertTrue(reply.body.endswith(raw))
            self.assertLess(len(reply.body) - len(raw), 2048)
            head = self.head(f"{query}&format={name}")
            self.assertEqual(head.header("Content-Length"), str(len(reply.body)))
            self.assertEqual(head.header("ETag"), reply.header("ETag"))

    def test_every_streamable_scheme_streams(self):
        for query in ("integer?length=100000", "normalized?length=100000",
                      "binary?length=50000", "periodic?length=5000&dim=64",
                      "sinusoidal_2d?height=90&width=80&dim=16"):
            with self.subTest(query):
                reply = self.assert_ok(self.get(f"/v1/encodings/{query}&format=npy"))
                self.assertIn("streamed", reply.header("Cache-Status"))
                self.assertEqual(reply.header("Content-Length"), str(len(reply.body)))

    def test_grids_over_the_share_have_the_bits_of_smaller_ones(self):
        """[height, width, dim] by cell rows, and [dim, height, width] by rows of planes."""
        height, width, dim, few_rows, few_columns = 100, 90, 16, 50, 40
        for dtype, size in (("f32", 4), ("f64", 8), ("f16", 2)):
            for shape, planes, item in (("hwc", 1, dim * size), ("chw", dim, size)):
                query = f"{GRID}?dim={dim}&dtype={dtype}&shape={shape}&axis_order=height_first"
                large = f"{query}&height={height}&width={width}"
                small = self.get(f"{query}&height={few_rows}&width={few_columns}&format=raw")
                whole = self.assert_ok(self.get(f"{large}&format=raw"))
                with self.subTest(dtype=dtype, shape=shape):
                    self.assertIn("streamed", whole.header("Cache-Status"))
                    self.assertNotIn("streamed", small.header("Cache-Status"))
                    self.assertEqual(whole.header("Content-Length"),
                                     str(height * width * dim * size))
                    rows = [whole.body[at : at + few_columns * item]
                            for plane in range(planes)
                            for row in range(few_rows)
                            for at in [(plane * height + row) * width * item]]
                    self.assertEqual(b"".join(rows), small.body)
                    npy = self.get(f"{large}&format=npy").body
                    self.assertEqual(read_npy(npy)[2], whole.body)

    def test_a_grid_of_any_length_takes_constant_memory(self):
        self.get(f"{SINUSOIDAL}?length=2&dim=4")
        before = self.server.resident()
        for shape in ("chw", "hwc"):
            with self.server.wire() as wire:
                wire.ask("GET", f"{GRID}?height=5000&width=4500000&dim=4&format=raw&shape={shape}")
                head = wire.receive_head()
                self.assertEqual(head.header("Content-Length"), str(5000 * 4500000 * 16))
                for _ in range(50):
                    wire.take(1 << 20)
                self.assertLess(self.server.resident() - before, 32 << 20)

    def test_json_of_such_a_table_is_a_problem_that_names_the_binary_forms(self):
        reply = self.get(f"{SINUSOIDAL}?length=5000&dim=64&format=json")
        problem = self.assert_problem(reply, 422, "format")
        self.assertIn("npy", problem["errors"][0]["allowed"])

    def test_64_gib_take_constant_memory_and_stop_with_the_client(self):
        self.get(f"{SINUSOIDAL}?length=2&dim=4")
        before = self.server.resident()
        with self.server.wire() as wire:
            wire.ask("GET", f"{SINUSOIDAL}?length=16777216&dim=1024&format=raw")
            head = wire.receive_head()
            self.assertEqual(head.header("Content-Length"), str(1 << 36))
            digest = hashlib.sha256()
            for _ in range(200):
                digest.update(wire.take(1 << 20))
            self.assertLess(self.server.resident() - before, 32 << 20)
        window = self.get(f"{SINUSOIDAL}?length=60&offset=51000&dim=1024&format=raw")
        self.assert_ok(window)
        self.assertLess(self.server.resident() - before, 32 << 20)

    def test_a_client_that_leaves_is_forgotten(self):
        for _ in range(10):
            with self.server.wire() as wire:
                wire.ask("GET", f"{SINUSOIDAL}?length=16777216&dim=1024&format=raw")
                wire.receive_head()
        deadline = time.monotonic() + 10
        while self.server.metrics()["posenc_connections"] > 2:
            self.assertLess(time.monotonic(), deadline, "connections stay")


class Workers(ServerCase):
    flags = ("--threads", "1", "--compute-queue", "2", "--cache-bytes", "1GiB")

    def test_hits_are_answered_while_a_large_table_is_computed(self):
        small = f"{SINUSOIDAL}?length=8&dim=8"
        self.get(small)
        # an amplitude takes the careful path: slow enough to be seen
        large = f"{SINUSOIDAL}?length=100000&dim=512&amplitude=1.5&format=raw"
        thread = threading.Thread(target=self.get, args=(large,))
        thread.start()
        answered = 0
        while thread.is_alive():
            self.assert_ok(self.get(small))
            answered += 1
        thread.join()
        self.assertGreater(answered, 5)

    def test_beyond_the_queue_computations_are_503_with_retry_after(self):
        replies = []

        def ask(offset):
            target = f"{SINUSOIDAL}?length=20000&dim=512&amplitude=1.5&offset={offset}&format=raw"
            replies.append(self.get(target))

        threads = [threading.Thread(target=ask, args=(i,)) for i in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        refused = [reply for reply in replies if reply.status == 503]
        self.assertEqual(len(replies), 12)
        self.assertTrue(refused)
        for reply in refused:
            self.assert_problem(reply, 503)
            self.assertEqual(reply.header("Retry-After"), "1")
        for reply in replies:
            if reply.status != 503:
                self.assert_ok(reply)

    def test_many_requests_for_one_table_take_one_place_in_the_queue(self):
        target = f"{SINUSOIDAL}?length=20000&dim=512&amplitude=1.5&offset=777&format=raw"
        replies = []
        threads = [
            threading.Thread(target=lambda: replies.append(self.get(target))) for _ in range(30)
        ]
        before = self.server.computed()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual({reply.status for reply in replies}, {200})
        self.assertEqual(len({reply.body for reply in replies}), 1)
        self.assertEqual(self.server.computed() - before, 1)


class Oddities(ServerCase):
    def test_thousands_of_empty_parameters_are_answered_and_leave_nothing(self):
        for query in ("&" * 2000, "a&" * 4000, "&" * 15000):
            self.assert_problem(self.get(f"/v1/encodings/integer?{query}"), 400)

    def test_the_accept_of_old_java_clients_gets_json(self):
        accept = "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2"
        reply = self.get(f"{SINUSOIDAL}?length=2&dim=2", {"Accept": accept})
        self.assert_ok(reply, "application/json")


if __name__ == "__main__":
    unittest.main()
