"""The ruler is straight: the exact values that the other tests compare with."""

import random
import unittest
from fractions import Fraction

import numpy as np
from mpmath import mp

import exact

FREQUENCIES = [exact.Geometric(10000.0, 2 * i, 16) for i in range(8)] + [
    exact.Geometric(1.5, 1, 3),
    exact.Geometric(1e18, 30, 16),
]
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


if __name__ == "__main__":
    unittest.main()
