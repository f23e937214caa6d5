"""Sets in --data-dir on a small disk: what fits no more is refused by name, what is deleted
gives its space back, and a disk that can no longer be written is still read."""

import contextlib
import os
import subprocess
import sys
import unittest

from faults import FOREVER, LIBRARY, SANITIZED, WRITES, Faults
from server import ServerCase
from stored import PATH, simple
from test_durability import DataCase, large

DISK, SIZE = 8 << 20, 1_600_000
SPARE = 2 << 20  # bytes that an empty store may keep


def skip(reason):
    print(f"not tested: {reason}", file=sys.stderr)
    raise unittest.SkipTest(reason)


class SmallDisks(DataCase):
    def setUp(self):
        super().setUp()
        self.data.mkdir(mode=0o700)
        command = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(self.data)]
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            skip("a full disk: a file system cannot be mounted here")
        self.addCleanup(subprocess.run, ["umount", "-l", str(self.data)], check=True)

    def used(self):
        disk = os.statvfs(self.data)
        return (disk.f_blocks - disk.f_bfree) * disk.f_frsize

    def fill(self, server):
        """Store sets until the disk takes no more; their bodies by name."""
        bodies = {}
        for i in range(8):
            body = large(SIZE, 1000.0 * i)
            reply = server.request("PUT", f"{PATH}/set-{i}", None, body)
            if reply.status == 507:
                self.assertIn("the disk is full", reply.json()["detail"])
                break
            self.assertEqual(reply.status, 201, reply)
            bodies[f"set-{i}"] = body
        self.assertGreaterEqual(len(bodies), 2)
        for i in range(400):  # what is left goes to small sets
            if self.put(server, f"small-{i}", large(20_000, 1.0)) == 507:
                break
        return bodies

    def fill_the_rest(self):
        """Somebody else takes every byte of the disk."""
        with contextlib.suppress(OSError), open(self.data / "other", "wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))

    def delete_all(self, server):
        for name in self.names(server):
            reply = server.request("DELETE", f"{PATH}/{name}")
            self.assertEqual(reply.status, 204, (name, reply))

    def test_sets_of_a_full_disk_can_be_deleted_and_stored_again(self):
        server = self.start_here()
        for _ in range(2):
            bodies = self.fill(server)
            self.fill_the_rest()
            for name, body in bodies.items():
                self.assert_stored(server, name, body)
            self.delete_all(server)
            (self.data / "other").unlink()
            self.assertLess(self.used(), SPARE)
        server.stop()
        self.assertEqual(self.assert_sound(), 0)

    def test_sets_of_a_full_disk_can_be_deleted_after_a_restart(self):
        server = self.start_here()
        bodies = self.fill(server)
        self.fill_the_rest()
        server.kill()
        server = self.start_here()
        for name, body in bodies.items():
            self.assert_stored(server, name, body)
        server.stop()
        server = self.start_here()
        first, *others = sorted(bodies)
        self.assertEqual(server.request("DELETE", f"{PATH}/{first}").status, 204)
        for name in others:
            self.assert_stored(server, name, bodies[name])
        self.delete_all(server)
        server.stop()
        self.assertEqual(self.assert_sound(), 0)

    def test_space_in_the_middle_of_the_file_is_given_back(self):
        server = self.start_here()
        bodies = self.fill(server)
        full = self.used()
        first, *others = sorted(bodies)
        self.assertEqual(server.request("DELETE", f"{PATH}/{first}").status, 204)
        self.assertLess(self.used(), full - SIZE + (100 << 10))
        for name in others:
            self.assert_stored(server, name, bodies[name])
        self.assertEqual(self.put(server, first, large(SIZE // 3, 7.0)), 201)
        server.stop()
        self.assert_sound()


class Space(DataCase):
    def size(self):
        return sum(file.stat().st_blocks * 512 for file in self.data.iterdir())

    def test_a_store_whose_sets_are_all_deleted_is_small_again(self):
        server = self.start_here()
        for i in range(3):
            self.assertEqual(self.put(server, f"set-{i}", large(24_000_000, i)), 201)
        self.assertGreater(self.size(), 72_000_000)
        for i in range(3):
            self.assertEqual(server.request("DELETE", f"{PATH}/set-{i}").status, 204)
        self.assertLess(self.size(), SPARE)

    def test_a_replaced_set_leaves_no_space_behind(self):
        server = self.start_here()
        self.assertEqual(self.put(server, "a", large(24_000_000, 1.0)), 201)
        self.assertEqual(self.put(server, "a", simple()), 204)
        self.assertLess(self.size(), SPARE)

    def test_a_limit_of_the_store_is_named(self):
        server = self.start_here("--max-stored-sets", "2", "--max-store-bytes", "1MiB")
        self.assertEqual(self.put(server, "a", simple()), 201)
        reply = server.request("PUT", f"{PATH}/b", None, large(2_000_000, 1.0))
        self.assert_problem(reply, 507, code="store_full")
        self.assertIn("max-store-bytes", reply.json()["detail"])
        self.assertEqual(self.put(server, "b", simple()), 201)
        reply = server.request("PUT", f"{PATH}/c", None, simple())
        self.assert_problem(reply, 507, code="store_full")
        self.assertIn("max-stored-sets", reply.json()["detail"])


@unittest.skipIf(SANITIZED, "a sanitizer must be loaded first")
class ReadOnlyDisks(DataCase):
    def test_a_disk_that_turns_read_only_is_still_read(self):
        faults = Faults()
        self.addCleanup(faults.file.close)
        self.addCleanup(faults.memory.close)
        self.assertTrue(LIBRARY.exists())
        server = ServerCase.start(
            self,
            "--data-dir",
            str(self.data),
            "--set-cache-bytes",
            "0",
            environment=faults.environment,
        )
        body = large(100_000, 1.0)
        self.assertEqual(self.put(server, "a", body), 201)
        faults.arm(0, FOREVER, WRITES)
        for method, name, sent in (
            ("PUT", "b", simple()),
            ("PUT", "a", simple()),
            ("DELETE", "a", None),
        ):
            reply = server.request(method, f"{PATH}/{name}", None, sent)
            self.assert_problem(reply, 503, code="unavailable")
            self.assertIn("read-only", reply.json()["detail"])
            self.assert_stored(server, "a", body)
        self.assertIn("read-only", server.log())
        self.assertGreater(faults.disarm()[1], 0)
        self.assertEqual(self.put(server, "b", simple()), 201)
        self.assertEqual(server.request("DELETE", f"{PATH}/a").status, 204)
        server.stop()
        self.assertEqual(self.assert_sound(), 1)


if __name__ == "__main__":
    unittest.main()
