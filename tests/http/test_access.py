"""Who may use the store: clients with the bearer token; without a key only clients on loopback;
never a web page."""

import os
import tempfile
import unittest

from server import Server, ServerCase
from stored import PATH, simple

KEY = "correct-horse-battery-staple"
METHODS = ("GET", "HEAD", "PUT", "DELETE", "OPTIONS", "POST", "BREW")
TARGETS = (PATH, f"{PATH}/a", f"{PATH}/A?x")


class KeyCase(ServerCase):
    """Servers with a key: `key_file` holds it."""

    @classmethod
    def setUpClass(cls):
        with tempfile.NamedTemporaryFile("w", delete=False) as file:
            file.write(KEY + "\n")
        cls.addClassCleanup(os.unlink, file.name)
        cls.flags = (*cls.flags, "--api-key-file", file.name)
        super().setUpClass()

    def ask(self, method, target, token=None, headers=None, body=None):
        given = {"Authorization": token} if token is not None else {}
        return self.server.request(method, target, {**given, **(headers or {})}, body)

    def assert_unauthorized(self, reply, method="GET"):
        self.assertEqual(reply.status, 401, reply)
        self.assertRegex(reply.header("WWW-Authenticate"), r"\ABearer realm=")
        if method != "HEAD":
            self.assert_problem(reply, 401, code="unauthorized")


class Tokens(KeyCase):
    def test_every_method_needs_the_token(self):
        for method in METHODS:
            for target in TARGETS:
                with self.subTest(f"{method} {target}"):
                    self.assert_unauthorized(self.ask(method, target), method)
                    self.assert_unauthorized(self.ask(method, target, "Bearer x"), method)
                    self.assertNotEqual(self.ask(method, target, f"Bearer {KEY}").status, 401)

    def test_with_the_token_the_store_is_open(self):
        right = f"Bearer {KEY}"
        self.assertEqual(self.ask("PUT", f"{PATH}/a", right, None, simple()).status, 201)
        self.assertEqual(self.ask("GET", f"{PATH}/a", right).body, simple())
        self.assertEqual(self.ask("GET", f"{PATH}/a", f"bEARER  {KEY}").status, 200)
        self.assertEqual(self.ask("DELETE", f"{PATH}/a", right).status, 204)
        origin = {"Origin": "https://example.org", "Host": "example.org"}
        self.assertEqual(self.ask("GET", PATH, right, origin).status, 200)

    def test_a_large_upload_without_the_token_is_not_kept_in_memory(self):
        self.get("/health/live")
        before = self.server.resident()
        reply = self.ask("PUT", f"{PATH}/a", "Bearer x", None, bytes(16 << 20))
        self.assert_unauthorized(reply)
        self.assertLess(self.server.resident() - before, 12 << 20)

    def test_everything_else_stays_open(self):
        for target in (
            "/v1/info",
            "/v1/schemes",
            "/metrics",
            "/health/ready",
            "/v1/encodings/integer?length=3",
        ):
            self.assert_ok(self.get(target))
        self.assertEqual(self.server.request("OPTIONS", "/v1/info").status, 204)


class BeyondLoopback(KeyCase):
    flags = ("--bind", "0.0.0.0")

    def test_the_token_opens_the_store_on_any_address(self):
        port = self.server.address[1]
        self.server.address = ("127.0.0.1", port)
        host = {"Host": "posenc.example"}
        self.assert_unauthorized(self.ask("PUT", f"{PATH}/a", None, host, simple()))
        reply = self.ask("PUT", f"{PATH}/a", f"Bearer {KEY}", host, simple())
        self.assertEqual(reply.status, 201)


class WithoutAKey(ServerCase):
    def test_beyond_loopback_the_store_is_closed_and_says_how_to_open_it(self):
        server = self.start("--bind", "0.0.0.0")
        server.address = ("127.0.0.1", server.address[1])
        for method in METHODS:
            for target in TARGETS:
                reply = server.request(
                    method, target, None, simple() if method == "PUT" else None
                )
                self.assertEqual(reply.status, 403, (method, target, reply))
                if method != "HEAD":
                    problem = self.assert_problem(reply, 403, code="forbidden")
                    self.assertIn("--api-key-file", problem["detail"])
        self.assert_ok(server.request("GET", "/v1/encodings/integer?length=3"))
        self.assertEqual(server.request("GET", "/v1/info").json()["store"]["sets"], 0)

    def test_a_request_without_a_host_is_no_browsers(self):
        with self.server.wire() as wire:
            wire.send(f"GET {PATH} HTTP/1.0\r\n\r\n".encode())
            self.assert_ok(wire.receive())

    def test_pages_that_send_no_origin_are_refused_by_sec_fetch_site(self):
        """As an image or a form of another page does, in browsers since 2020 to 2023."""
        for site, refused in (
            ("cross-site", True),
            ("same-site", True),
            ("", True),
            ("same-origin, cross-site", True),
            ("same-origin", False),
            ("none", False),
        ):
            for method in METHODS:
                reply = self.server.request(
                    method,
                    f"{PATH}/a",
                    {"Sec-Fetch-Site": site},
                    simple() if method == "PUT" else None,
                )
                self.assertEqual(reply.status == 403, refused, (method, site, reply))
            self.server.request("DELETE", f"{PATH}/a")

    def test_what_a_proxy_has_forwarded_is_not_local(self):
        for name, value in (
            ("X-Forwarded-For", "127.0.0.1"),
            ("X-Forwarded-For", ""),
            ("Forwarded", "for=127.0.0.1;host=localhost"),
            ("Via", "1.1 proxy"),
        ):
            for method in METHODS:
                reply = self.server.request(
                    method,
                    f"{PATH}/a",
                    {name: value},
                    simple() if method == "PUT" else None,
                )
                self.assertEqual(reply.status, 403, (method, name, reply))
                if method != "HEAD":
                    self.assertIn("through a proxy", reply.json()["detail"])
        self.assertEqual(self.get(PATH).json()["sets"], [])

    def test_a_refusal_names_the_endpoint_and_the_flag(self):
        for headers in (
            {"Origin": "null"},
            {"Host": "evil.example"},
            {"Via": "1.1 proxy"},
            {"Sec-Fetch-Site": "cross-site"},
        ):
            problem = self.server.request("DELETE", f"{PATH}/a", headers).json()
            self.assertRegex(problem["detail"], r"\A/v1/sets/\{name\} is .*open")
            self.assertIn("--api-key-file", problem["detail"])

    def test_a_unix_socket_is_as_local_as_loopback(self):
        with tempfile.TemporaryDirectory(prefix="posenc-") as directory:
            server = Server("--unix-socket", os.path.join(directory, "socket"))
            self.addCleanup(server.stop)
            self.assertEqual(server.request("PUT", f"{PATH}/a", None, simple()).status, 201)
            self.assertEqual(server.request("GET", f"{PATH}/a").body, simple())
            named = server.request("GET", PATH, {"Host": "any.example"})
            self.assert_ok(named)  # no name leads to it, so that no page does
            page = {"Host": "any.example", "Origin": "http://any.example"}
            self.assert_problem(server.request("GET", PATH, page), 403)
            server.stop()


if __name__ == "__main__":
    unittest.main()
