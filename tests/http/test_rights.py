"""Who may send tables (--tables), which pages may read what depends on sets (--cors)."""

import json
import os
import tempfile
import unittest

from server import Server, ServerCase, run
from stored import PATH, floats, simple, write

STORE_KEY = "change-and-compute-what-you-like"
TABLES_KEY = "compute-and-change-nothing-here"
TABLE = write({"table": ("F32", [4, 4], floats(16))})
FILE = {"Content-Type": "application/vnd.safetensors"}
FOREIGN = (
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://localhost:1"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "same-origin", "Origin": "https://evil.example"},
)
# What computes on a table in the body.
POSTS = (
    "/v1/compare/sinusoidal?length=4&dim=4",
    "/v1/identify",
    "/v1/convert/rope?from=half&to=interleaved&axis=-1&tensors=table",
    "/v1/apply/sinusoidal?length=4&dim=4",
)


def key_file(case, key):
    file = tempfile.NamedTemporaryFile("w", delete=False)
    with file:
        file.write(key + "\n")
    case.addClassCleanup(os.unlink, file.name)
    return file.name


def beyond_loopback(server):
    """Ask by loopback a server that listens on all addresses."""
    server.address = ("127.0.0.1", server.address[1])
    return server


def bearer(key):
    return {"Authorization": f"Bearer {key}"}


class TablesCase(ServerCase):
    def send(self, target, headers=None, server=None):
        return (server or self.server).request(
            "POST", target, {**FILE, **(headers or {})}, TABLE
        )

    def access(self, server=None):
        return (server or self.server).request("GET", "/v1/info").json()["access"]


class Open(TablesCase):
    flags = ("--bind", "0.0.0.0")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        beyond_loopback(cls.server)

    def test_everybody_may_compute_as_in_the_documented_container(self):
        for target in POSTS:
            for headers in ({}, {"Host": "posenc.example"}, {"Via": "1.1 proxy"}, *FOREIGN):
                reply = self.send(target, headers)
                self.assertEqual(reply.status, 200, (target, headers, reply))
                self.assert_open_to_browsers(reply)
        self.assertEqual(self.access()["tables"], "open")

    def test_pages_are_granted_what_they_need_for_that(self):
        for target in POSTS:
            granted = self.server.request("OPTIONS", target, {"Origin": "https://a.example"})
            self.assertEqual(granted.status, 204)
            self.assertIn("POST", granted.header("Access-Control-Allow-Methods"))
            self.assertIn("Content-Type", granted.header("Access-Control-Allow-Headers"))

    def test_no_preflight_of_any_path_is_granted_put_or_delete(self):
        paths = self.server.request("GET", "/openapi.json").json()["paths"]
        for path in paths:
            target = path.replace("{", "").replace("}", "")
            asked = {"Origin": "https://a.example", "Access-Control-Request-Method": "PUT"}
            reply = self.server.request("OPTIONS", target, asked)
            granted = reply.header("Access-Control-Allow-Methods") or ""
            self.assertNotRegex(granted, r"PUT|DELETE|[*]", path)
            is_store = path.startswith((PATH, "/v1/parameters"))
            self.assertEqual(reply.status, 403 if is_store else 204, path)

    def test_the_store_stays_closed(self):
        self.assertEqual(self.access()["store"], "closed")
        for method in ("GET", "PUT", "DELETE"):
            body = simple() if method == "PUT" else None
            self.assert_problem(self.server.request(method, f"{PATH}/a", None, body), 403)

    def test_a_key_of_the_store_closes_no_table(self):
        server = self.start("--api-key-file", key_file(type(self), STORE_KEY))
        for target in POSTS:
            self.assertEqual(self.send(target, server=server).status, 200)


class Keys(TablesCase):
    @classmethod
    def setUpClass(cls):
        cls.flags = ("--bind", "0.0.0.0", "--tables", "key")
        cls.flags += ("--tables-key-file", key_file(cls, TABLES_KEY))
        cls.flags += ("--api-key-file", key_file(cls, STORE_KEY))
        super().setUpClass()
        beyond_loopback(cls.server)

    def test_both_keys_compute(self):
        for target in POSTS:
            for key in (TABLES_KEY, STORE_KEY):
                self.assertEqual(self.send(target, bearer(key)).status, 200, target)

    def test_no_other_token_does(self):
        for target in (*POSTS, "/v1/apply?model=bloom&length=4"):
            for headers in (
                {},
                bearer("x"),
                bearer(TABLES_KEY[:-1]),
                bearer(TABLES_KEY + STORE_KEY),
                {"Authorization": f"Basic {TABLES_KEY}"},
            ):
                reply = self.send(target, headers)
                self.assert_problem(reply, 401, code="unauthorized")
                self.assertRegex(reply.header("WWW-Authenticate"), r"\ABearer realm=")
                detail = reply.json()["detail"]
                self.assertRegex(detail, r"\A/v1/(compare|identify|convert|apply)\b")
                self.assertIn("--tables-key-file", detail)

    def test_the_key_for_tables_opens_no_set(self):
        self.assertEqual(
            self.server.request("PUT", f"{PATH}/a", bearer(STORE_KEY), simple()).status, 201
        )
        for method in ("GET", "HEAD", "PUT", "DELETE", "POST", "OPTIONS"):
            for target in (PATH, f"{PATH}/a", f"{PATH}/b"):
                body = simple(9) if method == "PUT" else None
                reply = self.server.request(method, target, bearer(TABLES_KEY), body)
                self.assertEqual(reply.status, 401, (method, target))
        kept = self.server.request("GET", f"{PATH}/a", bearer(STORE_KEY))
        self.assertEqual(kept.body, simple())
        self.server.request("DELETE", f"{PATH}/a", bearer(STORE_KEY))

    def test_the_rest_stays_open(self):
        self.assert_ok(self.get("/v1/encodings/integer?length=4"))
        self.assertEqual(self.access(), {"store": "key", "tables": "key", "stored": "own"})

    def test_a_refused_body_is_not_awaited(self):
        with self.server.wire() as wire:
            head = {**FILE, "Content-Length": str(200 << 20)}
            self.assertEqual(wire.exchange("POST", POSTS[0], head).status, 401)

    def test_neither_key_is_told(self):
        told = self.get("/v1/info").body + self.get("/openapi.json").body
        told += self.send(POSTS[0], bearer("x")).body + self.server.log().encode()
        told += run("--check-config", *self.flags).stdout.encode()
        for key in (TABLES_KEY, STORE_KEY):
            self.assertNotIn(key.encode(), told)


class Loopback(TablesCase):
    flags = ("--tables", "loopback")

    def host(self):
        return "127.0.0.1:%d" % self.server.address[1]

    def test_local_clients_and_the_own_page_may_compute(self):
        own = {"Host": self.host(), "Origin": f"http://{self.host()}"}
        for headers in (
            {},
            {"Host": "localhost"},
            own,
            {**own, "Sec-Fetch-Site": "same-origin"},
            {"Host": "localhost:1", "Origin": "http://localhost:1"},
        ):
            for target in POSTS:
                self.assertEqual(self.send(target, headers).status, 200, headers)
        self.assertEqual(self.access()["tables"], "loopback")

    def test_nobody_else_may(self):
        for headers in (
            *FOREIGN,
            {"Host": "evil.example"},
            {"Host": "evil.example", "Origin": "http://evil.example"},
            {"Host": self.host(), "Origin": f"http://{self.host()}.evil.example"},
            {"Host": self.host(), "Origin": "http://127.0.0.1"},
            {"Host": self.host(), "Origin": ""},
            {"X-Forwarded-For": "127.0.0.1"},
            {"Forwarded": "for=127.0.0.1"},
            {"Via": "1.1 proxy"},
        ):
            for target in POSTS:
                problem = self.assert_problem(self.send(target, headers), 403, code="forbidden")
                self.assertRegex(problem["detail"], r"\A/v1/(compare|identify|convert|apply)\b")
                self.assertIn("--tables open", problem["detail"])

    def test_beyond_loopback_it_is_closed(self):
        server = beyond_loopback(self.start("--bind", "0.0.0.0", "--tables", "loopback"))
        self.assertEqual(self.access(server)["tables"], "closed")
        for target in POSTS:
            self.assert_problem(self.send(target, server=server), 403)


SET = write({"table": ("F32", [8, 4], floats(32))})
LEARNED = "/v1/encodings/learned?set=secret&length=8&format=npy"
JSON = {"Content-Type": "application/json"}


class StoredCase(ServerCase):
    """A server with the set `secret`; `readings` are all ways to read what depends on it."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        assert cls.server.request("PUT", f"{PATH}/secret", None, SET).status == 201
        cls.readings = cls.all_readings()

    @classmethod
    def all_readings(cls):
        members = {"set": "secret", "length": 8}
        batch = {"requests": [{"name": "a", "scheme": "learned", **members}]}
        table = cls.server.request("GET", LEARNED).body
        npy = {"Content-Type": "application/x-npy"}
        query = LEARNED.split("?")[1].replace("&format=npy", "")
        return [
            ("GET", LEARNED, {}, None),
            ("GET", LEARNED, {}, None),  # a hit
            ("HEAD", LEARNED, {}, None),
            ("GET", LEARNED, {"Range": "bytes=0-15"}, None),
            ("GET", LEARNED.replace("npy", "csv"), {"Accept-Encoding": "gzip"}, None),
            ("GET", f"/v1/similarity/learned?{query}&metric=dot", {}, None),
            ("POST", "/v1/encodings/learned", JSON, json.dumps(members).encode()),
            (
                "POST",
                "/v1/similarity/learned",
                JSON,
                json.dumps({**members, "metric": "l2"}).encode(),
            ),
            ("POST", "/v1/batch", JSON, json.dumps(batch).encode()),
            ("POST", f"/v1/compare/learned?{query}", npy, table),
            ("POST", f"/v1/apply/learned?{query}", npy, table),
            ("POST", "/v1/identify?set=secret", npy, table),
        ]

    def ask(self, reading, headers):
        method, target, own, body = reading
        return self.server.request(method, target, {**own, **headers}, body)


class Formulas(StoredCase):
    """The default, --cors formulas."""

    def test_no_other_page_may_read_what_depends_on_a_set(self):
        for reading in self.readings:
            for headers in FOREIGN:
                reply = self.ask(reading, headers)
                self.assertEqual(reply.status, 403, (reading[:2], headers, reply))
                if reading[0] != "HEAD":
                    self.assertIn("--cors all", reply.json()["detail"])

    def test_whether_the_set_exists_is_not_told_either(self):
        for headers in FOREIGN:
            known = self.server.request("GET", LEARNED, headers)
            unknown = self.server.request("GET", LEARNED.replace("secret", "nosuch"), headers)
            self.assertEqual((known.status, known.body), (unknown.status, unknown.body))

    def test_others_may_and_no_page_may_read_along(self):
        host = "127.0.0.1:%d" % self.server.address[1]
        for reading in self.readings:
            for headers in (
                {},
                {"Sec-Fetch-Site": "none"},
                {"Sec-Fetch-Site": "same-origin"},
                {"Host": host, "Origin": f"http://{host}"},
                {"Host": host, "Origin": f"https://{host}", "Via": "1.1 proxy"},
            ):
                reply = self.ask(reading, headers)
                self.assertIn(reply.status, (200, 206), (reading[:2], headers, reply))
                self.assertEqual(self.browsers(reply), "own", reading[:2])

    def test_a_tag_that_matches_tells_no_other_page(self):
        tag = self.get(LEARNED).header("ETag")
        reply = self.get(LEARNED, {"If-None-Match": tag})
        self.assertEqual((reply.status, self.browsers(reply)), (304, "own"))
        foreign = {"If-None-Match": tag, "Origin": "https://evil.example"}
        self.assert_problem(self.get(LEARNED, foreign), 403)

    def test_a_page_whose_name_leads_here_reads_nothing(self):
        for reading in self.readings:
            self.assertEqual(self.ask(reading, {"Host": "evil.example"}).status, 403)

    def test_what_formulas_give_is_for_every_page(self):
        for headers in ({}, *FOREIGN, {"Host": "any.example"}):
            for target in (
                "/v1/encodings/sinusoidal?length=4&dim=8",
                "/v1/encodings/learned?length=8&dim=4",
                "/v1/info",
                "/v1/schemes",
            ):
                reply = self.get(target, headers)
                self.assertEqual((reply.status, self.browsers(reply)), (200, "all"))

    def test_the_files_and_their_list_are_closed_to_other_pages(self):
        for target in (PATH, f"{PATH}/secret"):
            reply = self.get(target)
            self.assertEqual((reply.status, self.browsers(reply)), (200, "own"))

    def test_what_is_computed_changes_no_set(self):
        before = self.get(PATH).body
        for reading in self.readings:
            self.assertIn(self.ask(reading, {}).status, (200, 206), reading[:2])
        self.assertEqual(self.get(PATH).body, before)
        self.assertEqual(self.get(f"{PATH}/secret").body, SET)


class All(StoredCase):
    flags = ("--cors", "all")

    def test_every_page_may_read_what_depends_on_a_set_but_not_the_file(self):
        for reading in self.readings:
            for headers in ({}, *FOREIGN, {"Host": "evil.example"}):
                reply = self.ask(reading, headers)
                self.assertIn(reply.status, (200, 206), (reading[:2], headers, reply))
                self.assertEqual(self.browsers(reply), "all")
        for headers in FOREIGN:
            self.assert_problem(self.get(f"{PATH}/secret", headers), 403)
        self.assertEqual(self.browsers(self.get(f"{PATH}/secret")), "own")
        self.assertEqual(self.get("/v1/info").json()["access"]["stored"], "all")


class WithAKey(unittest.TestCase):
    def test_a_proxy_passes_on_any_host_to_a_server_with_a_key(self):
        server = Server("--api-key-file", key_file(type(self), STORE_KEY))
        self.addCleanup(server.stop)
        server.request("PUT", f"{PATH}/secret", bearer(STORE_KEY), SET)
        for headers, status in (
            ({"Host": "posenc.example", "X-Forwarded-For": "192.0.2.1"}, 200),
            ({"Host": "posenc.example", "Origin": "https://posenc.example"}, 200),
            ({"Host": "posenc.example", "Origin": "https://evil.example"}, 403),
        ):
            self.assertEqual(server.request("GET", LEARNED, headers).status, status, headers)


class Settings(unittest.TestCase):
    def refused(self, *flags):
        for action in ((), ("--check-config",)):
            ended = run("--port", "0", *flags, *action, seconds=30)
            self.assertEqual((ended.returncode, ended.stdout), (2, ""), ended)
            self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)
        return ended.stderr

    def test_keys_that_nobody_would_be_asked_for_stop_the_start(self):
        path = key_file(type(self), TABLES_KEY)
        self.assertIn("tables-key-file or api-key-file", self.refused("--tables", "key"))
        for tables in ((), ("--tables", "open"), ("--tables", "loopback")):
            self.assertIn("--tables key", self.refused(*tables, "--tables-key-file", path))
        self.refused("--tables", "closed")
        self.refused("--cors", "none")

    def test_a_file_that_is_no_key_stops_the_start(self):
        ended = run("--port", "0", "--tables", "key", "--tables-key-file", "/nonexistent/key")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("tables-key-file: /nonexistent/key", ended.stderr)


if __name__ == "__main__":
    unittest.main()
