"""What requests cost: CPU time against the price, and CPU time where the deadline ends them.

Every route that computes has a row in ROWS, which writes random requests; the seed is printed
on failure, and SHOW=1 prints what was measured."""

import http.client
import json
import os
import random
import re
import time
import unittest
from pathlib import Path

import numpy

from server import Server, look_at
from test_compare import NPY, npy, safetensors

SEED = int(os.environ.get("SEED", random.randrange(2**32)))
ROUNDS = int(os.environ.get("ROUNDS", "3"))  # requests of each row
JSON, SAFETENSORS = "application/json", "application/vnd.safetensors"

MULTIPLY_ADD = 0.4e-9  # seconds, as the documents say
FACTOR = 20  # a price is right in order of magnitude, and a busy processor slower
EXACT_FACTOR = (
    2000  # where numbers make every sum exact; a worker does it, and it has a deadline
)
BYTE = 20e-9  # of a body or an answer: reading, printing, sending
BASE = 0.2  # of any request
EXPLAINED = 0.2  # finding what is wrong with a table: 0.1, more beside other tests

ENDLESS = (
    "/v1/encodings/floater?length=3&offset=1000000&dim=256&method=rk4&dt=0.0001&format=raw"
)


class Asked:
    """A request: method, target, media type, body."""

    def __init__(self, method, target, media_type=None, body=None):
        self.method, self.target, self.body = method, target, body
        self.headers = {"Content-Type": media_type} if media_type else {}

    def __repr__(self):
        return f"{self.method} {self.target} ({len(self.body or b'')} bytes), SEED={SEED}"


def tensor(table):
    return {"f": "F32", "i": "I64"}[table.dtype.kind], list(table.shape), table.tobytes()


def document(target, value):
    return Asked("POST", target, JSON, json.dumps(value).encode())


# ---- random requests ----


def table_of(rng):
    """A scheme and its parameters."""
    scheme = rng.choice(
        ["sinusoidal", "rope", "learned", "integer", "alibi", "shaw", "floater"]
    )
    values = {"length": rng.randrange(1, 3000)}
    if scheme in ("alibi", "shaw"):
        values["length"] = rng.randrange(1, 300)
    if scheme == "floater":
        values["length"] = rng.randrange(1, 30)
    if scheme == "alibi":
        values["heads"] = rng.randrange(1, 8)
    elif scheme != "integer":
        values["dim"] = 2 * rng.randrange(1, 200)
    return scheme, values


def query(values):
    return "&".join(f"{name}={value}" for name, value in values.items())


def encodings(rng):
    scheme, values = table_of(rng)
    form = rng.choice(["safetensors", "json"])
    return f"/v1/encodings/{scheme}?{query(values)}&format={form}"


def get_encodings(rng):
    return Asked("GET", encodings(rng))


def post_encodings(rng):
    scheme, values = table_of(rng)
    return document(f"/v1/encodings/{scheme}", values | {"format": "safetensors"})


def similarity(rng):
    metric = rng.choice(["l1", "l2", "dot", "cosine", "pearson"])
    length = rng.randrange(10, 2500)
    return {
        "length": length,
        "dim": 2 * rng.randrange(1, min(400, 400000 // length)),
        "metric": metric,
        "format": "npy",
    }


def get_similarity(rng):
    return Asked("GET", f"/v1/similarity/sinusoidal?{query(similarity(rng))}")


def post_similarity(rng):
    return document("/v1/similarity/sinusoidal", similarity(rng))


def batch(rng):
    tables = [table_of(rng) for _ in range(rng.randrange(1, 8))]
    requests = [
        {"name": f"t{i}", "scheme": scheme} | values
        for i, (scheme, values) in enumerate(tables)
    ]
    return document("/v1/batch", {"requests": requests})


def numbers(rng, *shape, dtype=None):
    """Numbers of a kind: usual ones, and those that take the slow paths."""
    draw = numpy.random.default_rng(rng.randrange(2**32))
    kind = rng.choice(["normal", "inf", "mixed", "nan", "zero", "tiny", "huge"])
    dtype = dtype or rng.choice(["f4", "f2", "f8"])
    with numpy.errstate(all="ignore"):
        values = draw.standard_normal(shape)
        if kind == "mixed":  # with infinities
            values[draw.random(shape) < 0.1] = numpy.inf
        elif kind in ("inf", "nan"):
            values[...] = float(kind)
        elif kind == "zero":
            values[...] = 0
        elif kind == "tiny":
            values *= {"f4": 1e-44, "f2": 1e-7, "f8": 4e-323}[dtype]
        elif kind == "huge":
            values *= {"f4": 1e38, "f2": 6e4, "f8": 1e308}[dtype]
        return values.astype(dtype)


def compare(rng):
    length, dim = rng.randrange(1, 4000), 2 * rng.randrange(1, 200)
    return Asked(
        "POST",
        f"/v1/compare/sinusoidal?length={length}&dim={dim}",
        NPY,
        npy(numbers(rng, length, dim)),
    )


def digits():
    """A table of zeros and ones, whose arc cosines say nothing of a position."""
    counted = (numpy.arange(8) >> numpy.arange(8)[::-1, None]) & 1
    return numpy.tile(numpy.stack([counted, counted[:, ::-1]], 1), (1, 1, 2)).astype("f2")


def identify(rng):
    if rng.random() < 0.2:
        table = digits()
    elif rng.random() < 0.5:
        shape = rng.choice([(12000, 2), (2, 12000), (300, 300), (60, 700), (8, 60, 60), (4, 4)])
        table = numbers(rng, *shape)
    else:
        length = rng.choice([6, rng.randrange(4, 2000)])  # few rows are searched as often
        dim = 2 * rng.randrange(1, 60)
        angles = numpy.arange(length)[:, None] * 10000 ** (-numpy.arange(dim // 2) * 2 / dim)
        table = numpy.concatenate([numpy.cos(angles), numpy.sin(angles)], 1).astype("f4")
        table *= 1 + rng.choice([0, 1e-7, 1e-3]) * numpy.float32(rng.random())
    return Asked("POST", "/v1/identify", NPY, npy(table))


def apply(rng):
    queries, keys, dim = rng.randrange(1, 3), rng.randrange(1, 60000), 2 * rng.randrange(1, 40)
    kind = rng.randrange(3)
    if kind == 0:
        target = f"relative_sinusoidal?length={keys}&query_length={queries}&dim={dim}"
        return Asked("POST", f"/v1/apply/{target}", NPY, npy(numbers(rng, queries, dim)))
    if kind == 1:
        keys = keys // 60 + 1
        target = f"shaw?length={keys}&query_length={queries}&dim={dim}&seed=0&result=value_sums"
        return Asked("POST", f"/v1/apply/{target}", NPY, npy(numbers(rng, queries, keys)))
    body = safetensors({"query": tensor(numbers(rng, 500, dim, dtype="f4"))})
    return Asked("POST", f"/v1/apply/rope?length=500&dim={dim}", SAFETENSORS, body)


def apply_model(rng):
    """Tensors of a model as it lays them out, also with positions of each row."""
    rows, kind = rng.randrange(1, 300), rng.randrange(4)
    target = "/v1/apply?model=llama-3.1-8b"
    heads = numbers(rng, 2, rows, 4 * 128, dtype="f4")
    if kind == 0:
        ids = tensor(
            numpy.array([rng.randrange(9000) for _ in range(2 * rows)]).reshape(2, rows)
        )
        body = safetensors({"query": tensor(heads), "position_ids": ids})
        return Asked("POST", f"{target}&heads=4", SAFETENSORS, body)
    if kind == 1:
        return Asked("POST", f"{target}&length={rows}&heads=4", NPY, npy(heads))
    if kind == 2:
        order = numpy.asfortranarray(heads.reshape(2, rows, 4, 128).transpose(0, 2, 1, 3))
        return Asked("POST", f"{target}&length={rows}", NPY, npy(order))
    scores = numbers(rng, rows, 300, 8, dtype="f4")
    target = f"alibi?length=300&query_length={rows}&heads=8&axes=queries,keys,heads"
    return Asked("POST", f"/v1/apply/{target}", NPY, npy(scores))


def convert(rng):
    table = numbers(rng, 2 * rng.randrange(1, 300), rng.randrange(1, 300))
    if rng.random() < 0.5:
        target = "/v1/convert/rope?from=half&to=interleaved&heads=1"
        return Asked("POST", target, NPY, npy(table))
    body = safetensors({"x": tensor(table.astype("f4"))})
    return Asked(
        "POST", "/v1/convert/rope?to=interleaved&model=qwen3-8b&none=allow", SAFETENSORS, body
    )


def models(rng):
    config = {
        "model_type": rng.choice(["llama", "bert", "t5", "gpt2", "bloom"]),
        "hidden_size": 64 * rng.randrange(1, 20),
        "num_attention_heads": rng.choice([1, 2, 4, 8]),
        "num_hidden_layers": rng.randrange(1, 40),
        "max_position_embeddings": rng.randrange(1, 9000),
    }
    return document("/v1/models?plan=true", config)


def compare_models(rng):
    first, second = (json.loads(models(rng).body) for _ in range(2))
    return document("/v1/models/compare", {"first": first, "second": second})


ROWS = {
    ("get", "/v1/encodings/{scheme}"): get_encodings,
    ("post", "/v1/encodings/{scheme}"): post_encodings,
    ("get", "/v1/similarity/{scheme}"): get_similarity,
    ("post", "/v1/similarity/{scheme}"): post_similarity,
    ("post", "/v1/batch"): batch,
    ("post", "/v1/compare/{scheme}"): compare,
    ("post", "/v1/identify"): identify,
    ("post", "/v1/apply/{scheme}"): apply,
    ("post", "/v1/apply"): apply_model,
    ("post", "/v1/convert/rope"): convert,
    ("post", "/v1/models"): models,
    ("post", "/v1/models/compare"): compare_models,
}

# Routes that compute nothing: documents, health, and the sets themselves.
NOTHING = re.compile(
    r"/(|docs|openapi.json|metrics|health/.*|v1/(info|schemes.*|sets.*|parameters.*)|assets/.*)"
)
OF_SCHEME = re.compile(r"^(/v1/(?:encodings|similarity|compare|apply)/)[a-z].*")
ONLY_LISTS = {("get", "/v1/models"), ("get", "/v1/models/{model}")}

# ---- measuring ----


def seconds_of(server, threads=None):
    """CPU time of a server, or of its threads of a name."""

    def nanoseconds(task):
        counts = threads is None or (task / "comm").read_text().strip() in threads
        return int((task / "schedstat").read_text().split()[0]) if counts else 0

    return sum(look_at(Path(f"/proc/{server.pid}/task").iterdir(), nanoseconds)) / 1e9


EVENT_THREADS = ("MHD-worker", "MHD-single")


def ask(server, asked):
    """The status and the bytes of the answer; a stream that breaks off gives what there was."""
    connection = server.connect()
    try:
        connection.request(asked.method, asked.target, asked.body, asked.headers)
        response = connection.getresponse()
        size, part = 0, b"first"
        while part:
            try:
                part = response.read(1 << 20)
            except http.client.IncompleteRead as cut:
                return response.status, size + len(cut.partial), True
            size += len(part)
        length = response.getheader("Content-Length")
        return response.status, size, length is not None and size < int(length)
    finally:
        connection.close()


class Prices(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        flags = ("--threads", "2", "--cache-bytes", "32MiB")  # tables above 8 MiB are streams
        flags += ("--json-max-elements", "100000000")
        cls.poor = Server(*flags, "--compute-cost", "1")
        cls.rich = Server(*flags, "--compute-cost", "0")
        for server in (cls.poor, cls.rich):
            cls.addClassCleanup(server.stop)

    def price(self, asked):
        """What a server that computes nothing says; 0 if it answers."""
        reply = self.poor.request(asked.method, asked.target, asked.headers, asked.body)
        if reply.status == 200:
            return 0
        given = [problem["given"] or "" for problem in reply.json()["errors"]]
        found = [re.fullmatch(r"([\d.e+]+) multiply-adds", text) for text in given]
        self.assertTrue(any(found), f"{asked}: {reply.status} {reply.body[:300]}")
        return max(float(one[1]) for one in found if one)

    def test_every_route_that_computes_has_a_row(self):
        paths = self.rich.request("GET", "/openapi.json").json()["paths"]
        routes = {
            (method, OF_SCHEME.sub(r"\1{scheme}", path))
            for path, item in paths.items()
            for method in item
            if method in ("get", "post", "put") and not NOTHING.fullmatch(path)
        }
        self.assertEqual(routes - ONLY_LISTS, set(ROWS))

    def test_no_request_takes_much_more_than_its_price(self):
        rng = random.Random(SEED)
        for route, row in ROWS.items():
            for _ in range(ROUNDS):
                asked = row(rng)
                with self.subTest(route, asked=asked):
                    self.check(asked)

    def check(self, asked):
        price = self.price(asked)
        before, events = seconds_of(self.rich), seconds_of(self.rich, EVENT_THREADS)
        status, size, broken = ask(self.rich, asked)
        used = seconds_of(self.rich) - before
        events = seconds_of(self.rich, EVENT_THREADS) - events
        self.assertIn((status, broken), ((200, False), (409, False)), asked)
        moved = BYTE * (len(asked.body or b"") + size)
        if os.environ.get("SHOW"):
            print(
                f"{used:.3f} s, {events:.3f} of events, "
                f"price {price * MULTIPLY_ADD:.3f} s {asked}"
            )
        factor = EXACT_FACTOR if asked.target.startswith("/v1/apply/") else FACTOR
        base = BASE + EXPLAINED * asked.target.startswith("/v1/compare/")
        self.assertLess(used, base + moved + factor * MULTIPLY_ADD * price, asked)


def noise_of(*shape, dtype="f4"):
    return numpy.random.default_rng(2).standard_normal(shape).astype(dtype)


# Requests that take far longer than a second, and that the deadline ends.
LONG = {
    "a preparation": Asked("GET", ENDLESS),
    "several": document(
        "/v1/batch",
        {
            "requests": [
                {
                    "name": f"t{i}",
                    "scheme": "floater",
                    "length": 3,
                    "offset": 1000000 + i,
                    "dim": 256,
                    "method": "rk4",
                    "dt": 0.0001,
                }
                for i in range(4)
            ]
        },
    ),
    "a comparison": Asked(
        "POST",
        "/v1/compare/floater?length=3&offset=1000000&dim=256&method=rk4&dt=0.0001",
        NPY,
        npy(noise_of(3, 256)),
    ),
    "a search": Asked("POST", "/v1/identify", NPY, npy(noise_of(400000, 2, dtype="f2"))),
    "a stream": Asked(
        "GET", "/v1/similarity/sinusoidal?length=8000&dim=1024&metric=pearson&format=npy"
    ),
    "a stream of text": Asked(
        "GET", "/v1/similarity/sinusoidal?length=8000&dim=1000&metric=l1&format=csv"
    ),
    "an application": Asked(
        "POST",
        "/v1/apply/relative_sinusoidal?length=1048576&query_length=99&dim=64",
        NPY,
        npy(noise_of(99, 64, dtype="f8") * 4e-323),
    ),
}


QUICK_PIECES = "a stream of text"  # which an event thread prints, some tenths of a ms at a time


class Identify(unittest.TestCase):
    def test_zeros_and_ones_take_no_longer_than_other_numbers(self):
        server = Server("--threads", "2")
        self.addCleanup(server.stop)
        noise = numpy.random.default_rng(1).standard_normal(digits().shape)
        times = []
        for numbers in (noise, digits()):
            before = seconds_of(server)
            asked = Asked("POST", "/v1/identify", NPY, npy(numbers.astype("f2")))
            self.assertEqual(ask(server, asked)[0], 200)
            times.append(seconds_of(server) - before)
        self.assertLess(times[1], 12 * times[0] + BASE)


class Deadline(unittest.TestCase):
    """With a second for each request, none takes more than some seconds of CPU time."""

    FLAGS = ("--threads", "2", "--compute-cost", "0", "--compute-seconds", "1")
    FLAGS += ("--json-max-elements", "100000000")

    def test_one_clock_ends_whatever_a_request_computes(self):
        server = Server(*self.FLAGS)
        self.addCleanup(server.stop)
        for name, asked in LONG.items():
            with self.subTest(name):
                before, events = seconds_of(server), seconds_of(server, EVENT_THREADS)
                began = time.monotonic()
                status, _, broken = ask(server, asked)
                used = seconds_of(server) - before
                events = seconds_of(server, EVENT_THREADS) - events
                if os.environ.get("SHOW"):
                    print(
                        f"{name}: {status} {broken} {used:.2f} s, events {events:.2f} s, "
                        f"{time.monotonic() - began:.1f}"
                    )
                self.assertTrue(broken or status != 200 or name == "a search", asked)
                self.assertLess(used, 4, asked)
                if name != QUICK_PIECES:
                    self.assertLess(events, 0.5, asked)


if __name__ == "__main__":
    unittest.main()
