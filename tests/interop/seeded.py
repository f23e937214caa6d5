"""Seeded tensors by the documented generator, as the golden writer has it."""

import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
from mpmath import mp

sys.path.append(str(Path(__file__).resolve().parents[1] / "golden"))
import philox  # noqa: E402

PRECISION = 200  # bits that decide how its logarithms and cosines are rounded


def normal(seed, name, index, std):
    """One element as a Fraction."""
    with mp.workprec(PRECISION):
        return philox.normal(Fraction(std), *philox.draw(seed, name, index))


def matrix(seed, name, rows, columns, std):
    """A tensor in double."""
    return np.array(
        [
            [
                float(normal(seed, name, row * columns + column, std))
                for column in range(columns)
            ]
            for row in range(rows)
        ]
    )


def xavier(fan_in, fan_out):
    """The standard deviation of xavier_normal."""
    with mp.workprec(PRECISION):
        return philox.rn(mp.sqrt(philox.mpf(philox.rn(Fraction(2, fan_in + fan_out)))))
