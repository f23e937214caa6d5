"""What PostgreSQL adds, for docker/CAPACITY.md: python3 measure.py, with TEST_SERVER. One
cluster and two servers on this machine, and one server with SQLite beside them; medians."""

import statistics
import sys
import tempfile
import time
import unittest

from nodes import PATH, PostgresCase, large
from server import Server
from stored import simple, tag


def median_of(times):
    middle, least, most = (1000 * f(times) for f in (statistics.median, min, max))
    return f"{middle:.1f} ms ({least:.1f} to {most:.1f}, {len(times)} times)"


class Measure(PostgresCase):
    def setUp(self):
        super().setUp()
        flags = (
            "--set-cache-bytes",
            "0",
            "--max-upload-bytes",
            "256MiB",
            "--max-store-bytes",
            "16GiB",
        )
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.a, self.b = self.start(*flags), self.start(*flags)
        self.sqlite = Server(*flags, "--data-dir", folder.name)
        self.addCleanup(self.sqlite.stop)

    def timed(self, perform):
        begin = time.monotonic()
        reply = perform()
        return time.monotonic() - begin, reply

    def there_and_back(self, writer, reader, body):
        put, status = self.timed(lambda: self.put(writer, "set", body))
        self.assertIn(status, (201, 204))
        get, reply = self.timed(lambda: self.get(reader, "set"))
        self.assertEqual(reply.header("ETag"), tag(body))
        return put, get

    def test_figures(self):
        for size, times in ((16, 9), (256, 3)):
            for kind, writer, reader in (
                ("PostgreSQL", self.a, self.b),
                ("SQLite", self.sqlite, self.sqlite),
            ):
                pairs = [
                    self.there_and_back(writer, reader, large((size << 20) // 4 - 64, float(i)))
                    for i in range(times)
                ]
                puts, gets = zip(*pairs)
                print(
                    f"{kind}, {size} MiB: put {median_of(puts)}, get {median_of(gets)}",
                    flush=True,
                )
        with self.a.wire() as wire:
            looks = [
                self.timed(lambda: wire.exchange("GET", f"{PATH}/unknown"))[0]
                for _ in range(500)
            ]
            plain = [
                self.timed(lambda: wire.exchange("GET", "/health/live"))[0] for _ in range(500)
            ]
        print(f"an unknown name: {median_of(looks)}; /health/live: {median_of(plain)}")
        notices = []
        for i in range(200):
            body = simple(4, float(i))
            self.put(self.a, "small", body)
            begin = time.monotonic()
            while self.b.request("HEAD", f"{PATH}/small").header("ETag") != tag(body):
                pass
            notices.append(time.monotonic() - begin)
        print(f"a change is noticed: {median_of(notices)}")


if __name__ == "__main__":
    sys.exit(unittest.main())
