"""Mixed requests from several clients, with a cache much smaller than the tables they need:
every answer is correct to the byte, and the server stops in the middle. `make tsan` runs this
under ThreadSanitizer."""

import hashlib
import os
import random
import tempfile
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

from server import ServerCase, wait_until
from stored import PATH, floats, write

CLIENTS = 6
REQUESTS = int(os.environ.get("MIXED_REQUESTS", "150"))  # of each client
WORKING_SET = 120
NAMES = ("a", "b", "c")
ROWS, DIM = 40, 64
FLAGS = "--cache-bytes 256KiB --threads 3 --drain-seconds 1 --compute-queue 4096".split()


def table_set(first):
    """A set for `learned`: its table counts from `first`."""
    return write({"table": ("F32", [ROWS, DIM], floats(ROWS * DIM, first))})


def targets():
    """(targets of tables of 4 to 30 KB in all forms, targets of streams)"""
    forms = ("raw", "npy", "json", "safetensors")
    held = [
        f"/v1/encodings/{scheme}?length={16 + i}&dim=64&offset={i}&format={forms[i % 4]}"
        for i in range(WORKING_SET // 2)
        for scheme in ("sinusoidal", "periodic")
    ]
    streams = [
        f"/v1/encodings/sinusoidal?length={4000 + i}&dim=64&format={form}"
        for i, form in enumerate(("raw", "npy", "safetensors", "raw"))
    ]
    return held, streams


class Client:
    """A connection; it is opened again after a reply with Connection: close."""

    def __init__(self, server):
        self.server, self.wire = server, server.wire()

    def exchange(self, method, *request):
        reply = self.wire.exchange(method, *request)
        if (reply.header("Connection") or "").lower() == "close":
            self.renew()
        return reply

    def renew(self):
        self.wire.close()
        self.wire = self.server.wire()


class MixedLoad(ServerCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="posenc-")
        cls.addClassCleanup(directory.cleanup)
        cls.flags = (*FLAGS, "--data-dir", directory.name)
        super().setUpClass()
        cls.held, cls.streams = targets()

    def setUp(self):
        self.digests, self.lock = {}, threading.Lock()
        self.versions = {}
        for i in range(8):
            body = table_set(1000.0 * i)
            self.versions[hashlib.sha256(body).hexdigest()] = floats(ROWS * DIM, 1000.0 * i)

    def check_bits(self, key, body):
        """Check that equal requests get equal bodies."""
        digest = hashlib.sha256(body).digest()
        with self.lock:
            self.assertEqual(self.digests.setdefault(key, digest), digest, key)

    # ---- what a client does; each takes a client and its random numbers ----

    def read(self, client, chance):
        target = chance.choice(self.held)
        reply = client.exchange("GET", target)
        self.assert_ok(reply)
        self.check_bits(target, reply.body)
        again = client.exchange("GET", target, {"If-None-Match": reply.header("ETag")})
        self.assertEqual(again.status, 304, again)

    def read_coded(self, client, chance):
        target = chance.choice([t for t in self.held if t.endswith("json")])
        reply = client.exchange("GET", target, {"Accept-Encoding": "gzip"})
        self.assert_ok(reply)
        self.check_bits(target + " as gzip", reply.body)

    def read_part(self, client, chance):
        target = chance.choice([t for t in self.held + self.streams if t.endswith("raw")])
        reply = client.exchange("GET", target, {"Range": "bytes=100-1099"})
        self.assertEqual((reply.status, len(reply.body)), (206, 1000), reply)
        self.check_bits(target + " in part", reply.body)

    def read_stream(self, client, chance):
        target = chance.choice(self.streams)
        reply = client.exchange("GET", target)
        self.assert_ok(reply)
        self.check_bits(target, reply.body)

    def leave_in_the_middle(self, _, chance):
        with self.server.wire(receive_buffer=4096) as other:
            other.ask("GET", chance.choice(self.streams))
            other.take(chance.randrange(5000))

    def post(self, client, chance):
        body = b'{"length": 9, "dim": 64, "offset": %d, "format": "raw"}' % chance.randrange(40)
        reply = client.exchange(
            "POST", "/v1/encodings/sinusoidal", {"Content-Type": "application/json"}, body
        )
        self.assert_ok(reply)
        self.check_bits(body, reply.body)

    def look_around(self, client, chance):
        for target in ("/metrics", "/v1/info", "/v1/schemes", "/health/ready", PATH):
            self.assert_ok(client.exchange("GET", target))
        self.assertEqual(client.exchange("HEAD", chance.choice(self.held)).status, 200)
        self.assertEqual(client.exchange("GET", "/v1/encodings/sinusoidal?dim=x").status, 400)

    def change_a_set(self, client, chance):
        name = f"{PATH}/{chance.choice(NAMES)}"
        if chance.random() < 0.2:
            self.assertIn(client.exchange("DELETE", name).status, (204, 404))
        else:
            body = table_set(1000.0 * chance.randrange(8))
            self.assertIn(client.exchange("PUT", name, None, body).status, (201, 204))

    def use_a_set(self, client, chance):
        name = chance.choice(NAMES)
        reply = client.exchange(
            "GET", f"/v1/encodings/learned?set={name}&length={ROWS}&format=raw"
        )
        self.assertIn(reply.status, (200, 422), reply)
        if reply.status == 200:  # one of the versions, whole
            self.assertIn(reply.body, self.versions.values())
        reply = client.exchange("GET", f"{PATH}/{name}")
        if reply.status == 200:
            self.assertIn(hashlib.sha256(reply.body).hexdigest(), self.versions)

    def run_client(self, number):
        chance = random.Random(number)
        kinds = [self.read] * 6 + [
            self.read_coded,
            self.read_part,
            self.read_stream,
            self.post,
            self.leave_in_the_middle,
            self.look_around,
            self.change_a_set,
            self.use_a_set,
        ]
        client = Client(self.server)
        try:
            for _ in range(REQUESTS):
                chance.choice(kinds)(client, chance)
                if chance.random() < 0.05:
                    client.renew()
        finally:
            client.wire.close()

    def test_every_answer_is_right_and_the_cache_gives_way(self):
        with ThreadPoolExecutor(CLIENTS) as pool:
            list(pool.map(self.run_client, range(CLIENTS)))
        metrics = self.server.metrics()
        asked = CLIENTS * REQUESTS
        self.assertGreater(
            metrics["posenc_cache_evictions_total"], min(WORKING_SET, asked // 8)
        )
        self.assertLessEqual(metrics["posenc_cache_bytes"], 256 << 10)
        self.assertGreater(len(self.digests), min(WORKING_SET // 2, asked // 4))

    def test_it_stops_in_the_middle(self):
        server = self.start(*FLAGS)
        asked, end = [0] * CLIENTS, threading.Event()

        def ask(number):
            chance = random.Random(number)
            while not end.is_set():
                try:
                    with server.wire() as wire:
                        for _ in range(20):
                            target = chance.choice(self.held + self.streams)
                            if wire.exchange("GET", target).status in (200, 503):
                                asked[number] += 1
                except (OSError, EOFError):
                    time.sleep(0.01)  # it has stopped, or is about to

        clients = [threading.Thread(target=ask, args=(i,)) for i in range(CLIENTS)]
        for client in clients:
            client.start()
        try:
            wait_until(lambda: all(asked), "every client is answered")
            server.stop()  # fails where it does not end, or a sanitizer has something to say
        finally:
            end.set()
            for client in clients:
                client.join()


if __name__ == "__main__":
    unittest.main()
