"""--warm: targets that are computed before the server is ready."""

import os
import signal
import socket
import tempfile
import unittest
from pathlib import Path

import stored
from server import PATIENCE, ServerCase, run, wait_until
from steady import steadily
from test_preparations import ENDLESS

TARGETS = (
    "/v1/encodings/sinusoidal?length=512&dim=768&format=npy",
    "/v1/encodings/rope?length=4096&dim=64&format=safetensors",
    "/v1/similarity/integer?length=50&metric=l1&format=raw",
    "/v1/encodings/alibi?length=16&heads=4",
)
UPLOADED = "/v1/encodings/learned?length=2&dim=3&set=trained&format=raw"
STREAMED = "/v1/encodings/integer?length=100000&format=raw"  # in a cache of 1 MiB
PATIENT = ("--compute-cost", "0", "--compute-seconds", "600")
MOST = 4096  # targets


class Warm(ServerCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="posenc-")
        self.addCleanup(directory.cleanup)
        self.folder = Path(directory.name)

    def file(self, *lines, end="\n"):
        path = self.folder / "warm.txt"
        path.write_bytes(end.join((*lines, "")).encode())
        return str(path)

    def wait_until_ready(self, server):
        wait_until(lambda: server.request("GET", "/health/ready").status == 200, "it is ready")
        return server

    def state(self, server):
        reply = server.request("GET", "/health/ready")
        return reply.status, reply.json()["status"]

    def assert_refused(self, path, *texts, flags=()):
        """By --check-config with status 2 and by a start with status 1, in one line that says
        it."""
        for action, status in ((("--check-config",), 2), ((), 1)):
            ended = run(*action, "--port", "0", "--warm", path, *flags)
            self.assertEqual((ended.returncode, ended.stdout), (status, ""), ended)
            self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)
            for text in (path, *texts):
                self.assertIn(text, ended.stderr)

    # ---- what becomes of it ----

    def test_when_the_server_is_ready_every_target_is_a_hit(self):
        for end in ("\n", "\r\n"):
            path = self.file(
                "# of a model",
                "",
                TARGETS[0],
                f"  {TARGETS[1]} ",
                "\t# and",
                *TARGETS[2:],
                end=end,
            )
            server = self.wait_until_ready(self.start("--warm", path))
            self.assertEqual(server.computed(), len(TARGETS))
            for target in TARGETS:
                reply = self.assert_ok(server.request("GET", target))
                self.assertEqual(reply.header("Cache-Status"), "posenc; hit")
                if "format" in target:
                    self.assertEqual(reply.body, self.get(target).body)
            self.assertEqual(server.computed(), len(TARGETS))
            self.assertIn(f"warm targets={len(TARGETS)}", server.log())

    def test_a_file_without_targets_is_ready_at_once(self):
        self.wait_until_ready(self.start("--warm", self.file("# nothing yet")))

    def test_while_it_computes_it_lives_and_answers_but_is_not_ready(self):
        path = self.file(TARGETS[0], ENDLESS, TARGETS[1])
        server = self.start("--warm", path, *PATIENT)
        wait_until(lambda: server.computed() == 1, "the first target is computed")
        self.assertEqual(self.state(server), (503, "warming"))
        reply = server.request("GET", "/health/ready")
        self.assertEqual(reply.header("Retry-After"), "1")
        self.assertEqual(run("--healthcheck", "--port", str(server.address[1])).returncode, 1)
        self.assert_ok(server.request("GET", "/health/live"))
        self.assert_ok(server.request("GET", TARGETS[3]))
        self.assertEqual(self.state(server), (503, "warming"))
        server.signal(signal.SIGTERM)
        server.wait()  # it does not finish the table

    def test_a_target_that_a_client_is_waiting_for_is_computed_once(self):
        slow = "/v1/similarity/sinusoidal?length=1500&dim=64&metric=cosine&format=raw"
        server = self.start("--warm", self.file(slow), *PATIENT)
        self.assert_ok(server.request("GET", slow))
        self.wait_until_ready(server)
        self.assertEqual(server.computed(), 1)

    @steadily(0.5)
    def test_a_target_that_fails_is_logged_and_the_server_becomes_ready(self):
        path = self.file("", ENDLESS, TARGETS[3])
        server = self.start("--warm", path, "--compute-cost", "0", "--compute-seconds", "1")
        self.wait_until_ready(server)
        self.assertIn(f"error warm: {path}:2: {ENDLESS}: ", server.log())
        self.assertEqual(
            server.request("GET", TARGETS[3]).header("Cache-Status"), "posenc; hit"
        )

    def test_a_cache_without_room_for_all_is_told(self):
        lines = [f"/v1/encodings/sinusoidal?length=400&dim=128&offset={i}" for i in range(9)]
        path = self.file(*(f"{line}&format=raw" for line in lines))
        server = self.wait_until_ready(self.start("--warm", path, "--cache-bytes", "1MiB"))
        self.assertRegex(
            server.log(), r"warning warm: the cache has no room for all .*evictions=\d"
        )
        server = self.wait_until_ready(self.start("--warm", path))
        self.assertNotIn("warning", server.log())

    def test_the_service_manager_is_told_when_it_is_warm_and_not_before(self):
        address = str(self.folder / "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(address)
            manager.settimeout(PATIENCE)
            for line, state in ((ENDLESS, (503, "warming")), (TARGETS[0], (200, "ready"))):
                server = self.start(
                    "--warm", self.file(line), *PATIENT, environment={"NOTIFY_SOCKET": address}
                )
                if state[0] == 200:
                    self.assertEqual(manager.recv(100), b"READY=1")
                self.assertEqual(self.state(server), state)
                server.stop()
                self.assertEqual(manager.recv(100), b"STOPPING=1")

    # ---- what is refused ----

    def test_a_wrong_line_is_named_with_its_rule(self):
        wrong = {
            "/v1/encodings/sinusoidal?length=4&dim=7": "dim must be an even number",
            "/v1/encodings/sinusoidal?lenght=4&dim=8": 'did you mean "length"',
            "/v1/encodings/snusoidal?length=4": 'did you mean "sinusoidal"',
            "/v1/encodings/binary?length=8&width=4&format=nyp": "format must be",
            "/v1/similarity/integer?length=4&metric=l3": "metric must be",
            UPLOADED: "name of a set",
            STREAMED: "the cache keeps tables of at most 262144",
            "/v1/encodings/integer?length=4&x=" + "y" * 20000: "the request target is too long",
            "/v1/schemes": "must begin with /v1/encodings/",
            "GET /v1/encodings/integer?length=4": "printable ASCII without blanks",
            "/v1/encodings/integer?length=4\x1b": "printable ASCII without blanks",
            "/v1/encodings/integer?length=\xe4": "printable ASCII without blanks",
        }
        for line, rule in wrong.items():
            with self.subTest(line[:60]):
                path = self.file(TARGETS[3], "# a comment", line, "nonsense")
                self.assert_refused(path, f"{path}:3: ", rule, flags=("--cache-bytes", "1MiB"))

    def test_a_file_that_cannot_be_is_named_with_its_rule(self):
        self.assert_refused(str(self.folder / "missing"), "No such file")
        self.assert_refused(str(self.folder), "directory")
        self.assert_refused("/dev/zero", "at most 1048576 bytes")
        self.assert_refused(self.file(TARGETS[3], "\0"), "NUL")

    def test_the_file_has_limits(self):
        path = self.file(*[TARGETS[3]] * MOST)
        self.assertEqual(run("--check-config", "--warm", path).returncode, 0)
        self.assert_refused(self.file(*[TARGETS[3]] * (MOST + 1)), f"at most {MOST} targets")
        self.assert_refused(self.file("#" * (1 << 20)), "at most 1048576 bytes")
        self.assertEqual(
            run("--check-config", "--warm", self.file("#" * ((1 << 20) - 1))).returncode, 0
        )

    # ---- sets ----

    def test_stored_sets_are_found_at_start_and_left_alone_by_check_config(self):
        data = ("--data-dir", str(self.folder / "data"))
        server = self.start(*data)
        table = stored.write({"table": ("F32", [2, 3], stored.floats(6))})
        self.assertEqual(server.request("PUT", "/v1/sets/trained", body=table).status, 201)
        path = self.file(UPLOADED)
        ended = run(
            "--check-config", "--warm", path, *data
        )  # while a server holds the directory
        self.assertEqual((ended.returncode, ended.stderr), (0, ""), ended)
        server.stop()
        server = self.wait_until_ready(self.start("--warm", path, *data))
        self.assertEqual(server.request("GET", UPLOADED).header("Cache-Status"), "posenc; hit")
        server.stop()
        wrong = self.file(UPLOADED.replace("trained", "other"))
        ended = run("--port", "0", "--warm", wrong, *data)
        self.assertEqual(ended.returncode, 1)
        self.assertIn(f"{wrong}:1: ", ended.stderr)
        self.assertIn("name of a set", ended.stderr)
        self.assertTrue(os.path.exists(self.folder / "data"))


if __name__ == "__main__":
    unittest.main()
