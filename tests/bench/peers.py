"""The servers that are compared, each started when it is first asked for and ended with the
run."""

import contextlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ.get("BENCH_BUILD", "build")).resolve()
PROCESSORS = len(os.sched_getaffinity(0))
PATIENCE = 20  # seconds until a server must accept, or have ended


class Missing(Exception):
    """A peer is not installed."""


def program(name):
    found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if not found:
        raise Missing(name)
    return found


def require_modules(*names):
    for name in names:
        if importlib.util.find_spec(name) is None:
            raise Missing(f"python3-{name}")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A process in a group of its own, and its address: a port or a path."""

    def __init__(self, arguments, address=None, **options):
        self.address = address
        self.process = subprocess.Popen(
            [str(part) for part in arguments], start_new_session=True, **options
        )

    @property
    def pid(self):
        return self.process.pid

    def wait_until_it_accepts(self):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and self.process.poll() is None:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.address)).close()
                return self
            time.sleep(0.01)
        self.stop()
        raise RuntimeError(f"{self.process.args[0]} does not start")

    def printed_line(self):
        """The first line it prints, once it listens."""
        line = self.process.stdout.readline().strip()
        if not line:
            self.stop()
            raise RuntimeError(f"{self.process.args[0]} does not start")
        return line

    def stop(self):
        """End the process, then whatever it has left behind in its group."""
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        if self.process.stdout:
            self.process.stdout.close()


# ---- posenc ----


def posenc(_, *flags):
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("POSENC_")
    }
    server = Server(
        [BUILD / "posenc-server", "--port", "0", "--drain-seconds", "0", *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    )
    address = server.printed_line().split()[-1].removeprefix("unix:")
    server.address = address if address.startswith("/") else int(address.rsplit(":", 1)[1])
    return server


def posenc_on_unix(folder):
    return posenc(folder, "--unix-socket", Path(folder) / "socket", "--cache-bytes", "1GiB")


# ---- files ----

# The baseline is nginx with the usual tuning; each variant changes some of its directives.
NGINX = {
    "worker_processes": "auto",
    "listen": "reuseport",
    "sendfile": "on",
    "tcp_nopush": "on",
    "aio": "off",
    "open_file_cache": "max=100",
    "keepalive_requests": "100000000",
    "sendfile_max_chunk": "2m",
    "output_buffers": "2 32k",
    "access_log": "off",
}
# What the package's configuration and nginx's own defaults come to.
NGINX_UNTUNED = {
    "listen": "",
    "open_file_cache": "off",
    "keepalive_requests": "1000",
    "access_log": "access.log",
}
NGINX_VARIANTS = [
    {"worker_processes": "1"},
    *([{"worker_processes": "2"}] if PROCESSORS != 2 else []),
    {"listen": ""},
    {"listen": "reuseport sndbuf=208k"},
    {"listen": "reuseport sndbuf=4m"},
    {"tcp_nopush": "off"},
    {"open_file_cache": "off"},
    {"sendfile_max_chunk": "0"},
    {"sendfile_max_chunk": "512k"},
    {"sendfile": "off"},
    {"sendfile": "off", "output_buffers": "1 128k"},
    {"sendfile": "off", "output_buffers": "2 1m"},
    {"sendfile": "off", "output_buffers": "4 256k", "worker_processes": "1"},
    {"sendfile": "off", "output_buffers": "1 208k", "listen": "reuseport sndbuf=208k"},
]
LIGHTTPD_VARIANTS = [
    {"server.network-backend": backend, "server.max-worker": workers}
    for backend in ("sendfile", "writev")
    for workers in sorted({0, 2, PROCESSORS})
    if workers != 1
]


def nginx(folder, changes):
    binary, port = program("nginx"), free_port()
    own = Path(folder) / f"nginx-{port}"
    own.mkdir()
    directives = {**NGINX, **changes}
    workers, listen = directives.pop("worker_processes"), directives.pop("listen")
    lines = "\n".join(f"  {name} {value};" for name, value in directives.items())
    temporary = " ".join(
        f"{name}_temp_path {own};"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    configuration = own / "nginx.conf"
    configuration.write_text(
        f"""
worker_processes {workers}; daemon off; pid {own}/pid; error_log {own}/error.log;
{"user root;" if os.geteuid() == 0 else ""}
events {{ worker_connections 1024; }}
http {{
{lines}
  default_type application/octet-stream; {temporary}
  server {{ listen 127.0.0.1:{port} {listen}; root {folder}; }}
}}
"""
    )
    return Server(
        [binary, "-p", own, "-c", configuration], port, stderr=subprocess.DEVNULL
    ).wait_until_it_accepts()


def lighttpd(folder, changes):
    binary, port = program("lighttpd"), free_port()
    configuration = Path(folder) / f"lighttpd-{port}.conf"
    settings = {
        "server.document-root": folder,
        "server.bind": "127.0.0.1",
        "server.port": port,
        "server.max-keep-alive-requests": 100000000,
        "server.max-connections": 1024,
        "mimetype.assign": {"": "application/octet-stream"},
        **changes,
    }
    configuration.write_text(
        "".join(f"{name} = {lighttpd_value(value)}\n" for name, value in settings.items())
    )
    return Server(
        [binary, "-D", "-f", configuration],
        port,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ).wait_until_it_accepts()


def lighttpd_value(value):
    if isinstance(value, dict):
        return "(" + ", ".join(f'"{key}" => "{text}"' for key, text in value.items()) + ")"
    return str(value) if isinstance(value, int) else f'"{value}"'


# ---- others ----


def fastapi(_, workers):
    require_modules("fastapi", "uvicorn", "uvloop", "numpy")
    port = free_port()
    return Server(
        [
            sys.executable,
            "-B",
            "-m",
            "uvicorn",
            "--app-dir",
            HERE,
            "--port",
            port,
            "--loop",
            "uvloop",
            "--workers",
            workers,
            "--no-access-log",
            "--log-level",
            "critical",
            "fastapi_app:app",
        ],
        port,
        stderr=subprocess.DEVNULL,
    ).wait_until_it_accepts()


def described(name, changes):
    """nginx (sendfile off, plain listen): what a variant changes."""
    words = [
        f"{key.rsplit('.')[-1]} {value}" if value != "" else f"plain {key}"
        for key, value in changes.items()
    ]
    return f"{name} ({', '.join(words)})" if words else name


class Peers:
    """Servers by name: `get(maker, …)` starts one the first time; leaving ends all."""

    def __init__(self, folder):
        self.folder, self.running, self.ends = folder, {}, contextlib.ExitStack()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ends.close()

    def get(self, make, *arguments):
        key = (make, repr(arguments))
        if key not in self.running:
            self.running[key] = make(self.folder, *arguments)
            self.ends.callback(self.running[key].stop)
        return self.running[key]
