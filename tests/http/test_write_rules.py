"""Attacks on the rules about who may write: DNS rebinding, a foreign web page, a wrong token.
Each must be refused before its body is read, and must not change the store."""

import os
import stat
import tempfile
import unittest

from server import ServerCase, run
from stored import PATH, simple
from test_access import KEY, KeyCase

ANNOUNCED = (
    200 << 20
)  # bytes of a body that is never sent: a server that waits for it fails the test
VICTIM = f"{PATH}/victim"

# Host fields that a web page can make a browser send after DNS rebinding, and some that a
# careless check takes for loopback.
FOREIGN_HOSTS = (
    "evil.example",
    "evil.example:{port}",
    "EVIL.EXAMPLE",
    "evil.example.",
    "evil.example.:{port}",
    "localhost.evil.example",
    "localhost.evil",
    "localhost.",
    "localhost.:{port}",
    "xlocalhost",
    "localhostx",
    "localhost-",
    "local",
    "localhost.localdomain",
    "a.localhost",
    "127.0.0.1.evil",
    "127.0.0.1.nip.io:{port}",
    "127.0.0.1.",
    "127.0.0.1.:{port}",
    "1.127.0.0.1",
    "127.0.0",
    "127.1",
    "127.0.1",
    "127",
    "127.0.0.256",
    "127.0.0.1.1",
    "127..0.1",
    ".127.0.0.1",
    "127.0.0.0001",
    "2130706433",
    "017700000001",
    "0x7f000001",
    "0177.0.0.1",
    "0x7f.0.0.1",
    "0x7f.1",
    "126.255.255.255",
    "128.0.0.1",
    "0.0.0.0",
    "0",
    "10.0.0.1",
    "169.254.169.254",
    "192.168.0.1:{port}",
    "[::]",
    "[::2]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:0:0:1]",
    "[::01]",
    "[::127.0.0.1]",
    "[fe80::1]:{port}",
    "",
    ":{port}",
    ":",
    "localhost%2eevil",
    "%6cocalhost",
    "127.0.0.1%00",
    "localhost!",
    "_",
    "*",
    "localhost,x",
    "localhost;x",
)
NO_HOSTS = (
    "localhost@evil.example",
    "evil.example@localhost",
    "user:pass@127.0.0.1",
    "localhost evil.example",
    "localhost, evil.example",
    "localhost/",
    "localhost#",
    "localhost?x",
    "http://localhost",
    "[::1",
    "::1",
    "[::1%25lo]",
    "[::1].evil",
    "localhost:80:80",
    "localhost:x",
    "localhost:-1",
    "127.0.0.1:{port}evil",
    "l\u00f6calhost",
    "localhost\\evil",
)
LOOPBACK_HOSTS = (
    "localhost",
    "localhost:{port}",
    "LocalHost",
    "127.0.0.1",
    "127.0.0.1:{port}",
    "127.255.255.255",
    "[::1]",
    "[::1]:{port}",
)
ORIGINS = (
    "null",
    "https://evil.example",
    "http://evil.example:{port}",
    "file://",
    "http://localhost",
    "http://localhost:{port}",
    "http://127.0.0.1:{port}",
    "http://127.0.0.1:1",
    "https://127.0.0.1:{port}",
    "http://[::1]:{port}",
    "chrome-extension://abcdefghijklmnop",
    "about:blank",
    "x",
    "",
    "null, null",
)
FORM_TYPES = (
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/json",
    "application/octet-stream",
)


class StoreCase(ServerCase):
    """A store with one set. No attack may read or change it, or add another."""

    rights = {}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        reply = cls.server.request("PUT", VICTIM, cls.rights, simple())
        assert reply.status == 201, reply

    def tearDown(self):
        listed = self.server.request("GET", PATH, self.rights).json()["sets"]
        self.assertEqual([entry["name"] for entry in listed], ["victim"])
        self.assertEqual(self.server.request("GET", VICTIM, self.rights).body, simple())

    def filled(self, texts):
        return [text.format(port=self.server.address[1]) for text in texts]

    def attack(self, headers, statuses, methods=("PUT", "DELETE", "GET", "POST", "OPTIONS")):
        """Send every method with a body that is announced and never sent; returns the
        refusals."""
        replies = []
        for method in methods:
            with self.server.wire() as wire:
                given = {"Content-Length": str(ANNOUNCED), **headers}
                reply = wire.exchange(method, VICTIM, given)
                with self.subTest(method=method, headers=headers):
                    self.assertIn(reply.status, statuses, reply)
                    self.assert_problem(reply, reply.status)
                    self.assertEqual(reply.header("Connection"), "close")
                    self.assertIsNone(reply.header("Access-Control-Allow-Methods"))
                    self.assertNotIn(b"victim", reply.body)
                    replies.append(reply)
        return replies


class Rebinding(StoreCase):
    def test_a_foreign_host_is_refused_before_its_body(self):
        for host in self.filled(FOREIGN_HOSTS):
            self.attack(
                {"Host": host},
                {403, 400} if "%" in host else {403},
                ("PUT", "DELETE", "GET") if host.startswith("evil") else ("PUT", "GET"),
            )

    def test_what_is_no_host_is_refused_before_its_body(self):
        for host in self.filled(NO_HOSTS):
            self.attack({"Host": host}, {400}, ("PUT", "GET"))

    def test_no_method_has_a_rule_of_its_own(self):
        self.attack(
            {"Host": "evil.example"},
            {403},
            ("PUT", "DELETE", "GET", "POST", "PATCH", "OPTIONS", "BREW", "put"),
        )

    def test_loopback_names_are_let_in(self):
        for host in self.filled(LOOPBACK_HOSTS):
            self.assert_ok(self.get(VICTIM, {"Host": host}))

    def test_two_hosts_are_refused_in_either_order(self):
        for one, other in (("localhost", "evil.example"), ("evil.example", "localhost")):
            with self.server.wire() as wire:
                wire.send(
                    f"DELETE {VICTIM} HTTP/1.1\r\nHost: {one}\r\nHost: {other}\r\n\r\n".encode()
                )
                self.assert_problem(wire.receive(), 400)

    def test_a_target_with_a_host_of_its_own_reaches_no_set(self):
        for target in (
            f"https://localhost{VICTIM}",
            f"//localhost{VICTIM}",
            f"*{VICTIM}",
            f"http:{VICTIM}",
            f"localhost{VICTIM}",
        ):
            for host in ("localhost", "evil.example"):
                for method in ("DELETE", "PUT", "GET"):
                    with self.server.wire() as wire:
                        body = simple(9) if method == "PUT" else b""
                        reply = wire.exchange(method, target, {"Host": host}, body)
                        self.assertIn(reply.status, (400, 404, 405), (target, reply))

    def test_a_foreign_host_in_an_absolute_target_is_refused_whatever_the_field_says(self):
        for foreign in self.filled(FOREIGN_HOSTS):
            for host in ("localhost", "evil.example"):
                for method in ("PUT", "DELETE", "GET"):
                    with self.server.wire() as wire, self.subTest(foreign, method=method):
                        given = {"Host": host, "Content-Length": str(ANNOUNCED)}
                        wire.ask(method, f"http://{foreign}{VICTIM}", given)
                        malformed = "%" in foreign or foreign.partition(":")[0] == ""
                        reply = wire.receive()
                        self.assertIn(reply.status, (403, 400) if malformed else (403,), reply)
                        self.assertEqual(reply.header("Connection"), "close")

    def test_no_header_of_a_proxy_stands_for_the_host(self):
        for name in ("X-Forwarded-Host", "Forwarded", "X-Host", "X-Original-Host"):
            value = "host=localhost" if name == "Forwarded" else "localhost"
            self.attack({"Host": "evil.example", name: value}, {403}, ("PUT", "DELETE"))


class ForeignPages(StoreCase):
    def test_no_page_may_do_anything_whatever_its_origin(self):
        for origin in self.filled(ORIGINS):
            self.attack({"Origin": origin}, {403})

    def test_preflights_for_writing_grant_nothing(self):
        for origin in self.filled(ORIGINS):
            for method in ("PUT", "DELETE", "GET"):
                for private in ({}, {"Access-Control-Request-Private-Network": "true"}):
                    asked = {
                        "Origin": origin,
                        "Access-Control-Request-Method": method,
                        **private,
                    }
                    reply = self.server.request("OPTIONS", VICTIM, asked)
                    self.assert_problem(reply, 403)
                    self.assertEqual(
                        [
                            name
                            for name, _ in reply.fields
                            if name.lower().startswith("access-control-allow-")
                        ],
                        ["Access-Control-Allow-Origin"],
                    )

    def test_forms_need_no_preflight_and_are_refused_all_the_same(self):
        for media_type in FORM_TYPES:
            for target in (VICTIM, PATH, f"{VICTIM}?_method=DELETE"):
                for origin in ("null", "https://evil.example"):
                    headers = {
                        "Origin": origin,
                        "Content-Type": media_type,
                        "X-HTTP-Method-Override": "PUT",
                    }
                    reply = self.server.request("POST", target, headers, simple(9))
                    self.assert_problem(reply, 403)

    def test_a_form_that_hides_its_origin_finds_no_method(self):
        for media_type in FORM_TYPES:
            for name in ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"):
                headers = {"Content-Type": media_type, name: "DELETE"}
                reply = self.server.request("POST", VICTIM, headers, simple(9))
                self.assert_problem(reply, 405)

    def test_elsewhere_preflights_never_grant_writing(self):
        for target in ("/v1/encodings/sinusoidal", "/v1/info", "/openapi.json"):
            asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "PUT"}
            granted = self.server.request("OPTIONS", target, asked)
            self.assertNotRegex(
                granted.header("Access-Control-Allow-Methods"), "PUT|DELETE|[*]"
            )
            self.assertIsNone(granted.header("Access-Control-Allow-Credentials"))


class WrongTokens(KeyCase, StoreCase):
    rights = {"Authorization": f"Bearer {KEY}"}

    def refused(self, authorization, methods=("PUT", "DELETE")):
        for reply in self.attack({"Authorization": authorization}, {401}, methods):
            self.assertRegex(reply.header("WWW-Authenticate"), r"\ABearer realm=")

    def test_wrong_tokens_of_every_length(self):
        for length in range(2 * len(KEY) + 5):
            for text in (
                (KEY * 3)[:length],
                "\x7e" * length,
                (KEY[::-1] * 3)[:length],
                KEY[:-1][:length] + "x",
            ):
                if text != KEY:
                    self.refused(f"Bearer {text}", ("PUT",))
        for length in (63, 64, 65, 1023, 1024, 1025, 8000):
            self.refused("Bearer " + "x" * length)

    def test_tokens_beside_the_key(self):
        for at in range(len(KEY)):
            self.refused(f"Bearer {KEY[:at]}{chr(ord(KEY[at]) ^ 1)}{KEY[at + 1:]}", ("PUT",))
        for text in (
            KEY + "=",
            "=" + KEY,
            KEY.upper(),
            KEY.title(),
            KEY.swapcase(),
            KEY[::-1],
            f"{KEY}{KEY}",
            f"{KEY} {KEY}",
            f"{KEY},{KEY}",
            f"{KEY}, Bearer {KEY}",
            f'"{KEY}"',
            f"'{KEY}'",
            f"<{KEY}>",
            f"{KEY};",
            f"realm={KEY}",
            f"token={KEY}",
        ):
            self.refused(f"Bearer {text}")

    def test_bytes_of_eight_bits_are_no_token(self):
        key = KEY.encode()
        for text in (
            b"\xff",
            bytes(range(128, 256)),
            key + b"\x80",
            b"\xa0" + key,
            key + b"\xa0",
            bytes(byte | 128 for byte in key),
            key.replace(b"o", b"\xc3\xb8"),
        ):
            self.refused(b"Bearer " + text)

    def test_the_scheme_is_bearer_and_one_or_more_blanks(self):
        for scheme in ("Bearer", "bearer", "BEARER", "bEaReR"):
            for blanks in (" ", "  ", "     "):
                reply = self.server.request(
                    "GET", VICTIM, {"Authorization": scheme + blanks + KEY}
                )
                self.assertEqual(reply.status, 200)
        for shape in (
            KEY,
            f"Bearer{KEY}",
            f"Bearer:{KEY}",
            f"Bearer: {KEY}",
            f"Bearer={KEY}",
            f"Bearer\t{KEY}",
            f"Bearer \t{KEY}",
            f"Basic {KEY}",
            f"Digest {KEY}",
            f"Token {KEY}",
            f"Bearers {KEY}",
            f"Beare {KEY}",
            f"X Bearer {KEY}",
            f"Bearer Bearer {KEY}",
            "Bearer",
            "Bearer ",
            "",
            " ",
            f"{KEY} Bearer",
        ):
            self.refused(shape)

    def test_several_tokens_are_none(self):
        right, wrong = f"Authorization: Bearer {KEY}\r\n", "Authorization: Bearer x\r\n"
        for fields in (
            right + right,
            right + wrong,
            wrong + right,
            "Authorization:\r\n" + right,
            right + "Authorization:\r\n",
            right + right.upper().replace(KEY.upper(), KEY),
            right + "authorization: Basic eDp5\r\n",
        ):
            with self.server.wire() as wire:
                wire.send(f"DELETE {VICTIM} HTTP/1.1\r\nHost: x\r\n{fields}\r\n".encode())
                self.assert_problem(wire.receive(), 401)

    def test_the_token_is_taken_from_no_other_place(self):
        for name in (
            "X-Api-Key",
            "Api-Key",
            "Proxy-Authorization",
            "Cookie",
            "X-Authorization",
            "Authorization-X",
            "Access-Token",
            "WWW-Authenticate",
            "From",
        ):
            for value in (KEY, f"Bearer {KEY}", f"key={KEY}"):
                self.attack({name: value}, {401}, ("PUT",))
        for query in (
            f"access_token={KEY}",
            f"token={KEY}",
            f"key={KEY}",
            f"Authorization=Bearer%20{KEY}",
        ):
            for method in ("DELETE", "PUT", "GET"):
                reply = self.server.request(
                    method, f"{VICTIM}?{query}", None, simple(9) if method == "PUT" else None
                )
                self.assert_problem(reply, 401)
        for target in (
            f"http://user:{KEY}@localhost{VICTIM}",
            f"http://{KEY}@localhost{VICTIM}",
        ):
            reply = self.server.request("DELETE", target)
            self.assertIn(reply.status, (400, 401))
        form = f"access_token={KEY}".encode()
        reply = self.server.request(
            "POST", VICTIM, {"Content-Type": "application/x-www-form-urlencoded"}, form
        )
        self.assert_problem(reply, 401)

    def test_a_page_with_a_wrong_token_is_told_nothing(self):
        for origin in self.filled(ORIGINS):
            self.attack(
                {"Origin": origin, "Authorization": "Bearer x"}, {401}, ("PUT", "OPTIONS")
            )

    def test_the_refusal_does_not_wait_for_consent(self):
        headers = {"Expect": "100-continue", "Authorization": "Bearer x", "Content-Length": "9"}
        with self.server.wire() as wire:
            wire.ask("PUT", VICTIM, headers)
            self.assertEqual(wire.receive_head().status, 401)

    def test_the_key_is_told_to_nobody(self):
        told = b"".join(
            self.get(target).body
            for target in ("/v1/info", "/metrics", "/openapi.json", "/v1/schemes", "/nowhere")
        )
        told += self.server.request("GET", VICTIM, {"Authorization": f"Bearer {KEY}x"}).body
        self.assertNotIn(KEY.encode(), told)
        self.assertNotIn(KEY, self.server.log())
        ended = run("--check-config", *self.flags)
        self.assertEqual(ended.returncode, 0)
        self.assertNotIn(KEY, ended.stdout + ended.stderr)


class KeyFiles(ServerCase):
    def refused(self, path, *texts):
        ended = run("--port", "0", "--api-key-file", path, seconds=30)
        self.assertEqual((ended.returncode, ended.stdout), (1, ""), ended)
        self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)
        for text in ("api-key-file", path, *texts):
            self.assertIn(text, ended.stderr)

    def test_what_is_no_file_with_one_key_stops_the_start(self):
        for path in ("/dev/null", "/dev/zero", "/dev/full", "/proc/self", "/nonexistent"):
            self.refused(path)
        for content in (
            b"",
            b"\n",
            b"x" * 15,
            b"x" * 1025,
            b"x" * 100000,
            b"two words are no token",
            b"one-key-on-a-line\nanother-key-on-the-next\n",
            "schlüssel-mit-umlaut".encode(),
            b"\xef\xbb\xbf" + b"x" * 20,
            b" " + b"x" * 20,
            b"x" * 20 + b" ",
            b"\n" + b"x" * 20,
            b"x" * 8 + b"\r" + b"x" * 8,
            b"\0" * 20,
            b"x" * 20 + b"\n\0",
            b"Bearer " + b"x" * 20,
            b"x" * 19 + b"\x80",
        ):
            with tempfile.NamedTemporaryFile("wb") as file:
                file.write(content)
                file.flush()
                self.refused(file.name, "16 to 1024")

    def test_the_shortest_and_the_longest_key_are_keys(self):
        for length, end in ((16, b""), (16, b"\r\n"), (1024, b"\n\n")):
            with tempfile.NamedTemporaryFile("wb") as file:
                file.write(b"k" * length + end)
                file.flush()
                server = self.start("--api-key-file", file.name)
            for given, status in ((length, 200), (length - 1, 401), (length + 1, 401)):
                reply = server.request("GET", PATH, {"Authorization": "Bearer " + "k" * given})
                self.assertEqual(reply.status, status, (length, given))

    def test_a_key_that_may_not_be_read_stops_the_start(self):
        with tempfile.NamedTemporaryFile("wb") as file:
            file.write(b"x" * 20)
            file.flush()
            os.chmod(file.name, 0)
            self.assertEqual(stat.S_IMODE(os.stat(file.name).st_mode), 0)
            if os.access(file.name, os.R_OK):
                print("(this user may read every file: not tried)", end=" ")
                return
            self.refused(file.name)


if __name__ == "__main__":
    unittest.main()
