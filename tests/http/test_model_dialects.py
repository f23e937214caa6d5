"""Files of other libraries: each row is a file as its library has it, and what the library's
own code makes of it, computed here from its laws by numpy."""

import json
import math
import unittest

import numpy as np

from server import ServerCase

JSON = {"Content-Type": "application/json"}


def frequencies(width, theta=10000.0):
    return theta ** -(np.arange(0, width, 2) / width)


def llama3(freqs, factor=8):
    """Llama 3.1's law: long wavelengths are divided, short ones stay, others lie between."""
    smooth = np.clip((8192 / (2 * np.pi / freqs) - 1) / 3, 0, 1)
    return freqs * (smooth + (1 - smooth) / factor)


def yarn(width, factor, theta=10000.0, original=4096, fast=32, slow=1, whole=True):
    freqs = frequencies(width, theta)
    low, high = (
        width * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(theta))
        for turns in (fast, slow)
    )
    if whole:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, width - 1)
    ramp = np.clip((np.arange(width // 2) - low) / (high - low), 0, 1)
    return freqs * (1 - ramp) + freqs / factor * ramp


def ntk_fixed(width, factor, theta, mixed=None):
    """The law of GTE's own code."""
    place = np.arange(1, width // 2 + 1)
    if mixed is None:
        return frequencies(width, theta * factor) / factor ** (2 / width)
    grown = np.log(factor) / (width / 2) ** mixed * place**mixed
    return frequencies(width, theta) / np.exp(grown)


def rotary(freqs, pairing="half", attention=1.0, layers=None, part="text"):
    """A rotary part: its frequencies, pairing, the number that its cosines are multiplied by,
    and the layers that use it; None: all."""
    return (part, freqs, pairing, attention, layers)


class Refused:
    """A refusal that names a key and has a word."""

    def __init__(self, key, word=""):
        self.key, self.word = key, word


class Scheme:
    """A part without rotation: its scheme, and some of its arguments."""

    def __init__(self, scheme, part="text", layers=None, **arguments):
        self.scheme, self.part, self.layers = scheme, part, layers
        self.arguments = arguments


NONE = []

MEGATRON = {
    "num_layers": 8,
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_query_groups": 8,
    "max_position_embeddings": 8192,
    "position_embedding_type": "rope",
}
LATENT = MEGATRON | {
    "multi_latent_attention": True,
    "kv_lora_rank": 512,
    "qk_head_dim": 128,
    "qk_pos_emb_head_dim": 64,
    "v_head_dim": 128,
}
MEGATRON_FILES = [
    (MEGATRON, rotary(frequencies(128))),
    (
        {name.replace("_", "-"): value for name, value in MEGATRON.items()}
        | {"rotary-base": 500000, "kv-channels": 64},
        rotary(frequencies(64, 500000)),
    ),
    (
        {"--" + name.replace("_", "-"): MEGATRON[name] for name in MEGATRON},
        rotary(frequencies(128)),
    ),
    (MEGATRON | {"rotary_interleaved": True}, rotary(frequencies(128), "interleaved")),
    (
        MEGATRON | {"rotary_percent": 0.5, "rotary_interleaved": True},
        rotary(frequencies(64), "interleaved"),
    ),
    (MEGATRON | {"no_position_embedding": True}, rotary(frequencies(128))),
    (
        MEGATRON
        | {"no_position_embedding": True, "position_embedding_type": "learned_absolute"},
        Refused("no_position_embedding", "contradicts"),
    ),
    (
        MEGATRON
        | {
            "position_embedding_type": "yarn",
            "no_yarn_correction_range_round_to_int": True,
            "rotary_scaling_factor": 32,
        },
        rotary(yarn(128, 32, whole=False), attention=0.1 * math.log(32) + 1),
    ),
    (MEGATRON | {"rotary_percent": 0.25}, rotary(frequencies(32))),
    (MEGATRON | {"use_rope_scaling": True}, rotary(llama3(frequencies(128)))),
    (
        MEGATRON | {"use_rope_scaling": True, "rope_scaling_factor": 32, "rotary_base": 5e5},
        rotary(llama3(frequencies(128, 5e5), 32)),
    ),
    (MEGATRON | {"rope_scaling_factor": 8}, rotary(frequencies(128))),
    (
        MEGATRON | {"rotary_seq_len_interpolation_factor": 4},
        rotary(frequencies(128) / 4),
    ),
    (
        MEGATRON
        | {
            "rotary_seq_len_interpolation_factor": 4,
            "use_rope_scaling": True,
            "rotary_base": 500000,
        },
        rotary(llama3(frequencies(128, 500000)) / 4),
    ),
    (
        MEGATRON | {"no_rope_freq": 4},
        rotary(frequencies(128), layers=[0, 0, 0, -1, 0, 0, 0, -1]),
    ),
    (
        MEGATRON | {"no_rope_freq": [0, 1, 1, 0, 0, 0, 0, 1]},
        rotary(frequencies(128), layers=[0, -1, -1, 0, 0, 0, 0, -1]),
    ),
    (MEGATRON | {"no_rope_freq": 0}, rotary(frequencies(128))),
    (MEGATRON | {"no_rope_freq": "([0]*3+[1])*2"}, Refused("no_rope_freq")),
    (MEGATRON | {"no_rope_freq": [2] * 8}, Refused("no_rope_freq")),
    (
        MEGATRON | {"position_embedding_type": "yarn", "rotary_scaling_factor": 32},
        rotary(yarn(128, 32), attention=0.1 * math.log(32) + 1),
    ),
    (
        MEGATRON
        | {
            "position_embedding_type": "yarn",
            "rotary_scaling_factor": 32,
            "rotary_base": 150000,
            "rotary_percent": 0.5,
            "yarn_correction_range_round_to_int": False,
            "mscale": 0.7,
            "mscale_all_dim": 0.3,
        },
        rotary(
            yarn(128, 32, 150000, whole=False),
            attention=(0.07 * math.log(32) + 1) / (0.03 * math.log(32) + 1),
        ),
    ),
    (
        MEGATRON | {"position_embedding_type": "mrope", "mrope_section": [16, 24, 24]},
        rotary(frequencies(128)),
    ),
    (MEGATRON | {"position_embedding_type": "mrope"}, Refused("mrope_section")),
    (MEGATRON | {"position_embedding_type": "none"}, NONE),
    (
        MEGATRON | {"position_embedding_type": "learned_absolute"},
        Scheme("learned", base_length=8192, dim=4096),
    ),
    (
        {key: MEGATRON[key] for key in list(MEGATRON)[:5]},
        Scheme("learned", base_length=8192, dim=4096),
    ),
    (
        MEGATRON
        | {
            "position_embedding_type": "learned_absolute",
            "use_rotary_position_embeddings": True,
        },
        rotary(frequencies(128)),
    ),
    (
        MEGATRON | {"position_embedding_type": "relative"},
        Scheme("t5", part="encoder", heads=32, num_buckets=32, bidirectional=True),
    ),
    (
        {key: MEGATRON[key] for key in list(MEGATRON)[1:]}
        | {"position_embedding_type": "relative", "encoder_num_layers": 6, "num_layers": None},
        Scheme("t5", part="encoder", layers=6, heads=32),
        Scheme("t5", part="decoder", layers=6, heads=32),
    ),
    (
        {key: MEGATRON[key] for key in list(MEGATRON)[1:]}
        | {"position_embedding_type": "relative"}
        | {"encoder_num_layers": 6, "decoder_num_layers": 4},
        Scheme("t5", part="encoder", layers=6, bidirectional=True),
        Scheme("t5", part="decoder", layers=4, bidirectional=False),
    ),
    (MEGATRON | {"rotary_percentage": 0.5}, rotary(frequencies(64))),
    (MEGATRON | {"seq_len_interpolation_factor": 2}, rotary(frequencies(128) / 2)),
    (MEGATRON | {"scale_positional_embedding": True}, rotary(llama3(frequencies(128)))),
    (
        MEGATRON | {"scale_positional_embedding": True, "scale_factor": 32},
        rotary(llama3(frequencies(128), 32)),
    ),
    (
        {
            "name": "megatron_gpt",
            "trainer": {"devices": 1},
            "model": MEGATRON
            | {"encoder_seq_length": 512, "max_position_embeddings": "${.encoder_seq_length}"}
            | {"position_embedding_type": "learned_absolute"},
        },
        Scheme("learned", base_length=512, dim=4096),
    ),
    ({"model": MEGATRON | {"logits_soft_cap": 30.0}}, Refused("model.logits_soft_cap")),
    (MEGATRON | {"position_embedding_type": "kerple"}, Refused("position_embedding_type")),
    (
        {
            "name": "megatron_griffin",
            "model": MEGATRON | {"activations_checkpoint_recurrent": False},
        },
        Refused("model.activations_checkpoint_recurrent", "Griffin"),
    ),
    (
        {"trainer": {}, "model": {"encoder": MEGATRON, "decoder": MEGATRON}},
        Refused("model_type", "encoder and decoder"),
    ),
    ({"share_token_embeddings": True}, Refused("model_type", "in other files")),
    ({"trainer": {}, "model": {"restore_from_path": "x"}}, Refused("model_type", "checkpoint")),
    ({"trainer": {}, "model": {"encoder": MEGATRON}}, Refused("model_type", "of a trainer")),
    ({"model": {"data": {}}}, Refused("model_type", "of a trainer")),
    (MEGATRON | {"position_embedding_type": "roope"}, Refused("position_embedding_type")),
    (LATENT | {"rope_type": "rope"}, rotary(frequencies(64), "interleaved")),
    (
        LATENT | {"mscale": 1.0, "mscale_all_dim": 1.0},
        rotary(yarn(64, 40), "interleaved"),
    ),
    (LATENT, rotary(yarn(64, 40), "interleaved", 0.1 * math.log(40) + 1)),
    (
        LATENT | {"use_rope_scaling": True, "rope_type": "rope"},
        rotary(frequencies(64), "interleaved"),
    ),
    (LATENT | {"rotary_interleaved": True}, Refused("rotary_interleaved")),
    (MEGATRON | {"hybrid_layer_pattern": "M*M*"}, Refused("hybrid_layer_pattern")),
    (MEGATRON | {"rotary_wobble": 3}, Refused("rotary_wobble", "looks like positions")),
    (
        MEGATRON | {"rotary_seq_len_interpolation_factor": "4"},
        Refused("rotary_seq_len_interpolation_factor", "a number"),
    ),
]

NEOX = {
    "num-layers": 6,
    "hidden-size": 1024,
    "num-attention-heads": 16,
    "max-position-embeddings": 2048,
    "zero_optimization": {"stage": 1},
    "pos-emb": "rotary",
}
NEOX_FILES = [
    (NEOX, rotary(frequencies(64))),
    (NEOX | {"rotary-pct": 0.25, "rotary_emb_base": 25000}, rotary(frequencies(16, 25000))),
    (
        {key: NEOX[key] for key in list(NEOX)[:5]} | {"gpt_j_residual": True},
        Scheme("learned", base_length=2048, dim=1024),
    ),
    (NEOX | {"pos-emb": "sinusoidal"}, Scheme("sinusoidal", dim=1024, layout="concat")),
    (NEOX | {"pos-emb": "alibi"}, Scheme("alibi", heads=16, mask="causal")),
    (NEOX | {"pos-emb": "rpe", "rpe-num-buckets": 16}, Scheme("t5", num_buckets=16)),
    (NEOX | {"pos-emb": "none"}, NONE),
    (NEOX | {"pos-emb": "rotery"}, Refused("pos_emb", "rotary")),
    (NEOX | {"attention-config": [[["flash"], 6]]}, rotary(frequencies(64))),
    (NEOX | {"attention-config": [[["mamba"], 6]]}, Refused("attention_config")),
    (NEOX | {"rotary-twist": 1}, Refused("rotary_twist", "looks like positions")),
]
LITGPT = {
    "n_layer": 4,
    "n_head": 8,
    "n_embd": 512,
    "block_size": 2048,
    "norm_class_name": "RMSNorm",
    "rotary_percentage": 1.0,
}
ADJUSTED = {
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_seq_len": 8192,
}
LITGPT_FILES = [
    (LITGPT, rotary(frequencies(64))),
    (LITGPT | {"rotary_percentage": None}, rotary(frequencies(16))),
    (LITGPT | {"head_size": 128, "rope_base": 500000}, rotary(frequencies(128, 500000))),
    (LITGPT | {"rope_condense_ratio": 4}, rotary(frequencies(64) / 4)),
    (LITGPT | {"rope_adjustments": {"factor": 8.0}}, rotary(frequencies(64) / 8)),
    (
        LITGPT | {"rope_adjustments": {"factor": 8.0}, "rope_condense_ratio": 2},
        rotary(frequencies(64) / 16),
    ),
    (LITGPT | {"rope_adjustments": ADJUSTED}, rotary(llama3(frequencies(64)))),
    (
        LITGPT | {"rope_adjustments": ADJUSTED, "rope_condense_ratio": 2},
        rotary(llama3(frequencies(64)) / 2),
    ),
    (
        LITGPT | {"rope_adjustments": ADJUSTED | {"beta_fast": 32, "beta_slow": 1}},
        Refused("rope_adjustments.beta_fast", "the other way round"),
    ),
    (
        LITGPT | {"rope_adjustments": {"factor": 8.0, "low_freq_factor": 1}},
        Refused("rope_adjustments.high_freq_factor", "given"),
    ),
    (
        LITGPT | {"rope_adjustments": {"factor": 8.0, "wobble": 1}},
        Refused("rope_adjustments.wobble", "looks like positions"),
    ),
    (LITGPT | {"rope_interleave": True}, rotary(frequencies(64), "interleaved")),
    (
        LITGPT
        | {"rope_local_base_freq": 1e4, "rope_base": 1e6, "rope_indices": [1, 1, 0, 1]}
        | {"rope_adjustments": {"factor": 8.0}},
        rotary(frequencies(64, 1e6) / 8, layers=[1, 1, 0, 1], part="text.full_attention"),
        rotary(frequencies(64), layers=[1, 1, 0, 1], part="text.sliding_attention"),
    ),
    (
        LITGPT | {"latent_attention": {"qk_rope_head_dim": 32, "kv_lora_rank": 512}},
        rotary(frequencies(32)),
    ),
]
OLMO = {
    "d_model": 2048,
    "n_heads": 16,
    "n_layers": 4,
    "max_sequence_length": 2048,
    "activation_type": "swiglu",
}
OLMO_FILES = [
    (OLMO | {"rope": True}, rotary(frequencies(128))),
    (
        {"run_name": "x", "model": OLMO | {"rope": True, "rope_theta": 500000}},
        rotary(frequencies(128, 500000)),
    ),
    (OLMO, Scheme("learned", base_length=2048, dim=2048)),
    (
        OLMO | {"alibi": True, "alibi_bias_max": 4.0},
        Scheme("alibi", heads=16, mask="symmetric", alibi_bias_max=4),
    ),
    (OLMO | {"alibi": True, "rope": True}, Refused("alibi", "contradicts")),
    ({"model": OLMO | {"rope_dance": 1}}, Refused("model.rope_dance", "looks like")),
]
FOUNDRY = {
    "name": "mpt_causal_lm",
    "d_model": 2048,
    "n_heads": 16,
    "n_layers": 4,
    "max_seq_len": 4096,
    "expansion_ratio": 4,
}
FOUNDRY_FILES = [
    ({"model": FOUNDRY}, Scheme("learned", base_length=4096, dim=2048)),
    (
        {"model": FOUNDRY | {"attn_config": {"alibi": True, "attn_impl": "torch"}}},
        Scheme("alibi", heads=16, preset="mpt"),
    ),
    (
        {"model": FOUNDRY | {"attn_config": {"rope": True, "rope_theta": 500000}}},
        rotary(frequencies(128, 500000)),
    ),
    (
        FOUNDRY
        | {
            "attn_config": {
                "rope": True,
                "rope_impl": "hf",
                "rope_hf_config": {"type": "linear", "factor": 2.0},
            }
        },
        rotary(frequencies(128) / 2),
    ),
    (
        FOUNDRY
        | {
            "attn_config": {
                "rope": True,
                "rope_impl": "dail",
                "rope_hf_config": {"type": "linear", "factor": 2.0},
            }
        },
        rotary(frequencies(128)),
    ),
    (
        FOUNDRY | {"attn_config": {"rope": True, "rope_dail_config": {"type": "xpos"}}},
        Refused("attn_config.rope_dail_config.type", "xpos"),
    ),
    (FOUNDRY | {"attn_config": {"rope": True, "alibi": True}}, Refused("attn_config.rope")),
    (FOUNDRY | {"learned_pos_emb": False}, NONE),
    (
        {"max_seq_len": 2048, "model": {"name": "hf_causal_lm", "pretrained": True}},
        Refused("model_type", "the config.json of the model that it names"),
    ),
    (
        {"command": "composer train.py", "parameters": {"model": FOUNDRY}},
        Refused("model_type", "what stands in its parameters"),
    ),
]
OPEN_LM = {"hidden_dim": 2048, "n_layers": 4, "n_heads": 16, "seq_len": 2048}
OPEN_LM_FILES = [
    (OPEN_LM, rotary(frequencies(128))),
    (
        OPEN_LM | {"positional_embedding_type": "llama_rotary"},
        rotary(frequencies(128), "interleaved"),
    ),
    (OPEN_LM | {"positional_embedding_type": "none"}, NONE),
    (
        OPEN_LM | {"positional_embedding_type": "head_rotary"},
        Refused("positional_embedding_type", "index of the head"),
    ),
    ({"d_model": 768, "n_layer": 24, "vocab_size": 50432, "seq_len": 2048}, NONE),
]
PARAMS = {"dim": 4096, "n_layers": 4, "n_heads": 32, "hidden_dim": 11008}
PARAMS_FILES = [  # of Meta, and of Mistral, which has a width of heads
    (PARAMS, rotary(frequencies(128), "interleaved")),
    (PARAMS | {"rope_theta": 5e5}, rotary(frequencies(128, 5e5), "interleaved")),
    (PARAMS | {"head_dim": 128}, rotary(frequencies(128, 1e6), "interleaved")),
    (PARAMS | {"head_dim": 128, "sliding_window": 4096}, Refused("rope_theta", "given")),
    (
        PARAMS | {"head_dim": 128, "sliding_window": 4096, "rope_theta": 10000},
        rotary(frequencies(128), "interleaved"),
    ),
]
MAXTEXT = {
    "base_emb_dim": 4096,
    "base_num_query_heads": 32,
    "base_num_kv_heads": 8,
    "base_num_decoder_layers": 4,
    "decoder_block": "llama2",
}
MAXTEXT_FILES = [
    (MAXTEXT, rotary(frequencies(128))),
    (
        MAXTEXT | {"head_dim": 64, "rope_max_timescale": 500000},
        rotary(frequencies(64, 500000)),
    ),
    (
        MAXTEXT | {"rope_type": "llama3.1", "rope_max_timescale": 500000},
        rotary(llama3(frequencies(128, 500000)), "interleaved"),
    ),
    (
        MAXTEXT | {"rope_type": "llama3.1", "rope_use_scale": False},
        rotary(frequencies(128), "interleaved"),
    ),
    (
        MAXTEXT | {"model_name": "llama3.1-8b"},
        rotary(llama3(frequencies(128)), "interleaved"),
    ),
    (MAXTEXT | {"rope_linear_scaling_factor": 8.0}, rotary(frequencies(128) / 8)),
    (
        MAXTEXT | {"decoder_block": "deepseek", "attention_type": "mla", "rope_type": "yarn"},
        rotary(yarn(64, 40), "interleaved"),
    ),
    (
        MAXTEXT
        | {
            "decoder_block": "gpt_oss",
            "head_dim": 64,
            "rope_type": "yarn",
            "rope_interleave": False,
            "rope_truncate": False,
            "rope_attention_scaling": True,
            "rope_max_timescale": 150000,
            "rope_factor": 32,
        },
        rotary(yarn(64, 32, 150000, whole=False), attention=0.1 * math.log(32) + 1),
    ),
    (
        MAXTEXT | {"decoder_block": "gpt3", "trainable_position_size": 16384},
        Scheme("learned", base_length=16384, dim=4096),
    ),
    (MAXTEXT | {"decoder_block": "gemma4"}, Refused("decoder_block", "config.json")),
    (MAXTEXT | {"nope_layer_interval": 4}, Refused("nope_layer_interval")),
    (MAXTEXT | {"rope_sway": 4}, Refused("rope_sway", "looks like positions")),
]
GTE = {
    "model_type": "new",
    "architectures": ["NewModel"],
    "hidden_size": 768,
    "num_attention_heads": 12,
    "num_hidden_layers": 12,
    "max_position_embeddings": 8192,
    "rope_theta": 20000,
}
GTE_FILES = [
    (GTE, rotary(frequencies(64, 20000))),
    (
        GTE | {"rope_scaling": {"type": "ntk", "factor": 8.0}},
        rotary(ntk_fixed(64, 8, 20000)),
    ),
    (
        GTE | {"rope_scaling": {"type": "ntk", "factor": 2.0, "mixed_b": 0.75}},
        rotary(ntk_fixed(64, 2, 20000, 0.75)),
    ),
    (
        GTE | {"position_embedding_type": "absolute"},
        Scheme("learned", base_length=8192, dim=768),
    ),
    (GTE | {"rope_scaling": {"type": "yarn", "factor": 8}}, Refused("rope_scaling.type")),
]


class ModelDialects(ServerCase):
    def post(self, file, query="plan=true"):
        return self.server.request(
            "POST", f"/v1/models?{query}", JSON, json.dumps(file).encode()
        )

    def tensors(self, file):
        reply = self.post(file, "format=safetensors&length=16")
        self.assertEqual(reply.status, 200, reply.body[:500])
        length = int.from_bytes(reply.body[:8], "little")
        head = json.loads(reply.body[8 : 8 + length])
        head.pop("__metadata__", None)
        return {
            name: np.frombuffer(
                reply.body[8 + length :][slice(*each["data_offsets"])],
                {"F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8"}[each["dtype"]],
            ).reshape(each["shape"])
            for name, each in head.items()
        }

    def assert_rotary(self, plan, tensors, expected):
        name, freqs, pairing, attention, layers = expected
        part = next(each for each in plan["parts"] if each["name"] == name)
        self.assertEqual((part["scheme"], part["pairing"]), ("rope", pairing))
        found = tensors[f"{name}.inv_freq"]
        self.assertEqual(found.shape, freqs.shape)
        np.testing.assert_allclose(found, freqs, rtol=1e-6)
        cosines = attention * np.cos(np.outer(np.arange(16), freqs))
        np.testing.assert_allclose(
            tensors[f"{name}.cos"][:, : len(freqs)], cosines, rtol=0, atol=1e-6
        )
        self.assert_layers(plan, name, layers)

    def assert_layers(self, plan, name, layers):
        index = [each["name"] for each in plan["parts"]].index(name)
        found = plan["components"][0]["layers"]
        self.assertEqual(found, [index] * len(found) if layers is None else layers)

    def assert_file(self, file, *expected):
        reply = self.post(file)
        document = reply.json()
        if isinstance(expected[0], Refused):
            self.assertEqual(reply.status, 422, reply.body[:800])
            problem = next(
                each for each in document["errors"] if each["parameter"] == expected[0].key
            )
            self.assertIn(expected[0].word, problem["allowed"])
            return
        self.assertEqual(reply.status, 200, reply.body[:800])
        if expected[0] is NONE:
            self.assertEqual(document["parts"], [])
            return
        tensors = self.tensors(file)
        for each in expected:
            if not isinstance(each, Scheme):
                self.assert_rotary(document, tensors, each)
                continue
            part = next(one for one in document["parts"] if one["name"] == each.part)
            self.assertEqual(part["scheme"], each.scheme)
            if each.layers:
                self.assertEqual(len(part["layers"]), each.layers)
            for name, value in each.arguments.items():
                self.assertEqual(part["arguments"][name]["value"], value, name)

    def assert_files(self, rows):
        for file, *expected in rows:
            with self.subTest(file=file):
                self.assert_file(file, *expected)

    def test_arguments_of_megatron(self):
        self.assert_files(MEGATRON_FILES)

    def test_files_of_gpt_neox(self):
        self.assert_files(NEOX_FILES)

    def test_configs_of_litgpt(self):
        self.assert_files(LITGPT_FILES)

    def test_files_of_olmo(self):
        self.assert_files(OLMO_FILES)

    def test_files_of_llm_foundry(self):
        self.assert_files(FOUNDRY_FILES)

    def test_files_of_open_lm(self):
        self.assert_files(OPEN_LM_FILES)
        self.assert_files(PARAMS_FILES)

    def test_files_of_maxtext(self):
        self.assert_files(MAXTEXT_FILES)

    def test_configs_of_gte(self):
        self.assert_files(GTE_FILES)

    def test_a_class_without_mrope_warns_of_it(self):
        config = {"model_type": "llama", "hidden_size": 512, "num_attention_heads": 4}
        mrope = {"type": "mrope", "mrope_section": [16, 24, 24]}
        plan = self.post(config | {"rope_scaling": mrope}).json()
        self.assertIn("three positions", plan["notes"][0])
        self.assertIn(plan["notes"][0], plan["summary"])
        vision = config | {"model_type": "qwen2_vl_text", "rope_scaling": mrope}
        self.assertEqual(self.post(vision).json()["notes"], [])

    def test_what_has_changed_something_is_not_listed_as_unused(self):
        yarn_type = {"position_embedding_type": "yarn", "mscale": 0.7, "mscale_all_dim": 0.3}
        for file in (LATENT | {"mscale": 1.0}, MEGATRON | yarn_type):
            plan = self.post(file).json()
            self.assertEqual(plan["not_used"], [])
            factor = plan["parts"][0]["arguments"]["attention_factor"]
            self.assertEqual(factor["from"], "mscale")

    def test_yaml_is_told_how_to_become_json(self):
        reply = self.server.request(
            "POST", "/v1/models?plan=true", JSON, b"num_layers: 8\nhidden_size: 64\n"
        )
        self.assertEqual(reply.status, 400)
        self.assertIn("yaml.safe_load", reply.json()["detail"])

    def test_a_variable_of_omegaconf_is_another_key_of_the_file(self):
        model = FOUNDRY | {"max_seq_len": "${variables.length}"}
        self.assert_file(
            {"variables": {"length": 8192}, "model": model},
            Scheme("learned", base_length=8192),
        )
        reply = self.post({"model": model})
        self.assertEqual(reply.json()["errors"][0]["parameter"], "model.max_seq_len")


if __name__ == "__main__":
    unittest.main()
