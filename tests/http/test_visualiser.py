"""How the visualiser's files are served: codings, caching, policy. `make browser` tests the page."""

import gzip
import re
import unittest

from server import ServerCase


class Visualiser(ServerCase):
    def page(self):
        reply = self.get("/")
        self.assertEqual(reply.status, 200)
        self.assertEqual(
            reply.header("Content-Type"),
            "text/html; charset=utf-8",
            "the page is not built in: make deps-test, then make",
        )
        return reply

    def assets(self):
        found = re.findall(r'"(/assets/[^"]+)"', self.page().body.decode())
        self.assertGreaterEqual(len(found), 4, found)
        return found

    def test_the_page_is_revalidated(self):
        page = self.page()
        self.assertEqual(page.header("Cache-Control"), "no-cache")
        again = self.get("/", {"If-None-Match": page.header("ETag")})
        self.assertEqual((again.status, again.body), (304, b""))
        self.assertEqual(again.header("ETag"), page.header("ETag"))
        self.assertEqual(self.get("/", {"If-None-Match": '"other"'}).status, 200)
        self.assertEqual(self.get("/", {"If-Match": '"other"'}).status, 412)

    def test_a_query_is_the_pages_own_business(self):
        self.assertEqual(self.get("/?scheme=rope&length=4").body, self.page().body)

    def test_assets_are_kept_for_ever_under_the_digest_in_their_name(self):
        for path in self.assets():
            with self.subTest(path):
                self.assertRegex(path, r"^/assets/[a-z]+\.[0-9A-Za-z]{8}\.(js|css|svg|txt)$")
                reply = self.get(path)
                self.assertEqual(reply.status, 200)
                self.assertEqual(
                    reply.header("Cache-Control"), "public, max-age=31536000, immutable"
                )

    def test_both_codings_carry_the_same_under_tags_of_their_own(self):
        for path in ["/", *self.assets()]:
            with self.subTest(path):
                plain = self.get(path)
                packed = self.get(path, {"Accept-Encoding": "gzip, br"})
                self.assertEqual(packed.header("Content-Encoding"), "gzip")
                self.assertIsNone(plain.header("Content-Encoding"))
                self.assertEqual(gzip.decompress(packed.body), plain.body)
                self.assertNotEqual(packed.header("ETag"), plain.header("ETag"))
                for reply in (plain, packed):
                    self.assertEqual(reply.header("Vary"), "Accept-Encoding")
                    self.assertEqual(int(reply.header("Content-Length")), len(reply.body))
                refused = self.get(path, {"Accept-Encoding": "identity;q=0, br"})
                self.assert_problem(refused, 406)

    def test_the_policy_admits_this_origin_alone(self):
        for path in ["/", *self.assets()]:
            policy = self.get(path).header("Content-Security-Policy")
            self.assertIn("default-src 'self'", policy.split("; "))
            self.assertNotIn("unsafe", policy)
        page = self.page().body.decode()
        self.assertNotIn("style=", page)
        self.assertNotIn("http", page, "nothing from elsewhere")

    def test_nothing_else_is_there(self):
        for path in ("/assets/x.js", "/assets/", "/assets", "/index.html", self.assets()[0] + "x"):
            self.assert_problem(self.get(path), 404)

    def test_assets_answer_other_methods_with_405(self):
        for path in ("/", self.assets()[0]):
            reply = self.server.request("POST", path, {"Content-Type": "application/json"}, b"{}")
            self.assert_problem(reply, 405, code="method_not_allowed")
            self.assertEqual(reply.header("Allow"), "GET, HEAD, OPTIONS")
            head = self.head(path)
            self.assertEqual((head.status, head.body), (200, b""))
            self.assertEqual(head.header("Content-Length"), str(len(self.get(path).body)))

    def test_a_cold_load_is_light(self):
        packed = [self.get(path, {"Accept-Encoding": "gzip"}) for path in ["/", *self.assets()]]
        self.assertLess(sum(len(reply.body) for reply in packed), 250_000)


if __name__ == "__main__":
    unittest.main()
