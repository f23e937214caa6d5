"""posenc against its peers: ratios measured by turns in one run, medians.

Whatever peer is not installed is named and left out (make deps-bench installs all). Loopback only.
"""

import argparse
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

SERVER = os.environ.get("TEST_SERVER", "build/posenc-server")
TABLES = os.environ.get("BENCH_TABLES", "build/bench-tables")
SHAPES = [(512, 512), (4096, 1024), (8192, 4096), (131072, 128)]


def line(what, against, ratio, aim):
    mark = "" if aim is None else ("met" if ratio >= aim else f"{ratio / aim:.0%} of it")
    print(f"{what:38} {against:26} {ratio:8.2f}x  {'' if aim is None else f'>= {aim:g}x':9} {mark}",
          flush=True)


def tool(*arguments):
    text = subprocess.run([TABLES, *map(str, arguments)], check=True, capture_output=True,
                          text=True).stdout
    return {name: float(value) for name, value in (row.split() for row in text.splitlines())}


def timed(function, repeats=1):
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


# ---- generation ----


def numpy_table(numpy, length, dim):
    angles = numpy.arange(length)[:, None] * 10000.0 ** (-numpy.arange(0, dim, 2) / dim)
    table = numpy.empty((length, dim), numpy.float32)
    table[:, 0::2] = numpy.sin(angles)
    table[:, 1::2] = numpy.cos(angles)
    return table


def torch_table(torch, length, dim):
    angles = torch.arange(length)[:, None] * torch.exp(
        torch.arange(0, dim, 2) * (-9.210340371976184 / dim))
    table = torch.empty(length, dim)
    table[:, 0::2] = torch.sin(angles)
    table[:, 1::2] = torch.cos(angles)
    return table


def generation(rounds):
    peers = {}
    for name, make, aim in (("numpy", numpy_table, 26), ("torch", torch_table, 15)):
        try:
            module = __import__(name)
        except ImportError:
            print(f"{name} is not installed: left out")
            continue
        if name == "torch":
            module.set_num_threads(1)
        peers[name] = (module, make, aim)
    for length, dim in SHAPES:
        ratios = {name: [] for name in peers}
        store = []
        for _ in range(rounds):
            own = tool("table", length, dim, 20 if length * dim < 1e6 else 5)
            store.append(own["store"] / own["table"])
            for name, (module, make, _) in peers.items():
                ratios[name].append(timed(lambda: make(module, length, dim)) / own["table"])
        for name, (_, _, aim) in peers.items():
            line(f"generate {length}x{dim} f32", name, statistics.median(ratios[name]), aim)
        line(f"generate {length}x{dim} f32", "storing as many bytes", statistics.median(store),
             0.9 if length * dim * 4 >= 16 << 20 else None)


def json_text(rounds):
    try:
        import numpy
    except ImportError:
        print("numpy is not installed: JSON left out")
        return
    table = numpy_table(numpy, 4096, 128)
    python, jansson = [], []
    for _ in range(rounds):
        own = tool("json", 4096, 128, 5)
        python.append(timed(lambda: json.dumps(table.tolist())) / own["json"])
        jansson.append(own["jansson"] / own["json"])
    line("JSON of 4096x128 f32", "json.dumps(tolist())", statistics.median(python), 40)
    line("JSON of 4096x128 f32", "jansson", statistics.median(jansson), 25)


# ---- HTTP ----


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Nginx:
    """nginx serving files: as its package sets it up, with the usual tuning."""

    def __init__(self, folder, files):
        self.port = free_port()
        for name, body in files.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(body)
        os.chmod(folder, 0o755)
        configuration = os.path.join(folder, "nginx.conf")
        with open(configuration, "w") as file:
            file.write(f"""
worker_processes auto; daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
user root;
events {{ worker_connections 1024; }}
http {{ access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000000;
  open_file_cache max=100; default_type application/octet-stream;
  client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
  uwsgi_temp_path {folder}; scgi_temp_path {folder};
  server {{ listen 127.0.0.1:{self.port} reuseport; root {folder}; }} }}
""")
        self.process = subprocess.Popen(["nginx", "-c", configuration],
                                        stderr=subprocess.DEVNULL)

    def stop(self):
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(10)


class Posenc:
    def __init__(self):
        self.process = subprocess.Popen([SERVER, "--port", "0", "--cache-bytes", "1GiB"],
                                        stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1])

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(10)


def wrk(port, path, seconds):
    text = subprocess.run(["wrk", "-t1", "-c64", f"-d{seconds}s", f"http://127.0.0.1:{port}{path}"],
                          check=True, capture_output=True, text=True).stdout
    return float(next(row for row in text.splitlines() if "Requests/sec" in row).split()[1])


def read_bodies(port, path, count, size):
    """Read `count` bodies over one connection with a large buffer."""
    buffer = bytearray(4 << 20)
    with socket.create_connection(("127.0.0.1", port)) as wire:
        request = f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
        for _ in range(count):
            wire.sendall(request)
            head = b""
            while b"\r\n\r\n" not in head:
                head += wire.recv(4096)
            left = size - (len(head) - head.index(b"\r\n\r\n") - 4)
            while left > 0:
                got = wire.recv_into(buffer)
                if got == 0:
                    raise EOFError(path)
                left -= got


def download_rate(port, path, count, size, connections=8):
    threads = [threading.Thread(target=read_bodies, args=(port, path, count, size))
               for _ in range(connections)]
    return connections * count * size / timed(
        lambda: [[t.start() for t in threads], [t.join() for t in threads]])


def wait_for(port):
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except ConnectionRefusedError:
            time.sleep(0.02)
    raise TimeoutError(port)


def http(rounds, seconds):
    if not shutil.which("nginx") or not shutil.which("wrk"):
        print("nginx or wrk is not installed: HTTP left out")
        return
    own, small = Posenc(), {"64 B": (1, 16), "4 KB": (16, 64)}
    large = {"64 KB": (64, 256, 400), "1 MB": (512, 512, 60), "16 MB": (4096, 1024, 6),
             "64 MB": (16384, 1024, 2)}
    aims = {"64 B": 1.25, "4 KB": 1.25, "64 KB": 1.5, "1 MB": 2.0, "16 MB": 1.4, "64 MB": 1.6}
    files = {name.replace(" ", ""): os.urandom(shape[0] * shape[1] * 4)
             for name, shape in {**small, **large}.items()}
    with tempfile.TemporaryDirectory() as folder:
        peer = Nginx(folder, files)
        try:
            wait_for(peer.port)
            for name, shape in {**small, **large}.items():
                target = f"/v1/encodings/sinusoidal?length={shape[0]}&dim={shape[1]}&format=raw"
                file, size, ratios = "/" + name.replace(" ", ""), shape[0] * shape[1] * 4, []
                read_bodies(own.port, target, 2, size)
                for _ in range(rounds):
                    if name in small:
                        ratios.append(wrk(own.port, target, seconds) / wrk(peer.port, file, seconds))
                    else:
                        ratios.append(download_rate(own.port, target, shape[2], size)
                                      / download_rate(peer.port, file, shape[2], size))
                line(f"cached hit of {name}", "nginx static file", statistics.median(ratios),
                     aims[name])
        finally:
            peer.stop()
            own.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="under a minute")
    quick = parser.parse_args().quick
    print(f"{'what':38} {'against':26} {'ratio':>9}  aim")
    generation(1 if quick else 5)
    json_text(1 if quick else 5)
    http(1 if quick else 5, 1 if quick else 3)


if __name__ == "__main__":
    sys.exit(main())
