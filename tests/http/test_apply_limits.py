"""/v1/apply with small requests for large results: limits before memory, deadlines, and other
requests meanwhile."""

import time
import unittest

import numpy

from meanwhile import answered_meanwhile
from server import Server, wait_until
from test_apply import ApplyCase, SAFETENSORS, file_of

# seconds: what is done at once takes milliseconds, also under a sanitizer on a busy machine
SOON = 20


def ones(*shape):
    return "f32", numpy.ones(shape, numpy.float32).view(numpy.uint32)


def judged(queries, keys, dim):
    """A query and a kernel's scores, and the request for their comparison."""
    query = f"length={keys}&query_length={queries}&dim={dim}&against=mine"
    return query, file_of({"query": ones(queries, dim), "mine": ones(queries, keys)})


class Limits(ApplyCase):
    # an answer that is computed as it is read counts as one that is read slowly,
    # where computing is slow
    flags = ("--send-seconds", "600")

    def refuse_row(self, text, scheme, arguments, **tensors):
        before = self.server.resident()
        problem = self.assert_problem(
            self.apply(scheme, arguments, file_of(tensors)), 422, "shape"
        )
        self.assertIn(text, problem["detail"])
        self.assertLess(self.server.resident() - before, 50 << 20)

    def test_a_row_of_the_result_has_a_limit(self):
        text = "at most 1048576 elements along the axis keys of "
        self.refuse_row(
            text + "scores",
            "relative_sinusoidal",
            "length=60000000&query_length=1&dim=2",
            query=ones(1, 2),
        )
        self.refuse_row(
            text + "content_to_position",
            "deberta",
            "length=100000000&query_length=1&dim=2",
            query=ones(1, 2),
        )

    def test_a_row_of_the_input_has_a_limit(self):
        keys = 2**20 + 1
        self.refuse_row(
            "at most 1048576 elements along the last axis of weights",
            "shaw",
            f"length={keys}&query_length=1&dim=2",
            weights=ones(1, keys),
        )

    def test_the_products_of_a_row_have_a_limit(self):
        self.refuse_row(
            "at most 67108864 multiply-adds",
            "relative_sinusoidal",
            "length=10000&query_length=1&dim=65536",
            query=ones(1, 65536),
        )
        self.refuse_row(
            "at most 4194304 multiply-adds",
            "shaw",
            "length=65537&query_length=1&dim=64",
            weights=ones(1, 65537),
        )

    def test_a_row_in_pieces_is_right(self):
        random = numpy.random.default_rng(30)
        dim = 70000  # so that a block has three results
        query = "f32", random.standard_normal((1, dim)).astype(numpy.float32).view(numpy.uint32)
        found = self.applied(
            "relative_sinusoidal", f"length=9&query_length=1&dim={dim}", {"query": query}
        )["scores"][1]
        table = self.get(
            f"/v1/encodings/relative_sinusoidal?length=9&query_length=1&dim={dim}&dtype=f64"
            "&format=raw"
        ).body
        exact = numpy.frombuffer(table).reshape(9, dim) @ query[1].view(numpy.float32)[
            0
        ].astype(numpy.float64)
        numpy.testing.assert_allclose(found.view(numpy.float32)[0], exact, rtol=1e-6, atol=1e-6)

    def test_others_are_answered_while_a_row_is_computed(self):
        body = file_of({"query": ones(1, 65536)})
        replies = answered_meanwhile(
            lambda: self.apply(
                "relative_sinusoidal", "length=200&query_length=1&dim=65536", body
            ),
            lambda: self.assert_ok(self.get("/health/live")),
        )
        for reply in replies:
            self.assert_ok(reply)


class Price(ApplyCase):
    def test_a_comparison_that_would_take_minutes_is_refused_at_once(self):
        query, body = judged(1000, 4000, 2048)
        problem = self.assert_problem(
            self.apply("relative_sinusoidal", query, body), 422, "length", code="too_large"
        )
        self.assertIn("compute-cost", problem["detail"])


class WidePrice(ApplyCase):
    flags = ("--compute-cost", "1000000000")

    def test_float64_costs_what_exact_entries_take(self):
        query = "length=65536&query_length=1&dim=64"
        wide = "f64", numpy.ones((1, 64)).view(numpy.uint64)
        for dtype, tensor, status in (("f32", ones(1, 64), 200), ("f64", wide, 422)):
            body = file_of({"query": tensor})
            reply = self.apply("relative_sinusoidal", query, body)
            self.assertEqual(reply.status, status, dtype)
        self.assert_problem(reply, 422, "length", code="too_large")


class Deadline(ApplyCase):
    flags = ("--compute-cost", "0", "--compute-seconds", "1")

    def test_a_comparison_ends_at_its_deadline_and_others_are_answered_meanwhile(self):
        query, body = judged(1000, 4000, 2048)
        begun = time.monotonic()
        replies = answered_meanwhile(
            lambda: self.apply("relative_sinusoidal", query, body),
            lambda: self.assert_ok(self.get("/health/live")),
        )
        for reply in replies:
            self.assert_problem(reply, 422, code="deadline_exceeded")
        self.assertGreaterEqual(time.monotonic() - begun, len(replies))
        self.assertLess(time.monotonic() - begun, len(replies) * (1 + SOON))


class Stop(unittest.TestCase):
    def test_a_server_that_stops_and_a_client_that_leaves_end_a_comparison(self):
        server = Server("--threads", "1", "--compute-cost", "0", "--compute-seconds", "600")
        self.addCleanup(server.stop)
        query, body = judged(1000, 4000, 2048)
        ratio = 'posenc_preparation_progress_ratio{scheme="relative_sinusoidal"}'
        for leaves in (True, False):
            wire = server.wire()
            self.addCleanup(wire.close)
            wire.ask(
                "POST",
                f"/v1/apply/relative_sinusoidal?{query}",
                {"Content-Type": SAFETENSORS},
                body,
            )
            wait_until(
                lambda: 0.001 < server.metrics().get(ratio, 1) < 1,
                "the comparison is on its way",
            )
            if leaves:
                wire.close()
                wait_until(
                    lambda: server.metrics()["posenc_requests_under_way"] == 1,
                    "the comparison has ended",
                    SOON,
                )
        begun = time.monotonic()
        server.stop()
        self.assertLess(time.monotonic() - begun, SOON)


if __name__ == "__main__":
    unittest.main()
