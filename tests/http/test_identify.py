"""/v1/identify: which request made a table. The rule above all: never another table than that."""

import io
import math
import random
import unittest

import numpy

from server import ServerCase
from test_compare import NPY, RAW, SAFETENSORS, npy, safetensors

F = numpy.float32


def frequencies(dim, base=10000.0):
    """As most libraries have them: powers and quotients in float32."""
    return F(1) / numpy.power(F(base), numpy.arange(0, dim, 2, dtype=F) / F(dim))


def angles(length, inverse, first=0):
    return numpy.arange(first, first + length, dtype=F)[:, None] * inverse[None]


def hugging_face(length, dim, base=10000.0, factor=1):
    table = angles(length, frequencies(dim, base) / F(factor))
    return numpy.cos(numpy.concatenate([table, table], 1))


def gpt_j(length, dim):
    return numpy.sin(angles(length, frequencies(dim)))


def interleaved(length, dim):
    return numpy.cos(numpy.repeat(angles(length, frequencies(dim)), 2, 1))


def fairseq(length, dim, first=2):
    half = dim // 2
    table = angles(length, numpy.exp(numpy.arange(half, dtype=F) * F(-(math.log(10000) / (half - 1)))), first)
    return numpy.concatenate([numpy.sin(table), numpy.cos(table)], 1)


def annotated(length, dim, scale=1.0):
    table = angles(length, numpy.exp(numpy.arange(0, dim, 2, dtype=F) * F(-(math.log(10000.0) / dim))))
    out = numpy.empty((length, dim), F)
    out[:, 0::2], out[:, 1::2] = numpy.sin(table), numpy.cos(table)
    return out * F(scale)


def in_float64(length, dim, dtype="f8"):
    table = numpy.arange(length)[:, None] / 10000 ** (2 * (numpy.arange(dim) // 2) / dim)
    table[:, 0::2], table[:, 1::2] = numpy.sin(table[:, 0::2]), numpy.cos(table[:, 1::2])
    return table.astype(dtype)


def slopes(heads):
    """As the authors' code has them."""
    def powers(count):
        start = 2 ** (-2 ** -(math.log2(count) - 3))
        return [start * start ** i for i in range(count)]
    if math.log2(heads).is_integer():
        return powers(heads)
    below = 2 ** math.floor(math.log2(heads))
    return powers(below) + slopes(2 * below)[0::2][:heads - below]


def alibi(heads, keys, dtype="f8"):
    """[heads, queries, keys], as the authors' code adds it to causal scores."""
    distance = numpy.minimum(numpy.arange(keys)[None] - numpy.arange(keys)[:, None], 0)
    bias = numpy.array(slopes(heads))[:, None, None] * distance
    return numpy.where(numpy.arange(keys)[None] > numpy.arange(keys)[:, None], -numpy.inf, bias).astype(dtype)


def bloom(heads, keys):
    """transformers' build_alibi_tensor for a power of two, in float32: [heads, 1, keys]."""
    base = F(2 ** (-(2 ** -(math.log2(heads) - 3))))
    return (numpy.power(base, numpy.arange(1, 1 + heads, dtype=F))[:, None, None] * numpy.arange(keys, dtype=F)).astype(F)


def mpt(heads, keys, most=8):
    """llm-foundry's build_alibi_bias in float32: [1, heads, 1, keys]."""
    m = numpy.arange(1, heads + 1, dtype=F) * F(most / heads)
    return (numpy.arange(1 - keys, 1, dtype="i4").reshape(1, 1, 1, keys) * (F(1) / numpy.power(F(2), m)).reshape(1, heads, 1, 1)).astype(F)


def mae(dim, size, dtype="f4", tokens=1):
    """MAE's get_2d_sincos_pos_embed, in float64 and rounded: [tokens + cells, dim]."""
    def axis(positions):
        table = positions.reshape(-1)[:, None] / 10000 ** (numpy.arange(dim // 4) / (dim / 4.))[None]
        return numpy.concatenate([numpy.sin(table), numpy.cos(table)], 1)
    x, y = numpy.meshgrid(numpy.arange(size, dtype="f8"), numpy.arange(size, dtype="f8"))
    return numpy.concatenate([numpy.zeros((tokens, dim)), numpy.concatenate([axis(x), axis(y)], 1)]).astype(dtype)


def yarn(length, dim, base, factor, original, attention=None, fast=32, slow=1):
    """transformers' _compute_yarn_parameters and the rotary module after it, in float32."""
    def turns(count):
        return dim * math.log(original / (count * 2 * math.pi)) / (2 * math.log(base))
    low, high = max(math.floor(turns(fast)), 0), min(math.ceil(turns(slow)), dim - 1)
    powers = numpy.power(F(base), numpy.arange(0, dim, 2, dtype=F) / F(dim))
    ramp = numpy.clip((numpy.arange(dim // 2, dtype=F) - F(low)) / F(high - low), F(0), F(1))
    table = angles(length, F(1) / (F(factor) * powers) * ramp + F(1) / powers * (F(1) - ramp))
    return numpy.cos(numpy.concatenate([table, table], 1)) * F(attention or 0.1 * math.log(factor) + 1)


def llama3(length, dim, base, factor, original, low=1.0, high=4.0):
    """transformers' _compute_llama3_parameters and the rotary module after it, in float32."""
    inverse = frequencies(dim, base)
    waves = F(2 * math.pi) / inverse
    smooth = (F(original) / waves - F(low)) / F(high - low)
    blend = (F(1) - smooth) * inverse / F(factor) + smooth * inverse
    scaled = numpy.where(waves > original / low, inverse / F(factor), numpy.where(waves < original / high, inverse, blend))
    table = angles(length, scaled.astype(F))
    return numpy.sin(numpy.concatenate([table, table], 1))


def dynamic(length, dim, base, factor, original):
    """transformers' _compute_dynamic_ntk_parameters for a sequence of this length, in float32."""
    return hugging_face(length, dim, base * ((factor * length / original) - (factor - 1)) ** (dim / (dim - 2)))


def half(table, kind):
    """A table rounded to bfloat16 or float16, as float32."""
    if kind == "f16":
        return numpy.asarray(table, "f2").astype(F)
    bits = numpy.asarray(table, F).view("u4")
    return ((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000).astype("u4").view(F)


def in_half(length, dim, base, formats):
    """Rotary cosines of torch modules in half precision; formats of positions, frequencies, products and the cosines."""
    place, frequency, product, function = ((lambda x, kind=kind: x if kind == "f32" else half(x, kind)) for kind in formats)
    table = product(place(numpy.arange(length, dtype=F))[:, None] * frequency(frequencies(dim, base)))
    return numpy.concatenate([function(numpy.cos(table))] * 2, 1)


HALVES = {  # formats of positions, frequencies, products, cosines, the type of the table: what is said
    ("f32", "bf16", "f32", "f32", "f4"): "bfloat16 frequencies", ("f32", "f16", "f32", "f32", "f4"): "float16 frequencies",
    ("f32", "f16", "f32", "f32", "f2"): "float16 frequencies", ("bf16", "bf16", "bf16", "bf16", "f4"): "all in bfloat16",
    ("f16", "f16", "f16", "f16", "f2"): "all in float16", ("bf16", "f32", "f32", "f32", "f4"): "bfloat16 positions",
    ("bf16", "bf16", "f32", "f32", "f4"): "bfloat16 positions and frequencies"}


def pixtral(height, width, dim, base=10000.0):
    """transformers' PixtralRotaryEmbedding, in float32: cosines of all patches."""
    inverse = frequencies(dim, base)
    down, across = numpy.arange(height, dtype=F)[:, None] * inverse[::2], numpy.arange(width, dtype=F)[:, None] * inverse[1::2]
    table = numpy.concatenate([numpy.repeat(down, width, 0), numpy.tile(across, (height, 1))], 1)
    return numpy.cos(numpy.concatenate([table, table], 1))


def qwen2_vision(height, width, dim):
    """Qwen2-VL's rot_pos_emb, in float32: sines of the patches in squares of 2 x 2."""
    def squares(place):
        return place.reshape(height // 2, 2, width // 2, 2).transpose(0, 2, 1, 3).reshape(-1)
    y, x = numpy.indices((height, width))
    inverse = frequencies(dim // 2)
    return numpy.sin(numpy.concatenate([angles(max(height, width), inverse)[squares(place)] for place in (y, x)], 1))


def torchscale(length, dim, scale_base=512):
    """torchscale's XPOS for keys or queries from position 0, in float32: cosines times the scale."""
    scale = ((numpy.arange(0, dim, 2, dtype=F) + F(0.4 * dim)) / F(1.4 * dim))[None] ** (numpy.arange(length, dtype=F) / F(scale_base))[:, None]
    return numpy.repeat(numpy.cos(angles(length, frequencies(dim))) * scale, 2, 1).astype(F)


def volume(depth, height, width, dim):
    """positional-encodings' PositionalEncoding3D: [depth, height, width, dim]."""
    part = (dim + 5) // 6 * 2
    def axis(count):
        table = angles(count, frequencies(part))
        return numpy.stack([numpy.sin(table), numpy.cos(table)], -1).reshape(count, part)
    out = numpy.zeros((depth, height, width, 3 * part), F)
    out[..., :part], out[..., part:2 * part] = axis(depth)[:, None, None], axis(height)[None, :, None]
    out[..., 2 * part:] = axis(width)
    return out[..., :dim]


def nerf(size, bands):
    """NeRF's Embedder of points of a square from -1 to 1, in float32: input first, then sin and cos of each frequency."""
    y, x = numpy.meshgrid(numpy.linspace(-1, 1, size, dtype=F), numpy.linspace(-1, 1, size, dtype=F), indexing="ij")
    points = numpy.stack([y.reshape(-1), x.reshape(-1)], 1)
    return numpy.concatenate([points] + [function(points * F(2.0 ** i)) for i in range(bands) for function in (numpy.sin, numpy.cos)], 1)


def qwen2_vl(text, height, width, rest, base=1000000.0, section=(16, 24, 24)):
    """Qwen2-VL's cosines for text, a picture of height x width cells, and text, in float32."""
    picture = numpy.stack([numpy.zeros(height * width), *(place.reshape(-1) for place in numpy.indices((height, width)))]) + text
    ids = numpy.concatenate([numpy.tile(numpy.arange(text), (3, 1)), picture,
                             numpy.tile(numpy.arange(rest) + text + max(height, width), (3, 1))], 1).astype(F)
    table = numpy.repeat(ids, section, 0).T * frequencies(2 * sum(section), base)
    return numpy.cos(numpy.concatenate([table, table], 1))


# tables whose request is found, though float32 arithmetic of grids and of growing waves is not named yet
NEARLY = {
    "Pixtral's patches": (pixtral(12, 16, 64), "axial_rope", ["sizes=12,16", "dim=64", "table=full", "preset=pixtral"]),
    "Pixtral's patches, theta 500": (pixtral(12, 16, 64, 500.0), "axial_rope", ["sizes=12,16", "rope_theta=500"]),
    "Qwen2-VL's patches": (qwen2_vision(12, 16, 80), "axial_rope", ["sizes=12,16", "dim=80", "preset=qwen2_vl_vision"]),
    "torchscale's xpos": (torchscale(300, 64), "xpos", ["length=300", "dim=64", "tensor=q_cos", "table=full"]),
    "torchscale's xpos, scale_base 300": (torchscale(300, 64, 300), "xpos", ["length=300", "scale_base=300", "tensor=q_cos"]),
    "NeRF's points": (nerf(9, 6), "fourier", ["preset=nerf", "sizes=9,9", "bands=6"]),
    "Qwen2-VL's text and picture": (qwen2_vl(12, 6, 8, 20), "mrope", ["preset=qwen2_vl", "text=12,20", "grids=1,12,16", "dim=128", "table=full"]),
    "a volume": (volume(5, 6, 7, 64), "sinusoidal_3d", ["depth=5", "height=6", "width=7", "dim=64"]),
}

# own tables of other schemes: {key: choices}
OWN = {
    "periodic": ["length=200&dim=40", "length=64&dim=9&offset=17", "length=100&dim=16&frequencies=geometric&step=0.5", "length=90&dim=12&frequencies=geometric&base=500"],
    "rotation_matrix": ["length=60&dim=16", "length=40&dim=8&base=500000&convention=shift", "length=100&dim=12&step=0.25&offset=-7"],
    "xpos": [f"length=60&dim=32&tensor={tensor}{more}" for tensor in ("q_cos", "q_sin", "k_cos", "k_sin", "scale")
             for more in ("", "&table=full&layout=half&centre=100", "&table=full&scale_base=1000")],
    "sinusoidal_3d": ["depth=3&height=5&width=6&dim=48", "preset=cogvideox&depth=2&height=8&width=6&dim=96", "preset=prithvi&depth=4&height=7&width=5&dim=48"],
    "axial_rope": ["sizes=14,9&dim=64", "sizes=7,12&dim=64&table=full&rope_theta=100&tensor=sin", "preset=qwen2_vl_vision&sizes=8,12&dim=80",
                   "preset=pixtral&sizes=9,7&dim=64&table=full", "preset=llama4_vision&sizes=8,6&dim=88", "preset=dinov3&sizes=9,6&dim=64&table=full&prefix=5",
                   "preset=vjepa2&sizes=4,5,6&dim=64", "preset=wan&sizes=3,6,8&dim=128&tensor=sin", "preset=flux&sizes=1,8,9&dim=128"],
    "fourier": ["sizes=40&bands=6", "preset=nerf&sizes=9,7&bands=10", "preset=nerfstudio&sizes=8,8&bands=4&grid=unit", "preset=perceiver&sizes=14,14&bands=8",
                "preset=timm_fourier_embed&sizes=12,10&bands=6", "sizes=10,12&bands=5&angle=half_turns&layout=by_frequency"],
    "mrope": ["preset=qwen2_vl&dim=128&text=10,5&grids=1,8,12", "preset=qwen2_5_vl&dim=128&text=3,0&grids=1,6,6&tensor=sin&table=full",
              "preset=qwen3_vl&dim=128&text=4,7&grids=1,10,8", "preset=glm4v&dim=128&text=6,9&grids=1,4,8", "preset=qwen2_vl&dim=128&text=9,3,2&grids=1,4,6,1,4,4"],
    "learned": ["length=100&dim=32&seed=3", "length=50&dim=64&std=1&init=uniform", "length=50&dim=64&init=trunc_normal&seed=1", "length=77&dim=48&row_offset=2"],
    "floater": ["length=20&dim=16&seed=2"],
    "hierarchical": ["length=700&dim=16&base_length=512&seed=1", "length=1&dim=24&base_length=50&tensor=basis"],
    "resized": ["height=7&dim=32&source_height=14&seed=1", "height=20&dim=16&source_height=14&prefix_tokens=1"],
    "complex_order": ["length=60&dim=32&vocab=5&seed=1", "length=60&dim=32&vocab=5&sharing=word&tensor=imag"],
    "random_fourier": ["sizes=12,8&features=32", "preset=sam&sizes=16,16&features=16&seed=3"],
}


# a table as a library computes it, the scheme, and what the request must say
LIBRARIES = {
    "transformers, llama": (hugging_face(700, 64), "rope", ["length=700", "dim=64", "table=full", "tensor=cos"]),
    "transformers, theta 500000": (hugging_face(700, 128, 5e5), "rope", ["rope_theta=500000", "dim=128"]),
    "transformers, linear scaling": (hugging_face(700, 64, factor=4), "rope", ["step=0.25"]),
    "transformers, yarn": (yarn(900, 128, 1e6, 4, 32768), "rope", ["rope_theta=1000000", "rope_type=yarn", "factor=4", "original_max_position_embeddings=32768"]),
    "transformers, yarn of DeepSeek": (yarn(1500, 64, 1e4, 40, 4096, 1), "rope",
                                       ["rope_type=yarn", "factor=40", "original_max_position_embeddings=4096", "mscale=1", "mscale_all_dim=1"]),
    "transformers, llama 3.1": (llama3(1200, 128, 5e5, 8, 8192), "rope", ["rope_theta=500000", "rope_type=llama3"]),
    "transformers, llama 3.2": (llama3(700, 64, 5e5, 32, 8192), "rope", ["rope_theta=500000", "rope_type=llama3", "factor=32"]),
    "transformers, dynamic": (dynamic(3000, 64, 1e4, 2, 2048), "rope", ["rope_type=dynamic", "original_max_position_embeddings=2048", "seq_len=3000"]),
    "gpt-j": (gpt_j(2000, 64), "rope", ["table=half_width", "tensor=sin"]),
    "rotary_embedding_torch": (interleaved(800, 32), "rope", ["layout=interleaved"]),
    "fairseq": (fairseq(1024, 256), "sinusoidal", ["layout=concat", "frequencies=tensor2tensor", "offset=2"]),
    "the annotated transformer": (annotated(512, 128), "sinusoidal", ["length=512", "dim=128"]),
    "the same, times the root of dim": (annotated(512, 128, math.sqrt(128)), "sinusoidal", ["length=512", "dim=128", f"amplitude={math.sqrt(128)}"]),
    "the same, transposed": (annotated(512, 128).T.copy(), "sinusoidal", ["length=512", "dim=128"]),
    "numpy": (in_float64(300, 64), "sinusoidal", ["length=300"]),
    "numpy in float32": (in_float64(300, 64, "f4"), "sinusoidal", ["length=300"]),
    "ALiBi, causal": (alibi(8, 60), "alibi", ["length=60", "heads=8", "mask=causal"]),
    "ALiBi of 16 heads in float32": (alibi(16, 60, "f4"), "alibi", ["length=60", "heads=16", "mask=causal"]),
    "ALiBi of 12 heads in float32": (alibi(12, 60, "f4"), "alibi", ["length=60", "heads=12", "mask=causal"]),
    "ALiBi of 20 heads in float16": (alibi(20, 50, "f2"), "alibi", ["length=50", "heads=20", "mask=causal"]),
    "bloom": (bloom(8, 100), "alibi", ["length=100", "heads=8", "mask=key_only"]),
    "mpt": (mpt(8, 100), "alibi", ["length=100", "heads=8", "query_length=1"]),
    "mpt, alibi_bias_max 16": (mpt(16, 64, 16), "alibi", ["heads=16", "alibi_bias_max=16"]),
    "MAE, of 14 x 14 patches": (mae(192, 14), "sinusoidal_2d", ["height=14", "width=14", "dim=192", "extra_tokens=1", "preset=mae"]),
    "MAE, of 7 x 7 patches in float64": (mae(64, 7, "f8", 0), "sinusoidal_2d", ["height=7", "preset=mae"]),
    "the slopes of 12 heads": (numpy.array(slopes(12), F), "alibi", ["heads=12", "tensor=slopes"]),
}


class Identify(ServerCase):
    def identify(self, body, query="", media_type=NPY):
        reply = self.server.request("POST", f"/v1/identify{query}", {"Content-Type": media_type}, body)
        return self.assert_ok(reply, "application/json").json()

    def refuse(self, status, parameter, *arguments):
        body, query, media_type = arguments
        reply = self.server.request("POST", f"/v1/identify{query}", {"Content-Type": media_type}, body)
        self.assert_problem(reply, status, parameter)

    def fetch(self, target):
        return numpy.load(io.BytesIO(self.assert_ok(self.get(target + "&format=npy")).body))

    def bits(self, table):
        return numpy.ascontiguousarray(table).tobytes()

    def assert_true(self, found, table):
        """What is said holds: exact is exact, and a match is as near as its arithmetic."""
        if found["status"] not in ("exact", "match"):
            return
        exact = self.fetch(found["request"]["url"])
        table = table.T if found["transposed"] else table
        exact, table = exact.squeeze(), table.squeeze()
        table = table[:, found["columns"]] if "columns" in found else table
        self.assertEqual(exact.shape, table.shape)
        if found["status"] == "exact":
            self.assertEqual(self.bits(exact), self.bits(table), found["request"])
        else:
            self.assertIn(found["arithmetic"], ("float64", "float32"))
            bound = 1e-11 if found["arithmetic"] == "float64" else 1e-3
            finite = numpy.isfinite(exact)
            self.assertLess(abs(exact[finite].astype("f8") - table[finite]).max(), bound)
            numpy.testing.assert_array_equal(exact[~finite], table[~finite])

    def test_tables_of_libraries(self):
        for name, (table, scheme, said) in LIBRARIES.items():
            found = self.identify(npy(table))
            self.assertIn(found["status"], ("match", "exact"), (name, found["summary"]))
            self.assertEqual(found["request"]["scheme"], scheme, name)
            for text in said:
                self.assertIn(text, found["request"]["url"].replace("?", "&").split("&"), name)
            self.assertEqual(found["transposed"], "transposed" in name)
            self.assert_true(found, table)

    def test_columns_in_another_order_are_found(self):
        generator = numpy.random.default_rng(12)
        cosines, sinusoids = hugging_face(300, 64), annotated(512, 128)
        mixed = {  # the table, the scheme, and what the request must say
            "the annotated transformer": (sinusoids[:, generator.permutation(128)], "sinusoidal", ["length=512", "dim=128"]),
            "the same, reversed": (sinusoids[:, ::-1], "sinusoidal", ["length=512", "dim=128"]),
            "the same, transposed": (sinusoids[:, generator.permutation(128)].T, "sinusoidal", ["length=512", "dim=128"]),
            "cosines, each twice": (cosines[:, generator.permutation(64)], "rope", ["length=300", "dim=64", "table=full", "layout=interleaved", "tensor=cos"]),
            "cosines, two of them changed": (cosines[:, [0, 20, *range(2, 20), 1, *range(21, 64)]], "rope", ["table=full", "layout=interleaved", "tensor=cos"]),
            "sines": (gpt_j(600, 64)[:, generator.permutation(32)], "rope", ["length=600", "dim=64", "table=half_width", "tensor=sin"]),
            "times an amplitude": (annotated(300, 64, 8)[:, generator.permutation(64)], "sinusoidal", ["amplitude=8"])}
        for name, (table, scheme, said) in mixed.items():
            found = self.identify(npy(numpy.ascontiguousarray(table)))
            self.assertEqual((found["status"], found["arithmetic"]), ("match", "float32"), (name, found["summary"]))
            self.assertIn("with its columns in another order", found["summary"], name)
            self.assertEqual(found["request"]["scheme"], scheme, name)
            for text in said:
                self.assertIn(text, found["request"]["url"].replace("?", "&").split("&"), name)
            self.assertEqual(found["transposed"], "transposed" in name)
            self.assertEqual(sorted(found["columns"]), list(range(min(table.shape))), name)
            self.assert_true(found, table)
        self.assertNotIn("columns", self.identify(npy(sinusoids)))

    def test_own_columns_in_another_order_are_exact_in_every_dtype(self):
        generator = numpy.random.default_rng(13)
        for query in ("sinusoidal?length=200&dim=64", "sinusoidal?length=90&dim=34&layout=concat", "rope?length=1500&dim=128&tensor=sin",
                      "rope?length=300&dim=64&table=full&tensor=cos&rope_theta=500000", "rope?length=1024&dim=128&tensor=cos&preset=llama3.1"):
            for dtype in ("f32", "f64", "f16", "bf16"):
                reply = self.assert_ok(self.get(f"/v1/encodings/{query}&dtype={dtype}&format=raw"))
                bits = numpy.frombuffer(reply.body, {"f32": "<u4", "f64": "<u8"}.get(dtype, "<u2"))
                bits = bits.reshape([int(extent) for extent in reply.header("Tensor-Shape").split(", ")])
                mixed = numpy.ascontiguousarray(bits[:, generator.permutation(bits.shape[1])])
                found = self.identify(mixed.tobytes(), f"?shape={mixed.shape[0]},{mixed.shape[1]}&dtype={dtype}", RAW)
                self.assertEqual(found["status"], "exact", (query, dtype, found["summary"]))
                exact = self.assert_ok(self.get(found["request"]["url"] + "&format=raw"))
                self.assertEqual(mixed[:, found["columns"]].tobytes(), exact.body, (query, dtype))
                self.assertEqual(found["against_exact"]["differing"], 0)

    def test_columns_in_another_order_that_were_changed_are_no_match(self):
        generator = numpy.random.default_rng(14)
        for good in (annotated(300, 64), hugging_face(300, 64), gpt_j(300, 128)):
            order = generator.permutation(64)
            changed = {name: good[:, order].copy() for name in ("an entry", "a row", "a column", "noise", "row 0", "scaled", "nan", "a column twice")}
            changed["an entry"][150, 5] += F(.01)
            changed["a row"][100] = changed["a row"][101]
            changed["a column"][:, 7] = generator.normal(size=300)
            changed["noise"] += generator.normal(size=(300, 64)).astype("f4") * F(1e-3)
            changed["row 0"][0, 3] += F(.001)
            changed["scaled"][:, 9] *= F(1.001)
            changed["nan"][70, 5] = numpy.nan
            changed["a column twice"][:, 4] = changed["a column twice"][:, 11] + F(1e-4)
            for name, table in changed.items():
                found = self.identify(npy(table))
                self.assertIn(found["status"], ("near", "unknown"), (name, found["summary"]))
                self.assertNotIn("columns", found, name)

    def test_what_begins_as_waves_do_and_is_none_has_no_order(self):
        generator = numpy.random.default_rng(15)
        for dtype in ("f4", "f8", "f2"):
            for first in (0, 1, numpy.arange(96) % 2):
                table = generator.normal(size=(500, 96)).astype(dtype)
                table[0] = first
                found = self.identify(npy(table))
                self.assertEqual(found["status"], "unknown", found["summary"])
                self.assertNotIn("columns", found)

    def test_own_tables_are_exact_and_nothing_else_is_said(self):
        generator = random.Random(5)
        counts = {"exact": 0, "match": 0, "near": 0, "unknown": 0}
        for _ in range(60):
            length, dim = generator.randint(30, 400), 2 * generator.randint(4, 40)
            dtype = generator.choice(["f32", "f32", "f64", "f16"])
            window = generator.choice(["", "&offset=1000", "&offset=-3.5", "&step=0.5", "&offset=70000"])
            target = generator.choice([
                f"/v1/encodings/sinusoidal?length={length}&dim={dim}" + generator.choice(["", "&layout=concat", "&base=500"]),
                f"/v1/encodings/rope?length={length}&dim={dim}&tensor={generator.choice(['cos', 'sin'])}"
                + generator.choice(["", "&table=full", "&rope_theta=500000", "&rope_type=linear&factor=4"]),
                f"/v1/encodings/integer?length={length}", f"/v1/encodings/periodic?length={length}&dim={dim}",
                f"/v1/encodings/learned?length={length}&dim={dim}"]) + window * (generator.random() < .5)
            reply = self.get(target + f"&dtype={dtype}&format=npy")
            if reply.status != 200:
                continue
            table = numpy.load(io.BytesIO(reply.body))
            found = self.identify(reply.body)
            counts[found["status"]] += 1
            self.assert_true(found, table)
        self.assertGreater(counts["exact"], 25, counts)

    def test_own_scaled_rotary_tables_are_exact_whatever_the_settings(self):
        generator = random.Random(11)
        draw, unknown, count = generator.choice, [], 24
        for _ in range(count):
            length, dim, kind = draw([40, 100, 300, 1000, 2048]), 2 * draw([16, 32, 40, 64]), draw(["yarn", "yarn", "llama3", "llama3", "ntk", "linear", "dynamic", "proportional"])
            keys = {"yarn": f"&original_max_position_embeddings={draw([2048, 4096, 8192, 32768])}"
                            + draw(["", "&truncate=false", "&mscale=1&mscale_all_dim=1", "&attention_factor=1.3", "&beta_fast=1"]),
                    "llama3": f"&original_max_position_embeddings={draw([4096, 8192, 16384])}" + draw(["", "&high_freq_factor=1", "&high_freq_factor=8"]),
                    "dynamic": f"&original_max_position_embeddings=1024&seq_len={draw([1500, 2048, 4096])}",
                    "proportional": f"&partial_rotary_factor={draw([.25, .5, .75])}"}.get(kind, "")
            target = (f"/v1/encodings/rope?length={length}&dim={dim}&rope_theta={draw([10000, 150000, 500000, 1000000, 5000000])}&rope_type={kind}"
                      f"&factor={draw([2, 3, 4, 8, 32, 40])}{keys}{draw(['', '', '&step=0.5', '&offset=1000', '&offset=17&step=0.25'])}"
                      f"&tensor={draw(['cos', 'sin'])}{draw(['', '&table=full', '&table=full&layout=interleaved'])}&dtype={draw(['f32', 'f64', 'f16'])}")
            reply = self.assert_ok(self.get(target + "&format=npy"))
            found = self.identify(reply.body, "?scheme=rope")
            self.assert_true(found, numpy.load(io.BytesIO(reply.body)))
            unknown += [(target, found)] * (found["status"] != "exact")
        self.assertLess(len(unknown), count / 20, unknown)

    def test_own_tables_of_other_schemes_are_exact(self):
        for scheme, queries in OWN.items():
            for i, query in enumerate(queries):
                for dtype in ("f32", "f64", "f16") if scheme != "xpos" else ("f32", "f64"):
                    target = f"/v1/encodings/{scheme}?{query}&dtype={dtype}"
                    reply = self.assert_ok(self.get(target + "&format=npy"))
                    found = self.identify(reply.body)
                    self.assertEqual(found["status"], "exact", (target, found))
                    self.assert_true(found, numpy.load(io.BytesIO(reply.body)))

    def test_requests_of_libraries_whose_arithmetic_is_not_named(self):
        for name, (table, scheme, said) in NEARLY.items():
            found = self.identify(npy(table))
            self.assertIn(found["status"], ("near", "match", "exact"), name)
            self.assertEqual((found["request"]["scheme"], found["misfits"]), (scheme, 0), name)
            for text in said:
                self.assertIn(text, found["request"]["url"].replace("?", "&").split("&"), name)
            self.assert_true(found, table)
            table[tuple(size // 2 for size in table.shape)] += F(.01)
            damaged = self.identify(npy(table))
            self.assertIn(damaged["status"], ("near", "unknown"), name)

    def test_tables_computed_in_half_precision(self):
        for (*formats, dtype), text in HALVES.items():
            for length, dim, base in [(500, 64, 10000.0), (300, 128, 500000.0)][len(formats[1]) % 2:][:1]:
                table = in_half(length, dim, base, formats).astype(dtype)
                found = self.identify(npy(table))
                self.assertEqual((found["status"], found.get("arithmetic")), ("match", "float32"), (formats, length, found))
                self.assertIn(text, found["computation"])
                for said in (f"length={length}", f"dim={dim}", *([] if base == 1e4 else [f"rope_theta={base:.0f}"])):
                    self.assertIn(said, found["request"]["url"].replace("?", "&").split("&"))
                table[length // 2, dim // 3] += table.dtype.type(.02)
                self.assertIn(self.identify(npy(table))["status"], ("near", "unknown"))

    def test_a_bad_row_or_column_or_a_few_bad_entries_are_near(self):
        generator = numpy.random.default_rng(4)
        tables = {"rope": hugging_face(300, 64), "sinusoidal": annotated(200, 64), "yarn": yarn(600, 64, 1e6, 4, 32768), "own": self.fetch("/v1/encodings/rope?length=400&dim=64&rope_type=llama3&factor=32&table=full")}
        for name, table in tables.items():
            good = self.identify(npy(table))["request"]
            rows, columns = table.shape
            for spoilt in ("row", "first row", "last row", "column", "first column", "entries"):
                other = table.copy()
                if spoilt == "entries":
                    places = generator.random(table.shape) < 1 / 17
                    other[places] = generator.normal(size=places.sum())
                elif "row" in spoilt:
                    row = {"row": rows // 3, "first row": 0, "last row": rows - 1}[spoilt]
                    other[row] = generator.normal(size=columns)
                else:
                    other[:, 0 if "first" in spoilt else columns // 5] = generator.normal(size=rows)
                found = self.identify(npy(other))
                wrong = (other != table).sum()
                if spoilt == "entries" and len(table) < 300 and found["status"] == "unknown":
                    continue  # a short table does not say enough then
                self.assertEqual(found["status"], "near", (name, spoilt, found["summary"]))
                self.assertEqual(self.bits(self.fetch(found["request"]["url"])), self.bits(self.fetch(good["url"])), (name, spoilt))
                self.assertLessEqual(found["misfits"], wrong)
                self.assertGreater(found["misfits"], 0.9 * wrong)
                where, bad_rows, bad_columns = found["exceptions"], *((other != table).mean(axis) > 0.9 for axis in (1, 0))
                self.assertEqual((where["rows"], where["row_count"]), (list(bad_rows.nonzero()[0]), bad_rows.sum()), (name, spoilt))
                self.assertEqual((where["columns"], where["column_count"]), (list(bad_columns.nonzero()[0]), bad_columns.sum()), (name, spoilt))
                self.assertEqual(bool(where["entries"]), spoilt == "entries")
                self.assertTrue(all(other[tuple(at)] != table[tuple(at)] for at in where["entries"]), (name, spoilt))

    def test_own_inverse_frequencies_are_exact(self):
        for keys in ("rope_theta=500000", "rope_theta=150000&rope_type=yarn&factor=32&original_max_position_embeddings=4096&truncate=false",
                     "rope_theta=500000&rope_type=llama3&factor=32", "rope_type=linear&factor=3", "rope_type=ntk&factor=8"):
            for dtype in ("f32", "f64"):
                target = f"/v1/encodings/rope?length=1&dim=128&{keys}&tensor=inv_freq&dtype={dtype}"
                found = self.identify(self.get(target + "&format=npy").body)
                self.assertEqual(found["status"], "exact", (target, found))
                self.assertEqual(self.bits(self.fetch(found["request"]["url"])), self.bits(self.fetch(target)))

    def test_own_biases_are_exact_whatever_the_window_and_dtype(self):
        generator = random.Random(8)
        exact = 0
        for _ in range(60):
            keys, heads = generator.randint(8, 90), generator.choice([2, 3, 8, 12, 16, 20, 71])
            window = generator.choice(["", "", f"&query_length={generator.randint(1, 30)}",
                                       f"&query_length={generator.randint(1, 9)}&query_offset={generator.randint(-20, 120)}", "&form=compact"])
            more = generator.choice(["", "&non_power_of_two=geometric", "&alibi_bias_max=4", "&head_dim=64&slope_dtype=bf16", "&slope_dtype=f16"])
            mask = generator.choice(["symmetric", "causal", "key_only", "from_last_key"])
            reply = self.get(f"/v1/encodings/alibi?length={keys}&heads={heads}&mask={mask}&tensor=bias{window}{more}"
                             f"&dtype={generator.choice(['f32', 'f64', 'f16'])}&format=npy")
            if reply.status != 200:
                continue
            found = self.identify(reply.body)
            self.assert_true(found, numpy.load(io.BytesIO(reply.body)))
            self.assertNotEqual(found["status"], "match", reply)
            exact += found["status"] == "exact"
        self.assertGreater(exact, 45)

    def test_own_grids_are_exact(self):
        generator = random.Random(9)
        for arrangement in ("preset=mae", "preset=mae&extra_tokens=2", "preset=timm", "preset=timm_interleaved", "preset=detr", "preset=deformable_detr",
                            "preset=dab_detr", "preset=rt_detr", "preset=sd3", "", "shape=hwc", "shape=nc&axis_order=height_first",
                            "layout=concat&base=100", "layout=concat&grouping=function&shape=hwc"):
            target = (f"/v1/encodings/sinusoidal_2d?height={generator.randint(4, 19)}&width={generator.randint(4, 19)}&dim={4 * generator.randint(4, 40)}"
                      f"&{arrangement}&dtype={generator.choice(['f32', 'f64', 'f16'])}").replace("&&", "&")
            reply = self.assert_ok(self.get(target + "&format=npy"))
            found = self.identify(reply.body)
            self.assertEqual(found["status"], "exact", (target, found))
            self.assert_true(found, numpy.load(io.BytesIO(reply.body)))

    def test_a_grid_that_was_changed_is_no_match(self):
        grid = mae(96, 9)
        exact = self.fetch("/v1/encodings/sinusoidal_2d?height=9&width=9&dim=96&preset=mae&extra_tokens=1")
        others = {"a token": grid.copy(), "an entry": grid.copy(), "rows": numpy.roll(grid, 1, 0), "channels": numpy.roll(grid, 5, 1),
                  "an ulp": exact.copy(), "scaled": grid * F(1.01)}
        others["a token"][0, 3] = 1
        others["an entry"][50, 60] += F(.01)
        others["an ulp"][20, 3] = numpy.nextafter(exact[20, 3], F(9))
        for name, other in others.items():
            found = self.identify(npy(other))
            self.assertIn(found["status"], ("near", "unknown"), (name, found))

    def test_a_bias_that_was_changed_is_no_match(self):
        bias = self.fetch("/v1/encodings/alibi?length=40&heads=8&mask=causal&tensor=bias")
        others = {"an entry": bias.copy(), "a head": bias.copy(), "a mask": bias.copy(), "heads": bias[::-1].copy(),
                  "an ulp": bias.copy(), "rows": bias[:, ::-1].copy(), "slopes": bias * F(1.001), "nan": bias.copy()}
        others["an entry"][3, 30, 4] += F(1)
        others["a head"][5] *= F(2)
        others["a mask"][2, 3, 30] = 0
        others["an ulp"][1, 20, 3] = numpy.nextafter(bias[1, 20, 3], F(0))
        others["nan"][0, 39, 0] = numpy.nan
        for name, other in others.items():
            found = self.identify(npy(other))
            self.assertIn(found["status"], ("near", "unknown"), name)
        self.assertEqual(self.identify(npy(others["an entry"]))["misfits"], 1)

    def test_what_was_changed_is_no_match(self):
        generator = numpy.random.default_rng(7)
        table = hugging_face(300, 64)
        exact = self.fetch("/v1/encodings/rope?length=300&dim=64&table=full&tensor=cos")
        changed = {"an entry": table.copy(), "a row": table.copy(), "a column": table.copy(),
                   "rows": table[generator.permutation(300)], "noise": table + generator.normal(size=table.shape).astype("f4") * F(1e-3),
                   "halves": numpy.concatenate([numpy.sin(angles(300, frequencies(64))), table[:, :32] * F(1.01)], 1),
                   "random": generator.normal(size=(300, 64)).astype("f4"), "constant": numpy.ones((300, 64), "f4"),
                   "an ulp": exact.copy(), "nan": table.copy()}
        changed["an entry"][70, 3] += F(1e-3)
        changed["a row"][11] = changed["a row"][12]
        changed["a column"][:, 9] *= F(1.001)
        changed["an ulp"][200, 1] = numpy.nextafter(exact[200, 1], F(9))
        changed["nan"][5, 5] = numpy.nan
        for name, other in changed.items():
            found = self.identify(npy(other))
            self.assertNotEqual(found["status"], "exact", name)
            if name != "an ulp":  # which float32 arithmetic may give
                self.assertIn(found["status"], ("near", "unknown"), name)
            self.assert_true(found, other)
        one = self.identify(npy(changed["an entry"]))
        self.assertEqual((one["status"], one["misfits"]), ("near", 1))
        self.assertEqual(one["request"]["scheme"], "rope")

    def test_files_and_raw_elements(self):
        table = self.fetch("/v1/encodings/sinusoidal?length=64&dim=32")
        for body, query, media_type in (
                (npy(numpy.asfortranarray(table)), "", NPY),
                (safetensors({"a": ("F32", [64, 32], table.tobytes()), "b": ("F32", [2], bytes(8))}), "?file_tensor=a", SAFETENSORS),
                (table.tobytes(), "?shape=64,32&dtype=f32", RAW), (table.tobytes(), "?shape=1,64,32", RAW)):
            found = self.identify(body, query, media_type)
            self.assertEqual((found["status"], found["request"]["url"]),
                             ("exact", "/v1/encodings/sinusoidal?length=64&dim=32&tensor=encoding"))
        self.assertEqual(self.identify(npy(table), "?scheme=rope")["status"], "unknown")
        self.refuse(422, "scheme", npy(table), "?scheme=none", NPY)
        for scheme in self.get("/v1/schemes").json()["schemes"]:
            if not scheme["recognised"]:
                self.refuse(422, "scheme", npy(table), f"?scheme={scheme['name']}", NPY)
        self.refuse(400, "dim", npy(table), "?dim=4", NPY)
        self.refuse(400, "shape", table.tobytes(), "", RAW)
        self.refuse(400, "body", table.tobytes(), "?shape=64,33", RAW)
        self.refuse(400, "dtype", table.tobytes(), "?shape=64,32&dtype=f33", RAW)

    def test_other_requests_and_values_of_the_same_table(self):
        cases = {"rope?length=120&dim=64&step=0.25&tensor=cos": ("gpt_neox", "rope_type=linear&factor=4", {"layout": ["interleaved"]}),
                 "rope?length=120&dim=64&rope_theta=1000000&table=full&tensor=sin": ("qwen2", "", {}),
                 "sinusoidal?length=64&dim=32": ("vaswani", "", {"odd_dim": ["truncate", "pad"]}),
                 "sinusoidal?length=8&dim=8&dtype=f16": ("vaswani", "", {"base": ["9999.99", "10000.1"]}),
                 "sinusoidal_2d?height=5&width=5&dim=32&preset=mae": ("mae", "", {})}
        for query, (preset, other, undecided) in cases.items():
            reply = self.assert_ok(self.get(f"/v1/encodings/{query}&format=npy"))
            exact = numpy.load(io.BytesIO(reply.body))
            found = self.identify(reply.body, "?limit=8")
            self.assertEqual(found["status"], "exact", query)
            self.assertIn(preset, found["request"]["presets"], query)
            self.assertNotIn("llama3.1", found["request"]["presets"], query)
            urls = [same["url"] for same in found["same_table"]]
            self.assertTrue(not other or any(other in url for url in urls), urls)
            open_values = {row["parameter"]: row["values"] for row in found["undecided"]}
            for name, values in undecided.items():
                self.assertEqual(open_values[name], values, query)
            targets = urls + [found["request"]["url"].replace(f"{name}=", f"no_{name}=") + f"&{name}={value}" for name, values in open_values.items()
                              if f"{name}=" not in found["request"]["url"] for value in values]
            for target in targets:
                self.assertEqual(self.bits(self.fetch(target)), self.bits(exact), target)
            none = self.identify(reply.body, "?limit=0")
            self.assertEqual((none["same_table"], none["undecided"]), ([], found["undecided"]))
        self.refuse(422, "limit", npy(exact), "?limit=99", NPY)
        huge = self.assert_ok(self.get("/v1/encodings/sinusoidal?length=40&dim=16&amplitude=1e30&dtype=f64&format=npy"))
        found = self.identify(huge.body)
        self.assertEqual(found["status"], "exact")
        self.assertEqual(self.bits(self.fetch(found["request"]["url"])), self.bits(numpy.load(io.BytesIO(huge.body))))

    def test_tensors_of_stored_sets(self):
        exact = self.fetch("/v1/encodings/sinusoidal?length=64&dim=32")
        numbers = numpy.arange(12).astype("f8")
        file = safetensors({"cos": ("F32", [300, 64], hugging_face(300, 64).tobytes()), "pe": ("F32", [1, 64, 32], exact.tobytes()),
                            "ids": ("F64", [12], numbers.tobytes()), "half": ("F16", [64, 32], exact.astype("f2").tobytes())})
        one = safetensors({"ids": ("F64", [12], numbers.tobytes())})
        for name, body in (("several", file), ("one", one)):
            self.assertIn(self.server.request("PUT", f"/v1/parameters/{name}", {}, body).status, (201, 204))
        ask = lambda query: self.assert_ok(self.get(f"/v1/identify?{query}"), "application/json").json()
        found = ask("parameters=several&tensor=pe")
        self.assertEqual((found["status"], found["shape"], found["request"]["url"]),
                         ("exact", [1, 64, 32], "/v1/encodings/sinusoidal?length=64&dim=32&tensor=encoding"))
        self.assertEqual(found["file"], {"format": "safetensors", "dtype": "f32", "tensor": "pe", "parameters": "several"})
        sent = self.identify(file, "?file_tensor=cos", SAFETENSORS)
        kept = ask("parameters=several&tensor=cos")
        self.assertEqual((kept["status"], kept["arithmetic"]), ("match", "float32"))
        for member in sent:
            if member != "file":
                self.assertEqual(kept[member], sent[member], member)
        self.assertEqual(ask("parameters=several&tensor=half&scheme=sinusoidal")["request"]["url"],
                         "/v1/encodings/sinusoidal?length=64&dim=32&tensor=encoding&dtype=f16")
        self.assertEqual(ask("parameters=one")["request"]["scheme"], "integer")
        head = self.server.request("HEAD", "/v1/identify?parameters=one")
        self.assertEqual((head.status, head.body), (200, b""))
        for query, status, parameter in (("parameters=none", 422, "parameters"), ("tensor=pe", 400, "parameters"), ("parameters=several", 422, "tensor"),
                                         ("parameters=several&tensor=none", 422, "tensor"), ("parameters=one&file_tensor=ids", 400, "file_tensor"),
                                         ("parameters=one&scheme=none", 422, "scheme")):
            self.assert_problem(self.get(f"/v1/identify?{query}"), status, parameter)
        self.assert_problem(self.server.request("GET", "/v1/identify?parameters=one", {"Origin": "http://example.org"}), 403)

    def test_every_scheme_says_whether_it_is_recognised(self):
        schemes = self.get("/v1/schemes").json()["schemes"]
        recognised = {scheme["name"] for scheme in schemes if scheme["recognised"]}
        self.assertLessEqual({"integer", "normalized", "binary", "sinusoidal", "rope", "alibi", "sinusoidal_2d", *OWN}, recognised)
        self.assertEqual(len(recognised), len(schemes))


if __name__ == "__main__":
    unittest.main()
