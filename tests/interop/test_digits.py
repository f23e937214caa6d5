"""The numbers of the JSON bodies are the shortest digits that read back as the same element."""

import json
import random
from fractions import Fraction

import numpy as np

import exact
from service import ServiceTest, example_document, example_options, parameter

SCALAR = {"f32": np.float32, "f64": np.float64, "f16": np.float16}
WIDTH = {"f32": 32, "f64": 64, "f16": 16, "bf16": 16}


def significant(text):
    """The digits of a decimal without leading and trailing zeros."""
    mantissa = text.lower().lstrip("-").split("e")[0]
    return mantissa.replace(".", "").strip("0")


def magnitude(text):
    return abs(Fraction(text))


def shortest(value, reads_back):
    """The decimal of fewest digits that reads back as `value` > 0, and of those the nearest."""
    ten = Fraction(10)
    exponent = 0
    while ten**exponent <= value:
        exponent += 64
    while ten**exponent > value:
        exponent -= 1
    for digits in range(1, 18):
        unit = ten ** (exponent - digits + 1)
        below = value // unit * unit
        good = [c for c in (below, below + unit) if reads_back(c)]
        if good:
            return digits, min(good, key=lambda c: abs(c - value))
    raise ArithmeticError(f"{value} needs more than 17 digits")


class DigitsTest(ServiceTest):
    def texts_and_bits(self, scheme, options):
        """The primary tensor's number texts from JSON, and its bits from raw."""

        def post(form):
            reply = self.request(
                "POST",
                f"/v1/encodings/{scheme}",
                json.dumps({**options, "format": form}),
                {"Content-Type": "application/json"},
            )
            self.assertEqual(reply.status, 200, reply.body[:500])
            return reply

        answer = json.loads(post("json").body, parse_float=str, parse_int=str)
        raw = self.tensor(post("raw"))
        tensor = answer["tensors"][0]
        self.assertEqual([int(extent) for extent in tensor["shape"]], list(raw.shape))
        self.assertIn(tensor["dtype"], (options.get("dtype", "f32"), "i32"))
        data = np.array(tensor["data"], dtype=object)
        self.assertEqual(data.shape, raw.shape)
        return data.ravel().tolist(), raw.ravel()

    def assert_shortest(self, texts, bits, dtype, thorough):
        """`thorough` proves every number in exact arithmetic, else numpy's digits are the
        bar."""
        patterns = bits.tolist()
        back = [exact.round_rational(Fraction(text), dtype) for text in texts]
        wrong = [(t, hex(b)) for t, b, p in zip(texts, back, patterns) if b != p]
        self.assertFalse(wrong, f"{dtype}: texts that read back as something else")
        if dtype in SCALAR:
            parsed = np.array([SCALAR[dtype](text) for text in texts])
            np.testing.assert_array_equal((parsed + SCALAR[dtype](0)).view(bits.dtype), bits)
        for text, pattern in zip(texts, patterns):
            if pattern == 0:
                self.assertEqual(text, "0.0")
                continue
            self.assertRegex(text, r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?(e[-+][0-9]+)?$")
            self.assertRegex(text, r"[.e]", "a real carries a point or an exponent")
            if thorough or dtype == "bf16":
                size = pattern & ((1 << (WIDTH[dtype] - 1)) - 1)
                value = exact.decode(size, dtype)
                digits, nearest = shortest(
                    value, lambda c, size=size: exact.round_rational(c, dtype) == size
                )
                self.assertLessEqual(len(significant(text)), digits, text)
                self.assertLessEqual(abs(magnitude(text) - value), abs(nearest - value), text)
            elif dtype == "f64":
                self.assertEqual(significant(text), significant(repr(float(text))), text)
            else:
                value = SCALAR[dtype](text)
                for unique in (
                    np.format_float_scientific(value, unique=True, trim="-"),
                    np.format_float_positional(value, unique=True, trim="-"),
                ):
                    self.assertLessEqual(len(significant(text)), len(significant(unique)), text)

    def check(self, scheme, options, dtypes=("f32", "f64", "f16", "bf16"), thorough=False):
        for dtype in dtypes:
            with self.subTest(scheme=scheme, dtype=dtype, thorough=thorough):
                texts, bits = self.texts_and_bits(scheme, {**options, "dtype": dtype})
                self.assert_shortest(texts, bits, dtype, thorough)

    def test_every_schemes_example_reads_back(self):
        for scheme in self.schemes():
            options = example_document(scheme)
            answer = json.loads(self.encoding(scheme["name"], example_options(scheme)).body)
            for tensor in answer["tensors"]:
                one = {**options, "tensor": tensor["name"]}
                if tensor["dtype"] == "i32":
                    with self.subTest(scheme=scheme["name"], tensor=tensor["name"]):
                        texts, bits = self.texts_and_bits(scheme["name"], one)
                        self.assertEqual(texts, [str(n) for n in bits.view(np.int32)])
                else:
                    self.check(
                        scheme["name"],
                        one,
                        parameter(scheme, "dtype")["choices"],
                        thorough=True,
                    )

    def test_a_table_of_sines_reads_back(self):
        self.check("sinusoidal", {"length": 100, "dim": 64, "offset": 1000})

    def test_values_of_every_size_read_back(self):
        rng = random.Random(31)
        options = {"dim": 4, "positions": [rng.uniform(-99, 99) for _ in range(60)]}
        for power in range(-30, 31, 4):
            amplitude = rng.uniform(0.1, 1) * 10.0**power
            self.check(
                "sinusoidal",
                {**options, "amplitude": amplitude},
                ("f32", "f64", "bf16") + (("f16",) if amplitude < 60000 else ()),
            )

    def test_random_elements_have_the_shortest_and_nearest_digits(self):
        rng = random.Random(32)
        positions = [
            rng.uniform(1, 2) * rng.choice([-1, 1]) * 2.0 ** rng.randint(-40, 15)
            for _ in range(150)
        ]
        self.check("integer", {"positions": positions}, thorough=True)

    def test_powers_of_two_and_their_neighbours_have_the_shortest_and_nearest_digits(self):
        powers = [2.0**exponent for exponent in range(-60, 54)]
        for dtype, real in SCALAR.items():
            with np.errstate(over="ignore"):
                near = np.array([p for p in powers if dtype != "f16" or 2e-8 < p < 65000], real)
                near = np.concatenate(
                    [near, np.nextafter(near, real(0)), np.nextafter(near, real(np.inf))]
                )
            near = [value for value in near.astype(float).tolist() if value <= 2**53]
            self.check("integer", {"positions": near}, (dtype,), thorough=True)
        self.check("integer", {"positions": powers}, ("bf16",), thorough=True)

    def test_powers_of_ten_and_halves_have_the_shortest_and_nearest_digits(self):
        positions = [10.0**exponent for exponent in range(-30, 16)]
        positions += [value * 0.5 for value in range(1, 60)] + [9007199254740991, 123456789012]
        self.check("integer", {"positions": positions}, ("f32", "f64", "bf16"), thorough=True)

    def test_subnormal_and_extreme_elements_have_the_shortest_and_nearest_digits(self):
        self.check(
            "integer",
            {
                "positions": [
                    2.0**-149,
                    3 * 2.0**-149,
                    2.0**-126,
                    2.0**-126 - 2.0**-149,
                    1e-40,
                ]
            },
            ("f32",),
            thorough=True,
        )
        self.check(
            "integer",
            {"positions": [2.0**-133, 5 * 2.0**-133, 2.0**-126]},
            ("bf16",),
            thorough=True,
        )
        self.check(
            "integer",
            {"positions": [2.0**-24, 3 * 2.0**-24, 2.0**-14, 65504, -65504, 1 / 3]},
            ("f16",),
            thorough=True,
        )
        self.check(
            "integer", {"positions": [1e-300, 2.2250738585072014e-308, 1e-250]}, ("f64",)
        )
        self.check(
            "sinusoidal",
            {"positions": [0, 1], "dim": 2, "amplitude": 1e30},
            ("f32", "f64", "bf16"),
            thorough=True,
        )

    def test_every_f16_element_of_two_binades_reads_back(self):
        bits = np.arange(0x3C00, 0x4400, dtype=np.uint16)
        positions = bits.view(np.float16).astype(float).tolist()
        texts, got = self.texts_and_bits("integer", {"positions": positions, "dtype": "f16"})
        np.testing.assert_array_equal(got, bits)
        self.assert_shortest(texts, got, "f16", thorough=False)

    def test_the_parameters_are_echoed_as_the_numbers_they_are(self):
        for value in (0.1, 1e-7, 1 / 3, 123456.789, 2.0**-30, 500000.0):
            body = self.get(f"/v1/encodings/sinusoidal?length=1&dim=2&offset={value!r}").body
            self.assertEqual(json.loads(body)["parameters"]["offset"], value)


class ShortestTest(ServiceTest):
    """The proof of shortness is itself right where Python knows the answer."""

    def test_shortest_agrees_with_python_for_doubles(self):
        rng = random.Random(33)
        for _ in range(300):
            value = rng.uniform(1, 10) * 10.0 ** rng.randint(-25, 25)
            bits = exact.round_rational(Fraction(value), "f64")
            digits, nearest = shortest(
                Fraction(value), lambda c: exact.round_rational(c, "f64") == bits
            )
            self.assertEqual(digits, len(significant(repr(value))))
            self.assertEqual(
                abs(nearest - Fraction(value)), abs(Fraction(repr(value)) - Fraction(value))
            )

    def test_significant_digits_are_counted_without_zeros_at_the_ends(self):
        for text, digits in (
            ("1.0", "1"),
            ("-0.00120", "12"),
            ("1e-07", "1"),
            ("10.01", "1001"),
            ("120000.0", "12"),
            ("1.25e+20", "125"),
        ):
            self.assertEqual(significant(text), digits)
