"""learned, hierarchical and complex_order from sets, against exact fractions and
mpmath, bit for bit."""

import random
from fractions import Fraction

import numpy as np
from mpmath import mp

import exact
import seeded
from service import REAL, ServiceTest
from stored_sets import BFloat16, upload, wide

REAL_DTYPES = ("f32", "f64", "f16", "bf16")
STORED_DTYPES = ("<f4", "<f8", "<f2", "bf16")


def store(array, dtype):
    return BFloat16(array) if dtype == "bf16" else np.asarray(array).astype(dtype)


def fractions(array):
    """Rows of exact values."""
    return [[Fraction(value) for value in row] for row in wide(array).tolist()]


def rounded(rows, dtype):
    return [[exact.round_rational(value, dtype) for value in row] for row in rows]


class StoredTest(ServiceTest):
    def compare(self, scheme, options, rows):
        """The bits of a request against rows of exact values."""
        dtype = options.get("dtype", "f32")
        got = self.bits(scheme, options).tolist()
        self.assertEqual(got, rounded(rows, dtype), f"{scheme} {options}")


class LearnedTest(StoredTest):
    def test_stored_rows_are_rounded_once(self):
        rng = np.random.default_rng(1)
        for stored in STORED_DTYPES:
            drawn = rng.normal(0, 1, (37, 13)) * 10.0 ** rng.integers(-9, 3, (37, 13))
            table = store(drawn, stored)
            name = upload(self, f"learned-{stored.strip('<')}", {"table": table})
            rows = fractions(table)
            for dtype in REAL_DTYPES:
                self.compare("learned", {"set": name, "length": 37, "dtype": dtype}, rows)
            self.compare(
                "learned",
                {"set": name, "positions": [36, 0, 5, 5]},
                [rows[k] for k in (36, 0, 5, 5)],
            )

    def test_rows_beyond_a_stored_table_are_those_of_seed_0(self):
        table = np.random.default_rng(2).normal(0, 1, (6, 9)).astype("<f4")
        name = upload(self, "learned-extended", {"table": table})
        more = [
            [seeded.normal(0, "table", k * 9 + column, 0.02) for column in range(9)]
            for k in range(6, 20)
        ]
        self.compare(
            "learned",
            {"set": name, "length": 20, "extend": "random"},
            fractions(table) + more,
        )


class HierarchicalTest(StoredTest):
    ALPHAS = (0.4, 0.1, 0.25, 1 / 3, 0.7, 0.499999, 1e-9, 0.999)

    def extrapolated(self, table, alpha):
        """All N² rows, and the basis."""
        rows, alpha = fractions(table), Fraction(alpha)
        basis = [
            [(p - alpha * first) / (1 - alpha) for p, first in zip(row, rows[0])]
            for row in rows
        ]
        return [
            [alpha * u + (1 - alpha) * w for u, w in zip(coarse, fine)]
            for coarse in basis
            for fine in basis
        ], basis

    def test_stored_tables_are_extrapolated_exactly(self):
        rng = random.Random(3)
        for number, alpha in enumerate(self.ALPHAS + (rng.random(), rng.random())):
            stored, dtype = STORED_DTYPES[number % 4], REAL_DTYPES[number // 2 % 4]
            count, dim = rng.randint(1, 16), rng.randint(1, 9)
            values = np.random.default_rng(number).normal(0, 0.02, (count, dim))
            table = store(values, stored)
            name = upload(self, f"hierarchical-{number}", {"table": table})
            options = {"set": name, "alpha": alpha, "dtype": dtype}
            encoding, basis = self.extrapolated(table, alpha)
            with self.subTest(stored=stored, **options):
                self.compare("hierarchical", {**options, "length": count * count}, encoding)
                self.compare("hierarchical", {**options, "length": 1, "tensor": "basis"}, basis)
                self.assertEqual(encoding[:count], fractions(table))

    def test_entries_that_cancel_are_exact(self):
        """Rows that differ from the first one in the last place alone."""
        first = np.random.default_rng(4).normal(0, 1, 8)
        table = np.array([np.nextafter(first, k * 1e9) if k else first for k in range(-3, 4)])
        name = upload(self, "hierarchical-near", {"table": table.astype("<f8")})
        for alpha in self.ALPHAS:
            encoding, basis = self.extrapolated(table, alpha)
            for dtype in REAL_DTYPES:
                options = {"set": name, "alpha": alpha, "dtype": dtype}
                self.compare("hierarchical", {**options, "length": 49}, encoding)
                self.compare("hierarchical", {**options, "length": 1, "tensor": "basis"}, basis)

    def test_a_windows_rows_are_those_of_the_whole(self):
        table = np.random.default_rng(5).normal(0, 1, (40, 6)).astype("<f4")
        name = upload(self, "hierarchical-window", {"table": table})
        encoding, _ = self.extrapolated(table, 0.4)
        for options, rows in (
            ({"offset": 790, "length": 30}, encoding[790:820]),
            ({"offset": 1599, "length": 1}, encoding[-1:]),
            (
                {"offset": 1500, "length": 40, "step": -37},
                encoding[1500 : 1500 - 40 * 37 : -37],
            ),
        ):
            self.compare("hierarchical", {"set": name, **options}, rows)


class ComplexOrderTest(StoredTest):
    PRECISIONS = (300, 1500, 3000)

    def shapes(self, sharing, vocab, dim):
        return {"word_dim": (vocab, dim), "word": (vocab, 1), "dim": (dim,)}[sharing]

    def value(self, array, sharing, token, column):
        index = {"word_dim": (token, column), "word": (token, 0), "dim": (column,)}[sharing]
        return Fraction(float(wide(array)[index]))

    def entry(self, kind, amplitude, angle, dtype):
        """Bits of amplitude · cos or sin of a Fraction of radians."""
        if angle == 0:
            return exact.round_rational(amplitude if kind == "real" else Fraction(0), dtype)
        for precision in self.PRECISIONS:
            large = max(0, angle.numerator.bit_length() - angle.denominator.bit_length())
            with mp.workprec(precision + large + 64):
                radians = mp.mpf(angle.numerator) / angle.denominator
                value = mp.cos(radians) if kind == "real" else mp.sin(radians)
                value *= mp.mpf(amplitude.numerator) / amplitude.denominator
                sign, mantissa, exponent, _ = value._mpf_
            nearby = (
                Fraction(int(mantissa))
                * Fraction(2) ** int(exponent)
                * (1 + Fraction(end, 2**precision))
                * (-1) ** sign
                for end in (-1, 1)
            )
            low, high = (exact.round_rational(end, dtype) for end in nearby)
            if low == high:
                return low
        raise ArithmeticError(f"undecided: {kind} of {angle}")

    def compare_waves(self, tensors, sharing, where, positions, tokens, dtype="f32"):
        name = upload(self, f"waves-{sharing}", tensors)
        options = {
            "set": name,
            "sharing": sharing,
            "tokens": tokens,
            "dtype": dtype,
            **where,
        }
        none = {"phase": np.zeros_like(wide(tensors["frequency"]))}
        dim = tensors["amplitude"].shape[1]
        for kind in ("real", "imag"):
            want = [
                [
                    self.entry(
                        kind,
                        self.value(tensors["amplitude"], "word_dim", token, column),
                        self.value({**none, **tensors}["phase"], sharing, token, column)
                        + self.value(tensors["frequency"], sharing, token, column) * position,
                        dtype,
                    )
                    for column in range(dim)
                ]
                for position, token in zip(positions, tokens)
            ]
            got = self.bits("complex_order", {**options, "tensor": kind})
            if dtype == "f64":
                bound = 2.0**-51 * np.abs(wide(tensors["amplitude"])).max()
                error = np.abs(
                    got.view(REAL["f64"]) - np.array(want, np.uint64).view(np.float64)
                ).max()
                self.assertLessEqual(error, bound, f"{kind} {options}")
            else:
                self.assertEqual(got.tolist(), want, f"{kind} {options}")

    def draw(self, rng, sharing, stored, vocab, dim, phase=True, scale=1.0):
        shape = self.shapes(sharing, vocab, dim)
        tensors = {
            "amplitude": rng.normal(0, 1, (vocab, dim)),
            "frequency": rng.normal(0, scale, shape),
        }
        if phase:
            tensors["phase"] = rng.uniform(-np.pi, np.pi, shape)
        return {name: store(array, stored) for name, array in tensors.items()}

    def each_sharing(self, seed):
        rng = np.random.default_rng(seed)
        for number, sharing in enumerate(("word_dim", "word", "dim")):
            for stored in STORED_DTYPES:
                yield rng, sharing, stored, number % 2 == 0

    def test_stored_waves_are_exact(self):
        for rng, sharing, stored, phase in self.each_sharing(6):
            tensors = self.draw(rng, sharing, stored, 11, 7, phase)
            tokens = rng.integers(0, 11, 20).tolist()
            offset = int(10 ** rng.uniform(0, 9))
            positions = [Fraction(offset + row) for row in range(20)]
            for dtype in REAL_DTYPES:
                self.compare_waves(
                    tensors, sharing, {"offset": offset, "length": 20}, positions, tokens, dtype
                )

    def test_ways_of_more_than_106_bits_that_cancel_are_exact(self):
        """Row 3 leaves what lies just above a tie of f32, by a bit that a sum of two doubles
        has no room for; the amplitude is a tie of its own."""
        count = 2**54 + 2**30 + 1
        for exponent in (-112, -90, -80, -70):
            step = float(count // 3) * 2.0**exponent
            self.assertEqual(Fraction(step) * 3, count * Fraction(2) ** exponent)
            for offset in (2.0**52, 2.0**40, 1.0, 2.0**-10):
                positions = [Fraction(offset) + row * Fraction(step) for row in range(4)]
                for amplitude in (1, 1 + 3 * 2.0**-24):
                    tensors = {
                        "amplitude": np.full((1, 1), amplitude, float),
                        "frequency": np.ones(1),
                        "phase": np.array([-offset]),
                    }
                    self.compare_waves(
                        tensors,
                        "dim",
                        {"offset": offset, "step": step, "length": 4},
                        positions,
                        [0] * 4,
                    )
