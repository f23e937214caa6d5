"""Request ids and traceparents: accepted, replaced or ignored, returned, and written to the
log."""

import json
import unittest

from server import ServerCase, library_version

HIT = "/v1/encodings/integer?length=6&format=raw"
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"
LEGAL = ("a", "7c1e0a52-9d3b", "A.b_c:d/e+f=g@h-i", "x" * 128)
ILLEGAL = ("a b", "x" * 129, "a,b", "a;b", '"a"', "<a>", "a\tb", b"\xc3\xa9", "{}", "a\\b")
SAFE = r"\A[A-Za-z0-9._:/+=@-]{1,128}\Z"


def with_id(value, **more):
    return {"X-Request-Id": value, **more}


class RequestIds(ServerCase):
    def test_a_legal_one_comes_back_with_every_kind_of_answer(self):
        tag = self.get(HIT).header("ETag")
        json_type = {"Content-Type": "application/json"}
        requests = [
            (200, "GET", HIT, {}, b""),
            (200, "HEAD", HIT, {}, b""),
            (200, "POST", "/v1/encodings/integer", json_type, b'{"length": 3}'),
            (200, "GET", "/metrics", {}, b""),
            (204, "OPTIONS", HIT, {}, b""),
            (206, "GET", HIT, {"Range": "bytes=1-2"}, b""),
            (304, "GET", HIT, {"If-None-Match": tag}, b""),
            (400, "GET", "/v1/encodings/integer", {}, b""),
            (400, "GET", HIT + "&x=%00", {}, b""),
            (403, "GET", "/v1/sets", {"Origin": "https://example.com"}, b""),
            (404, "GET", "/nothing", {}, b""),
            (405, "BREW", HIT, {}, b""),
            (413, "POST", "/v1/encodings/integer", {"Content-Length": "999999999"}, b""),
        ]
        if library_version() < (1,):  # since 1.0 libmicrohttpd answers this itself
            coding = {"Transfer-Encoding": "gzip"}
            requests.append((501, "POST", "/v1/encodings/integer", coding, b""))
        for status, method, target, headers, body in requests:
            with self.subTest(f"{status} {method}"), self.server.wire() as wire:
                given = with_id("id-1", traceparent=PARENT, **headers)
                reply = wire.exchange(method, target, given, body)
                self.assertEqual(reply.status, status)
                self.assertEqual(reply.header("X-Request-Id"), "id-1")
                self.assertEqual(reply.header("traceparent"), PARENT)
                self.assert_open_to_browsers(reply)

    def test_each_connection_gets_its_own_and_who_sent_none_gets_none(self):
        for i, legal in enumerate(LEGAL):
            with self.server.wire() as wire:
                for value in (legal, f"other-{i}"):
                    self.assertEqual(
                        wire.exchange("GET", HIT, with_id(value)).header("X-Request-Id"), value
                    )
                reply = wire.exchange("GET", HIT)
                self.assertIsNone(reply.header("X-Request-Id"))
                self.assertIsNone(reply.header("traceparent"))
                self.assertEqual(reply.header("Cache-Status"), "posenc; hit")

    def test_an_illegal_one_is_replaced(self):
        seen = set()
        for value in ILLEGAL:
            with self.server.wire() as wire:
                reply = wire.exchange("GET", HIT, with_id(value))
            self.assertEqual(reply.status, 200)
            self.assertRegex(reply.header("X-Request-Id"), SAFE)
            seen.add(reply.header("X-Request-Id"))
        with self.server.wire() as wire:
            wire.send(
                f"GET {HIT} HTTP/1.1\r\nHost: a\r\nX-Request-Id: a\r\nX-Request-Id: "
                "b\r\n\r\n".encode()
            )
            seen.add(wire.receive().header("X-Request-Id"))
        self.assertEqual(len(seen - {"a", "b", *ILLEGAL}), len(ILLEGAL) + 1)

    def test_an_illegal_traceparent_is_ignored(self):
        for value in ("", "00", PARENT.upper(), PARENT[:-1], PARENT + "0", f"ff{PARENT[2:]}",
                      f"00-{'0' * 32}-{SPAN}-01", f"00-{TRACE}-{'0' * 16}-01"):  # fmt: skip
            reply = self.get(HIT, {"traceparent": value})
            self.assertEqual(reply.status, 200)
            self.assertIsNone(reply.header("traceparent"), value)
        later = f"cc{PARENT[2:]}-more"
        self.assertEqual(self.get(HIT, {"traceparent": later}).header("traceparent"), PARENT)

    def test_browsers_may_send_and_read_them(self):
        asked = {"Origin": "https://example.com", "Access-Control-Request-Method": "GET"}
        for method, name in (("OPTIONS", "Allow-Headers"), ("GET", "Expose-Headers")):
            reply = self.server.request(method, HIT, asked)
            listed = reply.header(f"Access-Control-{name}").lower().split(", ")
            self.assertLessEqual({"x-request-id", "traceparent"}, set(listed))


class Logged(ServerCase):
    def test_the_log_has_what_came_or_else_a_new_id_that_the_client_gets_too(self):
        server = self.start("--access-log", "--log-format", "json")
        replies = [
            server.request("GET", HIT, headers)
            for headers in (with_id("id-1", traceparent=PARENT), {}, {}, with_id("no good"))
        ]
        events = [json.loads(line) for line in server.log().splitlines()]
        told = [reply.header("X-Request-Id") for reply in replies]
        self.assertEqual([event["request_id"] for event in events], told)
        self.assertEqual(told[0], "id-1")
        self.assertEqual(len(set(told)), 4)
        for value in told:
            self.assertRegex(value, SAFE)
        self.assertEqual((events[0]["trace_id"], events[0]["span_id"]), (TRACE, SPAN))
        for event in events[1:]:
            self.assertNotIn("trace_id", event)
            self.assertNotIn("span_id", event)


if __name__ == "__main__":
    unittest.main()
