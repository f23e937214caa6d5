"""Keys of configs: what a value that is not known does, and which keys count as used."""

import copy
import json
import pathlib
import unittest

from server import ServerCase


SET = pathlib.Path(__file__).resolve().parent.parent / "models"

# keys that are not about positions, which may change nothing in a model that has other widths
# or other types of layers
ELSEWHERE = set(
    """architectures auto_map hidden_size d_model embed_dim word_embed_proj_dim image_size
    patch_size num_attention_heads decoder_num_attention_heads num_key_value_heads num_layers
    layer_types pad_token_id sliding_window time_step_limit norm_eps hidden_sizes""".split()
)


# what some types need before they have a plan
MORE = (
    {},
    {"head_dim": 64},
    {"hidden_size": 512, "num_attention_heads": 8},
    {"text_config": {"head_dim": 64}},
    {"sample_size": 64},
)


def perturbed(value):
    """Other values of the same kind."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, (int, float)):
        return [value * 2 + 2, value + 1, value - 1, 1]
    if isinstance(value, str):
        return ["misspelt"]
    if value == []:
        return [[0]]
    if isinstance(value, list):
        return [[other, *value[1:]] for other in perturbed(value[0])] + [value[:-1]]
    return []


def leaves(value, path=()):
    """The path of everything in a config that is no object, with its value."""
    for key, inner in value.items():
        if isinstance(inner, dict):
            yield from leaves(inner, (*path, key))
        else:
            yield (*path, key), inner


def replaced(config, path, value):
    config = copy.deepcopy(config)
    holder = config
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return config


def is_listed(path, not_used):
    """Whether a list names the path or something that holds it."""
    listed = {each.partition(":")[0] for each in not_used}  # before "did you mean"
    return any(".".join(path[: i + 1]) in listed for i in range(len(path)))


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

    def test_an_item_that_is_no_number_is_not_taken_for_0(self):
        for name, key in (
            ("granite_swa", "layer_rope_theta"),
            ("muse_glimmer_text", "layer_rope_theta"),
            ("smollm3", "no_rope_layers"),
        ):
            config = {"model_type": name, "num_hidden_layers": 4}
            with self.subTest(name):
                self.assert_ok(self.plan({**config, key: [10000, 10000, 0, 10000]}))
                paths, _ = self.refusals({**config, key: [10000, "10000", 0, 10000]})
                self.assertEqual({key}, paths)

    def test_thetas_of_layers_that_are_nearly_alike_have_names_of_their_own(self):
        config = {"model_type": "granite_swa", "num_hidden_layers": 3}
        config["layer_rope_theta"] = [10000, 10000.4, 500000]
        self.assertEqual(
            [f"text.theta_{theta}" for theta in ("10000", "10000.4", "500000")],
            [part["name"] for part in self.plan(config).json()["parts"]],
        )

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


class Used(Keys):
    """A key counts as used when it changed something, not when it was looked at."""

    def what_it_says(self, config, query=""):
        """The plan but for not_used, or the problems; and not_used."""
        paths, answer = self.refusals(config, query)
        if paths:
            return sorted(paths), []
        not_used = answer.pop("not_used")
        return answer, not_used

    def test_every_key_of_every_config_changes_the_plan_or_is_listed(self):
        walked = changed = listed = 0
        for file in sorted(SET.glob("*.json")):
            model = json.loads(file.read_text())
            config, query = model["config"], model.get("query", "")
            plan, not_used = self.what_it_says(config, query)
            for path, value in leaves(config):
                if value is None or path[-1] in ("model_type", "_class_name"):
                    continue
                walked += 1
                if is_listed(path, not_used):
                    listed += 1
                    continue
                others = (
                    self.what_it_says(replaced(config, path, other), query)[0]
                    for other in perturbed(value)
                )
                if any(other != plan for other in others):
                    changed += 1
                    continue
                self.assertIn(path[-1], ELSEWHERE, f"{file.stem}: it changes nothing")
        print(f"{walked} keys: {changed} change the plan, {listed} are listed")
        self.assertGreater(changed, 450)
        self.assertGreater(listed, 5)

    LOOKING = {
        "rope_theta": 12345.0,
        "rotary_emb_base": 12345.0,
        "rope_scaling": {"factor": 4.0},
        "rope_parameters": {"factor": 4.0},
        "partial_rotary_factor": 0.5,
        "rotary_pct": 0.5,
        "rotary_dim": 32,
        "max_position_embeddings": 640,
        "original_max_position_embeddings": 64,
        "position_embedding_type": "absolute",
        "rope_local_base_freq": 12345.0,
        "rope_interleave": False,
        "no_rope_layers": [1, 0, 1, 0],
        "alibi": True,
        "relative_attention_num_buckets": 8,
        "use_relative_position_bias": True,
        "use_absolute_position_embeddings": False,
        "mrope_section": [2, 3, 3],
    }

    def test_a_key_that_looks_like_positions_changes_every_type_or_is_listed(self):
        changed = listed = 0
        for name in self.types():
            bases = ({"model_type": name, "num_hidden_layers": 4, **more} for more in MORE)
            config = next(base for base in bases if not self.refusals(base)[0])
            plan, _ = self.what_it_says(config)
            for key, value in self.LOOKING.items():
                _, not_used = self.what_it_says({**config, key: value})
                path = (key, "factor") if isinstance(value, dict) else (key,)
                if not is_listed(path, not_used):
                    values = perturbed(value) if not isinstance(value, dict) else []
                    self.assertTrue(
                        any(
                            self.what_it_says({**config, key: other})[0] != plan
                            for other in [value, *values]
                        ),
                        f"{name}: {key} changes nothing and is not listed",
                    )
                    changed += 1
                    continue
                listed += 1
        print(f"{changed} change the plan, {listed} are listed")
        self.assertGreater(changed, 400)
        self.assertGreater(listed, 3000)


if __name__ == "__main__":
    unittest.main()
