"""The database goes away and comes back: what is in memory is served, nothing is called unknown
that may exist, and no set that was acknowledged is lost."""

import collections
import contextlib
import threading
import time
import unittest

from cluster import Cluster
from nodes import PATH, STANDSTILL, PostgresCase, large, seconds_until
from server import wait_until
from steady import steadily
from stored import floats, simple, tag, write

ENCODING = "/v1/encodings/sinusoidal?length=4&dim=8&format=raw"


def table_of(name):
    return f"/v1/encodings/learned?set={name}&length=4&format=raw"


def matrix(first):
    """A set of one table of 4 x 2."""
    return write({"table": ("F32", [4, 2], floats(8, first))})


class OutageCase(PostgresCase):
    """The database answers again after each test."""

    def tearDown(self):
        self.cluster.pause(False)
        self.cluster.stop()
        self.cluster.start()


@steadily(STANDSTILL)
class Outage(OutageCase):
    def test_it_starts_without_the_database_and_comes_to_it(self):
        self.cluster.stop()
        server = self.start(reached=False)
        self.assertFalse(self.is_up(server))
        self.assertEqual(server.request("GET", "/health/ready").status, 200)
        self.assertEqual(server.request("GET", ENCODING).status, 200)
        for method, target in (
            ("GET", PATH),
            ("GET", f"{PATH}/one"),
            ("HEAD", f"{PATH}/one"),
            ("GET", table_of("one")),
            ("DELETE", f"{PATH}/one"),
        ):
            reply = server.request(method, target)
            self.assertEqual(reply.status, 503, (method, target))
            if method != "HEAD":
                self.assert_unavailable(reply)
        self.assert_unavailable(server.request("PUT", f"{PATH}/one", {}, simple()))
        self.cluster.start()
        wait_until(lambda: self.is_up(server), "the database is found")
        self.assertEqual(self.get(server, "one").status, 404)
        self.assertEqual(self.put(server, "one", simple()), 201)
        self.assertEqual(self.names(server), ["one"])

    def test_what_is_in_memory_is_served_while_the_database_is_away(self):
        server = self.start("--set-cache-bytes", "64KiB")
        self.assertEqual(self.put(server, "cached", matrix(1.0)), 201)
        self.assertEqual(self.put(server, "listed", large(100_000, 2.0)), 201)
        self.assertEqual(server.request("GET", table_of("cached")).status, 200)
        self.cluster.kill()
        wait_until(lambda: not self.is_up(server), "it is noticed")
        for _ in range(3):
            self.assertEqual(server.request("GET", table_of("cached")).status, 200)
            self.assertEqual(self.get(server, "cached").body, matrix(1.0))
            self.assertEqual(self.names(server), ["cached", "listed"])
            self.assertEqual(server.request("HEAD", f"{PATH}/listed").status, 200)
            for name in ("listed", "unknown"):
                self.assert_unavailable(self.get(server, name))
                self.assert_unavailable(server.request("GET", table_of(name)))
            self.assert_unavailable(server.request("PUT", f"{PATH}/new", {}, simple()))
            self.assert_unavailable(server.request("DELETE", f"{PATH}/cached"))
            self.assertEqual(server.request("GET", "/health/ready").status, 200)
        self.cluster.start()
        print(
            "postgres: reached again after "
            f"{seconds_until(lambda: self.is_up(server), 'it is back'):.2f} s"
        )
        self.assertEqual(self.get(server, "listed").body, large(100_000, 2.0))
        self.assertEqual(self.get(server, "unknown").status, 404)
        self.assertEqual(self.put(server, "new", simple()), 201)

    def test_a_database_that_hangs_is_noticed(self):
        """Connections stay open, nothing answers: no request waits for ever, and none on an
        event thread."""
        server = self.start("--threads", "1", "--set-cache-bytes", "64KiB", url=self.url)
        self.put(server, "cached", matrix(1.0))
        self.put(server, "listed", large(100_000, 2.0))
        self.cluster.pause()
        replies = []
        thread = threading.Thread(target=lambda: replies.append(self.get(server, "listed")))
        thread.start()
        slowest = 0.0
        while self.is_up(server) or thread.is_alive():
            begin = time.monotonic()
            self.assertEqual(self.get(server, "cached").body, matrix(1.0))
            self.assertEqual(server.request("GET", ENCODING).status, 200)
            slowest = max(slowest, time.monotonic() - begin)
        thread.join()
        self.assert_unavailable(replies[0])
        self.assertLess(slowest, 2.0)
        self.assert_unavailable(self.get(server, "unknown"))
        self.cluster.pause(False)
        wait_until(lambda: self.is_up(server), "it is back")
        self.assertEqual(self.get(server, "listed").body, large(100_000, 2.0))

    def test_a_database_that_hangs_leaves_workers_to_others(self):
        server = self.start("--threads", "2", url=self.url)
        self.get(server, "unknown")
        self.cluster.pause()

        def look_up(client):
            for i in range(30):
                self.get(server, f"unknown-{client}-{i}")

        clients = [threading.Thread(target=look_up, args=(i,)) for i in range(4)]
        for client in clients:
            client.start()
        slowest, offset = 0.0, 0
        while self.is_up(server):
            begin, offset = time.monotonic(), offset + 1
            target = f"/v1/encodings/sinusoidal?length=1200&dim=64&offset={offset}&format=raw"
            self.assertEqual(server.request("GET", target).status, 200)
            slowest = max(slowest, time.monotonic() - begin)
        for client in clients:
            client.join()
        self.assertGreater(offset, 1)
        self.assertLess(slowest, 2.0)

    def test_a_terminated_connection_costs_no_request(self):
        server = self.start("--set-cache-bytes", "0")
        self.put(server, "one", simple())
        for _ in range(3):
            self.cluster.sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name = 'posenc' AND query NOT LIKE 'LISTEN%'"
                " AND query NOT LIKE '%max(revision)%' AND query NOT LIKE '%FROM posenc.sets%'"
            )
            self.assertEqual(self.put(server, "one", simple()), 204)
            self.assertEqual(self.get(server, "one").body, simple())

    def test_256_mib_go_up_and_down(self):
        body = large((256 << 20) // 4 - 64, 1.0)
        a, b = self.start("--max-upload-bytes", "256MiB"), self.start()
        begin = time.monotonic()
        self.assertEqual(self.put(a, "large", body), 201)
        put = time.monotonic() - begin
        begin = time.monotonic()
        reply = self.get(b, "large")
        print(
            f"postgres: {len(body) / (1 << 20):.0f} MiB up in {put:.2f} s, down in "
            f"{time.monotonic() - begin:.2f} s"
        )
        self.assertTrue(reply.body == body and reply.header("ETag") == tag(body))


class Load:
    """Clients that ask two servers for the same things all the time, and a count of the answers
    in each second. `last` has the last statuses for each client."""

    LAST = 20

    def __init__(self, case, servers):
        self.case, self.servers, self.begin = case, servers, time.monotonic()
        self.counts = collections.defaultdict(collections.Counter)
        self.lock, self.stops = threading.Lock(), threading.Event()
        self.away = None  # the time from when on no answer may say that a name is unknown
        kinds = {
            "computed": ("GET", ENCODING, None),
            "in memory": ("GET", table_of("cached"), None),
            "listed": ("GET", f"{PATH}/listed", None),
            "unknown": ("GET", f"{PATH}/unknown", None),
            "upload": ("PUT", f"{PATH}/upload", simple()),
            "ready": ("GET", "/health/ready", None),
        }
        self.kinds = kinds
        self.threads = [
            threading.Thread(target=self.ask, args=(server, kind))
            for server in servers
            for kind in kinds
        ]
        self.last = [collections.deque(maxlen=self.LAST) for _ in self.threads]
        for thread, last in zip(self.threads, self.last, strict=True):
            thread.last = last
            thread.start()

    def ask(self, server, kind):
        method, target, body = self.kinds[kind]
        last = threading.current_thread().last
        while not self.stops.is_set():
            away = self.away
            reply = server.request(method, target, {}, body)
            last.append(reply.status)
            with self.lock:
                second = int(time.monotonic() - self.begin)
                self.counts[second][kind, reply.status] += 1
                if away and self.away == away and reply.status == 404:
                    self.counts[second]["wrong", 404] += 1
            time.sleep(0.002)

    def is_well(self):
        """Whether the last answers to all clients are of a server that has its database."""
        return all(
            len(last) == self.LAST and set(last) <= {200, 201, 204, 404} for last in self.last
        )

    def end(self):
        self.stops.set()
        for thread in self.threads:
            thread.join()

    def statuses(self, kind):
        with self.lock:
            return {
                status
                for counts in self.counts.values()
                for each, status in counts
                if each == kind
            }

    def print(self, events):
        print("\nsecond  " + "  ".join(f"{kind:>18}" for kind in self.kinds))
        for second, counts in sorted(self.counts.items()):
            cells = []
            for kind in self.kinds:
                found = sorted(
                    (status, n) for (each, status), n in counts.items() if each == kind
                )
                cells.append(" ".join(f"{n}x{status}" for status, n in found))
            note = ", ".join(text for at, text in events if int(at - self.begin) == second)
            print(
                f"{second:>6}  "
                + "  ".join(f"{cell:>18}" for cell in cells)
                + (f"  {note}" if note else "")
            )


@steadily(STANDSTILL)
class UnderLoad(OutageCase):
    def test_the_database_dies_and_comes_back_under_load(self):
        servers = [self.start("--set-cache-bytes", "64KiB", "--threads", "2") for _ in range(2)]
        self.put(servers[0], "cached", matrix(1.0))
        self.put(servers[0], "listed", large(100_000, 2.0))
        for server in servers:
            wait_until(
                lambda: server.request("GET", table_of("cached")).status == 200, "the set"
            )  # noqa: B023
        load, events = Load(self, servers), []
        wait_until(load.is_well, "all clients are answered")
        self.cluster.kill()
        load.away = time.monotonic()
        events.append((load.away, "database killed"))
        wait_until(
            lambda: all(503 in load.statuses(kind) for kind in ("listed", "unknown")),
            "the outage",
        )
        load.away = None
        events.append((time.monotonic(), "database started"))
        self.cluster.start()
        begin = time.monotonic()
        wait_until(
            lambda: all(self.is_up(server) for server in servers), "the database is reached"
        )
        events.append(
            (time.monotonic(), f"reached {time.monotonic() - begin:.2f} s after it answers")
        )
        wait_until(load.is_well, "all clients are answered again")
        load.end()
        load.print(events)
        for kind in ("computed", "in memory", "ready"):
            self.assertEqual(load.statuses(kind), {200}, kind)
        self.assertEqual(load.statuses("listed"), {200, 503})
        self.assertEqual(load.statuses("unknown"), {404, 503})
        self.assertLessEqual(load.statuses("upload"), {201, 204, 503})
        self.assertEqual(load.statuses("wrong"), set())


@steadily(STANDSTILL)
class Failover(PostgresCase):
    def test_no_acknowledged_set_is_lost_when_the_standby_takes_over(self):
        """The commit waits for the standby (synchronous_standby_names): what is acknowledged is
        on both."""
        primary = Cluster("-c", "synchronous_standby_names=standby", "-c", "wal_level=replica")
        self.addCleanup(primary.close)
        primary.sql("SELECT 1", "postgres")
        primary.sql("SET synchronous_commit = local; CREATE ROLE nobody", "postgres")
        standby = Cluster("-c", "synchronous_standby_names=", standby_of=primary)
        self.addCleanup(standby.close)
        wait_until(
            lambda: primary.sql("SELECT sync_state FROM pg_stat_replication", "postgres")
            == "sync",
            "the standby",
        )
        primary.new_database()
        url = primary.url("posenc", standby)
        servers = [self.start(url=url) for _ in range(2)]
        acknowledged, stops = {}, threading.Event()

        def upload(client):
            for i in range(10_000):
                if stops.is_set():
                    return
                body = simple(2000, float(i))
                with contextlib.suppress(OSError):
                    if self.put(servers[client % 2], f"set-{client}-{i % 50}", body) in (
                        201,
                        204,
                    ):
                        acknowledged[f"set-{client}-{i % 50}"] = (i, body)

        threads = [threading.Thread(target=upload, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        wait_until(lambda: len(acknowledged) > 40, "uploads")
        primary.kill()
        before = len(acknowledged)
        killed = time.monotonic()
        standby.promote()
        promoted = time.monotonic()
        wait_until(lambda: all(self.is_up(server) for server in servers), "the new primary")
        print(
            f"postgres: promoted {promoted - killed:.2f} s after the primary was killed, "
            "reached"
            f" {time.monotonic() - promoted:.2f} s later; {before} sets acknowledged before"
        )
        uploaded = dict(acknowledged)
        wait_until(lambda: acknowledged != uploaded, "uploads to the new primary")
        stops.set()
        for thread in threads:
            thread.join()
        for server in servers:
            wait_until(lambda: self.is_up(server), "still there")  # noqa: B023
        for name, (number, body) in acknowledged.items():
            found = self.found(servers[0], name)
            # a later upload of the same name may have been stored without an acknowledgement
            self.assertTrue(found.body == body or self.number_of(found.body) > number, name)

    def found(self, server, name):
        """What is stored, once the server can say so."""

        def look():
            reply = self.get(server, name)
            return reply if reply.status != 503 else None

        found = wait_until(look, name)
        self.assertEqual(found.status, 200, name)
        return found

    def number_of(self, body):
        import struct

        return struct.unpack("<f", body[-8000:][:4])[0]


if __name__ == "__main__":
    unittest.main()
