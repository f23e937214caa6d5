"""Tables that are too large for the cache are computed while they are sent; slow work is done
by workers and not by event threads."""

import contextlib
import hashlib
import itertools
import json
import select
import signal
import threading
import unittest

from decode import read_npy
from meanwhile import answered_meanwhile
from registry import example, query_of, text_of, value_of
from server import PATIENCE, Server, ServerCase, wait_until
from test_preparations import ENDLESS

SINUSOIDAL = "/v1/encodings/sinusoidal"
GRID = "/v1/encodings/sinusoidal_2d"


# what says how large a scheme's example is; a list has a size for each axis
SIZES = ("length", "base_length", "height", "width", "dim", "heads", "sizes", "depth")


class Streams(ServerCase):
    flags = ("--cache-bytes", "1MiB", "--max-elements", "100000000000", "--compute-cost", "0")

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

    def test_what_cannot_be_computed_is_said_of_a_stream_as_of_a_table(self):
        query = "/v1/similarity/integer?metric=dot&dtype=f16"
        for name in ("raw", "npy", "safetensors", "json", "csv", "png"):
            with self.subTest(name):
                held = self.get(f"{query}&length=300&format={name}")
                streamed = self.get(f"{query}&length=900&format={name}")
                self.assert_problem(held, 422)
                self.assert_problem(streamed, 422)
                self.assertEqual(held.json()["code"], streamed.json()["code"])
                self.assertEqual(
                    [problem["parameter"] for problem in held.json()["errors"]],
                    [problem["parameter"] for problem in streamed.json()["errors"]],
                )

    def enlarged(self, scheme):
        """The scheme's example with sizes doubled in turn until the table is too large for the
        cache; None if the scheme cannot be streamed."""
        rows = {row["name"]: row for row in scheme["parameters"]}
        given = {name: value_of(rows[name], text) for name, text in example(scheme).items()}
        given.pop("tokens", None)  # a list with an item for each row
        sizes = [name for name in sorted(given) if name in SIZES]
        self.assertTrue(sizes, scheme["example"])
        if scheme["name"] == "binary":  # the width that the largest length needs
            sizes, given["width"] = ["length"], 54
        if scheme["name"] == "mrope":  # another dim needs other sections
            sizes = ["text"]
        for turn in range(60):
            name = sizes[turn % len(sizes)]
            value = given[name]
            doubled = [2 * item for item in value] if isinstance(value, list) else 2 * value
            larger = {**given, name: doubled}
            texts = {name: text_of(value) for name, value in larger.items()}
            target = f"/v1/encodings/{scheme['name']}?{query_of(texts)}&format=raw"
            head = self.head(target)
            if head.status != 200:
                allowed = self.get(target).json()["errors"][0]["allowed"]
                self.assertIn("share of the cache", allowed)
                return None
            if int(head.header("Content-Length")) > 300000:
                return target
            given = larger
        raise AssertionError(f"no larger than {given}")

    def test_every_scheme_streams_the_bytes_that_a_larger_cache_holds(self):
        large = self.start("--cache-bytes", "1GiB")
        schemes = self.get("/v1/schemes").json()["schemes"]
        targets = [self.enlarged(scheme) for scheme in schemes]
        self.assertGreaterEqual(len(schemes) - targets.count(None), 19)
        for target in filter(None, targets):
            with self.subTest(target):
                reply = self.assert_ok(self.get(target))
                self.assertIn("streamed", reply.header("Cache-Status"))
                self.assertEqual(reply.header("Content-Length"), str(len(reply.body)))
                held = large.request("GET", target)
                self.assertNotIn("streamed", held.header("Cache-Status"))
                self.assertTrue(reply.body == held.body)

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
                    self.assertEqual(
                        whole.header("Content-Length"), str(height * width * dim * size)
                    )
                    rows = [
                        whole.body[at : at + few_columns * item]
                        for plane in range(planes)
                        for row in range(few_rows)
                        for at in [(plane * height + row) * width * item]
                    ]
                    self.assertEqual(b"".join(rows), small.body)
                    npy = self.get(f"{large}&format=npy").body
                    self.assertEqual(read_npy(npy)[2], whole.body)

    def test_a_grid_of_any_length_takes_constant_memory(self):
        self.get(f"{SINUSOIDAL}?length=2&dim=4")
        before = self.server.resident()
        for shape in ("chw", "hwc"):
            with self.server.wire() as wire:
                wire.ask(
                    "GET", f"{GRID}?height=5000&width=4500000&dim=4&format=raw&shape={shape}"
                )
                head = wire.receive_head()
                self.assertEqual(head.header("Content-Length"), str(5000 * 4500000 * 16))
                for _ in range(50):
                    wire.take(1 << 20)
                self.assertLess(self.server.resident() - before, 32 << 20)

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
        wait_until(lambda: self.server.metrics()["posenc_connections"] <= 2, "they are closed")


class Sent:
    """What a server has sent to others than this, which asks for /metrics again and again."""

    def __init__(self, server):
        self.server, self.own = server, 0

    def metrics(self):
        """The body counts when it is answered, so it does not say so itself."""
        reply = self.server.request("GET", "/metrics")
        lines = reply.body.decode().splitlines()
        metrics = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
        bytes_ = float(metrics["posenc_response_body_bytes_total"]) - self.own
        self.own += len(reply.body)
        return bytes_, float(metrics["posenc_connections"])

    def bytes(self):
        return self.metrics()[0]

    def was_alone(self):
        return self.metrics()[1] == 1


class StreamedJson(ServerCase):
    """Streams against a server whose cache holds the same tables."""

    flags = ("--cache-bytes", "64KiB")  # 16 KiB for a table
    target = f"{SINUSOIDAL}?length=5000&dim=64"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.holding = Server("--cache-bytes", "256MiB")
        cls.addClassCleanup(cls.holding.stop)

    def test_streamed_text_is_that_of_a_table_that_is_held(self):
        queries = [
            f"{SINUSOIDAL}?length=5000&dim=64",
            f"{SINUSOIDAL}?length=600&dim=64&amplitude=1.5&step=0.1&offset=-7.25",
            f"{SINUSOIDAL}?length=3&dim=100001&odd_dim=pad&dtype=f64",
            f"{SINUSOIDAL}?length=1&dim=65536",
            f"{SINUSOIDAL}?dim=1024&dtype=f16&positions=0,-5,1e9,0.3,77,4,4,9007199254740992,"
            "12",
            f"{SINUSOIDAL}?length=99&dim=300&dtype=bf16",
            "/v1/encodings/periodic?length=300&dim=35&offset=-150",
            "/v1/encodings/integer?length=30000",
            "/v1/encodings/normalized?length=9000&dtype=f64",
            "/v1/encodings/binary?length=5000&width=13&dtype=f16",
            f"{GRID}?height=40&width=30&dim=16",
            f"{GRID}?height=1&width=5000&dim=4&shape=hwc",
            f"{GRID}?height=40&width=30&dim=16&preset=timm&extra_tokens=2",
        ]
        for query in queries:
            with self.subTest(query):
                streamed = self.assert_ok(self.get(query), "application/json")
                held = self.assert_ok(self.holding.request("GET", query), "application/json")
                self.assertIn("streamed", streamed.header("Cache-Status"))
                self.assertNotIn("streamed", held.header("Cache-Status"))
                self.assertEqual(streamed.header("Transfer-Encoding"), "chunked")
                self.assertIsNone(streamed.header("Content-Length"))
                self.assertTrue(streamed.body == held.body, "other bytes")
                for name in ("ETag", "Cache-Control", "Vary", "Tensor-Shape"):
                    self.assertEqual(streamed.header(name), held.header(name), name)

    def test_a_posted_list_is_streamed_as_well(self):
        document = {"positions": [i * 0.75 - 900 for i in range(4000)], "dim": 8}
        streamed = self.assert_ok(self.post(SINUSOIDAL, document))
        body, fields = json.dumps(document), {"Content-Type": "application/json"}
        held = self.holding.request("POST", SINUSOIDAL, fields, body)
        self.assertIn("streamed", streamed.header("Cache-Status"))
        self.assertTrue(streamed.body == held.body, "other bytes")
        self.assertIsNone(streamed.header("ETag"))

    def test_the_connection_goes_on_behind_the_last_chunk(self):
        with self.server.wire() as wire:
            first = self.assert_ok(wire.exchange("GET", self.target))
            self.assert_in_step(wire, first)
            self.assertTrue(wire.exchange("GET", self.target).body == first.body)

    def test_an_http_1_0_client_gets_the_bytes_and_then_the_end(self):
        whole = self.get(self.target).body
        for fields in ({}, {"Connection": "keep-alive"}):
            with self.server.wire() as wire:
                wire.ask("GET", self.target, fields, version="1.0")
                head = self.assert_ok(wire.receive_head(), "application/json")
                self.assertIsNone(head.header("Transfer-Encoding"))
                self.assertIsNone(head.header("Content-Length"))
                self.assertTrue(wire.take_rest() == whole)

    def test_head_and_conditions_compute_and_send_nothing(self):
        whole = self.get(self.target)
        before = self.server.metrics()
        with self.server.wire() as wire:
            head = self.assert_ok(wire.exchange("HEAD", self.target), "application/json")
            self.assertEqual(head.header("ETag"), whole.header("ETag"))
            self.assertIsNone(head.header("Transfer-Encoding"))
            self.assert_in_step(wire, head)
        for condition in (whole.header("ETag"), "*", f'"a", W/{whole.header("ETag")}'):
            with self.server.wire() as wire:
                reply = wire.exchange("GET", self.target, {"If-None-Match": condition})
                self.assertEqual(reply.status, 304)
                self.assertEqual(reply.header("ETag"), whole.header("ETag"))
                self.assert_in_step(wire, reply)
        after = self.server.metrics()
        name = "posenc_response_body_bytes_total"
        self.assertLess(after[name] - before[name], len(whole.body) / 2)
        self.assert_ok(self.get(self.target, {"If-None-Match": '"other"'}))

    def test_over_the_json_limit_it_is_refused_as_before(self):
        server = self.start("--cache-bytes", "64KiB", "--json-max-elements", "100000")
        self.assert_ok(server.request("GET", f"{SINUSOIDAL}?length=1000&dim=100&format=json"))
        over = f"{SINUSOIDAL}?length=1001&dim=100"
        self.assert_problem(server.request("GET", f"{over}&format=json"), 422, "format")
        self.assert_problem(server.request("GET", over), 406)

    def test_bytes_are_counted_as_they_go(self):
        sent = Sent(self.server)
        before = sent.bytes()
        size = len(self.get(self.target).body)
        wait_until(lambda: sent.bytes() - before >= size, "the bytes")
        self.assertEqual(sent.bytes() - before, size)

    def test_16_million_elements_take_constant_memory_and_stop_with_the_client(self):
        self.get(self.target)
        before = self.server.resident()
        queries = [
            f"{SINUSOIDAL}?length=65536&dim=256&format=json",
            f"{SINUSOIDAL}?length=16&dim=1048576&format=json",
            f"{GRID}?height=4&width=1048576&dim=4&format=json",
        ]
        for query in queries:
            sent = Sent(self.server)
            before_it = sent.bytes()
            with self.server.wire() as wire:
                wire.ask("GET", query)
                self.assert_ok(wire.receive_head())
                for _ in range(16):
                    wire.take(1 << 20)
                # frequencies: 16 MB where dim is a million, and the block of one row
                self.assertLess(self.server.resident() - before, 48 << 20, query)
            wait_until(sent.was_alone, "the end")
            # the bytes that were read or are in socket buffers, not the 180 MB of the whole
            self.assertLess(sent.bytes() - before_it, 64 << 20, query)

    def test_small_requests_are_answered_beside_streams(self):
        numbers = ("--json-max-elements", "4294967296")  # for texts that do not end meanwhile
        server = self.start("--cache-bytes", "64KiB", "--threads", "1", *numbers)
        with contextlib.ExitStack() as stack:
            wires = [stack.enter_context(server.wire()) for _ in range(4)]

            def read(wire):
                with contextlib.suppress(OSError):  # the abort below
                    wire.take_rest()

            readers = [threading.Thread(target=read, args=(wire,)) for wire in wires]
            for wire, reader in zip(wires, readers, strict=True):
                wire.ask("GET", f"{SINUSOIDAL}?length=16777216&dim=256&step=0.1&format=json")
                wire.receive_head()
                reader.start()
            for i in range(20):
                reply = server.request("GET", f"{SINUSOIDAL}?length=2&dim=4&offset={i}")
                self.assert_ok(reply)
            self.assertTrue(all(reader.is_alive() for reader in readers), "ended before")
            for wire, reader in zip(wires, readers, strict=True):
                wire.abort()
                reader.join()

    def test_the_access_log_has_a_line_with_the_bytes_when_a_stream_has_ended(self):
        server = self.start("--cache-bytes", "64KiB", "--access-log", "--log-format", "json")
        for form in ("json", "raw"):
            size = len(server.request("GET", f"{self.target}&format={form}").body)
            wait_until(lambda: f"format={form}" in server.log(), "the line")
            wait_until(lambda: server.log().endswith("}\n"), "the whole line")
            line = json.loads(server.log().splitlines()[-1])
            self.assertEqual((line["bytes"], line["cache"]), (size, "bypass"))
            self.assertGreater(line["duration"], 0)
            self.assertNotIn("cut", line)

    def test_the_access_log_says_what_cut_a_download_off(self):
        for cache in ("64KiB", "1GiB"):  # a stream, and a table that is held
            flags = ("--cache-bytes", cache, "--access-log", "--log-format", "json")
            server = self.start(*flags, "--drain-seconds", "1")
            target = f"{SINUSOIDAL}?length=400000&dim=64&format=raw"
            server.request("GET", f"{target}&step=2")
            wait_until(lambda: server.log().endswith("}\n"), "the line")
            self.assertNotIn("cut", json.loads(server.log().splitlines()[-1]))
            with server.wire(4096) as wire:
                wire.ask("GET", target)
                self.assertEqual(wire.receive_head().status, 200)
                server.signal(signal.SIGTERM)
                server.process.wait(120)
                lines = [
                    json.loads(line) for line in server.log().splitlines() if target in line
                ]
                self.assertEqual([line.get("cut") for line in lines[-1:]], ["stop"], cache)

    def test_the_access_log_has_what_was_read_where_a_client_goes_away(self):
        server = self.start("--cache-bytes", "64KiB", "--access-log", "--log-format", "json")
        with server.wire(4096) as wire:
            wire.ask("GET", f"{SINUSOIDAL}?length=2000000&dim=64&format=raw")
            self.assertEqual(wire.receive_head().status, 200)
            self.assertEqual(server.log(), "", "it has not ended")
        wait_until(lambda: server.log().endswith("}\n"), "the line")
        line = json.loads(server.log())
        self.assertEqual((line["status"], line["cut"]), (200, "client"))
        self.assertLess(line["bytes"], 2000000 * 64 * 4)


class Workers(ServerCase):
    flags = ("--threads", "1", "--compute-queue", "2", "--cache-bytes", "1GiB")

    def test_hits_are_answered_while_a_large_table_is_computed(self):
        small = f"{SINUSOIDAL}?length=8&dim=8"
        self.get(small)
        # random tables take long enough to be seen
        large = "/v1/encodings/learned?length=100000&dim=128&format=raw&seed="
        seeds = itertools.count()
        replies = answered_meanwhile(
            lambda: self.get(f"{large}{next(seeds)}"), lambda: self.assert_ok(self.get(small))
        )
        for reply in replies:
            self.assert_ok(reply)

    def test_beyond_the_queue_computations_are_503_with_retry_after(self):
        """Of twelve requests without end some are computed, two may wait, and the others are
        refused."""
        patient = ("--compute-cost", "0", "--compute-seconds", "600")
        server, wires = self.start(*self.flags, *patient), []
        for seed in range(12):
            wires.append(server.wire())
            self.addCleanup(wires[-1].close)
            wires[-1].ask("GET", f"{ENDLESS}&seed={seed}")
        for _ in range(4):
            readable, _, _ = select.select([wire.socket for wire in wires], [], [], PATIENCE)
            self.assertTrue(readable)
            (refused,) = [wire for wire in wires if wire.socket == readable[0]]
            reply = refused.receive()
            self.assert_problem(reply, 503)
            self.assertEqual(reply.header("Retry-After"), "1")
            wires.remove(refused)
        self.assertLessEqual(server.metrics()["posenc_jobs_waiting"], 2)
        for wire in wires:
            wire.close()
        wait_until(
            lambda: server.metrics()["posenc_requests_under_way"] == 1, "they have ended"
        )
        self.assert_ok(server.request("GET", f"{SINUSOIDAL}?length=20000&dim=128&format=raw"))

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
