"""format=csv: Python's csv reads back the very elements, held or streamed, plain or as gzip."""

import csv
import gzip
import io
import unittest

from decode import elements, pack
from registry import example, query_of
from server import ServerCase

ENCODINGS = "/v1/encodings"
CSV = "text/csv; charset=utf-8; header=absent"


class CsvCase(ServerCase):
    def both(self, target):
        """The CSV reply, and shape, dtype and bytes of the raw one."""
        reply = self.assert_ok(self.get(f"{ENCODINGS}/{target}&format=csv"), CSV)
        raw = self.assert_ok(self.get(f"{ENCODINGS}/{target}&format=raw"))
        shape = [int(extent) for extent in raw.header("Tensor-Shape").split(", ")]
        return reply, shape, raw.header("Tensor-Dtype"), raw.body

    def check(self, target):
        reply, shape, dtype, data = self.both(target)
        self.assertNotIn(b"\r", reply.body)
        self.assertTrue(reply.body.endswith(b"\n"))
        rows = list(csv.reader(io.StringIO(reply.body.decode("ascii")), strict=True))
        columns = shape[-1] if len(shape) > 1 else 1
        self.assertEqual({len(row) for row in rows}, {columns}, target)
        numbers = [float(text) for row in rows for text in row]
        if dtype == "bf16":  # no standard reader: the shortest digits lie nearest to theirs
            self.assertEqual(len(numbers), len(data) // 2)
            for number, element in zip(numbers, elements(dtype, data)):
                self.assertLessEqual(abs(number - element), abs(element) * 2.0**-8)
        else:
            kind = int if dtype == "i32" else float
            self.assertEqual(pack(dtype, list(map(kind, numbers))), data, target)


class Csv(CsvCase):
    def test_every_scheme_and_dtype_reads_back(self):
        for scheme in self.get("/v1/schemes").json()["schemes"]:
            text = query_of(example(scheme))
            for dtype in ("f32", "f64", "f16", "bf16"):
                target = f"{scheme['name']}?{text}&dtype={dtype}"
                if self.get(f"{ENCODINGS}/{target}").status != 200:
                    continue  # a dtype that this scheme refuses
                with self.subTest(target):
                    self.check(target)

    def test_lines_of_leading_axes_follow_one_another(self):
        reply, shape, dtype, data = self.both("alibi?length=3&heads=2&mask=causal")
        lines = reply.body.decode().splitlines()
        self.assertEqual((shape, len(lines)), ([2, 3, 3], 6))
        self.assertEqual(lines[0], "0.0,-inf,-inf")
        target = f"{ENCODINGS}/alibi?length=3&heads=2&mask=causal&format=csv"
        for head in (0, 1):
            part = self.assert_ok(self.get(f"{target}&slice={head}"), CSV)
            self.assertEqual(part.body.decode().splitlines(), lines[3 * head : 3 * head + 3])
        posted = {"length": 3, "heads": 2, "mask": "causal", "format": "csv", "slice": [1]}
        self.assertEqual(self.post(f"{ENCODINGS}/alibi", posted).body, part.body)

    def test_a_vector_is_one_number_a_line(self):
        self.check("rope?length=4&dim=16&tensor=inv_freq")

    def test_gzip_and_names(self):
        target = f"{ENCODINGS}/sinusoidal?length=40&dim=8&format=csv"
        plain = self.assert_ok(self.get(target), CSV)
        packed = self.get(target, {"Accept-Encoding": "gzip"})
        self.assertEqual(packed.header("Content-Encoding"), "gzip")
        self.assertEqual(gzip.decompress(packed.body), plain.body)
        self.assertNotEqual(packed.header("ETag"), plain.header("ETag"))
        self.assertIn('filename="sinusoidal_40x8_f32.csv"', plain.header("Content-Disposition"))
        self.assertIsNone(plain.header("Accept-Ranges"))


class Streamed(CsvCase):
    flags = ("--cache-bytes", "64KiB")  # tables above 16 KiB are streamed

    def test_a_streamed_table_has_the_same_lines(self):
        for target in (
            "sinusoidal?length=3000&dim=6",
            "alibi?length=60&heads=5&mask=causal",
            "rope?length=4&dim=40000&tensor=inv_freq",
        ):
            self.check(target)
        target = f"{ENCODINGS}/alibi?length=60&heads=5&mask=causal&format=csv"
        whole = self.get(target)
        self.assertIn("streamed", whole.header("Cache-Status"))
        self.assertEqual(whole.header("Transfer-Encoding"), "chunked")
        part = self.assert_ok(self.get(f"{target}&slice=3"), CSV)
        lines = whole.body.splitlines()
        self.assertEqual(part.body.splitlines(), lines[180:240])
        packed = self.get(f"{target}&slice=3", {"Accept-Encoding": "gzip"})
        self.assertEqual(gzip.decompress(packed.body), part.body)


if __name__ == "__main__":
    unittest.main()
