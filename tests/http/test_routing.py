"""Paths and methods: 404, 405, OPTIONS, and the headers for browsers that every reply has."""

import unittest
from urllib.parse import quote

from server import ServerCase

PATHS = {
    "/": {"GET"},
    "/v1/schemes": {"GET"},
    "/v1/schemes/sinusoidal": {"GET"},
    "/v1/encodings/sinusoidal": {"GET", "POST"},
    "/v1/sets": {"GET"},
    "/v1/sets/nosuch": {"GET", "PUT", "DELETE"},
    "/v1/parameters": {"GET"},
    "/v1/parameters/nosuch": {"GET", "PUT", "DELETE"},
    "/v1/info": {"GET"},
    "/health/live": {"GET"},
    "/health/ready": {"GET"},
    "/metrics": {"GET"},
    "/openapi.json": {"GET"},
}
METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "TRACE", "BREW", "get")
EXPOSED = {
    "cache-status", "content-disposition", "content-length", "etag", "server-timing",
    "tensor-byte-order", "tensor-dtype", "tensor-name", "tensor-shape",
}  # fmt: skip


def names(value):
    """The items of a comma-separated field."""
    return {item.strip() for item in value.split(",")}


class Routing(ServerCase):
    def test_every_path_answers_other_methods_with_405_and_allow(self):
        for path, answered in PATHS.items():
            for method in METHODS:
                if method in answered:
                    continue
                with self.subTest(f"{method} {path}"):
                    reply = self.server.request(method, path)
                    problem = self.assert_problem(reply, 405, code="method_not_allowed")
                    allowed = answered | {"HEAD", "OPTIONS"}
                    self.assertEqual(names(reply.header("Allow")), allowed)
                    for allowed_method in allowed:
                        self.assertIn(allowed_method, problem["detail"])

    def test_405_does_not_depend_on_query_or_body(self):
        for target in ("/v1/encodings/sinusoidal?length=4&dim=8", "/v1/encodings/nosuch"):
            for method in ("DELETE", "PUT"):
                reply = self.server.request(method, target, body=b'{"length": 4}')
                self.assert_problem(reply, 405)
                self.assertIn("POST", names(reply.header("Allow")))

    def test_unknown_paths_are_404_for_every_method(self):
        paths = ["/v1", "/v1/", "/v2/schemes", "/v1/schemes/", "/v1/encodings"]
        paths += ["/v1/encodings/", "/v1/encodings/sinusoidal/", "/v1/encodings/sinusoidal/x"]
        paths += ["/v1/sets/", "/v1/sets/a/b"]
        paths += ["//v1/schemes", "/V1/schemes", "/v1/schemes;x", "/v1/../v1/info"]
        paths += ["/health", "/metrics/", "/openapi", "/favicon.ico"]
        paths += ["/%", "/%01", "/%2e%2e/etc/passwd", "/" + "a" * 5000]
        for path in paths:
            for method in ("GET", "POST", "DELETE", "OPTIONS"):
                with self.subTest(f"{method} {path[:40]}"):
                    self.assert_problem(self.server.request(method, path), 404)
            head = self.head(path)
            self.assertEqual((head.status, head.body), (404, b""))

    def test_paths_like_those_of_this_service_say_where_to_go(self):
        for path, here in (
            ("/healthz", "/health/live"),
            ("/health", "/health/live"),
            ("/schemas?a=1", "/v1/schemes"),
        ):
            problem = self.assert_problem(self.get(path), 404)
            self.assertEqual(problem["did_you_mean"], here, path)
            self.assertIn(f"did you mean {here}?", problem["detail"])
            self.assertEqual(self.get(here).status, 200)

    def test_unknown_schemes_are_404(self):
        names = ["x", "sinusoidal ", "sinusoidal%01", "Sinusoidal", "a" * 3000, "%ff", "é"]
        for name in (*names, "..", "%2e%2e"):
            for path in ("/v1/schemes/", "/v1/encodings/"):
                path += quote(name, safe="%")
                with self.subTest(path[:60]):
                    self.assert_problem(self.get(path), 404, code="unknown_scheme")

    def test_unknown_schemes_are_404_before_anything_else_is_judged(self):
        text = {"Content-Type": "text/plain"}
        reply = self.server.request("POST", "/v1/encodings/nosuch", text, b"x")
        self.assert_problem(reply, 404)
        self.assert_problem(self.get("/v1/encodings/nosuch?length=abc"), 404)

    def test_targets_that_are_no_path_are_refused(self):
        for target in ("v1/schemes", "?length=4", "*", "#", "http:"):
            with self.subTest(target), self.server.wire() as wire:
                self.assert_problem(wire.exchange("GET", target), 400)

    def test_a_target_in_absolute_form_is_answered_like_its_path(self):
        # "/" names its host, see below
        requests = [("GET", path, b"") for path in sorted(set(PATHS) - {"/metrics", "/"})]
        requests += [
            ("GET", "/v1/encodings/integer?length=3&format=raw", b""),
            ("GET", "/no", b""),
            ("POST", "/v1/encodings/integer", b'{"length": 3}'),
            ("PUT", "/v1/info", b""),
            ("HEAD", "/v1/info", b""),
            ("OPTIONS", "/v1/info", b""),
        ]
        headers = {"Content-Type": "application/json"}
        with self.server.wire() as wire:
            for method, path, body in requests:
                replies = []
                for target in (path, f"http://localhost{path}", f"HTTP://LOCALHOST:80{path}"):
                    wire.ask(method, target, headers, body)
                    replies.append(wire.receive(method))
                first, *others = replies
                for reply in others:
                    with self.subTest(f"{method} {path}"):
                        self.assertEqual((reply.status, reply.body), (first.status, first.body))
                        for field in ("ETag", "Allow", "Content-Type"):
                            self.assertEqual(reply.header(field), first.header(field))
            for target in ("http://localhost", "http://localhost?x=1"):
                wire.ask("GET", target)
                page = self.get("/", {"Host": "localhost"})
                self.assertEqual(wire.receive().body, page.body)

    def test_head_stands_wherever_get_does(self):
        without = {"/v1/encodings/sinusoidal", "/v1/sets/nosuch", "/metrics"}
        without.add("/v1/parameters/nosuch")
        for path in set(PATHS) - without:
            with self.subTest(path), self.server.wire() as wire:
                head, get = wire.exchange("HEAD", path), wire.exchange("GET", path)
                self.assertEqual((head.status, head.body), (200, b""))
                for field in ("Content-Type", "Content-Length", "ETag", "Cache-Control"):
                    self.assertEqual(head.header(field), get.header(field), field)
                self.assertEqual(wire.pending, b"")
        with self.server.wire() as wire:
            self.assertEqual(wire.exchange("HEAD", "/metrics").status, 200)
            self.assertEqual(wire.exchange("HEAD", "/openapi.json").status, 200)
            self.assertEqual(wire.exchange("GET", "/health/live").status, 200)


class Browsers(ServerCase):
    origin = {"Origin": "https://example.org"}

    def test_a_preflight_is_204_with_what_is_allowed(self):
        asked = {
            **self.origin,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "content-type",
        }
        for path in PATHS:
            if path.startswith(("/v1/sets", "/v1/parameters")):
                continue  # not for other origins: test_write_rules
            with self.subTest(path):
                reply = self.server.request("OPTIONS", path, asked)
                self.assertEqual((reply.status, reply.body), (204, b""))
                self.assert_open_to_browsers(reply)
                self.assertIsNone(reply.header("Content-Length"), "RFC 9110, section 8.6")
                methods = names(reply.header("Access-Control-Allow-Methods"))
                self.assertLessEqual({"GET", "HEAD", "POST"}, methods)
                self.assertFalse({"PUT", "DELETE"} & methods, "for other origins")
                headers = names(reply.header("Access-Control-Allow-Headers").lower())
                expected = {"accept", "content-type", "if-match", "if-none-match", "if-range"}
                self.assertLessEqual(expected | {"range"}, headers)
                self.assertGreater(int(reply.header("Access-Control-Max-Age")), 0)
                self.assertIsNone(reply.header("Access-Control-Allow-Credentials"))

    def test_a_preflight_leaves_the_connection_usable(self):
        with self.server.wire() as wire:
            for _ in range(3):
                self.assertEqual(wire.exchange("OPTIONS", "/v1/info").status, 204)
                self.assertEqual(wire.exchange("GET", "/v1/info").status, 200)
            self.assertEqual(wire.pending, b"")

    def test_replies_of_every_status_are_open_to_browsers(self):
        encoding = "/v1/encodings/sinusoidal"
        tag = self.get(f"{encoding}?length=4&dim=8").header("ETag")
        json_type = {"Content-Type": "application/json"}
        requests = [
            (200, "GET", f"{encoding}?length=4&dim=8", {}, None),
            (200, "GET", f"{encoding}?length=4&dim=8", {}, None),
            (200, "HEAD", f"{encoding}?length=4&dim=8", {}, None),
            (200, "POST", encoding, json_type, b'{"length": 4, "dim": 8}'),
            (200, "GET", "/metrics", {}, None),
            (200, "GET", "/health/ready", {}, None),
            (206, "GET", f"{encoding}?length=4&dim=8&format=raw", {"Range": "bytes=1-"}, None),
            (304, "GET", f"{encoding}?length=4&dim=8", {"If-None-Match": tag}, None),
            (400, "GET", encoding, {}, None),
            (400, "POST", encoding, json_type, b"{"),
            (404, "GET", "/nothing", {}, None),
            (405, "DELETE", encoding, {}, None),
            (406, "GET", f"{encoding}?length=4&dim=8", {"Accept": "text/html"}, None),
            (412, "GET", f"{encoding}?length=4&dim=8", {"If-Match": '"other"'}, None),
            (414, "GET", f"/{'a' * 20000}", {}, None),
            (415, "POST", encoding, {}, b"{}"),
            (
                416,
                "GET",
                f"{encoding}?length=4&dim=8&format=raw",
                {"Range": "bytes=999-"},
                None,
            ),
            (422, "GET", f"{encoding}?length=4&dim=7", {}, None),
        ]
        for status, method, target, headers, body in requests:
            with self.subTest(f"{status} {method}"):
                reply = self.server.request(method, target, {**self.origin, **headers}, body)
                self.assertEqual(reply.status, status)
                self.assert_open_to_browsers(reply)
                self.assertIsNone(reply.header("Access-Control-Allow-Credentials"))
                exposed = names(reply.header("Access-Control-Expose-Headers").lower())
                self.assertLessEqual(EXPOSED, exposed)


if __name__ == "__main__":
    unittest.main()
