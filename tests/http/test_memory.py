"""Out of memory: every allocation and mapping of a request fails once, in the server as it is
shipped; the answer is a 503 or the right one, and the next request works on the same
process. The kinds of requests, formats and schemes are those of tests/unit/api/starved.c;
here is what server/ and libmicrohttpd allocate."""

import contextlib
import subprocess
import sys
import tempfile
import unittest

import faults
import stored
from faults import ALLOCATIONS, FOREVER, MAPPINGS, THREADS, Faults
from server import BINARY, PATIENCE, Server, ServerCase, environment_with, wait_until

ENCODINGS = "/v1/encodings/"
JSON = {"Content-Type": "application/json"}
GZIP = {"Accept-Encoding": "gzip"}
SET = stored.simple(8)
MOST = 3000  # allocations of one request
LIMIT = 16  # connections


def ask(method, target, headers=None, body=b""):
    return method, target, headers or {}, body


# {} is another number each time, so that nothing is found in the cache
COLD = {
    "raw": ask("GET", ENCODINGS + "sinusoidal?length=4&dim=8&offset={}&format=raw"),
    "json": ask("GET", ENCODINGS + "alibi?length=4&heads=2&offset={}"),
    "gzip": ask("GET", ENCODINGS + "integer?length=400&offset={}", GZIP),
    "off the event thread": ask("GET", ENCODINGS + "integer?length=70000&offset={}&format=raw"),
    "a mapping": ask("GET", ENCODINGS + "integer?length=524288&offset={}&format=raw"),
    "text in a mapping": ask(
        "GET", ENCODINGS + "sinusoidal?length=999&dim=110&offset={}&dtype=f64"
    ),
    "a stream": ask("GET", ENCODINGS + "integer?length=525000&offset={}&format=raw"),
    "a streamed part": ask(
        "GET",
        ENCODINGS + "integer?length=3000000&offset={}&format=raw",
        {"Range": "bytes=9999990-10000009"},
    ),
    "repeated headers": ask(
        "GET",
        ENCODINGS + "integer?length=4&offset={}",
        {"Accept": "application/x-npy;q=0.5", "accept": "application/octet-stream"},
    ),
}
WARM = {
    "a hit": ask("GET", ENCODINGS + "integer?length=9"),
    "a compressed hit": ask("GET", ENCODINGS + "integer?length=900", GZIP),
    "a hit of a part": ask(
        "GET", ENCODINGS + "integer?length=9&format=raw", {"Range": "bytes=4-7"}
    ),
    "a target in absolute form": ask("GET", "http://localhost/v1/sets/kept"),
    "health": ask("GET", "/health/ready"),
    "no route": ask("GET", "/nothing"),
    "malformed framing": ask("GET", "/v1/info", {"Host": "a b"}),
    "stored": ask("GET", "/v1/sets/kept"),
    "the list of sets": ask("GET", "/v1/sets"),
    "metrics": ask("GET", "/metrics"),
}


class Starved(ServerCase):
    """A server whose allocations fail, and one without failures for comparison."""

    flags = ("--cache-bytes", "8MiB", "--threads", "2", "--max-connections", str(LIMIT))

    @classmethod
    def setUpClass(cls):
        faults.need_an_allocator()
        cls.faults = Faults()
        cls.addClassCleanup(cls.faults.close)
        cls.server = cls.start_one(cls.faults.environment)
        cls.reference = cls.start_one()
        cls.number = 1000
        cls.counts = dict.fromkeys(("failed", "answered", "503", "dropped"), 0)
        cls.addClassCleanup(cls.report)

    @classmethod
    def start_one(cls, environment=None):
        server = Server(*cls.flags, environment=environment)
        cls.addClassCleanup(server.stop)
        server.request("PUT", "/v1/sets/kept", body=SET)
        return server

    @classmethod
    def report(cls):
        print(f"{cls.__name__}: {cls.counts}", file=sys.stderr)

    def sent(self, server, asked):
        with server.wire() as wire:
            return wire.exchange(*asked)

    def starve(self, case, request, count=1, kept=True):
        """Fail `count` allocations from the k-th on: for every k if count is 1, else for every
        fourth. `kept`: on a connection that has been used before."""
        method, target, headers, body = request
        for k in range(0, MOST, 1 if count == 1 else 4):
            type(self).number += 1
            number = str(self.number)
            numbered = body.replace(b"{}", number.encode())
            asked = method, target.replace("{}", number), headers, numbered
            with self.subTest(case=case, k=k, count=count, kept=kept):
                if not self.starve_once(asked, k, count, kept):
                    return
        self.fail(f"{case}: more than {MOST} allocations")

    def starve_once(self, asked, k, count, kept):
        with contextlib.ExitStack() as stack:
            wire = kept and stack.enter_context(self.server.wire())
            if wire:
                self.assertEqual(wire.exchange("GET", "/health/live").status, 200)
            self.faults.arm(k, count)
            try:
                reply = wire.exchange(*asked) if wire else self.sent(self.server, asked)
            except (EOFError, ConnectionError):
                reply = None
            _, failed, askers = self.faults.disarm()
        self.judge(asked, reply, failed, askers, kept)
        return failed

    def judge(self, asked, reply, failed, askers, kept):
        """Check the reply during the failure, and that the same request then works."""
        self.counts["failed"] += failed > 0
        expected = self.sent(self.reference, asked)
        if reply is None:  # libmicrohttpd had no memory for the connection
            self.assertIn("libmicrohttpd", askers)
            self.assertFalse(kept)
            self.counts["dropped"] += 1
        elif reply.status == 503 and failed:
            if asked[0] == "HEAD":
                self.assertEqual(reply.body, b"")
            else:
                self.assert_problem(reply, 503, code="unavailable")
            self.assertEqual(reply.header("Retry-After"), "1")
            self.counts["503"] += 1
        else:
            self.assert_same(reply, expected)
            self.counts["answered"] += failed > 0
        self.assert_same(self.sent(self.server, asked), expected)

    def assert_same(self, reply, expected):
        self.assertEqual(reply.status, expected.status, reply)
        names = ["ETag", "Content-Type", "Content-Length", "Content-Range", "Content-Encoding"]
        if expected.body.startswith(b"# HELP"):
            self.assertEqual(series(reply), series(expected))
            self.assertNotIn(b"\nprocess_resident_memory_bytes 0\n", reply.body)
            names.remove("Content-Length")
        else:
            self.assertTrue(reply.body == expected.body, f"{reply} is not {expected}")
        for name in names:
            self.assertEqual(reply.header(name), expected.header(name), name)


def series(reply):
    """What every server has in /metrics: heads, and series without labels."""
    lines = [line.rsplit(b" ", 1)[0] for line in reply.body.splitlines()]
    return [line for line in lines if line.startswith(b"#") or b"{" not in line]


class Requests(Starved):
    def test_one_allocation_of_what_must_be_computed(self):
        for case, request in COLD.items():
            self.starve(case, request)

    def test_all_allocations_from_one_on(self):
        for case, request in COLD.items():
            self.starve(case, request, FOREVER)

    def test_one_allocation_of_what_is_there(self):
        for case, request in WARM.items():
            self.starve(case, request)
            self.starve(case, request, FOREVER)

    def test_new_connections_that_cannot_be_do_not_count(self):
        for case in ("raw", "json", "off the event thread", "repeated headers"):
            self.starve(case, COLD[case], kept=False)
            self.starve(case, COLD[case], FOREVER, kept=False)
        dropped = self.counts["dropped"]
        self.assertGreater(dropped, LIMIT)

    def test_those_who_wait_for_what_fails(self):
        """Several requests need one table: one computes it or fails, and the others wait for
        that."""
        for k in range(0, MOST, 3):
            type(self).number += 1
            asked = ask(
                "GET", ENCODINGS + f"integer?length=70000&offset={self.number}&format=raw"
            )
            with contextlib.ExitStack() as stack:
                wires = [stack.enter_context(self.server.wire()) for _ in range(6)]
                for wire in wires:
                    wire.exchange("GET", "/health/live")
                self.faults.arm(k)
                for wire in wires:
                    wire.ask(*asked)
                replies = [wire.receive() for wire in wires]
                _, failed, askers = self.faults.disarm()
            for reply in replies:
                self.judge(asked, reply, failed, askers, True)
            if not failed:
                break

    def test_nothing_is_left_under_way(self):
        self.starve("a stream", COLD["a stream"])
        names = ("posenc_requests_under_way", "posenc_streams", "posenc_jobs_waiting")
        wait_until(lambda: [self.server.metrics()[name] for name in names] == [1, 0, 0], names)


class Logging(Starved):
    """With the access log, which allocates after the reply has been made."""

    flags = (*Starved.flags, "--access-log", "true", "--log-format", "json")

    def test_a_line_is_whole_or_lost(self):
        for case in ("raw", "off the event thread"):
            self.starve(case, COLD[case])
        self.starve("no route", WARM["no route"], FOREVER)
        for line in self.server.log().splitlines():
            self.assertRegex(line, r'^\{"time":.*"level":.*"message":.*\}$')
            if '"request"' in line:
                self.assertRegex(line, r'"method":.*"target":.*"status":.*"bytes":')


class Stored(Starved):
    """Uploads and removals, in SQLite."""

    @classmethod
    def start_one(cls, environment=None):
        directory = tempfile.TemporaryDirectory(prefix="posenc-")
        cls.addClassCleanup(directory.cleanup)
        cls.flags = (*Starved.flags, "--set-cache-bytes", "0", "--data-dir", directory.name)
        return super().start_one(environment)

    def judge(self, asked, reply, failed, askers, kept):
        """Uploads may be repeated: the second one replaces the first."""
        self.counts["failed"] += failed > 0
        self.assertIsNotNone(reply)
        done = {"PUT": (201, 204), "DELETE": (204,)}[asked[0]]
        if failed and reply.status == 503:
            self.assert_problem(reply, 503, code="unavailable")
            self.counts["503"] += 1
        else:
            self.assertIn(reply.status, done)
            self.counts["answered"] += failed > 0
        after = self.sent(self.server, asked).status
        self.assertIn(after, (*done, 404) if asked[0] == "DELETE" else done)
        found = self.server.request("GET", asked[1])
        if asked[0] == "PUT":
            self.assertEqual((found.status, found.body), (200, asked[3]))
        else:
            self.assertEqual(found.status, 404)
            following = asked[1].replace(str(self.number), str(self.number + 1))
            self.server.request("PUT", following, body=SET)

    def test_uploads(self):
        for count in (1, FOREVER):
            self.starve("new", ask("PUT", "/v1/sets/a{}", {}, SET), count)
            self.starve("replaced", ask("PUT", "/v1/sets/kept", {}, SET), count)

    def test_removals(self):
        for count in (1, FOREVER):
            self.server.request("PUT", f"/v1/sets/d{self.number + 1}", body=SET)
            self.starve("removed", ask("DELETE", "/v1/sets/d{}"), count)

    def test_reading_from_the_disk(self):
        for count in (1, FOREVER):
            for target in ("/v1/sets/kept", ENCODINGS + "learned?set=kept"):
                for k in range(MOST):
                    with self.subTest(target=target, k=k, count=count):
                        if not self.read_once(ask("GET", target), k, count):
                            break

    def read_once(self, asked, k, count):
        with self.server.wire() as wire:
            wire.exchange("GET", "/health/live")
            self.faults.arm(k, count)
            reply = wire.exchange(*asked)
            _, failed, askers = self.faults.disarm()
        Starved.judge(self, asked, reply, failed, askers, True)
        return failed


class Starting(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        faults.need_an_allocator()

    def start(self, k, kinds, *flags):
        """Start a server whose k-th allocation (or mapping, or thread) fails; returns what it
        wrote to stderr, None if it started."""
        shared = Faults()
        self.addCleanup(shared.close)
        shared.arm(k, 1, kinds)
        process = subprocess.Popen(
            [BINARY, "--port", "0", "--drain-seconds", "0", "--threads", "2", *flags],
            env=environment_with(shared.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started = process.stdout.readline()
        _, failed, _ = shared.disarm()
        if started:
            process.terminate()
        _, log = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0 if started else 1, (k, kinds, log))
        return (failed, None if started else log)

    def test_a_thread_that_cannot_start_is_an_error_that_says_so(self):
        refused = 0
        for k in range(20):
            failed, log = self.start(k, THREADS)
            if not failed:
                break
            self.assertRegex(log, "cannot start the server: .*threads .* missing")
            refused += 1
        self.assertGreaterEqual(refused, 6)  # workers, event threads, watch, acceptor

    def test_memory_that_is_missing_is_an_error_that_says_so(self):
        directory = tempfile.TemporaryDirectory(prefix="posenc-")
        self.addCleanup(directory.cleanup)
        for flags in ((), ("--data-dir", directory.name)):
            for k in range(0, MOST, 1 if not flags else 7):
                with self.subTest(k=k, flags=flags):
                    failed, log = self.start(k, ALLOCATIONS | MAPPINGS, *flags)
                    if failed and log is not None:
                        self.assertRegex(log, "[Mm]emory")
                if not failed:
                    break


if __name__ == "__main__":
    unittest.main()
