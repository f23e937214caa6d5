"""Three nodes on loopback behind the HAProxy of docker/fleet, and load from wrk."""

import contextlib
import http.client
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FLEET = ROOT / "docker" / "fleet"
sys.path.insert(0, str(HERE.parent / "http"))

from server import PATIENCE, Server, free_port, wait_until  # noqa: E402

NODES = ("n1", "n2", "n3")


def listening_socket():
    """A socket on a free port, whose number a program can be given before it starts."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(512)
    os.set_inheritable(listener.fileno(), True)
    return listener


class Node:
    """A posenc-server that may die and come back on the same port."""

    def __init__(self, *flags):
        self.flags = flags
        self.port = free_port()
        self.server = Server("--port", str(self.port), *flags)

    def die(self):
        if self.server.process.poll() is None:
            self.server.kill()
        self.server.stderr.close()

    def end(self):
        self.server.stop()

    def come_back(self):
        self.server.stderr.close()
        self.server = Server("--port", str(self.port), *self.flags)


class Fleet(contextlib.AbstractContextManager):
    """Clients connect to `address`; `nodes` has the nodes by their names."""

    def __init__(self, *flags, config=None, nodes=None):
        self.nodes = nodes or {name: Node("--drain-seconds", "2", *flags) for name in NODES}
        self.front, self.status = listening_socket(), listening_socket()
        self.address = self.front.getsockname()
        self.log = tempfile.TemporaryFile()
        settings = {
            "FLEET_BIND": f"fd@{self.front.fileno()}",
            "FLEET_STATUS": f"fd@{self.status.fileno()}",
            "FLEET_ERRORS": str(FLEET),
            **{
                f"FLEET_NODE_{name[1:]}": f"127.0.0.1:{node.port}"
                for name, node in self.nodes.items()
            },
        }
        with tempfile.NamedTemporaryFile("w", suffix=".cfg") as file:
            file.write(config or configuration())
            file.flush()
            self.proxy = subprocess.Popen(
                ["haproxy", "-db", "-f", file.name],
                env={**os.environ, **settings},
                close_fds=False,
                stdin=subprocess.DEVNULL,
                stdout=self.log,
                stderr=self.log,
            )
            try:
                wait_until(lambda: self.up() == set(NODES), "all nodes are up")
            except BaseException:
                self.close()
                raise

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.proxy.terminate()
        self.proxy.wait(PATIENCE)
        for each in (self.front, self.status, self.log):
            each.close()
        for node in self.nodes.values():
            node.die()

    def up(self):
        """The names of the nodes that the proxy sends requests to."""
        if self.proxy.poll() is not None:
            self.log.seek(0)
            raise AssertionError(f"haproxy has ended: {self.log.read().decode()}")
        with contextlib.closing(
            http.client.HTTPConnection(*self.status.getsockname(), timeout=PATIENCE)
        ) as wire:
            wire.request("GET", "/metrics")
            text = wire.getresponse().read().decode()
        states = r'haproxy_server_status\{proxy="nodes",server="(\w+)",state="UP"\} 1'
        return set(re.findall(states, text))

    def connect(self):
        return http.client.HTTPConnection(*self.address, timeout=PATIENCE)

    def request(self, method, target, body=None, headers=None):
        """(status, headers, body) through the proxy."""
        with contextlib.closing(self.connect()) as wire:
            wire.request(method, target, body=body, headers=headers or {})
            reply = wire.getresponse()
            return reply.status, reply.headers, reply.read()

    def node_of(self, target):
        status, headers, _ = self.request("GET", target)
        if status != 200:
            raise AssertionError(f"{target}: {status}")
        return headers["X-Posenc-Node"]


def counted(nodes, series):
    """The sum of a metric of all nodes."""
    return sum(node.server.metrics().get(series, 0) for node in nodes)


KEY = "a-key-that-the-nodes-of-a-fleet-share"


def attempts(ask):
    """The statuses that `ask(method, target, body, headers)` gets when it uses the store."""
    return {
        ask(method, "/v1/sets/x", b"x" if method == "PUT" else None, {"Host": host})
        for host in ("localhost", "127.0.0.1:8080", "posenc.example")
        for method in ("PUT", "DELETE", "GET")
    }


# A request that no node can answer in time, and the flags that make that soon.
HOPELESS = (
    "/v1/encodings/floater?length=3&offset=1000000&dim=256&method=rk4&dt=0.0001&format=raw"
)
HURRIED = ("--compute-cost", "0", "--compute-seconds", "1")
GIVEN_UP = 'posenc_rejected_total{reason="compute_deadline"}'


def configuration():
    return (FLEET / "haproxy.cfg").read_text()


class Load:
    """wrk, which asks for random small tables until `stop`. `requests` and `failed` tell what
    came of it: failed are answers other than 200, and connections that broke."""

    SECONDS = 600  # until wrk ends by itself

    def __init__(self, address, script="small.lua", connections=16):
        self.process = subprocess.Popen(
            [
                "wrk",
                "-t1",
                f"-c{connections}",
                f"-d{self.SECONDS}s",
                "--timeout",
                "20s",
                "-s",
                HERE / script,
                f"http://{address[0]}:{address[1]}",
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def stop(self):
        self.process.send_signal(2)  # wrk prints its report and ends
        text, _ = self.process.communicate(timeout=PATIENCE)
        found = re.search(r"(\d+) requests in", text)
        if not found:
            raise AssertionError(f"wrk says: {text}")
        errors = re.search(
            r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text
        )
        refused = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
        self.requests = int(found[1])
        self.failed = sum(int(each) for each in errors.groups()) if errors else 0
        self.failed += int(refused[1]) if refused else 0
        return self


class FakeNode:
    """Answers health checks; every other request it counts, and answers with `reply(target)`,
    or by ending the connection where that is empty."""

    def __init__(self, reply=lambda target: b""):
        self.reply = reply
        self.listener = listening_socket()
        self.port = self.listener.getsockname()[1]
        self.seen = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self._answer, args=(client,), daemon=True).start()

    def _answer(self, client):
        with client, contextlib.suppress(OSError):
            head = client.recv(65536).decode("latin-1")
            if "/health/ready" in head:
                client.sendall(
                    b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                )
            elif head:
                method, target, _ = head.split(" ", 2)
                self.seen.append(method)
                client.sendall(self.reply(target))

    def die(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
