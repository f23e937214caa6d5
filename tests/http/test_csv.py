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

    def named(self, target):
        """The lines of a CSV with a header, which is also that of the request without."""
        target = f"{ENCODINGS}/{target}&format=csv"
        reply = self.assert_ok(self.get(f"{target}&header=true"))
        self.assertEqual(reply.header("Content-Type"), CSV.replace("absent", "present"))
        names, *rows = csv.reader(io.StringIO(reply.body.decode("ascii")), strict=True)
        plain = list(csv.reader(io.StringIO(self.get(target).body.decode("ascii"))))
        self.assertEqual([row[1:] for row in rows], plain)
        return names, [row[0] for row in rows], reply.body


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

    def test_a_header_has_names_and_each_row_its_position_or_its_index(self):
        for target, names, labels in (
            ("sinusoidal?length=3&dim=2&offset=5&step=0.5", "position c0 c1", "5 5.5 6"),
            ("integer?positions=7,-1,0", "position c0", "7 -1 0"),
            ("rope?length=2&dim=4&offset=-1&tensor=sin", "position c0 c1", "-1 0"),
            ("rope?length=2&dim=6&tensor=inv_freq", "row inv_freq", "0 1 2"),
            ("alibi?length=2&heads=2&slice=1", "row c0 c1", "0 1"),
            ("alibi?length=2&heads=2&tensor=slopes", "row slopes", "0 1"),
            ("normalized?length=3", "row c0", "0 1 2"),
            ("rotation_matrix?length=3&dim=2&slice=2", "row c0 c1", "0 1"),
        ):  # fmt: skip
            told, rows, _body = self.named(target)
            self.assertEqual((told, rows), (names.split(), labels.split()), target)

    def test_a_header_that_has_no_meaning_is_refused(self):
        for target, parameter in (
            ("alibi?length=3&heads=2", "slice"),
            ("rotation_matrix?length=3&dim=2", "slice"),
            ("sinusoidal?length=2&dim=16386", "header"),
        ):
            reply = self.get(f"{ENCODINGS}/{target}&format=csv&header=true")
            self.assert_problem(reply, 422, parameter)
        for query in ("format=json&header=true", "format=npy&header=false"):
            reply = self.get(f"{ENCODINGS}/sinusoidal?length=2&dim=4&{query}")
            problem = self.assert_problem(reply, 400, "header")
            self.assertIn("header must be left out with format=", problem["detail"])
            self.assertEqual(problem["errors"][0]["given"], query.rpartition("=")[2])
        reply = self.get(f"{ENCODINGS}/sinusoidal?length=2&dim=4&format=csv&header=1")
        self.assert_problem(reply, 400, "header")

    def test_what_has_a_header_is_known_again(self):
        headers = {"Content-Type": "text/csv"}
        for query in (
            "sinusoidal?length=40&dim=16&offset=3",
            "rope?length=40&dim=16&tensor=cos",
        ):
            body = self.named(query)[2]
            told = self.assert_ok(self.server.request("POST", "/v1/identify", headers, body))
            self.assertEqual(told.json()["status"], "exact", query)
            self.assertEqual(told.json()["shape"][0], 40)
            reply = self.server.request("POST", f"/v1/compare/{query}", headers, body)
            self.assertTrue(self.assert_ok(reply).json()["equal"])

    def test_files_of_unlike_tables_have_unlike_names(self):
        names = {}
        for query in (
            "rope?length=4&dim=4", "rope?length=4&dim=4&rope_theta=500000",
            "rope?length=4&dim=4&offset=16", "rope?length=4&dim=4&offset=16&rope_theta=500000",
            "rope?positions=0,1,2,4&dim=4", "rope?positions=0,1,2,5&dim=4",
            "rope?length=4&dim=4&tensor=sin", "rope?length=4&dim=4&dtype=f64",
            "sinusoidal?length=4&dim=4", "sinusoidal?length=4&dim=4&layout=concat",
            "sinusoidal_2d?height=2&width=8&dim=8&shape=nc",
            "sinusoidal_2d?height=8&width=2&dim=8&shape=nc",
            "mrope?text=2,1&grids=1,2,4&dim=128", "mrope?text=1,2&grids=1,2,4&dim=128",
            "alibi?length=4&heads=2", "alibi?length=4&heads=2&mask=causal",
            "alibi?length=4&heads=2&heads_total=4", "alibi?length=8&heads=2&query_length=4",
            "alibi?length=8&heads=2&query_length=4&query_offset=0",
        ):  # fmt: skip
            reply = self.assert_ok(self.get(f"{ENCODINGS}/{query}&format=npy"))
            name = reply.header("Content-Disposition")
            self.assertNotIn(name, names, query)
            names[name] = query
            self.assertRegex(name, r'^inline; filename="[A-Za-z0-9._+-]{1,200}"$')
        self.assertIn('inline; filename="sinusoidal_4x4_f32.npy"', names)


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
        for query in ("sinusoidal?length=3000&dim=6&offset=9", "integer?length=9000&dtype=f64"):
            _names, rows, _body = self.named(query)
            first = 9 if "offset" in query else 0
            self.assertEqual(rows, [str(first + row) for row in range(len(rows))])
        packed = self.get(f"{target}&slice=3", {"Accept-Encoding": "gzip"})
        self.assertEqual(gzip.decompress(packed.body), part.body)


if __name__ == "__main__":
    unittest.main()
