"""Logs on stderr: one event is one line, whatever a client sends."""

import json
import re
import unittest

from server import ServerCase

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
RAW_TARGETS = [b"/\x1b[31mred", b"/\xff\xfe", b"/\x0b\x0c", b"/\xc2\x85\xe2\x80\xa8"]
RAW_TARGETS.append(b"/a\x7f\x01")
FIELDS = {"time", "level", "message", "method", "status", "bytes"}


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
        self.assertRegex(lines[0], r" status=200 bytes=[1-9]\d*\Z")

    def test_every_line_of_text_ends_in_status_and_size(self):
        server = self.start("--access-log")
        self.ask_for_all(server)
        for line in lines_of(server):
            with self.subTest(line[:80]):
                self.assertRegex(line, r" status=\d{3} bytes=\d+\Z")

    def test_a_target_cannot_pass_for_further_fields(self):
        server = self.start("--access-log")
        with server.wire() as wire:
            wire.ask("GET", "/nothing status=200 bytes=5")
            wire.receive()
        for line in lines_of(server):
            self.assertEqual(len(re.findall(r" status=", line)), 1, line)

    def test_a_request_is_one_line_of_json(self):
        server = self.start("--access-log", "--log-format", "json")
        count = self.ask_for_all(server)
        events = [json.loads(line) for line in lines_of(server)]
        self.assertEqual(len(events), count)
        for event in events:
            self.assertLessEqual(FIELDS, set(event))
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
