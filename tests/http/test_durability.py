"""Sets in --data-dir: they outlive restarts, kill -9 and full disks; one server at a time."""

import contextlib
import os
import random
import resource
import shutil
import signal
import sqlite3
import stat
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

from server import BINARY, PATIENCE, ServerCase, environment_with, run
from stored import PATH, floats, simple, tag, write

FILE = "parameters.sqlite"


def large(size, first):
    """A file of about `size` bytes."""
    return write({"table": ("F32", [size // 4], floats(size // 4, first))})


class DataCase(ServerCase):
    @classmethod
    def setUpClass(cls):
        pass  # every test has its own server

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="posenc-")
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name)
        self.data = self.root / "data"

    def start_here(self, *flags, before=None):
        server = self.start("--data-dir", str(self.data), *flags, before=before)
        self.addCleanup(server.stop)
        return server

    def put(self, server, name, body, headers=None):
        return server.request("PUT", f"{PATH}/{name}", headers, body).status

    def names(self, server):
        listed = server.request("GET", PATH).json()["sets"]
        return [stored["name"] for stored in listed]

    def assert_stored(self, server, name, body):
        reply = server.request("GET", f"{PATH}/{name}")
        self.assertEqual((reply.status, reply.header("ETag")), (200, tag(body)), name)
        self.assertEqual(reply.body, body)

    def assert_sound(self):
        """Check the file with SQLite's own tools, while no server has it open."""
        with contextlib.closing(sqlite3.connect(self.data / FILE)) as database:
            self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
            rows = database.execute("SELECT count(*), sum(bytes) FROM sets").fetchone()
            chunks = database.execute("SELECT sum(length(bytes)) FROM chunks").fetchone()
            self.assertEqual(rows[1], chunks[0], "no chunk without its set")
            return rows[0]


class Restarts(DataCase):
    def test_sets_outlive_a_restart(self):
        server = self.start_here()
        self.assertEqual(server.request("GET", "/v1/info").json()["store"]["kind"], "sqlite")
        bodies = {"a": simple(10), "big": large(3_000_000, 1.0), "c": simple(30)}
        for name, body in bodies.items():
            self.assertEqual(self.put(server, name, simple(1)), 201)
            self.assertEqual(self.put(server, name, body), 204)
        self.assertEqual(server.request("DELETE", f"{PATH}/c").status, 204)
        server.stop()
        self.assertEqual(self.assert_sound(), 2)
        server = self.start_here()
        self.assertEqual(self.names(server), ["a", "big"])
        for name in ("big", "a"):
            self.assert_stored(server, name, bodies[name])
        info = server.request("GET", "/v1/info").json()["store"]
        size = len(bodies["a"]) + len(bodies["big"])
        self.assertEqual(info, {"kind": "sqlite", "sets": 2, "bytes": size})

    def test_etags_and_conditions_outlive_a_restart(self):
        server = self.start_here()
        self.put(server, "a", simple())
        server.stop()
        server = self.start_here()
        head = server.request("HEAD", f"{PATH}/a")
        self.assertEqual(head.header("ETag"), tag(simple()))
        same = server.request("GET", f"{PATH}/a", {"If-None-Match": tag(simple())})
        self.assertEqual(same.status, 304)
        self.assertEqual(self.put(server, "a", simple(7), {"If-None-Match": "*"}), 412)
        self.assertEqual(self.put(server, "a", simple(7), {"If-Match": tag(simple())}), 204)

    def test_sets_over_the_memory_limit_are_read_each_time(self):
        server = self.start_here("--set-cache-bytes", "0")
        bodies = {name: large(200_000, i) for i, name in enumerate("abcdef")}
        for name, body in bodies.items():
            self.assertEqual(self.put(server, name, body), 201)
        for _ in range(3):
            for name, body in bodies.items():
                self.assert_stored(server, name, body)

    def test_without_a_directory_the_store_ends_with_the_process(self):
        server = self.start()
        self.assertEqual(server.request("GET", "/v1/info").json()["store"]["kind"], "memory")
        self.put(server, "a", simple())
        server.stop()
        self.assertEqual(self.names(self.start()), [])


class Kills(DataCase):
    SIZE = 300_000

    def upload_until_killed(self, server, bodies, acknowledged, enough):
        """50 clients upload at a time; kill -9 once `enough` uploads are acknowledged. The last
        ten wait for that with a byte left, so that the kill comes in the middle."""
        reached, last = threading.Event(), list(bodies)[-10:]

        def upload(name, body):
            with contextlib.suppress(OSError, EOFError), server.wire() as wire:
                if name in last:
                    wire.ask("PUT", f"{PATH}/{name}", {"Content-Length": str(len(body))})
                    wire.send(body[:-1])
                    wire.receive("PUT")
                elif wire.exchange("PUT", f"{PATH}/{name}", {}, body).status in (201, 204):
                    acknowledged[name] = body
                    if len(acknowledged) >= enough:
                        reached.set()

        threads = [threading.Thread(target=upload, args=pair) for pair in bodies.items()]
        for thread in threads:
            thread.start()
        self.assertTrue(reached.wait(PATIENCE))
        server.kill()
        for thread in threads:
            thread.join()

    def test_kill_9_in_the_middle_of_50_uploads_loses_nothing_acknowledged(self):
        stands = {}  # {name: the bodies of which one must be stored}
        for number, enough in enumerate((1, 10, 25)):
            server = self.start_here("--compute-queue", "64")
            bodies = {f"set-{i}": large(self.SIZE, 1000.0 * number + i) for i in range(50)}
            acknowledged = {}
            self.upload_until_killed(server, bodies, acknowledged, enough)
            server = self.start_here()
            listed = self.names(server)
            for name, body in bodies.items():
                if name in acknowledged:
                    stands[name] = [body]
                else:
                    stands[name] = [*stands.get(name, [None]), body]
            for name, possible in stands.items():
                reply = server.request("GET", f"{PATH}/{name}")
                found = reply.body if reply.status == 200 else None
                self.assertIn(found, possible, f"{name} after round {number}")
                self.assertEqual(name in listed, found is not None)
                stands[name] = [found]
            server.stop()
            self.assert_sound()

    def test_kill_9_in_the_middle_of_one_upload_leaves_nothing(self):
        body = large(4_000_000, 0.0)
        server = self.start_here()
        self.put(server, "other", simple())
        with server.wire() as wire:
            wire.ask("PUT", f"{PATH}/a", {"Content-Length": str(len(body))})
            wire.send(body[:3_000_000])
            server.kill()
        server = self.start_here()
        self.assertEqual(self.names(server), ["other"])
        server.stop()
        self.assertEqual(self.assert_sound(), 1)

    def test_kill_9_at_any_time_of_an_upload_leaves_all_or_nothing(self):
        draw, first, second = random.Random(7), large(2_000_000, 1.0), large(2_000_000, 2.0)
        server = self.start_here()
        self.put(server, "a", first)
        for _ in range(8):
            timer = threading.Timer(draw.random() * 0.03, server.signal, [signal.SIGKILL])
            with contextlib.suppress(OSError, EOFError), server.wire() as wire:
                timer.start()
                wire.exchange("PUT", f"{PATH}/a", {}, second)
            timer.join()
            server.kill()
            server = self.start_here()
            reply = server.request("GET", f"{PATH}/a")
            self.assertIn(reply.body, (first, second))
            self.assertEqual(self.put(server, "a", first), 204)
        server.stop()
        self.assertEqual(self.assert_sound(), 1)


class Directories(DataCase):
    def refused(self, *texts, **variables):
        ended = run("--port", "0", "--data-dir", str(self.data), **variables)
        self.assertEqual((ended.returncode, ended.stdout), (1, ""), ended)
        self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)
        for text in ("data-dir", str(self.data), *texts):
            self.assertIn(text, ended.stderr)

    def test_the_directory_is_made_for_our_eyes_alone(self):
        self.start_here()
        self.assertEqual(stat.S_IMODE(self.data.stat().st_mode), 0o700)
        for file in self.data.iterdir():
            self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600, file)

    def test_a_second_server_is_refused(self):
        server = self.start_here()
        self.put(server, "a", simple())
        self.refused("another server is using it")
        self.assert_stored(server, "a", simple())
        self.assertEqual(self.put(server, "b", simple()), 201)
        server.stop()
        self.assertEqual(self.names(self.start_here()), ["a", "b"])

    def test_what_is_no_directory_of_ours_is_left_alone(self):
        self.data.write_text("precious")
        self.refused()
        self.assertEqual(self.data.read_text(), "precious")
        self.data.unlink()
        self.data.mkdir()
        (self.data / FILE).write_bytes(b"precious" * 1000)
        self.refused("not a database")
        self.assertEqual((self.data / FILE).read_bytes(), b"precious" * 1000)
        (self.data / FILE).unlink()
        with contextlib.closing(sqlite3.connect(self.data / FILE)) as database:
            database.execute("CREATE TABLE precious (x)")
            database.commit()
        self.refused("not posenc's")

    def test_a_later_versions_file_is_left_alone(self):
        self.start_here().stop()
        with contextlib.closing(sqlite3.connect(self.data / FILE)) as database:
            database.execute("PRAGMA user_version = 2")
        self.refused("another version")

    def test_a_parent_that_is_missing_is_not_made(self):
        self.data = self.root / "missing" / "data"
        self.refused("No such file")
        self.assertFalse((self.root / "missing").exists())

    def test_a_directory_that_cannot_be_written_is_refused(self):
        """Runs as another user if this one is root, who may write everywhere."""
        binary = self.root / "posenc-server"
        shutil.copy(BINARY, binary)
        self.root.chmod(0o755)
        self.data.mkdir(mode=0o755)
        self.data.chmod(0o555)
        user = {"user": 65534} if os.getuid() == 0 else {}
        command = [binary, "--port", "0", "--data-dir", self.data]
        ended = subprocess.run(
            command,
            env=environment_with(),
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=60,
            check=False,
            **user,
        )
        self.assertEqual((ended.returncode, ended.stdout), (1, ""), ended)
        self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)
        self.assertIn("Permission denied", ended.stderr)
        self.assertEqual(list(self.data.iterdir()), [])

    def test_a_damaged_set_is_not_served(self):
        server = self.start_here()
        body = large(100_000, 1.0)
        self.put(server, "a", body)
        self.put(server, "b", simple())
        server.stop()
        with contextlib.closing(sqlite3.connect(self.data / FILE)) as database:
            (bytes_,) = database.execute("SELECT bytes FROM chunks WHERE set_id = 1").fetchone()
            damaged = bytes_[:50_000] + b"\x01" + bytes_[50_001:]
            database.execute("UPDATE chunks SET bytes = ? WHERE set_id = 1", [damaged])
            database.commit()
        server = self.start_here()
        self.assert_problem(server.request("GET", f"{PATH}/a"), 503)
        self.assertIn("damaged", server.log())
        self.assert_stored(server, "b", simple())
        self.assertEqual(self.put(server, "a", body), 204)
        self.assert_stored(server, "a", body)


class FullDisks(DataCase):
    LIMIT = 2 << 20  # bytes that a file may have

    def limit_files(self):
        resource.setrlimit(resource.RLIMIT_FSIZE, (self.LIMIT, self.LIMIT))

    def test_an_upload_that_does_not_fit_the_disk_is_507_and_leaves_nothing(self):
        server = self.start_here(before=self.limit_files)
        self.assertEqual(self.put(server, "a", simple()), 201)
        for name, status in (("big", 507), ("a", 507)):
            reply = server.request("PUT", f"{PATH}/{name}", None, large(2 * self.LIMIT, 0.0))
            self.assert_problem(reply, status, code="store_full")
        self.assertEqual(self.names(server), ["a"])
        self.assert_stored(server, "a", simple())
        self.assertEqual(self.put(server, "b", large(100_000, 3.0)), 201)
        self.assertIn("cannot be stored", server.log())
        server.stop()
        self.assertEqual(self.assert_sound(), 2)
        server = self.start_here()
        self.assertEqual(self.names(server), ["a", "b"])
        self.assertEqual(self.put(server, "big", large(2 * self.LIMIT, 0.0)), 201)


if __name__ == "__main__":
    unittest.main()
