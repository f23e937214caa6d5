"""Comparison of sine tables with mpmath's values, and a count of what was compared."""

import sys
from collections import Counter
from fractions import Fraction

import numpy as np

import exact
from service import REAL, ServiceTest

REAL_DTYPES = ("f32", "f64", "f16", "bf16")
RULES = (
    ("sinusoidal", {"frequencies": "vaswani"}),
    ("sinusoidal", {"frequencies": "tensor2tensor"}),
    ("sinusoidal", {"frequencies": "per_column"}),
    ("periodic", {"frequencies": "dyadic"}),
    ("periodic", {"frequencies": "geometric"}),
)
COLUMNS = {"sinusoidal": exact.sinusoidal_columns, "periodic": exact.periodic_columns}
F64_POSITION_MAX = 2**48
F64_ERROR = 2.0**-51

compared = {}  # place: Counter of entries by dtype and of the recipes' wrong f32 entries


def recipes(table):
    """What numpy users write in double, and what model code does in float32, both as f32."""
    k = np.array([float(position) for position in table.positions])[:, None]
    cosine = np.array([c.kind == "cos" for c in table.columns])
    size = np.array([c.frequency is not None for c in table.columns]) * table.amplitude
    for how, real in (("in_double", np.float64), ("in_float32", np.float32)):
        w = [getattr(c.frequency, how)() if c.frequency else 0 for c in table.columns]
        angle = k.astype(real) * np.array(w, real)
        yield (np.where(cosine, np.cos(angle), np.sin(angle)) * size).astype(np.float32)


def count_recipes(tally, table, bits):
    """Count the f32 entries that the recipes round to other bits."""
    for recipe, values in zip(("double", "float32"), recipes(table)):
        wrong = (values + np.float32(0)).view(np.uint32) != bits
        tally[recipe] += int(np.count_nonzero(wrong))


def print_tally():
    """To be a module's tearDownModule: what its tests have compared."""
    if not compared:
        return
    rows = [("place", "f32", "numpy f64 recipe", "float32 recipe", "f16", "bf16", "f64")]
    total = Counter()
    for place, tally in [*compared.items(), ("all", total)]:
        f32 = max(tally["f32"], 1)
        rows.append(
            (
                place,
                str(tally["f32"]),
                *(f"{tally[r]} = {tally[r] / f32:.3g}" for r in ("double", "float32")),
                *(str(tally[dtype]) for dtype in ("f16", "bf16", "f64")),
            )
        )
        if place != "all":
            total.update(tally)
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in rows]
    print(
        "\nentries compared with mpmath, and f32 entries that the usual recipes get wrong:",
        *lines,
        sep="\n",
        file=sys.stderr,
    )
    compared.clear()


class ExactTest(ServiceTest):
    """Comparison of a request with an exact table."""

    def compare(self, place, scheme, options, table, dtype):
        got = self.bits(scheme, {**options, "dtype": dtype})
        self.assertEqual(got.shape, table.leading.shape)
        if isinstance(table.columns[0].frequency, exact.Dyadic):
            place = "dyadic, all over"  # where the recipes miss every exact zero
        tally = compared.setdefault(place, Counter())
        tally[dtype] += got.size
        if dtype == "f64":
            error = table.distance(got.view(REAL["f64"]))
            bound = F64_ERROR * max(1, abs(table.amplitude))
            wrong = ~(error <= bound) | (got == 1 << 63)  # zeros are +0
            told = [f"error {e:.3g}, bound {bound:.3g}" for e in error[wrong][:5]]
        else:
            want = table.rounded(dtype)
            wrong = got != want
            if dtype == "f32":
                count_recipes(tally, table, want)
            told = [f"got {g:#x} want {w:#x}" for g, w in zip(got[wrong][:5], want[wrong][:5])]
        if wrong.any():
            where = [
                f"row {r} (position {float(table.positions[r])!r}) column {c}: "
                for r, c in np.argwhere(wrong)[:5]
            ]
            shown = {
                k: v if not isinstance(v, list) or len(v) < 8 else "…"
                for k, v in options.items()
            }
            self.fail(
                f"{scheme} {shown} dtype={dtype}: {wrong.sum()} of {wrong.size} wrong\n"
                + "\n".join(map("".join, zip(where, told)))
            )

    def check(self, place, scheme, options, positions, step=None, dtypes=REAL_DTYPES, dim=16):
        """Compare in every dtype; positions as Fractions, `step` where they are a window."""
        table = exact.Table(COLUMNS[scheme](dim, **options), positions, 1.0, step)
        if step is None:
            where = {"positions": [float(position) for position in positions]}
        else:
            where = {
                "length": len(positions),
                "offset": float(positions[0]),
                "step": float(step),
            }
        for dtype in dtypes:
            if dtype == "f64" and max(map(abs, positions)) > F64_POSITION_MAX:
                continue
            with self.subTest(scheme=scheme, **options, dtype=dtype):
                self.compare(place, scheme, {"dim": dim, **options, **where}, table, dtype)

    def check_window(self, place, offset, step, count, rules=RULES):
        offset, step = Fraction(offset), Fraction(step)
        for scheme, options in rules:
            positions = [offset + row * step for row in range(count)]
            self.check(place, scheme, options, positions, step)
