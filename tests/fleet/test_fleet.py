"""What docker/fleet promises: no request fails while nodes die, each table has one node,
nothing is changed twice. FLEET_REQUESTS says how many requests the tests under load make at
least."""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import sys
import tempfile
import time
import unittest

from fleet import (
    FLEET,
    GIVEN_UP,
    HOPELESS,
    HURRIED,
    KEY,
    NODES,
    FakeNode,
    Fleet,
    Load,
    Node,
    attempts,
    configuration,
    counted,
)
from server import PATIENCE, wait_until
from steady import steadily
from stored import simple

sys.path.insert(0, str(FLEET))
from choose_node import choose_node  # noqa: E402

REQUESTS = int(os.environ.get("FLEET_REQUESTS", "20000"))
TABLE = "/v1/encodings/sinusoidal?length=256&dim=256&format=raw"  # 256 KiB


def say(text):
    print(f"fleet: {text}", flush=True)


STANDSTILL = 1  # seconds of the machine that neither the proxy's checks nor a drain notice


@steadily(STANDSTILL)
class UnderLoad(unittest.TestCase):
    def lose_each(self, fleet, lose):
        for name in NODES:
            lose(fleet.nodes[name])
            wait_until(lambda name=name: name not in fleet.up(), f"{name} is down")
            fleet.nodes[name].come_back()
            wait_until(lambda: fleet.up() == set(NODES), f"{name} is up again")

    def kill_each(self, fleet):
        self.lose_each(fleet, Node.die)

    def stop_each(self, fleet):
        self.lose_each(fleet, Node.end)

    def load_during(self, disturb, least, script="small.lua", config=None):
        with Fleet(config=config) as fleet:
            load = Load(fleet.address, script)
            started = time.monotonic()
            disturb(fleet)
            rate = 500  # at least; wrk counts only at its end
            while (time.monotonic() - started) * rate < least and load.process.poll() is None:
                disturb(fleet)
            return load.stop()

    def check(self, what, disturb, script="small.lua"):
        load = self.load_during(disturb, REQUESTS / 10, script)
        say(f"{what}: {load.requests} requests, {load.failed} failed")
        self.assertEqual(load.failed, 0)
        self.assertGreater(load.requests, 1000)

    def test_no_request_fails_while_each_node_is_killed(self):
        self.check("kill -9 of each node", self.kill_each)

    def test_no_request_fails_while_each_node_is_stopped(self):
        self.check("SIGTERM to each node", self.stop_each)

    def test_no_post_fails_while_each_node_is_killed(self):
        self.check("kill -9 of each node, POST", self.kill_each, "posted.lua")

    @unittest.skipIf(
        REQUESTS < 100000, "the control is for the long form: FLEET_REQUESTS=200000"
    )
    def test_without_retries_requests_fail(self):
        config = (
            configuration()
            .replace("retries 3", "retries 0")
            .replace("    retry-on ", "    # retry-on ")
        )
        failed = 0
        for _ in range(5):
            load = self.load_during(self.kill_each, 0, config=config)
            failed += load.failed
            if failed:
                break
        say(
            f"kill -9 of each node, no retries: {failed} failed, which shows that the others "
            "can"
        )
        self.assertGreater(failed, 0)


@steadily(STANDSTILL)
class Placement(unittest.TestCase):
    def test_a_working_set_of_two_caches_is_kept(self):
        tables = [f"{TABLE}&offset={i}" for i in range(128)]  # 32 MiB; a node keeps 16
        ratios = {}
        for balance in ("hash var(txn.table)", "roundrobin"):
            config = configuration().replace(
                "balance hash var(txn.table)", f"balance {balance}"
            )
            with Fleet("--cache-bytes", "16MiB", "--threads", "1", config=config) as fleet:
                with contextlib.closing(fleet.connect()) as wire:
                    hits = 0
                    for turn in range(4):
                        for target in tables:
                            wire.request("GET", target)
                            reply = wire.getresponse()
                            reply.read()
                            hits += turn > 0 and reply.headers["Cache-Status"] == "posenc; hit"
                ratios[balance] = hits / (3 * len(tables))
        say(f"hits of a working set of two caches: {ratios}")
        self.assertGreaterEqual(ratios["hash var(txn.table)"], 0.99)
        self.assertLess(ratios["roundrobin"], 0.9)

    def test_the_form_of_a_table_does_not_choose_its_node(self):
        with Fleet() as fleet:
            for i in range(20):
                target = f"/v1/encodings/sinusoidal?length=4&dim=8&offset={i}"
                nodes = {
                    fleet.node_of(target + form) for form in ("", "&format=npy", "&format=csv")
                }
                self.assertEqual(len(nodes), 1, target)

    def test_tables_of_living_nodes_stay_where_they_are(self):
        targets = [f"/v1/encodings/sinusoidal?length=4&dim=8&offset={i}" for i in range(150)]
        with Fleet() as fleet:
            before = {target: fleet.node_of(target) for target in targets}
            self.assertEqual(set(before.values()), set(NODES))
            fleet.nodes["n2"].die()
            wait_until(lambda: "n2" not in fleet.up(), "n2 is down")
            after = {target: fleet.node_of(target) for target in targets}
            moved = [
                target
                for target in targets
                if before[target] != after[target] and before[target] != "n2"
            ]
            self.assertEqual(moved, [])
            self.assertNotIn("n2", after.values())
            fleet.nodes["n2"].come_back()
            wait_until(lambda: fleet.up() == set(NODES), "n2 is up again")
            self.assertEqual({target: fleet.node_of(target) for target in targets}, before)

    def test_a_client_can_choose_the_node_itself(self):
        form = "/v1/encodings/sinusoidal?{}length=4&dim=8&offset={}{}"
        targets = [
            form.format(*(("", i, "&format=raw"), ("", i, ""), ("format=npy&", i, ""))[i % 3])
            for i in range(150)
        ]
        with Fleet() as fleet:
            self.assertEqual(
                [fleet.node_of(t) for t in targets], [f"n{choose_node(t, 3)}" for t in targets]
            )
            fleet.nodes["n2"].die()
            wait_until(lambda: "n2" not in fleet.up(), "n2 is down")
            self.assertEqual(
                [fleet.node_of(t) for t in targets],
                [f"n{choose_node(t, [1, 3])}" for t in targets],
            )
            fleet.nodes["n2"].come_back()


@steadily(STANDSTILL)
class Failures(unittest.TestCase):
    def test_a_body_that_is_cut_is_resumed(self):
        target = "/v1/encodings/sinusoidal?length=65536&dim=256&format=raw"  # 64 MiB
        with Fleet() as fleet:
            status, headers, whole = fleet.request("GET", target)
            self.assertEqual(status, 200)
            with contextlib.closing(fleet.connect()) as wire:
                wire.request("GET", target)
                reply = wire.getresponse()
                part = reply.read(1 << 20)
                fleet.nodes[reply.headers["X-Posenc-Node"]].die()
                with contextlib.suppress(Exception):
                    while piece := reply.read1(1 << 20):
                        part += piece
            self.assertLess(len(part), len(whole))
            fields = {"Range": f"bytes={len(part)}-", "If-Range": headers["ETag"]}
            status, more, rest = fleet.request("GET", target, headers=fields)
            self.assertEqual(status, 206)
            self.assertNotEqual(more["X-Posenc-Node"], headers["X-Posenc-Node"])
            self.assertTrue(part + rest == whole, "the parts are not the whole")
            fleet.nodes[headers["X-Posenc-Node"]].come_back()

    def test_without_a_node_the_answer_is_a_problem_document(self):
        with Fleet() as fleet:
            for node in fleet.nodes.values():
                node.die()
            wait_until(lambda: not fleet.up(), "all nodes are down")
            status, headers, body = fleet.request("GET", "/v1/info")
            for node in fleet.nodes.values():
                node.come_back()
        self.assertEqual(status, 503)
        self.assertEqual(headers["Content-Type"], "application/problem+json")
        self.assertEqual(
            (headers["Retry-After"], headers["Access-Control-Allow-Origin"]), ("1", "*")
        )
        self.assertEqual(json.loads(body)["code"], "no_node")

    def test_a_change_is_sent_once_and_a_question_again(self):
        for method, most in (("PUT", 1), ("DELETE", 1), ("GET", 4)):
            nodes = {name: FakeNode() for name in NODES}
            with Fleet(nodes=nodes) as fleet:
                body = b"x" if method == "PUT" else None
                status, headers, _ = fleet.request(method, "/v1/sets/a", body=body)
                seen = [each for node in nodes.values() for each in node.seen]
            self.assertEqual(status, 502, method)
            self.assertEqual(headers["Content-Type"], "application/problem+json")
            self.assertEqual(len(seen), most, f"{method}: {seen}")

    def test_a_computation_that_takes_too_long_is_made_once(self):
        with Fleet(*HURRIED) as fleet:
            status, _, body = fleet.request("GET", HOPELESS)
            self.assertEqual((status, json.loads(body)["code"]), (422, "deadline_exceeded"))
            self.assertEqual(counted(fleet.nodes.values(), GIVEN_UP), 1)

    def test_a_node_that_is_full_leaves_the_request_to_another_one(self):
        refusal = b"HTTP/1.1 503 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        nodes = {name: FakeNode(lambda _: refusal) for name in NODES}
        with Fleet(nodes=nodes) as fleet:
            self.assertEqual(fleet.request("GET", "/v1/info")[0], 503)
            self.assertEqual(sum(len(node.seen) for node in nodes.values()), 4)

    def test_a_body_that_does_not_come_gets_a_problem_document(self):
        config = configuration().replace("wait-for-body time 46s", "wait-for-body time 100ms")
        with Fleet(config=config) as fleet:
            with contextlib.closing(socket.create_connection(fleet.address)) as wire:
                wire.settimeout(PATIENCE)
                wire.sendall(
                    b"POST /v1/batch HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{"
                )
                reply = http.client.HTTPResponse(wire)
                reply.begin()
                self.assertEqual(reply.status, 408)
                self.assertEqual(reply.headers["Content-Type"], "application/problem+json")
                self.assertEqual(json.loads(reply.read())["code"], "request_too_slow")

    def test_every_file_of_an_answer_states_its_length(self):
        for path in FLEET.glob("*.http"):
            head, body = path.read_bytes().split(b"\r\n\r\n")
            fields = dict(line.split(b": ") for line in head.split(b"\r\n")[1:])
            self.assertEqual(fields[b"Content-Length"], b"%d" % len(body), path)
            self.assertEqual(json.loads(body)["status"], int(path.stem))
            self.assertIn(f"errorfile {path.stem} ", configuration())
            self.assertIn(f"/{path.name}:ro", (FLEET / "compose.yml").read_text())

    def test_the_proxy_awaits_a_body_as_long_as_a_node(self):
        with Fleet() as fleet:
            limits = json.loads(fleet.request("GET", "/v1/info")[2])["limits"]
        rate, grace = (limits[name]["value"] for name in ("min-rate", "body-seconds"))
        awaited = re.search(r"wait-for-body time (\d+)s", configuration())
        self.assertEqual(int(awaited[1]), grace + 16384 // rate)  # haproxy's buffer

    def test_a_node_that_ends_answers_what_it_has_begun(self):
        with Fleet() as fleet:
            node = fleet.nodes["n1"]
            with contextlib.closing(fleet.connect()) as wire:
                wire.request("GET", "/v1/encodings/sinusoidal?length=65536&dim=256&format=raw")
                reply = wire.getresponse()
                node = fleet.nodes[reply.headers["X-Posenc-Node"]]
                node.server.signal(signal.SIGTERM)
                self.assertEqual(len(reply.read()), 1 << 26)
            node.server.wait()
            node.come_back()


class Access(unittest.TestCase):
    def test_nodes_without_a_key_keep_their_store_to_themselves(self):
        with Fleet() as fleet:
            self.assertEqual(attempts(lambda *each: fleet.request(*each)[0]), {403})
            node = fleet.nodes["n1"].server
            self.assertEqual(node.request("GET", "/v1/sets").status, 200)

    def test_with_the_key_sets_can_be_used_through_the_proxy(self):
        with tempfile.NamedTemporaryFile("w") as key:
            key.write(KEY)
            key.flush()
            with Fleet("--api-key-file", key.name) as fleet:
                self.assertEqual(attempts(lambda *each: fleet.request(*each)[0]), {401})
                right = {"Authorization": f"Bearer {KEY}", "Host": "posenc.example"}
                status = fleet.request("PUT", "/v1/sets/x", simple(), right)[0]
                self.assertEqual(status, 201)

    def test_the_containers_have_a_key_since_they_listen_beyond_loopback(self):
        text = (FLEET / "compose.yml").read_text()
        self.assertIn("\n    POSENC_API_KEY_FILE: /run/secrets/key\n", text)
        self.assertIn("\n  secrets: [key]\n", text)
        self.assertIn("\nsecrets:\n  key:\n    file: ./key\n", text)

    def test_the_proxies_listen_on_loopback_unless_they_are_told(self):
        binds = re.findall(r"^ *bind (.*)$", configuration(), re.MULTILINE)
        self.assertEqual(len(binds), 2)
        for bind in binds:
            self.assertRegex(bind, r'\A"\$\{FLEET_\w+-127\.0\.0\.1:\d+\}"')
        listens = re.findall(r"^ *listen (.*);$", (FLEET / "nginx.conf").read_text(), re.M)
        self.assertEqual(listens, ["127.0.0.1:8080"])


if __name__ == "__main__":
    unittest.main()
