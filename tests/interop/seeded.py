"""Seeded tensors by the documented generator, as the golden writer has it."""

import sys
from fractions import Fraction
from pathlib import Path

from mpmath import mp

sys.path.append(str(Path(__file__).resolve().parents[1] / "golden"))
import philox  # noqa: E402

PRECISION = 200  # bits that decide how its logarithms and cosines are rounded


def normal(seed, name, index, std):
    """One element as a Fraction."""
    with mp.workprec(PRECISION):
        return philox.normal(Fraction(std), *philox.draw(seed, name, index))
