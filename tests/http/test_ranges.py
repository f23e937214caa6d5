"""Parts of binary forms: Range, If-Range, If-Match, and downloads that are resumed."""

import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

from server import ServerCase

TARGET = "/v1/encodings/sinusoidal?length=40&dim=8"
CURL = ("curl", "-q", "--noproxy", "*", "-sS")
BINARY_FORMATS = ("npy", "safetensors", "raw")
SHARED_FIELDS = (
    "ETag",
    "Cache-Control",
    "Vary",
    "Content-Type",
    "Content-Disposition",
    "Accept-Ranges",
    "Tensor-Name",
    "Tensor-Dtype",
    "Tensor-Shape",
    "Tensor-Byte-Order",
)


class RangeCase(ServerCase):
    def part(self, target, value, headers=None):
        return self.get(target, {"Range": value, **(headers or {})})

    def assert_part(self, reply, whole, first, last):
        """Check that a reply is a 206 with the bytes first to last of the body of `whole`."""
        self.assertEqual(reply.status, 206, reply)
        self.assert_open_to_browsers(reply)
        size = len(whole.body)
        self.assertEqual(reply.header("Content-Range"), f"bytes {first}-{last}/{size}")
        self.assertEqual(reply.header("Content-Length"), str(last - first + 1))
        self.assertTrue(reply.body == whole.body[first : last + 1], f"{first}-{last}")
        for field in SHARED_FIELDS:
            self.assertEqual(reply.header(field), whole.header(field), field)

    def assert_unsatisfiable(self, reply, size):
        self.assert_problem(reply, 416, code="range_not_satisfiable")
        self.assertEqual(reply.header("Content-Range"), f"bytes */{size}")

    def assert_whole(self, reply, whole):
        self.assert_ok(reply)
        self.assertIsNone(reply.header("Content-Range"))
        self.assertTrue(reply.body == whole.body)


class Ranges(RangeCase):
    def check_boundaries(self, target, edges):
        whole = self.assert_ok(self.get(target))
        self.assertEqual(whole.header("Accept-Ranges"), "bytes")
        size = len(whole.body)
        edges = sorted(
            {edge for edge in edges if 0 <= edge < size} | {0, 1, size - 2, size - 1}
        )
        for first in edges:
            self.assert_part(self.part(target, f"bytes={first}-"), whole, first, size - 1)
            self.assert_part(
                self.part(target, f"bytes=-{size - first}"), whole, first, size - 1
            )
            self.assert_part(self.part(target, f"bytes={first}-{size}"), whole, first, size - 1)
            for last in edges:
                if first <= last:
                    reply = self.part(target, f"bytes={first}-{last}")
                    self.assert_part(reply, whole, first, last)
        for value in (f"bytes=-{size + 1}", f"bytes=-{10**30}", f"bytes=0-{10**30}"):
            self.assert_part(self.part(target, value), whole, 0, size - 1)
        for value in (f"bytes={size}-", f"bytes={size}-{size}", "bytes=-0", f"bytes={10**30}-"):
            self.assert_unsatisfiable(self.part(target, value), size)

    def test_every_boundary_of_held_forms(self):
        for name in BINARY_FORMATS:
            with self.subTest(name):
                self.check_boundaries(f"{TARGET}&format={name}", (127, 128, 129, 640))

    def test_every_boundary_of_forms_in_several_pieces(self):
        """Above 1 MiB a safetensors body is its header and the table's own memory."""
        target = "/v1/encodings/sinusoidal?length=2100&dim=128&format=safetensors"
        body = self.assert_ok(self.get(target)).body
        data = 8 + int.from_bytes(body[:8], "little")
        self.check_boundaries(target, (7, 8, data - 1, data, data + 1, data + 512))

    def test_what_is_malformed_or_several_ranges_gets_the_whole(self):
        values = ["", "bytes=5-4", "rows=0-1", "bytes=0-1,4-5", "bytes=" + "0" * 4000]
        target = f"{TARGET}&format=raw"
        whole = self.get(target)
        for value in values:
            with self.subTest(value[:40]):
                self.assert_whole(self.part(target, value), whole)

    def test_range_in_two_header_lines_is_several_ranges(self):
        target = f"{TARGET}&format=raw"
        whole = self.get(target)
        with self.server.wire() as wire:
            value = b"bytes=0-1\r\nRange: bytes=4-5"
            self.assert_whole(wire.exchange("GET", target, {"Range": value}), whole)

    def test_text_has_no_parts(self):
        for accepted in ("identity", "gzip"):
            whole = self.get(TARGET, {"Accept-Encoding": accepted})
            reply = self.part(TARGET, "bytes=0-9", {"Accept-Encoding": accepted})
            self.assert_whole(reply, whole)
            self.assertIsNone(reply.header("Accept-Ranges"))
            self.assert_whole(
                self.part(TARGET, "bytes=99999999-", {"Accept-Encoding": accepted}), whole
            )

    def test_range_is_of_get_alone(self):
        target = f"{TARGET}&format=raw"
        whole = self.get(target)
        for value in ("bytes=0-9", "bytes=99999-"):
            head = self.head(target, {"Range": value})
            self.assert_ok(head)
            self.assertEqual(head.header("Content-Length"), str(len(whole.body)))
            self.assertEqual(head.header("Accept-Ranges"), "bytes")
            self.assertIsNone(head.header("Content-Range"))
            document = {"length": 40, "dim": 8, "format": "raw"}
            posted = self.post("/v1/encodings/sinusoidal", document, {"Range": value})
            self.assert_whole(posted, whole)
            self.assertIsNone(posted.header("Accept-Ranges"))

    def test_parts_leave_the_connection_in_step(self):
        for name in BINARY_FORMATS:
            target = f"{TARGET}&format={name}"
            whole = self.get(target)
            size = len(whole.body)
            with self.server.wire() as wire:
                for value, first, last in (
                    ("bytes=0-0", 0, 0),
                    ("bytes=-1", size - 1, size - 1),
                    ("bytes=3-", 3, size - 1),
                ):
                    reply = wire.exchange("GET", target, {"Range": value})
                    self.assert_part(reply, whole, first, last)
                    refused = wire.exchange("GET", target, {"Range": f"bytes={size}-"})
                    self.assert_unsatisfiable(refused, size)
                    self.assert_whole(wire.exchange("GET", target), whole)
                self.assertEqual(wire.pending, b"")

    def test_a_mistake_is_told_before_a_range(self):
        for query, status in (("length=4&dim=7", 422), ("length=4", 400)):
            reply = self.part(f"/v1/encodings/sinusoidal?{query}&format=raw", "bytes=99999-")
            self.assert_problem(reply, status)

    def test_what_is_behind_the_end_is_not_computed(self):
        before = self.server.computed()
        target = "/v1/encodings/sinusoidal?length=41&dim=8&format=raw"
        self.assert_unsatisfiable(self.part(target, "bytes=1312-"), 1312)
        self.assertEqual(self.server.computed(), before)

    def test_a_part_of_what_is_not_yet_there_is_computed_once_and_kept(self):
        target = "/v1/encodings/sinusoidal?length=42&dim=8&format=raw"
        before = self.server.computed()
        first = self.part(target, "bytes=0-99")
        self.assertEqual((first.status, len(first.body)), (206, 100))
        self.assertRegex(first.header("Cache-Status"), "fwd=miss")
        whole = self.get(target)
        self.assertEqual(whole.header("Cache-Status"), "posenc; hit")
        again = self.part(target, "bytes=100-")
        self.assertEqual(again.header("Cache-Status"), "posenc; hit")
        self.assertEqual(first.body + again.body, whole.body)
        self.assertEqual(self.server.computed() - before, 1)

    def test_a_hit_without_a_range_follows_one_with_it(self):
        """A cached whole reply must not answer a range, nor a part a request without one."""
        target = f"{TARGET}&format=npy"
        whole = self.get(target)
        for _ in range(3):
            self.assert_part(self.part(target, "bytes=5-6"), whole, 5, 6)
            self.assert_whole(self.get(target), whole)
            self.assert_whole(self.part(target, "nothing"), whole)


class Conditions(RangeCase):
    target = f"{TARGET}&format=raw"

    def setUp(self):
        self.whole = self.get(self.target)
        self.tag = self.whole.header("ETag")

    def test_if_range_takes_the_strong_tag_alone(self):
        for value in (self.tag, f" {self.tag} "):
            reply = self.part(self.target, "bytes=1-2", {"If-Range": value})
            self.assert_part(reply, self.whole, 1, 2)
        others = [
            f"W/{self.tag}",
            '"other"',
            self.tag.strip('"'),
            "*",
            "",
            f'{self.tag}, "x"',
            "Sat, 01 Jan 2028 00:00:00 GMT",
            self.get(f"{TARGET}&format=npy").header("ETag"),
        ]
        for value in others:
            with self.subTest(value):
                for wanted in ("bytes=1-2", "bytes=99999-"):
                    reply = self.part(self.target, wanted, {"If-Range": value})
                    self.assert_whole(reply, self.whole)

    def test_if_range_without_range_is_nothing(self):
        self.assert_whole(self.get(self.target, {"If-Range": self.tag}), self.whole)
        self.assert_whole(self.get(self.target, {"If-Range": '"other"'}), self.whole)

    def test_if_match_takes_tags_by_strong_comparison(self):
        for value in ("*", self.tag, f'"x", {self.tag}', f'W/"x",{self.tag}'):
            self.assert_whole(self.get(self.target, {"If-Match": value}), self.whole)
            self.assert_part(
                self.part(self.target, "bytes=1-2", {"If-Match": value}), self.whole, 1, 2
            )
        for value in ('"x"', f"W/{self.tag}", "", self.tag.strip('"'), f'"x", W/{self.tag}'):
            with self.subTest(value):
                before = self.server.computed()
                reply = self.get(self.target, {"If-Match": value})
                self.assert_problem(reply, 412, code="precondition_failed")
                self.assertEqual(self.head(self.target, {"If-Match": value}).status, 412)
                ranged = self.part(self.target, "bytes=99999-", {"If-Match": value})
                self.assert_problem(ranged, 412)
                self.assertEqual(self.server.computed(), before)

    def test_conditions_are_judged_in_their_order(self):
        mine, other = self.tag, '"other"'
        cases = [
            ({"If-Match": other, "If-None-Match": mine}, 412),
            ({"If-Match": mine, "If-None-Match": mine}, 304),
            ({"If-Match": mine, "If-None-Match": other}, 200),
            ({"If-None-Match": mine, "Range": "bytes=0-1"}, 304),
            ({"If-None-Match": mine, "Range": "bytes=99999-"}, 304),
            ({"If-None-Match": other, "Range": "bytes=0-1"}, 206),
            ({"If-None-Match": other, "Range": "bytes=99999-"}, 416),
            ({"If-None-Match": other, "Range": "bytes=0-1", "If-Range": other}, 200),
            ({"If-Match": mine, "Range": "bytes=0-1", "If-Range": mine}, 206),
            ({"If-Match": other, "Range": "bytes=0-1", "If-Range": mine}, 412),
        ]
        for headers, status in cases:
            with self.subTest(headers):
                self.assertEqual(self.get(self.target, headers).status, status)

    def test_post_knows_no_conditions(self):
        document = {"length": 40, "dim": 8, "format": "raw"}
        for headers in (
            {"If-Match": '"x"'},
            {"If-None-Match": "*"},
            {"If-None-Match": self.tag},
        ):
            reply = self.post("/v1/encodings/sinusoidal", document, headers)
            self.assert_whole(reply, self.whole)

    def test_documents_take_if_match_as_well(self):
        for path in ("/v1/schemes", "/v1/schemes/sinusoidal", "/v1/info", "/openapi.json"):
            whole = self.assert_ok(self.get(path))
            tag = whole.header("ETag")
            self.assert_whole(self.get(path, {"If-Match": tag}), whole)
            self.assert_problem(self.get(path, {"If-Match": f"W/{tag}"}), 412)
            both = {"If-Match": '"x"', "If-None-Match": tag}
            self.assertEqual(self.get(path, both).status, 412)


class Streams(RangeCase):
    flags = ("--cache-bytes", "1MiB", "--max-elements", "100000000000")
    huge = "/v1/encodings/sinusoidal?length=268435456&dim=64"  # 64 GiB
    size = 268435456 * 64 * 4

    def test_every_boundary_of_a_streamed_table(self):
        for name in BINARY_FORMATS:
            target = f"/v1/encodings/sinusoidal?length=3000&dim=64&dtype=f64&format={name}"
            whole = self.assert_ok(self.get(target))
            self.assertIn("streamed", whole.header("Cache-Status"))
            self.assertEqual(whole.header("Accept-Ranges"), "bytes")
            size = len(whole.body)
            start = size - 3000 * 512
            firsts = (0, 1, start - 1, start, start + 1, start + 511, start + 512, size - 1)
            for first in {first for first in firsts if first >= 0}:
                for last in {first, start + 512, start + 1200000, size - 1}:
                    if first <= last:
                        reply = self.part(target, f"bytes={first}-{last}")
                        self.assert_part(reply, whole, first, last)
            self.assert_part(self.part(target, "bytes=-700"), whole, size - 700, size - 1)
            self.assert_unsatisfiable(self.part(target, f"bytes={size}-"), size)

    def window(self, first, count):
        """The bytes of some rows, from a request for these rows only."""
        target = f"/v1/encodings/sinusoidal?length={count}&offset={first}&dim=64&format=raw"
        return self.assert_ok(self.get(target)).body

    def test_parts_of_64_gib_come_at_once(self):
        target = f"{self.huge}&format=raw"
        tail, middle = self.window(268435455, 1), self.window(200000000, 3)
        self.part(target, "bytes=0-0")  # the memory of a first request must not count
        before, used = self.server.resident(), self.server.processor_seconds()
        for _ in range(20):
            reply = self.part(target, "bytes=-10")
            self.assertEqual((reply.status, reply.body), (206, tail[-10:]))
            self.assertEqual(
                reply.header("Content-Range"),
                f"bytes {self.size - 10}-{self.size - 1}/{self.size}",
            )
            at = 200000000 * 256 + 100
            reply = self.part(target, f"bytes={at}-{at + 499}")
            self.assertEqual((reply.status, reply.body), (206, middle[100:600]))
        # for 40 answers; computing the whole table once would take a minute
        self.assertLess(self.server.processor_seconds() - used, 10)
        self.assertLess(self.server.resident() - before, 32 << 20)
        reply = self.part(f"{self.huge}&format=npy", "bytes=-10")
        self.assertEqual((reply.status, reply.body), (206, tail[-10:]))
        self.assert_unsatisfiable(self.part(target, f"bytes={self.size}-"), self.size)

    def test_a_part_without_end_stops_with_the_client(self):
        name = "posenc_response_body_bytes_total"
        before = self.server.metrics()[name]
        with self.server.wire() as wire:
            wire.ask("GET", f"{self.huge}&format=raw", {"Range": f"bytes={200000000 * 256}-"})
            head = wire.receive_head()
            self.assertEqual(head.status, 206)
            length = self.size - 200000000 * 256
            self.assertEqual(head.header("Content-Length"), str(length))
            self.assertEqual(wire.take(768), self.window(200000000, 3))
        self.assertLess(self.server.metrics()[name] - before, 64 << 20)

    def test_several_readers_of_parts_make_the_whole(self):
        target = "/v1/encodings/sinusoidal?length=20000&dim=64&dtype=f64&format=safetensors"
        whole = self.assert_ok(self.get(target))
        size, pieces = len(whole.body), {}
        cuts = [i * size // 8 for i in range(9)]

        def read(i):
            pieces[i] = self.part(target, f"bytes={cuts[i]}-{cuts[i + 1] - 1}").body

        readers = [threading.Thread(target=read, args=(i,)) for i in range(8)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
        self.assertTrue(b"".join(pieces[i] for i in range(8)) == whole.body)


class Curl(RangeCase):
    """Interrupted downloads that curl resumes (curl -C -)."""

    def resume(self, server, target, cut):
        """The bytes of a file that was cut and completed, and what curl says of itself."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table"
            url = f"{server.url}{target}"
            subprocess.run([*CURL, "-f", "-o", path, url], check=True, timeout=60)
            whole = path.read_bytes()
            path.write_bytes(whole[:cut])
            write = ["-w", "%{http_code} %{size_download}"]
            ended = subprocess.run(
                [*CURL, "-C", "-", "-o", path, *write, url],
                stdout=subprocess.PIPE,
                check=False,
                timeout=60,
                text=True,
            )
            self.assertTrue(path.read_bytes() == whole, f"{target} cut at {cut}")
            return ended.stdout.split(), len(whole)

    def test_a_resumed_download_has_the_same_bytes(self):
        streaming = self.start("--cache-bytes", "64KiB")
        target = "/v1/encodings/sinusoidal?length=5000&dim=64"
        for server in (self.server, streaming):
            for name in BINARY_FORMATS:
                for cut in (1, 127, 128, 1000001):
                    said, size = self.resume(server, f"{target}&format={name}", cut)
                    self.assertEqual(said, ["206", str(size - cut)])

    def test_a_complete_file_is_left_as_it_is(self):
        target = f"{TARGET}&format=raw"
        said, _ = self.resume(self.server, target, 1280)
        self.assertEqual(said[0], "416")

    def test_curl_asks_for_ranges(self):
        whole = self.get(f"{TARGET}&format=raw").body
        for wanted, part in (("0-9", whole[:10]), ("-10", whole[-10:]), ("100-", whole[100:])):
            url = f"{self.server.url}{TARGET}&format=raw"
            got = subprocess.run(
                [*CURL, "-f", "-r", wanted, url], stdout=subprocess.PIPE, check=True, timeout=60
            ).stdout
            self.assertEqual(got, part)


if __name__ == "__main__":
    unittest.main()
