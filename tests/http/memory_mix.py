"""The worst mix of requests for memory, from many clients that read slowly or not at all, and
the resident memory of the server meanwhile. `make memory-experiment` runs it under limits of 64
MiB, 256 MiB and 1.5 GiB; tests/http/test_memory_budget.py has a short form.

    python3 tests/http/memory_mix.py [MINUTES [MIB …]]

As root the limit is that of a control group, beyond which the kernel would end the server; else
only --memory-bytes is set, and the resident memory is compared with it."""

import os
import random
import struct
import sys
import threading
import time
from pathlib import Path

from server import Server, wait_until

JSON, NPY, SAFETENSORS = (
    "application/json",
    "application/x-npy",
    "application/vnd.safetensors",
)
HIT = "/v1/encodings/integer?length=4&format=raw"
MIB = 1 << 20
HEAD = b'{"__metadata__":{%s},"query":{"dtype":"F32","shape":[4,8],"data_offsets":[0,128]}}'


def npy(dtype, shape, data):
    head = str({"descr": dtype, "fortran_order": False, "shape": shape}).encode().ljust(117)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + head + b"\n" + data


def listed(value, count, before, after):
    return (before + ",".join([value] * count) + after).encode()


def noise(rng, shape):
    count = 1
    for extent in shape:
        count *= extent
    return npy("<f2", shape, rng.randbytes(2 * count))


def safetensors(rng):
    strings = b",".join(b'"%d":"%d"' % (i, rng.randrange(99)) for i in range(40000))
    head = HEAD % strings
    return struct.pack("<Q", len(head)) + head + bytes(128)


# Each draws (method, target, media type, body); sizes are scaled to the memory in MiB.
def similarity(rng, mib):
    length = rng.randrange(500, 20 * mib + 600)
    return "GET", f"/v1/similarity/sinusoidal?length={length}&dim=256&metric=l1&format=raw"


def stream(rng, mib):
    form = rng.choice(("raw", "npy", "safetensors", "csv&tensor=cos"))
    scheme = "rope" if "csv" in form else rng.choice(("rope", "sinusoidal", "sinusoidal_2d"))
    size = "height=2000&width=2000" if scheme == "sinusoidal_2d" else "length=4000000"
    return "GET", f"/v1/encodings/{scheme}?{size}&dim={4 * rng.randrange(8, 64)}&format={form}"


def table(rng, mib):
    rows, form = rng.randrange(1, 200 * mib), rng.choice(("raw", "json", "csv", "png"))
    return "GET", f"/v1/encodings/sinusoidal?length={rows}&dim=16&format={form}"


def posted_list(rng, mib):
    count = rng.randrange(10, 1000000)
    body = listed("0.25", count, '{"format":"raw","dim":4,"positions":[', "]}")
    return "POST", "/v1/encodings/sinusoidal", JSON, body


def objects(rng, mib):
    return "POST", "/v1/batch", JSON, listed("{}", 300000, '{"requests":[', "]}")


def numbers(rng, mib):
    return "POST", "/v1/batch", JSON, listed("1", 2000000, '{"requests":[', "]}")


def batch(rng, mib):
    one = '{"name":"n%d","scheme":"sinusoidal","length":%d,"dim":64}'
    parts = ",".join(one % (i, rng.randrange(1, 40 * mib)) for i in range(16))
    return "POST", "/v1/batch", JSON, f'{{"requests":[{parts}]}}'.encode()


def head(rng, mib):
    target = rng.choice(("compare/sinusoidal?length=4&dim=8", "apply/rope?length=4&dim=8"))
    return "POST", "/v1/" + target, SAFETENSORS, safetensors(rng)


def sums(rng, mib):
    heads = rng.randrange(1, 64)
    body = npy("<f2", (heads, 1, 4096), bytes(2 * 4096 * heads))
    target = "/v1/apply/shaw?length=4096&dim=1024&query_length=1&seed=0&result=value_sums"
    return "POST", target, NPY, body


def rotation(rng, mib):
    rows = rng.randrange(1, 20000)
    return "POST", f"/v1/apply/rope?length={rows}&dim=64", NPY, noise(rng, (rows, 64))


def identity(rng, mib):
    return (
        "POST",
        "/v1/identify",
        NPY,
        noise(rng, (rng.randrange(2, 3000), rng.randrange(1, 64))),
    )


def text_table(rng, mib):
    """A table as JSON or as CSV, which is read into memory."""
    rows, row = rng.randrange(2, 6000), ",".join(["0.84147096"] * rng.randrange(1, 64))
    target = rng.choice(("identify", "compare/sinusoidal?length=4&dim=8"))
    if rng.random() < 0.5:
        return "POST", f"/v1/{target}", "text/csv", f"{row}\n".encode() * rows
    return "POST", f"/v1/{target}", JSON, listed(f"[{row}]", rows, "[", "]")


def comparison(rng, mib):
    rows = rng.randrange(2, 40000)
    target = f"/v1/compare/sinusoidal?length={rows}&dim=64"
    return "POST", target, NPY, noise(rng, (rows, 64))


def config(rng, mib):
    """Components below a long path, two in each."""
    before, inner = '{"model_type":"mistral3","text_config":', '{"model_type":"sam3_video"}'
    size = min(rng.choice((1, 4)) * 1000 * mib, 400000)
    while len(inner) < size:
        inner = f'{before}{inner},"vision_config":{inner}}}'
    depth = rng.randrange(45)
    return "POST", "/v1/models?plan=true", JSON, (before * depth + inner + "}" * depth).encode()


def gguf(rng, mib):
    """The head of a GGUF file with as many pairs as one may have, each a short list."""
    most, count = 65536, rng.randrange(3)
    values = struct.pack("<IIQ", 9, 5, count) + bytes(4 * count)
    pairs = b"".join(struct.pack("<Q", 11) + b"llama.%05d" % i + values for i in range(most))
    head = struct.pack("<4sIQQ", b"GGUF", 3, 0, most) + pairs
    return "POST", "/v1/models?plan=true", "application/octet-stream", head


def two_configs(rng, mib):
    config = listed('{"rope":{}}', 20000, '{"model_type":"llama","a":[', "]}").decode()
    body = f'{{"first":{config},"second":{config}}}'.encode()
    return "POST", "/v1/models/compare", JSON, body


def wide_configs(rng, mib):
    """Two configs whose tables have as many columns as are compared."""
    config = (
        '{"model_type":"llama","hidden_size":43680,"num_attention_heads":2,"rope_theta":%d}'
    )
    body = '{"first":%s,"second":%s}' % (config % rng.randrange(1, 1 << 20), config % 7)
    return "POST", "/v1/models/compare", JSON, body.encode()


def layer(rng, mib):
    rows = rng.randrange(1, 2000)
    target = f"/v1/apply?model=llama-3.1-8b&length={rows}&heads=4"
    return "POST", target, NPY, noise(rng, (1, rows, 512))


def conversion(rng, mib):
    target = "/v1/convert/rope?from=half&to=interleaved&heads=1&tensors=*"
    return "POST", target, SAFETENSORS, safetensors(rng)


KINDS = (
    similarity,
    stream,
    table,
    posted_list,
    objects,
    numbers,
    batch,
    head,
    sums,
    rotation,
    identity,
    text_table,
    comparison,
    config,
    gguf,
    two_configs,
    wide_configs,
    layer,
    conversion,
)


class Client(threading.Thread):
    """Sends one request after the other, reads a part of some answers and waits with others."""

    def __init__(self, mix, seed):
        super().__init__(daemon=True)
        self.mix, self.rng = mix, random.Random(seed)

    def run(self):
        while not self.mix.ended.is_set():
            try:
                self.ask()
            except (OSError, EOFError):
                pass  # the server closes connections that read too slowly

    def ask(self):
        kind = self.rng.choice(KINDS)
        method, target, *rest = kind(self.rng, self.mix.mib)
        headers = {"Content-Type": rest[0]} if rest else {}
        if not rest and self.rng.random() < 0.2:
            headers["Accept-Encoding"] = "gzip"
        with self.mix.server.wire(receive_buffer=4096) as wire:
            wire.socket.settimeout(20)
            wire.ask(method, target, headers, rest[1] if rest else b"")
            while (status := wire.receive_head().status) < 200:
                pass
            self.mix.count(kind.__name__, status)
            self.mix.ended.wait(self.rng.random() * 2)  # holds what the server made, unread


class Mix:
    """Clients against one server; `run` returns when the time is over."""

    def __init__(self, server, mib, clients, seed=0):
        self.server, self.mib = server, mib
        self.ended, self.lock = threading.Event(), threading.Lock()
        self.statuses, self.hits, self.curve = {}, 0, []
        self.clients = [Client(self, seed * 1000 + i) for i in range(clients)]

    def count(self, kind, status):
        with self.lock:
            self.statuses[kind, status] = self.statuses.get((kind, status), 0) + 1

    def run(self, seconds, show=None):
        """Ask for so long, once all clients have begun, and at least once. Returns the most
        resident memory in bytes. Raises if the server ends or a small cached table is not
        answered."""
        most, shown = 0, 0
        for client in self.clients:
            client.start()
        until = time.monotonic() + seconds
        try:
            while self.hits == 0 or time.monotonic() < until:
                most = max(most, self.server.resident())
                reply = self.server.request("GET", HIT)
                if reply.status != 200:
                    raise AssertionError(f"a small table is not answered: {reply}")
                self.hits += 1
                if show and time.monotonic() > shown:
                    shown = time.monotonic() + max(5, seconds / 20)
                    show(self)
                time.sleep(0.01)
        finally:
            self.ended.set()
        for client in self.clients:
            client.join(60)
        return most


def reserved(server):
    return server.metrics()["posenc_memory_reserved_bytes"]


# ---- the experiment ----


class Group:
    """A control group with a limit of memory (v1 or v2), where that can be made."""

    def __init__(self, mib):
        v1, v2 = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")
        root, name = (v1, "memory.limit_in_bytes") if v1.is_dir() else (v2, "memory.max")
        self.path = root / f"posenc-memory-{os.getpid()}"
        try:
            self.path.mkdir()
            (self.path / name).write_text(str(mib * MIB))
            self.limits = True
        except OSError:
            self.limits = False

    def enter(self):
        if self.limits:
            (self.path / "cgroup.procs").write_text(str(os.getpid()))

    def remove(self):
        if self.limits:
            self.path.rmdir()


def experiment(minutes, mib):
    group = Group(mib)
    flags = [] if group.limits else ["--memory-bytes", f"{mib}MiB"]
    if mib > 1024:
        flags += ["--cache-bytes", "1GiB"]
    print(f"limit {mib} MiB {'of a control group' if group.limits else 'by --memory-bytes'}")
    server = Server(*flags, before=group.enter)
    mix = Mix(server, mib, 64)
    began = time.monotonic()

    def show(running):
        figures = server.metrics()
        print(
            f"  {time.monotonic() - began:6.0f} s: "
            f"resident {server.resident() / MIB:7.1f} MiB, "
            f"reserved {figures['posenc_memory_reserved_bytes'] / MIB:7.1f}, "
            f"cache {figures['posenc_cache_bytes'] / MIB:7.1f}; {running.hits} hits",
            flush=True,
        )

    most = mix.run(60 * minutes, show)
    wait_until(lambda: reserved(server) == 0, "nothing is reserved any more")
    server.stop()
    group.remove()
    answers = {}
    for (_, status), count in mix.statuses.items():
        answers[status] = answers.get(status, 0) + count
    print(f"  most {most / MIB:.1f} MiB; answers by status: {dict(sorted(answers.items()))}")
    for kind in sorted({kind for kind, _ in mix.statuses}):
        counts = {s: n for (k, s), n in sorted(mix.statuses.items()) if k == kind}
        print(f"    {kind}: {counts}")
    return most <= mib * MIB


if __name__ == "__main__":
    time_of_each = float(sys.argv[1]) if len(sys.argv) > 1 else 10
    limits = [int(text) for text in sys.argv[2:]] or [64, 256, 1536]
    sys.exit(not all([experiment(time_of_each, limit) for limit in limits]))
