"""Who may use the store: clients with the bearer token; without a key only clients on loopback;
never a web page."""

import os
import tempfile
import unittest

from server import Server, ServerCase, run
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

    def test_wrong_tokens_of_every_length_are_401(self):
        with self.server.wire() as wire:
            for length in range(0, 3 * len(KEY)):
                for text in ((KEY * 3)[:length], "x" * length, (KEY[::-1] * 3)[:length]):
                    reply = wire.exchange("GET", PATH, {"Authorization": f"Bearer {text}"})
                    if text == KEY:
                        self.assertEqual(reply.status, 200)
                    else:
                        self.assert_unauthorized(reply)
            for length in (1000, 10000):
                token = {"Authorization": "Bearer " + "x" * length}
                self.assert_unauthorized(wire.exchange("GET", PATH, token))

    def test_other_shapes_of_authorization_are_401(self):
        shapes = [
            "",
            "Bearer",
            "Bearer ",
            KEY,
            f"Basic {KEY}",
            f"Bearer{KEY}",
            f"Bearer {KEY}x",
            f"Bearer x{KEY}",
            f"Bearer {KEY},",
            f"Bearer {KEY} {KEY}",
            f"Token {KEY}",
            f"Bearer\t{KEY}",
            f'Bearer "{KEY}"',
            f"Bearer {KEY.upper()}",
            b"Bearer \xff",
        ]
        with self.server.wire() as wire:
            for shape in shapes:
                reply = wire.exchange("GET", PATH, {"Authorization": shape})
                with self.subTest(shape):
                    self.assert_unauthorized(reply)
        with self.server.wire() as wire:
            wire.send(
                f"GET {PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {KEY}\r\n"
                f"Authorization: Bearer {KEY}\r\n\r\n".encode()
            )
            self.assert_unauthorized(wire.receive())

    def test_the_token_is_not_taken_from_elsewhere(self):
        for target in (f"{PATH}?access_token={KEY}", f"{PATH}?api_key={KEY}"):
            self.assert_unauthorized(self.get(target))
        self.assert_unauthorized(self.get(PATH, {"X-Api-Key": KEY, "Cookie": f"key={KEY}"}))

    def test_a_large_upload_without_the_token_is_not_kept_in_memory(self):
        self.get("/health/live")
        before = self.server.resident()
        reply = self.ask("PUT", f"{PATH}/a", "Bearer x", None, bytes(16 << 20))
        self.assert_unauthorized(reply)
        self.assertLess(self.server.resident() - before, 12 << 20)

    def test_an_upload_that_waits_for_consent_is_401_at_once(self):
        headers = {"Expect": "100-continue", "Content-Length": "5000000"}
        with self.server.wire() as wire:
            self.assert_unauthorized(wire.exchange("PUT", f"{PATH}/a", headers))

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

    def test_the_host_must_be_a_loopback_name(self):
        port = self.server.address[1]
        good = [
            "localhost",
            f"localhost:{port}",
            "LOCALHOST",
            "127.0.0.1",
            f"127.9.9.9:{port}",
            "[::1]",
            f"[::1]:{port}",
            "localhost:1",
        ]
        bad = [
            "example.org",
            f"example.org:{port}",
            "localhost.example.org",
            "127.0.0.1.nip.io",
            "10.0.0.1",
            "0.0.0.0",
            "[::2]",
            "[::ffff:127.0.0.1]",
            "localhost.",
            "127.1",
            "x",
            "",
            "2130706433",
        ]
        with self.server.wire() as wire:
            for method in ("GET", "PUT", "DELETE", "OPTIONS"):
                for hosts, refused in ((good, False), (bad, True)):
                    for host in hosts:
                        reply = wire.exchange(
                            method,
                            f"{PATH}/a",
                            {"Host": host},
                            simple() if method == "PUT" else b"",
                        )
                        self.assertEqual(reply.status == 403, refused, (method, host, reply))
            self.assert_ok(wire.exchange("GET", "/v1/info", {"Host": "example.org"}))

    def test_the_host_of_an_absolute_target_counts_and_not_the_field(self):
        """RFC 9112, section 3.2.2."""
        for method in ("GET", "PUT", "DELETE", "OPTIONS"):
            for authority in ("evil.example", "localhost.example:80", "10.0.0.1", "[::2]"):
                with self.server.wire() as wire:
                    body = simple() if method == "PUT" else b""
                    wire.ask(method, f"http://{authority}{PATH}/a", {"Host": "localhost"}, body)
                    self.assertEqual(wire.receive().status, 403, (method, authority))
        self.assertEqual(self.get(PATH).json()["sets"], [])
        with self.server.wire() as wire:
            for authority in ("localhost", "127.0.0.1:80", "[::1]"):
                wire.ask("GET", f"http://{authority}{PATH}", {"Host": "evil.example"})
                self.assert_ok(wire.receive())

    def test_what_is_no_host_at_all_is_no_request(self):
        for method in ("GET", "PUT", "DELETE", "OPTIONS"):
            for host in (
                "localhost@example.org",
                "localhost, example.org",
                "localhost/",
                "::1",
            ):
                reply = self.server.request(method, f"{PATH}/a", {"Host": host})
                self.assert_problem(reply, 400, code="malformed")
                self.assertEqual(reply.header("Connection"), "close")

    def test_two_hosts_are_none(self):
        with self.server.wire() as wire:
            wire.send(
                f"GET {PATH} HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n".encode()
            )
            self.assertIn(wire.receive().status, (400, 403))

    def test_a_request_without_a_host_is_no_browsers(self):
        with self.server.wire() as wire:
            wire.send(f"GET {PATH} HTTP/1.0\r\n\r\n".encode())
            self.assert_ok(wire.receive())

    def test_requests_with_an_origin_are_refused(self):
        for origin in (
            "https://example.org",
            "http://localhost",
            "null",
            "http://127.0.0.1:80",
        ):
            for method in METHODS:
                reply = self.server.request(
                    method,
                    f"{PATH}/a",
                    {"Origin": origin},
                    simple() if method == "PUT" else None,
                )
                self.assertEqual(reply.status, 403, (method, origin))
        self.assertEqual(self.get(PATH).json()["sets"], [])

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

    def test_a_preflight_grants_nothing(self):
        for method in ("PUT", "DELETE", "GET"):
            asked = {
                "Origin": "https://example.org",
                "Access-Control-Request-Method": method,
                "Access-Control-Request-Headers": "authorization",
            }
            reply = self.server.request("OPTIONS", f"{PATH}/a", asked)
            self.assertEqual(reply.status, 403)
            self.assertIsNone(reply.header("Access-Control-Allow-Methods"))
            self.assertIsNone(reply.header("Access-Control-Allow-Headers"))

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


class KeyFiles(unittest.TestCase):
    def refused(self, content, *texts):
        with tempfile.NamedTemporaryFile("wb") as file:
            file.write(content)
            file.flush()
            ended = run("--port", "0", "--api-key-file", file.name, seconds=20)
        self.assertEqual((ended.returncode, ended.stdout), (1, ""), ended)
        self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)
        for text in ("api-key-file", file.name, *texts):
            self.assertIn(text, ended.stderr)

    def test_a_file_that_is_no_key_stops_the_start(self):
        for content in (
            b"",
            b"\n",
            b"short",
            b"x" * 15,
            b"x" * 1025,
            b"two words are no token",
            b"one-key-on-a-line\nanother-key-on-the-next\n",
            b"x" * 20 + b"\0",
            "schlüssel-mit-umlaut".encode(),
            b"x" * 100000,
        ):
            self.refused(content, "16 to 1024")

    def test_a_file_that_cannot_be_read_stops_the_start(self):
        for path in ("/nonexistent/key", "/tmp"):
            ended = run("--port", "0", "--api-key-file", path, seconds=20)
            self.assertEqual(ended.returncode, 1)
            self.assertIn(path, ended.stderr)

    def test_line_ends_are_not_part_of_the_key(self):
        for end in (b"", b"\n", b"\r\n"):
            with tempfile.NamedTemporaryFile("wb") as file:
                file.write(b"x" * 16 + end)
                file.flush()
                server = Server("--api-key-file", file.name)
            self.addCleanup(server.stop)
            token = {"Authorization": "Bearer " + "x" * 16}
            self.assertEqual(server.request("GET", PATH, token).status, 200)
            self.assertEqual(server.request("GET", PATH).status, 401)


if __name__ == "__main__":
    unittest.main()
