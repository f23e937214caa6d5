"""Random exchanges with a server, repeated by the command: statuses, header fields, bytes."""

import os
import random
import tempfile
import unittest
from collections import Counter

from comparison import VARYING_HEADERS
from draws import PATIENT, Draw, Scout
from random_requests import Requests
from server import Server
from test_command import call

COUNT = int(os.environ.get("COMMAND_EXCHANGES", "150"))
KINDS = {"encodings": 8, "trained": 1, "documents": 1, "conditions": 1, "ranges": 1, "posts": 5}
SERVERS = ("/v1/info", "/metrics")  # documents that tell of the process that answers
# What the api reads; any other field is one of the transport.
READ = {
    *("accept", "accept-encoding", "content-type", "if-match", "if-none-match", "if-range"),
    *("origin", "range"),
}
# A table may have been cached there, and the transport adds what is its own.
OWN = {"cache-status", "connection", "content-length", "traceparent", "transfer-encoding"}


def fields_of(pairs):
    varying = {*VARYING_HEADERS, *OWN}
    return sorted((name, value) for name, value in pairs if name.lower() not in varying)


class Repeated(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        """Exchanges with a server, which then leaves its sets to the command."""
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.sets = ("--data-dir", f"{folder.name}/sets")
        drawn = random.Random(os.environ.get("TEST_SEED"))
        server = Server(*PATIENT, *cls.sets)
        try:
            scout = Scout(server)
            requests = Requests(drawn, Draw(drawn, scout), KINDS)
            cls.exchanges = [cls.exchange(server, requests) for _ in range(COUNT)]
            scout.wire.close()
        finally:
            server.stop()

    @staticmethod
    def exchange(server, requests):
        asked = requests.next()
        while asked.kind == "the pages" or asked.target in SERVERS:
            asked = requests.next()
        headers = {
            name: value.replace("{tag}", asked.tags[0])
            for name, value in asked.headers.items()
            if name.lower() in READ
        }
        reply = server.request(asked.method, asked.target, headers, asked.body or None)
        requests.remember(asked, reply, reply)
        return asked, headers, reply

    def repeat(self, asked, headers):
        """(status, fields, body) by the command."""
        arguments = [*self.sets, "--include", "-X", asked.method, asked.target]
        for name, value in headers.items():
            arguments += ["-H", f"{name}: {value}"]
        ended = call(*arguments, *(["-"] if asked.body else []), body=asked.body or None)
        head, body = ended.stdout.split(b"\r\n\r\n", 1)
        first, *lines = head.decode("latin-1").split("\r\n")
        return int(first.split()[1]), [line.split(": ", 1) for line in lines], body

    def test_the_command_says_what_the_server_has_said(self):
        seen = Counter()
        for asked, headers, reply in self.exchanges:
            with self.subTest(asked=asked[:3], headers=headers):
                status, fields, body = self.repeat(asked, headers)
                self.assertEqual(status, reply.status)
                self.assertEqual(fields_of(fields), fields_of(reply.fields))
                self.assertEqual(body, reply.body)
            seen[reply.status // 100] += 1
        self.assertGreater(seen[2], COUNT / 3, seen)


if __name__ == "__main__":
    unittest.main()
