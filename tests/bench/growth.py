"""How cost grows: seconds of processor time over the size of what is asked, one curve for each
kind of size, and the exponent that fits its larger half. `make growth` runs it:

    growth.py SERVER SVG

What grows faster than its work is a fault: such curves are named, and end the run with 1."""

import http.client
import json
import math
import sys
import time
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).parent.parent / "http"))

from server import Server  # noqa: E402
from test_compare import npy, safetensors  # noqa: E402

import load  # noqa: E402

ROUNDS = 3  # of which the quickest counts
SECONDS_MAX = 8  # a curve ends after the size that took so long
EXPONENT_MAX = 1.2  # of a cost that is linear, where memory takes the place of caches
NPY = {"Content-Type": "application/x-npy"}
JSON = {"Content-Type": "application/json"}


def powers(first, last, step=10):
    """first, first * step, ... up to last"""
    count = int(math.log(last / first, step) + 1.001)
    return [first * step**i for i in range(count)]


def generated(query):
    """The library alone, for a query with a size at its end."""
    return lambda size: load.tables("table", query + str(size), ROUNDS)["processor"]


class Client:
    """A server, and requests over one kept connection."""

    def __init__(self, server):
        self.server = server
        self.connection = http.client.HTTPConnection(*server.address, timeout=120)
        self.number = self.stored = 0

    def send(self, method, target, body=None, headers=None):
        self.connection.request(method, target, body=body, headers=headers or {})
        response = self.connection.getresponse()
        content = response.read()
        if response.status >= 400:
            raise RuntimeError(f"{method} {target[:200]}: {response.status} {content[:300]}")
        return content

    def least_seconds(self, function):
        """Of the server's processor time."""
        clock, times = ~self.server.pid << 3 | 2, []  # of another process: CPUCLOCK_SCHED
        for _ in range(ROUNDS):
            start = time.clock_gettime(clock)
            function()
            times.append(time.clock_gettime(clock) - start)
            if times[0] > 1:
                break
        return min(times)

    def hit(self):
        """Seconds of an answer from the cache, of many in a row."""
        target = "/v1/encodings/sinusoidal?length=16&dim=64&format=raw"
        self.send("GET", target)
        return self.least_seconds(lambda: [self.send("GET", target) for _ in range(500)]) / 500

    def positions(self, count):
        body = json.dumps(
            {"positions": list(range(7, 7 + count)), "dim": 8, "format": "raw"}
        ).encode()
        return self.least_seconds(
            lambda: self.send("POST", "/v1/encodings/sinusoidal", body, JSON)
        )

    def connections(self, count):
        """A hit beside so many idle connections."""
        idle = [http.client.HTTPConnection(*self.server.address) for _ in range(count)]
        try:
            for connection in idle:
                connection.connect()
            return self.hit()
        finally:
            for connection in idle:
                connection.close()

    def entries(self, count):
        """A hit beside so many entries of 4 KB, which are made first."""
        while self.number < count:
            self.number += 1
            query = f"length=16&dim=64&offset={self.number}&format=raw"
            self.send("GET", f"/v1/encodings/sinusoidal?{query}")
        return self.hit()

    def sets(self, count):
        """One more set beside so many others, which are stored first."""
        one = safetensors({"table": ("F32", [1, 4], bytes(16))})
        while self.stored < count:
            self.stored += 1
            self.send("PUT", f"/v1/sets/set{self.stored}", one)
        return self.least_seconds(
            lambda: [self.send("PUT", "/v1/sets/last", one) for _ in range(50)]
        )

    def batch(self, count):
        requests = [
            {"name": f"m{i}", "scheme": "rope", "length": 512, "dim": 64, "tensor": "cos"}
            for i in range(count)
        ]

        def ask():
            self.number += 1
            for i, request in enumerate(requests):  # none is in the cache
                request["offset"] = (self.number << 16) + i
            body = json.dumps({"format": "safetensors", "requests": requests}).encode()
            self.send("POST", "/v1/batch", body, JSON)

        return self.least_seconds(ask)

    def table(self, rows):
        """A sinusoidal table as libraries compute it in float32, which is nearly exact."""
        frequencies = (10000.0 ** (-numpy.arange(0, 64, 2) / 64)).astype("f4")
        angles = numpy.arange(rows, dtype="f4")[:, None] * frequencies
        table = numpy.empty((rows, 64), "f4")
        table[:, 0::2], table[:, 1::2] = numpy.sin(angles), numpy.cos(angles)
        return npy(table)

    def compare(self, rows):
        body, target = self.table(rows), f"/v1/compare/sinusoidal?length={rows}&dim=64"
        return self.least_seconds(lambda: self.send("POST", target, body, NPY))

    def identify(self, rows):
        body = self.table(rows)
        return self.least_seconds(lambda: self.send("POST", "/v1/identify", body, NPY))

    def noise(self, rows):
        body = npy(numpy.random.default_rng(0).normal(size=(rows, 64)).astype("f4"))
        return self.least_seconds(lambda: self.send("POST", "/v1/identify", body, NPY))

    def narrow(self, rows):
        """Rows of four that repeat, but for one entry."""
        angles = numpy.outer(numpy.arange(4), 10000.0 ** (-numpy.arange(0, 8, 2) / 8))
        table = numpy.tile(numpy.cos(angles).astype("f4"), (rows // 4, 1))
        table[-4, 0] += 1
        body = npy(table)
        return self.least_seconds(lambda: self.send("POST", "/v1/identify", body, NPY))


# what grows: sizes, and the seconds that one takes; the library alone, or a client's function
CURVES = {
    "rows of sinusoidal": (powers(100, 10**6), generated("sinusoidal?dim=64&length=")),
    "columns of sinusoidal": (powers(64, 10**6, 4), generated("sinusoidal?length=16&dim=")),
    "rows of rope": (powers(100, 10**6), generated("rope?dim=64&length=")),
    "rows of periodic": (powers(100, 10**6), generated("periodic?dim=64&length=")),
    "heads of alibi": (powers(4, 1024, 4), generated("alibi?length=128&heads=")),
    "heads of kerple": (powers(4, 1024, 4), generated("kerple?length=128&heads=")),
    "items of a list of positions": (powers(100, 10**5), Client.positions),
    "requests of a batch": (powers(1, 64, 2), Client.batch),
    "idle connections: a hit": (powers(1, 1000), Client.connections),
    "entries of the cache: a hit": (powers(10, 10**5), Client.entries),
    "stored sets: 50 more": (powers(1, 10**4), Client.sets),
    "rows, compared": (powers(100, 10**5), Client.compare),
    "rows, identified": (powers(100, 10**5), Client.identify),
    "rows of noise, identified": (powers(100, 10**5), Client.noise),
    "rows of 4, identified": (powers(100, 10**5), Client.narrow),
}


def measure(client, sizes, function):
    """[(size, seconds)] up to what may be waited for."""
    points = []
    for size in sizes:
        served = function.__qualname__.startswith("Client.")
        seconds = function(client, size) if served else function(size)
        points.append((size, seconds))
        if seconds > SECONDS_MAX:
            break
    return points


def fit(points):
    """The slope of the larger half of a curve, on logarithmic scales."""
    half = points[len(points) // 2 - (len(points) < 4) :]
    x, y = (numpy.log([point[i] for point in half]) for i in range(2))
    return numpy.polyfit(x, y, 1)[0]


# ---- the drawing ----

ACROSS, WIDTH, HEIGHT, LEFT, TOP = 3, 288, 170, 52, 34
STYLE = """text { font: 12px system-ui, sans-serif; fill: #1f2328 }
path { fill: none; stroke: #0969da; stroke-width: 2 } circle { fill: #0969da }
rect { fill: none; stroke: #8c959f }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } }"""


def number(value):
    return f"{value:.0e}".replace("e+0", "e").replace("e-0", "e-")


def draw_curve(name, points, exponent):
    """A chart with logarithmic axes, which are labelled at the curve's ends."""
    size, seconds = (numpy.array([point[i] for point in points], float) for i in range(2))
    width, height = WIDTH - LEFT - 20, HEIGHT - TOP - 26
    low, high = math.floor(math.log10(min(seconds))), math.ceil(math.log10(max(seconds)))
    x = LEFT + width * numpy.log(size / size[0]) / math.log(size[-1] / size[0])
    y = TOP + height * (high - numpy.log10(seconds)) / (high - low)
    line = " L".join(f"{a:.0f} {b:.0f}" for a, b in zip(x, y))
    return "".join(
        (
            f'<text x="{LEFT}" y="{TOP - 10}">{name}: n^{exponent:.2f}</text>',
            f'<rect x="{LEFT}" y="{TOP}" width="{width}" height="{height}"/>',
            f'<text x="{LEFT - 4}" y="{TOP + 12}" text-anchor="end">'
            f"{number(10**high)} s</text>",
            f'<text x="{LEFT - 4}" y="{TOP + height}" text-anchor="end">'
            f"{number(10**low)} s</text>",
            f'<text x="{LEFT}" y="{TOP + height + 16}">{number(size[0])}</text>',
            f'<text x="{LEFT + width}" y="{TOP + height + 16}" text-anchor="end">'
            f"{number(size[-1])}</text>",
            f'<path d="M{line}"/>',
            *(f'<circle cx="{a:.0f}" cy="{b:.0f}" r="3"/>' for a, b in zip(x, y)),
        )
    )


def draw(curves):
    down = -(-len(curves) // ACROSS)
    charts = (
        f'<g transform="translate({i % ACROSS * WIDTH} {i // ACROSS * HEIGHT})">'
        f"{draw_curve(*curve)}</g>"
        for i, curve in enumerate(curves)
    )
    size = f"0 0 {ACROSS * WIDTH} {down * HEIGHT}"
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}">',
            f"<style>{STYLE}</style>",
            *charts,
            "</svg>\n",
        )
    )


def main(binary, drawing):
    curves, faults = [], []
    server = Server("--max-stored-sets", "20000", "--cache-bytes", "1GiB", binary=binary)
    try:
        client = Client(server)
        for name, (sizes, function) in CURVES.items():
            points = measure(client, sizes, function)
            exponent = fit(points)
            curves.append((name, points, exponent))
            faults += [name] if exponent > EXPONENT_MAX else []
            print(f"{name:32} n^{exponent:5.2f}  ", end="")
            print(
                "  ".join(f"{size:g}: {seconds:.2g} s" for size, seconds in points), flush=True
            )
    finally:
        server.stop()
    Path(drawing).write_text(draw(curves))
    print(f"faster than their work grow: {', '.join(faults) or 'none'}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
