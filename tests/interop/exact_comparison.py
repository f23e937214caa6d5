"""Comparison of sine tables with mpmath's values."""

import numpy as np

import exact
from service import REAL, ServiceTest

REAL_DTYPES = ("f32", "f64", "f16", "bf16")
SCHEMES = {  # with their options
    "sinusoidal": (exact.sinusoidal_columns, {}),
    "periodic": (exact.periodic_columns, {"frequencies": "geometric"}),
}
F64_POSITION_MAX = 2**48
F64_ERROR = 2.0**-51


class ExactTest(ServiceTest):
    """Comparison of a request with an exact table."""

    def compare(self, scheme, options, table, dtype):
        got = self.bits(scheme, {**options, "dtype": dtype})
        self.assertEqual(got.shape, table.leading.shape)
        if dtype == "f64":
            error = table.distance(got.view(REAL["f64"]))
            bound = F64_ERROR * max(1, abs(table.amplitude))
            wrong = ~(error <= bound) | (got == 1 << 63)  # zeros are +0
            told = [f"error {e:.3g}, bound {bound:.3g}" for e in error[wrong][:5]]
        else:
            want = table.rounded(dtype)
            wrong = got != want
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

    def check(self, scheme, positions, step=None, dtypes=REAL_DTYPES, dim=16):
        """Compare in every dtype; positions as Fractions, `step` where they are a window."""
        columns, options = SCHEMES[scheme]
        table = exact.Table(columns(dim), positions, 1.0, step)
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
            with self.subTest(scheme=scheme, dtype=dtype):
                self.compare(scheme, {"dim": dim, **options, **where}, table, dtype)
