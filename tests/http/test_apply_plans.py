"""POST /v1/apply: what a layer of a model applies, by the model's name or its config.json."""

import io
import json
import struct
import unittest

import numpy
import torch

from test_apply_layouts import (
    F64,
    Layouts,
    file_of,
    frequencies,
    llama,
    rotate_neighbours,
    turn,
)
from test_compare import NPY, SAFETENSORS, npy


def with_config(config, key="config.json", **tables):
    """A safetensors file whose metadata has the text of a config."""
    body = file_of(**tables)
    (size,) = struct.unpack("<Q", body[:8])
    head = json.loads(body[8 : 8 + size])
    head["__metadata__"] = {key: json.dumps(config)}
    text = json.dumps(head).encode()
    return struct.pack("<Q", len(text)) + text + body[8 + size :]


class Plans(Layouts):
    def ask(self, query, body, media_type=NPY):
        if isinstance(body, numpy.ndarray):
            body = npy(body)
        return self.server.request(
            "POST", f"/v1/apply?{query}", {"Content-Type": media_type}, body
        )

    def applied(self, query, table):
        return numpy.load(io.BytesIO(self.assert_ok(self.ask(query, table)).body))

    def refused(self, parameter, query, body, text, status=422, media_type=NPY):
        problem = self.assert_problem(self.ask(query, body, media_type), status, parameter)
        self.assertIn(text, problem["detail"])

    def test_every_rotary_part_of_known_models_is_that_of_its_plan(self):
        compared = set()
        for model in self.get("/v1/models").json()["models"]:
            plan = self.get(f"/v1/models/{model['name']}?plan=true&length=6").json()
            for part in plan.get("parts", []):  # 422: it has no length
                if part["state"] != "computed" or part.get("scheme") != "rope":
                    continue
                _, query = part["request"].split("?", 1)
                values = {name: one["value"] for name, one in part["arguments"].items()}
                table = self.random.standard_normal((2, 6, values["dim"])).astype("f4")
                expected = self.array(part["scheme"], query, table)
                asked = f"model={model['name']}&part={part['name']}&length=6"
                if part["layers"]:
                    asked += f"&layer={part['layers'][-1]}"
                with self.subTest(asked):
                    numpy.testing.assert_array_equal(self.applied(asked, table), expected)
                compared.add(model["name"])
        self.assertGreater(len(compared), 20)

    def test_a_layer_of_llama(self):
        length = 4
        table, query = self.table(2, 8, length, 128)
        asked = f"length={length}&layer=3&model="
        found = self.applied(asked + "llama-3.1-8b-instruct", table)
        for name in ("llama-3.1-8b", "meta-llama/Llama-3.1-8B-Instruct"):
            numpy.testing.assert_array_equal(self.applied(asked + name, table), found)
        length = self.rows(8, 128)
        table, query = self.table(8, length, 128)
        found = self.applied(f"model=llama-3-8b&length={length}", table)
        self.check(found, llama(query, torch.arange(length, dtype=F64), 500000))

    def test_a_config_in_the_metadata_of_the_file(self):
        length = self.rows(4, 64)
        table, query = self.table(4, length, 64)
        config = {
            "model_type": "llama",
            "hidden_size": 256,
            "num_attention_heads": 4,
            "num_hidden_layers": 2,
            "rope_theta": 31000,
            "max_position_embeddings": 8192,
        }
        expected = llama(query, torch.arange(length, dtype=F64), 31000)
        for key in ("config.json", "config"):
            body = with_config(config, key, query=table)
            reply = self.assert_ok(self.ask(f"length={length}&layer=1", body, SAFETENSORS))
            self.check(
                numpy.frombuffer(reply.body[-table.nbytes :]).reshape(table.shape), expected
            )
        self.refused("layer", "length=3&layer=2", body, "use text", media_type=SAFETENSORS)
        config["num_attention_heads"] = 0
        body = with_config(config, query=table)
        self.refused(
            "num_attention_heads", "length=3", body, "attention", media_type=SAFETENSORS
        )

    def test_a_kernel_is_judged_by_what_the_layer_applies(self):
        query = "model=llama-3.1-8b&length=4&layer=3&against=mine&tolerance=0"
        table, _ = self.table(8, 4, 128)
        exact = self.applied("model=llama-3.1-8b&length=4&layer=3", table)
        for change, status in ((0, 200), (1e-9, 409)):
            kernel = exact.copy()
            kernel[2, 3, 5] += change
            reply = self.ask(query, file_of(query=table, mine=kernel), SAFETENSORS)
            self.assertEqual(reply.status, status, reply.body)
            self.assertEqual(reply.json()["differing"], int(status == 409))

    def test_layers_differ(self):
        table, query = self.table(2, 9, 128)
        for layer, base in ((0, 10000), (5, None), (6, 10000)):
            found = self.applied(f"model=gemma-3-27b&part=text&layer={layer}&length=9", table)
            expected = (
                llama(query, torch.arange(9, dtype=F64), base)
                if base
                else llama(query, torch.arange(9, dtype=F64) / 8, 1000000)
            )
            numpy.testing.assert_allclose(found, expected.numpy(), atol=1e-12)

    def test_positions_of_each_row_and_merged_heads(self):
        batch, heads, dim = 2, 32, 128
        length = self.rows(batch, heads, dim)
        table, query = self.table(batch, length, heads * dim)
        ids = self.random.integers(0, 900, (batch, length))
        reply = self.ask(
            "model=llama-3-8b&heads=32&axes=batch,length,dim",
            file_of(query=table, position_ids=ids),
            SAFETENSORS,
        )
        body = self.assert_ok(reply).body
        split = query.view(batch, length, heads, dim)
        expected = turn(split, torch.from_numpy(ids)[:, :, None], 500000).flatten(-2)
        self.check(
            numpy.frombuffer(body[-table.nbytes :]).reshape(table.shape), expected, 1e-10
        )

    def test_temperatures_and_factors_of_models(self):
        length, step = 40, 1000
        positions = torch.arange(length) * step
        table, query = self.table(2, length, 128)
        asked = f"length={length}&step={step}&query_factors=true&part=text&layer=3&model="
        found = self.applied(asked + "ministral-3-3b", table)
        plain = self.applied(
            f"length={length}&step={step}&part=text&layer=3&model=ministral-3-3b", table
        )
        factor = 1 + 0.1 * torch.log1p((positions // 16384).to(F64))[:, None]
        numpy.testing.assert_allclose(found, plain * factor.numpy(), atol=1e-12)
        found = self.applied(asked + "llama-4-scout", table)
        factor = 1 + 0.1 * torch.log1p(((positions + 1) // 8192).to(F64))[:, None]
        numpy.testing.assert_allclose(found, (query * factor).numpy(), atol=1e-12)
        self.refused(
            "layer",
            f"model=llama-4-scout&part=text&layer=3&length={length}",
            table,
            "turns nothing",
        )
        table, query = self.table(2, 5, 192)
        asked = "model=deepseek-v3&length=5&rotary_offset=128&output_layout=half"
        plain = self.applied(asked, table)
        found = self.applied(asked + "&query_factors=true", table)
        factor = (0.1 * numpy.log(40) + 1) ** 2
        numpy.testing.assert_allclose(found, plain * factor, atol=1e-12)

    def test_what_is_not_clear_is_asked_for(self):
        x = numpy.ones((2, 4, 128), "f4")
        model = "model=gemma-3-27b&length=4"
        self.refused("part", model, x, "text.full_attention, text.sliding_attention, vision")
        self.refused("part", model + "&layer=3", x, "text.sliding_attention, vision")
        self.refused("layer", model + "&part=text", x, "given, or part")
        self.refused("part", model + "&part=audio", x, "of which the model has tables")
        self.refused("length", "model=llama-3-8b", x, "length", 400)
        self.refused("model", "length=4", x, "in the metadata")
        self.refused("model", "model=lama-3.1-8b&length=4", x, "llama-3.1-8b")
        self.refused("model", "model=mamba-2.8b&length=4", x, "with positions")
        self.refused("set", "model=gpt2&length=4", x, "trained")

    def test_pairs_may_lie_as_in_other_programs_and_that_is_noted(self):
        length = self.rows(2, 128)
        table, query = self.table(2, length, 128)
        positions = torch.arange(length, dtype=F64)
        asked = f"/v1/apply?model=llama-3-8b&length={length}&axes=heads,length,dim"
        angles = (positions[:, None] * frequencies(128, 500000)).repeat_interleave(2, -1)
        other = query * angles.cos() + rotate_neighbours(query) * angles.sin()
        note = "the model's weights in transformers have layout=half"
        for layout, expected, noted in (
            ("", llama(query, positions, 500000), None),
            ("&layout=half", llama(query, positions, 500000), None),
            ("&layout=interleaved", other, note),
        ):
            reply = self.server.request(
                "POST", asked + layout, {"Content-Type": NPY}, npy(table)
            )
            self.check(numpy.load(io.BytesIO(self.assert_ok(reply).body)), expected, 1e-10)
            self.assertEqual(reply.header("Note"), noted)
        compared = self.server.request(
            "POST",
            asked + "&layout=interleaved&against=mine",
            {"Content-Type": SAFETENSORS},
            file_of(query=table, mine=other.numpy()),
        )
        self.assertLess(self.assert_ok(compared).json()["max_abs"]["error"], 1e-10)
        self.assertEqual(compared.header("Note"), note)
        self.refused("layout", f"model=llama-3-8b&length={length}&layout=x", table, "half", 400)
        stranger = self.ask("model=gpt2&set=x&length=4&layout=half", table)
        self.assert_problem(stranger, 400, "set", "layout")

    def test_what_contradicts_the_model_is_refused(self):
        x = numpy.ones((2, 4, 128), "f4")
        model = "model=llama-3-8b&length=4"
        self.refused(
            "rope_theta", model + "&rope_theta=10000", x, "or 500000, as the part text"
        )
        self.assert_ok(self.ask(model + "&rope_theta=500000", x))
        self.refused("factor", model + "&factor=2", x, "does not have it")
        self.refused("preset", model + "&preset=x", x, "does not have it")
        self.refused("lenght", model + "&lenght=4", x, 'did you mean "length"', 400)
        self.refused("layer", model + "&layer=32", x, "use text")
        full = "model=gemma-3-27b&length=4&part=text.full_attention&layer="
        self.refused("layer", full + "3", x, "use text.full_attention")
        self.assert_ok(self.ask(full + "5", x))
        self.refused("shape", model, x[..., :64].copy(), "128 along the last axis")


if __name__ == "__main__":
    unittest.main()
