"""/metrics: the text format, its histograms, and a count for every reason of a rejection."""

import contextlib
import os
import re
import resource
import shutil
import sqlite3
import subprocess
import tempfile
import threading
import time
import unittest
from collections import Counter
from pathlib import Path

from server import ServerCase, wait_until
from steady import steadily
from stored import PATH, simple

SAMPLE = re.compile(
    r"([a-zA-Z_:][a-zA-Z0-9_:]*)"  # the metric
    r'(\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)*\})?'  # labels
    r" (\S+)"  # the value
)
BOUND = re.compile(r'(.*?),?le="([^"]+)"\}')
RAW = "/v1/encodings/integer?length=4&format=raw"
LARGE = "/v1/encodings/sinusoidal?length=65536&dim=64&format=raw"
STREAM = "/v1/encodings/sinusoidal?length=2000000&dim=64&format=raw"
ENDLESS = (
    "/v1/encodings/floater?length=3&offset=1000000&dim=256&method=rk4&dt=0.0001&format=raw"
)
KEY = "correct-horse-battery-staple"
LABELS = {
    "posenc_requests_total": {"route", "method", "status"},
    "posenc_request_duration_seconds": {"route", "method", "status"},
    "posenc_rejected_total": {"reason"},
    "posenc_preparation_progress_ratio": {"scheme"},
    "posenc_build_info": {"version"},
}
IDLE_MOST = 10000  # bytes
PROCESS = {
    "process_cpu_seconds_total", "process_open_fds", "process_max_fds",
    "process_virtual_memory_bytes", "process_resident_memory_bytes",
    "process_start_time_seconds",
}  # fmt: skip


class MetricsCase(ServerCase):
    def parse(self, server=None):
        """{series: value} and {metric: type}, by the rules of the Prometheus text format."""
        reply = (server or self.server).request("GET", "/metrics")
        self.assert_ok(reply, "text/plain; version=0.0.4; charset=utf-8")
        text = reply.body.decode()
        self.assertTrue(text.endswith("\n"))
        helps, types, series, sampled, current = {}, {}, {}, set(), None
        for line in text.splitlines():
            if line.startswith("# HELP "):
                _, _, name, help_text = line.split(" ", 3)
                self.assertNotIn(name, helps, "one HELP for a metric")
                self.assertTrue(help_text)
                helps[name] = help_text
            elif line.startswith("# TYPE "):
                _, _, name, kind = line.split(" ")
                self.assertNotIn(name, types, "one TYPE for a metric")
                self.assertIn(kind, ("counter", "gauge", "histogram", "summary"))
                types[name], current = kind, name
            else:
                name, labels, value = SAMPLE.fullmatch(line).groups()
                family = name
                if types.get(current) == "histogram":
                    family = re.sub("_(bucket|sum|count)$", "", name)
                self.assertEqual(family, current, "the samples of a metric stand together")
                sampled.add(family)
                self.assertNotIn((name, labels), series, "a duplicate series")
                series[name, labels] = float(value)
        self.assertEqual(set(helps), set(types))
        self.assertLessEqual(sampled, set(types))
        return series, types

    def helps(self, server):
        """{metric: what HELP says}"""
        text = server.request("GET", "/metrics").body.decode()
        return dict(re.findall(r"(?m)^# HELP (\w+) (.*)$", text))

    def labelled(self, server):
        """The series with labels, but for those that every server has."""
        return {
            (name, labels): value
            for (name, labels), value in self.parse(server)[0].items()
            if labels and not labels.startswith('{le="') and 'route="/metrics"' not in labels
            if name != "posenc_build_info"
        }


class Metrics(MetricsCase):
    def test_the_text_parses_and_repeats_nothing(self):
        series, types = self.parse()
        for name, kind in types.items():
            self.assertEqual(name.endswith("_total"), kind == "counter", name)
        for value in series.values():
            self.assertGreaterEqual(value, 0)
        metrics = ["computed_total", "cache_bytes", "cache_budget_bytes"]
        metrics += ["store_sets", "store_bytes"]
        for name in (*metrics, "cache_evictions_total"):
            self.assertIn((f"posenc_{name}", None), series)

    def test_counters_count(self):
        target = "/v1/encodings/integer?length=1&offset=31337&format=raw"
        before, _ = self.parse()
        for _ in range(3):
            self.get(target)
        self.get("/v1/encodings/integer?length=0")
        self.get("/nothing")
        after, types = self.parse()
        moved = {key: after[key] - before.get(key, 0) for key in after}
        self.assertEqual(moved["posenc_computed_total", None], 1)
        self.assertEqual(moved["posenc_cache_misses_total", None], 1)
        self.assertEqual(moved["posenc_cache_hits_total", None], 2)
        self.assertEqual(moved["posenc_cache_entries", None], 1)
        route = '{route="/v1/encodings/{scheme}",method="GET",status="%s"}'
        self.assertEqual(moved["posenc_requests_total", route % "2xx"], 3)
        self.assertEqual(moved["posenc_requests_total", route % "4xx"], 1)
        self.assertEqual(
            moved["posenc_requests_total", '{route="other",method="other",status="4xx"}'], 1
        )
        for (name, labels), change in moved.items():
            if types.get(name) != "gauge":
                self.assertGreaterEqual(change, 0, (name, labels))

    def ask_for_many(self, numbers):
        with self.server.wire() as wire:
            wire.exchange("GET", "/metrics")  # it is counted before the next request is read
            for i in numbers:
                wire.exchange("GET", f"/v1/encodings/scheme{i}?p{i}=1")
                wire.exchange(
                    "GET", f"/path{i}", {"X-Request-Id": f"id{i}", "User-Agent": f"u{i}"}
                )
                wire.exchange(f"METHOD{i}", ("/v1/info", "/metrics", RAW)[i % 3])
                wire.exchange("GET", f"/v1/encodings/integer?length={i}&format=raw")

    def test_series_do_not_multiply_with_what_clients_ask_for(self):
        self.ask_for_many(range(3))
        before, _ = self.parse()
        self.ask_for_many(range(3, 128))
        after, _ = self.parse()
        self.assertEqual(set(before), set(after))

    def test_labels_are_those_that_help_names(self):
        self.get(f"/{'a' * 20000}")  # too long: a reason
        self.get(RAW)
        series, types = self.parse()
        helps = self.helps(self.server)
        seen = {}
        for name, labels in series:
            family = re.sub("_(bucket|sum|count)$", "", name)
            family = family if types.get(family) == "histogram" else name
            given = set(re.findall(r'(\w+)="', labels or "")) - {"le"}
            self.assertEqual(given, seen.setdefault(family, given), name)
        self.assertEqual({name: given for name, given in seen.items() if given}, LABELS)
        self.assertEqual(set(seen), set(types))
        for name, given in LABELS.items():
            for label in given:
                self.assertIn(label, helps[name])

    def test_the_resident_memory_is_that_of_the_process(self):
        value = self.server.metrics()["process_resident_memory_bytes"]
        self.assertLess(abs(value - self.server.resident()), 8 << 20)

    def test_promtool_has_nothing_to_say_of_an_idle_and_a_busy_server(self):
        self.assertTrue(shutil.which("promtool"), "no promtool: make deps-test installs it")
        server = self.start()
        idle = server.request("GET", "/metrics").body
        for target in (RAW, RAW, LARGE, "/nothing", "/v1/encodings/learned?length=4&dim=4"):
            server.request("GET", target)
        busy = server.request("GET", "/metrics").body
        self.assertGreater(busy.count(b'route="'), idle.count(b'route="'))
        wrong = busy.replace(b"_total", b"_sum_total_s")
        command = ["promtool", "check", "metrics"]
        for body, fine in ((idle, True), (busy, True), (wrong, False)):
            said = subprocess.run(command, input=body, capture_output=True, check=False)
            silent = (said.returncode, said.stdout, said.stderr) == (0, b"", b"")
            self.assertEqual(silent, fine, said)

    def test_the_process_is_described_under_the_usual_names(self):
        series, _ = self.parse()
        figures = {name: value for (name, _), value in series.items() if name in PROCESS}
        self.assertEqual(set(figures), PROCESS)
        limit = resource.prlimit(self.server.pid, resource.RLIMIT_NOFILE)[0]
        self.assertEqual(figures["process_max_fds"], limit)
        used = self.server.processor_seconds()
        self.assertLess(abs(figures["process_cpu_seconds_total"] - used), 1)
        with self.server.wire() as wire:  # its descriptor is open before and afterwards
            wait_until(lambda: self.open_files_agree(wire), "connections of others are gone")

    def open_files_agree(self, wire):
        text = wire.exchange("GET", "/metrics").body.decode()
        said = int(re.search(r"^process_open_fds (\d+)$", text, re.MULTILINE)[1])
        count = len(os.listdir(f"/proc/{self.server.pid}/fd"))
        return count <= said <= count + 1  # the one that lists them

    def test_the_start_of_the_process_lies_between_two_looks_at_the_clock(self):
        before = time.time()
        server = self.start()
        after = time.time()
        said = server.metrics()["process_start_time_seconds"]
        self.assertTrue(before - 1 <= said <= after + 1, (before, said, after))


class Appearance(MetricsCase):
    """A series with labels is there from its first event on."""

    def setUp(self):
        self.fresh = self.start()

    def test_an_idle_server_has_none_and_a_short_text(self):
        self.assertLess(len(self.fresh.request("GET", "/metrics").body), IDLE_MOST)
        self.assertEqual(self.labelled(self.fresh), {})

    def test_a_route_appears_with_its_first_answer_and_is_that_alone(self):
        route = 'route="/v1/schemes/{scheme}",method="GET"'
        for scheme, status in (("integer", "2xx"), ("nosuch", "4xx")):
            before = self.labelled(self.fresh)
            self.fresh.request("GET", f"/v1/schemes/{scheme}")
            after = self.labelled(self.fresh)
            labels = f'{route},status="{status}"'
            new = {key: value for key, value in after.items() if key not in before}
            self.assertEqual(new.pop(("posenc_requests_total", f"{{{labels}}}")), 1)
            duration = "posenc_request_duration_seconds_"
            self.assertEqual(new.pop((f"{duration}count", f"{{{labels}}}")), 1)
            self.assertGreater(new.pop((f"{duration}sum", f"{{{labels}}}")), 0)
            self.assertEqual(new[f"{duration}bucket", f'{{{labels},le="+Inf"}}'], 1)
            self.assertEqual({name for name, _ in new}, {f"{duration}bucket"})
            self.assertEqual(before, {key: after[key] for key in before}, "all others stay")

    def test_a_reason_appears_when_something_is_turned_away(self):
        self.fresh.request("GET", f"/{'a' * 20000}")
        reasons = [key for key in self.labelled(self.fresh) if "reason" in key[1]]
        self.assertEqual(reasons, [("posenc_rejected_total", '{reason="target_too_long"}')])

    def test_a_scheme_appears_when_it_is_computed(self):
        name = "posenc_preparation_progress_ratio"
        self.fresh.request("GET", "/v1/similarity/integer?length=4&metric=dot")
        self.fresh.request("GET", RAW)
        self.fresh.request("GET", RAW)
        schemes = [key for key in self.labelled(self.fresh) if key[0] == name]
        labels = ['{scheme="integer_similarity"}', '{scheme="integer"}']
        self.assertEqual(schemes, [(name, text) for text in labels])


class Histograms(MetricsCase):
    """Read under load: the samples of one histogram must agree although counting goes on."""

    def histograms(self, series, types):
        """{(metric, labels): ([(bound, count)], sum, count)}"""
        found = {}
        for (name, labels), value in series.items():
            family = name.rsplit("_", 1)[0]
            if types.get(family) != "histogram":
                continue
            inner = (labels or "{}")[1:]
            bound = BOUND.fullmatch(inner)
            key = family, bound[1] if bound else inner.rstrip("}")
            entry = found.setdefault(key, {"buckets": []})
            if bound:
                entry["buckets"].append((float(bound[2]), value))
            else:
                entry[name.rsplit("_", 1)[1]] = value
        return found

    def check(self, series, types):
        found = self.histograms(series, types)
        families = {family for family, _ in found}
        expected = {
            "posenc_request_duration_seconds",
            "posenc_compute_duration_seconds",
            "posenc_callback_duration_seconds",
            "posenc_callback_cpu_seconds",
        }
        self.assertEqual(families, expected)
        for key, entry in found.items():
            bounds, counts = zip(*entry["buckets"], strict=True)
            self.assertEqual(list(bounds), sorted(set(bounds)), key)
            self.assertEqual(list(counts), sorted(counts), f"{key}: cumulative")
            self.assertEqual((bounds[-1], counts[-1]), (float("inf"), entry["count"]), key)
            longest = 1 if key[0].startswith("posenc_callback") else 60
            self.assertGreaterEqual(bounds[-2], longest, "seconds")
            if key[0].startswith("posenc_request"):
                total = series["posenc_requests_total", f"{{{key[1]}}}"]
                self.assertGreaterEqual(total, entry["count"], "which was read before")
                self.assertGreater(entry["count"], 0, key)
        return found

    def test_they_are_consistent_and_counters_only_grow(self):
        ended = threading.Event()

        def ask():
            with self.server.wire() as wire:
                while not ended.is_set():
                    for target in (RAW, "/nothing", "/health/live"):
                        wire.exchange("GET", target)

        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            before, types = self.parse()
            for _ in range(20):
                series, _ = self.parse()
                self.check(series, types)
                for key, value in series.items():
                    if types.get(key[0]) != "gauge":
                        self.assertGreaterEqual(value, before.get(key, 0), key)
                self.assertLessEqual(set(before), set(series))
                before = series
        finally:
            ended.set()
            for thread in threads:
                thread.join()

    def test_every_callback_of_an_event_thread_is_timed(self):
        server = self.start("--cache-bytes", "1MiB", "--threads", "1")
        name = "posenc_callback_duration_seconds_count"
        before = server.metrics()[name]
        self.assertEqual(server.request("GET", RAW).status, 200)
        between = server.metrics()[name]
        self.assertGreaterEqual(between - before, 4)  # two for a request: head and answer
        stream = "/v1/encodings/integer?length=3000000&format=raw"
        self.assertEqual(server.request("GET", stream).status, 200)
        self.assertGreaterEqual(server.metrics()[name] - between, 20)  # one for 512 KiB

    def test_durations_are_seconds(self):
        server = self.start("--compute-cost", "0", "--compute-seconds", "1", "--threads", "2")
        begun = time.monotonic()
        self.assertEqual(server.request("GET", ENDLESS).status, 422)
        took = time.monotonic() - begun
        begun = time.monotonic()
        server.request("GET", RAW)
        quick = time.monotonic() - begun
        found = self.histograms(*self.parse(server))
        route = 'route="/v1/encodings/{scheme}",method="GET",status='
        late = found["posenc_request_duration_seconds", route + '"4xx"']
        self.assertEqual(late["count"], 1)
        self.assertLess(1, late["sum"])
        self.assertLess(late["sum"], took)
        self.assertEqual([count for bound, count in late["buckets"] if bound < 1], [0] * 7)
        computed = found["posenc_compute_duration_seconds", ""]
        self.assertEqual(computed["count"], 1, "what was given up is not counted")
        self.assertTrue(0 < computed["sum"] < quick)
        name = 'posenc_rejected_total{reason="compute_deadline"}'
        self.assertEqual(server.metrics()[name], 1)


class Rejections(MetricsCase):
    """Every reason of a rejection is provoked once."""

    def rejected(self, server):
        pairs = server.metrics().items()
        name = 'posenc_rejected_total{reason="'
        return {key[len(name) : -2]: value for key, value in pairs if key.startswith(name)}

    @contextlib.contextmanager
    def one_more(self, server, *reasons):
        """Check that the block inside counts one rejection for each of the reasons, and no
        other."""
        expected = Counter(self.rejected(server)) + Counter(reasons)
        yield
        wait_until(
            lambda: sum(self.rejected(server).values()) >= sum(expected.values()), reasons
        )
        self.assertEqual(self.rejected(server), expected)

    def start_with_key(self, *flags):
        with tempfile.NamedTemporaryFile("w", delete=False) as file:
            file.write(KEY + "\n")
        self.addCleanup(os.unlink, file.name)
        return self.start("--api-key-file", file.name, *flags)

    def occupy(self, server, target):
        """A request whose answer is not read."""
        wire = server.wire(receive_buffer=4096)
        self.addCleanup(wire.close)
        wire.ask("GET", target)
        self.assertEqual(wire.receive_head().status, 200)
        return wire

    def test_help_names_every_reason(self):
        reasons = {
            "framing", "header_deadline", "body_deadline", "slow_reader", "connection_limit",
            "stream_limit", "queue_full", "upload_memory", "draining",
            "client_left",
            "unauthorized", "forbidden", "target_too_long", "body_too_large",
            "result_too_large", "store_full", "store_failed", "compute_deadline",
            "out_of_memory",
        }  # fmt: skip
        said = self.helps(self.server)["posenc_rejected_total"]
        self.assertEqual(set(re.findall(r"\w+", said.partition(": ")[2])), reasons)

    def test_mistakes_are_no_rejections(self):
        with self.one_more(self.server):
            for target in ("/nothing", "/v1/encodings/integer?length=x", "/v1/encodings/x"):
                self.assertGreaterEqual(self.get(target).status, 400)

    def test_what_a_request_asks_too_much_of(self):
        server = self.start_with_key("--max-stored-sets", "1", "--max-elements", "1000")
        right = {"Authorization": f"Bearer {KEY}"}
        self.assertEqual(server.request("PUT", f"{PATH}/a", right, simple()).status, 201)
        json_type = {"Content-Type": "application/json"}
        large = "/v1/encodings/integer?length=1001"
        for reason, status, *request in (
            ("unauthorized", 401, "GET", f"{PATH}/a"),
            ("unauthorized", 401, "PUT", f"{PATH}/a", {"Authorization": "Bearer x"}, simple()),
            ("target_too_long", 414, "GET", f"/{'a' * 20000}"),
            ("result_too_large", 422, "GET", large),
            ("store_full", 507, "PUT", f"{PATH}/b", right, simple()),
            ("body_too_large", 413, "POST", RAW, json_type, b" " * (9 << 20)),
        ):
            with self.subTest(reason), self.one_more(server, reason):
                self.assertEqual(server.request(*request).status, status)
        with self.one_more(server, "framing"), server.wire() as wire:
            wire.send(b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")
            self.assertEqual(wire.receive().status, 400)

    def test_a_page_of_another_origin(self):
        with self.one_more(self.server, "forbidden"):
            self.assertEqual(self.get(PATH, {"Origin": "https://example.com"}).status, 403)

    @steadily(0.5)
    def test_deadlines(self):
        times = ("--header-seconds", "1", "--body-seconds", "1", "--send-seconds", "1")
        server = self.start(*times)
        post = b"POST /v1/encodings/integer HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{"
        server.request("GET", LARGE)  # the table is cached from now on
        slow = ["slow_reader"] * 8  # the watch must end all of them before the kernel gives up
        with self.one_more(server, "header_deadline", "body_deadline", *slow):
            for _ in slow:
                self.occupy(server, LARGE)
            for begin in (b"GET / HTTP/1.1\r\n", post):
                wire = server.wire()
                self.addCleanup(wire.close)
                wire.send(begin)
        metrics = server.metrics()
        self.assertEqual(metrics["posenc_connections_late_total"], 10)

    def test_one_connection_too_many(self):
        server = self.start("--max-connections", "2")
        with server.wire() as first, server.wire() as second, server.wire() as third:
            self.assertEqual(first.exchange("GET", RAW).status, 200)
            self.assertEqual(second.exchange("GET", RAW).status, 200)
            self.assertEqual(third.receive().status, 503)
            text = first.exchange("GET", "/metrics").body
        self.assertIn(b'posenc_rejected_total{reason="connection_limit"} 1\n', text)
        self.assertIn(b"posenc_connections_refused_total 1\n", text)

    def test_one_stream_too_many(self):
        server = self.start("--max-streams", "1", "--send-seconds", "600")
        self.occupy(server, STREAM)
        with self.one_more(server, "stream_limit"):
            self.assertEqual(server.request("GET", STREAM).status, 503)

    def ask_until_one_waits(self, server, stack):
        """Occupy the workers and the one place in the queue; the target of the request there,
        and its connection."""
        for seed in range(1, 9):
            target, wire = f"{ENDLESS}&seed={seed}", stack.enter_context(server.wire())
            wire.ask("GET", target)
            wait_until(
                lambda: server.metrics()["posenc_requests_under_way"] == seed + 1, "it is read"
            )
            if all(server.metrics()["posenc_jobs_waiting"] == 1 for _ in range(20)):
                return target, wire
        raise AssertionError("none waits")

    def test_a_full_queue_and_the_end_of_the_process(self):
        server = self.start(
            "--threads",
            "1",
            "--compute-queue",
            "1",
            "--access-log",
            "--drain-seconds",
            "1",
            "--compute-cost",
            "0",
        )
        with contextlib.ExitStack() as stack:
            target, wire = self.ask_until_one_waits(server, stack)
            with self.one_more(server, "queue_full"):
                other = stack.enter_context(server.wire())
                other.ask("GET", f"{ENDLESS}&dtype=f16")
                self.assertEqual(other.receive().status, 503)
            server.process.terminate()
            self.assertEqual(wire.receive().status, 503)
            server.wait()
        (line,) = [line for line in server.log().splitlines() if target in line]
        self.assertIn(" rejected=draining ", line)

    def test_uploads_under_way_and_no_memory_for_another(self):
        server = self.start("--max-upload-bytes", str(64 << 10), "--max-body-bytes", "64")
        before, refused = self.rejected(server), 0
        while refused == 0:  # each may have ended before the next was read
            refused = self.upload_three(server, simple(15000)).count(503)
        expected = {**before, "upload_memory": refused}
        wait_until(lambda: self.rejected(server) == expected, "each is counted")

    def upload_three(self, server, body):
        """Two uploads that wait for their last byte, and another one; the statuses of all."""
        put = f"PUT {PATH}/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        with server.wire() as one, server.wire() as two:
            for wire in (one, two):
                wire.send(put.encode() + body[:-1])
            statuses = [server.request("PUT", f"{PATH}/b", None, body).status]
            for wire in (one, two):
                with contextlib.suppress(OSError):  # refused, and closed
                    wire.send(body[-1:])
                statuses.append(wire.receive("PUT").status)
        self.assertLessEqual(set(statuses), {201, 204, 503})
        return statuses

    def test_a_stored_set_that_is_damaged(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        server = self.start("--data-dir", directory.name)
        self.assertEqual(server.request("PUT", f"{PATH}/a", None, simple()).status, 201)
        server.stop()
        (file,) = Path(directory.name).glob("*.sqlite*")
        with contextlib.closing(sqlite3.connect(file)) as database:
            database.execute("UPDATE chunks SET bytes = zeroblob(length(bytes))")
            database.commit()
        server = self.start("--data-dir", directory.name)
        with self.one_more(server, "store_failed"):
            self.assertEqual(server.request("GET", f"{PATH}/a").status, 503)

    def test_no_memory(self):
        server = self.start("--cache-bytes", "4GiB", "--threads", "1")
        server.request("GET", RAW)
        pages = int(Path(f"/proc/{server.pid}/statm").read_text().split()[0])
        most = pages * os.sysconf("SC_PAGE_SIZE") + (64 << 20)
        resource.prlimit(server.pid, resource.RLIMIT_AS, (most, most))
        with self.one_more(server, "out_of_memory"):
            target = "/v1/encodings/sinusoidal?length=1048576&dim=128&format=raw"
            self.assertEqual(server.request("GET", target).status, 503)
        self.assert_ok(server.request("GET", RAW))


if __name__ == "__main__":
    unittest.main()
