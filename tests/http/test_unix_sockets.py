"""Unix sockets: paths, and who may connect."""

import array
import ctypes
import fcntl
import os
import stat
import subprocess
import sys
import tempfile
import termios
import unittest
from pathlib import Path

from server import ServerCase, run, wait_for_health, wait_until

OTHER_USER, OTHER_GROUP = 54321, 54322  # of nobody on this machine
PR_CAPBSET_DROP, CAP_CHOWN = 24, 0
CONNECT = """
import socket, sys
connection = socket.socket(socket.AF_UNIX)
try:
    connection.connect(sys.argv[1])
except PermissionError:
    sys.exit(13)
connection.sendall(
    b"GET /health/ready HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n"
)
sys.exit(0 if connection.makefile("rb").readline().startswith(b"HTTP/1.1 200") else 1)
"""


class UnixSockets(ServerCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="posenc-")
        self.addCleanup(directory.cleanup)
        self.path = os.path.join(directory.name, "posenc.sock")

    def start_here(self):
        return self.start("--unix-socket", self.path)

    def test_a_unix_socket_is_served_and_removed_at_the_end(self):
        server = self.start_here()
        self.assertEqual(server.url, f"unix:{self.path}")
        self.assertTrue(stat.S_ISSOCK(os.stat(self.path).st_mode))
        target = "/v1/encodings/integer?length=3"
        reply = self.assert_ok(server.request("GET", target))
        self.assertEqual(reply.body, self.get(target).body)
        wait_for_health("--unix-socket", self.path)
        server.stop()
        self.assertFalse(os.path.exists(self.path))
        self.assertEqual(run("--healthcheck", "--unix-socket", self.path).returncode, 1)

    def test_the_send_buffer_is_larger_than_usual(self):
        head = b"GET /v1/encodings/integer?length=999999&format=raw HTTP/1.1\r\nHost: x\r\n\r\n"

        def waiting(wire):
            count = array.array("i", [0])
            fcntl.ioctl(wire.socket, termios.FIONREAD, count)
            return count[0]

        most = int(Path("/proc/sys/net/core/wmem_max").read_text())
        wire = self.start_here().wire()
        wire.socket.sendall(head)  # and nothing is read
        least = 1.5 * min(384 << 10, most)  # the kernel doubles the size, for its own records
        wait_until(lambda: waiting(wire) > least, "a full buffer")
        wire.close()

    def test_any_host_will_do(self):
        """As clients name a socket: the URL's host of curl, or the path of the file."""
        server = self.start_here()
        file = b"\x02\0\0\0\0\0\0\0{}"
        for host in ("posenc", "%2Frun%2Fposenc.sock", "", "a.example:80"):
            with self.subTest(host):
                own = {"Host": host}
                reply = server.request("PUT", "/v1/sets/own", own, file)
                self.assertIn(reply.status, (201, 204, 400, 422))
                self.assert_ok(server.request("GET", "/v1/sets", own))
                self.assert_ok(server.request("GET", "/v1/encodings/integer?length=3", own))
        page = {"Host": "posenc", "Origin": "http://posenc"}
        self.assert_problem(server.request("GET", "/v1/sets", page), 403)

    def test_a_socket_file_left_by_kill_9_is_taken_over(self):
        killed = self.start_here()
        killed.kill()
        self.assertTrue(os.path.exists(self.path))
        self.assert_ok(self.start_here().request("GET", "/health/ready"))

    def test_a_live_socket_is_not_stolen(self):
        server = self.start_here()
        ended = run("--unix-socket", self.path)
        self.assertEqual((ended.returncode, ended.stdout), (1, ""), ended)
        self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)
        self.assertIn(self.path, ended.stderr)
        self.assertIn("in use", ended.stderr)
        self.assert_ok(server.request("GET", "/health/ready"))

    def test_a_file_that_is_no_socket_is_not_removed(self):
        Path(self.path).write_text("precious")
        try:
            ended = run("--unix-socket", self.path, seconds=10)
        except subprocess.TimeoutExpired:
            self.fail("a server has put its socket in the place of the file")
        self.assertEqual(ended.returncode, 1, ended)
        self.assertIn(self.path, ended.stderr)
        self.assertEqual(Path(self.path).read_text(), "precious")

    def test_a_path_that_cannot_be_is_one_clear_line_and_exit_1(self):
        for path in (self.path + "x" * 200, os.path.join(self.path, "missing", "x")):
            ended = run("--unix-socket", path)
            self.assertEqual((ended.returncode, ended.stdout), (1, ""), ended)
            self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)
            self.assertIn("unix-socket" if len(path) > 150 else path, ended.stderr)


def give_up_chown():
    """From the next exec on, root may not give files away."""
    if ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_CHOWN, 0, 0, 0) != 0:
        raise OSError("prctl")


class WhoMayConnect(ServerCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="posenc-")
        self.addCleanup(directory.cleanup)
        os.chmod(directory.name, 0o755)
        self.path = os.path.join(directory.name, "posenc.sock")

    def may_connect(self, user, group):
        """Whether a process of this user and group gets an answer."""
        ended = subprocess.run(
            [sys.executable, "-I", "-c", CONNECT, self.path],
            user=user,
            group=group,
            extra_groups=[],
            check=False,
        )
        self.assertIn(ended.returncode, (0, 13))
        return ended.returncode == 0

    def need_root(self):
        if os.geteuid() != 0:
            self.skipTest("only root can become another user")

    def test_the_mode_is_that_of_the_setting_whatever_the_umask(self):
        for umask, mode in ((0o077, 0o666), (0o000, 0o600), (0o022, 0o660)):
            with self.subTest(mode=mode):
                server = self.start(
                    "--unix-socket",
                    self.path,
                    "--unix-socket-mode",
                    f"{mode:o}",
                    before=lambda umask=umask: os.umask(umask),
                )
                self.assertEqual(stat.S_IMODE(os.stat(self.path).st_mode), mode)
                self.assert_ok(server.request("GET", "/health/ready"))
                server.stop()

    def test_without_a_mode_the_umask_counts(self):
        self.start("--unix-socket", self.path, before=lambda: os.umask(0o027))
        self.assertEqual(stat.S_IMODE(os.stat(self.path).st_mode), 0o750)

    def test_another_user_connects_only_if_the_mode_lets_everybody(self):
        self.need_root()
        for mode, expected in (("0660", False), ("0666", True)):
            server = self.start("--unix-socket", self.path, "--unix-socket-mode", mode)
            self.assertEqual(self.may_connect(OTHER_USER, OTHER_GROUP), expected, mode)
            server.stop()
        self.start("--unix-socket", self.path, before=lambda: os.umask(0o022))
        self.assertFalse(self.may_connect(OTHER_USER, OTHER_GROUP))

    def test_a_member_of_the_group_connects_and_others_do_not(self):
        self.need_root()
        variables = {
            "POSENC_UNIX_SOCKET_MODE": "660",
            "POSENC_UNIX_SOCKET_GROUP": str(OTHER_GROUP),
        }
        self.start("--unix-socket", self.path, environment=variables)
        self.assertEqual(os.stat(self.path).st_gid, OTHER_GROUP)
        self.assertTrue(self.may_connect(OTHER_USER, OTHER_GROUP))
        self.assertFalse(self.may_connect(OTHER_USER, OTHER_USER))

    def test_a_group_may_be_given_by_name(self):
        self.need_root()
        self.start("--unix-socket", self.path, "--unix-socket-group", "daemon")
        self.assertEqual(Path(self.path).group(), "daemon")

    def test_a_group_that_the_server_may_not_give_is_refused_and_the_path_removed(self):
        self.need_root()
        ended = run(
            "--unix-socket",
            self.path,
            "--unix-socket-group",
            str(OTHER_GROUP),
            before=give_up_chown,
        )
        self.assertEqual((ended.returncode, ended.stdout), (1, ""), ended)
        self.assertIn("unix-socket-group", ended.stderr)
        self.assertIn("not permitted", ended.stderr)
        self.assertFalse(os.path.exists(self.path))

    def test_a_wrong_mode_or_group_is_refused_with_the_rule(self):
        rules = {"mode": "three octal digits", "group": "group"}
        wrong = (
            ("mode", "66"),
            ("mode", "068"),
            ("mode", "1660"),
            ("mode", "rw"),
            ("mode", "00660"),
            ("group", "4294967295"),
            ("group", "no such group"),
            ("group", "-1"),
        )
        for name, value in wrong:
            for action in (("--check-config",), ()):
                with self.subTest(name, value=value, action=action):
                    flag = f"--unix-socket-{name}"
                    ended = run(*action, "--unix-socket", self.path, flag, value)
                    self.assertEqual((ended.returncode, ended.stdout), (2, ""), ended)
                    for text in (flag, f'"{value}"', rules[name]):
                        self.assertIn(text, ended.stderr)


if __name__ == "__main__":
    unittest.main()
