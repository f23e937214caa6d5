"""How the pages' files are served: codings, caching, policy. `make browser` tests the pages."""

import gzip
import hashlib
import re
import unittest

from server import ServerCase, run


PAGES = ("/", "/docs")
LARGE = 200_000  # files of this size come as gzip alone


class Visualiser(ServerCase):
    def page(self, path="/"):
        reply = self.get(path)
        self.assertEqual(reply.status, 200)
        self.assertEqual(reply.header("Content-Type"), "text/html; charset=utf-8")
        return reply

    def assets(self, path="/"):
        """What a page and its style sheets name."""
        found = re.findall(r'"(/assets/[^"]+)"', self.page(path).body.decode())
        self.assertGreaterEqual(len(found), 4, found)
        styles = [self.get(each).body.decode() for each in found if each.endswith(".css")]
        names = re.findall(r'url\("?\./([^)"]+)', "".join(styles))
        return found + sorted({f"/assets/{name}" for name in names})

    def everything(self):
        return dict.fromkeys([*PAGES, *self.assets(), *self.assets("/docs")])

    def test_pages_are_revalidated(self):
        for path in PAGES:
            page = self.page(path)
            self.assertEqual(page.header("Cache-Control"), "no-cache")
            again = self.get(path, {"If-None-Match": page.header("ETag")})
            self.assertEqual((again.status, again.body), (304, b""))
            self.assertEqual(again.header("ETag"), page.header("ETag"))
            self.assertEqual(self.get(path, {"If-None-Match": '"other"'}).status, 200)
            self.assertEqual(self.get(path, {"If-Match": '"other"'}).status, 412)

    def test_a_query_changes_nothing(self):
        plain, other = self.page(), self.page("/?scheme=rope&length=4&dim=8&preset=%22%3E")
        self.assertEqual(plain.body, other.body)
        self.assertEqual(plain.header("ETag"), other.header("ETag"))

    def test_assets_are_kept_for_ever_under_the_digest_in_their_name(self):
        for path in self.everything().keys() - set(PAGES):
            with self.subTest(path):
                self.assertRegex(
                    path, r"^/assets/[a-z]+\.[0-9A-Za-z]{8}\.(js|css|svg|txt|html|woff2)$"
                )
                reply = self.get(path, {"Accept-Encoding": "gzip"})
                self.assertEqual(reply.status, 200)
                self.assertEqual(
                    reply.header("Cache-Control"), "public, max-age=31536000, immutable"
                )
                if not path.startswith("/assets/asset."):  # named by the bundler
                    digest = hashlib.sha256(gzip.decompress(reply.body)).hexdigest()
                    self.assertEqual(path.split(".")[1], digest[:8])

    def test_both_codings_carry_the_same_under_tags_of_their_own(self):
        for path in self.everything():
            with self.subTest(path):
                plain = self.get(path)
                packed = self.get(path, {"Accept-Encoding": "gzip, br"})
                self.assertEqual(packed.header("Content-Encoding"), "gzip")
                if len(gzip.decompress(packed.body)) >= LARGE:
                    self.assert_problem(plain, 406)  # http.client accepts identity alone
                    with self.server.wire() as wire:  # and this says nothing
                        silent = wire.exchange("GET", path)
                    self.assertEqual(silent.body, packed.body)
                    self.assertEqual(silent.header("Content-Encoding"), "gzip")
                    rather_not = self.get(path, {"Accept-Encoding": "identity, gzip;q=0.5"})
                    self.assertEqual(rather_not.body, packed.body)
                    continue
                self.assertIsNone(plain.header("Content-Encoding"))
                self.assertEqual(gzip.decompress(packed.body), plain.body)
                self.assertNotEqual(packed.header("ETag"), plain.header("ETag"))
                for reply in (plain, packed):
                    self.assertEqual(reply.header("Vary"), "Accept-Encoding")
                    self.assertEqual(int(reply.header("Content-Length")), len(reply.body))
                refused = self.get(path, {"Accept-Encoding": "identity;q=0, br"})
                self.assert_problem(refused, 406)

    def test_the_policy_admits_this_origin_alone(self):
        for path in self.everything():
            reply = self.get(path, {"Accept-Encoding": "gzip"})
            policy = reply.header("Content-Security-Policy").split("; ")
            self.assertIn("default-src 'self'", policy)
            self.assertIn("frame-ancestors 'self'", policy)
            self.assertNotIn("unsafe", str(policy))
            self.assertNotIn("data:", str(policy))
        for path in PAGES:
            page = self.page(path).body.decode()
            self.assertNotIn("style=", page)
            self.assertNotIn("http", page.replace("The HTTP", ""), "nothing from elsewhere")

    def test_others_may_frame_the_embedded_picture_alone(self):
        def is_open(path):
            return "frame-ancestors" not in self.get(path).header("Content-Security-Policy")

        for path in ("/?embed=1", "/?scheme=rope&embed=1", "/?embed=1&theme=dark"):
            self.assertTrue(is_open(path), path)
            tag = self.get(path).header("ETag")
            again = self.get(path, {"If-None-Match": tag})
            self.assertEqual(again.status, 304)
            self.assertNotIn("frame-ancestors", again.header("Content-Security-Policy"))
        for path in ("/", "/?embed=0", "/?embed=10", "/?noembed=1", "/?embed", "/docs?embed=1"):
            self.assertFalse(is_open(path), path)

    def test_nothing_else_is_there(self):
        for path in (
            *("/assets/x.js", "/assets/", "/assets", "/index.html", "/docs/", "/docs.html"),
            self.assets()[0] + "x",
        ):
            self.assert_problem(self.get(path), 404)

    def test_assets_answer_other_methods_with_405(self):
        for path in (*PAGES, self.assets()[0]):
            reply = self.server.request(
                "POST", path, {"Content-Type": "application/json"}, b"{}"
            )
            self.assert_problem(reply, 405, code="method_not_allowed")
            self.assertEqual(reply.header("Allow"), "GET, HEAD, OPTIONS")
            head = self.head(path)
            self.assertEqual((head.status, head.body), (200, b""))
            self.assertEqual(head.header("Content-Length"), str(len(self.get(path).body)))

    def packed_size(self, paths):
        return sum(len(self.get(path, {"Accept-Encoding": "gzip"}).body) for path in paths)

    def test_a_cold_load_is_light(self):
        late = {path for path in self.assets() if re.search(r"/math\.|\.woff2$", path)}
        self.assertGreater(len(late), 2)  # what typesets formulas comes after the picture
        linked = {path for path in self.assets() if path.startswith("/assets/documents.")}
        self.assertEqual(len(linked), 1)
        self.assertLess(self.packed_size({"/", *self.assets()} - late - linked), 250_000)
        self.assertLess(self.packed_size(late), 160_000)
        self.assertLess(self.packed_size({"/docs", *self.assets("/docs")} - linked), 550_000)

    def test_the_visualiser_does_not_load_the_reference(self):
        shared = {
            path for path in self.assets() if re.search(r"/(icon|licences?|documents)\.", path)
        }
        self.assertEqual(set(self.assets()) & set(self.assets("/docs")), shared)

    def test_problems_link_to_the_reference(self):
        for reply in (self.get("/nowhere"), self.get("/v1/encodings/rope?length=x&dim=4")):
            links = dict(re.findall(r'<([^>]+)>; rel="([^"]+)"', reply.header("Link")))
            self.assertEqual(links, {"/docs": "service-doc", "/openapi.json": "service-desc"})
            self.assertTrue(all(self.get(path).status == 200 for path in links))
            self.assertIn("Link", reply.header("Access-Control-Expose-Headers").split(", "))
        self.assertIn('<a href="/docs">', self.page().body.decode())


class Framed(ServerCase):
    """Where the operator lets others frame the page."""

    flags = ("--frame-ancestors", "https://wiki.example https://*.school.example")

    def test_those_may_frame_the_visualiser_alone(self):
        policy = self.get("/?scheme=rope").header("Content-Security-Policy")
        self.assertIn(
            "frame-ancestors 'self' https://wiki.example https://*.school.example", policy
        )
        self.assertTrue(
            self.get("/docs")
            .header("Content-Security-Policy")
            .endswith("frame-ancestors 'self'")
        )

    def test_a_list_that_is_none_is_refused_at_start(self):
        for value in ("https://a.example; script-src *", "'none'", " ", "a" * 600, "a\nb"):
            ended = run("--check-config", "--frame-ancestors", value)
            self.assertEqual(ended.returncode, 2, value)
            self.assertIn("frame-ancestors", ended.stderr)


class Source(ServerCase):
    """Where the operator says where the source is."""

    flags = ("--source-url", "https://wiki.example/posenc?branch=main#read-me")

    def test_the_service_says_where(self):
        self.assertEqual(self.get("/v1/info").json()["source"], self.flags[1])

    def test_an_address_that_is_no_link_is_refused_at_start(self):
        for value in (
            "javascript:alert(1)//://",
            "wiki.example",
            "https://",
            "https:///posenc",
            'https://wiki.example/"onclick',
            "https://wiki.example/a b",
            "https://wiki.example/ä",
            "ftp://wiki.example",
            "https://" + "a" * 600,
        ):
            ended = run("--check-config", "--source-url", value)
            self.assertEqual(ended.returncode, 2, value)
            self.assertIn("an http or https address", ended.stderr)


if __name__ == "__main__":
    unittest.main()
