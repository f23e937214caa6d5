"""Entries of the sine tables are mpmath's, rounded once, bit for bit."""

import random
from fractions import Fraction

import exact
from exact_comparison import COLUMNS, REAL_DTYPES, RULES, ExactTest, print_tally
from service import REAL, ServiceTest

tearDownModule = print_tally


class WindowTest(ExactTest):
    def test_positions_0_to_10000_are_exact(self):
        self.check_window("0 … 10000", 0, 1, 10001)

    def test_positions_around_a_million_are_exact(self):
        self.check_window("10^6 ± 2000", 10**6 - 2000, 1, 4001)

    def test_positions_around_a_billion_are_exact(self):
        self.check_window("10^9 ± 2000", 10**9 - 2000, 1, 4001)

    def test_positions_around_2_to_the_40_are_exact(self):
        self.check_window("2^40 ± 2000", 2**40 - 2000, 1, 4001)

    def test_positions_around_2_to_the_48_are_exact_in_f64_as_promised(self):
        self.check_window("2^48 - 1000 … 2^48", 2**48 - 1000, 1, 1001)

    def test_positions_up_to_2_to_the_53_are_exact(self):
        self.check_window("2^53 - 2000 … 2^53", 2**53 - 2000, 1, 2001)
        self.check_window("2^53 - 2000 … 2^53", -(2**53), 1, 500)

    def test_negative_positions_are_exact(self):
        self.check_window("negative integers", -5000, 1, 5100)
        self.check_window("negative integers", 100, -3, 1000)
        self.check_window("negative integers", -(10**9), 1, 1000)

    def test_tenths_are_taken_as_the_nearest_double_times_the_row(self):
        self.check_window("steps of 0.1", 0, 0.1, 3000)
        self.check_window("steps of 0.1", -100, 0.1, 2000)
        self.check_window("steps of 0.1", 10**6 + 0.1, 0.1, 1000)
        self.check_window("steps of 0.1", 2**40, -0.1, 1000)
        self.check_window("steps of 0.1", 2**53 - 200, 0.1, 1000)

    def test_quarters_thirds_and_wide_steps_are_exact(self):
        self.check_window("other steps", -50, 0.25, 1000)
        self.check_window("other steps", 0.7, 1 / 3, 1000)
        self.check_window("other steps", 5.5, 12345.678, 1000)
        self.check_window("other steps", -3e-5, 1e-9, 500)
        self.check_window("other steps", 0, 2**40, 1000)
        self.check_window("other steps", 0.5, 0, 3)


class ShapeTest(ExactTest):
    """Kernels work in blocks of columns and rows, and write large tables by other means."""

    LAYOUTS = ("interleaved", "concat", "concat_cos_first")

    def check_layouts(self, place, dim, offset, step, count, dtypes, **more):
        offset, step = Fraction(offset), Fraction(step)
        positions = [offset + row * step for row in range(count)]
        for layout in self.LAYOUTS:
            self.check(
                place, "sinusoidal", {"layout": layout, **more}, positions, step, dtypes, dim
            )

    def test_tables_of_every_width_are_exact(self):
        for dim in (2, 62, 64, 66, 126, 128, 130, 254, 256, 258):
            self.check_layouts("widths", dim, 12345, 1, 70, ("f32",))
        for dim in (3, 127, 129, 131, 257):
            for odd_dim in ("truncate", "pad"):
                self.check_layouts("widths", dim, -33, 1, 67, ("f32",), odd_dim=odd_dim)
        for scheme, options in RULES[2:]:
            for dim in (63, 65, 127, 130):
                odd = {"odd_dim": "truncate"} if scheme == "sinusoidal" else {}
                self.check(
                    "widths",
                    scheme,
                    {**options, **odd},
                    [Fraction(row) for row in range(-40, 40)],
                    Fraction(1),
                    ("f32",),
                    dim,
                )

    def test_wide_tables_are_exact_in_every_dtype_and_at_every_place(self):
        for offset, step in (
            (-70, 1),
            (2**40 - 65, 1),
            (63, -1),
            (0.1, 0.1),
            (-3, 1 / 64),
            (7, 1000003),
        ):
            self.check_layouts("widths", 142, offset, step, 131, REAL_DTYPES)

    def test_tables_of_many_megabytes_are_exact(self):
        dim, step = 130, Fraction(1)
        positions = [Fraction(999 + row) for row in range(16200)]
        whole = exact.Table(exact.sinusoidal_columns(dim), positions, 1.0, step)
        for layout, dtypes in (
            ("interleaved", ("f32", "f64")),
            ("concat", ("f32",)),
            ("concat_cos_first", ("f64",)),
        ):
            table = whole.arranged(exact.sinusoidal_columns(dim, layout=layout))
            for dtype in dtypes:
                self.compare(
                    "megabytes",
                    "sinusoidal",
                    {
                        "dim": dim,
                        "layout": layout,
                        "offset": 999,
                        "length": len(positions),
                        "dtype": dtype,
                    },
                    table,
                    dtype,
                )

    def test_sixteen_bits_of_many_megabytes_are_exact(self):
        positions = [Fraction(row) for row in range(32800)]
        self.check(
            "megabytes",
            "sinusoidal",
            {"base": 100.0},
            positions,
            Fraction(1),
            ("f16", "bf16"),
            130,
        )


class ListTest(ExactTest):
    def check_list(self, place, positions):
        for scheme, options in RULES:
            self.check(place, scheme, options, [Fraction(p) for p in positions])

    def test_a_mixed_list_is_exact(self):
        self.check_list(
            "lists",
            [
                0,
                0.5,
                -3,
                10**6,
                0.1,
                -1048575.75,
                2147483647,
                -4294967296,
                2**40 + 0.3,
                7,
                1e-6,
                63.99999,
                64,
                64.00001,
                -64,
                0.25,
                1 / 3,
                2**48,
            ],
        )
        self.check_list(
            "lists", [2**53, -(2**53), 2**53 - 1, 2**52 + 0.5, 2**50 + 0.125, 1, 0]
        )

    def test_random_fractions_of_every_size_are_exact(self):
        rng = random.Random(5)
        self.check_list(
            "lists", [rng.uniform(1, 2) * 2.0 ** rng.randint(-30, 47) for _ in range(200)]
        )

    def test_random_negative_fractions_of_every_size_are_exact(self):
        rng = random.Random(6)
        self.check_list(
            "negative fractions",
            [-rng.uniform(1, 2) * 2.0 ** rng.randint(-30, 47) for _ in range(200)],
        )

    def test_fractions_between_minus_32_and_0_are_exact(self):
        rng = random.Random(7)
        self.check_list(
            "negative fractions",
            [-rng.uniform(1, 2) * 2.0 ** rng.randint(-24, 4) for _ in range(600)],
        )
        self.check_list("negative fractions", [-0.1, -0.3, -0.001, -1e-6, -31.7])

    def test_the_digits_of_a_position_are_read_as_the_nearest_double(self):
        for text in (
            "0.1",
            "0.3333333333333333333333333333333",
            "1e6",
            "1e-3",
            "-2.5e2",
            "4503599627370497.5000000000000000000001",
            "123456789012345.678901234567",
            "1.00000000000000011102230246251565404236316680908203125",
            "1.00000000000000011102230246251565404236316680908203126",
        ):
            with self.subTest(position=text):
                got = self.bits("integer", {"positions": text, "dtype": "f64"})
                self.assertEqual(got.view(REAL["f64"]).tolist(), [[float(text)]])
                column = exact.Column("sin", exact.Geometric(10000.0, 0, 2))
                want = exact.round_entry(column, Fraction(float(text)), 1.0, "f32")
                got = self.bits("sinusoidal", {"positions": text, "dim": 2})
                self.assertEqual(got[0, 0], want)


class RandomRequestTest(ExactTest):
    """Whatever the parameters, seeded."""

    SAMPLES = 400

    def draw_positions(self, rng):
        scale = 10 ** rng.choice([0, 2, 4, 6, 9, 12, 14])
        offset = rng.choice([0.0, rng.uniform(-scale, scale), float(rng.randint(0, scale))])
        step = rng.choice([1.0, 1.0, 0.1, -1.0, rng.uniform(-3, 3), 2.0 ** rng.randint(-9, 9)])
        return offset, step, rng.randint(1, 24)

    def draw(self, rng):
        """Scheme, its options and the amplitude."""
        base = rng.choice([10000.0, 10.0, 2.0, 4.0, 1.0, 500000.0, 1e18, rng.uniform(1, 1e6)])
        dim = rng.randint(4, 40)
        if rng.random() < 0.3:
            if rng.random() < 0.5:
                return "periodic", {"dim": dim}, 1.0
            return "periodic", {"dim": dim, "base": base, "frequencies": "geometric"}, 1.0
        options = {
            "dim": dim,
            "base": base,
            "frequencies": rng.choice(["vaswani", "tensor2tensor", "per_column"]),
            "layout": rng.choice(["interleaved", "concat", "concat_cos_first"]),
            "odd_dim": rng.choice(["truncate", "pad"]),
        }
        if options["frequencies"] == "per_column":
            options["layout"] = "interleaved"
        return (
            "sinusoidal",
            options,
            rng.choice(
                [1.0, 1.0, 0.5, -3.0, 0.1, rng.uniform(-9, 9), 10.0 ** rng.randint(-30, 4), 0.0]
            ),
        )

    def test_a_sample_of_all_combinations_is_exact(self):
        rng = random.Random(8)
        for number in range(self.SAMPLES):
            (scheme, options, amplitude), dtype = self.draw(rng), rng.choice(REAL_DTYPES)
            offset, step, count = self.draw_positions(rng)
            positions = [Fraction(offset) + row * Fraction(step) for row in range(count)]
            table = exact.Table(
                COLUMNS[scheme](**options), positions, amplitude, Fraction(step)
            )
            where = {"offset": offset, "step": step, "length": count}
            if rng.random() < 0.25:
                table.positions = [Fraction(float(position)) for position in positions]
                table = exact.Table(table.columns, table.positions, amplitude)
                where = {"positions": [float(position) for position in positions]}
            if scheme == "sinusoidal":
                where["amplitude"] = amplitude
            with self.subTest(number=number):
                self.compare("random requests", scheme, {**options, **where}, table, dtype)


class PlainNumberTest(ServiceTest):
    def test_integer_entries_are_the_positions_rounded_once(self):
        rng = random.Random(9)
        for offset, step in (
            (0.0, 1.0),
            (-7.3, 0.1),
            (16777214.0, 1.0),
            (1.0, 2.0**-24),
            (2.0**40, 0.3),
            (1 + 2.0**-24, 2.0**-80),
            (-(2.0**53), 1.0),
            (1 / 3, rng.random()),
            (2049.0, -1.0),
            (257.0, 0.5),
        ):
            for dtype in REAL_DTYPES:
                if dtype == "f16" and abs(offset) > 60000:
                    continue
                want = [
                    [exact.round_rational(Fraction(offset) + row * Fraction(step), dtype)]
                    for row in range(40)
                ]
                got = self.bits(
                    "integer", {"length": 40, "offset": offset, "step": step, "dtype": dtype}
                )
                self.assertEqual(got.tolist(), want, (offset, step, dtype))

    def test_normalized_entries_are_quotients_rounded_once(self):
        for length in (1, 2, 3, 4, 1025, 1000, 16385, 10007):
            for dtype in REAL_DTYPES:
                want = [
                    [exact.round_rational(Fraction(k, max(length - 1, 1)), dtype)]
                    for k in range(length)
                ]
                got = self.bits("normalized", {"length": length, "dtype": dtype})
                self.assertEqual(got.tolist(), want, (length, dtype))
