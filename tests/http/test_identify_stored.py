"""/v1/identify with a set: tables that were cut from its tensors, or interpolated."""

import io
import random
import tempfile

import numpy

from forms import undone
from server import ServerCase
from test_compare import NPY, RAW, SAFETENSORS, npy, safetensors

F = numpy.float32
NAMES = {"f4": "F32", "f8": "F64", "f2": "F16"}


def linear(table, height, width, prefix=0, offset=0.0):
    """Rows of a square grid between those around them, in float64, by the formula: for the
    middle of target cell y the source coordinate is (y + 1/2) * source / (target + offset) -
    1/2, not below 0."""
    side = int(round((len(table) - prefix) ** 0.5))
    cells = table[prefix:].astype("f8").reshape(side, side, -1)

    def between(array, target):
        place = numpy.maximum(
            (numpy.arange(target) + 0.5) * (side / (target + offset)) - 0.5, 0
        )
        low = numpy.minimum(place.astype(int), side - 1)
        part = (place - low)[:, None, None]
        return array[low] * (1 - part) + array[numpy.minimum(low + 1, side - 1)] * part

    down = between(cells, height)
    across = between(down.transpose(1, 0, 2), width).transpose(1, 0, 2)
    return numpy.concatenate([table[:prefix].astype("f8"), across.reshape(height * width, -1)])


class Stored(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        numbers = numpy.random.default_rng(2)
        draw = lambda *shape: numbers.normal(0, 0.02, shape).astype("f4")
        cls.tables = {
            "vit": {"table": draw(50, 24)},
            "tall": {"table": draw(6 * 11, 20)},
            "line": {"table": draw(23, 16)},
            "wide": {"table": draw(66, 24).astype("f8")},
            "other": {"weights": draw(50, 24)},
            "bert": {"table": draw(40, 32)},
            "t5": {"table": draw(32, 6)},
            "decoder": {"table": draw(20, 4)},
            "levit": {"table": draw(30, 5)},
            "swin": {"table": draw(13 * 13, 3)},
            "beit": {"table": draw(9 * 9 + 3, 4)},
            "shaw": {"keys": draw(17, 12), "values": draw(17, 12)},
            "sam": {"rel_pos_h": draw(27, 8), "rel_pos_w": draw(27, 8)},
            "whole": {"table": numpy.arange(50, dtype="f4")[:, None] * numpy.ones(24, "f4")},
        }
        for name, tensors in cls.tables.items():
            file = safetensors(
                {
                    key: (NAMES[array.dtype.str[1:]], list(array.shape), array.tobytes())
                    for key, array in tensors.items()
                }
            )
            assert cls.server.request("PUT", f"/v1/sets/{name}", {}, file).status == 201

    def ask(self, table, name, more=""):
        reply = self.server.request(
            "POST", f"/v1/identify?set={name}{more}", {"Content-Type": NPY}, npy(table)
        )
        self.assertEqual(
            self.assert_ok(reply, "application/json").header("Cache-Control"), "no-store"
        )
        return reply.json()

    def fetch(self, target):
        return numpy.load(io.BytesIO(self.assert_ok(self.get(target + "&format=npy")).body))

    def assert_own(self, scheme, query, said=None):
        """A table of posenc's own is exact, by a request that makes these bits and says
        this."""
        target = f"/v1/encodings/{scheme}?{query}"
        name = query.split("set=")[1].split("&")[0]
        table = self.fetch(target)
        found = self.ask(table, name)
        self.assertEqual(found["status"], "exact", (target, found["summary"]))
        url = found["request"]["url"]
        self.assertEqual(self.fetch(url).tobytes(), table.tobytes(), target)
        for text in said if said is not None else query.split("&"):
            self.assertIn(text, url.replace("?", "&").split("&"), target)
        self.assertIn(f"/{scheme}?", url)
        for same in found["same_table"]:
            self.assertEqual(self.fetch(same["url"]).tobytes(), table.tobytes(), (target, same))
        return found

    def test_interpolated_tables_are_exact_with_their_filter(self):
        filters = (
            "",
            "&antialias=true",
            "&align_corners=true",
            "&scale_offset=0.1",
            "&mode=bilinear",
            "&mode=bilinear&align_corners=true",
            "&mode=bilinear&scale_offset=0.1",
            "&mode=nearest",
        )
        generator = random.Random(3)
        for text in filters:
            for grid in (
                "height=11",
                "height=5",
                f"height={generator.choice([6, 8, 12])}&width={generator.choice([9, 10, 15])}",
            ):
                self.assert_own("resized", f"{grid}&set=vit&prefix_tokens=1{text}")
        self.assert_own(
            "resized", "height=4&set=vit&prefix_tokens=1&mode=bilinear&antialias=true"
        )
        self.assert_own("resized", "height=9&width=14&set=tall&source_height=6&source_width=11")
        self.assert_own(
            "resized",
            "height=1&width=40&set=line&source_height=1&source_width=23&mode=bilinear",
        )
        self.assert_own(
            "resized",
            "height=12&set=wide&prefix_tokens=2&dtype=f64",
            ["height=12", "prefix_tokens=2", "dtype=f64"],
        )
        self.assert_own("resized", "height=10&set=vit&prefix_tokens=1&dtype=f16")
        found = self.assert_own("resized", "height=10&set=vit&prefix_tokens=1&antialias=true")
        self.assertIn("timm", found["request"]["presets"])

    def test_rows_of_the_table_are_found(self):
        table = self.tables["bert"]["table"]
        for rows, said in (
            (table, ["length=40"]),
            (table[7:20], ["length=13", "offset=7"]),
            (table[2:], ["length=38", "row_offset=2"]),
            (table[3::4], ["offset=3", "step=4"]),
            (table[::-1], ["offset=39", "step=-1"]),
            (table[9:30].T, ["length=21", "offset=9"]),
        ):
            found = self.ask(rows, "bert")
            self.assertEqual(
                (found["status"], found["request"]["scheme"]), ("exact", "learned"), said
            )
            for text in said + ["set=bert"]:
                self.assertIn(text, found["request"]["url"].replace("?", "&").split("&"))
            exact = self.fetch(found["request"]["url"])
            numpy.testing.assert_array_equal(exact, undone(rows, found)[0])
        changed = table[7:20].copy()
        changed[0, 3] += 1e-3
        found = self.ask(changed, "bert")
        self.assertEqual((found["status"], found["misfits"]), ("near", 1))
        self.assertIn("offset=7", found["request"]["url"])

    def test_extrapolated_tables_are_exact(self):
        for query in (
            "length=300&set=bert",
            "length=90&set=bert&alpha=0.3",
            "length=200&set=bert&offset=5&alpha=0.25",
        ):
            for dtype in ("f32", "f64"):
                self.assert_own("hierarchical", f"{query}&dtype={dtype}", query.split("&"))
        for alpha in ("", "&alpha=0.3"):
            table = self.fetch(
                f"/v1/encodings/hierarchical?length=1&set=bert&tensor=basis{alpha}"
            )
            found = self.ask(table, "bert")
            self.assertEqual((found["status"], found["request"]["tensor"]), ("exact", "basis"))
            self.assertEqual(self.fetch(found["request"]["url"]).tobytes(), table.tobytes())

    def test_biases_of_stored_tables_are_exact(self):
        for scheme, query in (
            ("t5", "length=40&heads=6&set=t5"),
            ("t5", "length=12&query_length=4&heads=6&set=t5"),
            (
                "t5",
                "length=60&heads=4&num_buckets=20&bidirectional=false&max_distance=64"
                "&set=decoder",
            ),
            ("levit", "height=5&width=6&heads=5&set=levit"),
            ("swin", "height=7&heads=3&set=swin"),
            ("swin", "height=5&heads=4&class_token=true&set=beit"),
            ("swin", "height=8&heads=3&set=swin"),
            ("swin", "height=6&width=9&heads=3&set=swin&mode=bilinear"),
            ("swin", "height=4&heads=4&class_token=true&set=beit&mode=bilinear"),
            ("shaw", "length=20&dim=12&max_distance=8&set=shaw&tensor=keys"),
            ("shaw", "length=30&dim=12&max_distance=8&set=shaw&tensor=values"),
            ("decomposed", "height=14&dim=8&set=sam&tensor=rel_h"),
            ("decomposed", "height=14&width=14&dim=8&set=sam&tensor=rel_w"),
        ):
            name = query.split("set=")[1].split("&")[0]
            tensor = "" if "tensor=" in query else "&tensor=bias"
            said = [
                text
                for text in query.split("&")
                if text.split("=")[0]
                in (
                    "set",
                    "heads",
                    "num_buckets",
                    "bidirectional",
                    "class_token",
                    "mode",
                )
            ]
            self.assert_own(scheme, query + tensor, said)
            table = self.fetch(f"/v1/encodings/{scheme}?{query}{tensor}")
            middle = tuple(extent // 2 for extent in table.shape)
            other = numpy.random.default_rng(9).permutation(table.ravel())
            entry = table.copy()
            entry[middle] = numpy.nextafter(entry[middle], F(9))
            for other in (other.reshape(table.shape), entry, table[::-1]):
                self.assertIn(self.ask(other, name)["status"], ("unknown", "near"), query)

    def test_biases_of_stored_tables_are_exact_whatever_the_window(self):
        generator = random.Random(21)
        draw, number = generator.choice, generator.randint
        for _ in range(12):
            window = draw(
                ["", "&form=compact", f"&query_length={number(1, 20)}"]
                + [f"&query_length={number(5, 20)}&query_offset={number(0, 20)}"]
            )
            queries = number(1, 30)
            tokens = draw(
                ["", "", f"&query_length={queries}"]
                + [f"&query_length={queries}&query_offset={number(0, 30 - queries)}"]
            )
            height = draw([1, 2, 5, 6, 15])
            tokens = draw(
                [f"height={height}&width={30 // height}{tokens}", f"length=30{tokens}"]
                + ["length=30&form=compact"]
            )
            dim_head = draw(["", "&dim_head=32", "&dim_head=17.5"])
            limits = draw(["&max_distance=8", "&max_distance=10&min_distance=-6"])
            turned = draw(["", "&difference=query_minus_key"])
            grid = f"query_height={number(2, 14)}&query_width={number(2, 14)}"
            keys = draw([f"{number(5, 40)}", "9&query_length=3&query_offset=-60"])
            dtype = draw(["f32", "f16"])
            for scheme, query in (
                ("t5", f"set=t5&heads=6&tensor=bias&length={number(20, 60)}{window}"),
                (
                    "t5",
                    "set=decoder&heads=4&num_buckets=20&bidirectional=false&max_distance=64"
                    f"&tensor=bias&length={number(20, 60)}{window}",
                ),
                ("levit", f"set=levit&heads=5{dim_head}&tensor=bias&{tokens}"),
                (
                    "shaw",
                    f"set=shaw&dim=12{limits}{turned}&tensor=keys&length={keys}",
                ),
                ("decomposed", f"set=sam&dim=8&tensor=rel_h&height=14&width=14&{grid}"),
                ("decomposed", f"set=sam&dim=8&tensor=rel_w&height=14&width=14&{grid}"),
            ):
                self.assert_own(scheme, f"{query}&dtype={dtype}", [])

    def test_an_independent_formula_in_float64_is_a_match(self):
        table = self.tables["vit"]["table"]
        for height, width, offset in ((12, 12, 0), (9, 13, 0), (12, 12, 0.1)):
            expected = linear(table, height, width, 1, offset)
            for dtype in ("f8", "f4"):
                found = self.ask(expected.astype(dtype), "vit")
                self.assertIn(
                    (found["status"], found["arithmetic"]),
                    (("match", "float64"), ("exact", "exact")),
                    (height, width, dtype),
                )
                self.assertEqual(found["misfits"], 0)
                for text in (
                    f"height={height}",
                    "prefix_tokens=1",
                    "mode=bilinear",
                    *["scale_offset=0.1"] * (offset > 0),
                ):
                    self.assertIn(text, found["request"]["url"].replace("?", "&").split("&"))
                numpy.testing.assert_allclose(
                    self.fetch(found["request"]["url"]),
                    expected,
                    rtol=0,
                    atol=1e-15 if dtype == "f8" else 1e-8,
                )
            found = self.ask(
                (
                    expected
                    * (1 + numpy.random.default_rng(4).uniform(-6e-8, 6e-8, expected.shape))
                ).astype("f4"),
                "vit",
            )
            self.assertEqual(
                (found["status"], found["arithmetic"], found["misfits"]),
                ("near", "like_float32", 0),
            )

    def test_a_table_that_was_changed_is_no_match(self):
        right = self.fetch("/v1/encodings/resized?height=12&set=vit&prefix_tokens=1")
        damaged = right.copy()
        damaged[40, 5] = 1
        found = self.ask(damaged, "vit")
        self.assertEqual(
            (found["status"], found["arithmetic"], found["misfits"]), ("near", "unknown", 1)
        )
        self.assertIn("height=12&set=vit&prefix_tokens=1", found["request"]["url"])
        shuffled, doubled, grid = (
            numpy.random.default_rng(5).permutation(right),
            2 * right,
            right[1:].reshape(12, 12, -1),
        )
        mirrored = numpy.concatenate([right[:1], grid[:, ::-1].reshape(144, -1)])
        turned = numpy.concatenate([right[:1], grid.transpose(1, 0, 2).reshape(144, -1)])
        for table in (
            shuffled,
            doubled,
            mirrored,
            turned,
            right[:, ::-1],
            right[:140],
            right[:, :20],
        ):
            self.assertEqual(self.ask(table, "vit", "&scheme=resized")["status"], "unknown")
        negated = self.ask(-right, "vit", "&scheme=resized")
        self.assertEqual((negated["status"], negated["forms"][0]["value"]), ("exact", -1))
        self.assertEqual(self.ask(right, "wide", "&scheme=resized")["status"], "unknown")

    def test_a_set_without_the_tensors_leads_to_nothing(self):
        table = self.tables["vit"]["table"]
        right = self.fetch("/v1/encodings/resized?height=12&set=vit&prefix_tokens=1")
        for name in ("other", "bert", "shaw"):
            self.assertEqual(self.ask(right, name)["status"], "unknown", name)
            self.assertEqual(self.ask(table[4:], name)["status"], "unknown", name)
        sinusoidal = self.fetch("/v1/encodings/sinusoidal?length=50&dim=24")
        self.assertEqual(self.ask(sinusoidal, "vit")["request"]["scheme"], "sinusoidal")
        drawn = self.fetch("/v1/encodings/learned?length=50&dim=24")
        self.assertEqual(self.ask(drawn, "vit")["status"], "unknown")
        for name in ("whole", "other"):
            self.assertEqual(
                self.ask(numpy.zeros((50, 24), "f4"), name, "&scheme=resized")["status"],
                "unknown",
            )

    def test_a_set_on_disk_is_read_for_it(self):
        table = self.tables["bert"]["table"]
        file = safetensors({"table": ("F32", [40, 32], table.tobytes())})
        with tempfile.TemporaryDirectory(prefix="posenc-") as directory:
            server = self.start("--data-dir", directory)
            self.assertEqual(server.request("PUT", "/v1/sets/kept", {}, file).status, 201)
            server.stop()
            server = self.start("--data-dir", directory)
            for name, status in (("kept", 200), ("none", 422), ("kept", 200)):
                reply = server.request(
                    "POST",
                    f"/v1/identify?set={name}",
                    {"Content-Type": NPY},
                    npy(table[3:30]),
                )
                self.assertEqual(reply.status, status, reply)
            self.assertEqual(
                reply.json()["request"]["url"],
                "/v1/encodings/learned?length=27&set=kept&offset=3&tensor=encoding",
            )
            server.stop()

    def test_what_the_query_may_be(self):
        table = self.tables["bert"]["table"]
        post = lambda query, media_type, body: self.server.request(
            "POST", f"/v1/identify?{query}", {"Content-Type": media_type}, body
        )
        file = safetensors(
            {
                "pe": ("F32", [5, 32], table[4:9].tobytes()),
                "table": ("F32", [2, 32], table[:2].tobytes()),
            }
        )
        found = self.assert_ok(post("set=bert&file_tensor=pe", SAFETENSORS, file)).json()
        self.assertEqual(
            found["request"]["url"],
            "/v1/encodings/learned?length=5&set=bert&offset=4&tensor=encoding",
        )
        self.assertEqual(
            found["file"], {"format": "safetensors", "dtype": "f32", "tensor": "pe"}
        )
        found = self.assert_ok(post("set=bert&shape=40,32", RAW, table.tobytes())).json()
        self.assertEqual(found["status"], "exact")
        self.assertEqual(
            self.ask(table, "bert", "&scheme=hierarchical")["request"]["scheme"], "hierarchical"
        )
        for query, status, parameter in (
            ("set=none", 422, "set"),
            ("set=NO%2F", 422, "set"),
            ("set=", 400, "set"),
            ("set=bert&set=vit", 400, "set"),
            ("set=bert&tensor=table", 400, "tensor"),
        ):
            self.assert_problem(post(query, NPY, npy(table)), status, parameter)
        document = self.get("/openapi.json").json()
        parameters = document["components"]["parameters"]
        described = document["paths"]["/v1/identify"]["post"]["parameters"]
        names = [
            parameters.get(row.get("$ref", "").split("/")[-1], row)["name"] for row in described
        ]
        self.assertIn("set", names)
