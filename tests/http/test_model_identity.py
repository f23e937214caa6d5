"""Which model a config or a name is of, and what is said where that is not known."""

import json
import unittest

from server import ServerCase


class Identity(ServerCase):
    def plan(self, config):
        return self.post("/v1/models?plan=true", config)

    def suggestion(self, config, key):
        """What a refusal suggests for a key."""
        problem = self.assert_problem(self.plan(config), 422, key)
        return problem["errors"][0].get("did_you_mean")


class Suggestions(Identity):
    def test_architecture_and_family_say_more_than_letters(self):
        phi4 = {"model_type": "phi4"}
        self.assertIsNone(self.suggestion(phi4, "model_type"))
        for more in (
            {"architectures": ["Phi3ForCausalLM"]},
            {"auto_map": {"AutoConfig": "configuration_phi3.Phi3Config"}},
        ):
            self.assertEqual("phi3", self.suggestion({**phi4, **more}, "model_type"))
        self.assertEqual(
            "llama", self.suggestion({"architectures": ["LlamaForCausalLM"]}, "model_type")
        )

    def test_nothing_is_suggested_that_makes_another_table(self):
        for name in ("phi4", "qwen4", "gpt3", "falcon_h2", "orion", "dit"):
            self.assertIsNone(self.suggestion({"model_type": name}, "model_type"), name)
        for name in ("CogView3PlusTransformer2DModel", "LTXVideoTransformer3DModel"):
            self.assertIsNone(self.suggestion({"_class_name": name}, "_class_name"), name)

    def test_a_slip_of_the_hand_is_seen(self):
        for name, meant in (
            ("llamo", "llama"),
            ("Llama", "llama"),
            ("qwen-2", "qwen2"),
            ("mistrla", "mistral"),
        ):
            self.assertEqual(meant, self.suggestion({"model_type": name}, "model_type"))
        self.assertEqual(
            "FluxTransformer2DModel",
            self.suggestion({"_class_name": "FluxTransformer2dModel"}, "_class_name"),
        )
        text = {"model_type": "llava", "text_config": {"model_type": "mistrall"}}
        self.assertEqual("mistral", self.suggestion(text, "text_config.model_type"))


class Code(Identity):
    """Code that comes with the checkpoint."""

    CONFIG = {"model_type": "xlm-roberta", "auto_map": {"AutoModel": "repo--model.Model"}}

    def test_keys_that_the_row_does_not_read_are_the_first_line_of_the_summary(self):
        plan = self.plan({**self.CONFIG, "rotary_emb_base": 5.0}).json()
        first, rest = plan["summary"].split("\n")
        self.assertIn("auto_map", first)
        self.assertIn("rotary_emb_base", first)
        self.assertTrue(rest.startswith("XLM-RoBERTa: "))
        self.assertEqual(first, plan["notes"][0])
        self.assertNotIn("\n", self.plan(self.CONFIG).json()["summary"])
        plain = {"model_type": "xlm-roberta", "rotary_emb_base": 5.0}
        self.assertNotIn("\n", self.plan(plain).json()["summary"])


class LeftOut(Identity):
    def test_components_that_no_rule_reads_are_noted(self):
        config = {"model_type": "idefics2", "perceiver_config": {"model_type": "idefics2"}}
        notes = self.plan(config).json()["notes"]
        self.assertEqual(1, len([note for note in notes if "perceiver_config" in note]))
        nested = {"model_type": "qwen2_5_omni", "thinker_config": {"other_config": {"a": 1}}}
        self.assertIn("thinker_config.other_config", str(self.plan(nested).json()["notes"]))

    def test_many_of_them_are_counted(self):
        config = {"model_type": "llama", **{f"k{i}_config": {"a": 1} for i in range(20000)}}
        notes = self.plan(config).json()["notes"]
        self.assertEqual(9, len(notes))
        self.assertIn("19992 more", notes[-1])


class Names(Identity):
    def test_names_are_found_whatever_their_case_and_owner(self):
        own = self.get("/v1/models/llama-3.1-8b?plan=true").json()
        for name in (
            "Llama-3.1-8B",
            "meta-llama/Llama-3.1-8B",
            "meta-llama%2FLlama-3.1-8B",
            "someone/LLAMA-3.1-8b",
        ):
            self.assertEqual(own, self.get(f"/v1/models/{name}?plan=true").json(), name)
        old = self.get("/v1/models/meta-llama/Meta-Llama-3-8B?plan=true")
        self.assertEqual(self.get("/v1/models/llama-3-8b?plan=true").json(), old.json())

    def test_a_slip_in_letters_is_suggested_the_name(self):
        for name in ("meta-llama/Lama-3.1-8B", "llmaa_3.1_8b"):
            problem = self.assert_problem(self.get(f"/v1/models/{name}"), 404)
            self.assertEqual("llama-3.1-8b", problem["did_you_mean"])


class Texts(Identity):
    def test_a_byte_order_mark_is_skipped(self):
        rope = {"scheme": "rope", "length": 2, "dim": 4}
        for path, body in (
            ("/v1/models?plan=true", {"model_type": "llama"}),
            ("/v1/encodings/rope", {"length": 2, "dim": 4}),
            ("/v1/batch", {"requests": [{"name": "a", **rope}]}),
        ):
            text = b"\xef\xbb\xbf" + json.dumps(body).encode()
            reply = self.post(path, text)
            self.assert_ok(reply)

    def test_texts_are_quoted_where_a_number_was_expected(self):
        problem = self.assert_problem(
            self.plan({"model_type": "llama", "hidden_size": "4096"}), 422
        )
        self.assertIn('at most 2^53 (given: "4096", a string)', problem["detail"])
        problem = self.assert_problem(
            self.post("/v1/encodings/rope", {"length": "2", "dim": 4}), 400
        )
        self.assertIn('(given: "2", a string)', problem["detail"])

    def test_nested_arrays_are_told_so(self):
        for ids, words in (
            ([[[0, 1, 2]]], "nested once too deep"),
            ([[0, 1], [0, 1], [0, 1]], "it holds arrays"),
            ([0, "1"], "must be an array of numbers and of nothing else"),
        ):
            reply = self.post("/v1/encodings/mrope", {"position_ids": ids, "dim": 8})
            problem = self.assert_problem(reply, 400, "position_ids")
            self.assertIn(words, problem["detail"])


if __name__ == "__main__":
    unittest.main()
