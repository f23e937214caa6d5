"""The rows of the table: what is measured, against whom, and what it should reach.

A row's `prepare(bench)` starts what it needs and returns a function that measures one round and
returns its ratio (own to peer; speeds, or times where the aim is a limit from above) or value.
"""

import os
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Optional

import load
import peers
import recipes

MIB = 1 << 20
SHAPES = [(512, 512), (4096, 1024), (8192, 4096), (131072, 128)]
SMALL = {"64 B": (1, 16), "4 KB": (16, 64)}
# body: shape, and the aim against nginx
LARGE = {
    "64 KB": ((64, 256), 1.5),
    "1 MB": ((512, 512), 2.0),
    "16 MB": ((4096, 1024), 1.4),
    "64 MB": ((16384, 1024), 1.6),
}


# a bias of 2 GiB: scheme and parameters, and the aim against storing as many bytes
BIASES = {
    "ALiBi": ("alibi?length=4096&heads=32", 0.7),
    "T5": ("t5?length=4096&heads=32", 0.3),
    "LeViT": ("levit?length=4096&heads=32", 0.3),
}


# schemes whose example does not grow into a size that models have
REAL_SIZES = {
    "swin": "swin?height=14&heads=12",
    "swin, 32x32": "swin?height=32&heads=12",
    "swin, 64x64": "swin?height=64&heads=12",
    "decomposed, 64x64": "decomposed?height=64&dim=64",
    "resized, 14x14 to 64x64": "resized?height=64&source_height=14&dim=768",
    "axial_rope, 14x14": "axial_rope?sizes=14,14&dim=64&table=full",
    "axial_rope, 64x64": "axial_rope?sizes=64,64&dim=64&table=full",
    "mrope, a video of 16x32x32": "mrope?text=32,32&grids=16,32,32&dim=128&table=full",
    "fourier, 64x64, 64 bands": "fourier?sizes=64,64&bands=64&max_frequency=32",
    "fourier, 224x224, 64 bands": "fourier?sizes=224,224&bands=64&max_frequency=112",
}

DTYPES = ("f32", "f16", "bf16", "f64")

# their tables are random numbers or integrals, which cost more than a store
DRAWN = {"complex_order", "floater", "hierarchical", "learned"}
SIMILARITY = "similarity/sinusoidal?metric=cosine"


@dataclass(frozen=True)
class Aim:
    limit: float
    at_most: bool = False

    def reached(self, value):
        """1 and more: met."""
        return self.limit / value if self.at_most else value / self.limit


def at_least(limit):
    return Aim(limit)


def at_most(limit):
    return Aim(limit, at_most=True)


@dataclass
class Row:
    what: str
    against: str
    aim: Optional[Aim]
    prepare: Callable
    unit: str = "x"


def bytes_of(shape):
    return shape[0] * shape[1] * 4


def target_of(shape, more="", form="raw"):
    return f"/v1/encodings/sinusoidal?length={shape[0]}&dim={shape[1]}&format={form}{more}"


def own(bench):
    return bench.peers.get(peers.posenc, "--cache-bytes", "1GiB")


def file_of(bench, shape):
    """The path, for a server of files, of a file with the same bytes as our answer."""
    name = f"{shape[0]}x{shape[1]}"
    path = Path(bench.peers.folder) / name
    if not path.exists():
        path.write_bytes(load.fetch(own(bench), target_of(shape))[1])
    return "/" + name


# ---- the library alone ----


def runs_for(bench, elements):
    return bench.pace.runs if elements > 1e6 else 5 * bench.pace.runs


def generation(shape, module, make):
    def prepare(bench):
        peers.require_modules(module)
        runs, query = runs_for(bench, shape[0] * shape[1]), f"length={shape[0]}&dim={shape[1]}"
        make(*shape)

        def ratio():
            seconds = load.tables("table", query, runs)["table"]
            return load.best_of(lambda: make(*shape), runs) / seconds

        return ratio

    return prepare


def against_store(task, what, elements):
    def prepare(bench):
        runs = runs_for(bench, elements)

        def ratio():
            seconds = load.tables(task, what, runs)
            return seconds["store"] / seconds["table"]

        return ratio

    return prepare


def kernel_against_v4(kernel, query, elements):
    def prepare(bench):
        if "v4" not in load.kernels():
            raise peers.Missing("a processor with x86-64-v4")
        runs = runs_for(bench, elements)

        def ratio():
            seconds = [
                load.tables("table", query, runs, name)["table"] for name in (kernel, "v4")
            ]
            return seconds[1] / seconds[0]

        return ratio

    return prepare


def json_text(peer, kernel):
    def prepare(bench):
        if peer == "jansson":

            def ratio():
                seconds = load.tables("json", "length=4096&dim=128", bench.pace.runs, kernel)
                return seconds["jansson"] / seconds["json"]

            return ratio
        import json

        peers.require_modules("numpy")
        table = recipes.numpy_table(4096, 128)

        def ratio_to_python():
            seconds = load.tables("json", "length=4096&dim=128", bench.pace.runs, kernel)[
                "json"
            ]
            return load.best_of(lambda: json.dumps(table.tolist()), bench.pace.runs) / seconds

        return ratio_to_python

    return prepare


def stream_rows():
    """What a stream's reader gets from the library, a piece of half a megabyte at a time."""
    for name, (what, aim) in BIASES.items():
        yield Row(
            f"stream {name}, 32 heads x 4096 x 4096 f32",
            "storing as many bytes",
            at_least(aim),
            against_store("stream", what, 1 << 29),
        )


def library_rows():
    for shape in SHAPES:
        what = f"generate {shape[0]}x{shape[1]} f32, one thread"
        yield Row(what, "numpy", at_least(26), generation(shape, "numpy", recipes.numpy_table))
        yield Row(what, "torch", at_least(15), generation(shape, "torch", recipes.torch_table))
        yield Row(
            what,
            "storing as many bytes",
            at_least(0.9) if bytes_of(shape) >= 16 * MIB else None,
            against_store("table", f"length={shape[0]}&dim={shape[1]}", shape[0] * shape[1]),
        )
    for kernel, aim in (("v3", 0.5), ("baseline", 0.25)):
        for shape in SHAPES[:3]:
            yield Row(
                f"generate {shape[0]}x{shape[1]} f32 by {kernel}",
                "the same by v4",
                at_least(aim),
                kernel_against_v4(
                    kernel, f"length={shape[0]}&dim={shape[1]}", shape[0] * shape[1]
                ),
            )
    for kernel, python, jansson in (("best", 40, 25), ("baseline", 15, 10)):
        what = f"JSON of 4096x128 f32, {kernel} instruction set"
        yield Row(what, "json.dumps(tolist())", at_least(python), json_text("python", kernel))
        yield Row(what, "jansson", at_least(jansson), json_text("jansson", kernel))
    for what, query in REAL_SIZES.items():
        yield Row(
            f"generate {what} f32",
            "storing as many bytes",
            at_least(0.3),
            against_store("table", query, MIB),
        )
    yield from scheme_rows()


def scheme_rows():
    """Every scheme in every dtype, so that a new one shows itself."""
    for scheme in load.schemes():
        for dtype in DTYPES:
            yield Row(
                f"generate {scheme} in {dtype}",
                "storing as many bytes",
                at_least(0.5) if dtype != "f64" and scheme not in DRAWN else None,
                against_store("scheme", f"{scheme}?dtype={dtype}", 4 * MIB),
            )
    for dtype in DTYPES:
        yield Row(
            f"similarity in {dtype}",
            "storing as many bytes",
            None,
            against_store("scheme", f"{SIMILARITY}&dtype={dtype}", MIB),
        )


# ---- small answers from the cache ----


def small_hit(shape, start_peer, peer_target):
    def prepare(bench):
        target, seconds = target_of(shape), bench.pace.wrk_seconds
        load.fetch(own(bench), target)
        path, server = peer_target(bench, shape), start_peer(bench, shape)
        load.fetch(server, path)
        return lambda: (load.wrk(own(bench), target, seconds) / load.wrk(server, path, seconds))

    return prepare


def processor_time(shape, start_peer, peer_target):
    """Of a peer for a request, to that of our own: it varies less than the rates do."""

    def prepare(bench):
        target, seconds = target_of(shape), bench.pace.seconds
        load.fetch(own(bench), target)
        path, server = peer_target(bench, shape), start_peer(bench, shape)
        load.fetch(server, path)
        size = len(load.fetch(server, path)[1])

        def ratio():
            own_time = load.processor_time(own(bench), target, bytes_of(shape), seconds)
            peer_time = load.processor_time(server, path, size, seconds)
            bench.notes[:] = [f"at last {own_time:.1f} to {peer_time:.1f} us"]
            return peer_time / own_time

        return ratio

    return prepare


def nginx(bench, _=None):
    return bench.peers.get(peers.nginx, {})


def untuned_nginx(bench, _=None):
    return bench.peers.get(peers.nginx, peers.NGINX_UNTUNED)


def cached_path(_, shape):
    return f"/cached?length={shape[0]}&dim={shape[1]}"


def winner(bench, servers, rate):
    """The name of the server that is fastest in some short heats."""
    heats = {name: [] for name in servers}
    for _ in range(bench.pace.heats):
        for name, server in servers.items():
            heats[name].append(rate(server))
    return max(heats, key=lambda name: statistics.median(heats[name]))


def fastapi(bench, _=None):
    """With one process or one for each processor, whichever answers small requests faster."""
    servers = {
        workers: bench.peers.get(peers.fastapi, workers)
        for workers in sorted({1, peers.PROCESSORS})
    }
    if "fastapi" not in bench.chosen:
        path = cached_path(bench, SMALL["64 B"])
        bench.chosen["fastapi"] = winner(
            bench, servers, lambda server: load.wrk(server, path, 1)
        )
    bench.note(f"workers: {bench.chosen['fastapi']}")
    return servers[bench.chosen["fastapi"]]


def small_rows():
    for name, shape in SMALL.items():
        for against, aim, start, path in (
            ("nginx static file", at_least(1.25), nginx, file_of),
            ("nginx untuned", None, untuned_nginx, file_of),
            ("FastAPI + uvloop + lru_cache", at_least(4.3), fastapi, cached_path),
        ):
            yield Row(f"cached hit of {name}", against, aim, small_hit(shape, start, path))
        yield Row(
            f"processor time of a hit of {name}",
            "nginx static file",
            at_least(1.25),
            processor_time(shape, nginx, file_of),
        )


# ---- large answers from the cache ----


def download_rate(bench, server, target, shape, seconds=None):
    return load.client(
        "byte_rate",
        server,
        target,
        bytes_of(shape),
        connections=8,
        seconds=seconds or bench.pace.seconds,
    )


def download_ratio(bench, shape, server):
    path = file_of(bench, shape)
    return lambda: (
        download_rate(bench, own(bench), target_of(shape), shape)
        / download_rate(bench, server, path, shape)
    )


def large_hit(shape, start_peer):
    return lambda bench: download_ratio(bench, shape, start_peer(bench))


def file_servers(bench):
    """Every variant of the file servers that are installed: {description: server}."""
    found, missing = {}, []
    for name, make, variants in (
        ("nginx", peers.nginx, [{}, *peers.NGINX_VARIANTS]),
        ("lighttpd", peers.lighttpd, peers.LIGHTTPD_VARIANTS),
    ):
        try:
            for changes in variants:
                found[peers.described(name, changes)] = bench.peers.get(make, changes)
        except peers.Missing:
            missing.append(name)
    if not found:
        raise peers.Missing(", ".join(missing))
    if missing:
        bench.note(f"not installed: {', '.join(missing)}")
    return found


def best_tuned(shape):
    """The variant that wins some short heats meets us in rounds of its own, so that its luck in
    the heats does not count."""

    def prepare(bench):
        path, servers = file_of(bench, shape), file_servers(bench)
        best = winner(
            bench,
            servers,
            lambda server: download_rate(bench, server, path, shape, bench.pace.heat_seconds),
        )
        bench.note(f"best of {len(servers)}: {best}")
        return download_ratio(bench, shape, servers[best])

    return prepare


def tail_beside_downloads(bench):
    """p99 of small answers while two connections download 64 MB bodies."""
    small, large = SMALL["64 B"], LARGE["64 MB"][0]

    def p99(server, small_target, large_target):
        with load.Background(server, large_target, bytes_of(large), connections=2):
            return load.client(
                "whole99",
                server,
                small_target,
                bytes_of(small),
                connections=8,
                seconds=bench.pace.wrk_seconds,
            )

    peer = nginx(bench)
    files = file_of(bench, small), file_of(bench, large)
    return lambda: (p99(own(bench), target_of(small), target_of(large)) / p99(peer, *files))


def large_rows():
    for name, (shape, aim) in LARGE.items():
        what = f"cached hit of {name}, 8 connections"
        yield Row(what, "nginx static file", at_least(aim), large_hit(shape, nginx))
        yield Row(what, "nginx untuned", None, large_hit(shape, untuned_nginx))
        yield Row(what, "best-tuned nginx or lighttpd", at_least(1.0), best_tuned(shape))
    yield Row(
        "p99 of 64 B beside two 64 MB downloads",
        "nginx static files",
        at_most(0.15),
        tail_beside_downloads,
    )


# ---- computed answers ----


def cold(bench, server, shape, requests=6, figure="whole50"):
    """The median time of requests one after the other, each for another table."""
    return load.client(
        figure,
        server,
        target_of(shape, "&offset={n}"),
        bytes_of(shape),
        requests=requests,
        first=bench.fresh_numbers(requests),
    )


def filled_cache(bench, shape, requests, *flags):
    """A server whose cache is full, so that tables take the memory of those they drive out."""
    server = bench.peers.get(peers.posenc, *flags)
    cold(bench, server, shape, requests)
    return server


def cold_against_fastapi(bench):
    shape = (4096, 1024)
    server, peer = filled_cache(bench, shape, 20), fastapi(bench)
    path = f"/computed?length={shape[0]}&dim={shape[1]}"
    return lambda: (
        1
        / cold(bench, server, shape)
        * load.client("whole50", peer, path, bytes_of(shape), requests=6)
    )


def cold_against_hit(bench):
    shape = (4096, 1024)
    server = filled_cache(bench, shape, 20)

    def ratio():
        seconds = cold(bench, server, shape, 12)
        load.fetch(server, target_of(shape))
        return seconds / load.client(
            "whole50", server, target_of(shape), bytes_of(shape), requests=12
        )

    return ratio


def cold_processor_time(form):
    """Of tables that are new, to that of as many hits."""
    shape, count = (4096, 1024), 12

    def prepare(bench):
        server = filled_cache(bench, shape, 20)
        known = target_of(shape, form=form)

        def seconds(target, first):
            load.fetch(server, known)
            size = len(load.fetch(server, target.replace("{n}", str(first)))[1])
            before = load.processor_seconds(server.pid)
            load.client("whole50", server, target, size, requests=count, first=first + 1)
            return load.processor_seconds(server.pid) - before

        new = target_of(shape, "&offset={n}", form)
        return lambda: seconds(new, bench.fresh_numbers(count + 1)) / seconds(known, 0)

    return prepare


def two_threads(bench):
    """Time to the first byte, which comes when the table is complete: the transfer is left out.
    There are always two workers, so one server is held to one processor."""
    shape, flags = (131072, 128), ("--cache-bytes", "288MiB", "--threads", "2")
    if peers.PROCESSORS < 2:
        raise peers.Missing("a second processor")
    one, two = (
        filled_cache(bench, shape, 5, *flags, "--drain-seconds", seconds)
        for seconds in ("0", "1")
    )  # different flags: two servers
    for task in Path(f"/proc/{one.pid}/task").iterdir():
        os.sched_setaffinity(int(task.name), {min(os.sched_getaffinity(0))})
    return lambda: (
        cold(bench, one, shape, figure="first50") / cold(bench, two, shape, figure="first50")
    )


def cold_similarity(bench):
    """Seconds of the whole answer; each request for another offset."""
    server, shape = filled_cache(bench, (4096, 4096), 4), (4096, 4096)
    query = "/v1/similarity/sinusoidal?length=4096&dim=512&metric=l2&format=raw&offset={n}"
    return lambda: load.client(
        "whole50", server, query, bytes_of(shape), requests=4, first=bench.fresh_numbers(4)
    )


def streamed_bias(bench):
    """2 GiB that a client reads from the server, against as many bytes of a cached table."""
    shape, hit = (1 << 19, 1024), LARGE["64 MB"][0]
    target = f"/v1/encodings/{BIASES['ALiBi'][0]}&format=raw"
    load.fetch(own(bench), target_of(hit))

    def ratio():
        seconds = load.client("whole50", own(bench), target, bytes_of(shape), requests=1)
        peer = load.client("whole50", own(bench), target_of(hit), bytes_of(hit), requests=12)
        return peer * (bytes_of(shape) / bytes_of(hit)) / seconds

    return ratio


def cold_rows():
    what = "cold request of 4096x1024 f32"
    yield Row(what, "FastAPI + numpy", at_least(5), cold_against_fastapi)
    yield Row(what + ", time", "cached hit of the same", at_most(2), cold_against_hit)
    for form in ("raw", "npy", "safetensors"):
        yield Row(
            f"{what} as {form}, processor time",
            "cached hit of the same",
            at_most(1.5),
            cold_processor_time(form),
        )
    yield Row(
        "cold request of 131072x128 f32, two threads",
        "one processor",
        at_least(1.5),
        two_threads,
    )
    yield Row("similarity of 4096 rows of 512, cold", "", at_most(1), cold_similarity, "s")
    yield Row(
        "ALiBi of 32 x 4096 x 4096 streamed over TCP",
        "cached hit of as many bytes",
        None,
        streamed_bias,
    )


# ---- Unix sockets, start, memory ----


def unix_against_tcp(shape, connections, figure):
    def prepare(bench):
        servers = [bench.peers.get(peers.posenc_on_unix), own(bench)]
        for server in servers:
            load.fetch(server, target_of(shape))

        def rate(server):
            return load.client(
                figure,
                server,
                target_of(shape),
                bytes_of(shape),
                connections=connections,
                seconds=bench.pace.seconds,
            )

        return lambda: rate(servers[0]) / rate(servers[1])

    return prepare


def start_to_first_answer(bench):
    def milliseconds():
        start = time.perf_counter()
        server = peers.posenc(bench.peers.folder)
        try:
            load.fetch(server, target_of((4, 8)))
            return 1e3 * (time.perf_counter() - start)
        finally:
            server.stop()

    return milliseconds


def resident_memory(bench):
    def megabytes():
        server = peers.posenc(bench.peers.folder)
        try:
            load.fetch(server, target_of((4, 8)))
            status = Path(f"/proc/{server.pid}/status").read_text()
            kilobytes = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
            return int(kilobytes.split()[1]) * 1024 / 1e6
        finally:
            server.stop()

    return megabytes


def process_rows():
    yield Row(
        "Unix socket, cached hit of 64 B",
        "own TCP",
        at_least(2),
        unix_against_tcp(SMALL["64 B"], 64, "request_rate"),
    )
    yield Row(
        "Unix socket, cached hit of 16 MB",
        "own TCP",
        at_least(1.1),
        unix_against_tcp(LARGE["16 MB"][0], 8, "byte_rate"),
    )
    yield Row("start to first answer", "", at_most(20), start_to_first_answer, "ms")
    yield Row("idle resident memory", "", at_most(12), resident_memory, "MB")


def all_rows():
    for group in (library_rows, stream_rows, small_rows, large_rows, cold_rows, process_rows):
        yield from group()
