"""Load for servers, and times of functions and of the library's own tool."""

import contextlib
import re
import socket
import subprocess
import time
from pathlib import Path

from peers import BUILD, PROCESSORS, program

TIMEOUT = 60  # seconds until a tool that measures must have ended


def run(*arguments):
    ended = subprocess.run(
        [str(part) for part in arguments],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    if ended.returncode != 0:
        raise RuntimeError(f"{arguments[0]}: {ended.stderr.strip()[:300]}")
    return ended.stdout


def figures(text):
    """{name: value} of "name value" lines."""
    return {name: float(value) for name, value in map(str.split, text.splitlines())}


def tables(task, what, runs, kernel="best"):
    """Seconds of the library alone; see tables.c."""
    return figures(run(BUILD / "bench-tables", task, what, runs, kernel))


def schemes():
    return run(BUILD / "bench-tables", "schemes").split()


def kernels():
    """Those that this processor runs."""
    return run(BUILD / "bench-tables", "kernels").split()


def best_of(function, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def wrk(server, target, seconds):
    """Requests a second over 64 kept connections."""
    text = run(
        program("wrk"),
        "-t1",
        "-c64",
        f"-d{seconds}s",
        f"http://127.0.0.1:{server.address}{target}",
    )
    if "Non-2xx" in text or "Socket errors" in text:
        raise RuntimeError(f"wrk: {text}")
    return float(re.search(r"Requests/sec:\s*([0-9.]+)", text)[1])


def processor_seconds(pid):
    """What the threads of a process and of its children have run so far. /proc/PID/schedstat
    has nanoseconds, where /proc/PID/stat has ticks."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
            total += int((task / "schedstat").read_text().split()[0]) / 1e9
            total += sum(
                processor_seconds(child) for child in (task / "children").read_text().split()
            )
    return total


def processor_time(server, target, size, seconds):
    """Microseconds of the server's processors for a request, over 64 kept connections."""
    before = processor_seconds(server.pid)
    requests = client("requests", server, target, size, connections=64, seconds=seconds)
    return 1e6 * (processor_seconds(server.pid) - before) / requests


def client_command(server, target, size, connections=1, seconds=None, requests=None, first=0):
    threads = min(PROCESSORS, connections) if size >= 1 << 16 else 1
    limits = ["-d", seconds or TIMEOUT / 2]
    if requests:
        limits += ["-n", requests]
    return [
        BUILD / "bench-client",
        "-c",
        connections,
        "-t",
        threads,
        *limits,
        "-f",
        first,
        server.address,
        target,
        size,
    ]


def client(figure, *arguments, **options):
    """One figure of what the client of our own (client.c) measures."""
    result = figures(run(*client_command(*arguments, **options))).get(figure)
    if not result:
        raise RuntimeError("no answer came in time")
    return result


class Background:
    """The client at work while something else is measured; its failure is ours."""

    def __init__(self, *arguments, **options):
        self.command = [str(part) for part in client_command(*arguments, **options)]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL)
        time.sleep(0.2)  # under way
        return self

    def __exit__(self, kind, *_):
        ended_early = self.process.poll()
        self.process.terminate()
        self.process.wait()
        if ended_early is not None and kind is None:
            raise RuntimeError("the load in the background ended too early")


def fetch(server, target):
    """The whole answer, head and body, as bytes; the connection is not kept."""
    path = isinstance(server.address, str)
    with socket.socket(socket.AF_UNIX if path else socket.AF_INET) as wire:
        wire.settimeout(TIMEOUT)
        wire.connect(server.address if path else ("127.0.0.1", server.address))
        wire.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += receive(wire)
        head, body = answer.split(b"\r\n\r\n", 1)
        if b" 200 " not in head.split(b"\r\n")[0]:
            raise RuntimeError(f"{target}: {answer[:300]!r}")
        left = int(re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)[1]) - len(body)
        parts = [body]
        while left > 0:
            parts.append(receive(wire))
            left -= len(parts[-1])
        return head + b"\r\n\r\n", b"".join(parts)


def receive(wire):
    part = wire.recv(1 << 20)
    if not part:
        raise RuntimeError("an answer was cut off")
    return part
