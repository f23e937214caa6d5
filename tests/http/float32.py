"""Powers in float32 that are the same on every machine. Those of numpy depend on the processor:
with AVX-512 they are off by up to four units."""

import numpy


def power(base, exponent):
    """The power of numbers in float32, rounded to float32."""
    return numpy.power(numpy.float64(base), numpy.float64(exponent)).astype(numpy.float32)
