"""What releases promise to keep: api/STABILITY.md."""

import unittest

import digests
from server import ServerCase

CHANGELOG = (digests.ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
RAISE = "a scheme whose tables change raises its revision, with a line in CHANGELOG.md"


class Tables(ServerCase):
    def test_tables_of_a_revision_keep_their_bytes(self):
        known, asked = digests.read(), 0
        for scheme in self.get("/v1/schemes").json()["schemes"]:
            name, revision = scheme["name"], scheme["revision"]
            self.assertIn(name, known, "make digests")
            self.assertEqual(known[name][0], revision, "make digests writes a new revision's")
            for query, digest in known[name][1].items():
                with self.subTest(name, query=query):
                    reply = self.get(f"/v1/encodings/{name}?{query}")
                    self.assertEqual(digests.digest(reply, query), digest, RAISE)
                    asked += 1
        self.assertGreaterEqual(asked, 2000)

    def test_they_are_of_every_dtype_and_format(self):
        information = self.get("/v1/info").json()
        for name, (_, queries) in digests.read().items():
            for dtype in information["dtypes"]:
                self.assertTrue(any(f"dtype={dtype}" in each for each in queries), name)
            for form in information["formats"]:
                wanted = f"format={form['name']}"
                self.assertTrue(any(wanted in each for each in queries), (name, wanted))

    def test_the_changelog_tells_of_revisions(self):
        for name, (revision, _) in digests.read().items():
            if revision > 1:
                with self.subTest(name):
                    self.assertTrue(digests.is_told(name, revision, CHANGELOG), RAISE)
        self.assertFalse(digests.is_told("rope", 99, CHANGELOG))


if __name__ == "__main__":
    unittest.main()
