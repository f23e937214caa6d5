"""Something to pin: Repr-Digest for those who ask (RFC 9530), the digests of tensors in files
and plans, and files that are the same in the next release."""

import base64
import hashlib
import json
import math
import re
import shutil
import struct
import tempfile
import unittest
from pathlib import Path

from decode import pack, read_safetensors
from registry import example, query_of
from server import BINARY, Server, ServerCase

SINUSOIDAL = "/v1/encodings/sinusoidal"
BINARY_FORMATS = ("npy", "safetensors", "raw")
FORMATS = (*BINARY_FORMATS, "json", "csv", "png")
WANTED = {"Want-Repr-Digest": "sha-256=10"}
NPY = {"Content-Type": "application/x-npy"}
LLAMA = {
    "model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
    "num_hidden_layers": 3, "rope_theta": 500000.0, "max_position_embeddings": 128,
}  # fmt: skip
BATCH = [
    {"name": "a", "scheme": "rope", "length": 300, "dim": 64},
    {"name": "b", "scheme": "alibi", "length": 70, "heads": 8, "tensor": "bias"},
    {"name": "c", "scheme": "sinusoidal", "length": 3000, "dim": 120},
]


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def file_of(name, shape):
    """A safetensors file of one tensor, f32."""
    count = math.prod(shape)
    entry = {"dtype": "F32", "shape": shape, "data_offsets": [0, 4 * count]}
    head = json.dumps({name: entry}).encode()
    return struct.pack("<Q", len(head)) + head + pack("f32", [i / 7 for i in range(count)])


def field_of(data):
    """Repr-Digest of these bytes."""
    return f"sha-256=:{base64.b64encode(hashlib.sha256(data).digest()).decode()}:"


SAFETENSORS = {"Content-Type": "application/vnd.safetensors"}
JSON = {"Content-Type": "application/json"}


class DigestCase(ServerCase):
    def digest(self, reply):
        return reply.header("Repr-Digest")

    def assert_digest(self, reply, status=200):
        self.assertEqual(reply.status, status, reply)
        self.assertEqual(self.digest(reply), field_of(reply.body), reply)
        return reply

    def assert_on_request(self, method, target, fields=None, body=None, status=200):
        """Those who ask have the digest of the same answer, and nobody else."""
        fields = fields or {}
        plain = self.server.request(method, target, fields, body)
        self.assertEqual((plain.status, self.digest(plain)), (status, None), plain)
        asked = self.server.request(method, target, {**fields, **WANTED}, body)
        self.assert_digest(asked, status)
        if plain.header("Cache-Control") != "no-store" or method == "POST":
            self.assertEqual(asked.body, plain.body)
        if method == "GET":
            head = self.head(target, {**fields, **WANTED})
            self.assertEqual((head.status, head.body), (status, b""))
            if plain.header("Cache-Control") != "no-store":
                self.assertEqual(self.digest(head), self.digest(asked), target)
            self.assertIsNone(self.digest(self.head(target, fields)))
        return asked


class Routes(DigestCase):
    """Every route has a digest for those who ask."""

    WITHOUT = {  # their answers have no body
        ("delete", "/v1/sets/{name}"),
    }

    def exchanges(self):
        """One of each route: the path in the OpenAPI document, method, target, fields, body."""
        table = self.get(f"{SINUSOIDAL}?length=20&dim=8&format=npy").body
        rotary = self.get("/v1/encodings/rope?length=30&dim=8&table=full&format=safetensors")
        query = file_of("q", [2, 50, 8])
        kept = self.get(f"{SINUSOIDAL}?length=20&dim=8&format=safetensors").body
        given = json.dumps({"length": 40, "dim": 6}).encode()
        alike = json.dumps({"length": 40, "dim": 6, "metric": "dot"}).encode()
        pair = json.dumps({"first": LLAMA, "second": LLAMA}).encode()
        config = json.dumps(LLAMA).encode()
        model = {**SAFETENSORS}
        yield "put /v1/sets/{name}", "/v1/sets/own", SAFETENSORS, kept
        yield "get /v1/schemes", "/v1/schemes", {}, None
        yield "get /v1/schemes/{scheme}", "/v1/schemes/rope", {}, None
        yield "get /v1/encodings/{scheme}", f"{SINUSOIDAL}?length=40&dim=6", {}, None
        yield "post /v1/encodings/{scheme}", SINUSOIDAL, JSON, given
        distances = "/v1/similarity/rope?length=9&dim=8&metric=l2"
        yield "get /v1/similarity/{scheme}", distances, {}, None
        yield "post /v1/similarity/{scheme}", "/v1/similarity/sinusoidal", JSON, alike
        batch = json.dumps({"requests": BATCH}).encode()
        yield "post /v1/batch", "/v1/batch", JSON, batch
        compared = "/v1/compare/sinusoidal?length=20&dim=8"
        yield "post /v1/compare/{scheme}", compared, NPY, table
        yield "post /v1/identify", "/v1/identify", NPY, table
        yield "get /v1/identify", "/v1/identify?set=own", {}, None
        converted = "/v1/convert/rope?from=half&to=interleaved&axis=-1&tensors=cos,sin"
        yield "post /v1/convert/rope", converted, SAFETENSORS, rotary.body
        yield "post /v1/apply/{scheme}", "/v1/apply/rope?length=50&dim=8", SAFETENSORS, query
        applied = "/v1/apply?model=llama-3.1-8b&length=5"
        yield "post /v1/apply", applied, model, file_of("q", [32, 5, 128])
        yield "get /v1/models", "/v1/models", {}, None
        yield "post /v1/models", "/v1/models?format=safetensors", JSON, config
        yield "get /v1/models/{model}", "/v1/models/gpt2?format=safetensors", {}, None
        yield "post /v1/models/compare", "/v1/models/compare", JSON, pair
        yield "get /v1/sets", "/v1/sets", {}, None
        yield "get /v1/sets/{name}", "/v1/sets/own", {}, None
        for path in ("/v1/info", "/openapi.json", "/health/live", "/health/ready", "/metrics"):
            yield f"get {path}", path, {}, None
        for path in ("/", "/docs"):
            yield f"get {path}", path, {}, None

    def test_every_route(self):
        seen = set()
        for name, target, fields, body in self.exchanges():
            with self.subTest(name):
                method = name.split()[0].upper()
                if method == "PUT":  # the second one replaces the first
                    put = {**fields, **WANTED}
                    self.assert_digest(self.server.request(method, target, put, body), 201)
                else:
                    self.assert_on_request(method, target, fields, body)
                seen.add(tuple(name.split()))
        for path, methods in self.get("/openapi.json").json()["paths"].items():
            of_scheme = path.startswith("/v1/encodings/") and "{" not in path
            if of_scheme or path.startswith(("/assets", "/v1/parameters")):
                continue
            for method in set(methods) & {"get", "post", "put", "delete"}:
                if (method, path) not in self.WITHOUT:
                    self.assertIn((method, path), seen)


class Answers(DigestCase):
    """What is held in memory is hashed for those who ask, once."""

    def test_every_format_and_coding(self):
        query = "?length=70&dim=48"
        for size in (query, "?length=4000&dim=256"):  # by an event thread, and by a worker
            for name in FORMATS:
                for coding in ("identity", "gzip"):
                    with self.subTest(name, size=size, coding=coding):
                        target = f"{SINUSOIDAL}{size}&format={name}"
                        fields = {"Accept-Encoding": coding}
                        for _ in ("a miss", "a hit", "a shortcut"):
                            self.assert_on_request("GET", target, fields)

    def test_long_text_of_a_table_that_is_not_too_long(self):
        """The body is above 64 MiB, the table is not."""
        target = f"{SINUSOIDAL}?length=14000&dim=512&format=json"
        reply = self.assert_digest(self.get(target, WANTED))
        self.assertGreater(len(reply.body), 64 << 20)
        self.assertEqual(self.digest(self.head(target, WANTED)), self.digest(reply))

    def test_negotiated_formats_and_posts(self):
        for accept in ("application/x-npy", "text/csv", "image/png", "application/json"):
            for _ in ("a miss", "a hit"):
                target = f"{SINUSOIDAL}?length=9&dim=6"
                self.assert_on_request("GET", target, {"Accept": accept})
                given = json.dumps({"length": 900, "dim": 300}).encode()
                self.assert_on_request("POST", SINUSOIDAL, {**JSON, "Accept": accept}, given)

    def test_every_scheme_and_its_similarity(self):
        for scheme in self.get("/v1/schemes").json()["schemes"]:
            query = query_of(example(scheme))
            for root, more in (("encodings", ""), ("similarity", "&metric=l2")):
                target = f"/v1/{root}/{scheme['name']}?{query}{more}&format=safetensors"
                reply = self.get(target, WANTED)
                if reply.status == 200:
                    self.assert_digest(reply)

    def test_a_part_has_the_digest_of_the_whole(self):
        for size in ("length=50&dim=10", "length=2000&dim=400"):
            for name in BINARY_FORMATS:
                target = f"{SINUSOIDAL}?{size}&format={name}&offset=7"
                part = self.get(target, {"Range": "bytes=3-70", **WANTED})
                self.assertEqual(part.status, 206)
                whole = self.assert_digest(self.get(target, WANTED))
                self.assertEqual(self.digest(part), self.digest(whole))
                self.assertEqual(part.body, whole.body[3:71])
                self.assertIsNone(self.digest(self.get(target, {"Range": "bytes=3-70"})))

    def test_head_computes_the_table_once(self):
        for name in FORMATS:
            for query in ("length=31&dim=22", "length=3100&dim=220"):
                with self.subTest(name, query=query):
                    target = f"{SINUSOIDAL}?{query}&format={name}&step=3"
                    computed = self.server.computed()
                    self.assertIsNone(self.digest(self.head(target)))
                    self.assertEqual(self.server.computed(), computed)
                    head = self.assert_ok(self.head(target, WANTED))
                    whole = self.assert_digest(self.get(target, WANTED))
                    self.assertLessEqual(self.server.computed(), computed + 1)
                    self.assertEqual(self.digest(head), self.digest(whole))
                    self.assertEqual(head.header("ETag"), whole.header("ETag"))

    def test_a_304_has_none_and_a_412_that_of_its_own_body(self):
        target = f"{SINUSOIDAL}?length=5&dim=4&format=npy"
        tag = self.get(target).header("ETag")
        same = self.get(target, {"If-None-Match": tag, **WANTED})
        self.assertEqual((same.status, self.digest(same)), (304, None))
        self.assert_digest(self.get(target, {"If-Match": '"other"', **WANTED}), 412)
        self.assert_digest(self.get(target, {"If-Match": tag, **WANTED}))

    def test_problems(self):
        for path, status in (("/v1/nothing", 404), (f"{SINUSOIDAL}?lenght=3", 400)):
            self.assert_on_request("GET", path, status=status)

    def test_formats_of_batches_and_models(self):
        for name in ("safetensors", "json"):
            for _ in ("a miss", "a hit"):
                batch = json.dumps({"requests": BATCH, "format": name}).encode()
                self.assert_on_request("POST", "/v1/batch", JSON, batch)
                config = json.dumps(LLAMA).encode()
                self.assert_on_request("POST", f"/v1/models?format={name}", JSON, config)
                target = f"/v1/models/llama-3.1-8b?length=40&format={name}"
                self.assert_on_request("GET", target)
        coded = json.dumps({"requests": BATCH, "format": "json"}).encode()
        self.assert_on_request("POST", "/v1/batch", {**JSON, "Accept-Encoding": "gzip"}, coded)

    def test_applied_files_of_other_schemes(self):
        target = "/v1/apply/sinusoidal?length=50&dim=8"
        self.assert_on_request("POST", target, SAFETENSORS, file_of("x", [50, 8]))

    def test_wishes_that_ask_for_nothing(self):
        target = f"{SINUSOIDAL}?length=33&dim=12&format=npy"
        values = (
            "sha-512=10", "sha-256=0", "sha-256", "sha-256=", "sha-256=x", "SHA-256=1", "",
            "sha-256=5, sha-256=0", "xsha-256=3", "=, ,", "sha-256=000",
            # malformed as a whole (RFC 9651), or no preference (RFC 9530)
            "sha-256=5,", ", sha-256=5", "sha-256=5 sha-512=3", "sha-256=5, =3", "sha-256 =5",
            "sha-256=5, SHA-512=3", "sha-256=5;", "sha-256=5;x=", "sha-256=5; X", "sha-256= 5",
            "sha-256=11", "sha-256=-1", "sha-256=1.5", "sha-256=?1", 'sha-256="5"',
            "sha-256=5, sha-512", "sha-256=1000000000000000", "sha-256=5;;a",
        )  # fmt: skip
        for value in values:
            head = self.assert_ok(self.head(target, {"Want-Repr-Digest": value}))
            self.assertIsNone(self.digest(head), value)
        for value in (
            "sha-512=3 ,\tsha-256=1", "sha-256=10;x", "sha-256=02", "sha-256=0, sha-256=3",
            " sha-256=5", "sha-256=5; a=b-1;*c", "unixsum=0,sha-256=7",
        ):  # fmt: skip
            head = self.head(target, {"Want-Repr-Digest": value})
            self.assertIsNotNone(self.digest(head), value)


class LargeTables(DigestCase):
    """A large body is hashed once, by a worker."""

    flags = ("--cache-bytes", "512MiB")
    target = f"{SINUSOIDAL}?length=17000&dim=1024&format="

    def test_those_who_ask_have_it(self):
        for name in ("raw", "safetensors"):
            target = self.target + name
            whole = self.assert_on_request("GET", target)
            self.assertIn("hit", whole.header("Cache-Status"))
            part = self.get(target, {"Range": "bytes=0-9", **WANTED})
            self.assertEqual(self.digest(part), self.digest(whole))
        self.assertEqual(self.server.computed(), 1)


class Streams(DigestCase):
    """What is computed as it is read is computed twice for its digest."""

    flags = ("--cache-bytes", "1MiB", "--compute-cost", "50000000")
    target = f"{SINUSOIDAL}?length=4000&dim=100&format="

    def test_every_format_and_coding(self):
        for name in FORMATS:
            for coding in ("identity", "gzip"):
                with self.subTest(name, coding=coding):
                    fields = {"Accept-Encoding": coding}
                    reply = self.assert_on_request("GET", self.target + name, fields)
                    self.assertIn("streamed", reply.header("Cache-Status"))

    def test_a_part_of_a_stream(self):
        target = f"{self.target}raw&offset=5"
        bounds = {"Range": "bytes=1000-1999"}
        self.assertIsNone(self.digest(self.get(target, bounds)))
        part = self.get(target, {**bounds, **WANTED})
        whole = self.assert_digest(self.get(target, WANTED))
        self.assertEqual(part.status, 206)
        self.assertEqual(part.body, whole.body[1000:2000])
        self.assertEqual(self.digest(part), self.digest(whole))

    def test_post_of_a_stream(self):
        given = {"length": 4000, "dim": 100, "offset": 11, "format": "npy"}
        self.assert_on_request("POST", SINUSOIDAL, JSON, json.dumps(given).encode())

    def test_what_costs_too_much_goes_without(self):
        target = f"{SINUSOIDAL}?length=40000000&dim=100&format=raw"
        part = self.get(target, {"Range": "bytes=0-99", **WANTED})
        self.assertEqual((part.status, self.digest(part)), (206, None))

    def test_batches(self):
        for name in ("safetensors", "json"):
            batch = json.dumps({"requests": BATCH, "format": name}).encode()
            self.assert_on_request("POST", "/v1/batch", JSON, batch)

    def test_files_are_those_of_a_larger_server(self):
        larger = self.start()
        targets = [
            *(self.target + name for name in BINARY_FORMATS),
            f"{self.target}safetensors&digests=true",
            "/v1/encodings/rope?length=60000&dim=128&format=safetensors&digests=true",
            "/v1/models/llama-3.1-8b?length=3000&format=safetensors&digests=true",
        ]
        for target in targets:
            with self.subTest(target):
                small, large = self.get(target, WANTED), larger.request("GET", target)
                self.assertEqual(small.header("ETag"), large.header("ETag"))
                self.assertEqual(sha256(small.body), sha256(large.body))
                self.assertEqual(
                    int(self.head(target).header("Content-Length")), len(large.body)
                )
                for bounds in ("bytes=0-99", "bytes=-1000"):
                    part = self.get(target, {"Range": bounds})
                    if part.status == 206:
                        first, last = part.header("Content-Range")[6:].split("/")[0].split("-")
                        self.assertEqual(part.body, large.body[int(first) : int(last) + 1])


class Tensors(DigestCase):
    """Files and plans state the digests of their tensors' bytes with digests=true."""

    def assert_tensors(self, stated, tensors):
        self.assertTrue(tensors)
        self.assertEqual(stated, {name: sha256(data) for name, (_, _, data) in tensors.items()})

    def test_a_file(self):
        for query in (
            "rope?length=80&dim=32",
            "rope?length=80&dim=32&tensor=sin",
            "sinusoidal?length=1&dim=2&dtype=bf16",
            "t5?length=40&heads=3",
            "learned?length=30&dim=6&seed=4",
            "rope?length=4097&dim=2048&table=full",  # 32 MiB
        ):
            with self.subTest(query):
                target = f"/v1/encodings/{query}&format=safetensors"
                self.assertNotIn("sha256", read_safetensors(self.get(target).body)[0])
                reply = self.assert_ok(self.get(f"{target}&digests=true"))
                metadata, tensors = read_safetensors(reply.body)
                self.assert_tensors(json.loads(metadata["sha256"]), tensors)

    def test_batches_and_models(self):
        for server in (self.server, self.start("--cache-bytes", "1MiB")):
            plain = json.dumps({"requests": BATCH, "digests": False}).encode()
            self.assertNotIn(b"sha256", server.request("POST", "/v1/batch", JSON, plain).body)
            body = json.dumps({"requests": BATCH, "digests": True}).encode()
            reply = server.request("POST", "/v1/batch", JSON, body)
            metadata, tensors = read_safetensors(self.assert_ok(reply).body)
            stated = {}
            for each in BATCH:
                stated.update(json.loads(metadata[each["name"]])["sha256"])
            self.assert_tensors(stated, tensors)
            target = "/v1/models?format=safetensors&digests=true"
            reply = server.request("POST", target, JSON, json.dumps(LLAMA).encode())
            metadata, tensors = read_safetensors(self.assert_ok(reply).body)
            stated = {}
            for name, text in metadata.items():
                stated.update(json.loads(text)["sha256"])
            self.assert_tensors(stated, tensors)
            self.assertIn("text.layers", stated)

    def test_plans(self):
        for server in (self.server, self.start("--cache-bytes", "1MiB")):
            target = "/v1/models/llama-3.1-8b?length=5000"
            plan = server.request("GET", f"{target}&digests=true").json()
            _, tensors = read_safetensors(
                server.request("GET", f"{target}&format=safetensors").body
            )
            stated = {
                tensor["name"]: (tensor["sha256"], tensor["bytes"])
                for part in plan["parts"]
                for tensor in part["tensors"]
            }
            tensors.pop("text.layers")
            self.assertEqual(
                stated, {name: (sha256(t[2]), len(t[2])) for name, t in tensors.items()}
            )
            without = server.request("GET", target).json()
            self.assertNotIn("sha256", json.dumps(without))

    def test_plans_without_tensors_and_wrong_wishes(self):
        plan = self.get("/v1/models/gpt2?plan=true&digests=true")
        self.assertNotIn("sha256", json.dumps(self.assert_ok(plan).json()))
        for query in ("format=json&digests=true", "plan=true&digests=true&convention=all"):
            self.assert_problem(self.get(f"/v1/models/llama-3.1-8b?{query}"), 422, "digests")
        target = f"{SINUSOIDAL}?length=3&dim=4&format="
        self.assert_problem(self.get(f"{target}safetensors&digests=maybe"), 400, "digests")
        self.assert_problem(self.get(f"{target}npy&digests=true"), 400, "digests")
        batch = {"requests": BATCH, "format": "json", "digests": True}
        self.assert_problem(self.post("/v1/batch", batch), 422, "digests")
        batch = {"requests": BATCH, "digests": "true"}
        self.assert_problem(self.post("/v1/batch", batch), 400, "digests")


class Releases(DigestCase):
    """The same program under another number."""

    NUMBER = re.compile(rb"(?<![\d.])(\d+\.\d+\.\d+)(?![\d.])")

    def start_next(self):
        """A server whose program has another release number of the same length."""
        number = self.get("/v1/info").json()["version"].encode()
        other = bytes(b ^ 1 if chr(b).isdigit() else b for b in number)
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        program = Path(folder, "posenc-server")
        shutil.copy(BINARY, program)
        content = program.read_bytes()
        self.assertIn(number, content)
        program.write_bytes(
            self.NUMBER.sub(lambda found: other if found[1] == number else found[1], content)
        )
        server = Server(*self.flags, binary=str(program))
        self.addCleanup(server.stop)
        self.assertEqual(server.request("GET", "/v1/info").json()["version"].encode(), other)
        return server

    def test_a_pinned_script_survives_a_change_of_release(self):
        after = self.start_next()
        targets = [
            f"/v1/{root}{scheme['name']}?{query_of(example(scheme))}&format={name}{more}"
            for scheme in self.get("/v1/schemes").json()["schemes"]
            for root, more in (("encodings/", ""), ("similarity/", "&metric=l2"))
            for name in FORMATS
        ]
        targets += [
            f"/v1/models/llama-3.1-8b?length=50&format={n}" for n in ("json", "safetensors")
        ]
        pins = {}
        for target in targets:
            reply = self.get(target, WANTED)
            if reply.status == 200:
                pins[target] = (sha256(reply.body), reply.header("Repr-Digest"))
        self.assertGreater(len(pins), 200)
        for target, pin in pins.items():
            reply = after.request("GET", target, WANTED)
            self.assertEqual((sha256(reply.body), reply.header("Repr-Digest")), pin, target)
            if "models" not in target:
                tag = self.head(target).header("ETag")
                same = after.request("GET", target, {"If-None-Match": tag})
                self.assertEqual(same.status, 304, target)
        for name in ("safetensors", "json"):
            body = json.dumps({"requests": BATCH, "format": name}).encode()
            types = {"Content-Type": "application/json"}
            before, later = (
                server.request("POST", "/v1/batch", types, body)
                for server in (self.server, after)
            )
            self.assertEqual(sha256(before.body), sha256(later.body))


if __name__ == "__main__":
    unittest.main()
