"""What docker/fleet/nginx.conf promises: answers are kept, ranges fetch parts, and nothing of
another client's request comes with them."""

import contextlib
import http.client
import json
import re
import subprocess
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fleet import (
    FLEET,
    GIVEN_UP,
    HOPELESS,
    HURRIED,
    NODES,
    FakeNode,
    Node,
    attempts,
    counted,
)
from server import PATIENCE, free_port, wait_until


class NginxCase(unittest.TestCase):
    """nginx in front of the nodes that `start_nodes` makes."""

    @classmethod
    def start_nodes(cls):
        return [Node("--drain-seconds", "2") for _ in NODES]

    @classmethod
    def setUpClass(cls):
        cls.nodes = cls.start_nodes()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        Path(folder.name).chmod(0o755)  # workers of a root process run as another user
        cls.port = free_port()
        text = (FLEET / "nginx.conf").read_text()
        for i, port in enumerate([cls.port, *(node.port for node in cls.nodes)]):
            text = re.sub(rf"127\.0\.0\.1:{8080 + i}\b", f"127.0.0.1:{port}", text)
        path = Path(folder.name) / "nginx.conf"
        path.write_text(text)
        cls.process = subprocess.Popen(
            ["nginx", "-p", folder.name, "-c", path], stdin=subprocess.DEVNULL
        )
        cls.addClassCleanup(cls.stop)
        wait_until(cls.answers, "nginx answers")

    @classmethod
    def stop(cls):
        cls.process.terminate()
        cls.process.wait(PATIENCE)
        for node in cls.nodes:
            node.die()

    @classmethod
    def answers(cls):
        with contextlib.suppress(OSError):
            return cls.get("/health/ready")[0] == 200

    @classmethod
    def ask(cls, method, target, body=None, headers=None):
        with contextlib.closing(
            http.client.HTTPConnection("127.0.0.1", cls.port, timeout=PATIENCE)
        ) as wire:
            wire.request(method, target, body, headers or {})
            reply = wire.getresponse()
            return reply.status, reply.headers, reply.read()

    @classmethod
    def get(cls, target, **headers):
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return cls.ask("GET", target, None, named)


class Cache(NginxCase):
    def sent(self):
        """Bytes of bodies that the nodes have sent."""
        return sum(
            value
            for node in self.nodes
            for series, value in node.server.metrics().items()
            if series.startswith("posenc_response_body_bytes_total")
        )

    def test_an_answer_is_kept_without_what_belongs_to_one_client(self):
        target = "/v1/encodings/sinusoidal?length=64&dim=64&format=raw"
        first = self.get(target, X_Request_Id="mine")
        second = self.get(target, X_Request_Id="yours")
        self.assertEqual(
            [reply[1]["X-Proxy-Cache"] for reply in (first, second)], ["MISS", "HIT"]
        )
        self.assertEqual(first[2], second[2])
        self.assertEqual(
            [reply[1]["X-Request-Id"] for reply in (first, second)], ["mine", "yours"]
        )
        self.assertIsNone(second[1]["Server-Timing"])
        self.assertEqual(second[1]["ETag"], first[1]["ETag"])

    def test_a_range_fetches_a_part(self):
        target = "/v1/encodings/sinusoidal?length=32768&dim=256&format=raw"  # 32 MiB
        before = self.sent()
        status, headers, body = self.get(target, Range="bytes=20000000-20000015")
        self.assertEqual((status, len(body)), (206, 16))
        self.assertEqual(headers["Content-Range"], "bytes 20000000-20000015/33554432")
        self.assertTrue(0 < self.sent() - before < 4 << 20)
        whole = self.get(target)
        self.assertEqual((whole[0], len(whole[2])), (200, 1 << 25))
        self.assertEqual(whole[2][20000000:20000016], body)

    def test_forms_and_codings_are_kept_apart(self):
        target = "/v1/encodings/sinusoidal?length=64&dim=64"
        kinds = [
            self.get(target, Accept=accept)[1]["Content-Type"]
            for accept in ("application/json", "text/csv")
        ]
        self.assertEqual(len(set(kinds)), 2, kinds)
        codings = [
            self.get(target, Accept_Encoding=coding)[1]["Content-Encoding"]
            for coding in ("gzip, br", "identity")
        ]
        self.assertEqual(codings, ["gzip", None])

    def test_a_problem_is_not_kept(self):
        target = "/v1/encodings/sinusoidal?length=0&dim=64"
        self.assertEqual(
            [self.get(target)[1]["X-Proxy-Cache"] for _ in range(2)], ["MISS", "MISS"]
        )

    def test_another_node_answers_for_a_dead_one(self):
        self.nodes[0].die()
        try:
            for i in range(30):
                self.assertEqual(
                    self.get(f"/v1/encodings/sinusoidal?length=4&dim=8&offset={i}")[0], 200
                )
        finally:
            self.nodes[0].come_back()


class Access(NginxCase):
    def test_nodes_without_a_key_keep_their_store_to_themselves(self):
        self.assertEqual(attempts(lambda *each: self.ask(*each)[0]), {403})

    def test_a_stored_table_is_read_by_the_name_that_the_client_uses(self):
        """The page's own origin is judged by Host, and Host by loopback names."""
        target = "/v1/encodings/learned?set=nosuch&length=4"
        host = f"127.0.0.1:{self.port}"
        for name, origin, status in (
            (host, f"http://{host}", 422),
            (host, "http://evil.example", 403),
            ("evil.example", "http://evil.example", 403),
        ):
            self.assertEqual(self.get(target, Host=name, Origin=origin)[0], status, name)


class Deadlines(NginxCase):
    @classmethod
    def start_nodes(cls):
        return [Node(*HURRIED) for _ in NODES]

    def test_a_computation_that_takes_too_long_is_made_once_and_hurts_nobody_else(self):
        with ThreadPoolExecutor(1) as pool:
            hopeless = pool.submit(self.get, HOPELESS)
            statuses, number = set(), 0
            while not hopeless.done() or number < 100:
                target = f"/v1/encodings/integer?length=4&offset={number}"
                statuses.add(self.get(target)[0])
                number += 1
        status, _, body = hopeless.result()
        self.assertEqual((status, json.loads(body)["code"]), (422, "deadline_exceeded"))
        self.assertEqual(counted(self.nodes, GIVEN_UP), 1)
        self.assertEqual(statuses, {200})


def store_is_away(target):
    """What a node says whose database is away: a 503 for a set, 200 else."""
    status = b"503 Service Unavailable" if re.search(r"[?&]set=", target) else b"200 OK"
    return b"HTTP/1.1 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" % status


class DatabaseAway(NginxCase):
    @classmethod
    def start_nodes(cls):
        return [FakeNode(store_is_away) for _ in NODES]

    def test_the_answers_to_one_client_take_no_node_from_the_others(self):
        for number in range(5):
            stored = f"/v1/encodings/learned?set=nosuch&length={number + 1}"
            self.assertEqual(self.get(stored)[0], 503)
            others = {
                self.get(f"/v1/encodings/integer?length=4&offset={10 * number + i}")[0]
                for i in range(10)
            }
            self.assertEqual(others, {200})


if __name__ == "__main__":
    unittest.main()
