"""Start, drain and stop; the health check; sockets of a service manager."""

import configparser
import contextlib
import functools
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

import server as harness
from server import Server, Wire, free_port, run, wait_for_health, wait_until
from steady import steadily

BIG = "/v1/encodings/sinusoidal?length=65536&dim=64&format=raw"
BIG_BYTES = 65536 * 64 * 4
LONG = "600"  # seconds of drain that no test waits for
SOON = 20  # seconds that count as at once, also under a sanitizer on a busy machine


class Lifecycle(unittest.TestCase):
    def start(self, *flags):
        server = Server(*flags)
        self.addCleanup(server.stop)
        return server

    def drain(self, server):
        """Send SIGTERM and wait until readiness has ended."""
        server.signal(signal.SIGTERM)
        wait_until(lambda: server.request("GET", "/health/ready").status == 503, "503")

    def healthcheck(self, server):
        return run("--healthcheck", "--port", str(server.address[1])).returncode

    def test_sigterm_ends_readiness_but_requests_are_still_answered(self):
        server = self.start("--drain-seconds", LONG)
        kept = server.wire()
        self.assertEqual(kept.exchange("GET", "/health/ready").status, 200)
        self.drain(server)
        ready = server.request("GET", "/health/ready")
        self.assertEqual(ready.header("Retry-After"), "1")
        self.assertEqual(ready.header("Cache-Control"), "no-store")
        self.assertEqual(server.request("GET", "/health/live").status, 200)
        for wire in (kept, server.wire()):  # an old connection and a new one
            reply = wire.exchange("GET", "/v1/encodings/integer?length=3&format=raw")
            self.assertEqual((reply.status, len(reply.body)), (200, 12))
            self.assertEqual(reply.header("Connection").lower(), "close")
            self.assertTrue(wire.is_closed())
            wire.close()
        for target, headers in (("/nothing", {}), ("/v1/info", {"If-None-Match": "*"})):
            with server.wire() as wire:
                reply = wire.exchange("GET", target, headers)
                self.assertEqual(reply.header("Connection").lower(), "close")
        server.signal(signal.SIGTERM)  # a second one stops at once
        server.wait(SOON)

    def test_the_drain_ends_by_itself(self):
        server = self.start("--drain-seconds", "1")
        server.signal(signal.SIGTERM)
        wait_until(lambda: "draining" in server.log(), "the drain has begun")
        server.wait()
        self.assertIn("stopped", server.log())

    def test_without_a_drain_sigterm_stops_at_once(self):
        server = self.start("--drain-seconds", "0")
        idle = server.wire()
        idle.exchange("GET", "/health/live")
        server.signal(signal.SIGTERM)
        server.wait(SOON)
        self.assertEqual(idle.take_rest(), b"")
        idle.close()

    def test_a_download_in_flight_completes(self):
        server = self.start("--drain-seconds", LONG)
        whole = server.request("GET", BIG).body
        self.assertEqual(len(whole), BIG_BYTES)
        with server.wire(receive_buffer=1 << 16) as wire:
            wire.ask("GET", BIG)
            self.assertEqual(wire.receive_head().status, 200)
            self.drain(server)
            self.assertEqual(wire.take(BIG_BYTES), whole)
        server.signal(signal.SIGTERM)
        server.wait(SOON)

    @steadily(1)
    def test_a_download_that_outlasts_the_drain_completes_and_nobody_else_is_let_in(self):
        server = self.start("--drain-seconds", "5")
        with server.wire(receive_buffer=1 << 16) as wire:
            wire.ask("GET", BIG)
            self.assertEqual(wire.receive_head().status, 200)
            server.signal(signal.SIGTERM)
            wait_until(lambda: self.is_refused(server), "new connections are refused", 30)
            try:
                self.assertEqual(len(wire.take(BIG_BYTES)), BIG_BYTES)
            except EOFError as cut:
                self.fail(f"connections were let in until the download was cut off: {cut}")
        server.wait()

    def is_refused(self, server):
        """Whether the server runs but refuses connections."""
        try:
            socket.create_connection(server.address, timeout=SOON).close()
        except ConnectionRefusedError:
            return server.process.poll() is None
        except ConnectionResetError:
            pass  # it stopped listening at this moment
        return False

    def test_sigint_stops_at_once(self):
        server = self.start("--drain-seconds", LONG)
        server.request("GET", "/health/live")
        server.signal(signal.SIGINT)
        server.wait(SOON)

    def test_sigint_does_not_wait_for_a_client_that_does_not_read(self):
        server = self.start("--drain-seconds", LONG)
        with server.wire(receive_buffer=1 << 16) as wire:
            wire.ask("GET", BIG)
            self.assertEqual(wire.receive_head().status, 200)
            server.signal(signal.SIGINT)
            server.wait(SOON)

    def test_a_stop_in_the_middle_of_traffic_is_clean(self):
        for _ in range(10):
            server = self.start("--drain-seconds", LONG)
            with contextlib.ExitStack() as stack:
                for _ in range(20):
                    wire = stack.enter_context(server.wire())
                    for _ in range(5):
                        wire.ask("GET", "/health/live")
                server.signal(signal.SIGINT)
                server.wait(SOON)

    def test_a_client_that_disappears_does_not_stop_the_server(self):
        server = self.start()
        for _ in range(20):  # a write to a closed socket must not kill by SIGPIPE
            with server.wire(receive_buffer=1 << 16) as wire:
                wire.ask("GET", BIG)
                wire.receive_head()
        self.assertEqual(server.request("GET", "/health/ready").status, 200)

    def test_a_restart_takes_the_same_port_at_once(self):
        first = self.start("--port", str(free_port()))
        first.request("GET", "/health/live")
        first.stop()
        second = self.start("--port", str(first.address[1]))
        self.assertEqual(second.address, first.address)
        self.assertEqual(second.request("GET", "/health/ready").status, 200)

    def test_healthcheck_tells_live_draining_and_dead_apart_by_its_exit_status(self):
        server = self.start("--drain-seconds", LONG, "--port", str(free_port()))
        wait_for_health("--port", str(server.address[1]))
        self.drain(server)
        self.assertEqual(self.healthcheck(server), 1)
        server.signal(signal.SIGTERM)
        server.wait(SOON)
        self.assertEqual(self.healthcheck(server), 1)

    def test_healthcheck_reads_the_settings_of_the_server(self):
        server = self.start()
        port = str(server.address[1])
        by_port = {"POSENC_PORT": port}
        for variables in (by_port, {**by_port, "POSENC_BIND": "0.0.0.0"}):
            wait_for_health(environment=variables)

    def test_healthcheck_does_not_trust_whoever_listens(self):
        with socket.create_server(("127.0.0.1", 0)) as other:
            other.settimeout(SOON)
            port = str(other.getsockname()[1])
            self.assertEqual(run("--healthcheck", "--port", port).returncode, 1, "says nothing")


SMALL = "/v1/encodings/integer?length=3&format=raw"
DRAIN = 1  # seconds
UNITS = Path(__file__).resolve().parents[2] / "docker"


def ask_on(address, ended, lost, done):
    """Send requests on kept connections until `ended` is set or a connection is refused. Wrong
    replies and broken connections are appended to `lost`, right ones to `done`. A connection on
    which nothing went for as long as a drain takes may be broken: this process did not run."""
    wire, before = Wire(address), time.monotonic()
    while wire and not ended.is_set():
        asked = time.monotonic()
        try:
            reply = wire.exchange("GET", SMALL)
            right = (reply.status, len(reply.body)) == (200, 12)
            (done if right else lost).append(reply)
            if reply.header("Connection") != "close":
                before = asked  # the reply may have lain there for long
                continue
        except (OSError, EOFError) as failure:
            if time.monotonic() - before < DRAIN:
                lost.append(failure)
        wire.close()
        before = time.monotonic()
        try:
            wire = Wire(address)
        except ConnectionRefusedError:
            wire = None
    if wire:
        wire.close()


class Load(unittest.TestCase):
    def test_a_stop_under_load_loses_no_request(self):
        for _ in range(2):
            server, ended, lost, done = (
                Server("--drain-seconds", str(DRAIN)),
                threading.Event(),
                [],
                [],
            )
            self.addCleanup(server.stop)
            arguments = (server.address, ended, lost, done)
            clients = [threading.Thread(target=ask_on, args=arguments) for _ in range(8)]
            for client in clients:
                client.start()
            try:
                wait_until(lambda: len(done) > 50, "requests are answered")
                server.stop()
            finally:
                ended.set()
                for client in clients:
                    client.join()
            self.assertEqual(lost, [])


class Activation(unittest.TestCase):
    """A service manager passes the socket and is notified of the server's state."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="posenc-")
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def script(self, sockets):
        """A command that starts the server with these sockets from descriptor 3 on."""
        script = Path(self.directory) / "start.sh"
        moves = " ".join(f"{3 + i}<&{held.fileno()}" for i, held in enumerate(sockets))
        script.write_text(
            # not sh, where a descriptor has one digit
            f"#!/usr/bin/env bash\nexport LISTEN_PID=$$ LISTEN_FDS={len(sockets)}\n"
            f'exec "{self.binary}" "$@" {moves}\n'
        )
        script.chmod(0o700)
        for held in sockets:
            held.set_inheritable(True)
        return str(script)

    def start(self, *flags, sockets):
        keep = functools.partial(subprocess.Popen, close_fds=False)
        with mock.patch("server.BINARY", self.script(sockets)):
            with mock.patch("subprocess.Popen", keep):
                server = Server(*flags)
        self.addCleanup(server.stop)
        return server

    binary = harness.BINARY

    def listen(self, family=socket.AF_INET, address=("127.0.0.1", 0)):
        held = socket.socket(family)
        held.bind(address)
        held.listen(512)
        self.addCleanup(held.close)
        return held

    def test_a_tcp_socket_is_served_and_outlives_the_server(self):
        held = self.listen()
        for _ in range(2):
            server = self.start("--port", "1", sockets=[held])
            self.assertEqual(server.address, held.getsockname())
            self.assertEqual(server.request("GET", "/health/ready").status, 200)
            server.stop()
            with Wire(held.getsockname()):  # it waits in the backlog for the next server
                pass

    def test_a_unix_socket_is_served_and_its_path_stays(self):
        path = os.path.join(self.directory, "posenc.sock")
        held = self.listen(socket.AF_UNIX, path)
        server = self.start("--unix-socket", path, sockets=[held])
        self.assertEqual(server.url, f"unix:{path}")
        self.assertEqual(server.request("GET", "/health/ready").status, 200)
        server.stop()
        self.assertTrue(os.path.exists(path))

    def test_what_is_no_single_listening_socket_is_one_clear_line_and_exit_1(self):
        plain = socket.socket()
        self.addCleanup(plain.close)
        for sockets in ([self.listen(), self.listen()], [plain]):
            ended = subprocess.run(
                [self.script(sockets)],
                close_fds=False,
                capture_output=True,
                text=True,
                timeout=SOON,
                check=False,
            )
            self.assertEqual((ended.returncode, ended.stdout), (1, ""), ended)
            self.assertRegex(ended.stderr, r"\A[^\n]*LISTEN_FDS: [^\n]*\n\Z")

    def test_sockets_for_another_process_are_left_alone(self):
        server = Server(environment={"LISTEN_PID": "1", "LISTEN_FDS": "1"})
        self.addCleanup(server.stop)
        self.assertEqual(server.request("GET", "/health/ready").status, 200)

    def notices(self, address, name):
        """The notifications of a server from its start to its end."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(address)
            manager.settimeout(SOON)
            server = Server(environment={"NOTIFY_SOCKET": name})
            self.addCleanup(server.stop)
            said = [manager.recv(100)]
            self.assertEqual(server.request("GET", "/health/ready").status, 200)
            server.stop()
            return said + [manager.recv(100)]

    def test_readiness_and_the_end_are_told(self):
        expected = [b"READY=1", b"STOPPING=1"]
        path = os.path.join(self.directory, "notify")
        self.assertEqual(self.notices(path, path), expected)
        name = f"posenc-{os.getpid()}-{time.monotonic_ns()}"
        self.assertEqual(self.notices("\0" + name, "@" + name), expected)

    def test_a_manager_that_is_gone_hurts_nobody(self):
        for name in (os.path.join(self.directory, "gone"), "x" * 500, "", "@"):
            server = Server(environment={"NOTIFY_SOCKET": name})
            self.assertEqual(server.request("GET", "/health/ready").status, 200)
            server.stop()

    def wait_for_more(self, done):
        enough = len(done) + 50
        wait_until(lambda: len(done) > enough, "requests are answered")

    def test_restarts_behind_one_socket_lose_no_request(self):
        held, ended, lost, done = self.listen(), threading.Event(), [], []
        server = self.start("--drain-seconds", str(DRAIN), sockets=[held])
        clients = [
            threading.Thread(target=ask_on, args=(held.getsockname(), ended, lost, done))
            for _ in range(8)
        ]
        for client in clients:
            client.start()
        try:
            for _ in range(2):
                self.wait_for_more(done)
                following = self.start("--drain-seconds", str(DRAIN), sockets=[held])
                server.stop()
                server = following
            self.wait_for_more(done)
        finally:
            ended.set()
            for client in clients:
                client.join()
        self.assertEqual(lost, [])


class Units(unittest.TestCase):
    def test_the_unit_starts_this_server_and_leaves_it_the_time_to_drain(self):
        unit = configparser.ConfigParser(strict=False, interpolation=None)
        unit.optionxform = str
        unit.read(UNITS / "posenc.service")
        service = unit["Service"]
        command = service["ExecStart"].split()
        self.assertEqual(Path(command[0]).name, "posenc-server")
        checked = run(*command[1:], "--check-config")
        self.assertEqual(checked.returncode, 0, checked)
        settings = dict(re.findall(r"(\S+) = (.*)", checked.stdout))
        drain = int(settings["drain-seconds"])
        self.assertGreater(int(service["TimeoutStopSec"]), 2 * drain)
        self.assertGreater(int(service["LimitNOFILE"]), int(settings["max-connections"]) + 400)
        self.assertEqual(service["Type"], "notify")

    def test_the_service_has_no_privileges(self):
        text = (UNITS / "posenc.service").read_text(encoding="utf-8")
        settings = re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE)
        for needed in (
            ("DynamicUser", "yes"),
            ("CapabilityBoundingSet", ""),
            ("AmbientCapabilities", ""),
            ("NoNewPrivileges", "yes"),
            ("ProtectSystem", "strict"),
            ("ProtectHome", "yes"),
            ("SystemCallFilter", "@system-service"),
            ("SystemCallFilter", "~@privileged"),
        ):
            self.assertIn(needed, settings)
        self.assertNotIn("ReadWritePaths", dict(settings))

    def test_systemd_reads_the_units(self):
        verify = shutil.which("systemd-analyze")
        if not verify:
            self.skipTest("there is no systemd-analyze here")
        units = [str(UNITS / name) for name in ("posenc.service", "posenc.socket")]
        ended = subprocess.run(
            [verify, "--man=no", "verify", *units],  # the manual is not installed here
            capture_output=True,
            text=True,
            timeout=SOON,
            check=False,
        )
        complaints = [
            line
            for line in ended.stderr.splitlines()
            if "posenc" in line and "posenc-server is not executable" not in line
        ]
        self.assertEqual(complaints, [])


if __name__ == "__main__":
    unittest.main()
