"""/v1/identify: which request made a table. The rule above all: never another table than that."""

import io
import math
import random
import unittest

import numpy

from server import ServerCase
from test_compare import NPY, RAW, SAFETENSORS, npy, safetensors

F = numpy.float32


def frequencies(dim, base=10000.0):
    """As most libraries have them: powers and quotients in float32."""
    return F(1) / numpy.power(F(base), numpy.arange(0, dim, 2, dtype=F) / F(dim))


def angles(length, inverse, first=0):
    return numpy.arange(first, first + length, dtype=F)[:, None] * inverse[None]


def hugging_face(length, dim, base=10000.0, factor=1):
    table = angles(length, frequencies(dim, base) / F(factor))
    return numpy.cos(numpy.concatenate([table, table], 1))


def gpt_j(length, dim):
    return numpy.sin(angles(length, frequencies(dim)))


def interleaved(length, dim):
    return numpy.cos(numpy.repeat(angles(length, frequencies(dim)), 2, 1))


def fairseq(length, dim, first=2):
    half = dim // 2
    table = angles(length, numpy.exp(numpy.arange(half, dtype=F) * F(-(math.log(10000) / (half - 1)))), first)
    return numpy.concatenate([numpy.sin(table), numpy.cos(table)], 1)


def annotated(length, dim, scale=1.0):
    table = angles(length, numpy.exp(numpy.arange(0, dim, 2, dtype=F) * F(-(math.log(10000.0) / dim))))
    out = numpy.empty((length, dim), F)
    out[:, 0::2], out[:, 1::2] = numpy.sin(table), numpy.cos(table)
    return out * F(scale)


def in_float64(length, dim, dtype="f8"):
    table = numpy.arange(length)[:, None] / 10000 ** (2 * (numpy.arange(dim) // 2) / dim)
    table[:, 0::2], table[:, 1::2] = numpy.sin(table[:, 0::2]), numpy.cos(table[:, 1::2])
    return table.astype(dtype)


# a table as a library computes it, the scheme, and what the request must say
LIBRARIES = {
    "transformers, llama": (hugging_face(700, 64), "rope", ["length=700", "dim=64", "table=full", "tensor=cos"]),
    "transformers, theta 500000": (hugging_face(700, 128, 5e5), "rope", ["rope_theta=500000", "dim=128"]),
    "transformers, linear scaling": (hugging_face(700, 64, factor=4), "rope", ["step=0.25"]),
    "gpt-j": (gpt_j(2000, 64), "rope", ["table=half_width", "tensor=sin"]),
    "rotary_embedding_torch": (interleaved(800, 32), "rope", ["layout=interleaved"]),
    "fairseq": (fairseq(1024, 256), "sinusoidal", ["layout=concat", "frequencies=tensor2tensor", "offset=2"]),
    "the annotated transformer": (annotated(512, 128), "sinusoidal", ["length=512", "dim=128"]),
    "the same, transposed": (annotated(512, 128).T.copy(), "sinusoidal", ["length=512", "dim=128"]),
    "numpy": (in_float64(300, 64), "sinusoidal", ["length=300"]),
    "numpy in float32": (in_float64(300, 64, "f4"), "sinusoidal", ["length=300"]),
}


class Identify(ServerCase):
    def identify(self, body, query="", media_type=NPY):
        reply = self.server.request("POST", f"/v1/identify{query}", {"Content-Type": media_type}, body)
        return self.assert_ok(reply, "application/json").json()

    def refuse(self, status, parameter, *arguments):
        body, query, media_type = arguments
        reply = self.server.request("POST", f"/v1/identify{query}", {"Content-Type": media_type}, body)
        self.assert_problem(reply, status, parameter)

    def fetch(self, target):
        return numpy.load(io.BytesIO(self.assert_ok(self.get(target + "&format=npy")).body))

    def bits(self, table):
        return numpy.ascontiguousarray(table).tobytes()

    def assert_true(self, found, table):
        """What is said holds: exact is exact, and a match is as near as its arithmetic."""
        if found["status"] not in ("exact", "match"):
            return
        exact = self.fetch(found["request"]["url"])
        table = table.T if found["transposed"] else table
        self.assertEqual(exact.shape, table.shape)
        if found["status"] == "exact":
            self.assertEqual(self.bits(exact), self.bits(table), found["request"])
        else:
            self.assertIn(found["arithmetic"], ("float64", "float32"))
            bound = 1e-11 if found["arithmetic"] == "float64" else 1e-3
            self.assertLess(abs(exact.astype("f8") - table).max(), bound)

    def test_tables_of_libraries(self):
        for name, (table, scheme, said) in LIBRARIES.items():
            found = self.identify(npy(table))
            self.assertIn(found["status"], ("match", "exact"), (name, found["summary"]))
            self.assertEqual(found["request"]["scheme"], scheme, name)
            for text in said:
                self.assertIn(text, found["request"]["url"].replace("?", "&").split("&"), name)
            self.assertEqual(found["transposed"], "transposed" in name)
            self.assert_true(found, table)

    def test_own_tables_are_exact_and_nothing_else_is_said(self):
        generator = random.Random(5)
        counts = {"exact": 0, "match": 0, "near": 0, "unknown": 0}
        for _ in range(60):
            length, dim = generator.randint(30, 400), 2 * generator.randint(4, 40)
            dtype = generator.choice(["f32", "f32", "f64", "f16"])
            window = generator.choice(["", "&offset=1000", "&offset=-3.5", "&step=0.5", "&offset=70000"])
            target = generator.choice([
                f"/v1/encodings/sinusoidal?length={length}&dim={dim}" + generator.choice(["", "&layout=concat", "&base=500"]),
                f"/v1/encodings/rope?length={length}&dim={dim}&tensor={generator.choice(['cos', 'sin'])}"
                + generator.choice(["", "&table=full", "&rope_theta=500000", "&rope_type=linear&factor=4"]),
                f"/v1/encodings/integer?length={length}", f"/v1/encodings/periodic?length={length}&dim={dim}",
                f"/v1/encodings/learned?length={length}&dim={dim}"]) + window * (generator.random() < .5)
            reply = self.get(target + f"&dtype={dtype}&format=npy")
            if reply.status != 200:
                continue
            table = numpy.load(io.BytesIO(reply.body))
            found = self.identify(reply.body)
            counts[found["status"]] += 1
            self.assert_true(found, table)
        self.assertGreater(counts["exact"], 25, counts)

    def test_what_was_changed_is_no_match(self):
        generator = numpy.random.default_rng(7)
        table = hugging_face(300, 64)
        exact = self.fetch("/v1/encodings/rope?length=300&dim=64&table=full&tensor=cos")
        changed = {"an entry": table.copy(), "a row": table.copy(), "a column": table.copy(),
                   "rows": table[generator.permutation(300)], "noise": table + generator.normal(size=table.shape).astype("f4") * F(1e-3),
                   "halves": numpy.concatenate([numpy.sin(angles(300, frequencies(64))), table[:, :32]], 1) * F(1.01),
                   "random": generator.normal(size=(300, 64)).astype("f4"), "constant": numpy.ones((300, 64), "f4"),
                   "an ulp": exact.copy(), "nan": table.copy()}
        changed["an entry"][70, 3] += F(1e-3)
        changed["a row"][11] = changed["a row"][12]
        changed["a column"][:, 9] *= F(1.001)
        changed["an ulp"][200, 1] = numpy.nextafter(exact[200, 1], F(9))
        changed["nan"][5, 5] = numpy.nan
        for name, other in changed.items():
            found = self.identify(npy(other))
            self.assertNotEqual(found["status"], "exact", name)
            if name != "an ulp":  # which float32 arithmetic may give
                self.assertIn(found["status"], ("near", "unknown"), name)
            self.assert_true(found, other)
        one = self.identify(npy(changed["an entry"]))
        self.assertEqual((one["status"], one["misfits"]), ("near", 1))
        self.assertEqual(one["request"]["scheme"], "rope")

    def test_files_and_raw_elements(self):
        table = self.fetch("/v1/encodings/sinusoidal?length=64&dim=32")
        for body, query, media_type in (
                (npy(numpy.asfortranarray(table)), "", NPY),
                (safetensors({"a": ("F32", [64, 32], table.tobytes()), "b": ("F32", [2], bytes(8))}), "?file_tensor=a", SAFETENSORS),
                (table.tobytes(), "?shape=64,32&dtype=f32", RAW), (table.tobytes(), "?shape=1,64,32", RAW)):
            found = self.identify(body, query, media_type)
            self.assertEqual((found["status"], found["request"]["url"]),
                             ("exact", "/v1/encodings/sinusoidal?length=64&dim=32&tensor=encoding"))
        self.assertEqual(self.identify(npy(table), "?scheme=rope")["status"], "unknown")
        self.refuse(422, "scheme", npy(table), "?scheme=none", NPY)
        self.refuse(422, "scheme", npy(table), "?scheme=floater", NPY)
        self.refuse(400, "dim", npy(table), "?dim=4", NPY)
        self.refuse(400, "shape", table.tobytes(), "", RAW)
        self.refuse(400, "body", table.tobytes(), "?shape=64,33", RAW)
        self.refuse(400, "dtype", table.tobytes(), "?shape=64,32&dtype=f33", RAW)

    def test_every_scheme_says_whether_it_is_recognised(self):
        schemes = self.get("/v1/schemes").json()["schemes"]
        recognised = {scheme["name"] for scheme in schemes if scheme["recognised"]}
        self.assertLessEqual({"integer", "normalized", "binary", "sinusoidal", "rope"}, recognised)
        self.assertLess(len(recognised), len(schemes))


if __name__ == "__main__":
    unittest.main()
