"""The ruler is straight: the exact values that the other tests compare with."""

import random
import unittest
from fractions import Fraction

import numpy as np
from mpmath import mp

import exact

FREQUENCIES = (
    [exact.Geometric(10000.0, 2 * i, 16) for i in range(8)]
    + [exact.Geometric(1.5, 1, 3), exact.Geometric(1e18, 30, 16)]
    + [exact.Dyadic(i) for i in (0, 1, 5, 40)]
)
WALKS = [
    (Fraction(0), Fraction(1)),
    (Fraction(-(2**53)), Fraction(1)),
    (Fraction(0.1), Fraction(0.1)),
    (Fraction(10**9), Fraction(-7.3)),
    (Fraction(2**40) + Fraction(1, 8), Fraction(12345.678)),
]


class RulerTest(unittest.TestCase):
    def test_a_walk_stays_within_2_to_the_minus_300_of_mpmath(self):
        rng, rows = random.Random(1), 2 * exact.RESEED + 100
        for frequency in FREQUENCIES:
            for offset, step in WALKS:
                cosines, sines = exact.walk(frequency, offset, step, rows)
                for row in [1, exact.RESEED - 1, exact.RESEED, rows - 1, rng.randrange(rows)]:
                    with mp.workprec(700):
                        angle = (
                            frequency.mpf()
                            * mp.mpf((offset + row * step).numerator)
                            / (offset + row * step).denominator
                        )
                        for number, direct in (
                            (sines[row], mp.sin(angle)),
                            (cosines[row], mp.cos(angle)),
                        ):
                            error = abs(mp.ldexp(number, -exact.FRACTION_BITS) - direct)
                            self.assertLess(error, mp.ldexp(1, -300), (frequency, offset, row))

    def test_tables_round_like_mpmath_entry_by_entry(self):
        columns = exact.sinusoidal_columns(6) + exact.periodic_columns(5)
        for amplitude in (1.0, -2.5e-5, 1e20):
            for offset, step in WALKS:
                positions = [offset + row * step for row in range(40)]
                walked = exact.Table(columns, positions, amplitude, step)
                listed = exact.Table(columns, positions, amplitude)
                for dtype in ("f32", "f64", "bf16") + (("f16",) if amplitude < 2 else ()):
                    direct = [
                        [
                            exact.round_entry(column, position, amplitude, dtype)
                            for column in columns
                        ]
                        for position in positions
                    ]
                    np.testing.assert_array_equal(walked.rounded(dtype), direct)
                    np.testing.assert_array_equal(listed.rounded(dtype), direct)

    def test_rounding_agrees_with_the_casts_of_numpy(self):
        rng = np.random.default_rng(2)
        doubles = np.concatenate(
            [
                rng.standard_normal(500) * 10.0 ** rng.integers(-47, 4, 500),
                np.ldexp(
                    rng.integers(0, 2**26, 500).astype(float), rng.integers(-152, -20, 500)
                ),
                np.ldexp(
                    rng.integers(0, 2**13, 500).astype(float), rng.integers(-27, 1, 500)
                ),
                [
                    0.0,
                    -0.0,
                    1.0,
                    -1.0,
                    65504.0,
                    5.960464477539063e-08,
                    2.0**-149,
                    2.0**-150,
                ],
            ]
        )
        for dtype, real, bits in (
            ("f32", np.float32, np.uint32),
            ("f16", np.float16, np.uint16),
            ("f64", np.float64, np.uint64),
        ):
            fitting = doubles[np.abs(doubles) < 65520]
            cast = fitting.astype(real) + real(0)  # zeros are +0
            got = [exact.round_rational(Fraction(value), dtype) for value in fitting.tolist()]
            np.testing.assert_array_equal(np.array(got, bits), cast.view(bits))
            self.assertEqual(
                [exact.decode(pattern, dtype) for pattern in got],
                [Fraction(float(value)) for value in cast],
            )

    def test_bf16_takes_the_nearest_neighbour_and_the_even_one_of_two(self):
        rng = random.Random(3)
        patterns = [rng.randrange(0x7F7F) for _ in range(300)] + [0, 1, 0x7F, 0x80, 0x3F7F]
        for pattern in patterns:
            below, above = (exact.decode(p, "bf16") for p in (pattern, pattern + 1))
            middle, even = (below + above) / 2, pattern + pattern % 2
            hair = middle / 2**40  # far less than the last place of f32
            self.assertEqual(exact.round_rational(middle, "bf16"), even)
            self.assertEqual(exact.round_rational(middle - hair, "bf16"), pattern)
            self.assertEqual(exact.round_rational(-middle - hair, "bf16"), pattern + 1 | 0x8000)

    def test_bf16_has_the_exponents_of_f32(self):
        for value, bits in (
            (1, 0x3F80),
            (Fraction(1, 2**133), 1),
            (Fraction(1, 2**126), 0x80),
            (Fraction(-255, 2), 0xC2FF),
            (Fraction(1, 2**135), 0),
        ):
            self.assertEqual(exact.round_rational(Fraction(value), "bf16"), bits)

    def test_quarter_turns_and_origins_are_exact(self):
        dyadic = exact.Column("sin", exact.Dyadic(3))
        for position, want in (
            (0, 0),
            (8, 0x3F800000),
            (16, 0),
            (24, 0xBF800000),
            (2**53, 0),
        ):
            self.assertEqual(exact.round_entry(dyadic, Fraction(position), 1.0, "f32"), want)
        cosine = exact.Column("cos", exact.Geometric(10000.0, 1, 4))
        self.assertEqual(exact.round_entry(cosine, Fraction(0), -3.0, "f16"), 0xC200)

    def test_a_tie_is_broken_by_what_only_a_thousand_bits_show(self):
        tie = 1 + 3 * 2.0**-24  # its even neighbour is above it, but a cosine is below one
        cosine = exact.Column("cos", exact.Geometric(10000.0, 0, 2))
        self.assertEqual(exact.round_entry(cosine, Fraction(0), tie, "f32"), 0x3F800002)
        self.assertEqual(exact.round_entry(cosine, Fraction(1e-150), tie, "f32"), 0x3F800001)

    def test_the_distance_of_doubles_is_their_absolute_error(self):
        columns = exact.sinusoidal_columns(4)
        positions = [Fraction(row) for row in range(50)]
        table = exact.Table(columns, positions, 1.0, Fraction(1))
        rounded = table.rounded("f64").view(np.float64)
        self.assertLessEqual(table.distance(rounded).max(), 2.0**-53)
        error = np.ldexp(1.0, -50)
        np.testing.assert_allclose(table.distance(rounded + error), error, rtol=0.2)


if __name__ == "__main__":
    unittest.main()
