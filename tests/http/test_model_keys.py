"""Keys of configs: what a value that is not known does, and which keys count as used."""

import unittest

from server import ServerCase


class Keys(ServerCase):
    def plan(self, config, query=""):
        return self.post(f"/v1/models?plan=true{query}", config)

    def types(self):
        return [row["model_type"] for row in self.get("/v1/models").json()["model_types"]]

    def refusals(self, config, query=""):
        """The parameters of the problems; an empty set: the plan."""
        reply = self.plan(config, query)
        if reply.status == 200:
            return set(), reply.json()
        problem = self.assert_problem(reply, 422)
        return {error["parameter"] for error in problem["errors"]}, problem


class Values(Keys):
    """A value that is not known is refused, or its key is listed as not used."""

    def test_a_misspelt_rope_type_is_refused_or_not_used_by_every_model_type(self):
        refused = 0
        for name in self.types():
            for key in ("rope_scaling", "rope_parameters"):
                dictionary = {"rope_type": "yarm", "factor": 2.0}
                paths, answer = self.refusals({"model_type": name, key: dictionary})
                if paths:
                    refused += f"{key}.rope_type" in paths
                    continue
                unused = [
                    path
                    for path in answer["not_used"]
                    if path in (key, f"{key}.rope_type", f"{key}.factor")
                ]
                self.assertTrue(unused, f"{name}, {key}: {answer['not_used']}")
        self.assertGreater(refused, 150)

    def test_a_misspelt_type_of_layers_is_refused_wherever_it_is_read(self):
        refused = 0
        for name in self.types():
            layers = ["full_attention", "ful_attention"]
            config = {"model_type": name, "num_hidden_layers": 2}
            paths, answer = self.refusals({**config, "layer_types": layers})
            if paths:
                refused += "layer_types" in paths
                continue
            self.assertEqual(answer, self.plan(config).json(), name)
        self.assertGreater(refused, 100)

    def test_a_pattern_of_other_letters_is_refused(self):
        config = {"model_type": "exaone4", "num_hidden_layers": 4, "sliding_window": 8}
        for text in ("lllg", "", "LLLX"):
            paths, _ = self.refusals({**config, "sliding_window_pattern": text})
            self.assertEqual({"sliding_window_pattern"}, paths)
        self.assert_ok(self.plan({**config, "sliding_window_pattern": "LLLG"}))

    def test_flags_are_read_as_python_reads_them(self):
        for value, kind in ((0, "rope"), (False, "rope"), (1, "alibi"), (True, "alibi")):
            plan = self.plan({"model_type": "falcon", "alibi": value}).json()
            self.assertEqual([kind], [part["kind"] for part in plan["parts"]], value)
        self.assertEqual(
            {"alibi"}, self.refusals({"model_type": "falcon", "alibi": "false"})[0]
        )

    def test_kinds_of_embeddings_have_the_words_of_their_library(self):
        for config, key in (
            ({"model_type": "xlnet"}, "attn_type"),
            ({"_class_name": "UNet2DConditionModel"}, "time_embedding_type"),
            ({"_class_name": "UNet2DConditionModel"}, "addition_embed_type"),
        ):
            paths, problem = self.refusals({**config, key: "foriuer"})
            self.assertEqual({key}, paths, problem)
        learned = self.plan(
            {"_class_name": "UNet2DModel", "time_embedding_type": "learned"}
        ).json()
        self.assertEqual("learned", learned["parts"][0]["kind"])


if __name__ == "__main__":
    unittest.main()
