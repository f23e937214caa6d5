"""POST /v1/models and GET /v1/models: the plan of a model's position tensors."""

import copy
import json
import os
import pathlib
import random
import unittest
from urllib.parse import quote

import model_facts
from server import ServerCase

SET = pathlib.Path(__file__).resolve().parent.parent / "models"


class Plans(ServerCase):
    def plan(self, config, query=""):
        return self.post(f"/v1/models?plan=true{query}", config)


class Facts(Plans):
    def ask(self, scheme, body):
        reply = self.post(f"/v1/encodings/{scheme}", body)
        self.assert_ok(reply)
        return reply.json()

    def check(self, name, config, expected, query=""):
        reply = self.plan(config, query)
        self.assert_ok(reply, "application/json")
        self.assertEqual(
            [], list(model_facts.differences(reply.json(), expected, self.ask)), name
        )

    def test_the_projects_own_configs_have_the_plans_of_their_facts(self):
        files = sorted(SET.glob("*.json"))
        self.assertGreaterEqual(len(files), 150)
        step = 4 if "TEST_FEW" in os.environ else 1
        for path in files[int(os.environ.get("TEST_SEED", "0")) % step :: step]:
            with self.subTest(path.stem):
                model = json.loads(path.read_text())
                self.check(
                    path.stem, model["config"], model["expected"], model.get("query", "")
                )

    def test_public_configs_have_the_plans_of_their_facts(self):
        folder = os.environ.get("POSENC_MODELS")
        if not folder:
            self.skipTest(
                "POSENC_MODELS names no folder with expected.json and the configs beside it"
            )
        models = json.loads(pathlib.Path(folder, "expected.json").read_text())["models"]
        for model in models:
            with self.subTest(model["name"]):
                config = json.loads(pathlib.Path(folder, model["file"]).read_text())
                self.check(model["name"], config, model["expected"])


LLAMA = {
    "model_type": "llama",
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
}


class Contradictions(Plans):
    """What contradicts itself is refused, with the path of the key."""

    def refuses(self, path, text=None, **changes):
        reply = self.plan({**LLAMA, **changes})
        problem = self.assert_problem(reply, 422)
        paths = [error["parameter"] for error in problem["errors"]]
        self.assertIn(path, paths, problem)
        if text:
            self.assertIn(text, json.dumps(problem), problem)
        return problem

    def test_an_unknown_model_type_shows_what_the_config_has_and_its_relatives(self):
        problem = self.refuses(
            "model_type",
            "LlamoForCausalLM",
            model_type="llamo",
            architectures=["LlamoForCausalLM"],
            auto_map={"AutoModel": "x.Y"},
        )
        self.assertIn("auto_map", json.dumps(problem))
        self.assertEqual(problem["errors"][0]["did_you_mean"], "llama")

    def test_a_config_without_a_model_type_is_refused(self):
        self.assert_problem(self.plan({"hidden_size": 4}), 422, "model_type")

    def test_an_unknown_type_of_a_component_is_refused_by_its_path(self):
        self.refuses(
            "text_config.model_type", model_type="llava", text_config={"model_type": "lama"}
        )

    def test_heads_that_do_not_divide_the_width_need_a_head_dim(self):
        self.refuses("num_attention_heads", "head_dim", hidden_size=100, num_attention_heads=3)
        self.assert_ok(
            self.plan({**LLAMA, "hidden_size": 100, "num_attention_heads": 3, "head_dim": 32})
        )

    def test_a_scaling_needs_its_factor(self):
        self.refuses("rope_scaling.factor", rope_scaling={"type": "linear"})
        self.refuses(
            "rope_scaling.factor",
            rope_scaling={"type": "yarn", "original_max_position_embeddings": 64},
        )
        self.refuses(
            "rope_scaling.low_freq_factor",
            rope_scaling={
                "type": "llama3",
                "factor": 8,
                "high_freq_factor": 4,
                "original_max_position_embeddings": 64,
            },
        )

    def test_lists_have_one_item_for_each_pair(self):
        scaling = {
            "type": "longrope",
            "short_factor": [1.0] * 8,
            "long_factor": [1.0] * 7,
            "original_max_position_embeddings": 64,
        }
        self.refuses("rope_scaling.long_factor", "8 numbers", rope_scaling=scaling)

    def test_layer_types_have_one_item_for_each_layer(self):
        self.refuses("layer_types", "2 items", layer_types=["full_attention"])

    def test_sections_have_the_sum_of_the_pairs(self):
        self.refuses(
            "rope_scaling.mrope_section",
            rope_scaling={"type": "mrope", "mrope_section": [1, 2, 3]},
        )

    def test_spellings_of_one_attribute_agree(self):
        self.refuses("n_embd", "hidden_size", n_embd=128)
        self.assert_ok(self.plan({**LLAMA, "n_embd": 64}))

    def test_an_unknown_rope_type_is_refused(self):
        self.refuses(
            "rope_scaling.type", "llama3", rope_scaling={"type": "spiral", "factor": 2}
        )

    def test_values_of_another_kind_are_refused(self):
        self.refuses("hidden_size", hidden_size="64")
        self.refuses("rope_theta", rope_theta=[1])
        self.refuses("rope_scaling", rope_scaling="linear")
        self.refuses("num_hidden_layers", num_hidden_layers=0)

    def test_rules_of_the_scheme_name_the_path_of_the_value(self):
        self.refuses("rope_theta", rope_theta=0.5)
        self.refuses("head_dim", head_dim=7)

    def test_impossible_values_are_refused_with_their_key_and_its_rule(self):
        for model_type, keys, path, said in (
            (
                "gptj",
                {"rotary_dim": 512},
                "",
                "at most 256, the columns of a head (given: 512)",
            ),
            ("gptj", {"rotary_dim": 0, "n_embd": 4096}, "", "at most 256, the columns"),
            ("codegen", {"rotary_dim": 512}, "", "at most 256, the columns"),
            (
                "vit",
                {"image_size": 10},
                "",
                "at least 16 pixels, the side of a patch (given: 10)",
            ),
            ("swinv2", {"image_size": 3}, "", "at least 4 pixels"),
            ("mlcd_vision_model", {"image_size": -1}, "", "from 1 to 2^53 (given: -1)"),
            ("mlcd_vision_model", {"image_size": 3}, "", "at least 14 pixels"),
            ("gemma3_text", {"sliding_window_pattern": 0}, "", "at least 1 (given: 0)"),
            ("gemma3_text", {"sliding_window_pattern": -3}, "", "at least 1"),
            ("llama", {"max_position_embeddings": 1e18}, "", "at most 2^53 (given: 1e+18)"),
            ("llama", {"num_hidden_layers": 0}, "", "from 1 to 4096 (given: 0)"),
            (
                "llama",
                {"hidden_size": 96},
                "",
                "that hidden_size / 32 (default of llama) is an even",
            ),
            ("falcon", {"alibi": "true"}, "", "written without quotes"),
            ("qwen2_vl", {"mrope_section": [-16, 56, 24]}, "rope_scaling.", "3 integers"),
            ("qwen2_vl", {"mrope_section": [16, 24, 24, 0]}, "rope_scaling.", "3 integers"),
            (
                "qwen2_vl",
                {"num_heads": 15, "embed_dim": 1280},
                "vision_config.",
                "embed_dim, which is 1280 (given: 15",
            ),
        ):
            with self.subTest(model_type, **keys):
                key = next(iter(keys))
                inside = {path[:-1]: keys} if path else keys
                config = {"model_type": model_type, "num_hidden_layers": 6, **inside}
                problem = self.assert_problem(self.plan(config), 422, path + key)
                self.assertIn(said, problem["detail"])

    def test_bodies_say_what_is_wrong_with_them(self):
        for body, said in (
            (b'{"model_type": "llama", "model_type": "gpt2"}', "duplicate object key"),
            (b'{"rope_theta": 1e400}', "real number overflow"),
            (b'{"model_type": "llama"', "near end of file"),
        ):
            detail = self.assert_problem(self.plan(body), 400, "body")["detail"]
            self.assertIn(said, detail)
            self.assertNotIn("yaml", detail)
        detail = self.assert_problem(self.plan(b"model_type: llama"), 400, "body")["detail"]
        self.assertIn("yaml", detail)

    def test_stages_have_one_number_each(self):
        swin = {"model_type": "swin"}
        for key, value in (
            ("num_heads", [3, 6]),
            ("depths", [2] * 9),
            ("depths", []),
            ("depths", [2, 2.5]),
            ("depths", [0]),
            ("depths", [4000, 96, 1, 1]),
            ("window_size", 0),
            ("window_size", 4096),
        ):
            self.assert_problem(self.plan({**swin, key: value}), 422, key)
        self.assert_problem(
            self.plan({"model_type": "swinv2", "pretrained_window_sizes": [1, 1, 1, 1]}),
            422,
            "pretrained_window_sizes",
        )
        self.assert_problem(
            self.plan({"_class_name": "UNet2DModel", "freq_shift": 0.5}), 422, "freq_shift"
        )
        self.assert_problem(
            self.plan({"_class_name": "PixArtTransformer2DModel"}), 422, "sample_size"
        )

    def test_a_long_path_is_shown_from_its_end(self):
        text = {
            "hidden_size": 64,
            "num_attention_heads": 4,
            "rope_scaling": {
                "rope_type": "longrope",
                "original_max_position_embeddings": 64,
                "short_factor": [1.0] * 8,
            },
        }

        def refused(*keys):
            config = {"model_type": "qwen2", **text}
            for key in reversed(keys):
                config = {"model_type": "llava", key: config}
            problem = self.assert_problem(self.plan(config), 422)
            return [error["parameter"] for error in problem["errors"]]

        whole = "language_config.text_config.llm_config.rope_scaling.long_factor"
        self.assertEqual(len(whole), 63)
        self.assertIn(whole, refused("language_config", "text_config", "llm_config"))
        self.assertIn(
            "….text_config.text_config.rope_scaling.long_factor",
            refused("language_config", "language_config", "text_config", "text_config"),
        )

    def test_components_inside_components_have_a_limit(self):
        config = {"model_type": "vit"}
        for _ in range(9):
            config = {"model_type": "vision-encoder-decoder", "encoder": config}
        self.assert_problem(self.plan(config), 422, "body")
        self.assert_problem(self.plan(config, "&components=decoder"), 422, "body")


class Components(Plans):
    """components= leaves the others out."""

    LLAVA = {
        "model_type": "llava",
        "text_config": {"num_hidden_layers": 2},
        "vision_config": {"num_hidden_layers": 3, "hidden_size": 64},
    }

    def test_the_plan_has_what_was_asked_for(self):
        whole = self.plan(self.LLAVA).json()
        self.assertEqual([part["name"] for part in whole["parts"]], ["text", "vision"])
        for names in (["vision"], ["text"], ["vision", "text"]):
            plan = self.plan(self.LLAVA, "&components=" + ",".join(names)).json()
            chosen = sorted(names)
            self.assertEqual(
                [part for part in whole["parts"] if part["name"] in names], plan["parts"]
            )
            self.assertEqual([component["name"] for component in plan["components"]], chosen)
            layers = {"text": 2, "vision": 3}
            for index, name in enumerate(chosen):
                self.assertEqual(plan["components"][index]["layers"], [index] * layers[name])

    def test_the_tensors_are_those_of_the_components(self):
        reply = self.post("/v1/models?format=json&components=text&length=2", self.LLAVA)
        self.assert_ok(reply)
        self.assertEqual([result["component"] for result in reply.json()["results"]], ["text"])
        self.assertEqual(list(reply.json()["lists"]), ["text.layers"])

    def test_unknown_names_are_told_with_the_known_ones(self):
        problem = self.assert_problem(
            self.plan(self.LLAVA, "&components=text,visoin"), 422, "components"
        )
        (error,) = problem["errors"]
        self.assertEqual((error["given"], error["did_you_mean"]), ("visoin", "vision"))
        self.assertIn("text, vision", error["allowed"])
        for names in ("text,", "tex", "textual", "x" * 200):
            self.assert_problem(
                self.plan(self.LLAVA, f"&components={names}"), 422, "components"
            )

    def test_what_is_wrong_in_another_component_does_not_matter(self):
        config = {
            **self.LLAVA,
            "vision_config": {"model_type": "unheard", "hidden_size": "wide"},
        }
        self.assert_problem(self.plan(config), 422, "vision_config.model_type")
        self.assert_ok(self.plan(config, "&components=text"))
        config["vision_config"]["model_type"] = "clip_vision_model"
        self.assert_problem(self.plan(config), 422, "vision_config.hidden_size")
        self.assert_ok(self.plan(config, "&components=text"))
        self.assert_problem(
            self.plan(config, "&components=vision"), 422, "vision_config.hidden_size"
        )

    def test_components_inside_components_are_named_by_both(self):
        omni = {
            "model_type": "qwen2_5_omni",
            "thinker_config": {"audio_config": {"d_model": "x"}},
        }
        plan = self.plan(omni, "&components=thinker_text").json()
        self.assertEqual(
            [component["name"] for component in plan["components"]], ["thinker_text"]
        )
        self.assert_problem(
            self.plan(omni, "&components=thinker_audio"),
            422,
            "thinker_config.audio_config.d_model",
        )

    def test_stacks_of_one_object_are_components(self):
        parts = self.plan({"model_type": "t5"}, "&components=decoder").json()["parts"]
        self.assertEqual([part["name"] for part in parts], ["decoder"])


class PythonsJson(Plans):
    def test_numbers_that_json_does_not_have_count_as_null(self):
        body = (
            b'{"model_type": "mamba2", "time_step_limit": [0.0, Infinity], '
            b'"x": [NaN, -Infinity], "y": "NaN"}'
        )
        reply = self.plan(body)
        self.assert_ok(reply)
        self.assertEqual(reply.json()["parts"], [])
        self.assertIn("no positions", reply.json()["summary"])


class Reading(Plans):
    """What is read from where, and what is not."""

    def part(self, config, query="", index=0):
        reply = self.plan(config, query)
        self.assert_ok(reply)
        return reply.json()["parts"][index]

    def test_every_argument_says_where_it_came_from(self):
        arguments = self.part(LLAMA)["arguments"]
        self.assertEqual(
            arguments["dim"], {"value": 16, "from": "hidden_size / num_attention_heads"}
        )
        self.assertEqual(arguments["rope_theta"], {"value": 10000, "from": "default of llama"})
        nested = self.part(
            {"model_type": "gemma3", "text_config": {"head_dim": 32, "num_hidden_layers": 6}}
        )
        self.assertEqual(
            nested["arguments"]["dim"], {"value": 32, "from": "text_config.head_dim"}
        )

    def test_widths_that_the_config_omits_are_those_of_the_class(self):
        for name, width in (
            ("llama", 128),
            ("qwen2", 128),
            ("phi3", 96),
            ("gpt_neox", 96),
            ("gptj", 64),
            ("cohere", 128),
            ("modernbert", 64),
            ("moonshine", 36),
            ("qwen2_vl_text", 128),
        ):
            with self.subTest(name):
                dim = self.part({"model_type": name})["arguments"]["dim"]
                self.assertEqual(dim["value"], width)
                self.assertIn(f"default of {name}", dim["from"])
        rest = self.part({"model_type": "llama", "hidden_size": 64})["facts"]["head_dim"]
        self.assertEqual(rest["from"], "hidden_size / 32 (default of llama)")
        mixed = self.part({"model_type": "llama", "num_attention_heads": 64})["arguments"][
            "dim"
        ]
        self.assertEqual(
            mixed, {"value": 64, "from": "default of llama, 4096 / num_attention_heads"}
        )
        self.assertEqual(
            self.part({"model_type": "albert", "hidden_size": 64})["facts"]["dim"],
            {"value": 128, "from": "default of albert"},
        )
        self.assertEqual(self.part({"model_type": "bloom"})["facts"]["heads"]["value"], 8)
        self.assert_problem(
            self.plan({"model_type": "internlm2"}), 422, "hidden_size", "num_attention_heads"
        )

    def test_the_request_of_a_part_gives_its_tensors(self):
        for config in (
            LLAMA,
            {"model_type": "bloom", "n_head": 8},
            {"model_type": "qwen2_5_vl_vision"},
            {"model_type": "whisper"},
            {"model_type": "t5"},
            {"model_type": "detr"},
        ):
            with self.subTest(config["model_type"]):
                part = self.part(config)
                reply = self.get(part["request"] + "&format=safetensors")
                self.assert_ok(reply)
                size = int.from_bytes(reply.body[:8], "little")
                tensors = json.loads(reply.body[8 : 8 + size])
                for tensor in part["tensors"]:
                    self.assertEqual(
                        tensors[tensor["name"].split(".")[-1]]["shape"], tensor["shape"]
                    )

    def test_the_length_is_that_of_the_config_cut_or_of_the_query(self):
        long = {**LLAMA, "max_position_embeddings": 131072}
        self.assertEqual(self.part(long)["arguments"]["length"]["value"], 4096)
        self.assertIn("cut", self.part(long)["arguments"]["length"]["from"])
        self.assertEqual(
            self.part(long, "&length=131072")["arguments"]["length"],
            {"value": 131072, "from": "query"},
        )
        self.assertEqual(self.part(LLAMA, "&offset=5")["arguments"]["offset"]["value"], 5)

    def test_one_row_is_no_rows(self):
        summary = self.part({"model_type": "gpt2", "n_positions": 1, "n_embd": 1})["summary"]
        self.assertIn("Learned table of 1 row, 1 column; position 0 has row 0", summary)

    def test_a_table_that_ends_is_cut_where_more_is_asked_for(self):
        bert = {"model_type": "bert", "hidden_size": 8, "max_position_embeddings": 512}
        self.assertEqual(self.part(bert, "&length=600")["arguments"]["length"]["value"], 512)
        self.assertEqual(self.part(bert, "&offset=500")["arguments"]["length"]["value"], 12)
        self.assertEqual(
            self.part(bert, "&length=4&offset=500")["arguments"]["length"]["value"], 4
        )
        self.assert_problem(self.plan(bert, "&offset=512"), 422)
        reply = self.plan(
            {"model_type": "gemma3", "text_config": {"num_hidden_layers": 6}}, "&length=131072"
        )
        self.assertEqual(
            [part["arguments"]["length"]["value"] for part in reply.json()["parts"]],
            [131072, 131072, 196],
        )

    def test_releases_of_the_library_differ_where_the_convention_says(self):
        yarn = {
            **LLAMA,
            "max_position_embeddings": 40960,
            "rope_scaling": {
                "type": "yarn",
                "factor": 4,
                "original_max_position_embeddings": 32768,
            },
        }
        self.assertEqual(self.part(yarn)["facts"]["factor"]["value"], 4)
        self.assertEqual(
            self.part(yarn, "&convention=transformers-4.53")["facts"]["factor"]["value"], 1.25
        )
        cohere = {**LLAMA, "model_type": "cohere"}
        self.assertEqual(self.part(cohere)["facts"]["rope_theta"]["value"], 500000)
        self.assertEqual(
            self.part(cohere, "&convention=transformers-4.53")["facts"]["rope_theta"]["value"],
            10000,
        )

    def test_keys_that_look_like_positions_and_have_no_effect_are_listed(self):
        config = {
            **LLAMA,
            "rotary_dim": 8,
            "rope_ratio": 2,
            "rope_scaling": {"type": "linear", "factor": 2, "mscale": 1},
        }
        deberta = {"model_type": "deberta-v2", "pos_att_type": ["c2p", "xx"]}
        self.assertEqual(self.plan(deberta).json()["not_used"], ["pos_att_type"])
        self.assertEqual(
            sorted(self.plan(config).json()["not_used"]),
            ["rope_ratio", "rope_scaling.mscale", "rotary_dim"],
        )

    def test_keys_that_are_slips_of_those_that_decide_are_listed_with_these(self):
        for config, slip, meant in (
            ({"model_type": "llama"}, "num_attention_head", "num_attention_heads"),
            ({"model_type": "llama"}, "hiden_size", "hidden_size"),
            ({"model_type": "llama"}, "headdim", "head_dim"),
            ({"model_type": "gpt2"}, "n_posistions", "n_positions"),
        ):
            not_used = self.plan({**config, slip: 16}).json()["not_used"]
            self.assertEqual(not_used, [f"{slip}: did you mean {meant}?"])
            self.assertEqual(self.plan({**config, slip: 16, meant: 64}).json()["not_used"], [])
        layers = {"num_hidden_layers": 1, "layer_type": ["full_attention"]}
        not_used = self.plan({"model_type": "gemma2", **layers}).json()["not_used"]
        self.assertEqual(not_used, ["layer_type: did you mean layer_types?"])

    def test_no_key_of_a_real_config_is_a_slip(self):
        configs = [
            json.loads(path.read_text())["config"] for path in sorted(SET.glob("*.json"))
        ]
        configs += [model["config"] for model in self.get("/v1/models").json()["models"]]
        if "POSENC_MODELS" in os.environ:
            files = pathlib.Path(os.environ["POSENC_MODELS"]).glob("*.json")
            configs += [json.loads(path.read_text()) for path in files]
        for config in configs:
            not_used = self.plan(config).json().get("not_used", [])
            self.assertNotIn("did you mean", str(not_used), config)

    def test_bodies_that_are_no_config_are_refused(self):
        self.assert_problem(self.plan(b"[]"), 400, "body")
        self.assert_problem(self.plan(b"{"), 400, "body")
        self.assert_problem(self.plan(b'{"a":' * 70 + b"1" + b"}" * 70), 400, "body")
        self.assert_problem(self.plan(b'{"model_type": "' + b"x" * (1 << 20) + b'"}'), 413)
        self.assert_problem(self.plan(LLAMA, "&lenght=4"), 400, "lenght")
        self.assert_problem(self.plan(LLAMA, "&format=npy"), 400, "format")

    def test_a_type_of_text_around_components_is_read_as_their_parent(self):
        reply = self.plan(
            {
                "model_type": "qwen3",
                "text_config": {"num_hidden_layers": 2},
                "vision_config": {"model_type": "siglip_vision_model"},
            }
        )
        self.assertEqual(
            [c["model_type"] for c in reply.json()["components"]],
            ["qwen3", "siglip_vision_model"],
        )

    def test_an_image_of_the_query_sets_the_grid(self):
        part = self.part({"model_type": "qwen2_vl_vision"}, "&image=224,448")
        self.assertEqual(part["facts"]["grid"]["value"], [16, 32])
        self.assertEqual(part["arguments"]["sizes"]["value"], [16, 32])
        vit = self.part({"model_type": "vit"}, "&image=384")
        self.assertEqual((vit["scheme"], vit["arguments"]["height"]["value"]), ("resized", 24))


class Options(Plans):
    """An option of the query changes something, or it is refused by its name."""

    def test_an_option_without_an_effect_is_refused(self):
        for target in (
            "llama-2-7b?seq_len=10",
            "llama-2-7b?image=224",
            "llama-2-7b?frames=3",
            "llama-2-7b?set=foo",
            "gpt2?table=full",
            "bloom?offset=3",
            "t5-small?dtype=f64",
            "vit-base?length=8",
            "vit-base?frames=2",
            "gemma-3-27b?components=text&image=224",
        ):
            with self.subTest(target):
                name = target.split("=")[-2].split("?")[-1].split("&")[-1]
                problem = self.assert_problem(self.get(f"/v1/models/{target}"), 422, name)
                self.assertIn("left out", problem["detail"])
        for target in ("gemma-3-27b?image=224", "qwen2-vl-7b?frames=3"):
            self.assert_ok(self.get(f"/v1/models/{target}"))
        sides = {"first": "gpt2", "second": "qwen2-vl-7b"}
        self.assert_ok(self.post("/v1/models/compare?frames=2", sides))
        self.assert_problem(self.post("/v1/models/compare?seq_len=2", sides), 422, "seq_len")

    def test_a_position_that_is_not_there_is_a_fault_of_the_offset(self):
        for target, said in (
            ("gpt2?offset=5000&length=8", "(given: last position 5007)"),
            ("gpt2?offset=5000", "below 1024, the number of rows of the table"),
            ("gpt2?offset=0.5", "one of 0, 1, 2"),
            ("llama-2-7b?offset=9007199254740990", "2^53 (given: 9007199254740990 + 4095 * 1)"),
        ):
            problem = self.assert_problem(self.get(f"/v1/models/{target}"), 422, "offset")
            self.assertIn(said, problem["detail"])

    def test_a_plan_checks_the_set_and_asks_for_it(self):
        gpt2 = {"model_type": "gpt2", "n_embd": 4, "n_positions": 2}
        self.assert_problem(self.plan(gpt2, "&set=mine"), 422, "set")
        for name, status in (("other", 422), ("table", 200)):
            tensor = {"dtype": "F32", "shape": [2, 4], "data_offsets": [0, 32]}
            header = json.dumps({name: tensor}).encode()
            file = len(header).to_bytes(8, "little") + header + bytes(32)
            self.server.request("PUT", "/v1/sets/mine", {}, file)
            reply = self.plan(gpt2, "&set=mine")
            self.assertEqual(reply.status, status, reply)
        self.assertIn("&set=mine", reply.json()["parts"][0]["request"])


class Pictures(Plans):
    """image= and frames= give the positions of a prompt with a picture or a video."""

    QWEN = {
        "model_type": "qwen2_vl",
        "hidden_size": 256,
        "num_attention_heads": 2,
        "num_hidden_layers": 2,
        "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]},
        "vision_config": {"embed_dim": 32, "num_heads": 2, "depth": 1},
    }

    def parts(self, config, query):
        reply = self.plan(config, query)
        self.assert_ok(reply)
        return {part["name"]: part for part in reply.json()["parts"]}

    def values(self, part, *names):
        return [part["arguments"].get(name, {}).get("value") for name in names]

    def test_without_a_picture_the_tables_are_those_of_text(self):
        self.assertEqual(self.parts(self.QWEN, "")["text"]["scheme"], "rope")

    def test_the_text_goes_around_the_picture(self):
        parts = self.parts(self.QWEN, "&image=112,84&length=40")
        text = parts["text"]
        self.assertEqual((text["scheme"], text["kind"]), ("mrope", "mrope"))
        # 112 x 84 pixels are 8 x 6 patches of 14, 12 tokens; 1 token before and 27 after
        self.assertEqual(
            self.values(text, "text", "grids", "section_order"), [[1, 27], [1, 8, 6], "chunked"]
        )
        self.assertEqual(self.values(parts["vision"], "sizes", "repeats"), [[8, 6], None])
        ids = self.get(text["request"] + "&tensor=position_ids").json()["tensors"][0]["data"]
        rows = range(1, 13)  # of the picture, which begins at position 1
        self.assertEqual([ids[0][r] for r in rows], [1] * 12)
        self.assertEqual([ids[1][r] for r in rows], [1 + (r - 1) // 3 for r in rows])
        self.assertEqual([ids[2][r] for r in rows], [1 + (r - 1) % 3 for r in rows])
        self.assertEqual([ids[a][13] for a in range(3)], [5, 5, 5])  # after the largest, 4
        self.assertEqual(len(ids[0]), 40)

    def test_the_tensors_come_with_those_of_the_vision_tower(self):
        reply = self.post("/v1/models?format=json&image=56&length=10", self.QWEN)
        self.assert_ok(reply)
        shapes = {
            f"{result['name']}.{tensor['name']}": tensor["shape"]
            for result in reply.json()["results"]
            for tensor in result["encoding"]["tensors"]
        }
        self.assertEqual(shapes["text.position_ids"], [3, 10])
        self.assertEqual(shapes["text.cos"], [10, 64])
        self.assertEqual(shapes["vision.cos"], [16, 8])

    def test_sides_are_the_nearest_multiples_of_a_token(self):
        for pixels, cells in ((28, 2), (1, 2), (41, 2), (43, 4), (70, 4), (98, 8), (1000, 72)):
            # rounded as Python rounds, 2.5 to 2 and 3.5 to 4, at least one token
            parts = self.parts(self.QWEN, f"&image={pixels}")
            self.assertEqual(parts["vision"]["facts"]["grid"]["value"], [cells, cells], pixels)
            self.assertEqual(self.values(parts["text"], "grids"), [[1, cells, cells]])

    def test_frames_are_grids_as_each_model_counts_them(self):
        parts = self.parts(self.QWEN, "&image=56&frames=5&length=64")
        self.assertEqual(self.values(parts["text"], "text", "grids"), [[1, 51], [3, 4, 4]])
        self.assertEqual(self.values(parts["vision"], "repeats"), [3])
        vision = self.parts(self.QWEN, "&frames=3")["vision"]
        self.assertEqual(vision["facts"]["rows"]["value"], 512)  # 2 x 16 x 16
        self.assertEqual(vision["tensors"][0]["shape"][0], 512)
        grid = self.parts(self.QWEN, "&frames=3")["text"]["facts"]["grid"]
        self.assertEqual(grid["from"], "frames of the query, with cells of an example")
        apart = self.parts(
            {**self.QWEN, "model_type": "qwen3_vl", "text_config": {"num_hidden_layers": 1}},
            "&image=64&frames=4&length=64",
        )
        self.assertEqual(
            self.values(apart["text"], "text", "grids", "frame_positions"),
            [[1, 1, 54], [1, 4, 4, 1, 4, 4], "apart"],
        )
        self.assertEqual(self.values(apart["vision.table"], "height", "width"), [4, 4])
        ernie = self.parts({"model_type": "ernie4_5_vl_moe"}, "&image=56&frames=3&length=64")
        self.assertEqual(
            self.values(ernie["text"], "text", "grids", "temporal_merge_size", "section_order"),
            [[1, 55], [4, 4, 4], 2, "alternating"],
        )
        seconds = {
            **self.QWEN,
            "model_type": "qwen2_5_vl",
            "vision_config": {"hidden_size": 32, "num_heads": 2, "tokens_per_second": 2},
        }
        text = self.parts(seconds, "&image=56&frames=4")["text"]
        self.assertEqual(
            self.values(text, "frame_positions", "tokens_per_second"), ["whole_seconds", 2]
        )
        self.assertEqual(
            text["arguments"]["tokens_per_second"]["from"], "vision_config.tokens_per_second"
        )

    def test_keys_of_the_vision_config_say_how_a_picture_is_cut(self):
        config = {
            **self.QWEN,
            "vision_config": {
                **self.QWEN["vision_config"],
                "patch_size": 16,
                "spatial_merge_size": 4,
            },
        }
        parts = self.parts(config, "&image=128&length=64")
        self.assertEqual(
            self.values(parts["text"], "text", "grids", "spatial_merge_size"),
            [[1, 59], [1, 8, 8], 4],
        )

    def test_a_length_without_room_is_refused(self):
        self.assert_problem(self.plan(self.QWEN, "&image=112&length=16"), 422, "length")
        self.assert_ok(self.plan(self.QWEN, "&image=112&length=17"))
        self.assert_problem(self.plan(self.QWEN, "&image=112&offset=0.5"), 422, "offset")
        self.assertEqual(
            self.values(self.parts(self.QWEN, "&image=112&offset=7")["text"], "first_position"),
            [7],
        )
        qwen3 = {"model_type": "qwen3_vl", "text_config": {"num_hidden_layers": 1}}
        self.assert_problem(self.plan(qwen3, "&image=32&frames=1025"), 422, "frames")
        request = self.parts(qwen3, "&image=32&frames=1024")["text"]["request"]
        self.assert_ok(self.get(request + "&tensor=rope_delta"))


class Known(Plans):
    def test_every_known_model_has_a_plan_that_caches_can_keep(self):
        models = self.get("/v1/models").json()["models"]
        self.assertGreaterEqual(len(models), 40)
        for model in models:
            with self.subTest(model["name"]):
                target = f"/v1/models/{model['name']}?plan=true"
                reply = self.get(target)
                self.assert_ok(reply, "application/json")
                self.assertEqual(
                    self.get(target, {"If-None-Match": reply.header("ETag")}).status, 304
                )
                self.assertEqual(
                    reply.json()["parts"], self.plan(model["config"]).json()["parts"]
                )

    def test_every_model_type_is_found_by_its_name(self):
        types = self.get("/v1/models").json()["model_types"]
        names = [row["model_type"] for row in types]
        self.assertGreaterEqual(len(names), 150)
        self.assertEqual(len(names), len(set(names)))
        sizes = {
            "hidden_size": 640,
            "num_attention_heads": 4,
            "num_hidden_layers": 4,
            "embedding_size": 64,
            "sample_size": 32,
        }
        lists = {"clap_audio_model": {"num_attention_heads": [4, 8, 16, 32]}}
        for name in names:
            with self.subTest(name):
                reply = self.plan({"model_type": name, **sizes, **lists.get(name, {})})
                if reply.status == 422:  # it has components alone
                    reply = self.plan({"model_type": name, "text_config": sizes})
                self.assert_ok(reply)

    def test_a_model_type_is_a_string_whatever_the_other_keys_are(self):
        sizes = {"num_layers": 2, "hidden_size": 64, "num_attention_heads": 4}
        for keys in (
            {"architecture": "vit_base_patch16_224"},
            {"max_position_embeddings": 16, "position_embedding_type": "rope", **sizes},
            {"_class_name": "FluxTransformer2DModel"},
        ):
            for given in (5, ["llama"], {}, True):
                problem = self.plan({"model_type": given, **keys})
                self.assertIn(
                    "a string", self.assert_problem(problem, 422, "model_type")["detail"]
                )

    def test_ntk_is_the_law_of_the_code_that_names_it(self):
        scaling = {"type": "ntk", "factor": 8.0}
        config = {"hidden_size": 768, "num_attention_heads": 12, "num_hidden_layers": 12}
        config |= {"max_position_embeddings": 8192, "rope_scaling": scaling}
        for model_type in ("new", "gte"):
            plan = self.plan({"model_type": model_type, **config}).json()
            rope_type = plan["parts"][0]["arguments"]["rope_type"]
            self.assertEqual(rope_type["value"], "ntk_fixed")
            self.assertIn("ntk_fixed", str(plan["parts"][0]["notes"]))
        refused = self.plan({"model_type": "llama", **config})
        self.assert_problem(refused, 422, "rope_scaling.type")

    def test_what_is_past_the_lengths_of_the_config_is_noted(self):
        for target, said in (
            ("gemma-2-9b?length=8192", None),
            (
                "gemma-2-9b?length=8193",
                "position 8192, past the 8192 positions of max_position",
            ),
            ("gemma-2-9b?length=2&offset=9000", "position 9001, past the 8192 positions"),
            ("llama-3.1-8b", None),
            ("llama-3.1-8b?length=8192", None),
            ("llama-3.1-8b?length=9000", "past the original length of rope_type llama3, 8192"),
            ("llama-3.1-8b?length=131073", "position 131072, past the 131072 positions"),
            ("deepseek-v3?length=4096", None),
            ("deepseek-v3?length=4097", "past the original length of rope_type yarn, 4096"),
            ("gpt2?length=1025", "length is 1024, not 1025: the table ends with position 1023"),
            ("gpt2?length=8&offset=1020", "length is 4, not 8: the table ends"),
        ):
            with self.subTest(target):
                join = "&" if "?" in target else "?"
                notes = self.get(f"/v1/models/{target}{join}plan=true").json()["notes"]
                self.assertEqual(len(notes), said is not None, notes)
                self.assertIn(said or "", str(notes))
        audio = {"model_type": "qwen2_5_omni_audio_encoder"}
        self.assertEqual(self.plan(audio, "&length=1500").json()["notes"], [])
        (note,) = self.plan(audio, "&length=1501").json()["notes"]
        self.assertIn("position 1500, past the 1500 positions of the default of", note)
        yarn = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}
        config = {"model_type": "qwen2", "hidden_size": 3584, "num_attention_heads": 28}
        config |= {"max_position_embeddings": 32768, "rope_scaling": yarn}
        (note,) = self.plan(config).json()["notes"]
        self.assertIn("reaches 131072 positions, 4 times 32768, past the 32768", note)
        config["max_position_embeddings"] = 131072
        self.assertEqual(self.plan(config).json()["notes"], [])

    def test_the_most_used_models_have_rows_of_their_own(self):
        """With what tells them from their neighbours."""
        models = self.get("/v1/models").json()["models"]
        names = [model["name"].lower() for model in models]
        self.assertEqual(len(names), len(set(names)))
        self.assertGreaterEqual(len(names), 200)
        for name, model_type, argument, value in (
            ("Mistral-7B-v0.1", "mistral", "rope_theta", 10000),
            ("Mistral-7B-Instruct-v0.3", "mistral", "rope_theta", 1000000),
            ("gemma-2-9b-it", "gemma2", "dim", 256),
            ("EleutherAI/gpt-neox-20b", "gpt_neox", "dim", 96),
            ("deepseek-ai/DeepSeek-R1", "deepseek_v3", "mscale", 1),
            ("Qwen3-4B-Instruct-2507", "qwen3", "rope_theta", 5000000),
            ("smollm2-1.7b-instruct", "llama", "rope_theta", 130000),
            ("Llama-3.2-3B", "llama", "factor", 32),
        ):
            with self.subTest(name):
                plan = self.get(f"/v1/models/{quote(name, safe='')}?plan=true").json()
                self.assertEqual(plan["model_type"], model_type)
                given = plan["parts"][0]["arguments"][argument]
                self.assertEqual(given["value"], value)

    def test_a_tuned_model_whose_config_differs_has_a_row_of_its_own(self):
        for name, length in (
            ("Qwen2.5-7B", 131072),
            ("Qwen2.5-7B-Instruct", 32768),
            ("Qwen/Qwen2-7B", 131072),
            ("Qwen/Qwen2-7B-Instruct", 32768),
            ("Qwen2.5-Coder-7B-Instruct", 32768),
            ("Llama-4-Scout-17B-16E-Instruct", 10485760),
            ("exaone-4.0-32b", 131072),
        ):
            plan = self.get(f"/v1/models/{quote(name, safe='')}?plan=true").json()
            self.assertEqual(plan["parts"][0]["facts"]["positions"]["value"], length, name)
            self.assertEqual(plan["not_used"], [])

    def test_a_name_that_is_not_known_is_suggested_another(self):
        problem = self.assert_problem(self.get("/v1/models/gemam-3-27b?plan=true"), 404)
        self.assertEqual(problem["did_you_mean"], "gemma-3-27b")


ABSURD = [
    None,
    -1,
    0,
    1e300,
    -1e300,
    0.5,
    2**53 + 1,
    "",
    "x",
    "LLLG",
    [],
    [0],
    ["a"],
    {},
    {"a": 1},
    True,
    False,
    [[1]],
    "yarn",
    3,
    65537,
    [1e9] * 5,
]


QUERIES = [
    "&image=300,500",
    "&image=64&frames=9",
    "&frames=4096",
    "&length=7&offset=3",
    "&components=text",
    "&components=vision,text",
    "&image=65536&dtype=f64",
]


def mutate(config, chance):
    """Drop keys, or give them other types and absurd values, in the config or in one of its
    objects."""
    config = copy.deepcopy(config)
    for _ in range(chance.randint(1, 3)):
        target = config
        while inner := [value for value in target.values() if isinstance(value, dict)]:
            if chance.random() < 0.4:
                break
            target = chance.choice(inner)
        if not target:
            continue
        key = chance.choice(sorted(target))
        if chance.random() < 0.3:
            del target[key]
        else:
            target[key] = copy.deepcopy(chance.choice(ABSURD))
    return config


class Mutations(Plans):
    def test_damaged_configs_are_planned_or_refused(self):
        chance = random.Random(20261123)
        folder = os.environ.get("POSENC_MODELS")
        whole = (
            [
                json.loads(path.read_text())
                for path in sorted(pathlib.Path(folder).glob("*.json"))
                if path.name != "expected.json"
            ]
            if folder
            else []
        )
        configs = [
            json.loads(path.read_text())["config"] for path in sorted(SET.glob("*.json"))
        ] + whole
        seen = {200: 0, 422: 0}
        for _ in range(int(os.environ.get("MUTATIONS", "1000"))):
            config = mutate(chance.choice(configs), chance)
            query = chance.choice(["", "", *QUERIES])
            reply = self.plan(config, query)
            self.assertIn(reply.status, seen, (config, query, reply))
            seen[reply.status] += 1
            for part in reply.json().get("parts", []):
                self.assertEqual(
                    part["state"] == "computed",
                    "request" in part and "YOUR-SET" not in part["request"],
                )
        self.assertGreater(min(seen.values()), 0, seen)


if __name__ == "__main__":
    unittest.main()
