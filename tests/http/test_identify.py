"""/v1/identify: which request made a table. The rule above all: never another table than that."""

import io
import unittest

import numpy

from identify_case import IdentifyCase
from library_tables import F, NEARLY, OWN, annotated, gpt_j, hugging_face, yarn
from test_compare import NPY, RAW, SAFETENSORS, npy, safetensors


class Identify(IdentifyCase):
    def test_columns_in_another_order_are_found(self):
        generator = numpy.random.default_rng(12)
        cosines, sinusoids = hugging_face(300, 64), annotated(512, 128)
        mixed = {  # the table, the scheme, and what the request must say
            "the annotated transformer": (sinusoids[:, generator.permutation(128)], "sinusoidal", ["length=512", "dim=128"]),
            "the same, reversed": (sinusoids[:, ::-1], "sinusoidal", ["length=512", "dim=128"]),
            "the same, transposed": (sinusoids[:, generator.permutation(128)].T, "sinusoidal", ["length=512", "dim=128"]),
            "cosines, each twice": (cosines[:, generator.permutation(64)], "rope", ["length=300", "dim=64", "table=full", "layout=interleaved", "tensor=cos"]),
            "cosines, two of them changed": (cosines[:, [0, 20, *range(2, 20), 1, *range(21, 64)]], "rope", ["table=full", "layout=interleaved", "tensor=cos"]),
            "sines": (gpt_j(600, 64)[:, generator.permutation(32)], "rope", ["length=600", "dim=64", "table=half_width", "tensor=sin"]),
            "times an amplitude": (annotated(300, 64, 8)[:, generator.permutation(64)], "sinusoidal", ["amplitude=8"])}
        for name, (table, scheme, said) in mixed.items():
            found = self.identify(npy(numpy.ascontiguousarray(table)))
            self.assertEqual((found["status"], found["arithmetic"]), ("match", "float32"), (name, found["summary"]))
            self.assertIn("with its columns in another order", found["summary"], name)
            self.assertEqual(found["request"]["scheme"], scheme, name)
            for text in said:
                self.assertIn(text, found["request"]["url"].replace("?", "&").split("&"), name)
            self.assertEqual(found["transposed"], "transposed" in name)
            self.assertEqual(sorted(found["columns"]), list(range(min(table.shape))), name)
            self.assert_true(found, table)
        self.assertNotIn("columns", self.identify(npy(sinusoids)))

    def test_requests_of_libraries_whose_arithmetic_is_not_named(self):
        for name, (table, scheme, said) in NEARLY.items():
            found = self.identify(npy(table))
            self.assertIn(found["status"], ("near", "match", "exact"), name)
            self.assertEqual((found["request"]["scheme"], found["misfits"]), (scheme, 0), name)
            for text in said:
                self.assertIn(text, found["request"]["url"].replace("?", "&").split("&"), name)
            self.assert_true(found, table)
            table[tuple(size // 2 for size in table.shape)] += F(.01)
            damaged = self.identify(npy(table))
            self.assertIn(damaged["status"], ("near", "unknown"), name)

    def test_a_bad_row_or_column_or_a_few_bad_entries_are_near(self):
        generator = numpy.random.default_rng(4)
        tables = {"rope": hugging_face(300, 64), "sinusoidal": annotated(200, 64), "yarn": yarn(600, 64, 1e6, 4, 32768), "own": self.fetch("/v1/encodings/rope?length=400&dim=64&rope_type=llama3&factor=32&table=full")}
        for name, table in tables.items():
            good = self.identify(npy(table))["request"]
            rows, columns = table.shape
            for spoilt in ("row", "first row", "last row", "column", "first column", "entries"):
                other = table.copy()
                if spoilt == "entries":
                    places = generator.random(table.shape) < 1 / 17
                    other[places] = generator.normal(size=places.sum())
                elif "row" in spoilt:
                    row = {"row": rows // 3, "first row": 0, "last row": rows - 1}[spoilt]
                    other[row] = generator.normal(size=columns)
                else:
                    other[:, 0 if "first" in spoilt else columns // 5] = generator.normal(size=rows)
                found = self.identify(npy(other))
                wrong = (other != table).sum()
                if spoilt == "entries" and len(table) < 300 and found["status"] == "unknown":
                    continue  # a short table does not say enough then
                self.assertEqual(found["status"], "near", (name, spoilt, found["summary"]))
                self.assertEqual(self.bits(self.fetch(found["request"]["url"])), self.bits(self.fetch(good["url"])), (name, spoilt))
                self.assertLessEqual(found["misfits"], wrong)
                self.assertGreater(found["misfits"], 0.9 * wrong)
                where, bad_rows, bad_columns = found["exceptions"], *((other != table).mean(axis) > 0.9 for axis in (1, 0))
                self.assertEqual((where["rows"], where["row_count"]), (list(bad_rows.nonzero()[0]), bad_rows.sum()), (name, spoilt))
                self.assertEqual((where["columns"], where["column_count"]), (list(bad_columns.nonzero()[0]), bad_columns.sum()), (name, spoilt))
                self.assertEqual(bool(where["entries"]), spoilt == "entries")
                self.assertTrue(all(other[tuple(at)] != table[tuple(at)] for at in where["entries"]), (name, spoilt))

    def test_files_and_raw_elements(self):
        table = self.fetch("/v1/encodings/sinusoidal?length=64&dim=32")
        for body, query, media_type in (
                (npy(numpy.asfortranarray(table)), "", NPY),
                (safetensors({"a": ("F32", [64, 32], table.tobytes()), "b": ("F32", [2], bytes(8))}), "?file_tensor=a", SAFETENSORS),
                (table.tobytes(), "?shape=64,32&dtype=f32", RAW), (table.tobytes(), "?shape=1,64,32", RAW)):
            found = self.identify(body, query, media_type)
            self.assertEqual((found["status"], found["request"]["url"]),
                             ("exact", "/v1/encodings/sinusoidal?length=64&dim=32&tensor=encoding"))
        self.assertEqual(self.identify(npy(table), "?scheme=rope")["status"], "unknown")
        self.refuse(422, "scheme", npy(table), "?scheme=none", NPY)
        for scheme in self.get("/v1/schemes").json()["schemes"]:
            if not scheme["recognised"]:
                self.refuse(422, "scheme", npy(table), f"?scheme={scheme['name']}", NPY)
        self.refuse(400, "dim", npy(table), "?dim=4", NPY)
        self.refuse(400, "shape", table.tobytes(), "", RAW)
        self.refuse(400, "body", table.tobytes(), "?shape=64,33", RAW)
        self.refuse(400, "dtype", table.tobytes(), "?shape=64,32&dtype=f33", RAW)

    def test_other_requests_and_values_of_the_same_table(self):
        cases = {"rope?length=120&dim=64&step=0.25&tensor=cos": ("gpt_neox", "rope_type=linear&factor=4", {"layout": ["interleaved"]}),
                 "rope?length=120&dim=64&rope_theta=1000000&table=full&tensor=sin": ("qwen2", "", {}),
                 "sinusoidal?length=64&dim=32": ("vaswani", "", {"odd_dim": ["truncate", "pad"]}),
                 "sinusoidal?length=8&dim=8&dtype=f16": ("vaswani", "", {"base": ["9999.99", "10000.1"]}),
                 "sinusoidal_2d?height=5&width=5&dim=32&preset=mae": ("mae", "", {})}
        for query, (preset, other, undecided) in cases.items():
            reply = self.assert_ok(self.get(f"/v1/encodings/{query}&format=npy"))
            exact = numpy.load(io.BytesIO(reply.body))
            found = self.identify(reply.body, "?limit=8")
            self.assertEqual(found["status"], "exact", query)
            self.assertIn(preset, found["request"]["presets"], query)
            self.assertNotIn("llama3.1", found["request"]["presets"], query)
            urls = [same["url"] for same in found["same_table"]]
            self.assertTrue(not other or any(other in url for url in urls), urls)
            open_values = {row["parameter"]: row["values"] for row in found["undecided"]}
            for name, values in undecided.items():
                self.assertEqual(open_values[name], values, query)
            targets = urls + [found["request"]["url"].replace(f"{name}=", f"no_{name}=") + f"&{name}={value}" for name, values in open_values.items()
                              if f"{name}=" not in found["request"]["url"] for value in values]
            for target in targets:
                self.assertEqual(self.bits(self.fetch(target)), self.bits(exact), target)
            none = self.identify(reply.body, "?limit=0")
            self.assertEqual((none["same_table"], none["undecided"]), ([], found["undecided"]))
        self.refuse(422, "limit", npy(exact), "?limit=99", NPY)
        huge = self.assert_ok(self.get("/v1/encodings/sinusoidal?length=40&dim=16&amplitude=1e30&dtype=f64&format=npy"))
        found = self.identify(huge.body)
        self.assertEqual(found["status"], "exact")
        self.assertEqual(self.bits(self.fetch(found["request"]["url"])), self.bits(numpy.load(io.BytesIO(huge.body))))

    def test_tensors_of_stored_sets(self):
        exact = self.fetch("/v1/encodings/sinusoidal?length=64&dim=32")
        numbers = numpy.arange(12).astype("f8")
        file = safetensors({"cos": ("F32", [300, 64], hugging_face(300, 64).tobytes()), "pe": ("F32", [1, 64, 32], exact.tobytes()),
                            "ids": ("F64", [12], numbers.tobytes()), "half": ("F16", [64, 32], exact.astype("f2").tobytes())})
        one = safetensors({"ids": ("F64", [12], numbers.tobytes())})
        for name, body in (("several", file), ("one", one)):
            self.assertIn(self.server.request("PUT", f"/v1/parameters/{name}", {}, body).status, (201, 204))
        ask = lambda query: self.assert_ok(self.get(f"/v1/identify?{query}"), "application/json").json()
        found = ask("parameters=several&tensor=pe")
        self.assertEqual((found["status"], found["shape"], found["request"]["url"]),
                         ("exact", [1, 64, 32], "/v1/encodings/sinusoidal?length=64&dim=32&tensor=encoding"))
        self.assertEqual(found["file"], {"format": "safetensors", "dtype": "f32", "tensor": "pe", "parameters": "several"})
        sent = self.identify(file, "?file_tensor=cos", SAFETENSORS)
        kept = ask("parameters=several&tensor=cos")
        self.assertEqual((kept["status"], kept["arithmetic"]), ("match", "float32"))
        for member in sent:
            if member != "file":
                self.assertEqual(kept[member], sent[member], member)
        self.assertEqual(ask("parameters=several&tensor=half&scheme=sinusoidal")["request"]["url"],
                         "/v1/encodings/sinusoidal?length=64&dim=32&tensor=encoding&dtype=f16")
        self.assertEqual(ask("parameters=one")["request"]["scheme"], "integer")
        head = self.server.request("HEAD", "/v1/identify?parameters=one")
        self.assertEqual((head.status, head.body), (200, b""))
        for query, status, parameter in (("parameters=none", 422, "parameters"), ("tensor=pe", 400, "parameters"), ("parameters=several", 422, "tensor"),
                                         ("parameters=several&tensor=none", 422, "tensor"), ("parameters=one&file_tensor=ids", 400, "file_tensor"),
                                         ("parameters=one&scheme=none", 422, "scheme")):
            self.assert_problem(self.get(f"/v1/identify?{query}"), status, parameter)
        self.assert_problem(self.server.request("GET", "/v1/identify?parameters=one", {"Origin": "http://example.org"}), 403)

    def test_every_scheme_says_whether_it_is_recognised(self):
        schemes = self.get("/v1/schemes").json()["schemes"]
        recognised = {scheme["name"] for scheme in schemes if scheme["recognised"]}
        self.assertLessEqual({"integer", "normalized", "binary", "sinusoidal", "rope", "alibi", "sinusoidal_2d", *OWN}, recognised)
        self.assertEqual(len(recognised), len(schemes))


if __name__ == "__main__":
    unittest.main()
