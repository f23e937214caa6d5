"""Sums of products in integers, rounded once to an element type: what /v1/apply must answer."""

import math

import mpmath
import numpy

# {dtype: (name in a safetensors file, integers of its size, digits, exponent of the last place
# of the least number, exponent of what is infinite)}
DTYPES = {
    "f64": ("F64", numpy.uint64, 53, -1074, 1024),
    "f32": ("F32", numpy.uint32, 24, -149, 128),
    "f16": ("F16", numpy.uint16, 11, -24, 16),
    "bf16": ("BF16", numpy.uint16, 8, -133, 128),
}
PLACES = 480  # bits of an entry below its leading one


def numbers_of(bits, dtype):
    """The doubles that elements stand for."""
    if dtype == "bf16":
        return (bits.astype(numpy.uint32) << 16).view(numpy.float32).astype(numpy.float64)
    return bits.view(
        {"f64": numpy.float64, "f32": numpy.float32, "f16": numpy.float16}[dtype]
    ).astype(numpy.float64)


def random_bits(random, shape, dtype, plain=False):
    """Elements of all magnitudes, finite; or `plain`, as a model has them."""
    name, kind, digits, _, _ = DTYPES[dtype]
    size = numpy.dtype(kind).itemsize * 8
    if plain:
        values = random.standard_normal(shape)
        if dtype == "bf16":
            return (values.astype(numpy.float32).view(numpy.uint32) >> 16).astype(numpy.uint16)
        return values.astype(
            {"f64": numpy.float64, "f32": numpy.float32, "f16": numpy.float16}[dtype]
        ).view(kind)
    bits = random.integers(0, 2**size, shape, dtype=kind)
    special = (bits >> kind(digits - 1)) & kind(2 ** (size - digits) - 1) == 2 ** (
        size - digits
    ) - 1
    return numpy.where(special, bits ^ kind(1 << (size - 2)), bits)


def of_double(number):
    """(integer, exponent) of a finite double."""
    fraction, exponent = math.frexp(number)
    return int(fraction * 2**53), exponent - 53


def of_real(real):
    """(integer, exponent) of a number of mpmath, whose precision is above PLACES."""
    sign, mantissa, exponent, _ = mpmath.mpf(real)._mpf_
    return int(-mantissa if sign else mantissa), int(exponent)


def product(one, other):
    return one[0] * other[0], one[1] + other[1]


def total(terms):
    """The sum of numbers (integer, exponent)."""
    terms = [term for term in terms if term[0]]
    low = min((exponent for _, exponent in terms), default=0)
    return sum(integer << (exponent - low) for integer, exponent in terms), low


def nearest(number, dtype):
    """The element nearest to (integer, exponent), ties to even, as a double."""
    _, _, digits, least, most = DTYPES[dtype]
    integer, exponent = number
    size = abs(integer)
    if size == 0:
        return 0.0
    place = max(exponent + size.bit_length() - digits, least)
    shift = place - exponent
    if shift <= 0:
        kept = size << -shift
    else:
        kept, rest, half = size >> shift, size & ((1 << shift) - 1), 1 << (shift - 1)
        kept += rest > half or (rest == half and kept & 1)
    if kept == 0:
        return 0.0
    result = math.inf if kept.bit_length() + place > most else math.ldexp(kept, place)
    return -result if integer < 0 else result
