"""/v1/apply/{scheme}: encodings applied to tensors that are sent, each element rounded once."""

import io
import json
import math
import os
import struct
import unittest

import mpmath
import numpy

import applied_schemes
from exact_reals import (
    DTYPES,
    nearest,
    numbers_of,
    of_double,
    of_real,
    product,
    random_bits,
    total,
)
from server import ServerCase
from test_compare import NPY, RAW, SAFETENSORS, npy, safetensors

mpmath.mp.prec = 1200


def file_of(tensors):
    """A safetensors file of {name: (dtype, bits)}."""
    return safetensors(
        {
            name: (DTYPES[dtype][0], list(bits.shape), bits.tobytes())
            for name, (dtype, bits) in tensors.items()
        }
    )


def read_file(body):
    """{name: (dtype, bits)} of a safetensors file."""
    (size,) = struct.unpack("<Q", body[:8])
    names = {row[0]: dtype for dtype, row in DTYPES.items()}
    found = {}
    for name, value in json.loads(body[8 : 8 + size]).items():
        begin, end = value["data_offsets"]
        dtype = names[value["dtype"]]
        found[name] = dtype, numpy.frombuffer(
            body[8 + size + begin : 8 + size + end], DTYPES[dtype][1]
        ).reshape(value["shape"])
    return found


def angles(position, dim, base=10000):
    """The angles of a position, as numbers of mpmath."""
    return [
        mpmath.mpf(position) * mpmath.power(base, mpmath.mpf(-2 * i) / dim)
        for i in range(dim // 2)
    ]


def waves(positions, dim, base=10000):
    """[(cosine, sine) of each pair] of each position, as (integer, exponent)."""
    return [
        [
            (of_real(mpmath.cos(angle)), of_real(mpmath.sin(angle)))
            for angle in angles(position, dim, base)
        ]
        for position in positions
    ]


def negative(number):
    return -number[0], number[1]


class ApplyCase(ServerCase):
    def apply(self, scheme, query, body, media_type=SAFETENSORS):
        return self.server.request(
            "POST", f"/v1/apply/{scheme}?{query}", {"Content-Type": media_type}, body
        )

    def applied(self, scheme, query, tensors):
        reply = self.assert_ok(self.apply(scheme, query, file_of(tensors)))
        self.assertEqual(reply.header("Content-Type"), SAFETENSORS)
        return read_file(reply.body)

    def array(self, scheme, query, table):
        return numpy.load(
            io.BytesIO(self.assert_ok(self.apply(scheme, query, npy(table), NPY)).body)
        )

    def refuse(self, status, parameter, *arguments):
        self.assert_problem(self.apply(*arguments), status, parameter)

    def check(self, found, dtype, expected):
        """Compare elements with the (integer, exponent) of each."""
        self.assertEqual(found[0], dtype)
        values = numbers_of(found[1], dtype).ravel()
        self.assertEqual(len(values), len(expected))
        for place, (value, exact) in enumerate(zip(values, expected)):
            wanted = -math.inf if exact == applied_schemes.INFINITE else nearest(exact, dtype)
            self.assertEqual(value, wanted, (dtype, place))
            self.assertFalse(value == 0 and math.copysign(1, value) < 0)


def turned(row, pairs, columns, inverse=False):
    """The exact row of a rotation, given its doubles and the columns of each pair."""
    exact = [of_double(number) for number in row]
    for (cosine, sine), (one, other) in zip(pairs, columns):
        sine = negative(sine) if inverse else sine
        x, y = exact[one], exact[other]
        exact[one] = total([product(x, cosine), product(y, negative(sine))])
        exact[other] = total([product(x, sine), product(y, cosine)])
    return exact


def columns_of(width, layout):
    return [
        (p, p + width // 2) if layout == "half" else (2 * p, 2 * p + 1)
        for p in range(width // 2)
    ]


class Sums(ApplyCase):
    def test_a_sinusoidal_encoding_is_added_and_each_sum_is_rounded_once(self):
        random = numpy.random.default_rng(1)
        table = waves(range(7, 11), 8)
        for dtype in DTYPES:
            for out in DTYPES:
                for plain in (False, True):
                    bits = random_bits(random, (3, 4, 8), dtype, plain)
                    scale = 0.3 if plain else 1.0
                    found = self.applied(
                        "sinusoidal",
                        f"length=4&dim=8&offset=7&dtype={out}&scale={scale}",
                        {"x": (dtype, bits)},
                    )
                    expected = [
                        total(
                            [
                                of_double(number),
                                product(of_double(scale), table[r][c // 2][1 - c % 2]),
                            ]
                        )
                        for batch in numbers_of(bits, dtype)
                        for r, row in enumerate(batch)
                        for c, number in enumerate(row)
                    ]
                    self.check(found["x"], out, expected)


class Products(ApplyCase):
    def test_a_factor_that_is_nearly_one_decides_what_lies_half_way(self):
        """RetNet's last head multiplies by 1 - 2^-260."""
        half_way = numpy.full((256, 2, 2), 1.01171875, "f2").view("u2")  # between two bf16
        found = self.applied(
            "retnet", "heads=256&length=2&dim=2&dtype=bf16", {"scores": ("f16", half_way)}
        )
        x = of_double(1.01171875)
        expected = []
        for h in range(256):
            decay = (2 ** (5 + h) - 1, -5 - h)
            expected += [x, (0, 0), product(x, decay), x]
        self.check(found["scores"], "bf16", expected)


class Rotations(ApplyCase):
    def test_queries_and_keys_of_all_magnitudes_are_turned_and_rounded_once(self):
        random = numpy.random.default_rng(2)
        table = waves([-3, 0, 5, 123456789], 6)
        for dtype in DTYPES:
            for layout in ("half", "interleaved"):
                for out in DTYPES:
                    for plain in (False, True):
                        tensors = {
                            name: (dtype, random_bits(random, (2, 4, 6), dtype, plain))
                            for name in ("query", "key")
                        }
                        found = self.applied(
                            "rope",
                            f"positions=-3,0,5,123456789&dim=6&layout={layout}&dtype={out}",
                            tensors,
                        )
                        for name, (_, bits) in tensors.items():
                            expected = [
                                number
                                for batch in numbers_of(bits, dtype)
                                for r, row in enumerate(batch)
                                for number in turned(row, table[r], columns_of(6, layout))
                            ]
                            self.check(found[name], out, expected)

    def test_a_model_that_does_something_else_is_refused(self):
        query = numpy.ones((8, 16), "<f4")
        self.refuse(
            422, "preset", "axial_rope", "preset=vjepa2&sizes=2,2,2&dim=16", npy(query), NPY
        )
        self.assertEqual(
            self.apply(
                "axial_rope",
                "sizes=2,2,2&dim=16&split=rounded_down&layout=half_by_axis&table=full",
                npy(query),
                NPY,
            ).status,
            200,
        )

    def test_the_inverse_turns_back(self):
        random = numpy.random.default_rng(3)
        table = waves(range(5), 8, 500)
        bits = random_bits(random, (5, 8), "f32", True)
        for extra in ("", "&table=full"):
            found = self.applied(
                "rope",
                f"length=5&dim=8&rope_theta=500&inverse=true{extra}",
                {"query": ("f32", bits)},
            )
            self.check(
                found["query"],
                "f32",
                [
                    number
                    for r, row in enumerate(numbers_of(bits, "f32"))
                    for number in turned(row, table[r], columns_of(8, "half"), True)
                ],
            )

    def test_columns_beyond_a_partial_width_keep_their_bytes(self):
        random = numpy.random.default_rng(4)
        for dtype, (_, kind, *_) in DTYPES.items():
            bits = random.integers(
                0, 2 ** (8 * numpy.dtype(kind).itemsize), (2, 3, 8), dtype=kind
            )
            found = self.applied(
                "rope", "length=3&dim=8&partial_rotary_factor=0.5", {"query": (dtype, bits)}
            )["query"]
            self.assertEqual(found[1][..., 4:].tobytes(), bits[..., 4:].tobytes())
        bits = random_bits(random, (3, 8), "f64")
        found = self.applied(
            "rope",
            "length=3&dim=8&partial_rotary_factor=0.5&dtype=f16",
            {"query": ("f64", bits)},
        )["query"]
        self.check(
            ("f16", found[1][:, 4:]),
            "f16",
            [of_double(number) for number in numbers_of(bits, "f64")[:, 4:].ravel()],
        )

    def test_axes_name_the_order(self):
        random = numpy.random.default_rng(5)
        table = random.standard_normal((2, 7, 3, 8)).astype(numpy.float32)
        straight = self.array("rope", "length=7&dim=8", table.transpose(0, 2, 1, 3).copy())
        found = self.array("rope", "length=7&dim=8&axes=batch,length,heads,dim", table)
        numpy.testing.assert_array_equal(found, straight.transpose(0, 2, 1, 3))
        for axes in (
            "batch,length,heads",
            "batch,heads,heads,dim",
            "batch,length,dim,heads",
            "a,b,c,dim",
            "batch,,length,dim",
            "",
        ):
            self.refuse(400, "axes", "rope", f"length=7&dim=8&axes={axes}", npy(table), NPY)

    def test_names_of_axes_are_short_words_that_the_encoding_does_not_have(self):
        table = numpy.ones((2, 7, 3, 8), numpy.float32)
        for axes in ("a" * 32, "%C3%A9", "a%20b", "a|b", "a.b"):
            self.refuse(
                400,
                "axes",
                "rope",
                f"length=7&dim=8&axes={axes},length,heads,dim",
                npy(table),
                NPY,
            )
        self.array("rope", f"length=7&dim=8&axes={'a' * 31},length,Heads-of_2,dim", table)
        self.refuse(
            422, "axes", "rope", "length=7&dim=8&axes=pair,length,heads,dim", npy(table), NPY
        )
        weights = "f32", numpy.ones((6, 3, 5), numpy.float32).view(numpy.uint32)
        for scheme, query, axes, name in (
            ("shaw", "length=5&query_length=3&dim=6", "dim,queries,keys", "weights"),
            ("shaw", "length=6&query_length=3&dim=5", "keys,queries,dim", "query"),
            ("rotation_matrix", "length=3&dim=6", "row,length,dim", "x"),
        ):
            problem = self.assert_problem(
                self.apply(scheme, f"{query}&axes={axes}", file_of({name: weights})),
                422,
                "axes",
            )
            self.assertIn(
                f"names without {axes.split(',')[0]}: that is an axis of the encoding",
                problem["detail"],
            )

    def test_infinities_and_nan_are_as_ieee_754_has_them(self):
        table = numpy.array([[1, math.inf, 2, 3], [math.nan, 1, 2, math.inf]])
        found = self.array("rope", "length=2&dim=4", table)
        self.assertTrue(
            numpy.array_equal(found[0], [1, math.inf, 2, math.nan], equal_nan=True), found
        )
        self.assertTrue(
            numpy.array_equal(
                found[1], [math.nan, -math.inf, math.nan, math.inf], equal_nan=True
            ),
            found,
        )
        for dtype, canonical in (
            ("f64", 0x7FF8000000000000),
            ("f32", 0x7FC00000),
            ("f16", 0x7E00),
        ):
            bits = self.array("rope", f"length=2&dim=4&dtype={dtype}", table)[1, :1].view(
                DTYPES[dtype][1]
            )
            self.assertEqual(int(bits[0]), canonical)

    def test_sums_that_overflow_on_the_way_but_not_in_the_end_are_right(self):
        largest = numpy.finfo(numpy.float64).max
        table = numpy.array([[largest, largest]] * 3)
        found = self.array("rope", "positions=1,4,2&dim=2", table)
        expected = [
            nearest(number, "f64")
            for r, position in enumerate((1, 4, 2))
            for number in turned(table[r], waves([position], 2)[0], [(0, 1)])
        ]
        self.assertEqual(found.ravel().tolist(), expected)
        self.assertTrue(math.isinf(found[0, 1]) and math.isfinite(found[0, 0]))

    def test_rotations_of_query_and_key_make_their_product_relative(self):
        random = numpy.random.default_rng(6)
        query, key = random.standard_normal((2, 64))
        far = self.array("rope", "positions=1000003,1000010&dim=64", numpy.stack([query, key]))
        near = self.array("rope", "positions=0,7&dim=64", numpy.stack([query, key]))
        self.assertAlmostEqual(far[0] @ far[1], near[0] @ near[1], delta=1e-12)


class AllSchemes(ApplyCase):
    """APPLY_ELEMENTS in the environment: how many elements of all schemes together are checked
    at least."""

    wanted = int(os.environ.get("APPLY_ELEMENTS", 30000))

    def test_every_scheme_that_is_applied_has_a_case(self):
        applies = {
            scheme["name"]: scheme["applies"]
            for scheme in self.get("/v1/schemes").json()["schemes"]
        }
        self.assertEqual(
            {name for name, rows in applies.items() if rows},
            set(applied_schemes.CASES) | {"floater"},
        )

    def check_case(self, random, scheme, query, repeats):
        """Check all results of a request for all dtypes; returns how many elements."""
        checked = 0
        for name, shape, result, exact in applied_schemes.results(scheme, query):
            while repeats > 1 and repeats in shape:  # which axis is that of positions?
                repeats += 1
            for dtype in DTYPES:
                out = random.choice(list(DTYPES))
                plain = bool(random.integers(2))
                bits = random_bits(random, (repeats, *shape), dtype, plain)
                found = self.applied(
                    scheme, f"{query}&dtype={out}&result={result}", {name: (dtype, bits)}
                )
                with self.subTest(scheme=scheme, query=query, dtype=dtype, out=out):
                    expected = exact(numbers_of(bits, dtype))
                    self.check(found[result], out, expected)
                    checked += len(expected)
        return checked

    def test_every_element_of_every_scheme_is_rounded_once(self):
        random = numpy.random.default_rng(8)
        cases = [
            (scheme, query)
            for scheme, queries in applied_schemes.CASES.items()
            for query in queries
        ]
        checked, each = 0, self.wanted // len(cases)
        for scheme, query in cases:
            done, repeats = 0, 1
            while done < each:
                part = self.check_case(random, scheme, query, repeats)
                done += part
                repeats = min(max(1, repeats * (each - done) // part), 200)
            checked += done
        self.assertGreaterEqual(checked, self.wanted)
        if "APPLY_ELEMENTS" in os.environ:
            print(
                f"\n{checked} elements of {len(applied_schemes.CASES)} schemes, each rounded "
                "once"
            )

    def test_floater_adds_what_it_answers_in_f64(self):
        table = numpy.load(
            io.BytesIO(
                self.assert_ok(
                    self.get("/v1/encodings/floater?length=4&dim=8&dtype=f64&format=npy")
                ).body
            )
        )
        bits = random_bits(numpy.random.default_rng(9), (4, 8), "f32", True)
        found = self.applied("floater", "length=4&dim=8", {"x": ("f32", bits)})["x"]
        self.check(
            found,
            "f32",
            [
                total([of_double(x), of_double(entry)])
                for x, entry in zip(numbers_of(bits, "f32").ravel(), table.ravel())
            ],
        )


class Against(ApplyCase):
    """A kernel's result, compared with the exact one."""

    def setUp(self):
        random = numpy.random.default_rng(10)
        self.query = random.standard_normal((2, 3, 5, 8)).astype(numpy.float32)
        self.exact = self.array("rope", "length=5&dim=8", self.query)

    def judge(self, query, kernel, status=200, dtype="f32"):
        tensors = {
            "query": ("f32", self.query.view(numpy.uint32)),
            "mine": (dtype, kernel.view(DTYPES[dtype][1])),
        }
        reply = self.apply("rope", f"length=5&dim=8&against=mine{query}", file_of(tensors))
        self.assertEqual(reply.status, status, reply.body)
        return reply.json()

    def test_the_exact_result_is_equal(self):
        found = self.judge("&tolerance=0", self.exact)
        self.assertTrue(found["equal"] and found["within_tolerance"])
        self.assertEqual(
            (found["shape"], found["dtype"], found["file"]["tensor"]),
            ([2, 3, 5, 8], "f32", "mine"),
        )
        self.assertEqual(found["request"]["url"], "/v1/encodings/rope?length=5&dim=8")
        self.assertEqual(
            [len(found["by"][name]) for name in ("axis_0", "axis_1", "length", "dim")],
            [2, 3, 5, 8],
        )

    def test_an_error_is_found_by_head_and_by_position(self):
        kernel = self.exact.copy()
        kernel[1, 2, 3, 4] = numpy.nextafter(kernel[1, 2, 3, 4], numpy.float32(9))
        found = self.judge("&axes=batch,heads,length,dim", kernel)
        self.assertEqual((found["differing"], found["max_ulps"]["at"]), (1, [1, 2, 3, 4]))
        for name, index in (("batch", 1), ("heads", 2), ("length", 3), ("dim", 4)):
            self.assertEqual(
                [part["differing"] for part in found["by"][name]],
                [int(i == index) for i in range(len(found["by"][name]))],
            )
            self.assertIn(found["by"][name][index]["max_ulps"], (0.5, 1.0))
        self.assertEqual(self.judge("&ulps=0.25", kernel, 409)["outside_tolerance"], 1)

    def test_a_layer_of_a_model_judges_as_its_scheme_does(self):
        query = numpy.random.default_rng(12).standard_normal((4, 5, 128)).astype(numpy.float32)
        exact = self.array("rope", "length=5&dim=128&rope_theta=500000", query)
        for change, status in ((0, 200), (0.5, 409)):
            kernel = exact.copy()
            kernel[2, 3, 4] += change
            tensors = {"query": query, "mine": kernel}
            body = file_of(
                {name: ("f32", one.view(numpy.uint32)) for name, one in tensors.items()}
            )
            target = "/v1/apply?model=llama-3-8b&length=5&against=mine&tolerance=0"
            reply = self.server.request("POST", target, {"Content-Type": SAFETENSORS}, body)
            self.assertEqual(reply.status, status, reply.body)
            self.assertEqual(reply.json()["differing"], int(status == 409))

    def test_the_dtype_is_that_of_the_kernels_result(self):
        found = self.judge("", self.exact.astype(numpy.float16), dtype="f16")
        self.assertEqual(found["dtype"], "f16")
        self.assertLessEqual(found["differing"], 1)  # rounding twice

    def test_nan_is_equal_to_nan(self):
        self.query[0, 0, 0, 0] = math.nan
        exact = self.array("rope", "length=5&dim=8", self.query)
        self.assertTrue(numpy.isnan(exact[0, 0, 0, 4]))
        self.assertTrue(self.judge("", exact)["equal"])

    def test_a_comparison_needs_one_result_of_that_shape(self):
        self.judge("", self.exact[1].copy(), 422)
        bits = self.exact.view(numpy.uint32)
        tensors = {name: ("f32", bits) for name in ("query", "key", "mine")}
        self.refuse(400, "result", "rope", "length=5&dim=8&against=mine", file_of(tensors))
        self.assert_ok(
            self.apply("rope", "length=5&dim=8&against=mine&result=key", file_of(tensors))
        )
        self.refuse(
            422,
            "against",
            "rope",
            "length=5&dim=8&against=yours&result=key",
            file_of({"key": ("f32", bits)}),
        )
        self.assertIn(
            "result must be one of query, key, as against compares with one result",
            self.apply("rope", "length=5&dim=8&against=mine", file_of(tensors)).json()[
                "detail"
            ],
        )
        self.refuse(422, "against", "rope", "length=5&dim=8&against=mine", npy(self.exact), NPY)
        self.refuse(400, "ulps", "rope", "length=5&dim=8&ulps=1", npy(self.exact), NPY)

    def test_a_tensor_to_compare_with_is_no_input_whatever_its_name(self):
        query, exact = (("f32", array.view(numpy.uint32)) for array in (self.query, self.exact))
        for result in ("", "&result=query", "&result=key"):
            problem = self.assert_problem(
                self.apply(
                    "rope", f"length=5&dim=8&against=query{result}", file_of({"query": query})
                ),
                422,
                "body",
            )
            self.assertIn(
                "tensors besides that of against that are called query, key", problem["detail"]
            )
        for name in ("key", "any"):
            reply = self.assert_ok(
                self.apply(
                    "rope",
                    "length=5&dim=8&against=query",
                    file_of({name: query, "query": exact}),
                )
            )
            self.assertTrue(reply.json()["equal"])

    def test_an_array_of_which_there_are_several_results_needs_one(self):
        bits = numpy.ones((4, 4), numpy.float32)
        problem = self.assert_problem(
            self.apply("complex_order", "length=4&dim=4&vocab=10", npy(bits), NPY),
            400,
            "result",
        )
        self.assertIn("one of real, imag, as an npy file has one array", problem["detail"])
        self.assert_ok(
            self.apply("complex_order", "length=4&dim=4&vocab=10&result=imag", npy(bits), NPY)
        )


class Files(ApplyCase):
    def test_names_and_shapes_that_do_not_fit_are_refused(self):
        table = numpy.zeros((3, 8), numpy.float32)
        self.refuse(422, "shape", "rope", "length=4&dim=8", npy(table), NPY)
        self.refuse(422, "shape", "rope", "length=3&dim=6", npy(table), NPY)
        self.refuse(422, "shape", "rope", "length=3&dim=8", npy(table[0]), NPY)
        self.refuse(422, "dtype", "rope", "length=3&dim=8", npy(table.astype(numpy.int32)), NPY)
        self.refuse(422, "dtype", "rope", "length=3&dim=8&dtype=bf16", npy(table), NPY)
        self.refuse(422, "cos_sin", "rope", "length=3&dim=8&cos_sin=true", npy(table), NPY)
        self.refuse(422, "scheme", "fourier", "sizes=2,3&bands=2", npy(table), NPY)
        self.assertEqual(self.apply("rope", "length=3&dim=8", table.tobytes(), RAW).status, 415)
        self.assertEqual(self.apply("rpoe", "length=3&dim=8", npy(table), NPY).status, 404)
        for option, value in (
            ("dtype", "f31"),
            ("inverse", "maybe"),
            ("scale", "1"),
            ("axis", "1"),
            ("format", "npy"),
        ):
            self.refuse(
                400, option, "rope", f"length=3&dim=8&{option}={value}", npy(table), NPY
            )
        self.refuse(
            400, "inverse", "sinusoidal", "length=3&dim=8&inverse=true", npy(table), NPY
        )
        self.refuse(422, "scale", "sinusoidal", "length=3&dim=8&scale=1e30", npy(table), NPY)
        bits = table.view(numpy.uint32)
        self.refuse(
            422,
            "body",
            "rope",
            "length=3&dim=8",
            file_of({"query": ("f32", bits), "value": ("f32", bits)}),
        )
        self.refuse(
            400,
            "result",
            "rope",
            "length=3&dim=8&result=value",
            file_of({"query": ("f32", bits)}),
        )

    def test_one_tensor_may_have_any_name_and_results_keep_names_and_order_of_size(self):
        bits = numpy.zeros((3, 8), numpy.uint32)
        self.assertEqual(
            list(self.applied("rope", "length=3&dim=8", {"layer.q": ("f32", bits)})),
            ["layer.q"],
        )
        both = {"query": ("f16", bits.astype(numpy.uint16)), "key": ("f32", bits)}
        found = self.applied("rope", "length=3&dim=8", both)
        self.assertEqual(
            [(name, dtype) for name, (dtype, _) in found.items()],
            [("key", "f32"), ("query", "f16")],
        )
        self.assertEqual(
            list(self.applied("rope", "length=3&dim=8&result=query", both)), ["query"]
        )

    def test_names_of_tensors_keep_all_their_bytes_or_are_refused(self):
        bits = numpy.zeros((3, 8), numpy.uint32)
        for name in ("a" * 128, "é" * 64):
            self.assertEqual(
                list(self.applied("rope", "length=3&dim=8", {name: ("f32", bits)})), [name]
            )
        for name in ("a" * 129, "a" + "é" * 64):
            problem = self.assert_problem(
                self.apply("rope", "length=3&dim=8", file_of({name: ("f32", bits)})),
                422,
                "file_tensor",
            )
            self.assertIn("at most 128 bytes", problem["detail"])

    def test_a_file_ends_with_its_last_tensor(self):
        file = file_of({"query": ("f32", numpy.zeros((3, 8), numpy.uint32))})
        self.assert_ok(self.apply("rope", "length=3&dim=8", file))
        self.refuse(400, "body", "rope", "length=3&dim=8", file + b"\0")
        self.refuse(400, "data_offsets", "rope", "length=3&dim=8", file[:-1])

    def test_long_tensors_come_in_pieces_that_fit(self):
        random = numpy.random.default_rng(7)
        table = random.standard_normal((3, 4097, 96)).astype(numpy.float32)
        found = self.array("rope", "length=4097&dim=96", table)
        part = self.array("rope", "positions=4096&dim=96", table[1, 4096:])
        numpy.testing.assert_array_equal(found[1, 4096:], part)
        again = self.array("rope", "length=4097&dim=96", table[2])
        numpy.testing.assert_array_equal(found[2], again)

    def test_schemes_say_what_they_are_applied_to(self):
        schemes = {
            scheme["name"]: scheme["applies"]
            for scheme in self.get("/v1/schemes").json()["schemes"]
        }
        self.assertEqual([row["input"] for row in schemes["rope"]], ["query", "key"])
        self.assertEqual(schemes["sinusoidal"][0]["shape"], "[..., length, dim]")
        for name in ("integer", "normalized", "fourier", "random_fourier"):
            self.assertIsNone(schemes[name])


if __name__ == "__main__":
    unittest.main()
