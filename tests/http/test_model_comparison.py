"""POST /v1/models/compare: where two descriptions of a model differ."""

import base64
import json
import math
import unittest

import gguf_file
from server import ServerCase
from test_model_files import LLAMA_CONFIG as LLAMA

BYTES, JSON = {"Content-Type": "application/octet-stream"}, {"Content-Type": "application/json"}
LINEAR = {"rope_type": "linear", "factor": 4.0}


class ModelComparison(ServerCase):
    def ask(self, body, status=200, target="/v1/models/compare", headers=JSON):
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        reply = self.server.request("POST", target, headers, text)
        self.assertEqual(reply.status, status, reply.body[:600])
        return reply.json()

    def differences(self, first, second, **options):
        answer = self.ask({"first": first, "second": second}, **options)
        self.assertEqual(answer["equal"], not answer["differences"])
        return answer, [(each["part"], each["about"]) for each in answer["differences"]]

    def test_what_is_spelt_in_two_ways_is_equal(self):
        nested = {key: value for key, value in LLAMA.items() if key != "rope_theta"}
        nested["rope_parameters"] = {"rope_theta": 500000.0, "rope_type": "default"}
        for other in (LLAMA, nested, LLAMA | {"head_dim": 128, "vocab_size": 7}):
            answer, found = self.differences(LLAMA, other)
            self.assertEqual(found, [], answer)
            self.assertEqual(answer["tables"], [])

    def test_a_forgotten_scaling_is_found_with_the_place_of_its_error(self):
        answer, found = self.differences(LLAMA, LLAMA | {"rope_scaling": LINEAR})
        self.assertEqual(found, [("text", "rope_type"), ("text", "factor")])
        table = {each["tensor"]: each for each in answer["tables"]}["cos"]
        self.assertEqual(table["first_position"], 1)
        position = table["at_position"]
        angles = [position * 500000 ** (-2 * i / 128) for i in range(64)]
        wanted = max(abs(math.cos(angle) - math.cos(angle / 4)) for angle in angles)
        self.assertAlmostEqual(table["largest_error"], wanted, 9)

    def test_rows_past_the_length_of_one_are_a_difference(self):
        """The first question of a fine-tune for long contexts."""
        brief = LLAMA | {"max_position_embeddings": 32768}
        brief.pop("rope_scaling", None)
        answer, found = self.differences(brief, brief | {"max_position_embeddings": 131072})
        self.assertEqual(found, [("text", "positions")])
        (difference,) = answer["differences"]
        self.assertEqual((difference["first"], difference["second"]), (32768, 131072))
        self.assertIn("from position 32768 on are past the length of the first", str(answer))
        answer, _ = self.differences(brief, brief | {"rope_scaling": LINEAR})
        self.assertEqual(answer["tables"][0]["at_position"] < 32768, True)
        yarn = {"rope_type": "yarn", "factor": 4.0}
        scaled = brief | {"max_position_embeddings": 131072, "rope_scaling": yarn}
        scaled["rope_scaling"] = yarn | {"original_max_position_embeddings": 32768}
        answer, found = self.differences(brief, scaled)
        self.assertIn(("text", "positions"), found)
        self.assertIn("argument factor is absent in the first and 4 in the second", str(answer))

    def test_tables_are_asked_up_to_the_longer_length(self):
        """Slow columns that differ at a thousandth of a turn only far away."""
        near = {"rope_theta": 500000.0}, {"rope_theta": 500000.5}
        for length in (8192, 1048576):
            one, other = (
                {**LLAMA, "max_position_embeddings": length, **theta} for theta in near
            )
            answer, _ = self.differences(one, other)
            most = max(each["at_position"] for each in answer["tables"])
            self.assertGreater(most, length // 4)

    def test_an_argument_that_is_absent_is_not_told_as_a_key(self):
        dynamic = LLAMA | {"rope_scaling": {"rope_type": "dynamic", "factor": 4.0}}
        answer, _ = self.differences(LLAMA, dynamic)
        self.assertIn("argument max_position_embeddings is absent in the first", str(answer))
        self.assertNotIn("not given", answer["summary"])

    def test_layers_widths_and_rows_and_parts(self):
        cases = (
            ({"num_hidden_layers": 30}, "layers"),
            ({"head_dim": 64}, "dim"),
            ({"max_position_embeddings": 2048}, "length"),
            ({"model_type": "stablelm", "partial_rotary_factor": 1.0}, None),
            ({"model_type": "glm", "partial_rotary_factor": 1.0, "head_dim": 128}, "layout"),
        )
        for more, about in cases:
            with self.subTest(more):
                _, found = self.differences(LLAMA, LLAMA | more)
                expected = [("text", about)] if about else []
                self.assertEqual([each for each in found if each[1] != "pairing"], expected)
        _, found = self.differences("clip-vit-base-patch32", "gpt2")
        self.assertIn("part", [about for _, about in found])

    def test_layers_of_what_stands_beside_other_parts(self):
        config = {"model_type": "llama4_text", "num_hidden_layers": 8}
        answer, _ = self.differences(config, config | {"num_hidden_layers": 12})
        layers = {
            each["part"]: (each["first"], each["second"])
            for each in answer["differences"]
            if each["about"] == "layers"
        }
        self.assertEqual(layers["text.attention_temperature"], ([3, 7], [3, 7, 11]))

    def test_a_gguf_file_against_a_config(self):
        pairs = {
            "general.architecture": "llama",
            "llama.context_length": 131072,
            "llama.embedding_length": 4096,
            "llama.block_count": 32,
            "llama.attention.head_count": 32,
            "llama.rope.freq_base": 500000.0,
        }
        file = gguf_file.write(pairs)
        coded = {"gguf": base64.b64encode(file).decode()}
        for side in (pairs, coded):
            self.assertEqual(self.differences(side, LLAMA)[1], [])
        answer = self.ask(file, target="/v1/models/compare?against=llama-3.1-8b", headers=BYTES)
        self.assertIn("rope_type", [each["about"] for each in answer["differences"]])
        self.ask(file, 422, headers=BYTES)
        self.ask({"first": {"gguf": "R0dVRg"}, "second": LLAMA}, 400)
        self.ask({"first": {"gguf": "?"}, "second": LLAMA}, 400)

    def test_strict(self):
        strict = "/v1/models/compare?strict=true"
        self.differences(LLAMA, LLAMA, target=strict)
        self.differences(LLAMA, "gpt2", target=strict, status=409)

    def test_mistakes_name_the_config(self):
        for body, parameter in (
            ({"first": LLAMA}, "second"),
            ({"first": LLAMA, "second": LLAMA, "third": LLAMA}, "third"),
            ({"first": "llama-9", "second": LLAMA}, "first"),
            ({"first": LLAMA, "second": LLAMA | {"num_attention_heads": 3}},
             "second.num_attention_heads"),
        ):  # fmt: skip
            problem = self.ask(body, 422)["errors"][0]
            self.assertEqual(problem["parameter"], parameter)


if __name__ == "__main__":
    unittest.main()
