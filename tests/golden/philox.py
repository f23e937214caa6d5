"""Seeded tensors: every element of a seeded tensor, from its seed, name and index alone.

Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"): multipliers
D2511F53 and CD9E8D57, Weyl increments 9E3779B9 and BB67AE85, ten rounds.

    key      low and high 32 bits of the seed, an integer in 0 ... 2^53
    counter  low and high 32 bits of the element index e = row * columns + column (row-major,
             rows without end), then low and high 32 bits of the tensor's tag
    tag      64-bit FNV-1a hash of the tensor's name in UTF-8 (offset basis
             cbf29ce484222325, prime 100000001b3)
    draw     from the output words x0 x1 x2 x3:
             u = (((x1 << 32) | x0) >> 11) * 2^-53 + 2^-54   in (0,1)
             v = (((x3 << 32) | x2) >> 11) * 2^-53           in [0,1)

One block is one element. v is a double; u is an odd multiple of 2^-54, which above 1/2 has one
bit more than a double holds and is not to be rounded: there 1 - u is a double, and log u is
log1p(-(1 - u)). With RN(x) the double nearest to the exact x, ties to even:

    normal   z = RN(RN(sqrt(RN(-2 * RN(log u)))) * RN(cos(2 pi v))), value RN(std * z)
    uniform  on [-a, a): RN(a * (2u - 1)); 2u - 1 is exact
    trunc    normal within two standard deviations: RN(std * RN(quantile)), where quantile is
             InvPhi(Phi(-2) + (Phi(2) - Phi(-2)) * u) = sqrt 2 * erfinv(erf(sqrt 2) * (2u - 1))

A value is then rounded to the dtype once, and every zero is +0.
"""

from fractions import Fraction

import mpmath
from floats import nearest_double_of as rn  # the docstring's RN

WORD = 0xFFFFFFFF


def philox(counter, key):
    x0, x1, x2, x3 = counter
    k0, k1 = key
    for _ in range(10):
        p0, p1 = 0xD2511F53 * x0, 0xCD9E8D57 * x2
        x0, x1, x2, x3 = (p1 >> 32) ^ x1 ^ k0, p1 & WORD, (p0 >> 32) ^ x3 ^ k1, p0 & WORD
        k0, k1 = (k0 + 0x9E3779B9) & WORD, (k1 + 0xBB67AE85) & WORD
    return x0, x1, x2, x3


def tag(name):
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def draw(seed, name, index):
    """u and v of one element."""
    counter = (index & WORD, index >> 32, tag(name) & WORD, tag(name) >> 32)
    x0, x1, x2, x3 = philox(counter, (seed & WORD, seed >> 32))
    u = Fraction(2 * ((x1 << 32 | x0) >> 11) + 1, 2**54)
    return u, Fraction((x3 << 32 | x2) >> 11, 2**53)


def normal(std, u, v):
    radius = rn(mpmath.sqrt(mpf(-2 * rn(mpmath.log(mpf(u))))))
    return rn(std * rn(radius * rn(mpmath.cospi(mpf(2 * v)))))


def uniform(bound, u, _v):
    return rn(bound * (2 * u - 1))


def truncated(std, u, _v):
    root = mpmath.sqrt(2)
    return rn(std * rn(root * mpmath.erfinv(mpmath.erf(root) * mpf(2 * u - 1))))


def mpf(fraction):
    """A Fraction whose denominator is a power of two, exactly."""
    return mpmath.mpf(fraction.numerator) / fraction.denominator


# Random123's kat_vectors: counter, key, output.
KNOWN_ANSWERS = (
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((WORD,) * 4, (WORD,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
)
for known_counter, known_key, known_output in KNOWN_ANSWERS:
    if philox(known_counter, known_key) != known_output:
        raise ArithmeticError("philox differs from Random123's known answers")
if tag("") != 0xCBF29CE484222325 or tag("a") != 0xAF63DC4C8601EC8C:
    raise ArithmeticError("tag differs from FNV-1a's known answers")
