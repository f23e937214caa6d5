"""/v1/compare/{scheme}: what is wrong with a table, in a sentence."""

import numpy

from test_compare import CompareCase, npy

LLAMA = "length=300&dim=64&tensor=cos"


def angles(rows, dim, base=10000.0, offset=0, scale=1.0):
    """Angles as code in float32 has them."""
    w = 1 / numpy.float32(base) ** (numpy.arange(0, dim, 2, dtype="f4") / numpy.float32(dim))
    positions = (numpy.arange(offset, offset + rows) / scale).astype("f4")
    return numpy.outer(positions, w.astype("f4")).astype("f4")


def bfloat16(table):
    """Numbers rounded to bfloat16, ties to even."""
    bits = numpy.ascontiguousarray(table, "f4").view("u4")
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype("u4").view("f4")


class Explained(CompareCase):
    def explanation(self, query, table, scheme="rope", status=200):
        return self.compared(query, npy(table), scheme=scheme, status=status).get("explanation")

    def assert_explained(self, query, table, kind, parameters=(), scheme="rope", status=200):
        """Check the kind, the changed parameters and the sentence, and that the request of the
        explanation makes the table; returns the explanation."""
        found = self.explanation(query, table, scheme, status)
        self.assertIsNotNone(found, (kind, query))
        self.assertEqual((found["kind"], found["parameters"]), (kind, dict(parameters)), found)
        self.assertRegex(found["sentence"], r"^[A-Z0-9].*\.$")
        return found

    def assert_request_fits(self, found, table, scheme="rope"):
        query = found["request"]["url"].split("?", 1)[1]
        query += "&tolerance=float32"
        self.assertTrue(
            self.compared(query, npy(table), scheme=scheme)["within_tolerance"], query
        )

    def test_a_right_table_of_float32_arithmetic_has_no_mistake(self):
        table = numpy.cos(angles(300, 64))
        self.assert_explained(LLAMA, table, "arithmetic")
        self.assertIsNone(self.explanation(LLAMA + "&tolerance=float32", table))

    def test_rows_are_shifted(self):
        for offset in (1, -1, 2, 100, 4000):
            table = numpy.cos(angles(300, 64, offset=offset))
            parameters = {"offset": str(offset)}
            found = self.assert_explained(LLAMA, table, "shift", parameters)
            self.assertIn(f"Shifted by {abs(offset)} row", found["sentence"])
            self.assert_request_fits(found, table)
        table = self.fetch("length=50&dim=48&offset=7&layout=concat", "sinusoidal")
        self.assert_explained(
            "length=50&dim=48&offset=5&layout=concat",
            table,
            "shift",
            {"offset": "7"},
            "sinusoidal",
        )
        query = "length=20&query_length=5&heads=3&tensor=bias&mask=causal&query_offset="
        table = self.fetch(query + "14", "alibi")
        self.assert_explained(query + "15", table, "shift", {"query_offset": "14"}, "alibi")

    def test_rows_are_shifted_where_no_request_has_the_shift(self):
        for query, scheme, axis in (
            ("length=30&heads=8&tensor=bias&seed=3", "t5", 1),
            ("length=30&heads=8&tensor=bias", "alibi", 1),
            ("length=25&heads=2&tensor=bucket", "t5", 0),
            ("sizes=6,7&dim=32&tensor=cos", "axial_rope", 0),
            ("height=9&width=8&dim=16&shape=nc", "sinusoidal_2d", 0),
        ):
            exact = self.fetch(query, scheme)
            table = numpy.roll(exact, -2, axis)
            found = self.assert_explained(query, table, "shift", scheme=scheme)
            self.assertIn(f"Shifted by 2 along axis {axis}", found["sentence"])
            self.assertEqual((found["differing"], found["max_abs"]), (0, 0))
            self.assertNotIn("request", found)
            table = numpy.roll(exact, 1, axis)
            found = self.assert_explained(query, table, "shift", scheme=scheme)
            self.assertIn("index i - 1", found["sentence"])

    def test_another_tensor(self):
        self.assertIn(
            "is the tensor sin, not cos",
            self.assert_explained(LLAMA, numpy.sin(angles(300, 64)), "tensor")["sentence"],
        )
        query = "sizes=6,7&dim=32"
        table = self.fetch(query + "&tensor=cos", "axial_rope")
        self.assert_explained(query + "&tensor=sin", table, "tensor", scheme="axial_rope")

    def test_another_base(self):
        for base in ("500000", "1000000", "100", "150000"):
            table = numpy.cos(angles(300, 64, float(base)))
            found = self.assert_explained(LLAMA, table, "base", {"rope_theta": base})
            self.assertIn(f"rope_theta={base}, not 10000", found["sentence"])
            self.assert_request_fits(found, table)
        table = self.fetch("length=40&dim=20&base=10000&dtype=f64", "sinusoidal")
        self.assert_explained(
            "length=40&dim=20&base=1000", table, "base", {"base": "10000"}, "sinusoidal"
        )
        table = self.fetch("sizes=6,7&dim=32&tensor=sin&rope_theta=100", "axial_rope")
        self.assert_explained(
            "sizes=6,7&dim=32&tensor=sin", table, "base", {"rope_theta": "100"}, "axial_rope"
        )

    def test_columns_in_another_order(self):
        half, pairs = (
            numpy.cos(numpy.tile(angles(90, 48), 2)),
            numpy.cos(angles(90, 48).repeat(2, 1)),
        )
        query = "length=90&dim=48&tensor=cos&table=full"
        self.assert_explained(query, pairs, "layout", {"layout": "interleaved"})
        self.assert_explained(query + "&layout=interleaved", half, "layout", {"layout": "half"})
        for layout in ("concat", "concat_cos_first"):
            table = self.fetch(f"length=90&dim=48&layout={layout}")
            self.assert_explained(
                "length=90&dim=48", table, "layout", {"layout": layout}, "sinusoidal"
            )

    def test_a_factor(self):
        for query, scheme in (
            ("length=60&dim=96", "sinusoidal"),
            ("sizes=5,6&dim=16&tensor=cos", "axial_rope"),
            ("length=30&heads=8&tensor=bias&seed=3", "t5"),
            ("length=30&heads=8&tensor=bias", "alibi"),
        ):
            exact = self.fetch(query, scheme)
            for factor in (2, 0.125, 0.0731, -3):
                table = exact * numpy.float32(factor)
                found = self.assert_explained(query, table, "factor", scheme=scheme)
                self.assertAlmostEqual(found["factor"], factor, delta=abs(factor) * 1e-5)
        exact = self.fetch("length=60&dim=96")
        for power, name in ((0.5, "the square root of dim"), (-0.5, "1 over the square root")):
            table = exact * numpy.float32(96**power)
            found = self.assert_explained(
                "length=60&dim=96", table, "factor", scheme="sinusoidal"
            )
            self.assertIn(name, found["sentence"])
            half = table.astype("f2")  # float16, and bfloat16 in a file of float32
            for rounded in (half, bfloat16(table)):
                found = self.assert_explained(
                    "length=60&dim=96", rounded, "factor", scheme="sinusoidal"
                )
                self.assertAlmostEqual(found["factor"], 96**power)
        query = "length=60&dim=64&tensor=cos&rope_type=yarn&factor=8"
        query += "&original_max_position_embeddings=2048"
        table = self.fetch(query, "rope") / numpy.float32(0.1 * numpy.log(8) + 1)
        self.assertIn(
            "attention factor", self.assert_explained(query, table, "factor")["sentence"]
        )

    def test_signs(self):
        query = "length=60&dim=32&tensor=sin"
        self.assert_explained(
            query, -numpy.sin(angles(60, 32)), "sine_sign", {"step": "-1", "offset": "0"}
        )
        table = self.fetch("length=60&dim=32")
        table[:, 0::2] *= -1
        self.assert_explained(
            "length=60&dim=32",
            table,
            "sine_sign",
            {"step": "-1", "offset": "0"},
            "sinusoidal",
        )
        query = "length=30&heads=8&tensor=bias"
        self.assert_explained(query, -self.fetch(query, "alibi"), "sign", scheme="alibi")

    def test_values_of_16_bits(self):
        table = numpy.cos(angles(300, 64))
        for rounded, name in ((bfloat16(table), "bfloat16"), (table.astype("f2"), "float16")):
            found = self.assert_explained(LLAMA, rounded.astype("f4"), "values")
            self.assertIn(f"The values are {name} numbers", found["sentence"])
        query = "height=4&width=4&heads=3&tensor=bias"
        table = self.fetch(query, "swin").astype("f2").astype("f4")
        self.assert_explained(query, table, "values", scheme="swin")
        table = numpy.cos(angles(300, 64, 500000))
        found = self.assert_explained(LLAMA, bfloat16(table), "base", {"rope_theta": "500000"})
        self.assertIn("The values are bfloat16 numbers", found["sentence"])

    def test_angles_of_16_bits(self):
        exact = angles(300, 64)
        positions, w = bfloat16(numpy.arange(300)), bfloat16(exact[1])
        for table, text in (
            (bfloat16(exact), "The angles were"),
            (bfloat16(numpy.outer(positions, w)), "Positions, frequencies and angles were"),
            (numpy.outer(numpy.arange(300, dtype="f4"), w), "Frequencies were"),
            (numpy.outer(positions, exact[1]), "Positions were"),
        ):
            found = self.assert_explained(LLAMA, numpy.cos(table), "angles")
            self.assertTrue(found["sentence"].startswith(text + " rounded to bfloat16"), found)
            self.assertLess(found["differing"], table.size // 2)  # as float32, not as doubles
            found = self.assert_explained(
                LLAMA.replace("cos", "sin"), numpy.sin(table), "angles"
            )
        half = exact.astype("f2").astype("f4")
        self.assertIn(
            "float16", self.assert_explained(LLAMA, numpy.cos(half), "angles")["sentence"]
        )

    def test_long_tables_of_rounded_angles(self):
        exact = angles(2000, 96)  # some products lie near the middle of two bfloat16 numbers
        query = "length=2000&dim=96&tensor=sin"
        self.assert_explained(query, numpy.sin(bfloat16(exact)), "angles")

    def test_another_scaling(self):
        table = numpy.cos(angles(300, 64, scale=8))
        linear = {"rope_type": "linear", "factor": "8"}
        found = self.assert_explained(LLAMA, table, "scaling", linear)
        self.assertIn("A scaling is forgotten", found["sentence"])
        self.assert_request_fits(found, table)
        query = LLAMA + "&rope_type=linear&factor=8"
        gone = {"rope_type": None, "factor": None}
        found = self.assert_explained(query, numpy.cos(angles(300, 64)), "scaling", gone)
        self.assertIn("not scaled", found["sentence"])
        yarn = {
            "rope_type": "yarn",
            "factor": "4",
            "original_max_position_embeddings": "32768",
        }
        text = "&".join(f"{name}={value}" for name, value in yarn.items())
        table = self.fetch(f"length=300&dim=128&tensor=sin&{text}", "rope")
        self.assert_explained("length=300&dim=128&tensor=sin", table, "scaling", yarn)
        table = self.fetch("length=300&dim=128&tensor=cos&preset=llama3.1", "rope")
        found = self.assert_explained(
            "length=300&dim=128&tensor=cos", table, "scaling", {"preset": "llama3.1"}
        )

    def test_masks(self):
        query = "length=20&heads=4&mask=causal&tensor=bias"
        exact = self.fetch(query, "alibi")
        for number in (-1e9, -10000, numpy.finfo("f4").min):
            table = numpy.where(numpy.isinf(exact), numpy.float32(number), exact)
            self.assertIn(
                "mask=any",
                self.assert_explained(query, table, "mask", scheme="alibi")["sentence"],
            )
        exact = self.fetch("length=20&heads=4&mask=symmetric&tensor=bias", "alibi")
        self.assert_explained(query, exact, "mask", {"mask": "symmetric"}, "alibi")

    def test_other_parameters(self):
        query = "length=40&heads=4&tensor=bucket"
        table = self.fetch(query + "&bidirectional=false", "t5")
        found = self.explanation(query, table, "t5")
        self.assertEqual(found["kind"], "parameter", found)
        self.assertEqual(list(found["parameters"]), ["bidirectional"])
        table = self.fetch(query + "&num_buckets=64", "t5")
        self.assert_explained(query, table, "parameter", {"num_buckets": "64"}, "t5")

    def test_other_shapes(self):
        table = self.fetch("length=64&dim=256")
        scheme = {"scheme": "sinusoidal", "status": 422}
        query = "length=64&dim=256"
        self.assert_explained(query, table.T, "transposed", **scheme)
        batch = self.compared(query, npy(numpy.stack([table] * 3)), scheme="sinusoidal")
        self.assertEqual((batch["equal"], batch["repeated"]), (True, 3))
        longer = self.fetch("length=65&dim=256")
        found = self.assert_explained(query, longer, "rows", {"length": "65"}, **scheme)
        self.assertIn("1 row more: rows 0 to 63 are equal", found["sentence"])
        padded = numpy.vstack([numpy.zeros((2, 256), "f4"), table])
        found = self.assert_explained(query, padded, "rows", **scheme)
        self.assertEqual(found["rows"], {"first": 2, "count": 64})
        window = self.fetch("length=9&dim=256&offset=30")
        self.assert_explained(query, window, "shift", {"offset": "30"}, **scheme)
        cells = self.fetch("sizes=6,7&dim=32&tensor=cos", "axial_rope")
        for part, rows in ((cells[:-2], "0 to 39"), (cells[2:], "2 to 41")):
            found = self.assert_explained(
                "sizes=6,7&dim=32&tensor=cos", part, "rows", scheme="axial_rope", status=422
            )
            self.assertIn(
                f"2 rows fewer: the table has rows {rows} of the request", found["sentence"]
            )
        half = numpy.cos(angles(90, 48))
        query = "length=90&dim=48&tensor=cos"
        self.assert_explained(
            query + "&table=full", half, "width", {"table": "half_width"}, status=422
        )
        self.assert_explained(
            query, numpy.tile(half, 2), "width", {"table": "full"}, status=422
        )
        vector = self.fetch("length=90&dim=48&tensor=inv_freq", "rope")
        self.refuse(
            422, "shape", "length=90&dim=48&tensor=inv_freq", npy(vector[:9]), scheme="rope"
        )
        square = self.fetch("length=64&dim=64")
        self.assert_explained("length=64&dim=64", square.T, "transposed", scheme="sinusoidal")

    def test_what_is_no_usual_mistake_has_no_explanation(self):
        generator = numpy.random.default_rng(11)
        for query, scheme in (
            (LLAMA, "rope"),
            ("length=40&dim=20", "sinusoidal"),
            ("length=30&heads=8&tensor=bias", "alibi"),
            ("length=40&heads=4&tensor=bias", "t5"),
            ("sizes=6,7&dim=32&tensor=cos", "axial_rope"),
        ):
            exact = self.fetch(query, scheme)
            for table in (
                generator.uniform(-1, 1, exact.shape),
                bfloat16(generator.uniform(-1, 1, exact.shape)),
                exact + generator.normal(0, 0.01, exact.shape),
                numpy.zeros(exact.shape),
                generator.permutation(exact.ravel()).reshape(exact.shape),
            ):
                self.assertIsNone(self.explanation(query, table.astype("f4"), scheme), query)
        exact = self.fetch("length=40&dim=20")
        exact[3, 1:5] += 0.5  # a few entries explain themselves
        self.assertIsNone(self.explanation("length=40&dim=20", exact, "sinusoidal"))
        self.assertIsNone(
            self.compare("length=40&dim=20", npy(exact[:9, :7])).json().get("explanation")
        )


class WithoutMeans(CompareCase):
    flags = ("--compute-cost", "1000000")

    def test_nothing_is_explained_that_may_not_be_computed(self):
        table = self.fetch("length=20&dim=8&offset=1")
        found = self.compared("length=20&dim=8", npy(table))
        self.assertNotIn("explanation", found)
        self.assertGreater(found["differing"], 100)


if __name__ == "__main__":
    import unittest

    unittest.main()
