"""Other files than a config.json: GGUF, the original files of several publishers, and files
that describe no model."""

import json
import math
import unittest

import gguf_file
from server import ServerCase

BYTES, JSON = {"Content-Type": "application/octet-stream"}, {"Content-Type": "application/json"}
LLAMA = {
    "general.architecture": "llama",
    "general.name": "Llama 3.1 8B",
    "llama.context_length": 131072,
    "llama.embedding_length": 4096,
    "llama.block_count": 32,
    "llama.attention.head_count": 32,
    "llama.attention.head_count_kv": 8,
    "llama.rope.freq_base": 500000.0,
    "llama.rope.dimension_count": 128,
    "tokenizer.ggml.tokens": ["a", "b", "c"],
}
LLAMA_CONFIG = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "num_hidden_layers": 32,
    "max_position_embeddings": 131072,
    "rope_theta": 500000.0,
}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}


def llama3_divisors(factor=8, theta=500000, width=128):
    """The published law, computed here from its description."""
    divisors = []
    for i in range(width // 2):
        wavelength = 2 * math.pi * theta ** (2 * i / width)
        smooth = (8192 / wavelength - 1) / 3
        between = 1 / ((1 - smooth) / factor + smooth)
        divisors.append(
            1.0 if wavelength < 2048 else float(factor) if wavelength > 8192 else between
        )
    return divisors


def renamed(pairs, architecture, **more):
    """The metadata of another architecture."""
    text = json.dumps(pairs).replace('"llama.', f'"{architecture}.')
    pairs = json.loads(text) | {"general.architecture": architecture}
    return pairs | {f"{architecture}.{key}": value for key, value in more.items()}


class ModelFiles(ServerCase):
    def plan(self, body, status=200, query="plan=true"):
        is_bytes = isinstance(body, bytes)
        reply = self.server.request(
            "POST",
            f"/v1/models?{query}",
            BYTES if is_bytes else JSON,
            body if is_bytes else json.dumps(body).encode(),
        )
        self.assertEqual(reply.status, status, reply.body[:500])
        return reply.json()

    def tensors(self, body):
        reply = self.server.request(
            "POST",
            "/v1/models?format=safetensors&length=64",
            BYTES if isinstance(body, bytes) else JSON,
            body if isinstance(body, bytes) else json.dumps(body).encode(),
        )
        self.assertEqual(reply.status, 200, reply.body[:500])
        length = int.from_bytes(reply.body[:8], "little")
        head = json.loads(reply.body[8 : 8 + length])
        return {
            name: (
                each["shape"],
                reply.body[8 + length :][slice(*each["data_offsets"])],
            )
            for name, each in head.items()
            if name != "__metadata__"
        }

    def assert_same(self, file, config):
        """Both have the same parts, arguments, layers and bytes."""
        found, wanted = self.plan(file), self.plan(config)
        for name in ("scheme", "name", "pairing"):
            self.assertEqual(
                [part.get(name) for part in found["parts"]],
                [part.get(name) for part in wanted["parts"]],
            )
        values = [
            [
                {key: each["value"] for key, each in part["arguments"].items()}
                for part in plan["parts"]
            ]
            for plan in (found, wanted)
        ]
        self.assertEqual(*values)
        layers = [[each["layers"] for each in plan["components"]] for plan in (found, wanted)]
        self.assertEqual(*layers)
        self.assertEqual(self.tensors(file), self.tensors(config))
        return found

    def test_a_gguf_file_is_read_as_the_config_of_its_model(self):
        self.assert_same(gguf_file.write(LLAMA), LLAMA_CONFIG)
        self.assert_same(gguf_file.write(LLAMA, version=2), LLAMA_CONFIG)

    def test_divisors_of_a_gguf_file_are_the_law_that_made_them(self):
        for factor in (8, 32):
            file = gguf_file.write(LLAMA, [("rope_freqs.weight", llama3_divisors(factor))])
            scaling = LLAMA3 | {"factor": float(factor)}
            self.assert_same(file, LLAMA_CONFIG | {"rope_scaling": scaling})

    def test_divisors_of_no_known_law_divide_the_frequencies(self):
        divisors = [1 + i / 64 for i in range(64)]
        plan = self.plan(gguf_file.write(LLAMA, [("rope_freqs.weight", divisors)]))
        arguments = plan["parts"][0]["arguments"]
        given = arguments["long_factor"]
        self.assertEqual(
            given.get("value", given) if isinstance(given, dict) else given, divisors
        )

    def test_divisors_beyond_the_bytes_are_asked_for(self):
        file = gguf_file.write(LLAMA, [("rope_freqs.weight", llama3_divisors())])
        problem = self.plan(file[:-64], 422)["errors"][0]
        self.assertEqual(
            (problem["parameter"], problem["given"]), ("body", "rope_freqs.weight")
        )

    def test_the_first_bytes_of_a_gguf_file_are_enough_but_for_a_note(self):
        file = gguf_file.write(LLAMA | {"tokenizer.ggml.scores": [0.5] * 20000})
        plan = self.assert_same(file[:9000], LLAMA_CONFIG)
        self.assertIn("rope_freqs.weight", " ".join(plan["notes"]))
        self.assertNotIn("Send more", " ".join(self.plan(file)["notes"]))

    def test_scalings_of_gguf_files(self):
        yarn = {
            "rope.scaling.type": "yarn",
            "rope.scaling.factor": 4.0,
            "rope.scaling.original_context_length": 32768,
        }
        config = LLAMA_CONFIG | {"model_type": "qwen3", "head_dim": 128}
        self.assert_same(
            gguf_file.write(renamed(LLAMA, "qwen3", **yarn)),
            config
            | {
                "rope_scaling": {
                    "rope_type": "yarn",
                    "factor": 4.0,
                    "original_max_position_embeddings": 32768,
                }
            },
        )
        self.assert_same(
            gguf_file.write(LLAMA | {"llama.rope.scale_linear": 2.0}),
            LLAMA_CONFIG | {"rope_scaling": {"rope_type": "linear", "factor": 2.0}},
        )

    def test_a_part_of_a_head_in_a_gguf_file(self):
        self.assert_same(
            gguf_file.write(renamed(LLAMA, "stablelm", **{"rope.dimension_count": 32})),
            LLAMA_CONFIG | {"model_type": "stablelm", "partial_rotary_factor": 0.25},
        )

    def test_lists_of_divisors_of_a_gguf_file(self):
        longer, shorter = [2 + i / 8 for i in range(48)], [1 + i / 64 for i in range(48)]
        sizes = {
            "embedding_length": 3072,
            "rope.dimension_count": 96,
            "rope.scaling.type": "longrope",
            "rope.scaling.attn_factor": 1.25,
            "rope.scaling.original_context_length": 4096,
        }
        file = gguf_file.write(
            renamed(LLAMA, "phi3", **sizes),
            [("rope_factors_long.weight", longer), ("rope_factors_short.weight", shorter)],
        )
        scaling = {
            "rope_type": "longrope",
            "long_factor": longer,
            "short_factor": shorter,
            "attention_factor": 1.25,
            "original_max_position_embeddings": 4096,
        }
        self.assert_same(
            file,
            LLAMA_CONFIG | {"model_type": "phi3", "hidden_size": 3072, "rope_scaling": scaling},
        )

    def test_keys_of_gguf_files_that_no_release_reads_are_refused(self):
        for key, value in (
            ("rope.scaling.alpha", 1000.0),
            ("rope.scaling.type", "ntk"),
            ("rope.scaling.yarn_ext_factor", 0.5),
            ("rope.dimension_count_swa", 64),
            ("attention.temperature_length", 4096),
        ):
            problem = self.plan(gguf_file.write(LLAMA | {f"llama.{key}": value}), 422)["errors"]
            self.assertEqual([each["parameter"] for each in problem], [f"llama.{key}"])
        for key, value in (("rope.scaling.attn_factor", 2.0), ("rope.dimension_count", 64)):
            plan = self.plan(gguf_file.write(LLAMA | {f"llama.{key}": value}))
            self.assertEqual(plan["not_used"], [f"llama.{key}"])
        self.assertEqual(self.plan(gguf_file.write(LLAMA))["not_used"], [])

    def test_layers_of_gguf_files(self):
        flags = [index % 3 != 2 for index in range(32)]
        kinds = ["sliding_attention" if flag else "full_attention" for flag in flags]
        window = {"attention.sliding_window": 512, "attention.key_length": 128}
        sliding = LLAMA_CONFIG | {"sliding_window": 512, "head_dim": 128}
        for name, pairs, config in (
            (
                "gemma3",
                {"attention.sliding_window_pattern": flags, "rope.freq_base_swa": 20000.0},
                {
                    "model_type": "gemma3_text",
                    "layer_types": kinds,
                    "rope_local_base_freq": 20000.0,
                },
            ),
            (
                "cohere2",
                {"attention.sliding_window_pattern": 3},
                {"model_type": "cohere2", "sliding_window_pattern": 3},
            ),
            (
                "olmo2",
                {"attention.sliding_window_pattern": flags},
                {"model_type": "olmo3", "layer_types": kinds},
            ),
            (
                "modern-bert",
                {"rope.freq_base_swa": 20000.0},
                {
                    "model_type": "modernbert",
                    "global_rope_theta": 500000.0,
                    "local_rope_theta": 20000.0,
                },
            ),
        ):
            with self.subTest(name):
                file = gguf_file.write(renamed(LLAMA, name, **window, **pairs))
                self.assert_same(file, sliding | config)

    def test_gguf_files_that_say_nothing_of_a_scaling_have_none(self):
        for name, model_type in (("gpt-oss", "gpt_oss"), ("mistral3", "ministral3")):
            config = LLAMA_CONFIG | {
                "model_type": model_type,
                "head_dim": 128,
                "rope_scaling": {"rope_type": "default"},
            }
            pairs = renamed(LLAMA, name, **{"attention.key_length": 128})
            self.assert_same(gguf_file.write(pairs), config)

    def test_heads_and_stacks_of_a_gguf_file_of_t5(self):
        pairs = renamed(LLAMA, "t5", decoder_block_count=6)
        found = self.plan(gguf_file.write(pairs))
        self.assertEqual(
            [part["arguments"]["heads"]["value"] for part in found["parts"]], [32, 32]
        )
        self.assertEqual([len(each["layers"]) for each in found["components"]], [32, 6])

    def test_biases_and_tables_of_gguf_files_of_mpt(self):
        for most, scheme, argument in (
            (8.0, "alibi", ("alibi_bias_max", 8)),
            (0.0, "learned", ("base_length", 131072)),
        ):
            pairs = renamed(LLAMA, "mpt", **{"attention.max_alibi_bias": most})
            (part,) = self.plan(gguf_file.write(pairs))["parts"]
            self.assertEqual(part["scheme"], scheme)
            name, value = argument
            self.assertEqual(part["arguments"][name]["value"], value)

    def test_lists_with_a_number_for_each_layer(self):
        heads = LLAMA | {"llama.attention.head_count_kv": [8] * 32}
        self.assert_same(gguf_file.write(heads), LLAMA_CONFIG)
        heads["llama.attention.head_count_kv"] = [8] * 31 + [4]
        plan = self.plan(gguf_file.write(heads))
        self.assertIn("head_count_kv differs between layers", " ".join(plan["notes"]))

    def test_pairs_of_a_config_of_mlx(self):
        for name, value, pairing in (
            ("llama", True, "interleaved"),
            ("qwen2", True, "interleaved"),
            ("llama", False, "half"),
            ("glm4", False, "half"),
        ):
            config = LLAMA_CONFIG | {"model_type": name, "rope_traditional": value}
            part = self.plan(config)["parts"][0]
            self.assertEqual(part["pairing"], pairing, name)
            self.assertEqual(part["arguments"]["layout"]["from"], "rope_traditional")

    def test_architectures_that_are_two_models_are_refused(self):
        for name in ("baichuan", "jais"):  # rotary or ALiBi, by their size
            problem = self.plan(gguf_file.write(renamed(LLAMA, name)), 422)["errors"][0]
            self.assertEqual(problem["parameter"], "general.architecture")

    def test_metadata_as_json(self):
        self.assert_same(LLAMA, LLAMA_CONFIG)
        dumped = {
            name: {"index": 1, "type": "X", "value": value} for name, value in LLAMA.items()
        }
        plan = self.assert_same({"metadata": dumped, "tensors": {}}, LLAMA_CONFIG)
        self.assertNotIn("rope_freqs.weight", " ".join(plan["notes"]))
        self.assertIn("rope_freqs.weight", " ".join(self.plan(LLAMA)["notes"]))
        listed = {"metadata": dumped, "tensors": {"rope_freqs.weight": {"shape": [64]}}}
        problem = self.plan(listed, 422)["errors"][0]
        self.assertEqual(
            (problem["parameter"], problem["given"]), ("body", "rope_freqs.weight")
        )

    def test_what_is_no_gguf_file(self):
        good = gguf_file.write(LLAMA)
        self.plan(b"GGUF\4" + good[5:], 400)
        self.plan(b"GGUF" + good[4:24][::-1], 400)
        self.plan(b"GGUF", 400)
        self.plan(b"GGU", 415)
        problem = self.plan(gguf_file.write(renamed(LLAMA, "lama")), 422)["errors"][0]
        self.assertEqual(problem["parameter"], "general.architecture")
        self.assertEqual(problem["did_you_mean"], "llama")
        for cut in range(24, 400, 7):  # whatever is there is read, nothing beyond it
            reply = self.server.request("POST", "/v1/models?plan=true", BYTES, good[:cut])
            self.assertIn(reply.status, (200, 422), (cut, reply.body))

    def test_original_files_of_publishers(self):
        params = {
            "dim": 4096,
            "n_heads": 32,
            "n_kv_heads": 8,
            "n_layers": 32,
            "norm_eps": 1e-05,
            "rope_theta": 500000.0,
            "use_scaled_rope": True,
            "vocab_size": 128256,
        }
        for file in (params, params | {"model_type": "llama"}):
            plan = self.plan(file)
            self.assertEqual(plan["parts"][0]["pairing"], "interleaved")
            self.assertEqual(
                [each[1] for each in self.tensors(file).values()],
                [
                    each[1]
                    for each in self.tensors(LLAMA_CONFIG | {"rope_scaling": LLAMA3}).values()
                ],
            )
        self.assert_same(
            {
                "dim": 7168,
                "n_layers": 61,
                "n_heads": 128,
                "qk_nope_head_dim": 128,
                "qk_rope_head_dim": 64,
                "kv_lora_rank": 512,
            },
            {
                "model_type": "deepseek_v3",
                "hidden_size": 7168,
                "num_hidden_layers": 61,
                "num_attention_heads": 128,
                "qk_rope_head_dim": 64,
                "max_position_embeddings": 163840,
                "rope_scaling": {
                    "type": "yarn",
                    "factor": 40,
                    "beta_fast": 32,
                    "beta_slow": 1,
                    "mscale": 1.0,
                    "mscale_all_dim": 1.0,
                    "original_max_position_embeddings": 4096,
                },
            },
        )
        self.assert_same(
            {
                "num_hidden_layers": 36,
                "num_experts": 128,
                "head_dim": 64,
                "num_attention_heads": 64,
                "sliding_window": 128,
                "initial_context_length": 4096,
                "rope_theta": 150000,
                "rope_scaling_factor": 32.0,
                "rope_ntk_alpha": 1,
                "rope_ntk_beta": 32,
                "hidden_size": 2880,
            },
            {
                "model_type": "gpt_oss",
                "num_hidden_layers": 36,
                "head_dim": 64,
                "num_attention_heads": 64,
                "hidden_size": 2880,
                "max_position_embeddings": 131072,
                "sliding_window": 128,
                "rope_theta": 150000,
                "rope_scaling": {
                    "rope_type": "yarn",
                    "factor": 32.0,
                    "beta_fast": 32.0,
                    "beta_slow": 1.0,
                    "truncate": False,
                    "original_max_position_embeddings": 4096,
                },
            },
        )

    def test_files_that_describe_no_model_are_named(self):
        for file, word in (
            ({"peft_type": "LORA", "base_model_name_or_path": "x"}, "adapter"),
            ({"weight_map": {}, "metadata": {}}, "index"),
            ({"tokenizer_class": "LlamaTokenizer"}, "tokenizer"),
            ({"_from_model_config": True, "eos_token_id": 2}, "generation"),
            ({"image_processor_type": "X"}, "preprocessor"),
            ({"_class_name": "FluxPipeline", "transformer": [], "vae": []}, "model_index"),
            ({"_class_name": "FlowScheduler", "num_train_timesteps": 1000}, "scheduler"),
        ):
            problem = self.plan(file, 422)["errors"][0]
            self.assertIn(word, problem["parameter"] + problem.get("allowed", ""), problem)


if __name__ == "__main__":
    unittest.main()
