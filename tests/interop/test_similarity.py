"""Similarities of positions against numpy, and what they show of a small and a large base."""

import json
import unittest

import numpy as np

from service import REAL, ServiceTest, query_text

TOLERANCE = 1e-12


def l2(table):
    return np.sqrt(((table[:, None, :] - table[None, :, :]) ** 2).sum(-1))


def l1(table):
    return np.abs(table[:, None, :] - table[None, :, :]).sum(-1)


def dot(table):
    return table @ table.T


def cosine(table):
    with np.errstate(invalid="ignore"):
        norms = np.linalg.norm(table, axis=1)
        return dot(table) / np.outer(norms, norms)


def pearson(table):
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.atleast_2d(np.corrcoef(table))


METRICS = {metric.__name__: metric for metric in (l2, l1, dot, cosine, pearson)}
TABLES = (
    ("sinusoidal", {"length": 70, "dim": 48}),
    ("sinusoidal", {"length": 40, "dim": 12, "base": 10, "layout": "concat", "offset": -7}),
    ("sinusoidal", {"length": 8, "dim": 8, "preset": "seed_cls"}),  # row 0 is zero
    ("integer", {"length": 9, "offset": -3}),  # one column: no correlation at all
    ("binary", {"length": 64, "width": 6}),
    ("periodic", {"length": 33, "dim": 5}),
    ("learned", {"length": 50, "dim": 16, "seed": 7}),
    ("complex_order", {"length": 20, "dim": 8, "vocab": 3}),
    ("rope", {"length": 30, "dim": 16}),
    ("transformer_xl", {"length": 12, "dim": 8}),
)


class MatrixTest(ServiceTest):
    def table(self, scheme, options):
        """The primary tensor in double."""
        return self.bits(scheme, {**options, "dtype": "f64"}).view(REAL["f64"])

    def matrix(self, scheme, options):
        dtype = options.get("dtype", "f32")
        target = f"/v1/similarity/{scheme}?{query_text({'format': 'raw', **options})}"
        return self.tensor(self.get(target)).view(REAL[dtype])


class SimilarityTest(MatrixTest):
    def each(self):
        for scheme, options in TABLES:
            table = self.table(scheme, options)
            for metric, compute in METRICS.items():
                yield scheme, {**options, "metric": metric}, table, compute(table)

    def assert_close(self, got, want, table, metric):
        bound = TOLERANCE * max(1, np.abs(table).max() ** 2 * table.shape[1])
        np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
        defined = ~np.isnan(want)
        self.assertTrue((np.abs(got - want)[defined] <= bound).all(), metric)

    def test_every_metric_is_numpys_within_rounding(self):
        undefined = 0
        for scheme, options, table, want in self.each():
            with self.subTest(scheme=scheme, **options):
                got = self.matrix(scheme, {**options, "dtype": "f64"})
                if scheme == "integer" and options["metric"] == "pearson":
                    want = np.full((9, 9), np.nan)  # numpy would warn, and agrees
                self.assert_close(got, want, table, options["metric"])
                undefined += np.isnan(got).any()
        self.assertGreaterEqual(undefined, 4)

    def test_smaller_dtypes_are_the_double_rounded_once(self):
        for scheme, options, _, _ in self.each():
            double = self.matrix(scheme, {**options, "dtype": "f64"})
            for dtype in ("f32", "f16"):
                with self.subTest(scheme=scheme, dtype=dtype, **options):
                    np.testing.assert_array_equal(
                        self.matrix(scheme, {**options, "dtype": dtype}),
                        double.astype(REAL[dtype]),
                    )

    def test_diagonals_are_exact_and_both_halves_equal(self):
        for scheme, options, table, want in self.each():
            got = self.matrix(scheme, options)
            with self.subTest(scheme=scheme, **options):
                np.testing.assert_array_equal(got, got.T)
                if options["metric"] in ("l1", "l2"):
                    np.testing.assert_array_equal(np.diag(got), np.zeros(len(table)))
                elif options["metric"] != "dot":
                    self.assertLessEqual(set(np.diag(got)[~np.isnan(np.diag(got))]), {1.0})

    def test_json_has_null_where_nothing_is_defined(self):
        target = "/v1/similarity/integer?length=3&metric=cosine&format=json"
        (tensor,) = json.loads(self.get(target).body)["tensors"]
        self.assertEqual(tensor["name"], "similarity")
        self.assertEqual(tensor["data"], [[None] * 3, [None, 1.0, 1.0], [None, 1.0, 1.0]])

    def test_chosen_rows_are_rows_of_the_whole_in_any_order(self):
        options = {"length": 64, "dim": 32, "metric": "cosine"}
        whole, rows = self.matrix("sinusoidal", options), [63, 0, 7, 7, 31]
        np.testing.assert_array_equal(
            self.matrix("sinusoidal", {**options, "rows": rows}), whole[rows]
        )

    def test_a_post_gives_the_bytes_of_the_get(self):
        options = {"length": 16, "dim": 8, "metric": "l1", "rows": [3, 1], "format": "npy"}
        reply = self.request(
            "POST",
            "/v1/similarity/sinusoidal",
            json.dumps(options),
            {"Content-Type": "application/json"},
        )
        self.assertEqual(reply.status, 200, reply.body)
        self.assertEqual(reply.headers["Cache-Control"], "no-store")
        got = self.get(f"/v1/similarity/sinusoidal?{query_text(options)}")
        self.assertEqual(got.body, reply.body)


def order_of(values):
    return np.argsort(np.argsort(values)).astype(float)


def rank_correlation(a, b):
    return np.corrcoef(order_of(a), order_of(b))[0, 1]


class BaseTest(MatrixTest):
    """The plots of 100 positions in 64 columns with base 10 beside base 10000."""

    LENGTH = 100

    def curves(self, base):
        """l2 and pearson of position 0 with every position, as f32, checked with numpy."""
        curves = []
        options = {"length": self.LENGTH, "dim": 64, "base": base}
        table = self.table("sinusoidal", options)
        for metric in ("l2", "pearson"):
            got = self.matrix("sinusoidal", {**options, "metric": metric, "rows": [0]})[0]
            want = METRICS[metric](table)[0].astype(np.float32)
            np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-7)
            curves.append(got)
        return curves

    def test_with_base_10000_positions_part_as_they_are_further_apart(self):
        distance, correlation = self.curves(10000)
        away = np.arange(self.LENGTH)
        self.assertGreater(rank_correlation(away, distance), 0.8)
        self.assertLess(rank_correlation(away, correlation), -0.7)
        self.assertGreater(distance.argmax(), self.LENGTH * 3 / 4)
        self.assertGreater(correlation.min(), 0)  # far ones still have something in common

    def test_with_base_10_they_come_back(self):
        distance, correlation = self.curves(10)
        away = np.arange(self.LENGTH)
        self.assertLess(abs(rank_correlation(away, distance)), 0.3)
        self.assertLess(distance.argmax(), self.LENGTH / 4)
        self.assertLess(correlation.min(), -0.3)
        self.assertGreater(correlation[20:].max(), 0.05)

    def test_with_either_base_distance_and_correlation_tell_much_the_same(self):
        for base in (10, 10000):
            options = {"length": self.LENGTH, "dim": 64, "base": base}
            far = self.matrix("sinusoidal", {**options, "metric": "l2"}).ravel()
            alike = self.matrix("sinusoidal", {**options, "metric": "pearson"}).ravel()
            self.assertLess(np.corrcoef(far, alike)[0, 1], -0.9)
            # rows of sines and cosines have one norm: l2 falls with the product alone
            product = self.matrix("sinusoidal", {**options, "metric": "dot"}).ravel()
            np.testing.assert_allclose(far**2, 64 - 2 * product, atol=1e-4)


if __name__ == "__main__":
    unittest.main()
