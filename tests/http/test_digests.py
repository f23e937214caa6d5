"""Something to pin: Repr-Digest on complete answers (RFC 9530), the digests of tensors in files
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


class DigestCase(ServerCase):
    def digest(self, reply):
        return reply.header("Repr-Digest")

    def assert_digest(self, reply, status=200):
        self.assertEqual(reply.status, status, reply)
        self.assertEqual(self.digest(reply), field_of(reply.body), reply)
        return reply


class Answers(DigestCase):
    """What is held in memory has a digest, whoever asks."""

    def test_long_text_of_a_table_that_is_not_too_long(self):
        """The body is above 64 MiB, the table is not."""
        target = f"{SINUSOIDAL}?length=14000&dim=512&format=json"
        for headers in ({}, WANTED):
            reply = self.get(target, headers)
            self.assertGreater(len(reply.body), 64 << 20)
            expected = field_of(reply.body) if headers else None
            self.assertEqual(self.digest(reply), expected)
        self.assertEqual(self.digest(self.head(target, WANTED)), expected)

    def test_every_format_and_coding(self):
        query = "?length=70&dim=48"
        for size in (query, "?length=4000&dim=256"):  # by an event thread, and by a worker
            for name in FORMATS:
                for coding in ("identity", "gzip"):
                    with self.subTest(name, size=size, coding=coding):
                        target = f"{SINUSOIDAL}{size}&format={name}"
                        for _ in ("a miss", "a hit", "a shortcut"):
                            reply = self.get(target, {"Accept-Encoding": coding})
                            self.assert_digest(reply)

    def test_negotiated_formats_and_posts(self):
        for accept in ("application/x-npy", "text/csv", "image/png", "application/json"):
            for _ in ("a miss", "a hit"):
                reply = self.get(f"{SINUSOIDAL}?length=9&dim=6", {"Accept": accept})
                self.assert_digest(reply)
                given = {"length": 900, "dim": 300}
                self.assert_digest(self.post(SINUSOIDAL, given, {"Accept": accept}))

    def test_every_scheme_and_its_similarity(self):
        for scheme in self.get("/v1/schemes").json()["schemes"]:
            query = query_of(example(scheme))
            for root, more in (("encodings", ""), ("similarity", "&metric=l2")):
                target = f"/v1/{root}/{scheme['name']}?{query}{more}&format=safetensors"
                reply = self.get(target)
                if reply.status == 200:
                    self.assert_digest(reply)

    def test_a_part_has_the_digest_of_the_whole(self):
        for size in ("length=50&dim=10", "length=2000&dim=400"):
            for name in BINARY_FORMATS:
                target = f"{SINUSOIDAL}?{size}&format={name}&offset=7"
                part = self.get(target, {"Range": "bytes=3-70"})
                self.assertEqual(part.status, 206)
                whole = self.assert_digest(self.get(target))
                self.assertEqual(self.digest(part), self.digest(whole))
                self.assertEqual(part.body, whole.body[3:71])

    def test_head_has_what_is_known_and_what_is_asked_for(self):
        for name in FORMATS:
            for query in ("length=31&dim=22", "length=3100&dim=220"):
                with self.subTest(name, query=query):
                    target = f"{SINUSOIDAL}?{query}&format={name}&step=3"
                    self.assertIsNone(self.digest(self.head(target)))
                    computed = self.server.computed()
                    asked = self.assert_ok(self.head(target, WANTED))
                    plain = self.head(target)
                    self.assertLessEqual(self.server.computed(), computed + 1)
                    whole = self.assert_digest(self.get(target))
                    for head in (asked, plain):
                        self.assertEqual(head.body, b"")
                        self.assertEqual(self.digest(head), self.digest(whole))
                        self.assertEqual(head.header("ETag"), whole.header("ETag"))

    def test_a_304_has_none_and_a_412_that_of_its_own_body(self):
        target = f"{SINUSOIDAL}?length=5&dim=4&format=npy"
        tag = self.get(target).header("ETag")
        same = self.get(target, {"If-None-Match": tag, **WANTED})
        self.assertEqual((same.status, self.digest(same)), (304, None))
        self.assert_digest(self.get(target, {"If-Match": '"other"'}), 412)
        self.assert_digest(self.get(target, {"If-Match": tag}))

    def test_documents_and_problems(self):
        paths = (
            "/v1/schemes", "/v1/schemes/rope", "/v1/info", "/v1/models", "/openapi.json",
            "/v1/models/llama-3.1-8b?plan=true", "/health/live", "/v1/parameters",
        )  # fmt: skip
        for path in paths:
            for coding in ("identity", "gzip"):
                self.assert_digest(self.get(path, {"Accept-Encoding": coding}))
        for path, status in (("/v1/nothing", 404), (f"{SINUSOIDAL}?lenght=3", 400)):
            self.assert_digest(self.get(path), status)
        for path in ("/v1/schemes", "/v1/info", "/openapi.json"):
            whole = self.get(path)
            self.assertEqual(self.digest(self.head(path)), self.digest(whole))
        self.assertEqual(self.get("/health/live", {"Range": "bytes=0-1"}).status, 200)

    def test_answers_about_tables(self):
        table = self.get(f"{SINUSOIDAL}?length=20&dim=8&format=npy").body
        for target in ("/v1/compare/sinusoidal?length=20&dim=8", "/v1/identify"):
            self.assert_digest(self.server.request("POST", target, NPY, table))
        self.assert_digest(self.post("/v1/models?plan=true", LLAMA))

    def test_files_that_come_back_changed(self):
        table = self.get("/v1/encodings/rope?length=300&dim=64&table=full&format=safetensors")
        types = {"Content-Type": "application/vnd.safetensors"}
        for target, body in (
            ("/v1/convert/rope?from=half&to=interleaved&heads=1", table.body),
            ("/v1/apply/rope?length=50&dim=8", file_of("q", [2, 50, 8])),
            ("/v1/apply/sinusoidal?length=50&dim=8", file_of("x", [50, 8])),
        ):
            with self.subTest(target):
                plain = self.assert_ok(self.server.request("POST", target, types, body))
                self.assertIsNone(self.digest(plain))
                wish = {**types, **WANTED}
                asked = self.server.request("POST", target, wish, body)
                self.assert_digest(asked)
                self.assertEqual(asked.body, plain.body)

    def test_stored_sets(self):
        table = self.get(f"{SINUSOIDAL}?length=20&dim=8&format=safetensors").body
        put = self.server.request(
            "PUT", "/v1/parameters/own", {"Content-Type": "application/vnd.safetensors"}, table
        )
        self.assertEqual(put.status, 201)
        whole = self.assert_digest(self.get("/v1/parameters/own"))
        self.assertEqual(self.digest(self.head("/v1/parameters/own")), self.digest(whole))

    def test_batches_and_models(self):
        for name in ("safetensors", "json"):
            for _ in ("a miss", "a hit"):
                batch = {"requests": BATCH, "format": name}
                self.assert_digest(self.post("/v1/batch", batch))
                self.assert_digest(self.post(f"/v1/models?format={name}", LLAMA))
                target = f"/v1/models/llama-3.1-8b?length=40&format={name}"
                whole = self.assert_digest(self.get(target))
                self.assertEqual(self.digest(self.head(target)), self.digest(whole))
        head = self.head("/v1/models/gpt2?length=9", WANTED)
        whole = self.assert_digest(self.get("/v1/models/gpt2?length=9"))
        self.assertEqual(self.digest(head), self.digest(whole))
        coded = self.post("/v1/batch", {"requests": BATCH, "format": "json"},
                          {"Accept-Encoding": "gzip", **WANTED})  # fmt: skip
        self.assert_digest(coded)

    def test_wishes_that_ask_for_nothing(self):
        target = f"{SINUSOIDAL}?length=33&dim=12&format=npy"
        values = (
            "sha-512=10", "sha-256=0", "sha-256", "sha-256=", "sha-256=x", "SHA-256=1", "",
            "sha-256=5, sha-256=0", "xsha-256=3", "=, ,", "sha-256=000",
        )  # fmt: skip
        for value in values:
            head = self.assert_ok(self.head(target, {"Want-Repr-Digest": value}))
            self.assertIsNone(self.digest(head), value)
        for number, value in enumerate(
            ("sha-512=3 ,  sha-256=1", "sha-256=10;x", "sha-256=02")
        ):
            head = self.head(f"{target}&offset={number}", {"Want-Repr-Digest": value})
            self.assertIsNotNone(self.digest(head), value)


class LargeTables(DigestCase):
    """What is held, but larger than what is hashed for everybody."""

    flags = ("--cache-bytes", "512MiB")
    target = f"{SINUSOIDAL}?length=17000&dim=1024&format="

    def test_those_who_ask_have_it(self):
        for name in ("raw", "safetensors"):
            target = self.target + name
            for _ in ("a miss", "a hit", "a shortcut"):
                self.assertIsNone(self.digest(self.assert_ok(self.get(target))))
            part = self.get(target, {"Range": "bytes=0-9", **WANTED})
            whole = self.assert_digest(self.get(target, WANTED))
            self.assertEqual(self.digest(part), self.digest(whole))
            self.assertIn("hit", whole.header("Cache-Status"))
            self.assertEqual(self.digest(self.head(target)), self.digest(whole))
        head = self.head(f"{self.target}npy", WANTED)
        self.assertEqual(self.digest(head), field_of(self.get(f"{self.target}npy").body))
        self.assertEqual(self.server.computed(), 1)


class Streams(DigestCase):
    """What is computed as it is read has a digest for those who ask, at the price of computing
    it twice."""

    flags = ("--cache-bytes", "1MiB", "--compute-cost", "50000000")
    target = f"{SINUSOIDAL}?length=4000&dim=100&format="

    def test_a_stream_has_a_digest_once_it_was_asked_for(self):
        for name in ("npy", "safetensors", "raw", "json", "csv"):
            for coding in ("identity", "gzip"):
                if name in BINARY_FORMATS and coding == "gzip":
                    continue
                with self.subTest(name, coding=coding):
                    coded = {"Accept-Encoding": coding}
                    plain = self.assert_ok(self.get(self.target + name, coded))
                    self.assertIn("streamed", plain.header("Cache-Status"))
                    self.assertIsNone(self.digest(plain))
                    asked = self.assert_digest(
                        self.get(self.target + name, {**coded, **WANTED})
                    )
                    self.assertEqual(asked.body, plain.body)
                    self.assert_digest(self.get(self.target + name, coded))
                    head = self.head(self.target + name, coded)
                    self.assertEqual(self.digest(head), self.digest(asked))

    def test_a_part_of_a_stream(self):
        target = f"{self.target}raw&offset=5"
        bounds = {"Range": "bytes=1000-1999"}
        self.assertIsNone(self.digest(self.get(target, bounds)))
        part = self.get(target, {**bounds, **WANTED})
        whole = self.assert_digest(self.get(target))
        self.assertEqual(part.status, 206)
        self.assertEqual(part.body, whole.body[1000:2000])
        self.assertEqual(self.digest(part), self.digest(whole))
        self.assertEqual(self.digest(self.get(target, bounds)), self.digest(whole))

    def test_head_and_post_of_a_stream(self):
        head = self.assert_ok(self.head(f"{self.target}npy&offset=9", WANTED))
        whole = self.assert_digest(self.get(f"{self.target}npy&offset=9"))
        self.assertEqual(self.digest(head), self.digest(whole))
        given = {"length": 4000, "dim": 100, "offset": 11, "format": "npy"}
        self.assertIsNone(self.digest(self.post(SINUSOIDAL, given)))
        self.assert_digest(self.post(SINUSOIDAL, given, WANTED))

    def test_what_costs_too_much_goes_without(self):
        target = f"{SINUSOIDAL}?length=40000000&dim=100&format=raw"
        part = self.get(target, {"Range": "bytes=0-99", **WANTED})
        self.assertEqual((part.status, self.digest(part)), (206, None))

    def test_a_picture_is_held(self):
        self.assert_digest(self.get(f"{self.target}png"))

    def test_batches(self):
        for name in ("safetensors", "json"):
            batch = {"requests": BATCH, "format": name}
            reply = self.assert_ok(self.post("/v1/batch", batch))
            self.assertIsNone(self.digest(reply))
            asked = self.assert_digest(self.post("/v1/batch", batch, WANTED))
            self.assertEqual(asked.body, reply.body)

    def test_files_are_those_of_a_larger_server(self):
        larger = self.start()
        targets = [
            *(self.target + name for name in BINARY_FORMATS),
            "/v1/encodings/rope?length=60000&dim=128&format=safetensors",
            "/v1/models/llama-3.1-8b?length=3000",
        ]
        for target in targets:
            with self.subTest(target):
                small, large = self.get(target, WANTED), larger.request("GET", target)
                self.assertEqual(small.header("ETag"), large.header("ETag"))
                self.assertEqual(sha256(small.body), sha256(large.body))
                for bounds in ("bytes=0-99", "bytes=-1000"):
                    part = self.get(target, {"Range": bounds})
                    if part.status == 206:
                        first, last = part.header("Content-Range")[6:].split("/")[0].split("-")
                        self.assertEqual(part.body, large.body[int(first) : int(last) + 1])


class Tensors(DigestCase):
    """Files and plans state the digests of their tensors' bytes."""

    def assert_tensors(self, stated, tensors):
        self.assertTrue(tensors)
        small = {name: t for name, t in tensors.items() if len(t[2]) <= 16 << 20}
        self.assertEqual(stated, {name: sha256(data) for name, (_, _, data) in small.items()})

    def test_a_file(self):
        for query in (
            "rope?length=80&dim=32",
            "rope?length=80&dim=32&tensor=sin",
            "sinusoidal?length=1&dim=2&dtype=bf16",
            "t5?length=40&heads=3",
            "learned?length=30&dim=6&seed=4",
            "sinusoidal?length=4096&dim=1024",  # 16 MiB
            "rope?length=4097&dim=2048&table=full",  # more, with a small tensor beside
        ):
            with self.subTest(query):
                reply = self.assert_ok(self.get(f"/v1/encodings/{query}&format=safetensors"))
                metadata, tensors = read_safetensors(reply.body)
                self.assert_tensors(json.loads(metadata["sha256"]), tensors)

    def test_batches_and_models(self):
        for server in (self.server, self.start("--cache-bytes", "1MiB")):
            body = json.dumps({"requests": BATCH}).encode()
            types = {"Content-Type": "application/json"}
            reply = server.request("POST", "/v1/batch", types, body)
            metadata, tensors = read_safetensors(self.assert_ok(reply).body)
            stated = {}
            for each in BATCH:
                stated.update(json.loads(metadata[each["name"]])["sha256"])
            self.assert_tensors(stated, tensors)
            reply = server.request("POST", "/v1/models", types, json.dumps(LLAMA).encode())
            metadata, tensors = read_safetensors(self.assert_ok(reply).body)
            stated = {}
            for name, text in metadata.items():
                stated.update(json.loads(text)["sha256"])
            self.assert_tensors(stated, tensors)
            self.assertIn("text.layers", stated)

    def test_plans(self):
        for server in (self.server, self.start("--cache-bytes", "1MiB")):
            target = "/v1/models/llama-3.1-8b?length=5000"
            plan = server.request("GET", f"{target}&plan=true&digests=true").json()
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
            without = server.request("GET", f"{target}&plan=true").json()
            self.assertNotIn("sha256", json.dumps(without))

    def test_plans_without_tensors_and_wrong_wishes(self):
        plan = self.get("/v1/models/gpt2?plan=true&digests=true")
        self.assertNotIn("sha256", json.dumps(self.assert_ok(plan).json()))
        for query in ("digests=true", "plan=true&digests=true&convention=all"):
            self.assert_problem(self.get(f"/v1/models/llama-3.1-8b?{query}"), 422, "digests")


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
            reply = self.get(target)
            if reply.status == 200:
                pins[target] = (sha256(reply.body), reply.header("Repr-Digest"))
        self.assertGreater(len(pins), 200)
        for target, pin in pins.items():
            reply = after.request("GET", target)
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
