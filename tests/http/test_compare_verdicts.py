"""/v1/compare/{scheme}: which tables are accepted."""

import io

import numpy

from test_compare import SAFETENSORS, CompareCase, npy, safetensors

UNITS = {
    "float32": 2.0**-24,
    "bfloat16": 2.0**-8,
    "float16": 2.0**-11,
    "float64": 2.0**-53,
}


class Verdicts(CompareCase):
    def verdict(self, query, table, scheme="sinusoidal"):
        reply = self.compare(query, npy(table), scheme=scheme)
        self.assertIn(reply.status, (200, 409), reply)
        found = reply.json()
        self.assertEqual(found["within_tolerance"], reply.status == 200)
        return found["within_tolerance"], found["outside_tolerance"], found

    def test_an_arithmetic_may_lose_what_its_angles_do(self):
        query = "length=3&dim=8&offset=70000&step=1000"
        exact = self.fetch(query + "&dtype=f64")
        position = 70000 + 1000 * numpy.arange(3)[:, None]
        w = 10000.0 ** (-numpy.arange(0, 8, 2) / 8).repeat(2)
        for name, unit in UNITS.items():
            bound = unit * (position * w * (8 + 3 * abs(numpy.log(w))) + 12 * abs(exact))
            for column in range(8):
                for share, good in ((0.98, True), (1.1, False)):
                    table = exact.copy()
                    table[1, column] += share * bound[1, column]
                    if 2**-13 * position[1] * unit > bound[1, column] or unit == 2**-53:
                        continue  # what float16 has besides, and rounding of the table
                    self.assertEqual(
                        self.verdict(f"{query}&tolerance={name}", table)[:2],
                        (good, int(not good)),
                        (name, column, share),
                    )

    def test_tables_in_float32_are_accepted_and_other_bases_are_not(self):
        for dim, offset, scheme in ((64, 0, "rope"), (128, 99000, "rope"), (96, 4000, "rope")):
            for base, other in ((10000, 10010), (500000, 500200), (1e6, 1.001e6)):
                angles = [
                    numpy.outer(
                        numpy.arange(offset, offset + 300, dtype="f4"),
                        1 / numpy.float32(theta) ** (numpy.arange(0, dim, 2, dtype="f4") / dim),
                    ).astype("f4")
                    for theta in (base, other)
                ]
                query = f"length=300&dim={dim}&offset={offset}&rope_theta={base}"
                query += "&tensor=cos&tolerance=float32"
                for angle, good in zip(angles, (True, False)):
                    self.assertEqual(self.verdict(query, numpy.cos(angle), scheme)[0], good)

    def test_fourier_features_in_float32_are_accepted_and_other_bands_are_not(self):
        f4 = numpy.float32
        for size, bands, unit, most, other in (
            (64, 10, "turns", 512, 511),
            (33, 16, "half_turns", 1000, 1001),
            (100, 20, "radians", 2**19, 2**19 - 512),
        ):
            query = f"sizes={size}&bands={bands}&angle={unit}&tolerance=float32&max_frequency="
            places = numpy.linspace(-1, 1, size, dtype=f4)[:, None]
            turn = f4({"turns": 2, "half_turns": 1}.get(unit, 1 / numpy.pi) * numpy.pi)
            w = numpy.exp2(numpy.linspace(0, numpy.log2(f4(most)), bands, dtype=f4))
            angle = places * (w * turn)
            table = numpy.hstack([numpy.sin(angle), numpy.cos(angle)])
            self.assertEqual(table.dtype, f4)
            self.assertTrue(self.verdict(f"{query}{most}", table, "fourier")[0], query)
            self.assertFalse(self.verdict(f"{query}{other}", table, "fourier")[0], query)

    def test_every_scheme_has_a_bound_or_says_that_it_has_none(self):
        for scheme in self.get("/v1/schemes").json()["schemes"]:
            name, query = scheme["name"], scheme["example"]
            for tensor in scheme["tensors"]:
                asked = f"{query}&tensor={tensor['name']}"
                reply = self.get(f"/v1/encodings/{name}?{asked}&format=npy&dtype=f32")
                if reply.status != 200:
                    continue  # a tensor that the example does not ask for
                table = numpy.load(io.BytesIO(reply.body))
                reply = self.compare(asked + "&tolerance=float32", npy(table), scheme=name)
                if reply.status == 422:
                    self.assert_problem(reply, 422, "tolerance")
                    continue
                self.assertEqual(reply.status, 200, (asked, reply))
                if table.dtype != "f4" or not numpy.isfinite(table).any():
                    continue
                last = numpy.nextafter(table, numpy.float32(9))
                self.assertTrue(
                    self.verdict(asked + "&tolerance=float32", last, name)[0], asked
                )
                far = table + numpy.float32(0.01) * (1 + abs(table))
                self.assertFalse(
                    self.verdict(asked + "&tolerance=float32", far, name)[0], asked
                )

    def test_a_relative_tolerance_is_that_of_numpy(self):
        generator = numpy.random.default_rng(7)
        exact = self.fetch("length=50&dim=8&dtype=f64")
        table = exact + generator.normal(size=exact.shape) * 10.0 ** generator.uniform(
            -7, -2, exact.shape
        )
        for absolute, relative in ((None, 1e-3), (1e-4, None), (1e-4, 1e-3), (0, 0)):
            query = "length=50&dim=8"
            query += "" if absolute is None else f"&tolerance={absolute}"
            query += "" if relative is None else f"&rtol={relative}"
            near = numpy.isclose(table, exact, rtol=relative or 0, atol=absolute or 0)
            self.assertEqual(self.verdict(query, table)[1], (~near).sum(), query)
        self.refuse(422, "rtol", "length=50&dim=8&rtol=-1", npy(exact))

    def test_any_number_below_a_row_stands_for_a_mask(self):
        query = "length=12&heads=2&tensor=bias&mask=causal"
        exact = self.fetch(query, "alibi")
        masked = numpy.isinf(exact)
        for number in (-1e9, -10000, numpy.finfo("f4").min, -100, -numpy.inf):
            table = numpy.where(masked, numpy.float32(number), exact)
            found = self.verdict(query + ",any&tolerance=0", table, "alibi")[2]
            self.assertTrue(found["equal"])
            self.assertEqual(found.get("masked", 0), masked.sum() * (number > -numpy.inf))
        for number in (0, 1e9, -1, numpy.inf, numpy.nan):
            table = numpy.where(masked, numpy.float32(number), exact)
            self.assertFalse(self.verdict(query + ",any&tolerance=0", table, "alibi")[0])
        self.assertFalse(
            self.verdict(query + "&tolerance=0", numpy.where(masked, -1e9, exact), "alibi")[0]
        )
        url = self.compared(query + ",any", npy(exact), scheme="alibi")["request"]["url"]
        self.assertIn("mask=causal", url)
        self.assertNotIn("any", url)

    def test_a_scheme_of_several_tensors_asks_for_the_name(self):
        table = self.fetch("length=7&dim=8&tensor=cos", "rope")
        reply = self.compare("length=7&dim=8", npy(table), scheme="rope")
        self.assert_problem(reply, 422, "tensor")
        self.assertIn("cos, sin, inv_freq", reply.json()["detail"])
        file = safetensors({"cos": ("F32", [7, 4], table.tobytes())})
        self.refuse(422, "tensor", "length=7&dim=8", file, SAFETENSORS, "rope")
        self.refuse(
            400,
            "tolerance",
            "length=7&dim=8&tensor=cos&tolerance=float8",
            npy(table),
            scheme="rope",
        )


if __name__ == "__main__":
    import unittest

    unittest.main()
