"""Rules of relative schemes and similarities as problem documents; similarities in the
cache."""

import unittest

from decode import elements
from server import ServerCase

REFUSALS = [  # scheme, query, the parameter that is named, what the rule says
    ("alibi", "length=4&heads=8&query_length=5", "query_offset", "query_length"),
    ("alibi", "length=4&heads=8&mask=key_only&form=compact", "form", "key_only"),
    ("t5", "length=4&heads=8&num_buckets=31", "num_buckets", "even"),
    ("t5", "length=4&heads=8&max_distance=8", "max_distance", "above 8"),
    ("t5", "length=4&heads=8&max_distance=16&bidirectional=false", "max_distance", "above 16"),
    (
        "deberta",
        "length=4&dim=8&position_buckets=256&max_relative_positions=100",
        "max_relative_positions",
        "at least 130",
    ),
    ("transformer_xl", "length=4&dim=8&heads=3", "heads", "divisor of dim"),
    ("shaw", "length=4&dim=8&min_distance=1", "min_distance", "to 0"),
    ("shaw", "length=4&dim=7&source=sinusoidal", "dim", "even"),
    ("levit", "heads=2&height=4", "width", "given with height"),
    ("levit", "heads=2&height=4&width=2&length=9", "length", "height * width"),
    ("urpe", "length=4&query_length=2&query_offset=3", "query_offset", "from 0 to 3"),
    ("relative_sinusoidal", "length=4&dim=8&query_offset=2147483648", "query_offset", "2^31"),
]
SIMILARITY_REFUSALS = [
    ("sinusoidal", "length=4&dim=8&metric=l2&rows=0,4", "rows", "from 0 to 3"),
    ("sinusoidal", "length=4&dim=8&metric=l2&rows=-1", "rows", "from 0"),
    ("rotation_matrix", "length=4&dim=8&metric=l2", "scheme", "3 axes"),
    ("sinusoidal_2d", "height=2&width=2&dim=4&metric=l2", "scheme", "3 axes"),
    ("alibi", "length=4&heads=8&metric=l2", "scheme", "3 axes"),
    ("deberta", "length=4&dim=8&metric=l2", "scheme", "not real"),
    ("integer", "positions=0,300&metric=dot&dtype=f16", "dtype", "f16"),
]
TARGET = "/v1/similarity/sinusoidal?length=20&dim=16&metric=pearson"


class Rules(ServerCase):
    def check(self, target, parameter, rule):
        with self.subTest(target):
            problem = self.assert_problem(self.get(target), 422, parameter, code="out_of_range")
            self.assertIn(rule, problem["errors"][0]["allowed"])
            self.assertIn(parameter, problem["detail"])

    def test_every_rule_of_a_relative_scheme_is_named(self):
        for scheme, query, parameter, rule in REFUSALS:
            self.check(f"/v1/encodings/{scheme}?{query}", parameter, rule)

    def test_every_rule_of_a_similarity_is_named(self):
        for scheme, query, parameter, rule in SIMILARITY_REFUSALS:
            self.check(f"/v1/similarity/{scheme}?{query}", parameter, rule)

    def test_a_similarity_needs_a_metric_and_a_scheme_that_there_is(self):
        self.assert_problem(self.get("/v1/similarity/integer?length=4"), 400, "metric")
        reply = self.get("/v1/similarity/integer?length=4&metric=cosin")
        problem = self.assert_problem(reply, 400, "metric")
        self.assertEqual(problem["errors"][0]["did_you_mean"], "cosine")
        self.assert_problem(self.get("/v1/encodings/integer?length=4&metric=l2"), 400, "metric")
        problem = self.assert_problem(self.get("/v1/similarity/intger?metric=l2"), 404)
        self.assertEqual(problem["did_you_mean"], "integer")


class Similarity(ServerCase):
    flags = ("--cache-bytes", "4MiB")

    def test_a_similarity_is_kept_under_a_key_of_its_own(self):
        query = "sinusoidal?length=20&dim=16&offset=5"  # no other test needs this table
        plain = self.get(f"/v1/encodings/{query}")
        tags, computed = {plain.header("ETag")}, self.server.computed()
        for more in ("", "&rows=0,1", "&dtype=f64", "&format=npy", "&base=10"):
            target = f"/v1/similarity/{query}&metric=l2{more}"
            first = self.assert_ok(self.get(target))
            again = self.assert_ok(self.get(target))
            self.assertIn("hit", again.header("Cache-Status"))
            self.assertEqual(first.body, again.body)
            self.assertNotIn(first.header("ETag"), tags)
            tags.add(first.header("ETag"))
        self.assertEqual(self.server.computed() - computed, 4)  # two formats of one table

    def test_a_condition_is_answered_without_computing(self):
        tag = self.get(TARGET).header("ETag")
        other = self.start()
        reply = other.request("GET", TARGET, {"If-None-Match": tag})
        self.assertEqual((reply.status, reply.body), (304, b""))
        head = other.request("HEAD", f"{TARGET}&format=raw")
        self.assertEqual(head.header("Content-Length"), str(20 * 20 * 4))
        self.assertEqual(head.header("Tensor-Shape"), "20, 20")
        self.assertEqual(head.header("Tensor-Name"), "similarity")
        self.assertEqual(other.computed(), 0)

    def test_what_is_posted_is_what_is_got(self):
        body = {"length": 20, "dim": 16, "metric": "pearson", "rows": [3, 0], "format": "raw"}
        reply = self.assert_ok(self.post("/v1/similarity/sinusoidal", body))
        self.assertEqual(reply.body, self.get(f"{TARGET}&rows=3,0&format=raw").body)
        self.assertIsNone(reply.header("ETag"))
        self.assertEqual(elements("f32", reply.body)[3], 1.0)

    def test_the_document_states_the_scheme_the_metric_and_the_rows(self):
        answer = self.get(f"{TARGET}&rows=3,0").json()
        self.assertIn("sinusoidal", answer["scheme"])
        self.assertEqual(answer["parameters"]["metric"], "pearson")
        self.assertEqual(answer["parameters"]["rows"], [3, 0])
        (tensor,) = answer["tensors"]
        self.assertEqual((tensor["name"], tensor["shape"]), ("similarity", [2, 20]))

    def test_a_large_matrix_is_streamed_and_has_the_bits_of_its_rows(self):
        query = "/v1/similarity/sinusoidal?length=1000&dim=16&metric=l2&format=raw"
        whole = self.assert_ok(self.get(query))
        self.assertIn("streamed", whole.header("Cache-Status"))
        self.assertEqual(len(whole.body), 1000 * 1000 * 4)
        rows = self.assert_ok(self.get(f"{query}&rows=0,999,500"))
        self.assertNotIn("streamed", rows.header("Cache-Status"))
        for row, number in enumerate((0, 999, 500)):
            self.assertEqual(
                rows.body[row * 4000 : (row + 1) * 4000],
                whole.body[number * 4000 : (number + 1) * 4000],
            )

    def test_a_table_beyond_the_share_is_refused_whatever_the_rows(self):
        # a quarter of 4 MiB holds 8192 rows of 16 doubles
        query = "/v1/similarity/sinusoidal?dim=16&metric=l2&rows=0&format=raw"
        self.assert_ok(self.get(f"{query}&length=8192"))
        problem = self.assert_problem(self.get(f"{query}&length=8193"), 422, "length")
        self.assertIn("share of the cache", problem["errors"][0]["allowed"])


if __name__ == "__main__":
    unittest.main()
