"""Answers and work grow with the request and no faster. Every route of the OpenAPI document has
shapes here: requests that are hostile but keep all limits. Each is sent at three sizes, doubled
from one to the next: no answer may be longer than FACTOR times the request and FIXED, or what
the route answers a plain request, and CPU time may not rise much more than the size, nor be
more than so much for each byte. Nobody asks for a table here."""

import itertools
import json
import re
import statistics
import struct
import unittest
from typing import NamedTuple

import gguf_file
from faults import SANITIZED
from server import ServerCase
from test_price import seconds_of

FACTOR, FIXED = 16, 256 << 10  # bytes of an answer: api/reference/limits.md
RISE, NOISE = 3, 0.005 * (20 if SANITIZED else 1)  # CPU seconds, for twice the size
BASE, BYTE = 0.1 * (20 if SANITIZED else 1), 2e-6 * (20 if SANITIZED else 1)  # CPU seconds
ROUNDS, TRIES = 3, 4
TARGET, HEAD, JSON_BODY = 3500, 4000, 64 << 10  # the least of the three sizes, in bytes
NPY, SAFETENSORS, JSON = (
    "application/x-npy",
    "application/vnd.safetensors",
    "application/json",
)
# a shape that gets one of these has not come to what it is to show
REFUSED = {401, 403, 405, 408, 411, 413, 414, 415, 431, 500, 501, 502, 503, 504}


class Asked(NamedTuple):
    method: str
    target: str
    headers: dict
    body: bytes

    def size(self):
        fields = sum(len(name) + len(value) + 4 for name, value in self.headers.items())
        return len(self.method) + len(self.target) + fields + len(self.body)


# ---- queries and names ----


def many(size, item, joint="&"):
    """As many items as fit into so many bytes; `item` makes the one of a number."""
    parts, length = [], 0
    for number in itertools.count():
        part = item(number)
        length += len(part) + len(joint)
        if length > size:
            return joint.join(parts)
        parts.append(part)


QUERIES = {
    "unknown names": lambda size, salt: many(size, lambda i: f"lenght{i:04d}=1"),
    "one name again and again": lambda size, salt: many(size, lambda i: "length=1"),
    "no values": lambda size, salt: many(size, lambda i: f"a{i}"),
    "a long value": lambda size, salt: f"dtype={salt}" + "%01" * (size // 3),
    "a long list": lambda size, salt: "positions=" + many(size, lambda i: "1", ",") + ",x",
}
FIELDS = {
    "Accept": lambda size, salt: many(size, lambda i: f"a/b{i};q=0.{i % 9}", ", "),
    "Accept-Encoding": lambda size, salt: many(size, lambda i: f"c{i};q=0", ", "),
    "If-None-Match": lambda size, salt: many(size, lambda i: f'W/"{i}"', ", "),
    "If-Match": lambda size, salt: many(size, lambda i: f'"{i}"', ", "),
    "Range": lambda size, salt: "bytes=" + many(size, lambda i: f"{i}-{i}", ","),
}


# ---- JSON ----


def text_of(value):
    return json.dumps(value, separators=(",", ":")).encode()


def members(size, name, value="1"):
    return "{" + many(size, lambda i: f'"{name(i)}":{value}', ",") + "}"


def nested(size, salt):
    """Deep inside one another, with an unread key beside each."""
    left, text = size, ""
    while left > 0:
        text += '{"pos_emb":1,"' + "x" * 200 + '":'
        left -= 230
    depth = text.count("{")
    return text + "1" + "}" * depth


OBJECTS = {
    "unknown names": lambda size, salt: members(size, lambda i: f"lenght{i}"),
    "names of control characters": lambda size, salt: members(
        size, lambda i: "\\u0001" * 10 + str(i), '"\\u0001\\u0002"'
    ),
    "a long list": lambda size, salt: '{"positions":['
    + many(size, lambda i: "1", ",")
    + ',"x"],"dim":4}',
    "a long text": lambda size, salt: '{"length":"' + salt + "\\u0001" * (size // 6) + '"}',
    "lists of lists": lambda size, salt: '{"length":'
    + "[" * 30
    + many(size, lambda i: "[]", ",")
    + "]" * 30
    + "}",
}


def batch(part):
    """A shape of a batch of 64 requests, each of a part of the bytes."""
    return (
        lambda size, salt: '{"requests":['
        + ",".join(
            f'{{"name":"n{number}","scheme":"rope","length":1,"dim":2,{part(size // 64 - 50)}}}'
            for number in range(64)
        )
        + "]}"
    )


BATCHES = {
    "unknown names": batch(lambda size: members(size, lambda i: f"rope_thetta{i}")[1:-1]),
    "names of control characters": batch(
        lambda size: members(size, lambda i: "\\u0001" * 9 + str(i), '"\\u0001\\u0002"')[1:-1]
    ),
    "long texts": batch(lambda size: '"dtype":"' + "\\u0001" * (size // 6) + '"'),
    "members of the whole": lambda size, salt: members(size, lambda i: f"requestz{i}"),
    "too many": lambda size, salt: '{"requests":[' + many(size, lambda i: "{}", ",") + "]}",
}

LLAMA = (
    '{"model_type":"llama","hidden_size":64,"num_attention_heads":4,'
    '"max_position_embeddings":64,"num_hidden_layers":2,'
)


def config(rest):
    return lambda size, salt: LLAMA + f'"salt":"{salt}",' + rest(size) + "}"


def unread_below_long_keys(size):
    """Groups of unread keys, each below three keys as long as they may be."""

    def group(number):
        path = "".join(f'"{letter * 246}{number:09d}":{{' for letter in "xyz")
        return path + many(1500, lambda i: f'"pos_emb{i:05d}":1', ",") + "}}}"

    return many(size, group, ",")


def unread_below_one_key(size):
    return f'"{"x" * (size // 4)}":' + members(3 * size // 4, lambda i: f"pos_emb{i:05d}")


CONFIGS = {
    "unread keys": config(lambda size: members(size, lambda i: f"rope_scaling{i:06d}")[1:-1]),
    "unread keys below long ones": config(unread_below_long_keys),
    "unread keys below a long one": config(unread_below_one_key),
    "unread keys below each other": config(
        lambda size: many(size, lambda i: f'"a{i}":' + nested(3000, ""), ",")
    ),
    "unread objects in a rope_scaling": config(
        lambda size: '"rope_scaling":'
        + members(size, lambda i: f"attention{i}", '{"rope_theta":1}')
    ),
    "a long rope_type": config(
        lambda size: '"rope_scaling":{"rope_type":"' + "x" * size + '","factor":2}'
    ),
    "long factors": config(
        lambda size: '"rope_scaling":{"rope_type":"longrope","short_factor":['
        + many(size // 2, lambda i: "1.5", ",")
        + '],"long_factor":['
        + many(size // 2, lambda i: "1e9", ",")
        + "]}"
    ),
    "long layer types": config(
        lambda size: '"layer_types":[' + many(size, lambda i: f'"{"x" * 60}{i}"', ",") + "]"
    ),
    "labels": config(
        lambda size: '"id2label":' + members(size, lambda i: str(i), '"a picture of something"')
    ),
    "most layers": lambda size, salt: '{"model_type":"t5","num_heads":8,"num_layers":4096,'
    + '"num_decoder_layers":4096,"d_model":64,"d_kv":8,"relative_attention_num_buckets":32,'
    + members(size, lambda i: f"rope_scaling{i:06d}")[1:],
    "two components": lambda size, salt: '{"model_type":"llava","salt":"'
    + salt
    + '","text_config":{"model_type":"llama","max_position_embeddings":64,'
    + members(size // 2, lambda i: f"rope_scaling{i:06d}")[1:]
    + ',"vision_config":{"model_type":"clip_vision_model","hidden_size":64,"image_size":32,'
    + '"patch_size":8,'
    + members(size // 2, lambda i: f"position_size{i:06d}")[1:]
    + "}",
}


def components(depth, kind):
    """Components that have components, two in each, of which the last ones are of a kind; all
    of them below a chain of so many."""

    def shape(size, salt):
        before = '{"model_type":"mistral3","text_config":'
        inner = f'{{"model_type":"{kind}"}}'
        while 2 * len(inner) + len(before) + 20 <= size - 40 * depth:
            inner = f'{before}{inner},"vision_config":{inner}}}'
        return f'{{"salt":"{salt}",' + (before * depth + inner + "}" * depth)[1:]

    return shape


CONFIGS |= {
    "components in components": components(0, "deepseek_vl_hybrid"),
    "components below a long path": components(40, "deepseek_vl_hybrid"),
    "components of unknown types": components(0, "llama_of_nobody_else"),
}


def pair_of(shape):
    """Two configs of half of the bytes each."""
    return (
        lambda size, salt: '{"first":'
        + shape(size // 2, salt)
        + ',"second":'
        + shape(size // 2, salt + "x")
        + "}"
    )


PAIRS = {name: pair_of(shape) for name, shape in CONFIGS.items()}
PAIRS["unknown members"] = lambda size, salt: members(size, lambda i: f"third{i}")
PAIRS["a long name"] = lambda size, salt: '{"first":"' + "\\u0001" * (size // 6) + '"}'


def gguf(size, salt):
    """The head of a GGUF file with many unread pairs and lists."""
    pairs = {f"llama.rope.x{i:08d}": [i] * 4 for i in range(size // 60)}
    return gguf_file.write({"general.architecture": "llama", "general.name": salt, **pairs})


def fitting_factors(size, salt):
    """Lists that the plan repeats, since they fit the head."""
    count = size // 8
    factors = ",".join(["1e8"] * count)
    return (
        f'{{"model_type":"phi3","hidden_size":{8 * count},"num_attention_heads":4,'
        f'"salt":"{salt}",'
        '"num_hidden_layers":2,"max_position_embeddings":131072,'
        '"original_max_position_embeddings":4096,"rope_scaling":{"type":"longrope",'
        f'"short_factor":[{factors}],"long_factor":[{factors}]}}}}'
    )


# ---- files ----


def file_of(head, data=bytes(64)):
    return struct.pack("<Q", len(head)) + head + data


def heads_of(name, more=""):
    """A shape of a safetensors file with many tensors, which lie in the same bytes."""
    entry = '{"dtype":"F32","shape":[4,4],"data_offsets":[0,64]' + more + "}"
    return lambda size, salt: file_of(
        members(size, lambda i: f"{salt}{name}{i:05d}", entry).encode()
    )


def metadata(size, salt):
    about = members(size, lambda i: f"m{i}", f'"{salt}"')
    entry = '{"dtype":"F32","shape":[4,4],"data_offsets":[0,64]}'
    return file_of(f'{{"__metadata__":{about},"table":{entry}}}'.encode())


FILES = {
    "many tensors": heads_of("t"),
    "long names": heads_of("\\u0001" * 20),
    "wrong tensors": heads_of("w", ',"dtypes":"F32"'),
    "long shapes": lambda size, salt: file_of(
        b'{"table":{"dtype":"F32","shape":['
        + many(size, lambda i: "1", ",").encode()
        + b'],"data_offsets":[0,64]}}'
    ),
    "long metadata": metadata,
}


def file_shapes(method, target):
    for what, make in FILES.items():
        yield what, lambda size, salt, make=make: Asked(
            method, target, {"Content-Type": SAFETENSORS}, make(16 * size, salt)
        )


def json_shapes(target, shapes, least=JSON_BODY):
    for what, make in shapes.items():
        yield what, lambda size, salt, make=make: Asked(
            "POST",
            target,
            {"Content-Type": JSON},
            make(size * least // TARGET, salt).encode(),
        )


def query_shapes(method, target, headers=None, body=b""):
    joint = "&" if "?" in target else "?"
    for what, make in QUERIES.items():
        yield what, lambda size, salt, make=make: Asked(
            method, target + joint + make(size, salt), headers or {}, body
        )


def post_gguf(target, size, salt):
    headers = {"Content-Type": "application/octet-stream"}
    return Asked("POST", target, headers, gguf(size * JSON_BODY // TARGET, salt))


def name_shapes(method, before):
    yield "a long name", lambda size, salt: Asked(method, before + salt + "x" * size, {}, b"")


def listed_names(size, salt):
    """Names of tensors in the query, and in a file."""
    names = many(size, lambda i: f"b{i}", ",")
    return Asked(
        "POST",
        f"/v1/convert/rope?from=half&to=interleaved&heads=1&tensors={names}",
        {"Content-Type": SAFETENSORS},
        heads_of("t")(16 * size, salt),
    )


def listed_patterns(size, salt):
    """Patterns that nearly fit the long names of a file."""
    pattern = "*" + "a" * (size // 64 - 3) + "b"
    return Asked(
        "POST",
        "/v1/convert/rope?from=half&to=interleaved&heads=1&tensors=" + ",".join([pattern] * 64),
        {"Content-Type": SAFETENSORS},
        heads_of("a" * 110)(16 * size, salt),
    )


def config_in_file(size, salt):
    """A config in the metadata, with keys that mean nothing."""
    config = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4}
    config |= {f"{salt}{i}": i for i in range(size)}
    head = {"__metadata__": {"config": json.dumps(config)}}
    return Asked(
        "POST",
        "/v1/convert/rope?to=interleaved",
        {"Content-Type": SAFETENSORS},
        file_of(json.dumps(head).encode()),
    )


TABLE = file_of(b'{"table":{"dtype":"F32","shape":[4,4],"data_offsets":[0,64]}}')
SENT = {"Content-Type": SAFETENSORS}

# What each route is asked. A route without a row fails the test; fields are sent to all of
# them.
SHAPES = {
    "GET /": [*query_shapes("GET", "/")],
    "GET /docs": [*query_shapes("GET", "/docs")],
    "GET /assets/{file}": [*name_shapes("GET", "/assets/")],
    "GET /v1/schemes": [*query_shapes("GET", "/v1/schemes")],
    "GET /v1/schemes/{scheme}": [
        *query_shapes("GET", "/v1/schemes/rope"),
        *name_shapes("GET", "/v1/schemes/"),
    ],
    "GET /v1/encodings/{scheme}": [
        *query_shapes("GET", "/v1/encodings/rope"),
        *name_shapes("GET", "/v1/encodings/"),
    ],
    "POST /v1/encodings/{scheme}": [*json_shapes("/v1/encodings/rope", OBJECTS)],
    "GET /v1/similarity/{scheme}": [
        *query_shapes("GET", "/v1/similarity/sinusoidal"),
        *name_shapes("GET", "/v1/similarity/"),
    ],
    "POST /v1/similarity/{scheme}": [*json_shapes("/v1/similarity/sinusoidal", OBJECTS)],
    "POST /v1/batch": [*json_shapes("/v1/batch", BATCHES)],
    "POST /v1/compare/{scheme}": [
        *query_shapes("POST", "/v1/compare/sinusoidal", SENT, TABLE),
        *file_shapes("POST", "/v1/compare/sinusoidal?length=4&dim=4"),
    ],
    "POST /v1/identify": [
        *query_shapes("POST", "/v1/identify", SENT, TABLE),
        *file_shapes("POST", "/v1/identify"),
    ],
    "POST /v1/convert/rope": [
        *query_shapes("POST", "/v1/convert/rope", SENT, TABLE),
        *query_shapes("POST", "/v1/convert/rope?to=half&model=llama-3-8b", SENT, TABLE),
        *file_shapes("POST", "/v1/convert/rope?from=half&to=interleaved&heads=1&tensors=no*"),
        ("many names", listed_names),
        ("many patterns", listed_patterns),
        ("a config in the file", config_in_file),
    ],
    "POST /v1/apply/{scheme}": [
        *query_shapes("POST", "/v1/apply/sinusoidal", SENT, TABLE),
        *file_shapes("POST", "/v1/apply/sinusoidal?length=4&dim=4&against=none"),
    ],
    "POST /v1/apply": [
        *query_shapes("POST", "/v1/apply?model=llama-3.1-8b", SENT, TABLE),
        *file_shapes("POST", "/v1/apply?model=llama-3.1-8b&length=4&against=none"),
    ],
    "GET /v1/models": [*query_shapes("GET", "/v1/models")],
    "POST /v1/models": [
        *json_shapes("/v1/models?plan=true", CONFIGS, 250_000),
        *json_shapes("/v1/models?plan=true", {"factors": fitting_factors}, 32_000),
        *query_shapes("POST", "/v1/models", {"Content-Type": JSON}, LLAMA.encode()[:-1] + b"}"),
        ("a GGUF file", lambda size, salt: post_gguf("/v1/models?plan=true", size, salt)),
    ],
    "POST /v1/models/compare": [
        *json_shapes("/v1/models/compare", PAIRS, 250_000),
        (
            "a GGUF file",
            lambda size, salt: post_gguf("/v1/models/compare?against=gpt2", size, salt),
        ),
    ],
    "GET /v1/models/{model}": [
        *query_shapes("GET", "/v1/models/llama-3.1-8b?plan=true"),
        *name_shapes("GET", "/v1/models/"),
    ],
    "GET /v1/sets": [*query_shapes("GET", "/v1/sets")],
    "GET /v1/sets/{name}": [*name_shapes("GET", "/v1/sets/")],
    "PUT /v1/sets/{name}": [*file_shapes("PUT", "/v1/sets/table")],
    "DELETE /v1/sets/{name}": [*name_shapes("DELETE", "/v1/sets/")],
    "GET /v1/info": [*query_shapes("GET", "/v1/info")],
    "GET /health/live": [*query_shapes("GET", "/health/live")],
    "GET /health/ready": [*query_shapes("GET", "/health/ready")],
    "GET /metrics": [*query_shapes("GET", "/metrics")],
    "GET /openapi.json": [*query_shapes("GET", "/openapi.json")],
}


def with_fields(asked):
    """Shapes of a request with long header fields."""
    for name, make in FIELDS.items():
        yield name, lambda size, salt, name=name, make=make: asked._replace(
            headers={**asked.headers, name: make(size * HEAD // TARGET, salt)}
        )


class Linear(ServerCase):
    def routes(self):
        """The routes of the OpenAPI document, in which a scheme has a path of its own."""
        document = self.assert_ok(self.get("/openapi.json")).json()
        schemes = self.assert_ok(self.get("/v1/schemes")).json()["schemes"]
        names = "|".join(re.escape(scheme["name"]) for scheme in schemes)
        one_for_all = r"\1/{scheme}"
        own = re.compile(f"^(/v1/(?:encodings|similarity))/(?:{names})$")
        return {
            f"{method.upper()} {own.sub(one_for_all, path)}"
            for path, methods in document["paths"].items()
            for method in methods
            if method in ("get", "put", "post", "delete", "patch")
            if "deprecated" not in methods[method]  # an old name of another one
        }

    def send(self, asked):
        before = seconds_of(self.server)
        reply = self.server.request(*asked)
        return seconds_of(self.server) - before, reply

    def measure(self, make, size, salts):
        """The median of CPU seconds, and a request whose answer is not too long."""
        times = []
        for _ in range(ROUNDS):
            asked = make(size, f"s{next(salts)}")
            time, reply = self.send(asked)
            self.assertNotIn(reply.status, REFUSED, reply)
            self.assertLessEqual(
                len(reply.body), FACTOR * asked.size() + max(FIXED, self.plain), asked.size()
            )
            times.append(time)
        return statistics.median(times), asked.size()

    def rises(self, make, sizes, salts):
        """How far CPU time rises above what is allowed, at the worst size."""
        times = [self.measure(make, size, salts) for size in sizes]
        rises = [
            (later - RISE * earlier - NOISE, size)
            for (earlier, _), (later, size) in zip(times, times[1:])
        ]
        return max(*rises, *((time - BASE - BYTE * size, size) for time, size in times))

    def check(self, make, salts):
        """Send a shape at three sizes. On a busy machine caches are cold, so that a rise is
        measured again: what grows with a square rises every time."""
        sizes = (TARGET, 2 * TARGET, 4 * TARGET)
        for _ in range(TRIES):
            above, size = self.rises(make, sizes, salts)
            if above <= 0:
                return
        self.fail(f"{above:.3f} s of CPU too many for {size} bytes")

    def test_every_route_has_shapes(self):
        self.assertEqual(self.routes(), set(SHAPES))

    def test_answers_and_work_grow_with_the_request_and_no_faster(self):
        salts = itertools.count()
        for route, shapes in SHAPES.items():
            method, _, path = route.partition(" ")
            # what the route answers anyway, such as a document
            self.plain = len(self.server.request(method, path.partition("{")[0]).body)
            for what, make in (*shapes, *with_fields(shapes[0][1](100, "s"))):
                with self.subTest(f"{route}: {what}"):
                    self.check(make, salts)


if __name__ == "__main__":
    unittest.main()
