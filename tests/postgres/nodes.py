"""Several servers on one database, for tests."""

import hashlib
import os
import sys
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from cluster import ESCAPED, PASSWORD, Cluster  # noqa: E402
from server import Server, wait_until  # noqa: E402
from stored import PATH, floats, write  # noqa: E402

STANDSTILL = 1  # seconds of the machine after which a server may take its database as away


def large(count, first):
    """A file of `count` floats that repeat, quickly made."""
    piece = floats(4096, first)
    return write({"table": ("F32", [count], (piece * (count // 4096 + 1))[: 4 * count])})


def digest(body):
    return hashlib.sha256(body).hexdigest()


class PostgresCase(unittest.TestCase):
    """A cluster for each class, an empty database for each test."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.addClassCleanup(cls.cluster.close)

    def setUp(self):
        self.url = self.cluster.new_database()

    def start(self, *flags, url=None, reached=True):
        """A server, which has reached its database unless that cannot be."""
        # a busy machine may need more than the 2 s that a server waits for a connection by
        # default
        server = Server(
            *flags, environment={"POSENC_DATABASE_URL": url or f"{self.url}?connect_timeout=30"}
        )
        self.addCleanup(self.end, server)
        if reached:
            wait_until(lambda: self.is_up(server), "the database is reached")
        return server

    def end(self, server):
        """Stop a server, unless it was killed; what it has said shows no secret."""
        if server.stderr.closed:
            return
        log = server.log()
        if server.process.poll() is None:
            server.stop()
        for secret in (PASSWORD, ESCAPED):
            self.assertNotIn(secret, log)

    def put(self, server, name, body, **headers):
        return server.request("PUT", f"{PATH}/{name}", headers, body).status

    def get(self, server, name):
        return server.request("GET", f"{PATH}/{name}")

    def names(self, server):
        return [each["name"] for each in server.request("GET", PATH).json()["sets"]]

    def is_up(self, server):
        return server.metrics()["posenc_store_up"] == 1

    def assert_unavailable(self, reply):
        self.assertEqual(
            (reply.status, reply.json()["code"]), (503, "store_unavailable"), reply
        )
        self.assertEqual(reply.header("Retry-After"), "1")


def in_threads(count, task):
    """Run task(i) in threads that begin together; returns the results."""
    results, start = [None] * count, threading.Barrier(count)

    def run(i):
        start.wait()
        results[i] = task(i)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def seconds_until(holds, what, seconds=60):
    begin = time.monotonic()
    wait_until(holds, what, seconds)
    return time.monotonic() - begin


LONG = "POSTGRES_LONG" in os.environ
