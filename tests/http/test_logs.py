"""Logs on stderr: one event is one line, whatever a client sends."""

import contextlib
import json
import os
import re
import socket
import tempfile
import unittest

from server import ServerCase, library_version
from steady import steadily

LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (info|warning|error) \S.*")
FORGED = "2026-01-01T00:00:00.000Z error forged"
TARGETS = [
    "/v1/info",
    f"/%0d%0a{FORGED.replace(' ', '%20')}",
    f"/v1/encodings/x%0A{FORGED.replace(' ', '%20')}?a=%0d%0ab",
    f"/v1/encodings/sinusoidal?length=%0d%0a{FORGED.replace(' ', '%20')}%0d%0a&dim=8",
    '/%22%2c%22level%22:%22error%22"quoted"\\n',
    "/%1b[31m%00%7f%ff",
    "/" + "a" * 3000,
    "/" + "%0a" * 3000,
]
RAW_TARGETS = [b"/\x1b[31mred", b"/\xff\xfe", b"/\xc2\x85\xe2\x80\xa8", b"/a\x7f\x01"]
if library_version() < (1,):
    RAW_TARGETS.append(b"/\x0b\x0c")  # since 1.0 libmicrohttpd closes without a word
FIELDS = {
    "time", "level", "message", "method", "target", "route", "status", "bytes", "duration",
    "peer", "request_id",
}  # fmt: skip
OPTIONAL = {"cache", "cut", "rejected", "trace_id", "span_id", "user_agent"}
END = r" bytes=\d+ duration=\d+\.\d{9}\Z"
KEY = "correct-horse-battery-staple"


def lines_of(server):
    """The whole lines on stderr; only a line feed ends one."""
    text = server.log()
    if not text.endswith("\n"):
        raise AssertionError(f"the last line is not whole: {text[-200:]!r}")
    return text[:-1].split("\n")


class AccessLog(ServerCase):
    def ask_for_all(self, server):
        """The number of requests made."""
        for target in TARGETS:
            server.request("GET", target)
        for target in RAW_TARGETS:
            with server.wire() as wire:
                wire.exchange("GET", target)
        return len(TARGETS) + len(RAW_TARGETS)

    def test_no_request_is_logged_unless_asked_for(self):
        server = self.start()
        self.ask_for_all(server)
        self.assertEqual(server.log(), "")

    def test_a_request_is_one_line_of_text(self):
        server = self.start("--access-log")
        count = self.ask_for_all(server)
        lines = lines_of(server)
        self.assertEqual(len(lines), count)
        for line in lines:
            self.assertRegex(line, LINE)
            self.assertNotIn(FORGED, line)
            self.assertRegex(line, r"\A[^\x00-\x1f\x7f]*\Z")
            self.assertIn(" method=GET ", line)
        self.assertIn(" target=/v1/info ", lines[0])
        self.assertRegex(lines[0], r" status=200 .* bytes=[1-9]\d* duration=")

    def test_every_line_of_text_ends_in_size_and_duration(self):
        server = self.start("--access-log")
        self.ask_for_all(server)
        for line in lines_of(server):
            with self.subTest(line[:80]):
                self.assertRegex(line, r" status=\d{3} .*" + END)

    def test_a_target_cannot_pass_for_further_fields(self):
        server = self.start("--access-log")
        for (
            blank
        ) in "\t\x1f\x85 ":  # the last one is refused by libmicrohttpd 1.0, without a line
            with server.wire() as wire:
                wire.ask("GET", f"/nothing{blank}status=200{blank}bytes=5".encode("latin-1"))
                wire.receive()
        lines = lines_of(server)
        self.assertEqual(len(lines), 4 if library_version() < (1,) else 3)
        for line in lines:
            self.assertEqual(len(re.findall(r"\sstatus=", line)), 1, line)

    def test_a_request_is_one_line_of_json(self):
        server = self.start("--access-log", "--log-format", "json")
        count = self.ask_for_all(server)
        events = [json.loads(line) for line in lines_of(server)]
        self.assertEqual(len(events), count)
        for event in events:
            self.assertLessEqual(FIELDS, set(event))
            self.assertLessEqual(set(event), FIELDS | OPTIONAL)
            self.assertTrue(0 < event["duration"] < 60)
            self.assertEqual(event["level"], "info")
            self.assertRegex(event["time"], r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\Z")
            self.assertIsInstance(event["status"], int)
        self.assertEqual([event["target"] for event in events[: len(TARGETS)]], TARGETS)

    def test_every_line_of_json_has_its_target(self):
        server = self.start("--access-log", "--log-format", "json")
        self.ask_for_all(server)
        for line in lines_of(server):
            with self.subTest(line[:80]):
                self.assertTrue(json.loads(line)["target"].startswith("/"))

    def test_the_path_of_the_log_carries_post_and_errors_too(self):
        server = self.start("--access-log", "--log-format", "json")
        server.request("POST", "/v1/encodings/integer", {"Content-Type": "text/plain"}, b"x")
        server.request("HEAD", "/v1/info")
        server.request("DELETE", "/v1/info")
        events = [json.loads(line) for line in lines_of(server)]
        seen = [(event["method"], event["status"]) for event in events]
        self.assertEqual(seen, [("POST", 415), ("HEAD", 200), ("DELETE", 405)])
        self.assertEqual(events[1]["bytes"], 0)

    def test_a_target_in_absolute_form_is_logged_as_its_path(self):
        server = self.start("--access-log", "--log-format", "json")
        with server.wire() as wire:
            wire.ask("GET", "http://localhost/v1/schemes/binary?x=1")
            wire.receive()
        (event,) = [json.loads(line) for line in lines_of(server)]
        self.assertEqual(event["target"], "/v1/schemes/binary?x=1")
        self.assertEqual(event["route"], "/v1/schemes/{scheme}")

    def test_a_line_tells_route_cache_peer_and_agent(self):
        server = self.start("--access-log", "--log-format", "json")
        target = "/v1/encodings/integer?length=5&format=raw"
        for _ in range(2):
            server.request("GET", target, {"User-Agent": "curl/8.0 (x)"})
        server.request("GET", "/v1/schemes/binary")
        first, second, third = [json.loads(line) for line in lines_of(server)]
        self.assertEqual((first["cache"], second["cache"]), ("miss", "hit"))
        self.assertEqual(first["route"], "/v1/encodings/{scheme}")
        self.assertEqual(first["peer"], "127.0.0.1")
        self.assertEqual(first["user_agent"], "curl/8.0 (x)")
        self.assertEqual(first["bytes"], 20)
        self.assertNotIn("cache", third)
        self.assertNotIn("user_agent", third)

    def test_a_unix_socket_has_no_address(self):
        with tempfile.TemporaryDirectory() as directory:
            server = self.start("--unix-socket", f"{directory}/s", "--access-log")
            server.request("GET", "/v1/info")
            self.assertIn(" peer=unix ", server.log())
            server.stop()


@steadily(0.5)  # deadlines are a second
class Attacks(ServerCase):
    """Bytes that would forge lines or fields, in whatever is logged."""

    bytes_ = bytes(range(1, 256))
    forged = b'x", "status": 200}\r\n{"level": "error", "message": "forged"}\n'

    def attacks(self):
        """Whole messages; an answer or an end of the connection follows each."""
        for value in (
            self.bytes_,
            self.forged,
            b"\xff\xfe",
            b"\xe2\x80\xa8",
            b"\\",
            b'"',
            b"\x1b[2J",
        ):
            folded = value.replace(b"\n", b"").replace(b"\r", b"")
            plain = bytes(c for c in value if c >= 32 and c != 127)
            for text in (value, folded, plain):
                yield b"GET /" + text.replace(b" ", b"") + b" HTTP/1.1\r\nHost: a\r\n\r\n"
                yield b"GET /a?" + text + b" HTTP/1.1\r\nHost: a\r\n\r\n"
                yield text.replace(b" ", b"") + b" / HTTP/1.1\r\nHost: a\r\n\r\n"
                for name in (b"User-Agent", b"X-Request-Id", b"traceparent", b"Host"):
                    lines = name + b": " + text + b"\r\n"
                    yield b"GET /v1/info HTTP/1.1\r\nHost: a\r\n" + lines + b"\r\n"

    def attack(self, form):
        times = (
            "--idle-seconds",
            "1",
            "--header-seconds",
            "1",
        )  # for those that are no requests
        server = self.start("--access-log", "--log-format", form, *times)
        with contextlib.ExitStack() as stack:
            wires = []
            for message in self.attacks():
                wires.append(stack.enter_context(server.wire()))
                wires[-1].send(message)
                wires[-1].socket.shutdown(socket.SHUT_WR)
            for wire in wires:
                with contextlib.suppress(OSError):
                    wire.take_rest()
        marker = server.request("GET", "/health/live", {"X-Request-Id": "the-last-one"})
        self.assertEqual(marker.status, 200)
        lines = lines_of(server)
        self.assertGreater(len(lines), 30)
        self.assertIn("the-last-one", lines[-1])
        for line in lines:
            self.assertRegex(line, r"\A[ -~]+\Z")
        return server, lines

    def test_every_request_stays_one_line_of_json(self):
        server, lines = self.attack("json")
        events = [json.loads(line) for line in lines]
        for event in events:
            self.assertEqual(event["message"], "request", event)
            self.assertEqual(event["level"], "info", event)
            self.assertLessEqual(FIELDS, set(event))
            self.assertLessEqual(set(event), FIELDS | OPTIONAL)
            self.assertRegex(event["request_id"], r"\A[A-Za-z0-9._:/+=@-]{1,128}\Z")
        agents = [
            event["user_agent"].encode("latin-1") for event in events if "user_agent" in event
        ]
        self.assertIn(b"\xff\xfe", agents, "no byte is lost")
        answered = sum(
            v for k, v in server.metrics().items() if k.startswith("posenc_requests_total")
        )
        self.assertEqual(len(events), answered, "one line a request")

    def test_every_request_stays_one_line_of_text(self):
        _, lines = self.attack("text")
        for line in lines:
            self.assertRegex(line, LINE)
            names = re.findall(r" (\w+)=", line)
            self.assertEqual(len(names), len(set(names)), line)
            self.assertLessEqual(set(names), FIELDS | OPTIONAL)
            self.assertRegex(line, END)

    def test_no_body_and_no_key_is_logged(self):
        secret = "a-secret-in-a-body"
        with tempfile.NamedTemporaryFile("w", delete=False) as file:
            file.write(KEY + "\n")
        self.addCleanup(os.unlink, file.name)
        for form in ("text", "json"):
            server = self.start(
                "--access-log", "--log-format", form, "--api-key-file", file.name
            )
            json_type = {"Content-Type": "application/json"}
            body = f'{{"length": "{secret}"}}'
            server.request("POST", "/v1/encodings/integer", json_type, body)
            for token in (KEY, f"wrong-{secret}"):
                given = {"Authorization": f"Bearer {token}", "Cookie": secret}
                server.request("PUT", "/v1/sets/a", given, secret.encode())
                server.request("GET", "/v1/sets/a", given)
            with server.wire() as wire:
                twice = b"Host: a\r\nHost: b\r\nAuthorization: Bearer " + KEY.encode()
                wire.send(b"GET /v1/sets HTTP/1.1\r\n" + twice + b"\r\n\r\n")
                self.assertEqual(wire.receive().status, 400)
            log = server.log()
            self.assertEqual(len(lines_of(server)), 6)
            self.assertNotIn(secret, log)
            self.assertNotIn(KEY, log)


class EventLog(ServerCase):
    def test_draining_and_stopping_are_logged(self):
        for form, parse in (("text", str), ("json", json.loads)):
            server = self.start("--log-format", form)
            server.process.terminate()
            server.wait()
            lines = lines_of(server)
            for line in lines:
                parse(line)
            self.assertIn("draining", lines[0])
            self.assertIn("stopped", lines[-1])


if __name__ == "__main__":
    unittest.main()
