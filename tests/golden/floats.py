"""Round exact real numbers to IEEE 754 binary formats, once, half to even.

Everything is integer arithmetic on fractions; no hardware float takes part.
"""

from collections import namedtuple
from fractions import Fraction

import mpmath

# Digits (significand bits) and exponents as in IEEE 754: values are significand * 2^exponent.
Format = namedtuple("Format", "bytes precision min_exponent max_exponent")

FORMATS = {
    "f64": Format(8, 53, -1022, 1023),
    "f32": Format(4, 24, -126, 127),
    "f16": Format(2, 11, -14, 15),
    "bf16": Format(2, 8, -126, 127),
}

# An mpf stands for some real number within this relative distance of it.
UNCERTAINTY = Fraction(1, 2**200)

# An entry known to lie between two Fractions, which must round alike.
Interval = namedtuple("Interval", "low high")

# The entry of a documented mask.
MINUS_INFINITY = "-inf"


def exact(number):
    """The value of a finite mpf as a Fraction."""
    sign, mantissa, exponent, _ = number._mpf_
    magnitude = mantissa * Fraction(2) ** exponent
    return -magnitude if sign else magnitude


def floor_log2(value):
    """The exponent e with 2^e <= value < 2^(e+1), for a positive Fraction."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    return exponent if value >= Fraction(2) ** exponent else exponent - 1


def round_bits(value, fmt):
    """The bit pattern of the Fraction rounded to the format; every zero is +0."""
    if value == 0:
        return 0
    exponent = max(floor_log2(abs(value)), fmt.min_exponent)
    quantum = Fraction(2) ** (exponent - fmt.precision + 1)
    steps = round(abs(value) / quantum)  # Fraction rounds half to even
    if steps == 0:
        return 0
    # A normal number's leading bit carries into the exponent field, and so does rounding up
    # to the next power of two; a subnormal has no such bit and leaves the field zero.
    bits = ((exponent - fmt.min_exponent) << (fmt.precision - 1)) + steps
    if bits >= infinity_bits(fmt):
        raise OverflowError(f"{float(value)} does not fit the format")
    return bits | sign_bit(fmt) if value < 0 else bits


def infinity_bits(fmt):
    return (fmt.max_exponent - fmt.min_exponent + 2) << (fmt.precision - 1)


def sign_bit(fmt):
    return 1 << (8 * fmt.bytes - 1)


def interval_of(entry):
    """The Fractions between which an entry lies; a Fraction or an integer is exact."""
    if isinstance(entry, Interval):
        return entry
    if isinstance(entry, mpmath.mpf):
        value = exact(entry)
        return Interval(value * (1 - UNCERTAINTY), value * (1 + UNCERTAINTY))
    return Interval(Fraction(entry), Fraction(entry))


def entry_bits(entry, fmt):
    """The bits of a tensor entry, which must not be too near a tie."""
    if entry is MINUS_INFINITY:
        return infinity_bits(fmt) | sign_bit(fmt)
    low, high = interval_of(entry)
    bits = round_bits(low, fmt)
    if bits != round_bits(high, fmt):
        raise ArithmeticError(f"{float(low)} is too near a rounding boundary to be decided")
    return bits


def nearest_double_of(value):
    """The double nearest to a Fraction or an mpf, as a Fraction."""
    low, high = (float(end) for end in interval_of(value))  # rounds half to even
    if low != high:
        raise ArithmeticError(f"{low} is too near a rounding boundary to be decided")
    return Fraction(low)


def encode(entries, dtype):
    """The little-endian bytes of the entries, each rounded once, in hex."""
    if dtype == "i32":
        return b"".join(entry.to_bytes(4, "little", signed=True) for entry in entries).hex()
    fmt = FORMATS[dtype]
    return b"".join(
        entry_bits(entry, fmt).to_bytes(fmt.bytes, "little") for entry in entries
    ).hex()
