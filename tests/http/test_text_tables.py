"""Tables in texts: JSON and CSV, as the service writes them and as people do, sent to
/v1/identify and /v1/compare."""

import json
import unittest

import numpy

from identify_case import IdentifyCase
from test_compare import NPY, npy

JSON, CSV = "application/json", "text/csv"
FIRST = "/v1/encodings/sinusoidal?length=4&dim=8"  # README's first example
# {target: shortest dtype of which the numbers tell}
OWN = {
    "sinusoidal?length=64&dim=32": "f32",
    "sinusoidal?length=64&dim=32&dtype=f16": "f16",
    "sinusoidal?length=64&dim=32&dtype=bf16": "bf16",
    "sinusoidal?length=64&dim=32&dtype=f64": "f64",
    "sinusoidal_2d?height=4&width=5&dim=32": "f32",
    "rope?length=32&dim=16&tensor=cos": "f32",
    "alibi?length=16&heads=4&mask=causal&tensor=bias": None,  # null, and small numbers
    "deberta?length=9&dim=8&max_relative_positions=16&tensor=c2p_index": None,
}


class TextTables(IdentifyCase):
    def body(self, target, form=""):
        return self.assert_ok(self.get(f"/v1/encodings/{target}{form}")).body

    def compare(self, target, body, media_type, status=200):
        reply = self.server.request(
            "POST", f"/v1/compare/{target}", {"Content-Type": media_type}, body
        )
        self.assertEqual(reply.status, status, reply)
        return reply.json()

    def data(self, url):
        """The nested numbers of a request for one tensor."""
        return self.assert_ok(self.get(url)).json()["tensors"][0]["data"]

    def assert_found(self, found, data, values=None):
        self.assertEqual(found["status"], "exact", found)
        self.assertEqual(self.data(found["request"]["url"]), data)
        if values:
            self.assertEqual(found["values"], values)

    def test_the_first_answer_is_found_in_every_form_that_it_is_sent_back_in(self):
        body = self.get(FIRST).body
        data = json.loads(body)["tensors"][0]["data"]
        alone = json.dumps(json.loads(body)["tensors"][0]).encode()
        single = numpy.array(data, "f4")  # as numpy.savetxt writes it in nine digits
        forms = (
            (body, JSON),
            (alone, JSON + "; charset=utf-8"),
            (json.dumps(data).encode(), JSON),
            (npy(numpy.array(data)), NPY),
            (npy(numpy.array([[float(f"{x:.9g}") for x in row] for row in single])), NPY),
            (npy(numpy.asfortranarray(numpy.array(data))), NPY),
            (npy(numpy.array(data).astype(">f8")), NPY),
            (self.get(FIRST + "&format=csv").body, CSV),
            (b"\xef\xbb\xbf" + self.get(FIRST + "&format=csv").body, CSV),
        )
        for text, media_type in forms:
            with self.subTest(str(text[:20]), media_type=media_type):
                found = self.identify(text, media_type=media_type)
                self.assert_found(found, data, "f32")
                self.assertIn("length=4&dim=8", found["request"]["url"])
                self.assertEqual(" file" in found["summary"], media_type == NPY)

    def test_what_the_service_writes_it_reads(self):
        for target, values in OWN.items():
            with self.subTest(target):
                text, lines = self.body(target), self.body(target, "&format=csv")
                tensor = json.loads(text)["tensors"][0]
                extents = ",".join(map(str, tensor["shape"]))
                found = self.identify(text, media_type=JSON)
                self.assert_found(found, tensor["data"], tensor["dtype"])
                self.assertEqual(
                    found["file"],
                    {"format": "json", "dtype": tensor["dtype"], "tensor": tensor["name"]},
                )
                found = self.identify(lines, f"?shape={extents}", CSV)
                self.assert_found(found, tensor["data"], values)
                self.assertEqual(found["file"], {"format": "csv", "dtype": "f64"})
                bare = json.dumps(tensor["data"]).encode()
                found = self.identify(bare, media_type=JSON)
                self.assert_found(found, tensor["data"], values)
                for body, media_type in ((text, JSON), (bare, JSON), (lines, CSV)):
                    compared = self.compare(target, body, media_type)
                    self.assertTrue(compared["equal"], compared)
                    self.assertEqual(compared["signs"], 0)
                    self.assertEqual(compared["shape"], tensor["shape"])

    def test_a_tensor_of_several_is_named(self):
        text = self.body("rope?length=32&dim=16")
        names = [tensor["name"] for tensor in json.loads(text)["tensors"]]
        for name in names:
            found = self.identify(text, f"?file_tensor={name}", JSON)
            self.assertEqual(found["request"]["tensor"], name)
            target = f"rope?length=32&dim=16&tensor={name}"
            self.assertTrue(self.compare(target, text, JSON)["equal"])  # by the scheme's name
        self.refuse(422, "file_tensor", text, "", JSON)
        self.refuse(422, "file_tensor", text, "?file_tensor=x", JSON)
        self.refuse(400, "file_tensor", b"[[1]]", "?file_tensor=x", JSON)

    def test_csv_of_other_programs_is_read(self):
        table = self.fetch(FIRST)
        rows = [[f"{number:.18e}" for number in row] for row in table]
        for text in (
            "\n".join(" ".join(row) for row in rows),  # numpy.savetxt
            "a,b,c,d,e,f,g,h\r\n" + "".join(",".join(row) + "\r\n" for row in rows),
            "\n" + "\n\n".join(" , ".join(row) for row in rows) + "\n\n",
            "\t".join(map(str, range(8))).replace("0", "x")
            + "\n"
            + "\n".join("\t".join(row) for row in rows),
        ):
            with self.subTest(text[:30]):
                found = self.identify(text.encode(), media_type=CSV)
                self.assertEqual((found["status"], found["shape"]), ("exact", [4, 8]))

    def test_infinities_and_nan_have_names(self):
        """The exact table has minus infinity above its diagonal."""
        target = "alibi?length=2&heads=1&mask=causal&tensor=bias"
        for names, differing in (
            (("null", '"-inf"', '"-Infinity"', '"-INF"'), 0),
            (('"inf"', '"+Infinity"', '"nan"', '"NaN"', '"-nan"'), 1),
        ):
            for name in names:
                text = f"[[0, {name}], [-0.00390625, 0]]"
                found = self.compare(target, f"[{text}]".encode(), JSON)
                self.assertEqual((found["differing"], found["not_finite"]), (differing,) * 2)
                if name != "null":
                    name = name.strip('"')
                    text = f"0,{name}\n-0.00390625,0\n"
                    found = self.compare(target, text.encode(), CSV)
                    self.assertEqual(found["differing"], differing, name)

    def test_numbers_that_were_rounded_to_the_request_are_compared_in_its_dtype(self):
        for dtype in ("f32", "f64", "f16", "bf16"):
            target = f"sinusoidal?length=9&dim=8&dtype={dtype}"
            lines = self.body("sinusoidal?length=9&dim=8&dtype=f64", "&format=csv")
            found = self.compare(target, lines, CSV)
            self.assertEqual((found["equal"], found["dtype"]), (True, dtype))
        text = self.body("sinusoidal?length=9&dim=8")
        problem = self.compare("sinusoidal?length=9&dim=8&dtype=f64", text, JSON, 422)
        self.assertIn("dtype", problem["detail"])

    def test_what_is_no_table_is_refused(self):
        for status, parameter, body in (
            (400, "body", b""),
            (400, "body", b"7"),
            (400, "body", b"{}"),
            (400, "body", b'{"tensors": []}'),
            (400, "body", b"[1, 2"),
            (400, "body", b"[1, NaN]"),
            (400, "body", b"[1e400]"),
            (400, "body", b"[[1], [2, 3]]"),
            (400, "body", b"[[1, 2], [3]]"),
            (400, "body", b"[[1, 2], 3]"),
            (400, "body", b"[1, [2]]"),
            (400, "body", b'[1, "x"]'),
            (400, "body", b"[1, true]"),
            (400, "body", b"[[[[[[1, 2], [3]]]]], 1]"),
            (400, "body", b'{"data": 1}'),
            (400, "body", b'{"data": [0.5], "dtype": "i32"}'),
            (400, "body", b'{"data": [2147483648], "dtype": "i32"}'),
            (400, "dtype", b'{"data": [1], "dtype": "f8"}'),
            (400, "dtype", b'{"data": [1], "dtype": 1}'),
            (422, "shape", b"[]"),
            (422, "shape", b"[[], []]"),
            (422, "shape", b"[[[[[[[1]]]]]]]"),
        ):
            with self.subTest(str(body)):
                self.refuse(status, parameter, body, "", JSON)
        found = self.refuse(400, "body", b",0,1\n0,1.0,2.0\n1,3.0,4.0\n", "", CSV)
        self.assertIn("to_csv(header=False, index=False)", found["detail"])  # pandas without
        for body in (b"", b"\n\n", b"a,b\n", b"1,2\n3\n", b"1,,2\n", b"1,2,\n", b"1\n0x1\n"):
            with self.subTest(str(body)):
                self.refuse(400, "body", body, "", CSV)
        for body in (b"1,2\n\x00", b"1\x00,2\n", b"1\n.5\n", b"1\n\xff\n", b"1\nnan0\n"):
            with self.subTest(str(body)):
                self.refuse(400, "body", body, "", CSV)
        self.refuse(400, "body", b"1,2\n", "?shape=3", CSV)
        self.refuse(422, "shape", b"1,2\n", "?shape=0", CSV)

    def test_options_belong_to_formats(self):
        self.refuse(400, "dtype", b"1,2\n", "?dtype=f32", CSV)
        self.refuse(400, "file_tensor", b"1,2\n", "?file_tensor=x", CSV)
        self.refuse(400, "shape", b"[1, 2]", "?shape=2", JSON)
        self.compare("sinusoidal?length=1&dim=2&file_tensor=x", b"1,2\n", CSV, 400)

    def test_other_endpoints_take_files_alone(self):
        for path in ("apply/rope?length=4&dim=8", "convert/rope?from=half&to=interleaved"):
            for media_type in (JSON, CSV):
                reply = self.server.request(
                    "POST", f"/v1/{path}", {"Content-Type": media_type}, b"[[1, 2]]"
                )
                problem = self.assert_problem(reply, 415)
                self.assertIn("npy", problem["detail"])

    def test_the_media_types_are_listed(self):
        reply = self.server.request(
            "POST", "/v1/identify", {"Content-Type": "text/plain"}, b"1"
        )
        problem = self.assert_problem(reply, 415)
        for media_type in (JSON, CSV, NPY):
            self.assertIn(media_type, problem["detail"])


class Limits(IdentifyCase):
    flags = ("--json-max-elements", "1000", "--memory-bytes", "64MiB")

    def test_a_text_has_as_many_numbers_as_an_answer(self):
        for rows, status in ((100, 200), (101, 422)):
            table = [[i / 7 for i in range(10)]] * rows
            lines = "\n".join(",".join(map(str, row)) for row in table).encode()
            for body, media_type in ((json.dumps(table).encode(), JSON), (lines, CSV)):
                reply = self.server.request(
                    "POST", "/v1/identify", {"Content-Type": media_type}, body
                )
                self.assertEqual(reply.status, status, reply)

    def test_a_text_that_memory_cannot_hold_is_refused(self):
        for body in (b"[" + b"[]," * 700000 + b"[]]", b'["' + b"x" * (40 << 20) + b'"]'):
            reply = self.server.request("POST", "/v1/identify", {"Content-Type": JSON}, body)
            self.assert_problem(reply, 422, "request")


if __name__ == "__main__":
    unittest.main()
