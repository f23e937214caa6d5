"""Connections: keep-alive, pipelining, HTTP/1.0, uploads, and requests over the size limits."""

import json
import re
import threading
import unittest

from decode import pack
from server import ServerCase, wait_until

SINUSOIDAL = "/v1/encodings/sinusoidal"
RAW = f"{SINUSOIDAL}?length=4&dim=8&format=raw"
JSON = {"Content-Type": "application/json"}


def chunked(body, size):
    """A body in the chunked transfer coding."""
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


class KeepAlive(ServerCase):
    def connections(self, wire):
        """Those that are open, and all that have been."""
        text = wire.exchange("GET", "/metrics").body.decode()
        return tuple(
            int(re.search(rf"^posenc_connections{end} (\d+)$", text, re.MULTILINE)[1])
            for end in ("", "_total")
        )

    def test_many_requests_share_one_connection(self):
        watching = self.server.wire()
        self.addCleanup(watching.close)
        wait_until(lambda: self.connections(watching)[0] == 1, "it alone is open")
        before = self.connections(watching)[1]
        connection = self.server.connect()
        for i in range(200):
            connection.request("GET", f"/v1/encodings/integer?length=1&offset={i}&format=raw")
            self.assertEqual(connection.getresponse().read(), pack("f32", [i]))
        connection.close()
        # a connection is counted once it was handed over, and may be answered before
        wait_until(lambda: self.connections(watching) == (1, before + 1), "one that has ended")

    def test_errors_leave_the_connection_open(self):
        requests = [
            (400, "GET", SINUSOIDAL, {}, b""),
            (404, "GET", "/nothing", {}, b""),
            (405, "DELETE", SINUSOIDAL, {}, b""),
            (405, "PUT", SINUSOIDAL, JSON, b'{"length": 4}'),
            (406, "GET", f"{SINUSOIDAL}?length=4&dim=8", {"Accept": "text/html"}, b""),
            (414, "GET", f"/{'a' * 20000}", {}, b""),
            (415, "POST", SINUSOIDAL, {"Content-Type": "text/plain"}, b"length=4"),
            (400, "POST", SINUSOIDAL, JSON, b"{"),
            (422, "POST", SINUSOIDAL, JSON, b'{"length": 0, "dim": 8}'),
            (204, "OPTIONS", SINUSOIDAL, {}, b""),
        ]
        with self.server.wire() as wire:
            for status, method, target, headers, body in requests:
                reply = wire.exchange(method, target, headers, body)
                self.assertEqual(reply.status, status)
                self.assertIsNone(reply.header("Connection"), reply)
                self.assert_ok(wire.exchange("GET", "/health/live"))

    def test_a_client_that_asks_for_it_is_closed(self):
        with self.server.wire() as wire:
            reply = wire.exchange("GET", "/health/live", {"Connection": "close"})
            self.assert_ok(reply)
            self.assertEqual(reply.header("Connection").lower(), "close")
            self.assertTrue(wire.is_closed())

    def test_pipelined_requests_are_answered_in_order(self):
        with self.server.wire() as wire:
            text = b""
            for i in range(100):
                target = f"/v1/encodings/integer?length=1&offset={i}&format=raw"
                text += f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
            wire.send(text)
            for i in range(100):
                self.assertEqual(wire.receive().body, pack("f32", [i]))
            self.assertEqual(wire.pending, b"")

    def test_pipelined_requests_of_every_kind_stay_in_step(self):
        tag = self.get(RAW).header("ETag")
        requests = [
            ("GET", f"{SINUSOIDAL}?length=4&dim=8", {}, b"", 200),
            ("HEAD", f"{SINUSOIDAL}?length=4&dim=8&format=npy", {}, b"", 200),
            ("GET", RAW, {"If-None-Match": tag}, b"", 304),
            ("OPTIONS", SINUSOIDAL, {}, b"", 204),
            ("POST", SINUSOIDAL, JSON, b'{"length": 4, "dim": 8}', 200),
            ("GET", "/nothing", {}, b"", 404),
            ("HEAD", "/nothing", {}, b"", 404),
            ("GET", f"{SINUSOIDAL}?length=4", {}, b"", 400),
        ]
        with self.server.wire() as wire:
            for _ in range(5):
                for method, target, headers, body, _status in requests:
                    wire.ask(method, target, headers, body)
                for method, _target, _headers, _body, status in requests:
                    self.assertEqual(wire.receive(method).status, status)
            self.assertEqual(wire.pending, b"")

    def test_requests_may_arrive_byte_by_byte(self):
        text = f"GET {SINUSOIDAL}?length=4&dim=8 HTTP/1.1\r\nHost: localhost\r\n\r\n"
        with self.server.wire() as wire:
            for byte in text.encode():
                wire.send(bytes([byte]))
            self.assert_ok(wire.receive())

    def test_http_1_0_is_answered_and_closed(self):
        plain = self.get(f"{SINUSOIDAL}?length=4&dim=8")
        with self.server.wire() as wire:
            wire.send(f"GET {SINUSOIDAL}?length=4&dim=8 HTTP/1.0\r\n\r\n".encode())
            reply = self.assert_ok(wire.receive())
            self.assertEqual(reply.body, plain.body)
            self.assertIsNone(reply.header("Transfer-Encoding"))
            self.assertTrue(wire.is_closed())

    def test_http_1_0_may_keep_its_connection(self):
        with self.server.wire() as wire:
            for target in ("/health/live", f"{SINUSOIDAL}?length=4&dim=8", "/nothing"):
                keep = {"Connection": "keep-alive"}
                reply = wire.exchange("GET", target, keep, version="1.0")
                self.assertEqual(reply.header("Connection").lower(), "keep-alive")

    def test_http_1_0_is_never_sent_chunks(self):
        tag = self.get(f"{SINUSOIDAL}?length=4&dim=8").header("ETag")
        for method, headers in (("HEAD", {}), ("GET", {"If-None-Match": tag})):
            with self.server.wire() as wire:
                target = f"{SINUSOIDAL}?length=4&dim=8"
                reply = wire.exchange(method, target, headers, version="1.0")
                self.assertIsNone(reply.header("Transfer-Encoding"))
                self.assertTrue(wire.is_closed(), "and nothing was sent after the head")

    def test_a_client_that_leaves_in_the_middle_hurts_nobody(self):
        texts = [b"", b"G", b"GET /v1/inf", b"GET /v1/info HTTP/1.1\r\nHo"]
        post = f"POST {SINUSOIDAL} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{{"
        large = f"GET {SINUSOIDAL}?length=4096&dim=256&format=raw HTTP/1.1\r\nHost: x\r\n\r\n"
        texts += [post.encode(), large.encode()]
        for text in texts:
            wire = self.server.wire()
            wire.send(text)
            wire.close()
        self.assert_ok(self.get("/health/live"))


class Uploads(ServerCase):
    flags = ("--max-body-bytes", "4096", "--max-target-bytes", "1000")
    document = json.dumps({"length": 4, "dim": 8}).encode()

    def body(self, size):
        """A legal body of exactly this size."""
        return self.document + b" " * (size - len(self.document))

    def test_a_body_of_the_limit_is_read_and_one_byte_more_is_413(self):
        with self.server.wire() as wire:
            self.assert_ok(wire.exchange("POST", SINUSOIDAL, JSON, self.body(4096)))
        with self.server.wire() as wire:
            reply = wire.exchange("POST", SINUSOIDAL, JSON, self.body(4097))
            self.assert_problem(reply, 413, code="payload_too_large")

    def test_an_announced_body_over_the_limit_is_413_unread(self):
        for length in (2**31, 2**40, 2**63 - 1):
            with self.subTest(length), self.server.wire() as wire:
                headers = {**JSON, "Content-Length": str(length)}
                reply = wire.exchange("POST", SINUSOIDAL, headers)
                self.assert_problem(reply, 413)

    def test_a_client_that_sends_a_large_body_regardless_gets_its_413(self):
        # as curl does: reading while writing
        for size in (4097, 100_000, 16 << 20):
            with self.subTest(size), self.server.wire() as wire:
                sender = threading.Thread(target=self.send_all, args=(wire, size))
                sender.start()
                try:
                    self.assert_problem(wire.receive(), 413)
                finally:
                    wire.abort()
                    sender.join()

    def test_a_client_that_writes_before_it_reads_gets_its_413(self):
        # as http.client and most others do
        for size in (4097, 100_000, 1 << 20):
            with self.subTest(size):
                self.assert_problem(self.post(SINUSOIDAL, self.body(size)), 413)

    def send_all(self, wire, size):
        try:
            wire.ask("POST", SINUSOIDAL, JSON, self.body(size))
        except OSError:
            pass  # the server need not read what it refuses

    def test_chunked_bodies_are_read_up_to_the_limit(self):
        coding = {**JSON, "Transfer-Encoding": "chunked"}
        for size in (1, 7, 4096):
            with self.server.wire() as wire:
                body = chunked(self.body(4096), size)
                self.assert_ok(wire.exchange("POST", SINUSOIDAL, coding, body))
                self.assertTrue(wire.is_closed())
        for size in (1, 1000, 5000):
            with self.server.wire() as wire:
                body = chunked(self.body(4097), size)
                self.assert_problem(wire.exchange("POST", SINUSOIDAL, coding, body), 413)
                self.assertTrue(wire.is_closed())

    def test_a_large_chunked_body_is_not_kept(self):
        with self.server.wire() as wire:
            self.assert_ok(wire.exchange("GET", "/health/live"))
            before = self.server.resident()
            body = chunked(self.body(64 << 20), 1 << 20)
            coding = {**JSON, "Transfer-Encoding": "chunked"}
            self.assert_problem(wire.exchange("POST", SINUSOIDAL, coding, body), 413)
            self.assertLess(self.server.resident() - before, 32 << 20)

    def test_expect_100_continue_is_answered_before_the_body(self):
        with self.server.wire() as wire:
            length = str(len(self.document))
            headers = {**JSON, "Expect": "100-continue", "Content-Length": length}
            self.assertEqual(wire.exchange("POST", SINUSOIDAL, headers).status, 100)
            wire.send(self.document)
            self.assert_ok(wire.receive())

    def test_expect_100_continue_of_too_large_a_body_is_413_at_once(self):
        with self.server.wire() as wire:
            headers = {**JSON, "Expect": "100-continue", "Content-Length": "5000"}
            self.assert_problem(wire.exchange("POST", SINUSOIDAL, headers), 413)

    def test_a_target_of_the_limit_is_read_and_one_byte_more_is_414(self):
        with self.server.wire() as wire:
            for size, status in ((1000, 400), (1001, 414), (5000, 414), (1000, 400)):
                query = f"{SINUSOIDAL}?layout="
                reply = wire.exchange("GET", query + "a" * (size - len(query)))
                problem = self.assert_problem(reply, status)
                if status == 414:
                    self.assertEqual(problem["code"], "target_too_long")
                    self.assertIn("POST", problem["detail"])


class DefaultLimits(ServerCase):
    def test_targets_of_16_kib_are_read_and_longer_ones_are_414(self):
        start = f"{SINUSOIDAL}?dim=2&format=raw&positions="
        with self.server.wire() as wire:
            for size in (16383, 16384, 16385, 20000, 24000):
                room = size - len(start)
                target = start + "0," * ((room - 1) // 2) + ("0" if room % 2 else "10")
                self.assertEqual(len(target), size)
                reply = wire.exchange("GET", target)
                if size <= 16384:
                    self.assert_ok(reply)
                else:
                    self.assert_problem(reply, 414, code="target_too_long")

    def test_a_body_of_8_mib_is_read_and_one_byte_more_is_413(self):
        body = b'{"length": 4, "dim": 8}'
        self.assert_ok(self.post(SINUSOIDAL, body.ljust(8 << 20)))
        self.assert_problem(self.post(SINUSOIDAL, body.ljust((8 << 20) + 1)), 413)

    def test_414_is_ours_for_every_method(self):
        for method in ("GET", "POST", "DELETE", "OPTIONS", "BREW"):
            self.assert_problem(self.server.request(method, f"/v1/info?{'a' * 17000}"), 414)
        self.assertEqual(self.head(f"/v1/info?{'a' * 17000}").status, 414)


if __name__ == "__main__":
    unittest.main()
