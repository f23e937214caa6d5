"""Tables as libraries compute them, typed anew in numpy, and what /v1/identify must say of
them."""

import math

import numpy
from float32 import power

F = numpy.float32


def frequencies(dim, base=10000.0):
    """As most libraries have them: powers and quotients in float32."""
    return F(1) / power(F(base), numpy.arange(0, dim, 2, dtype=F) / F(dim))


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
    table = angles(
        length,
        numpy.exp(numpy.arange(half, dtype=F) * F(-(math.log(10000) / (half - 1)))),
        first,
    )
    return numpy.concatenate([numpy.sin(table), numpy.cos(table)], 1)


def annotated(length, dim, scale=1.0):
    table = angles(
        length, numpy.exp(numpy.arange(0, dim, 2, dtype=F) * F(-(math.log(10000.0) / dim)))
    )
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
        start = 2 ** (-(2 ** -(math.log2(count) - 3)))
        return [start * start**i for i in range(count)]

    if math.log2(heads).is_integer():
        return powers(heads)
    below = 2 ** math.floor(math.log2(heads))
    return powers(below) + slopes(2 * below)[0::2][: heads - below]


def alibi(heads, keys, dtype="f8"):
    """[heads, queries, keys], as the authors' code adds it to causal scores."""
    distance = numpy.minimum(numpy.arange(keys)[None] - numpy.arange(keys)[:, None], 0)
    bias = numpy.array(slopes(heads))[:, None, None] * distance
    return numpy.where(
        numpy.arange(keys)[None] > numpy.arange(keys)[:, None], -numpy.inf, bias
    ).astype(dtype)


def bloom(heads, keys):
    """transformers' build_alibi_tensor for a power of two, in float32: [heads, 1, keys]."""
    base = F(2 ** (-(2 ** -(math.log2(heads) - 3))))
    return (
        power(base, numpy.arange(1, 1 + heads, dtype=F))[:, None, None]
        * numpy.arange(keys, dtype=F)
    ).astype(F)


def mpt(heads, keys, most=8):
    """llm-foundry's build_alibi_bias in float32: [1, heads, 1, keys]."""
    m = numpy.arange(1, heads + 1, dtype=F) * F(most / heads)
    return (
        numpy.arange(1 - keys, 1, dtype="i4").reshape(1, 1, 1, keys)
        * (F(1) / power(F(2), m)).reshape(1, heads, 1, 1)
    ).astype(F)


def mae(dim, size, dtype="f4", tokens=1):
    """MAE's get_2d_sincos_pos_embed, in float64 and rounded: [tokens + cells, dim]."""

    def axis(positions):
        table = (
            positions.reshape(-1)[:, None]
            / 10000 ** (numpy.arange(dim // 4) / (dim / 4.0))[None]
        )
        return numpy.concatenate([numpy.sin(table), numpy.cos(table)], 1)

    x, y = numpy.meshgrid(numpy.arange(size, dtype="f8"), numpy.arange(size, dtype="f8"))
    return numpy.concatenate(
        [numpy.zeros((tokens, dim)), numpy.concatenate([axis(x), axis(y)], 1)]
    ).astype(dtype)


def yarn(length, dim, base, factor, original, attention=None, fast=32, slow=1):
    """transformers' _compute_yarn_parameters and the rotary module after it, in float32."""

    def turns(count):
        return dim * math.log(original / (count * 2 * math.pi)) / (2 * math.log(base))

    low, high = max(math.floor(turns(fast)), 0), min(math.ceil(turns(slow)), dim - 1)
    powers = power(F(base), numpy.arange(0, dim, 2, dtype=F) / F(dim))
    ramp = numpy.clip((numpy.arange(dim // 2, dtype=F) - F(low)) / F(high - low), F(0), F(1))
    table = angles(length, F(1) / (F(factor) * powers) * ramp + F(1) / powers * (F(1) - ramp))
    return numpy.cos(numpy.concatenate([table, table], 1)) * F(
        attention or 0.1 * math.log(factor) + 1
    )


def llama3(length, dim, base, factor, original, low=1.0, high=4.0):
    """transformers' _compute_llama3_parameters and the rotary module after it, in float32."""
    inverse = frequencies(dim, base)
    waves = F(2 * math.pi) / inverse
    smooth = (F(original) / waves - F(low)) / F(high - low)
    blend = (F(1) - smooth) * inverse / F(factor) + smooth * inverse
    scaled = numpy.where(
        waves > original / low,
        inverse / F(factor),
        numpy.where(waves < original / high, inverse, blend),
    )
    table = angles(length, scaled.astype(F))
    return numpy.sin(numpy.concatenate([table, table], 1))


def dynamic(length, dim, base, factor, original):
    """transformers' _compute_dynamic_ntk_parameters for a sequence of this length, in
    float32."""
    return hugging_face(
        length, dim, base * ((factor * length / original) - (factor - 1)) ** (dim / (dim - 2))
    )


def half(table, kind):
    """A table rounded to bfloat16 or float16, as float32."""
    if kind == "f16":
        return numpy.asarray(table, "f2").astype(F)
    bits = numpy.asarray(table, F).view("u4")
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype("u4").view(F)


def in_half(length, dim, base, formats):
    """Rotary cosines of torch modules in half precision; formats of positions, frequencies,
    products and the cosines."""
    place, frequency, product, function = (
        (lambda x, kind=kind: x if kind == "f32" else half(x, kind)) for kind in formats
    )
    table = product(
        place(numpy.arange(length, dtype=F))[:, None] * frequency(frequencies(dim, base))
    )
    return numpy.concatenate([function(numpy.cos(table))] * 2, 1)


# formats of positions, frequencies, products, cosines, the type of the table: what is said
HALVES = {
    ("f32", "bf16", "f32", "f32", "f4"): "bfloat16 frequencies",
    ("f32", "f16", "f32", "f32", "f4"): "float16 frequencies",
    ("f32", "f16", "f32", "f32", "f2"): "float16 frequencies",
    ("bf16", "bf16", "bf16", "bf16", "f4"): "all in bfloat16",
    ("bf16", "f32", "f32", "f32", "f4"): "bfloat16 positions",
    ("bf16", "bf16", "f32", "f32", "f4"): "bfloat16 positions and frequencies",
}


def pixtral(height, width, dim, base=10000.0):
    """transformers' PixtralRotaryEmbedding, in float32: cosines of all patches."""
    inverse = frequencies(dim, base)
    down, across = (
        numpy.arange(height, dtype=F)[:, None] * inverse[::2],
        numpy.arange(width, dtype=F)[:, None] * inverse[1::2],
    )
    table = numpy.concatenate(
        [numpy.repeat(down, width, 0), numpy.tile(across, (height, 1))], 1
    )
    return numpy.cos(numpy.concatenate([table, table], 1))


def qwen2_vision(height, width, dim):
    """Qwen2-VL's rot_pos_emb, in float32: sines of the patches in squares of 2 x 2."""

    def squares(place):
        return place.reshape(height // 2, 2, width // 2, 2).transpose(0, 2, 1, 3).reshape(-1)

    y, x = numpy.indices((height, width))
    inverse = frequencies(dim // 2)
    return numpy.sin(
        numpy.concatenate(
            [angles(max(height, width), inverse)[squares(place)] for place in (y, x)], 1
        )
    )


def torchscale(length, dim, scale_base=512):
    """torchscale's XPOS for keys or queries from position 0, in float32: cosines times the
    scale."""
    scale = ((numpy.arange(0, dim, 2, dtype=F) + F(0.4 * dim)) / F(1.4 * dim))[None] ** (
        numpy.arange(length, dtype=F) / F(scale_base)
    )[:, None]
    return numpy.repeat(numpy.cos(angles(length, frequencies(dim))) * scale, 2, 1).astype(F)


def volume(depth, height, width, dim):
    """positional-encodings' PositionalEncoding3D: [depth, height, width, dim]."""
    part = (dim + 5) // 6 * 2

    def axis(count):
        table = angles(count, frequencies(part))
        return numpy.stack([numpy.sin(table), numpy.cos(table)], -1).reshape(count, part)

    out = numpy.zeros((depth, height, width, 3 * part), F)
    out[..., :part], out[..., part : 2 * part] = (
        axis(depth)[:, None, None],
        axis(height)[None, :, None],
    )
    out[..., 2 * part :] = axis(width)
    return out[..., :dim]


def nerf(size, bands):
    """NeRF's Embedder of points of a square from -1 to 1, in float32: input first, then sin and
    cos of each frequency."""
    y, x = numpy.meshgrid(
        numpy.linspace(-1, 1, size, dtype=F),
        numpy.linspace(-1, 1, size, dtype=F),
        indexing="ij",
    )
    points = numpy.stack([y.reshape(-1), x.reshape(-1)], 1)
    return numpy.concatenate(
        [points]
        + [
            function(points * F(2.0**i))
            for i in range(bands)
            for function in (numpy.sin, numpy.cos)
        ],
        1,
    )


def qwen2_vl(text, height, width, rest, base=1000000.0, section=(16, 24, 24)):
    """Qwen2-VL's cosines for text, a picture of height x width cells, and text, in float32."""
    picture = (
        numpy.stack(
            [
                numpy.zeros(height * width),
                *(place.reshape(-1) for place in numpy.indices((height, width))),
            ]
        )
        + text
    )
    ids = numpy.concatenate(
        [
            numpy.tile(numpy.arange(text), (3, 1)),
            picture,
            numpy.tile(numpy.arange(rest) + text + max(height, width), (3, 1)),
        ],
        1,
    ).astype(F)
    table = numpy.repeat(ids, section, 0).T * frequencies(2 * sum(section), base)
    return numpy.cos(numpy.concatenate([table, table], 1))


# tables whose request is found, though float32 arithmetic of grids and of growing waves is not
# named yet
NEARLY = {
    "Pixtral's patches": (
        pixtral(12, 16, 64),
        "axial_rope",
        ["sizes=12,16", "dim=64", "table=full", "ladder=split"],
    ),
    "Pixtral's patches, theta 500": (
        pixtral(12, 16, 64, 500.0),
        "axial_rope",
        ["sizes=12,16", "rope_theta=500"],
    ),
    "Qwen2-VL's patches": (
        qwen2_vision(12, 16, 80),
        "axial_rope",
        ["sizes=12,16", "dim=80", "preset=qwen2_vl_vision"],
    ),
    "torchscale's xpos": (
        torchscale(300, 64),
        "xpos",
        ["length=300", "dim=64", "tensor=q_cos", "table=full"],
    ),
    "torchscale's xpos, scale_base 300": (
        torchscale(300, 64, 300),
        "xpos",
        ["length=300", "scale_base=300", "tensor=q_cos"],
    ),
    "NeRF's points": (nerf(9, 6), "fourier", ["preset=nerf", "sizes=9,9", "bands=6"]),
    "Qwen2-VL's text and picture": (
        qwen2_vl(12, 6, 8, 20),
        "mrope",
        ["preset=qwen2_vl", "text=12,20", "grids=1,12,16", "dim=128", "table=full"],
    ),
    "a volume": (
        volume(5, 6, 7, 64),
        "sinusoidal_3d",
        ["depth=5", "height=6", "width=7", "dim=64"],
    ),
}

# own tables of other schemes: {key: choices}
OWN = {
    "sinusoidal": [
        "length=80&dim=64&frequencies=per_column",
        "length=90&dim=33&frequencies=per_column&odd_dim=truncate&base=500",
        "length=60&dim=32&preset=seed_cls",
        "length=120&dim=63&preset=fairseq&offset=2",
        "length=100&dim=65&odd_dim=truncate&layout=concat&base=777",
        "length=100&dim=129&odd_dim=truncate&layout=concat_cos_first&offset=100",
        "length=64&dim=9&odd_dim=truncate&frequencies=tensor2tensor&amplitude=3",
    ],
    "sinusoidal_2d": [
        "height=9&width=12&dim=64&preset=detr&normalize=none",
        "height=12&width=10&dim=128&preset=deformable_detr&turns=0.5",
        "height=9&width=13&dim=64&preset=mae&base=333&base_height=5000",
        "height=9&width=13&dim=64&preset=timm&interpolation_scale=2.5",
        "height=12&width=16&dim=64&preset=pixart&base_size=32",
        "height=10&width=10&dim=64&preset=sd3&table_size=96&base_size=48",
        "height=6&width=9&dim=64&preset=detr&mask=7,2,7,2,7,2,7,20",
    ],
    "alibi": [
        "length=20&heads=1",
        "length=24&heads=1&alibi_bias_max=3&mask=causal&query_length=9&query_offset=4",
    ],
    "periodic": [
        "length=200&dim=40",
        "length=64&dim=9&offset=17",
        "length=100&dim=16&frequencies=geometric&step=0.5",
        "length=90&dim=12&frequencies=geometric&base=500",
    ],
    "rotation_matrix": [
        "length=60&dim=16",
        "length=40&dim=8&base=500000&convention=shift",
        "length=100&dim=12&step=0.25&offset=-7",
    ],
    "xpos": [
        f"length=60&dim=32&tensor={tensor}{more}"
        for tensor in ("q_cos", "q_sin", "k_cos", "k_sin", "scale")
        for more in ("", "&table=full&layout=half&centre=100", "&table=full&scale_base=1000")
    ],
    "sinusoidal_3d": [
        "depth=3&height=5&width=6&dim=48",
        "preset=cogvideox&depth=2&height=8&width=6&dim=96",
        "preset=prithvi&depth=4&height=7&width=5&dim=48",
        "depth=5&height=6&width=9&dim=60&base=176&temporal_interpolation_scale=2.5",
        "preset=cogvideox&depth=6&height=5&width=8&dim=96&spatial_interpolation_scale=1.875"
        "&base=500",
    ],
    "axial_rope": [
        "sizes=14,9&dim=64",
        "sizes=7,12&dim=64&table=full&rope_theta=100&tensor=sin",
        "preset=qwen2_vl_vision&sizes=8,12&dim=80",
        "preset=pixtral&sizes=9,7&dim=64&table=full",
        "preset=llama4_vision&sizes=8,6&dim=88",
        "preset=dinov3&sizes=9,6&dim=64&table=full&prefix=5",
        "preset=vjepa2&sizes=4,5,6&dim=64",
        "preset=wan&sizes=3,6,8&dim=128&tensor=sin",
        "preset=flux&sizes=1,8,9&dim=128",
        "preset=flux&sizes=4,5,8&dim=128&rope_theta=256&table=full",
        "preset=flux&sizes=1,8,9&dim=128&prefix=32",
        "preset=eva&sizes=12,12&dim=64&reference_sizes=8,8&table=full&tensor=sin",
        "preset=qwen2_vl_vision&sizes=8,12&dim=80&repeats=3&table=full",
        "preset=dinov3&sizes=10,14&dim=64&normalize=max&table=full",
        "sizes=5,7,9&dim=64&widths=16,24,24&layout=interleaved&table=full&tensor=sin",
        "sizes=13,30,36&dim=64&widths=16,24,24&tensor=cos",
        "sizes=9,12&dim=64&first_index=3,7&ladder=split&rope_theta=500",
        "sizes=9,12&dim=64&arrangement=alternating&layout=interleaved&table=full",
        "sizes=8,8&dim=96&layout=half_by_axis&axis_order=reversed&table=full&repeats=2",
    ],
    "fourier": [
        "sizes=40&bands=6",
        "preset=nerf&sizes=9,7&bands=10",
        "preset=nerfstudio&sizes=8,8&bands=4&grid=unit",
        "preset=perceiver&sizes=14,14&bands=8",
        "preset=timm_fourier_embed&sizes=12,10&bands=6",
        "sizes=10,12&bands=5&angle=half_turns&layout=by_frequency",
    ],
    "mrope": [
        "preset=qwen2_vl&dim=128&text=10,5&grids=1,8,12",
        "preset=qwen2_5_vl&dim=128&text=3,0&grids=1,6,6&tensor=sin&table=full",
        "preset=qwen3_vl&dim=128&text=4,7&grids=1,10,8",
        "preset=glm4v&dim=128&text=6,9&grids=1,4,8",
        "preset=qwen2_vl&dim=128&text=9,3,2&grids=1,4,6,1,4,4",
    ],
}


# a table as a library computes it, the scheme, and what the request must say
LIBRARIES = {
    "transformers, llama": (
        hugging_face(700, 64),
        "rope",
        ["length=700", "dim=64", "table=full", "tensor=cos"],
    ),
    "transformers, theta 500000": (
        hugging_face(700, 128, 5e5),
        "rope",
        ["rope_theta=500000", "dim=128"],
    ),
    "transformers, linear scaling": (
        hugging_face(700, 64, factor=4),
        "rope",
        ["rope_type=linear", "factor=4"],
    ),
    "transformers, yarn": (
        yarn(900, 128, 1e6, 4, 32768),
        "rope",
        [
            "rope_theta=1000000",
            "rope_type=yarn",
            "factor=4",
            "original_max_position_embeddings=32768",
        ],
    ),
    "transformers, yarn of DeepSeek": (
        yarn(1500, 64, 1e4, 40, 4096, 1),
        "rope",
        [
            "preset=deepseek_v3",
        ],
    ),
    "transformers, llama 3.1": (
        llama3(1200, 128, 5e5, 8, 8192),
        "rope",
        ["preset=llama3.1"],
    ),
    "transformers, llama 3.2": (
        llama3(700, 64, 5e5, 32, 8192),
        "rope",
        ["preset=llama3.2"],
    ),
    "transformers, dynamic": (
        dynamic(3000, 64, 1e4, 2, 2048),
        "rope",
        ["rope_type=dynamic", "original_max_position_embeddings=2048", "seq_len=3000"],
    ),
    "gpt-j": (gpt_j(2000, 64), "rope", ["table=half_width", "tensor=sin"]),
    "rotary_embedding_torch": (interleaved(800, 32), "rope", ["layout=interleaved"]),
    "fairseq": (
        fairseq(1024, 256),
        "sinusoidal",
        ["layout=concat", "frequencies=tensor2tensor", "offset=2"],
    ),
    "the annotated transformer": (annotated(512, 128), "sinusoidal", ["length=512", "dim=128"]),
    "the same, times the root of dim": (
        annotated(512, 128, math.sqrt(128)),
        "sinusoidal",
        ["length=512", "dim=128", f"amplitude={math.sqrt(128)}"],
    ),
    "the same, transposed": (
        annotated(512, 128).T.copy(),
        "sinusoidal",
        ["length=512", "dim=128"],
    ),
    "numpy": (in_float64(300, 64), "sinusoidal", ["length=300"]),
    "numpy in float32": (in_float64(300, 64, "f4"), "sinusoidal", ["length=300"]),
    "ALiBi, causal": (alibi(8, 60), "alibi", ["length=60", "heads=8", "mask=causal"]),
    "ALiBi of 16 heads in float32": (
        alibi(16, 60, "f4"),
        "alibi",
        ["length=60", "heads=16", "mask=causal"],
    ),
    "ALiBi of 12 heads in float32": (
        alibi(12, 60, "f4"),
        "alibi",
        ["length=60", "heads=12", "mask=causal"],
    ),
    "ALiBi of 20 heads in float16": (
        alibi(20, 50, "f2"),
        "alibi",
        ["length=50", "heads=20", "mask=causal"],
    ),
    "bloom": (bloom(8, 100), "alibi", ["length=100", "heads=8", "mask=key_only"]),
    "mpt": (mpt(8, 100), "alibi", ["length=100", "heads=8", "query_length=1"]),
    "mpt, alibi_bias_max 16": (mpt(16, 64, 16), "alibi", ["heads=16", "alibi_bias_max=16"]),
    "MAE, of 14 x 14 patches": (
        mae(192, 14),
        "sinusoidal_2d",
        ["height=14", "width=14", "dim=192", "extra_tokens=1"],
    ),
    "MAE, of 7 x 7 patches in float64": (
        mae(64, 7, "f8", 0),
        "sinusoidal_2d",
        ["height=7", "preset=mae"],
    ),
    "the slopes of 12 heads": (
        numpy.array(slopes(12), F),
        "alibi",
        ["heads=12", "tensor=slopes"],
    ),
}
