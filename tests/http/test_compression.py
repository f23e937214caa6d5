"""Text forms are sent as gzip to clients that accept it; binary forms are never compressed."""

import gzip
import itertools
import json
import subprocess
import unittest
import zlib

from meanwhile import answered_meanwhile
from server import ServerCase

SINUSOIDAL = "/v1/encodings/sinusoidal"
TARGET = f"{SINUSOIDAL}?length=40&dim=8"
CURL = ("curl", "-q", "--noproxy", "*", "-sSf")
DOCUMENTS = ("/v1/schemes", "/v1/schemes/sinusoidal", "/v1/info", "/openapi.json")
BINARY_FORMATS = ("npy", "safetensors", "raw")
GZIP = {"Accept-Encoding": "gzip"}
PLAIN = {"Accept-Encoding": "identity"}

# Accept-Encoding, and whether text is sent as gzip
ACCEPTED = {
    "gzip, deflate, br, zstd": True,
    "deflate, gzip;q=1.0, *;q=0.5": True,
    "GZIP": True,
    "*": True,
    "identity;q=0, gzip": True,
    "": False,
    "deflate, br": False,
    "gzip;q=0.000, *": False,
    "gzip;q=0.4, identity;q=0.5": False,
}
NOTHING_ACCEPTABLE = ("*;q=0", "gzip;q=0, identity;q=0", "identity;q=0, br, deflate")


class CompressionCase(ServerCase):
    def assert_gzip(self, reply, plain):
        """Check that a reply is the gzip of another reply's text."""
        self.assert_ok(reply, plain.header("Content-Type"))
        self.assertEqual(reply.header("Content-Encoding"), "gzip")
        self.assertTrue(gzip.decompress(reply.body) == plain.body)
        self.assertIsNone(plain.header("Content-Encoding"))


class Compression(CompressionCase):
    def test_text_is_compressed_for_whom_asks_for_it(self):
        plain = self.assert_ok(self.get(TARGET, PLAIN))
        for _ in range(2):  # computed or built, then hits
            for accepted, coded in ACCEPTED.items():
                with self.subTest(accepted):
                    reply = self.get(TARGET, {"Accept-Encoding": accepted})
                    if coded:
                        self.assert_gzip(reply, plain)
                    else:
                        self.assert_ok(reply)
                        self.assertIsNone(reply.header("Content-Encoding"))
                        self.assertEqual(reply.body, plain.body)
                    self.assertEqual(reply.header("Content-Length"), str(len(reply.body)))
                    self.assertEqual(reply.header("Vary"), "Accept, Accept-Encoding")

    def test_who_says_nothing_gets_it_as_it_is(self):
        with self.server.wire() as wire:
            reply = self.assert_ok(wire.exchange("GET", TARGET))
            self.assertIsNone(reply.header("Content-Encoding"))
            self.assertEqual(reply.body, self.get(TARGET, PLAIN).body)

    def test_accept_encoding_in_two_header_lines_is_one_list(self):
        lines = {b"br": b"gzip", b"gzip": b"br", b"gzip;q=0.5": b"identity;q=0.4"}
        with self.server.wire() as wire:
            for first, second in lines.items():
                value = first + b"\r\nAccept-Encoding: " + second
                reply = wire.exchange("GET", TARGET, {"Accept-Encoding": value})
                self.assertEqual(reply.header("Content-Encoding"), "gzip")
            value = b"gzip;q=0.5\r\nAccept-Encoding: identity"
            reply = wire.exchange("GET", TARGET, {"Accept-Encoding": value})
            self.assertIsNone(reply.header("Content-Encoding"))

    def test_documents_and_metrics_are_compressed(self):
        for path in DOCUMENTS:
            with self.subTest(path):
                plain, coded = self.get(path, PLAIN), self.get(path, GZIP)
                self.assert_gzip(coded, plain)
                self.assertLess(len(coded.body), len(plain.body))
                self.assertNotEqual(plain.header("ETag"), coded.header("ETag"))
                for reply in (plain, coded):
                    self.assertEqual(reply.header("Vary"), "Accept-Encoding")
        coded = self.assert_ok(self.get("/metrics", GZIP))
        self.assertEqual(coded.header("Content-Encoding"), "gzip")
        self.assertIn(b"posenc_computed_total", gzip.decompress(coded.body))

    def test_binary_forms_are_never_compressed(self):
        for name in BINARY_FORMATS:
            for accepted in ("gzip", "gzip, identity;q=0.1", "gzip, deflate, br"):
                reply = self.get(f"{TARGET}&format={name}", {"Accept-Encoding": accepted})
                self.assert_ok(reply)
                self.assertIsNone(reply.header("Content-Encoding"))
                self.assertIsNone(reply.header("Vary"))

    def test_problems_are_never_compressed(self):
        for target, status in ((f"{TARGET}&x=1", 400), ("/nothing", 404)):
            reply = self.get(target, GZIP)
            self.assert_problem(reply, status)
            self.assertIsNone(reply.header("Content-Encoding"))

    def test_where_no_coding_is_acceptable_it_is_406(self):
        for accepted in NOTHING_ACCEPTABLE:
            headers = {"Accept-Encoding": accepted}
            for target in (TARGET, f"{TARGET}&format=json", *DOCUMENTS, "/metrics"):
                problem = self.assert_problem(self.get(target, headers), 406)
                self.assertIn("Accept-Encoding", problem["detail"])
                self.assertEqual(self.head(target, headers).status, 406)
        for name in BINARY_FORMATS:
            headers = {"Accept-Encoding": "gzip, identity;q=0"}
            self.assert_problem(self.get(f"{TARGET}&format={name}", headers), 406)

    def test_only_where_nothing_is_acceptable(self):
        headers = {
            "Accept-Encoding": "gzip, identity;q=0",
            "Accept": "application/x-npy, application/json;q=0.1",
        }
        self.assert_ok(self.get(TARGET, headers), "application/json")
        headers["Accept-Encoding"] = "gzip, identity;q=0.1"
        self.assert_ok(self.get(TARGET, headers), "application/x-npy")
        self.assert_problem(self.get(f"{TARGET}&x=1", {"Accept-Encoding": "*;q=0"}), 400)

    def test_post_is_compressed_alike(self):
        plain = self.get(f"{TARGET}&format=json", PLAIN)
        document = {"length": 40, "dim": 8, "format": "json"}
        for _ in range(2):
            self.assert_gzip(self.post(SINUSOIDAL, document, GZIP), plain)
            self.assertEqual(self.post(SINUSOIDAL, document, PLAIN).body, plain.body)

    def test_curl_decompresses_what_it_asked_for(self):
        for target in (TARGET, "/openapi.json"):
            command = [*CURL, "--compressed", "-w", "%{size_download}"]
            got = subprocess.run(
                [*command, f"{self.server.url}{target}"],
                stdout=subprocess.PIPE,
                check=True,
                timeout=60,
            ).stdout
            plain, coded = self.get(target, PLAIN).body, self.get(target, GZIP).body
            self.assertEqual(got, plain + str(len(coded)).encode())


class Validators(CompressionCase):
    def test_every_coding_has_a_tag_of_its_own_that_does_not_change(self):
        tags = {}
        other = self.start()
        for server in (self.server, self.server, other):
            for headers in (GZIP, PLAIN):
                for method in ("GET", "HEAD"):
                    tag = server.request(method, TARGET, headers).header("ETag")
                    accepted = headers["Accept-Encoding"]
                    self.assertEqual(tags.setdefault(accepted, tag), tag)
        self.assertNotEqual(tags["gzip"], tags["identity"])
        one = self.get(TARGET, {"Accept-Encoding": "br, gzip;q=0.1"}).header("ETag")
        self.assertEqual(one, tags["gzip"])

    def test_304_is_of_the_coding_that_would_come(self):
        for target in (TARGET, f"{TARGET}&format=json", *DOCUMENTS):
            coded, plain = self.get(target, GZIP), self.get(target, PLAIN)
            for whole, headers, other in ((coded, GZIP, plain), (plain, PLAIN, coded)):
                condition = {**headers, "If-None-Match": whole.header("ETag")}
                for method in ("GET", "HEAD"):
                    reply = self.server.request(method, target, condition)
                    self.assertEqual((reply.status, reply.body), (304, b""))
                    for field in ("ETag", "Cache-Control", "Vary"):
                        self.assertEqual(reply.header(field), whole.header(field))
                condition["If-None-Match"] = other.header("ETag")
                again = self.assert_ok(self.get(target, condition))
                self.assertEqual(again.body, whole.body)

    def test_304_of_gzip_needs_no_computation(self):
        tag = self.get(TARGET, GZIP).header("ETag")
        fresh = self.start()
        reply = fresh.request("GET", TARGET, {**GZIP, "If-None-Match": tag})
        self.assertEqual(reply.status, 304)
        self.assertEqual(fresh.computed(), 0)

    def test_if_match_is_of_the_coding_that_would_come(self):
        tag = self.get(TARGET, GZIP).header("ETag")
        self.assert_ok(self.get(TARGET, {**GZIP, "If-Match": tag}))
        self.assert_problem(self.get(TARGET, {**PLAIN, "If-Match": tag}), 412)

    def test_head_has_the_fields_of_get_and_computes_nothing(self):
        fresh = self.start()
        head = fresh.request("HEAD", TARGET, GZIP)
        get = self.get(TARGET, GZIP)
        for field in ("Content-Encoding", "Content-Type", "ETag", "Vary", "Tensor-Shape"):
            self.assertEqual(head.header(field), get.header(field), field)
        self.assertIn(head.header("Content-Length"), (None, str(len(get.body))))
        self.assertEqual((head.status, head.body, fresh.computed()), (200, b"", 0))

    def test_replies_without_a_body_leave_the_connection_in_step(self):
        for target in (TARGET, "/v1/schemes"):
            tag = self.get(target, GZIP).header("ETag")
            for method, headers in (
                ("HEAD", GZIP),
                ("GET", {**GZIP, "If-None-Match": tag}),
                ("HEAD", {**GZIP, "If-None-Match": tag}),
            ):
                with self.server.wire() as wire:
                    reply = wire.exchange(method, target, headers)
                    self.assert_in_step(wire, reply)


class Cached(CompressionCase):
    def test_hits_of_one_target_follow_accept_encoding(self):
        target = f"{SINUSOIDAL}?length=41&dim=8"
        plain = self.get(target, PLAIN)
        for _ in range(3):
            self.assert_gzip(self.get(target, GZIP), plain)
            self.assertEqual(self.get(target, PLAIN).body, plain.body)
            binary = self.get(f"{target}&format=raw", GZIP)
            self.assertIsNone(binary.header("Content-Encoding"))
            self.assertEqual(self.get(target, {"Accept-Encoding": "*;q=0"}).status, 406)

    def test_a_table_is_compressed_once(self):
        target = f"{SINUSOIDAL}?length=8192&dim=128"  # 11 MB of text: 0.2 s of compression
        before = self.server.processor_seconds()
        first = self.get(target, GZIP)
        self.assertIsNotNone(first.header("Server-Timing"))
        once = self.server.processor_seconds() - before
        self.assertGreater(once, 0.05)
        before = self.server.processor_seconds()
        for _ in range(5):
            again = self.get(target, GZIP)
            self.assertTrue(again.body == first.body)
            self.assertEqual(again.header("Cache-Status"), "posenc; hit")
            self.assertIsNone(again.header("Server-Timing"))
        self.assertLess(
            self.server.processor_seconds() - before, once
        )  # for all five hits; compressing once would take as long

    def test_the_budget_counts_gzip_and_not_the_text_that_it_was_made_of(self):
        server = self.start("--cache-bytes", "64MiB")
        target = f"{SINUSOIDAL}?length=4096&dim=128"
        server.request("GET", f"{target}&format=raw")
        table = server.metrics()["posenc_cache_bytes"]
        coded = len(server.request("GET", f"{target}&format=json", GZIP).body)
        kept = server.metrics()["posenc_cache_bytes"] - table
        self.assertGreater(kept, coded)
        self.assertLess(kept, coded + (4 << 20))  # the text's memory is rounded to huge pages
        self.assertLessEqual(server.metrics()["posenc_cache_entries"], 1)

    def test_a_small_budget_is_kept(self):
        server = self.start("--cache-bytes", "256KiB")
        for offset in range(40):
            target = f"{SINUSOIDAL}?length=60&dim=64&offset={offset}"
            reply = server.request("GET", target, GZIP)
            self.assertEqual(reply.header("Content-Encoding"), "gzip")
        self.assertLessEqual(server.metrics()["posenc_cache_bytes"], 256 << 10)

    def test_other_forms_are_answered_while_a_large_text_is_compressed(self):
        """Requests for another form of the same table do not wait for the compression."""
        server = self.start("--threads", "1", "--cache-bytes", "1GiB")
        tables = (f"{SINUSOIDAL}?length=50000&dim=128&offset={i}" for i in itertools.count())
        table = next(tables)

        def compress():
            nonlocal table
            table = next(tables)  # the text of the one before is kept
            return server.request("GET", f"{table}&format=json", GZIP)

        def take_a_part():
            part = server.request("GET", f"{table}&format=npy", {"Range": "bytes=0-7"})
            self.assertEqual((part.status, part.body[1:6]), (206, b"NUMPY"))

        for reply in answered_meanwhile(compress, take_a_part, 4):
            self.assertEqual(reply.header("Content-Encoding"), "gzip")


class Streams(CompressionCase):
    flags = ("--cache-bytes", "64KiB")
    target = f"{SINUSOIDAL}?length=5000&dim=64&format=json"

    def test_a_streamed_text_is_compressed_as_it_goes(self):
        plain = self.assert_ok(self.get(self.target, PLAIN))
        coded = self.get(self.target, GZIP)
        self.assertIn("streamed", coded.header("Cache-Status"))
        self.assert_gzip(coded, plain)
        self.assertLess(len(coded.body), len(plain.body) / 2)
        with self.server.wire() as wire:
            reply = wire.exchange("GET", self.target, GZIP)
            self.assertEqual(reply.header("Transfer-Encoding"), "chunked")
            self.assertTrue(reply.body == coded.body)
            self.assert_in_step(wire, reply)
            old = wire.exchange("GET", self.target, GZIP, version="1.0")
            self.assertTrue(old.body == coded.body)

    def test_streamed_or_held_it_is_the_same_bytes_under_the_same_tag(self):
        held = self.start().request("GET", self.target, GZIP)
        streamed = self.get(self.target, GZIP)
        self.assertNotIn("streamed", held.header("Cache-Status"))
        self.assertEqual(held.header("ETag"), streamed.header("ETag"))
        self.assertTrue(held.body == streamed.body)

    def test_it_comes_while_it_is_made_and_stops_with_the_client(self):
        name = "posenc_response_body_bytes_total"
        self.get(self.target, GZIP)
        before, sent = self.server.resident(), self.server.metrics()[name]
        with self.server.wire() as wire:
            wire.ask("GET", f"{SINUSOIDAL}?length=65536&dim=256&format=json", GZIP)
            self.assert_ok(wire.receive_head())
            rest, coded = wire.take(1 << 20), b""
            self.assertLess(self.server.resident() - before, 32 << 20)
        while len(rest) > 100000:  # whole chunks
            size, rest = rest.split(b"\r\n", 1)
            coded += rest[: int(size, 16)]
            rest = rest[int(size, 16) + 2 :]
        text = zlib.decompressobj(31).decompress(coded)
        self.assertTrue(text.startswith(b'{"scheme":"sinusoidal"'))
        self.assertGreater(len(text), 1 << 20)
        self.assertLess(self.server.metrics()[name] - sent, 32 << 20)

    def test_json_of_a_stream_reads_as_written(self):
        coded = self.get(f"{SINUSOIDAL}?length=3000&dim=32&format=json", GZIP)
        document = json.loads(gzip.decompress(coded.body))
        self.assertEqual(document["tensors"][0]["shape"], [3000, 32])
        self.assertEqual(len(document["tensors"][0]["data"]), 3000)


if __name__ == "__main__":
    unittest.main()
