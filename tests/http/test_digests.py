"""Something to pin: the digests of tensors in files and plans, and files that are the same in
the next release."""

import hashlib
import json
import re
import shutil
import tempfile
import unittest
from pathlib import Path

from decode import read_safetensors
from registry import example, query_of
from server import BINARY, Server, ServerCase

SINUSOIDAL = "/v1/encodings/sinusoidal"
BINARY_FORMATS = ("npy", "safetensors", "raw")
FORMATS = (*BINARY_FORMATS, "json", "csv", "png")
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


JSON = {"Content-Type": "application/json"}


class Streams(ServerCase):
    """What is computed as it is read."""

    flags = ("--cache-bytes", "1MiB", "--compute-cost", "50000000")
    target = f"{SINUSOIDAL}?length=4000&dim=100&format="

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
                small, large = self.get(target), larger.request("GET", target)
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


class Tensors(ServerCase):
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
        target = "/v1/models/llama-3.1-8b?format=json&digests=true"
        self.assert_problem(self.get(target), 422, "digests")
        target = f"{SINUSOIDAL}?length=3&dim=4&format="
        self.assert_problem(self.get(f"{target}safetensors&digests=maybe"), 400, "digests")
        self.assert_problem(self.get(f"{target}npy&digests=true"), 400, "digests")
        batch = {"requests": BATCH, "format": "json", "digests": True}
        self.assert_problem(self.post("/v1/batch", batch), 422, "digests")
        batch = {"requests": BATCH, "digests": "true"}
        self.assert_problem(self.post("/v1/batch", batch), 400, "digests")


class Releases(ServerCase):
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
                pins[target] = sha256(reply.body)
        self.assertGreater(len(pins), 200)
        for target, pin in pins.items():
            reply = after.request("GET", target)
            self.assertEqual(sha256(reply.body), pin, target)
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
