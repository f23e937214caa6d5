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
    (MEGATRON | {"rotary_interleaved": True}, rotary(frequencies(128), "interleaved")),
    (
        MEGATRON | {"rotary_percent": 0.5, "rotary_interleaved": True},
        rotary(frequencies(64), "interleaved"),
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
            for name, value in each.arguments.items():
                self.assertEqual(part["arguments"][name]["value"], value, name)

    def assert_files(self, rows):
        for file, *expected in rows:
            with self.subTest(file=file):
                self.assert_file(file, *expected)

    def test_arguments_of_megatron(self):
        self.assert_files(MEGATRON_FILES)


if __name__ == "__main__":
    unittest.main()
