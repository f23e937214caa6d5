"""/v1/convert/rope: weights and tables, from one pairing of rotary columns to the other."""

import io
import json
import re
import struct
import tempfile
import unittest
from pathlib import Path
from urllib.parse import quote

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

    def test_a_name_of_two_lists_is_refused_where_their_heads_differ(self):
        file, query = weights(k_proj=32), f"{HALF}&heads=8&tensors=*_proj.weight"
        for lists in ("&kv_heads=2", "&kv_heads=2&kv_tensors=*k_proj*"):
            self.refuse(422, "tensors", query + lists, file, SAFETENSORS)
        self.converted(query + "&kv_heads=8", file, SAFETENSORS)

    def test_a_blank_beside_a_name_is_refused(self):
        file = safetensors({name: ("F32", [8], bytes(32)) for name in ("cos", "sin")})
        for option in ("tensors", "kv_tensors", "qkv_tensors"):
            for names in ("cos,%20sin", "cos%20,sin", "cos,%20*n"):
                query = f"{HALF}&heads=1&kv_heads=1&qkv=stacked&{option}={names}"
                self.refuse(422, option, query, file, SAFETENSORS)

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


def weights(**rows):
    """A file of weights by the names of their projections, each with eight columns."""
    return safetensors(
        {
            f"m.{name}.weight": (
                "F32",
                [count, 8],
                numpy.arange(8 * count, dtype="f4").tobytes(),
            )
            for name, count in rows.items()
        }
    )


def with_config(config, **rows):
    file = weights(**rows)
    (size,) = struct.unpack("<Q", file[:8])
    header = {"__metadata__": {"config": json.dumps(config)}} | json.loads(file[8 : 8 + size])
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + file[8 + size :]


LLAMA = {
    "model_type": "llama",
    "hidden_size": 128,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
}
CONFIG = f"&config={quote(json.dumps(LLAMA))}"


class Models(ConvertCase):
    """What a config says of the heads, and what it must not contradict."""

    def test_three_ruined_conversions_are_refused_and_right_with_a_config(self):
        projections = {"q_proj": 128, "k_proj": 32, "v_proj": 32}
        rows = {"q_proj": 8, "k_proj": 2, "v_proj": 0}
        for query, parameter in ((BACK, "heads"), (BACK + "&heads=8", "kv_heads")):
            self.refuse(422, parameter, query, weights(**projections), SAFETENSORS)
        fused = weights(qkv_proj=192)
        for query in (BACK + "&heads=8&tensors=*qkv_proj.weight", BACK + "&heads=8"):
            self.refuse(422, "qkv", query, fused, SAFETENSORS)
        phi3 = LLAMA | {"model_type": "phi3"}
        fused = with_config(phi3, qkv_proj=192)
        moved = numpy.arange(192).reshape(12, 16)
        moved[:10] = moved[:10][:, order(16, "half")]
        for query, file, expected in (
            (BACK + CONFIG, weights(**projections), None),
            (BACK, with_config(LLAMA, **projections), None),
            (BACK, fused, {"m.qkv_proj.weight": moved.ravel()}),
        ):
            reply = self.assert_ok(self.convert(query, file, SAFETENSORS))
            expected = expected or {
                f"m.{name}.weight": (
                    numpy.arange(count).reshape(rows[name], -1)[:, order(16, "half")].ravel()
                    if rows[name]
                    else numpy.arange(count)
                )
                for name, count in projections.items()
            }
            found = tensors_of(reply.body)
            for name, places in expected.items():
                numpy.testing.assert_array_equal(
                    numpy.frombuffer(found[name], "f4").reshape(-1, 8)[:, 0] / 8, places
                )

    def test_what_is_given_must_agree_with_the_config(self):
        file = weights(q_proj=128, k_proj=32)
        for option, value, right in (
            ("heads", 4, 8),
            ("kv_heads", 8, 2),
            ("head_dim", 32, 16),
            ("rotary_dim", 8, 16),
            ("rotary_offset", 2, 0),
        ):
            problem = self.refuse(
                422, option, f"{BACK}{CONFIG}&{option}={value}", file, SAFETENSORS
            )
            self.assertIn(f"{right}, as the config", problem["detail"])
            self.assertIn(f"(given: {value})", problem["detail"])
            self.converted(f"{BACK}{CONFIG}&{option}={right}", file, SAFETENSORS)
        self.converted(f"{BACK}{CONFIG}&rotary_offset=-16", file, SAFETENSORS)
        neox = with_config(LLAMA | {"model_type": "gpt_neox"}, query_key_value=384)
        self.refuse(422, "qkv", BACK + "&qkv=stacked", neox, SAFETENSORS)
        self.converted(BACK + "&qkv=q,k,v", neox, SAFETENSORS)
        self.refuse(400, "config", BACK + CONFIG + "&model=llama-3-8b", file, SAFETENSORS)

    def test_a_file_that_does_not_fit_the_config_is_refused(self):
        for rows in ({"q_proj": 64}, {"k_proj": 128}, {"q_proj": 128, "k_proj": 40}):
            problem = self.refuse(422, "config", BACK + CONFIG, weights(**rows), SAFETENSORS)
            self.assertIn("16 columns", problem["detail"])
        self.refuse(422, "model", BACK + "&model=llama-3-8b", weights(k_proj=32), SAFETENSORS)

    def test_rows_of_each_kind_are_those_of_the_model(self):
        for model, parameter, name, right, wrong in (
            ("llama-3.1-8b", "model", "q_proj", 4096, (1024, 128)),
            ("llama-3.1-8b", "model", "k_proj", 1024, (4096, 128, 256, 384)),
            ("qwen3-8b", "model", "k_proj.lora_B", 1024, (4096,)),
            ("deepseek-v3", "model", "q_b_proj", 24576, (192, 384)),
            ("deepseek-v3", "model", "kv_a_proj_with_mqa", 576, (512, 64)),
            ("phi-4", "qkv", "qkv_proj", 7680, (7936, 128)),
            ("modernbert-base", "qkv", "Wqkv", 2304, (1024,)),
            ("gpt-j-6b", "model", "k_proj", 4096, (1024,)),
        ):
            query = f"from=half&to=interleaved&model={model}"
            self.converted(query, weights(**{name: right}), SAFETENSORS)
            for rows in wrong:
                self.refuse(422, parameter, query, weights(**{name: rows}), SAFETENSORS)
        mistral = {**LLAMA, "model_type": "mistral"}
        del mistral["num_key_value_heads"]  # whose default is another one than Llama's
        query = f"{BACK}&config={quote(json.dumps(mistral))}"
        self.converted(query, weights(k_proj=64), SAFETENSORS)
        self.refuse(422, "config", query, weights(k_proj=48), SAFETENSORS)
        query = query.replace("mistral", "llama")
        self.refuse(422, "config", query, weights(k_proj=64), SAFETENSORS)
        self.converted(query, weights(k_proj=128), SAFETENSORS)
        for rows, heads, fits in (
            (4096, 32, True),
            (1024, 8, True),
            (128, 1, True),
            (2048, 16, False),
        ):
            array = npy(numpy.zeros((rows, 1), "f4"))
            for query in ("", f"&heads={heads}"):
                reply = self.convert(f"{HALF}&model=llama-3.1-8b{query}", array)
                self.assertEqual(reply.status, 200 if fits else 422, (rows, query))
        self.converted(
            HALF + "&model=llama-3.1-8b&axis=-1", npy(numpy.zeros((2, 32, 128), "f4"))
        )

    def test_the_pairing_of_the_file_is_the_configs_unless_it_is_given(self):
        file = weights(q_proj=128, k_proj=32)
        expected = self.converted(HALF + CONFIG, file, SAFETENSORS)
        self.assertEqual(self.converted("to=interleaved" + CONFIG, file, SAFETENSORS), expected)
        problem = self.refuse(422, "from", "to=half" + CONFIG, file, SAFETENSORS)
        self.assertIn("half", problem["detail"])
        self.refuse(400, "from", "to=half&heads=8", file, SAFETENSORS)

    def test_known_models_are_taken_by_name(self):
        for model, rows in (
            ("llama-3.1-8b", {"q_proj": 4096, "k_proj": 1024}),
            ("meta-llama/Llama-3.1-8B", {"q_proj": 4096, "k_proj": 1024}),
            ("falcon-7b", {"query_key_value": 73 * 64}),
            ("phi-4", {"qkv_proj": 60 * 128}),
            ("deepseek-v3", {"q_b_proj": 128 * 192, "kv_a_proj_with_mqa": 576}),
        ):
            reply = self.assert_ok(
                self.convert(f"{BACK}&model={model}", weights(**rows), SAFETENSORS)
            )
            self.assertEqual(reply.header("Tensors-Converted"), str(len(rows)), model)
        problem = self.refuse(
            422, "model", BACK + "&model=lama-3.1-8b", weights(q_proj=8), SAFETENSORS
        )
        self.assertEqual(problem["errors"][0]["did_you_mean"], "llama-3.1-8b")
        self.refuse(422, "model", BACK + "&model=bert-base", weights(q_proj=8), SAFETENSORS)
        self.converted(f"{BACK}&model=llama-3-8b", npy(numpy.zeros((1024, 3), "f4")))

    def test_metadata_of_something_else_is_no_config_where_heads_are_given(self):
        file = with_config({"name": "mine"}, q_proj=128, k_proj=128)
        self.refuse(422, "model_type", BACK, file, SAFETENSORS)
        self.converted(BACK + "&heads=8", file, SAFETENSORS)
        for text in ("llama-3-8b", "%7Bno"):
            self.refuse(400, "config", f"{BACK}&config={text}", file, SAFETENSORS)

    def test_heads_of_two_kinds_are_refused(self):
        gemma4 = {"model_type": "gemma4_text", "num_attention_heads": 8, "num_hidden_layers": 6}
        self.refuse(
            422, "config", BACK, with_config(gemma4, q_proj=2048, k_proj=512), SAFETENSORS
        )


class Files(ConvertCase):
    """Which tensors of a file are converted, and which columns of them."""

    def count(self, query, file):
        return self.assert_ok(self.convert(query, file, SAFETENSORS)).header(
            "Tensors-Converted"
        )

    def test_the_answer_says_how_many_were_converted(self):
        other = weights(o_proj=128)
        for query in (BACK + "&heads=8", BACK + "&heads=8&tensors=no", BACK + CONFIG):
            reply = self.assert_ok(self.convert(query + "&none=allow", other, SAFETENSORS))
            self.assertEqual(reply.header("Tensors-Converted"), "0")
            self.assertEqual(reply.body, other)
        self.assertEqual(
            self.count(BACK + "&heads=8", weights(q_proj=128, k_proj=128, v_proj=128)), "2"
        )
        reply = self.assert_ok(
            self.convert(BACK + "&heads=8", npy(numpy.zeros((32, 2), "f4")), NPY)
        )
        self.assertEqual(reply.header("Tensors-Converted"), "1")

    def test_a_file_of_which_nothing_is_converted_is_refused(self):
        """With the first names that were looked for, and the nearest that was found."""
        for query, names, said in (
            ("&heads=8&tensors=a.q_porj.weight", ["n", "a.q_proj.weight"], "a.q_proj.weight,"),
            ("&heads=8", ["m.o_proj.weight"], "m.o_proj.weight, and no *q_proj.weight, *k_p"),
            ("&heads=8", ["n", "h.0.attn.query_proj.weight"], "it has h.0.attn.query_proj.w"),
            ("&heads=8&kv_tensors=x.qk,y", ["n", "x.qq"], "x.qq, and no *q_proj.weight, x.qk,"),
            ("&heads=8", ["zzz"], "it has zzz"),
            ("&heads=8", ["q_proj.lora_A.weight"], "it has q_proj.lora_A.weight"),
            ("&heads=8", [], "it has none"),
            (CONFIG, ["visual.q_proj.weight"], "beside a config not those of towers"),
        ):
            file = safetensors(
                {name: ("F32", [128, 2], bytes(1024)) for name in names},
                __metadata__={"format": "pt"},
            )
            problem = self.refuse(422, "tensors", BACK + query, file, SAFETENSORS)
            self.assertIn(said, problem["detail"])
            self.assertIn("none=allow", problem["detail"])
            self.assertNotIn("did_you_mean", problem)
            reply = self.converted(BACK + query + "&none=allow", file, SAFETENSORS)
            self.assertEqual(reply, file)
        self.refuse(400, "none", BACK + "&none=yes", weights(q_proj=8), SAFETENSORS)
        array = npy(numpy.zeros((8, 2), "f4"))
        self.refuse(400, "none", BACK + "&heads=1&none=allow", array)

    def test_a_key_alone_needs_its_own_heads(self):
        self.refuse(422, "kv_heads", BACK + "&heads=8", weights(k_proj=32), SAFETENSORS)
        for query in ("&heads=8&kv_heads=2", "&head_dim=16", "&heads=8&head_dim=16"):
            self.assertEqual(self.count(BACK + query, weights(k_proj=32)), "1")

    def test_head_dim_and_heads_must_not_contradict_each_other(self):
        file = weights(q_proj=128, k_proj=32)
        self.converted(BACK + "&head_dim=16&heads=8&kv_heads=2", file, SAFETENSORS)
        for query, parameter in (
            ("&head_dim=16&heads=4", "heads"),
            ("&head_dim=16&kv_heads=4", "kv_heads"),
            ("&head_dim=48", "head_dim"),
            ("&head_dim=1", "head_dim"),
        ):
            self.refuse(422, parameter, BACK + query, file, SAFETENSORS)
        self.refuse(422, "head_dim", BACK + "&head_dim=31", weights(q_proj=31), SAFETENSORS)

    def test_norms_go_with_the_projections_that_they_follow(self):
        for shape, heads in (([16], 1), ([128], 8), ([8, 16], 8)):
            count = int(numpy.prod(shape))
            norm = numpy.arange(count, dtype="f4")
            body = safetensors(
                {
                    "m.q_norm.weight": ("F32", shape, norm.tobytes()),
                    "m.q_proj.weight": ("F32", [128, 2], bytes(1024)),
                }
            )
            found = tensors_of(self.converted(BACK + "&heads=8", body, SAFETENSORS))
            numpy.testing.assert_array_equal(
                numpy.frombuffer(found["m.q_norm.weight"], "f4"),
                norm.reshape(heads, 16)[:, order(16, "half")].ravel(),
            )
            alone = safetensors({"m.q_norm.weight": ("F32", shape, norm.tobytes())})
            self.refuse(422, "head_dim", BACK + "&heads=8", alone, SAFETENSORS)
            self.converted(BACK + "&head_dim=16", alone, SAFETENSORS)
        wrong = safetensors(
            {
                "m.k_norm.weight": ("F32", [24], bytes(96)),
                "m.q_proj.weight": ("F32", [128, 2], bytes(1024)),
            }
        )
        self.refuse(422, "kv_tensors", BACK + "&heads=8", wrong, SAFETENSORS)

    def test_scales_of_rows_move_with_their_weight_and_those_of_blocks_are_refused(self):
        scales = numpy.arange(128, dtype="f4")

        def file(shape):
            return safetensors(
                {
                    "m.q_proj.weight": ("F8_E4M3", [128, 2], bytes(256)),
                    "m.q_proj.weight_scale": ("F32", shape, scales[: shape[0]].tobytes()),
                    "m.v_proj.weight_scale": ("F32", shape, scales[: shape[0]].tobytes()),
                }
            )

        found = tensors_of(self.converted(BACK + "&heads=8", file([128, 1]), SAFETENSORS))
        numpy.testing.assert_array_equal(
            numpy.frombuffer(found["m.q_proj.weight_scale"], "f4"),
            scales.reshape(8, 16)[:, order(16, "half")].ravel(),
        )
        self.assertEqual(found["m.v_proj.weight_scale"], scales.tobytes())
        self.assertEqual(self.count(BACK + "&heads=8", file([1])), "1")
        problem = self.refuse(422, "tensors", BACK + "&head_dim=16", file([16]), SAFETENSORS)
        self.assertIn("q_proj", problem["detail"])

    def test_heads_of_another_kind_stay(self):
        text = {"model.layers.0.self_attn.q_proj.weight": ("F32", [128, 2], bytes(1024))}
        others = {
            "vision_tower.layers.0.self_attn.q_proj.weight": ("F32", [128, 2], bytes(1024)),
            "model.layers.0.self_attn.indexer.wk.weight": ("F32", [128, 2], bytes(1024)),
        }
        file = safetensors(text | others)
        self.assertEqual(self.count(BACK + CONFIG, file), "1")
        self.assertEqual(self.count(BACK + "&heads=8", file), "2")
        self.assertEqual(self.count(BACK + CONFIG + "&tensors=*.q_proj.weight", file), "2")

    def test_rotary_columns_may_lie_anywhere(self):
        weight = numpy.arange(20 * 3, dtype="i4").reshape(20, 3)
        places = numpy.r_[0:2, 2 + order(6, "interleaved"), 8:10]
        expected = weight.reshape(2, 10, 3)[:, places].reshape(20, 3)
        for offset in (2, -8):
            numpy.testing.assert_array_equal(
                self.array(f"{HALF}&heads=2&rotary_dim=6&rotary_offset={offset}", weight),
                expected,
            )
        places = numpy.r_[0:6, 6 + order(4, "interleaved")]
        expected = weight.reshape(2, 10, 3)[:, places].reshape(20, 3)
        for query in ("rotary_offset=-4", "rotary_offset=6"):
            numpy.testing.assert_array_equal(
                self.array(f"{HALF}&heads=2&{query}", weight), expected
            )
        for query in (
            "rotary_offset=10",
            "rotary_offset=-12",
            "rotary_offset=3",
            "rotary_dim=6&rotary_offset=-4",
        ):
            self.refuse(422, "rotary_offset", f"{HALF}&heads=2&{query}", npy(weight))

    def test_latents_are_not_taken_for_heads(self):
        file = weights(q_b_proj=48, kv_a_proj_with_mqa=40)
        self.refuse(422, "rotary_offset", HALF + "&heads=2", file, SAFETENSORS)
        self.refuse(422, "rotary_offset", HALF + "&heads=2&rotary_dim=8", file, SAFETENSORS)
        for query in ("rotary_offset=-8", "rotary_offset=-8&rotary_dim=8"):
            found = tensors_of(self.converted(f"{HALF}&heads=2&{query}", file, SAFETENSORS))
            for name, heads in (("q_b_proj", 2), ("kv_a_proj_with_mqa", 1)):
                rows = numpy.frombuffer(found[f"m.{name}.weight"], "f4").reshape(heads, -1, 8)
                expected = numpy.arange(rows.size).reshape(rows.shape)
                width = rows.shape[1]
                places = numpy.r_[0 : width - 8, width - 8 + order(8, "interleaved")]
                numpy.testing.assert_array_equal(rows, expected[:, places])

    def test_an_array_without_a_name_is_no_latent(self):
        config = {"model_type": "deepseek_v3", "qk_rope_head_dim": 64}
        model = f"{BACK}&config={quote(json.dumps(config))}"
        latent, query = npy(numpy.zeros((576, 2), "f4")), npy(numpy.zeros((960, 2), "f4"))
        self.refuse(422, "heads", model, latent)
        self.refuse(422, "config", model + "&heads=5", latent)
        self.converted(model + "&heads=5", query)
        self.refuse(422, "model", BACK + "&model=deepseek-v3", latent)
        self.converted(BACK + "&heads=1&rotary_offset=-64", latent)

    def test_values_in_a_fused_tensor_stay_wherever_they_are(self):
        for qkv, query, period, still in (
            ("stacked", "heads=4&kv_heads=2", 8, (6, 7)),
            ("stacked", "heads=4&head_dim=8", 8, (6, 7)),
            ("stacked", "kv_heads=2&head_dim=8", 8, (6, 7)),
            ("grouped", "heads=4&kv_heads=2", 4, (3,)),
            ("by_head", "heads=4", 3, (2,)),
            ("by_head", "head_dim=8", 3, (2,)),
            ("v,q,k", "heads=3", 3, (0,)),
            ("q2,v2,k2", "heads=4", 6, (2, 3)),
            ("k,v,q", "kv_heads=2", 3, (1,)),
        ):
            heads = 8 if period in (4, 8) else 12
            for axis, shape in ((0, (heads * 8, 3)), (-1, (5, heads * 8))):
                table = numpy.arange(numpy.prod(shape), dtype="i4").reshape(shape)
                split = numpy.moveaxis(table, axis, 0).reshape(heads, 8, -1).copy()
                if qkv in ("v,q,k", "k,v,q"):
                    split = split[: 9 if qkv[0] == "v" else 6]
                    table = (
                        table[: split.shape[0] * 8]
                        if axis == 0
                        else table[:, : split.shape[0] * 8]
                    )
                expected = split.copy()
                for head in range(split.shape[0]):
                    if head % period not in still:
                        expected[head] = split[head][order(8, "half")]
                expected = numpy.moveaxis(
                    expected.reshape(-1, table.shape[1 if axis == 0 else 0]), 0, axis
                )
                numpy.testing.assert_array_equal(
                    self.array(
                        f"{BACK}&qkv={qkv}&{query}&axis={axis}", numpy.ascontiguousarray(table)
                    ),
                    expected,
                    f"{qkv} {query} {axis}",
                )

    def test_orders_that_do_not_fit_are_refused(self):
        file = weights(qkv_proj=192)
        for query, parameter in (
            ("qkv=stack", "qkv"),
            ("qkv=q,k", "qkv"),
            ("qkv=q,k,q", "qkv"),
            ("qkv=q0,k,v", "qkv"),
            ("qkv=q,k,v,", "qkv"),
            ("qkv=q99999999999999999999,k,v", "qkv"),
            ("qkv=stacked", "heads"),
            ("qkv=stacked&heads=8", "kv_heads"),
            ("qkv=stacked&heads=7&kv_heads=2", "qkv"),
            ("qkv=grouped&heads=8&kv_heads=3", "qkv"),
            ("qkv=by_head&heads=8&kv_heads=2", "qkv"),
            ("qkv=by_head&heads=8&head_dim=16", "qkv"),
            ("qkv=q4,k,v&heads=6", "qkv"),
            ("qkv=q,k,v", "heads"),
            ("qkv=stacked&head_dim=16&heads=12", "qkv"),
        ):
            self.refuse(422, parameter, f"{BACK}&{query}", file, SAFETENSORS)
        self.refuse(400, "qkv", f"{BACK}&qkv=", file, SAFETENSORS)

    def test_heads_longer_than_memory_at_once_are_read_entry_by_entry(self):
        weight = numpy.arange(6 * 8 * 20000, dtype="u2").reshape(48, 20000)
        expected = weight.reshape(6, 8, 20000).copy()
        for head in (0, 1, 3, 4):
            expected[head, 2:] = expected[head, 2:][order(6, "half")]
        numpy.testing.assert_array_equal(
            self.array(BACK + "&qkv=by_head&heads=2&rotary_offset=2", weight),
            expected.reshape(48, 20000),
        )


def shaped(shapes):
    """A file of numbers 0, 1 … in tensors of these shapes, and the same as arrays."""
    arrays = {
        name: numpy.arange(numpy.prod(shape), dtype="f4").reshape(shape)
        for name, shape in shapes.items()
    }
    parts = {name: ("F32", [*array.shape], array.tobytes()) for name, array in arrays.items()}
    return safetensors(parts), arrays


HEADS = "&heads=8&kv_heads=2"


class Related(ConvertCase):
    """What goes with a weight: its rows move as the weight's do, or it is refused by name."""

    def assert_moved(self, shapes, moved, query=HEADS):
        """Those of `moved` have their 128 or 32 rows in another order, the others stay."""
        file, arrays = shaped(shapes)
        reply = self.assert_ok(self.convert(BACK + query, file, SAFETENSORS))
        found = tensors_of(reply.body)
        for name, array in arrays.items():
            expected = array
            if name in moved:
                rows = array.reshape(len(array) // 16, 16, -1)
                expected = rows[:, order(16, "half")].reshape(array.shape)
            self.assertEqual(found[name], expected.tobytes(), name)
        self.assertEqual(reply.header("Tensors-Converted"), str(len(moved)))

    def test_adapters_are_converted_without_their_weights(self):
        for query, key, inputs, outputs in (
            ("q_proj", "k_proj", "lora_A.weight", "lora_B.weight"),
            ("wq", "wk", "lora_a.weight", "lora_b.weight"),
            ("q_proj", "k_proj", "lora_A.default.weight", "lora_B.default.weight"),
            ("q_proj", "k_proj", "lora_down.weight", "lora_up.weight"),
            ("to_q", "to_k", "lora.down.weight", "lora.up.weight"),
            ("blk.0.attn_q.weight", "blk.0.attn_k.weight", "lora_a", "lora_b"),
            ("q_proj", "k_proj", "hada_w1_b", "hada_w1_a"),
        ):
            for prefix in ("", "base_model.model.model.layers.11.self_attn."):
                names = [f"{prefix}{module}." for module in (query, key)]
                shapes = {
                    names[0] + inputs: (4, 128),
                    names[0] + outputs: (128, 4),
                    names[1] + inputs: (32, 128),  # as many ranks as the key has rows
                    names[1] + outputs: (32, 4),
                    prefix + "v_proj." + outputs: (32, 4),
                    names[0] + "alpha": (),
                }
                moved = {names[0] + outputs, names[1] + outputs}
                self.assert_moved(shapes, moved)
                self.assert_moved(shapes, moved, "&head_dim=16")
                self.assert_moved(shapes, moved, CONFIG)

    def test_all_that_has_rows_moves_with_its_weight(self):
        for weight, shape in (("q_proj.weight", (128, 8)), ("q_proj.weight_packed", (128, 1))):
            for name, rest in (
                ("q_proj.bias", ()),
                ("q_proj.lora_B.bias", ()),
                ("q_proj.lora_magnitude_vector", ()),
                ("q_proj.lora_magnitude_vector.default.weight", ()),
                ("q_proj.magnitude", ()),
                ("q_proj.dora_scale", (1,)),
                ("q_proj.ia3_l", (1,)),
                ("q_proj.weight_scale", (1,)),
                ("q_proj.weight_scale_inv", (1,)),
                ("q_proj.weight_zero_point", (2,)),
                ("q_proj.scales", (4,)),
                ("q_proj.biases", (4,)),
                ("q_proj.SCB", ()),
                ("q_proj.base_layer.bias", ()),
            ):
                self.assert_moved({weight: shape, name: (128, *rest)}, {weight, name})
        self.assert_moved({"q_proj.base_layer.weight": (128, 3)}, {"q_proj.base_layer.weight"})
        adapter = "linear_qkv.adapter.linear_out.weight"
        file, arrays = shaped(
            {adapter: (192, 3), "linear_qkv.adapter.linear_in.weight": (3, 9)}
        )
        query = BACK + HEADS + "&qkv=stacked"
        moved = numpy.frombuffer(
            tensors_of(self.converted(query, file, SAFETENSORS))[adapter], "f4"
        ).reshape(12, 16, 3)
        whole = arrays[adapter].reshape(12, 16, 3)
        numpy.testing.assert_array_equal(moved[:10], whole[:10][:, order(16, "half")])
        numpy.testing.assert_array_equal(moved[10:], whole[10:])

    def test_what_has_no_rows_stays(self):
        for name, shape in (
            ("q_proj.lora_A.weight", (128, 8)),
            ("q_proj.input_scale", (128,)),
            ("q_proj.weight_scale", ()),
            ("q_proj.weight_scale", (1, 1)),
            ("q_proj.weight_shape", (2,)),
            ("q_proj.g_idx", (8,)),
            ("q_proj.layer_norm_weight", (8,)),
            ("q_proj._extra_state", (7,)),
            ("q_proj_other.weight", (128, 2)),
            ("v_proj.weight_scale", (128, 2)),
        ):
            self.assert_moved({"q_proj.weight": (128, 8), name: shape}, {"q_proj.weight"})
        file, _ = shaped({"query": (128, 8), "query_positions": (128,), "query_scale": (128,)})
        found = self.assert_ok(self.convert(BACK + "&heads=8&tensors=query", file, SAFETENSORS))
        self.assertEqual(found.header("Tensors-Converted"), "2")

    def test_what_is_not_known_to_have_rows_is_refused_by_name(self):
        for name, shape, others in (
            ("q_proj.qweight", (1, 128), {}),
            ("q_proj.qzeros", (1, 16), {}),
            ("q_proj.scales", (128, 4), {}),  # beside no weight
            ("k_proj.weight.absmax", (8,), {"k_proj.weight": (512, 1)}),
            ("k_proj.weight.quant_state.bitsandbytes__nf4", (9,), {"k_proj.weight": (512, 1)}),
            ("q_proj.weight_scale_inv", (2, 2), {"q_proj.weight": (128, 8)}),
            ("q_proj.weight_zero_point", (16, 2), {"q_proj.weight_packed": (128, 2)}),
            ("q_proj.lora_B.weight", (64, 2), {"q_proj.weight": (128, 8)}),
            ("q_proj.bias", (64,), {"q_proj.weight": (128, 8)}),
            ("q_proj.lokr_w1", (16, 2), {}),
            ("q_proj.W_q", (64, 2), {}),
            ("q_proj.oft_r.default.weight", (2, 6), {}),
        ):
            file, _ = shaped({"v_proj.weight": (3, 3), **others, name: shape})
            query = BACK + HEADS + "&head_dim=16"
            problem = self.refuse(422, "tensors", query, file, SAFETENSORS)
            self.assertIn(f"without {name[0]}_proj.weight: {name} is", problem["detail"])
            problem = self.refuse(422, "tensors", query + "&none=allow", file, SAFETENSORS)
            lists = "&tensors=no&kv_tensors=no&none=allow"
            self.assertEqual(self.converted(query + lists, file, SAFETENSORS), file)

    def test_names_of_any_letters_are_told(self):
        """A name that a message cuts inside a character is no lack of memory."""
        for start in ("", "x"):
            file, _ = shaped({start + "é" * 60 + ".q_proj.qweight": (2, 128)})
            problem = self.refuse(422, "tensors", BACK + HEADS, file, SAFETENSORS)
            self.assertIn(f"without {start}éé", problem["detail"])
            file, _ = shaped({start + "é" * 150 + ".q_proj.lora_B.weight": (128, 2)})
            self.converted(BACK + HEADS, file, SAFETENSORS)

    def test_rows_of_an_adapter_are_heads(self):
        for name, parameter in (("q_proj.lora_B.weight", "heads"), ("q_proj.bias", "heads")):
            file, _ = shaped({name: (60, 2)})
            self.refuse(422, parameter, BACK + HEADS, file, SAFETENSORS)
            file, _ = shaped({name: (64, 2)})
            self.refuse(422, "config", BACK + CONFIG, file, SAFETENSORS)
            self.refuse(422, parameter, BACK, file, SAFETENSORS)

    def test_names_of_llama_cpp_are_known(self):
        shapes = {
            "blk.0.attn_q.weight": (128, 3),
            "blk.0.attn_q.bias": (128,),
            "blk.0.attn_k.weight": (32, 3),
            "blk.0.attn_k_norm.weight": (16,),
        }
        others = {"blk.0.attn_v.weight": (32, 3), "blk.0.attn_output.weight": (128, 128)}
        self.assert_moved(shapes | others, set(shapes))
        self.assert_moved(shapes | others, set(shapes), CONFIG)
        fused = {"blk.0.attn_qkv.weight": (192, 2)}
        self.refuse(422, "qkv", BACK + HEADS, shaped(fused)[0], SAFETENSORS)
        latent = {"blk.0.attn_q_b.weight": (48, 3), "blk.0.attn_kv_a_mqa.weight": (40, 3)}
        self.refuse(422, "rotary_offset", BACK + "&heads=2", shaped(latent)[0], SAFETENSORS)
        own = {"layers.0.attn.wq_b.weight": (48, 3), "layers.0.attn.wkv_a.weight": (40, 3)}
        for file in (latent, own):
            query = BACK + "&heads=2&rotary_offset=-8"
            found = self.assert_ok(self.convert(query, shaped(file)[0], SAFETENSORS))
            self.assertEqual(found.header("Tensors-Converted"), "2")

    def test_kernels_of_jax_have_their_heads_last(self):
        for name, shape in (
            ("params/decoder/layers_0/{}/kernel", (3, "h", 16)),
            ("params.decoder.layers.{}.kernel", (3, 5, "h", 16)),  # MaxText, scanned
            ("layers_0/{}/kernel_lora_b", (4, "h", 16)),
            ("layers.0.{}_proj.kernel", (4, "h", 16)),
            ("attention/{}/bias", ("h", 16)),
            ("attention.{}.bias", (5, "h", 16)),
        ):
            modules = ("q", "k") if "_proj" in name else ("query", "key")
            shapes = {
                name.format(module): tuple(heads if n == "h" else n for n in shape)
                for module, heads in zip(modules, (8, 2))
            }
            file, arrays = shaped(shapes)
            for query in ("&head_dim=16", HEADS, CONFIG):
                reply = self.assert_ok(self.convert(BACK + query, file, SAFETENSORS))
                for each, array in arrays.items():
                    self.assertEqual(
                        tensors_of(reply.body)[each],
                        array[..., order(16, "half")].tobytes(),
                        (each, query),
                    )
            for query in ("", "&heads=4&kv_heads=1", "&head_dim=32"):
                name = "head_dim" if "dim" in query else "heads"
                problem = self.refuse(422, name, BACK + query, file, SAFETENSORS)
                if query:
                    self.assertIn("16 columns of the last axis", problem["detail"])

    def test_a_bias_has_the_heads_of_the_kernel_beside_it(self):
        file, arrays = shaped({"l.q_proj.bias": (4, 16), "l.q_proj.kernel": (8, 4, 16)})
        found = tensors_of(self.converted(HALF + "&heads=4", file, SAFETENSORS))
        for name, array in arrays.items():
            self.assertEqual(found[name], array[..., order(16, "interleaved")].tobytes(), name)

    def test_a_stack_of_kernels_with_one_axis_of_heads_needs_the_axis(self):
        name = "layers/q_proj/kernel"
        file, arrays = shaped({name: (3, 8, 64)})
        self.refuse(422, "heads", HALF + "&heads=4", file, SAFETENSORS)
        found = tensors_of(self.converted(HALF + "&heads=4&axis=-1", file, SAFETENSORS))
        heads = arrays[name].reshape(3, 8, 4, 16)[..., order(16, "interleaved")]
        self.assertEqual(found[name], heads.tobytes())

    def test_kernels_of_two_axes_are_transposed_weights(self):
        for query, key in (("q_proj", "k_proj"), ("wq", "wk")):
            names = f"layers.0.{query}.kernel", f"layers/0/{key}/kernel"
            file, arrays = shaped({names[0]: (8, 128), names[1]: (8, 32)})
            for asked in (HEADS, "&head_dim=16", CONFIG):
                found = tensors_of(self.converted(BACK + asked, file, SAFETENSORS))
                for name, array in arrays.items():
                    heads = array.reshape(8, -1, 16)[..., order(16, "half")]
                    self.assertEqual(found[name], heads.tobytes())
            self.refuse(422, "heads", BACK, file, SAFETENSORS)
            named = {f"a.kernel_b.{query}.weight": (128, 3)}
            self.assert_moved(named, set(named))
            wrong, _ = shaped({names[0]: (128, 64)})
            self.refuse(422, "config", BACK + CONFIG, wrong, SAFETENSORS)
            found = tensors_of(self.converted(BACK + "&axis=0&head_dim=8", file, SAFETENSORS))
            numpy.testing.assert_array_equal(
                numpy.frombuffer(found[names[0]], "f4").reshape(8, 128),
                arrays[names[0]][order(8, "half")],
            )


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
