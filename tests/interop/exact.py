"""Exact sine tables: mpmath values in fixed point, rounded once by integer arithmetic.

A window of positions is walked by complex multiplication with 320 bits, from a new mpmath value
every 1024 rows. Whatever comes within 2^-61 of a rounding boundary, and every tiny value, is
taken from mpmath directly, at a precision that rises until both ends of the error interval
round alike. Nothing here is shared with the golden writer or with the server.
"""

from collections import namedtuple
from fractions import Fraction
from functools import lru_cache

import numpy as np
from mpmath import mp

FRACTION_BITS = 320
RESEED = 1024
GUARD_BITS = 192  # for angles up to 2^54 and values down to 2^-100

# significant bits, and the exponent of the smallest subnormal
Format = namedtuple("Format", "precision smallest")
FORMATS = {
    "f32": Format(24, -149),
    "f64": Format(53, -1074),
    "f16": Format(11, -24),
    "bf16": Format(8, -133),
}

Column = namedtuple("Column", "kind frequency")  # kind: "sin" or "cos"


class Geometric(namedtuple("Geometric", "base numerator denominator")):
    """base^(-numerator/denominator) radians per position."""

    def mpf(self):
        return mp.power(mp.mpf(self.base), -mp.mpf(self.numerator) / self.denominator)


@lru_cache(maxsize=None)
def frequency_value(frequency, bits):
    with mp.workprec(bits):
        return frequency.mpf()


# ---- the columns of a scheme, from the contract's formulas ----


def sinusoidal_columns(dim, base=10000.0):
    """Sines and cosines in turn, of an even dim."""
    return [
        Column(kind, Geometric(base, 2 * i, dim))
        for i in range(dim // 2)
        for kind in ("sin", "cos")
    ]


def periodic_columns(dim):
    """Of geometric frequencies."""
    return [Column("sin", Geometric(10000.0, i, dim)) for i in range(dim)]


# ---- rounding ----


def round_scaled(magnitude, exponent, dtype):
    """The bits of magnitude · 2^exponent, a non-negative integer times a power, ties to
    even."""
    precision, smallest = FORMATS[dtype]
    if magnitude == 0:
        return 0
    quantum = max(magnitude.bit_length() + exponent - precision, smallest)
    shift = quantum - exponent
    if shift <= 0:
        kept = magnitude << -shift
    else:
        kept, half = magnitude >> shift, 1 << (shift - 1)
        rest = magnitude - (kept << shift)
        kept += rest > half or (rest == half and kept & 1)
    return kept + ((quantum - smallest) << (precision - 1))


def with_sign(bits, negative, dtype):
    """Zeros stay +0."""
    width = {"f32": 32, "f64": 64}.get(dtype, 16)
    return bits | 1 << (width - 1) if negative and bits else bits


def round_rational(value, dtype):
    """The bits of a Fraction, rounded once."""
    scaled, rest = divmod(abs(value.numerator) << 1300, value.denominator)
    return with_sign(round_scaled(scaled << 1 | (rest > 0), -1301, dtype), value < 0, dtype)


def decode(bits, dtype):
    """The finite value of an element as a Fraction."""
    precision, smallest = FORMATS[dtype]
    magnitude = bits & ((1 << ({"f32": 32, "f64": 64}.get(dtype, 16) - 1)) - 1)
    field, fraction = magnitude >> (precision - 1), magnitude & ((1 << (precision - 1)) - 1)
    value = (fraction | (field > 0) << (precision - 1)) * Fraction(2) ** (
        max(field, 1) - 1 + smallest
    )
    return -value if bits != magnitude else value


def rational_value(column, position):
    """The value of an entry where it is 0 or 1 exactly, else None. Elsewhere it is no tie of
    any binary format, being transcendental."""
    if position == 0:
        return 0 if column.kind == "sin" else 1
    return None


def round_entry(column, position, amplitude, dtype):
    """One entry's bits from mpmath, at whatever precision decides its rounding."""
    value, factor = rational_value(column, position), Fraction(amplitude)
    if value is not None:
        return round_rational(value * factor, dtype)
    bits = 256
    while bits <= 1 << 14:
        with mp.workprec(bits + GUARD_BITS):
            angle = (
                frequency_value(column.frequency, bits + GUARD_BITS)
                * position.numerator
                / position.denominator
            )
            sign, mantissa, exponent, size = (
                mp.sin(angle) if column.kind == "sin" else mp.cos(angle)
            )._mpf_
        scaled = mantissa << (bits + GUARD_BITS - size)
        exponent -= bits + GUARD_BITS - size
        low, high = (
            (scaled + error) * abs(factor.numerator)
            for error in (-1 << GUARD_BITS, 1 << GUARD_BITS)
        )
        exponent -= factor.denominator.bit_length() - 1
        if round_scaled(low, exponent, dtype) == round_scaled(high, exponent, dtype):
            return with_sign(
                round_scaled(low, exponent, dtype), bool(sign) != (factor < 0), dtype
            )
        bits *= 2
    raise ArithmeticError(f"undecided: {column} at {position} times {amplitude}")


# ---- walking ----


def turn(frequency, position):
    """Cosine and sine of frequency · position as integers, in units of 2^-FRACTION_BITS."""
    bits = FRACTION_BITS + GUARD_BITS
    with mp.workprec(bits):
        angle = frequency_value(frequency, bits) * position.numerator / position.denominator
        return (
            int(mp.floor(mp.ldexp(mp.cos(angle), FRACTION_BITS))),
            int(mp.floor(mp.ldexp(mp.sin(angle), FRACTION_BITS))),
        )


def walk(frequency, offset, step, count):
    """Lists of cosines and sines, as `turn` gives them, of offset + r · step."""
    by_cosine, by_sine = turn(frequency, step)
    cosines, sines = [], []
    for start in range(0, count, RESEED):
        c, s = turn(frequency, offset + start * step)
        for _ in range(min(RESEED, count - start)):
            cosines.append(c)
            sines.append(s)
            c, s = (
                (c * by_cosine - s * by_sine) >> FRACTION_BITS,
                (s * by_cosine + c * by_sine) >> FRACTION_BITS,
            )
    return cosines, sines


def leading_bits(numbers):
    """Sign, leading 64 bits and bit length of integers; leading is 0 where there are fewer than
    96 bits: too few to be trusted."""
    sizes = [number.bit_length() for number in numbers]
    leading = [
        abs(number) >> (size - 64) if size >= 96 else 0 for number, size in zip(numbers, sizes)
    ]
    return (
        np.array([number < 0 for number in numbers]),
        np.array(leading, np.uint64),
        np.array(sizes, np.int64),
    )


class Table:
    """The exact entries of columns at positions (Fractions), times an amplitude."""

    def __init__(self, columns, positions, amplitude=1.0, step=None):
        """`step` says that the positions are evenly spaced by it: they are walked then."""
        self.columns, self.positions, self.amplitude = columns, positions, amplitude
        shape = (len(positions), len(columns))
        self.negative = np.zeros(shape, bool)
        self.leading = np.zeros(shape, np.uint64)  # value = leading · 2^(exponent - 64)
        self.exponent = np.zeros(shape, np.int64)
        factor = Fraction(amplitude)
        scale = factor.denominator.bit_length() - 1 + FRACTION_BITS
        for frequency in dict.fromkeys(c.frequency for c in columns):
            if step is None:
                both = list(zip(*(turn(frequency, position) for position in positions)))
            else:
                both = walk(frequency, positions[0], step, len(positions))
            for kind, numbers in zip(("cos", "sin"), both):
                if Column(kind, frequency) not in columns:
                    continue
                at = columns.index(Column(kind, frequency))
                if factor != 1:
                    numbers = [number * factor.numerator for number in numbers]
                self.negative[:, at], self.leading[:, at], sizes = leading_bits(numbers)
                self.exponent[:, at] = sizes - scale

    def rounded(self, dtype):
        """The bits of all entries. Positions too small for fixed point are asked one by one."""
        precision, smallest = FORMATS[dtype]
        drop = np.maximum(64 - precision, 64 + smallest - self.exponent)
        shift = np.minimum(drop, 60).astype(np.uint64)
        kept = self.leading >> shift
        rest = self.leading - (kept << shift)
        half = np.uint64(1) << (shift - np.uint64(1))
        near = np.where(rest > half, rest - half, half - rest) <= 4
        bits = (
            kept
            + (rest > half)
            + (
                (drop - 64 + self.exponent - smallest).astype(np.uint64)
                << np.uint64(precision - 1)
            )
        )
        top = {"f32": 31, "f64": 63}.get(dtype, 15)
        bits |= (self.negative & (bits != 0)).astype(np.uint64) << np.uint64(top)
        for row, column in zip(*np.nonzero((self.leading == 0) | near | (drop > 60))):
            bits[row, column] = round_entry(
                self.columns[column], self.positions[row], self.amplitude, dtype
            )
        return bits

    def distance(self, doubles):
        """The absolute error of f64 entries."""
        high = np.ldexp((self.leading >> np.uint64(11)).astype(float), self.exponent - 53)
        low = np.ldexp((self.leading & np.uint64(2047)).astype(float), self.exponent - 64)
        sign = np.where(self.negative, -1.0, 1.0)
        for row, column in zip(*np.nonzero(self.leading == 0)):
            value = decode(
                round_entry(self.columns[column], self.positions[row], self.amplitude, "f64"),
                "f64",
            )
            high[row, column], low[row, column], sign[row, column] = float(value), 0, 1
        return np.abs((doubles - sign * high) - sign * low)
