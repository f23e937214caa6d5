"""/v1/convert/rope: weights and tables, from one pairing of rotary columns to the other."""

import io
import json
import re
import struct
import tempfile
import unittest
from pathlib import Path

import numpy

from faults import SANITIZED
from server import ServerCase
from test_compare import NPY, RAW, SAFETENSORS, npy, safetensors

HALF, BACK = "from=half&to=interleaved", "from=interleaved&to=half"


def order(width, to):
    """The columns of the other pairing in the order of `to`."""
    halves = numpy.arange(width).reshape(2, -1)
    return (
        halves.T.ravel()
        if to == "interleaved"
        else numpy.arange(width).reshape(-1, 2).T.ravel()
    )


def tensors_of(file):
    """{name: bytes} of a safetensors file."""
    (size,) = struct.unpack("<Q", file[:8])
    header = json.loads(file[8 : 8 + size])
    return {
        name: file[8 + size + value["data_offsets"][0] : 8 + size + value["data_offsets"][1]]
        for name, value in header.items()
        if name != "__metadata__"
    }


def rotate(x, angles, pairing):
    """x [..., length, dim] turned by angles [length, dim/2]."""
    first, second = (
        (x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :])
        if pairing == "half"
        else (x[..., ::2], x[..., 1::2])
    )
    one, other = first * numpy.cos(angles) - second * numpy.sin(angles), second * numpy.cos(
        angles
    ) + first * numpy.sin(angles)
    if pairing == "half":
        return numpy.concatenate([one, other], -1)
    return numpy.stack([one, other], -1).reshape(x.shape)


class ConvertCase(ServerCase):
    def convert(self, query, body, media_type=NPY):
        return self.server.request(
            "POST", f"/v1/convert/rope?{query}", {"Content-Type": media_type}, body
        )

    def converted(self, query, body, media_type=NPY):
        reply = self.assert_ok(self.convert(query, body, media_type))
        self.assertEqual(reply.header("Content-Type"), media_type)
        return reply.body

    def array(self, query, table):
        return numpy.load(io.BytesIO(self.converted(query, npy(table))))

    def refuse(self, status, parameter, *arguments):
        return self.assert_problem(self.convert(*arguments), status, parameter)


class Convert(ConvertCase):
    def test_rows_of_a_weight_move_head_by_head(self):
        weight = numpy.arange(24 * 5, dtype="f4").reshape(24, 5)
        expected = weight.reshape(3, 8, 5)[:, order(8, "interleaved")].reshape(24, 5)
        numpy.testing.assert_array_equal(self.array(HALF + "&heads=3", weight), expected)
        numpy.testing.assert_array_equal(self.array(BACK + "&heads=3", expected), weight)
        numpy.testing.assert_array_equal(
            self.array(HALF + "&heads=3", numpy.asfortranarray(weight)), expected
        )
        numpy.testing.assert_array_equal(
            self.array(HALF + "&heads=3", weight.astype(">f8")), expected
        )
        numpy.testing.assert_array_equal(
            self.array(HALF + "&heads=3", weight[:, 0]), expected[:, 0]
        )
        self.assertEqual(self.converted("from=half&to=half&heads=3", npy(weight)), npy(weight))

    def test_columns_beyond_rotary_dim_stay(self):
        weight = numpy.arange(20 * 3, dtype="i8").reshape(20, 3)
        places = numpy.r_[order(6, "interleaved"), 6:10]
        expected = weight.reshape(2, 10, 3)[:, places].reshape(20, 3)
        numpy.testing.assert_array_equal(
            self.array(HALF + "&heads=2&rotary_dim=6", weight), expected
        )

    def test_tables_of_one_layout_become_those_of_the_other(self):
        for tensor in ("cos", "sin"):
            half, interleaved = (
                self.assert_ok(
                    self.get(
                        f"/v1/encodings/rope?length=300&dim=64&table=full&tensor={tensor}"
                        f"&layout={layout}&format=npy"
                    )
                ).body
                for layout in ("half", "interleaved")
            )
            self.assertEqual(self.converted(HALF + "&axis=-1", half), interleaved)
            self.assertEqual(self.converted(BACK + "&axis=1", interleaved), half)

    def test_there_and_back_gives_the_same_bytes(self):
        generator = numpy.random.default_rng(5)
        for shape, heads, axis, rotary in (
            ((640, 7), 5, 0, 0),
            ((3, 70, 2), 7, 1, 4),
            ((2, 3, 4096), 32, -1, 64),
            ((96,), 2, 0, 30),
            ((1200, 3000), 4, 0, 0),
        ):
            table = generator.integers(0, 65536, shape).astype("u2")
            query = f"&heads={heads}&axis={axis}" + (f"&rotary_dim={rotary}" if rotary else "")
            there = self.converted(HALF + query, npy(table))
            self.assertNotEqual(there, npy(table))
            self.assertEqual(self.converted(BACK + query, there), npy(table))

    def test_converted_projections_give_the_same_scores(self):
        generator = numpy.random.default_rng(1)
        heads, kv_heads, dim, width, length = 6, 2, 16, 32, 9
        weights = {
            "q": generator.normal(size=(heads * dim, width)),
            "k": generator.normal(size=(kv_heads * dim, width)),
            "qb": generator.normal(size=heads * dim),
            "kb": generator.normal(size=kv_heads * dim),
        }
        names = {
            "q": "layers.0.q_proj.weight",
            "k": "layers.0.k_proj.weight",
            "qb": "layers.0.q_proj.bias",
            "kb": "layers.0.k_proj.bias",
        }
        file = safetensors(
            {
                names[key]: ("F64", list(value.shape), value.tobytes())
                for key, value in weights.items()
            }
        )
        found = tensors_of(
            self.converted(f"{HALF}&heads={heads}&kv_heads={kv_heads}", file, SAFETENSORS)
        )
        moved = {
            key: numpy.frombuffer(found[names[key]]).reshape(weights[key].shape)
            for key in weights
        }
        x = generator.normal(size=(length, width))
        angles = numpy.arange(length)[:, None] * 10000.0 ** (-numpy.arange(dim // 2) * 2 / dim)

        def scores(parts, pairing):
            query = (x @ parts["q"].T + parts["qb"]).reshape(length, heads, dim).swapaxes(0, 1)
            key = (
                (x @ parts["k"].T + parts["kb"])
                .reshape(length, kv_heads, dim)
                .swapaxes(0, 1)
                .repeat(heads // kv_heads, 0)
            )
            return rotate(query, angles, pairing) @ rotate(key, angles, pairing).swapaxes(
                -1, -2
            )

        numpy.testing.assert_allclose(
            scores(moved, "interleaved"), scores(weights, "half"), rtol=1e-12, atol=1e-11
        )
        self.assertGreater(
            abs(scores(weights, "interleaved") - scores(weights, "half")).max(), 1
        )

    def test_other_tensors_and_the_header_pass_byte_for_byte(self):
        generator = numpy.random.default_rng(2)
        parts = {
            "embed": ("F8_E4M3", [7, 3], generator.bytes(21)),
            "a.q_proj.weight": ("F8_E4M3", [8, 3], generator.bytes(24)),
            "a.v_proj.weight": ("BF16", [8, 3], generator.bytes(48)),
            "a.k_proj.weight": ("I4X", [4, 5], generator.bytes(80)),
        }
        file = safetensors(parts, __metadata__={"format": "pt"})
        changed = self.converted(HALF + "&heads=2&kv_heads=1", file, SAFETENSORS)
        size = 8 + struct.unpack("<Q", file[:8])[0]
        self.assertEqual(changed[:size], file[:size])
        found = tensors_of(changed)
        for name in ("embed", "a.v_proj.weight"):
            self.assertEqual(found[name], parts[name][2])
        query = numpy.frombuffer(parts["a.q_proj.weight"][2], "u1").reshape(2, 4, 3)[
            :, order(4, "interleaved")
        ]
        key = numpy.frombuffer(parts["a.k_proj.weight"][2], "u1").reshape(4, 20)[
            order(4, "interleaved")
        ]
        self.assertEqual(found["a.q_proj.weight"], query.tobytes())
        self.assertEqual(found["a.k_proj.weight"], key.tobytes())
        self.assertEqual(
            self.converted(BACK + "&heads=2&kv_heads=1", changed, SAFETENSORS), file
        )

    def test_tensors_are_named_or_fit_a_pattern(self):
        data = numpy.arange(8, dtype="f4")
        moved = data[order(8, "interleaved")].tobytes()
        file = safetensors(
            {name: ("F32", [8], data.tobytes()) for name in ("cos", "sin", "x.cos", "cosine")}
        )
        for patterns, expected in (
            ("cos", {"cos"}),
            ("cos,sin", {"cos", "sin"}),
            ("*cos", {"cos", "x.cos"}),
            ("*o*", {"cos", "x.cos", "cosine"}),
            ("*", {"cos", "sin", "x.cos", "cosine"}),
            ("*.*s", {"x.cos"}),
            ("c*i*e,", {"cosine"}),
            ("*s*n*,nosuch", {"sin", "cosine"}),
            ("**x**s,cos*s", {"x.cos"}),
            ("cos*e,co*os,cos*ine", {"cosine"}),
        ):
            found = tensors_of(
                self.converted(f"{HALF}&heads=1&tensors={patterns}", file, SAFETENSORS)
            )
            self.assertEqual(
                {name for name, content in found.items() if content == moved},
                expected,
                patterns,
            )

    def test_a_list_has_few_patterns_and_any_number_of_names(self):
        file = safetensors({"cos": ("F32", [8], bytes(32))})
        patterns = ",".join(f"*{number}" for number in range(64))
        names = ",".join(f"n{number}" for number in range(900))
        self.converted(f"{HALF}&heads=1&tensors={patterns},{names},cos", file, SAFETENSORS)
        for option, others in (("tensors", ""), ("kv_tensors", "&tensors=cos")):
            query = f"{HALF}&heads=1{others}&{option}={patterns},*64"
            reply = self.server.request(
                "POST", f"/v1/convert/rope?{query}", {"Content-Type": SAFETENSORS}, file
            )
            self.assert_problem(reply, 422, option)

    def test_a_conversion_that_contradicts_itself_is_refused(self):
        def file(**rows):
            return safetensors(
                {
                    f"m.{name}_proj.weight": ("F32", [count, 8], bytes(32 * count))
                    for name, count in rows.items()
                }
            )

        problem = self.refuse(422, "heads", HALF, file(q=128, k=128), SAFETENSORS)
        self.assertIn("missing", problem["detail"])
        self.refuse(422, "heads", HALF, npy(numpy.zeros((128, 8), "f4")))
        for query in ("heads=8", "heads=8&kv_heads=4", "heads=8&kv_heads=8"):
            problem = self.refuse(
                422, "kv_heads", f"{HALF}&{query}", file(q=128, k=32), SAFETENSORS
            )
            for word in ("2,", "q_proj", "k_proj", "16", "kv_heads"):
                self.assertIn(word, problem["detail"])
        self.converted(f"{HALF}&heads=8&kv_heads=2", file(q=128, k=32), SAFETENSORS)
        self.refuse(422, "heads", f"{HALF}&heads=8&kv_heads=2", file(k=32, q=64), SAFETENSORS)
        self.converted(f"{HALF}&kv_heads=2&heads=1&tensors=no", file(k=32), SAFETENSORS)
        self.converted(f"{HALF}&axis=-1", npy(numpy.zeros((128, 8), "f4")))


class LongBodies(ConvertCase):
    """Bodies beyond 1 MiB lie in files of --spool-dir, from which the answer is read."""

    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.flags = ("--spool-dir", directory.name)
        super().setUpClass()

    def peak(self):
        status = Path(f"/proc/{self.server.pid}/status").read_text()
        return 1024 * int(re.search(r"VmHWM:\s+(\d+)", status)[1])

    def test_they_take_no_memory(self):
        weight = numpy.random.default_rng(3).integers(0, 2**32, (8192, 1024), dtype="u4")
        body, before = npy(weight), self.peak()
        expected = weight.reshape(64, 128, 1024)[:, order(128, "interleaved")].reshape(
            8192, 1024
        )
        self.assertEqual(self.converted(HALF + "&heads=64", body), npy(expected))
        self.assertEqual(self.converted(BACK + "&heads=64", npy(expected)), body)
        if not SANITIZED:  # which holds freed memory back
            self.assertLess(self.peak() - before, 16 << 20)


class Refusals(ConvertCase):
    def test_what_is_wrong_is_named(self):
        weight = npy(numpy.zeros((24, 5), "f4"))
        self.refuse(400, "from", "to=half&heads=3", weight)
        self.refuse(400, "to", "from=half", weight)
        self.refuse(400, "from", "from=halves&to=half", weight)
        for status, parameter, query in (
            (422, "heads", "heads=5"),
            (422, "heads", "heads=24"),
            (422, "heads", "heads=8"),
            (422, "heads", "heads=0"),
            (422, "rotary_dim", "heads=3&rotary_dim=10"),
            (422, "rotary_dim", "heads=3&rotary_dim=3"),
            (422, "axis", "heads=3&axis=2"),
            (422, "axis", "heads=3&axis=-3"),
            (400, "kv_heads", "heads=3&kv_heads=3"),
            (400, "tensors", "tensors=q"),
            (400, "head", "head=3"),
        ):
            self.refuse(status, parameter, f"{HALF}&{query}", weight)
        problem = self.refuse(400, "kvheads", HALF + "&kvheads=3", weight)
        self.assertEqual(problem["errors"][0]["did_you_mean"], "kv_heads")

    def test_files_that_are_none_and_names_that_are_not_there(self):
        self.refuse(400, "body", HALF + "&heads=1", b"no npy file")
        self.refuse(400, "body", HALF + "&heads=1", b"{}", SAFETENSORS)
        self.assert_problem(self.convert(HALF + "&heads=1", b"\0" * 16, RAW), 415)
        file = safetensors({"wq": ("F32", [4], bytes(16))})
        self.assertIn(
            "wq", str(self.refuse(422, "tensors", HALF + "&heads=1", file, SAFETENSORS))
        )
        self.refuse(422, "tensors", HALF + "&heads=1&tensors=w", file, SAFETENSORS)
        self.refuse(422, "heads", HALF + "&tensors=wq&heads=3", file, SAFETENSORS)
        for shape, offsets in (
            ([5], [0, 16]),
            ([0], [0, 16]),
            ([4], [0, 32]),
            ([4], [16, 16]),
            ([2**62, 2**62], [0, 16]),
        ):
            text = json.dumps(
                {"wq": {"dtype": "F32", "shape": shape, "data_offsets": offsets}}
            ).encode()
            self.refuse(
                400,
                "wq",
                HALF + "&tensors=wq&axis=-1",
                struct.pack("<Q", len(text)) + text + bytes(16),
                SAFETENSORS,
            )
        self.refuse(400, "body", HALF + "&heads=1&tensors=wq", file + b"\0", SAFETENSORS)
        text = json.dumps(
            {name: {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]} for name in "ab"}
        ).encode()
        self.refuse(
            400,
            "data_offsets",
            HALF + "&heads=1&tensors=*",
            struct.pack("<Q", len(text)) + text + bytes(16),
            SAFETENSORS,
        )


if __name__ == "__main__":
    unittest.main()
