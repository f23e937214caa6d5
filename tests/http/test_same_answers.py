"""That the comparison of two builds notices what differs, and nothing else."""

import unittest

from comparison import ENDED, Answer, Asked, compare
from same_answers import run
from server import BINARY

PROBLEM = b'{"title": "%s", "status": 400, "errors": [{"parameter": "%s", "allowed": "%s"}]}'


def answer(body=b"abc", status=200, **fields):
    given = {"Content_Length": str(len(body)), "Content_Type": "application/json", **fields}
    return Answer(
        status, [(name.replace("_", "-"), text) for name, text in given.items()], body
    )


def problem(*texts):
    return answer(PROBLEM % texts, 400, Content_Type="application/problem+json")


class Comparison(unittest.TestCase):
    def findings(self, old, new, target="/v1/encodings/integer", headers=None):
        """What is found in both directions."""
        asked = Asked("encodings", "GET", target, headers or {})
        return [compare(asked, *pair) for pair in ((old, new), (new, old))]

    def assert_equal(self, *pair, **named):
        self.assertEqual(self.findings(*pair, **named), [None, None])

    def assert_different(self, word, *pair, **named):
        for finding in self.findings(*pair, **named):
            self.assertIsNone(finding.texts, finding)
            self.assertIn(word, finding.what)

    def assert_other_texts(self, texts, *pair, **named):
        self.assertEqual(self.findings(*pair, **named)[0].texts, texts)

    def test_every_part_of_an_answer_counts(self):
        self.assert_equal(answer(), answer())
        self.assert_different("status", answer(), answer(status=404))
        self.assert_different("body, byte 2", answer(), answer(b"abd"))
        self.assert_different("body, byte 3", answer(), answer(b"abcd"))
        self.assert_different("header etag", answer(ETag='"a"'), answer(ETag='"b"'))
        self.assert_different("header vary", answer(), answer(Vary="Accept"))
        twice = answer()._replace(fields=answer().fields * 2)
        self.assert_different("header content-length", answer(), twice)
        ended = Answer(0, [], b"Assertion", ENDED)
        self.assert_different(ENDED, answer(), ended)

    def test_what_varies_counts_by_being_there_and_by_what_the_request_gave(self):
        self.assert_equal(
            answer(Date="1", Server_Timing="1"), answer(Date="2", Server_Timing="2")
        )
        self.assert_different("header date", answer(Date="1"), answer())
        self.assert_equal(answer(X_Request_Id="a"), answer(X_Request_Id="b"))
        self.assert_different(
            "header x-request-id",
            answer(X_Request_Id="a"),
            answer(X_Request_Id="b"),
            headers={"X-Request-Id": "a"},
        )
        metrics = b'a{b="c"} %d\nprocess_cpu_seconds_total %d\n'
        self.assert_equal(
            answer(metrics % (1, 2)), answer(metrics % (1, 33)), target="/metrics"
        )
        self.assert_different(
            "body", answer(metrics % (1, 2)), answer(metrics % (2, 2)), target="/metrics"
        )

    def test_texts_are_told_from_the_rest_of_a_document(self):
        old = problem(b"Wrong", b"length", b"from 1")
        new = problem(b"Wrong", b"length", b"from one")
        self.assert_other_texts([(b"from 1", b"from one")], old, new)
        self.assert_different("body", old, problem(b"Wrong", b"dim", b"from 1"))
        self.assert_different("status", old, old._replace(status=422))
        scheme, path = b'{"name": "%s", "help": "%s"}', "/v1/schemes"
        old, new = answer(scheme % (b"a", b"old")), answer(scheme % (b"a", b"new"), ETag='"b"')
        self.assert_other_texts([(b"old", b"new")], old, new, target=path)
        self.assert_different("body", old, answer(scheme % (b"b", b"old")), target=path)
        self.assert_different("body", old, new)  # tensors have no such texts


class Servers(unittest.TestCase):
    def test_another_limit_is_found_where_it_shows_and_nowhere_else(self):
        record, _ = run((BINARY,), (BINARY, "--compute-seconds", "61"), 60, 1)
        found = {asked.target.partition("?")[0] for asked, _ in record.differences}
        self.assertEqual(found, {"/v1/info"})
        self.assertEqual((record.only_texts, record.unanswered), ([], []))
        self.assertGreater(record.count("equal"), 100)
        self.assertGreater(len(record.features), 100)


if __name__ == "__main__":
    unittest.main()
