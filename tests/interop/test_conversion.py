"""/v1/convert/rope against the permutations that conversion scripts publish, byte by byte: each
family in both directions, by options and by a config in the file, in three dtypes."""

import json
import random
import struct
import unittest
from urllib.parse import urlencode

import numpy as np

from service import ServiceTest

DTYPES = {"F32": "<u4", "F16": "<u2", "BF16": "<u2"}  # bits, which move
OTHER = {"half": "interleaved", "interleaved": "half"}


def to_half(x, heads):
    """`permute` of transformers' convert_llama_weights_to_hf.py: neighbours become halves."""
    rows = x.shape[0]
    return x.reshape(heads, rows // heads // 2, 2, -1).swapaxes(1, 2).reshape(x.shape)


def to_interleaved(x, heads):
    """`permute` of llama.cpp's convert_hf_to_gguf.py: halves become neighbours."""
    rows = x.shape[0]
    return x.reshape(heads, 2, rows // heads // 2, -1).swapaxes(1, 2).reshape(x.shape)


PERMUTE = {"half": to_half, "interleaved": to_interleaved}


def permute(x, heads, to, rotary=None, first=0):
    """The same for the columns [first, first + rotary) of every head."""
    whole = x.reshape(heads, x.shape[0] // heads, -1).copy()
    rotary = whole.shape[1] if rotary is None else rotary
    part = whole[:, first : first + rotary]
    whole[:, first : first + rotary] = PERMUTE[to](
        np.ascontiguousarray(part).reshape(heads * rotary, -1), heads
    ).reshape(part.shape)
    return whole.reshape(x.shape)


class Family:
    """Shapes of tensors, what becomes of each, and what a request says."""

    def __init__(self, rng, pairing):
        self.rng, self.pairing = rng, pairing
        self.rows, self.expected, self.query, self.config = {}, {}, {}, {}

    def stays(self, name, rows):
        self.add(name, rows, lambda x, to: x)

    def add(self, name, rows, convert):
        self.rows[name], self.expected[name] = rows, convert


def llama(rng):
    """Meta's Llama: as many keys as queries, and the norms that stay."""
    self = Family(rng, "half")
    heads, dim = rng.choice([2, 5, 8]), 2 * rng.randint(1, 40)
    for name in "qk":
        self.add(
            f"model.layers.0.self_attn.{name}_proj.weight",
            heads * dim,
            lambda x, to: permute(x, heads, to),
        )
    self.stays("model.layers.0.self_attn.v_proj.weight", heads * dim)
    self.query = {"heads": heads}
    self.config = {
        "model_type": "llama",
        "hidden_size": heads * dim,
        "num_attention_heads": heads,
    }
    return self


def mistral(rng, model_type="mistral"):
    """Grouped queries: fewer keys, with biases as Qwen 2 has them."""
    self = Family(rng, "half")
    kv_heads, share, dim = rng.choice([1, 2, 3]), rng.choice([2, 4, 7]), 2 * rng.randint(2, 32)
    heads = kv_heads * share
    for kind in ("weight", "bias"):
        self.add(f"layers.3.q_proj.{kind}", heads * dim, lambda x, to: permute(x, heads, to))
        self.add(
            f"layers.3.k_proj.{kind}", kv_heads * dim, lambda x, to: permute(x, kv_heads, to)
        )
        self.stays(f"layers.3.v_proj.{kind}", kv_heads * dim)
    self.query = rng.choice([{"heads": heads, "kv_heads": kv_heads}, {"head_dim": dim}])
    self.config = {
        "model_type": model_type,
        "head_dim": dim,
        "hidden_size": heads * dim,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
    }
    return self


def mixtral(rng):
    return mistral(rng, "mixtral")


def qwen3(rng):
    """Norms of one head are permuted with the projections that they follow."""
    self = mistral(rng, "qwen3")
    dim = self.config["head_dim"]
    self.add("layers.3.q_norm.weight", dim, lambda x, to: permute(x, 1, to))
    self.add("layers.3.k_norm.weight", dim, lambda x, to: permute(x, 1, to))
    self.stays("layers.3.input_layernorm.weight", 24)
    return self


def stack(x, sizes, converts):
    """Convert consecutive rows, each size by its own function."""
    parts = np.split(x, np.cumsum(sizes)[:-1])
    return np.concatenate([convert(part) for part, convert in zip(parts, converts)])


def keep(x):
    return x


def phi3(rng):
    """modeling_phi3: query_pos = heads * head_dim, then the keys, then the values."""
    self = Family(rng, "half")
    kv_heads, share, dim = rng.choice([1, 2, 3]), rng.choice([1, 2, 4]), 4 * rng.randint(1, 16)
    heads, rotary = kv_heads * share, 2 * rng.randint(1, dim // 2)

    def convert(x, to):
        return stack(
            x,
            [heads * dim, kv_heads * dim, kv_heads * dim],
            [
                lambda q: permute(q, heads, to, rotary),
                lambda k: permute(k, kv_heads, to, rotary),
                keep,
            ],
        )

    self.add("layers.0.self_attn.qkv_proj.weight", (heads + 2 * kv_heads) * dim, convert)
    self.query = {"heads": heads, "kv_heads": kv_heads, "qkv": "stacked", "rotary_dim": rotary}
    self.config = {
        "model_type": "phi3",
        "hidden_size": heads * dim,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "partial_rotary_factor": rotary / dim,
    }
    return self


def by_group(x, groups, share, dim, convert):
    """For each group its queries, then one key and one value: [groups, share + 2, dim]."""
    whole = x.reshape(groups, share + 2, dim, -1).copy()
    for group in whole:
        for head in group[: share + 1]:
            head[...] = convert(head)
    return whole.reshape(x.shape)


def gpt_neox(rng):
    """GPTNeoXAttention: query_key_value as [heads, 3, head_dim], a quarter of which turns."""
    self = Family(rng, "half")
    heads, dim = rng.choice([2, 3, 8]), 8 * rng.randint(1, 12)

    def convert(x, to):
        return by_group(x, heads, 1, dim, lambda head: permute(head, 1, to, dim // 4))

    for kind in ("weight", "bias"):
        self.add(
            f"gpt_neox.layers.0.attention.query_key_value.{kind}", 3 * heads * dim, convert
        )
    self.query = {"heads": heads, "qkv": "by_head", "rotary_dim": dim // 4}
    self.config = {
        "model_type": "gpt_neox",
        "hidden_size": heads * dim,
        "num_attention_heads": heads,
        "rotary_pct": 0.25,
    }
    return self


def falcon(rng):
    """FalconAttention._split_heads: the new decoder's groups, or one key of all queries."""
    self = Family(rng, "half")
    is_new = rng.random() < 0.5
    groups, share, dim = rng.choice([2, 4]) if is_new else 1, rng.choice([2, 5]), 16
    heads = groups * share

    def convert(x, to):
        return by_group(x, groups, share, dim, lambda head: permute(head, 1, to))

    self.add("h.0.self_attention.query_key_value.weight", groups * (share + 2) * dim, convert)
    self.query = {"heads": heads, "kv_heads": groups, "qkv": "grouped"}
    self.config = {
        "model_type": "falcon",
        "alibi": False,
        "hidden_size": heads * dim,
        "num_attention_heads": heads,
        "new_decoder_architecture": is_new,
        **({"num_kv_heads": groups} if is_new else {"multi_query": True}),
    }
    return self


def megatron(rng):
    """Megatron's linear_qkv: for each query group its queries, the key, the value."""
    self = Family(rng, "half")
    groups, share, dim = rng.choice([1, 2, 4]), rng.choice([1, 3, 4]), 8 * rng.randint(1, 8)

    def convert(x, to):
        return by_group(x, groups, share, dim, lambda head: permute(head, 1, to))

    for kind in ("weight", "bias"):
        self.add(f"self_attention.linear_qkv.{kind}", groups * (share + 2) * dim, convert)
    self.query = {"head_dim": dim, "qkv": f"q{share},k,v"}
    self.config = {
        "num_layers": 2,
        "hidden_size": groups * share * dim,
        "num_attention_heads": groups * share,
        "num_query_groups": groups,
        "kv_channels": dim,
        "position_embedding_type": "rope",
    }
    return self


def gptj(rng):
    """GPTJAttention: pairs of neighbours among the first rotary_dim columns of a head."""
    self = Family(rng, "interleaved")
    heads, dim, rotary = rng.choice([2, 3]), 32, rng.choice([8, 16, 32])
    for name in "qk":
        self.add(
            f"h.0.attn.{name}_proj.weight",
            heads * dim,
            lambda x, to: permute(x, heads, to, rotary),
        )
    self.stays("h.0.attn.v_proj.weight", heads * dim)
    self.query = {"heads": heads, "rotary_dim": rotary}
    self.config = {
        "model_type": "gptj",
        "n_embd": heads * dim,
        "n_head": heads,
        "rotary_dim": rotary,
    }
    return self


def codegen(rng):
    """CodeGenAttention: four blocks of queries, values and keys."""
    self = Family(rng, "interleaved")
    local, dim, rotary = rng.choice([1, 2, 4]), 16, rng.choice([4, 8, 16])

    def convert(x, to):
        blocks = x.reshape(4, 3 * local * dim, -1)
        done = [
            stack(
                block,
                [local * dim] * 3,
                [
                    lambda q: permute(q, local, to, rotary),
                    keep,
                    lambda k: permute(k, local, to, rotary),
                ],
            )
            for block in blocks
        ]
        return np.concatenate(done).reshape(x.shape)

    self.add("transformer.h.0.attn.qkv_proj.weight", 12 * local * dim, convert)
    self.query = {
        "heads": 4 * local,
        "qkv": f"q{local},v{local},k{local}",
        "rotary_dim": rotary,
    }
    self.config = {
        "model_type": "codegen",
        "n_embd": 4 * local * dim,
        "n_head": 4 * local,
        "rotary_dim": rotary,
    }
    return self


def deepseek(rng):
    """DeepseekV3Attention: the last qk_rope_head_dim columns of a query, and of the latent."""
    self = Family(rng, "interleaved")
    heads, still, rotary = rng.choice([2, 5]), rng.choice([16, 24]), 2 * rng.randint(1, 16)
    latent = rng.choice([32, 51])
    self.add(
        "model.layers.0.self_attn.q_b_proj.weight",
        heads * (still + rotary),
        lambda x, to: permute(x, heads, to, rotary, still),
    )
    self.add(
        "model.layers.0.self_attn.kv_a_proj_with_mqa.weight",
        latent + rotary,
        lambda x, to: permute(x, 1, to, rotary, latent),
    )
    self.stays("model.layers.0.self_attn.kv_b_proj.weight", heads * (still + 16))
    self.stays("model.layers.0.self_attn.kv_a_layernorm.weight", latent)
    self.query = {"heads": heads, "rotary_offset": -rotary}
    self.config = {
        "model_type": "deepseek_v3",
        "hidden_size": 64,
        "num_attention_heads": heads,
        "num_key_value_heads": heads,
        "qk_rope_head_dim": rotary,
        "qk_nope_head_dim": still,
        "kv_lora_rank": latent,
    }
    return self


FAMILIES = [
    llama,
    mistral,
    mixtral,
    qwen3,
    phi3,
    gpt_neox,
    falcon,
    megatron,
    gptj,
    codegen,
    deepseek,
]


def write(tensors, dtype, metadata):
    header, data = ({"__metadata__": metadata} if metadata else {}), b""
    for name, array in tensors.items():
        header[name] = {
            "dtype": dtype,
            "shape": array.shape,
            "data_offsets": [len(data), len(data) + array.nbytes],
        }
        data += array.tobytes()
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


class Conversion(ServiceTest):
    def convert(self, query, body):
        reply = self.request(
            "POST",
            "/v1/convert/rope?" + urlencode(query),
            body,
            {"Content-Type": "application/vnd.safetensors"},
        )
        self.assertEqual(reply.status, 200, f"{query}\n{reply.body[:2000]!r}")
        return reply

    def compare(self, family, dtype, metadata, query, to):
        draw = np.random.default_rng(family.rng.getrandbits(32))
        bits = np.dtype(DTYPES[dtype])
        columns = family.rng.choice([1, 5, 24])
        tensors = {
            name: draw.integers(
                0,
                1 << 8 * bits.itemsize,
                (rows,) if name.endswith("bias") or "norm" in name else (rows, columns),
                dtype=np.uint64,
            ).astype(bits)
            for name, rows in family.rows.items()
        }
        expected = {name: family.expected[name](x, to) for name, x in tensors.items()}
        file = write(tensors, dtype, metadata)
        reply = self.convert({**query, "from": OTHER[to], "to": to}, file)
        self.assertEqual(reply.body, write(expected, dtype, metadata))
        moved = sum(family.expected[name](x, to) is not x for name, x in tensors.items())
        self.assertEqual(reply.headers["Tensors-Converted"], str(moved))
        back = self.convert({**query, "from": to, "to": OTHER[to]}, reply.body)
        self.assertEqual(back.body, file)
        for same in ("half", "interleaved"):
            kept = self.convert({**query, "from": same, "to": same}, file)
            self.assertEqual(kept.body, file)

    def test_every_family_moves_as_its_conversion_script_does(self):
        rng = random.Random(20)
        for make in FAMILIES:
            for dtype in DTYPES:
                for to in ("half", "interleaved"):
                    family = make(rng)
                    with self.subTest(family=make.__name__, dtype=dtype, to=to):
                        config = json.dumps(family.config)
                        self.compare(family, dtype, {}, family.query, to)
                        self.compare(family, dtype, {}, {"config": config}, to)
                        key = rng.choice(["config", "config.json"])
                        self.compare(family, dtype, {key: config}, {}, to)

    def test_a_config_says_the_pairing_of_the_file(self):
        rng = random.Random(21)
        for make in FAMILIES:
            family = make(rng)
            tensors = {name: np.arange(rows, dtype="<u4") for name, rows in family.rows.items()}
            with self.subTest(family=make.__name__):
                to, config = OTHER[family.pairing], json.dumps(family.config)
                expected = {name: family.expected[name](x, to) for name, x in tensors.items()}
                reply = self.convert({"to": to, "config": config}, write(tensors, "F32", None))
                self.assertEqual(reply.body, write(expected, "F32", None))


def merge(weight, adapter, scaling):
    """What PEFT adds up before it multiplies: W + s·B·A, and with DoRA's magnitudes m each row
    of that as long as m says (peft/tuners/lora/dora.py)."""
    merged = weight + scaling * adapter["lora_B"] @ adapter["lora_A"]
    if "lora_magnitude_vector" in adapter:
        lengths = np.linalg.norm(merged, axis=1)
        merged = (adapter["lora_magnitude_vector"] / lengths)[:, None] * merged
    return merged


def permute_lora_matrix(b, heads):
    """As torchtune's convert_weights.py has it for B alone: neighbours become halves."""
    rows, rank = b.shape
    parts = b.reshape(heads, rows // heads // 2, 2, rank)
    return parts.swapaxes(1, 2).reshape(rows, rank)


def turn(rows, heads, pairing):
    """Queries or keys [positions, heads * dim], each pair of columns turned by its position."""
    columns = rows.reshape(len(rows), heads, -1).astype("f8")
    dim = columns.shape[-1]
    angles = np.arange(len(rows))[:, None, None] * 10000.0 ** (-np.arange(0, dim, 2) / dim)
    first, second = (
        (columns[..., : dim // 2], columns[..., dim // 2 :])
        if pairing == "half"
        else (columns[..., ::2], columns[..., 1::2])
    )
    turned = np.cos(angles) * first - np.sin(angles) * second
    return turned, np.sin(angles) * first + np.cos(angles) * second


class Adapters(ServiceTest):
    """An adapter and its base, converted apart, are what was trained."""

    def setUp(self):
        draw = np.random.default_rng(4)
        self.heads, self.dim, self.rank = {"q_proj": 6, "k_proj": 2}, 16, 4
        rows = {name: count * self.dim for name, count in self.heads.items()}
        self.base = {name: draw.standard_normal((count, 24)) for name, count in rows.items()}
        self.adapters = {
            name: {
                "lora_A": draw.standard_normal((self.rank, 24)),
                "lora_B": draw.standard_normal((count, self.rank)),
                "lora_magnitude_vector": draw.uniform(0.5, 2, count),
            }
            for name, count in rows.items()
        }
        self.inputs = draw.standard_normal((9, 24))

    def converted(self, tensors):
        file = {name: array.astype("<f8") for name, array in tensors.items()}
        reply = self.request(
            "POST",
            "/v1/convert/rope?from=interleaved&to=half&heads=6&kv_heads=2",
            write(file, "F64", None),
            {"Content-Type": "application/vnd.safetensors"},
        )
        self.assertEqual(reply.status, 200, reply.body[:2000])
        size = 8 + struct.unpack("<Q", reply.body[:8])[0]
        header = json.loads(reply.body[8:size])
        return {
            name: np.frombuffer(
                reply.body[size + row["data_offsets"][0] : size + row["data_offsets"][1]]
            ).reshape(row["shape"])
            for name, row in header.items()
        }

    def scores(self, base, adapters, pairing):
        """Of each query head with the key head that it shares."""
        turned = {
            name: turn(
                self.inputs @ merge(base[name], adapters[name], 2.0).T,
                self.heads[name],
                pairing,
            )
            for name in self.heads
        }
        return sum(
            np.einsum("shc,thc->hst", query, np.repeat(key, 3, axis=1))
            for query, key in zip(turned["q_proj"], turned["k_proj"])
        )

    def test_a_converted_adapter_gives_the_scores_that_it_was_trained_to(self):
        for form in ("{}.{}.weight", "base_model.model.model.layers.3.self_attn.{}.{}.weight"):
            names = {
                (module, part): form.format(module, part).replace("vector.weight", "vector")
                for module, parts in self.adapters.items()
                for part in parts
            }
            flat = {name: self.adapters[key[0]][key[1]] for key, name in names.items()}
            found = self.converted(flat)
            base = self.converted({f"{name}.weight": w for name, w in self.base.items()})
            adapters = {
                module: {part: found[names[module, part]] for part in parts}
                for module, parts in self.adapters.items()
            }
            weights = {name: base[f"{name}.weight"] for name in self.base}
            for name, heads in self.heads.items():
                np.testing.assert_array_equal(
                    adapters[name]["lora_B"],
                    permute_lora_matrix(self.adapters[name]["lora_B"], heads),
                )
                np.testing.assert_array_equal(
                    adapters[name]["lora_A"], self.adapters[name]["lora_A"]
                )
                np.testing.assert_allclose(
                    merge(weights[name], adapters[name], 2.0),
                    to_half(merge(self.base[name], self.adapters[name], 2.0), heads),
                    rtol=1e-12,
                    atol=1e-12,
                )
            trained = self.scores(self.base, self.adapters, "interleaved")
            served = self.scores(weights, adapters, "half")
            np.testing.assert_allclose(served, trained, rtol=1e-9, atol=1e-9)
            spoilt = self.scores(weights, self.adapters, "half")  # B as it was
            self.assertGreater(np.abs(spoilt - trained).max(), 1)


if __name__ == "__main__":
    unittest.main()
