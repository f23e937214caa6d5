"""Tables as public code makes them, by numpy alone: the laws of strangers.py. A law draws its
parameters and computes in the type T: asked twice with the same seed, in float64 it gives what
the formula says, in float32 what a library would."""

import numpy

BASES = (1e4, 1e4, 1e4, 5e5, 1e6, 1e5, 777.0, 2056.0)
HALF = (8, 16, 24, 32, 48, 64)


class Law:
    """Tensors that belong together, and the request that is right: its scheme, the query after
    the sizes, and how many digits of numbers a name of the law must have."""

    def __init__(self, tensors, scheme, query, grid=None, digits=None):
        self.tensors, self.scheme, self.query = tensors, scheme, query
        self.grid = grid  # the extents behind the rows
        self.digits = digits  # where no request is known


def pick(draw, items):
    return items[int(draw.integers(len(items)))]


def raised(T, base, exponent):
    """A power, rounded to T: numpy's own of float32 depend on the machine (float32.py)."""
    return numpy.power(numpy.float64(base), numpy.float64(exponent)).astype(T)


def powers(T, base, count, last=0):
    """base^(-i/(count - last))."""
    return raised(T, base, -numpy.arange(count, dtype=T) / T(count - last))


def positions_of(draw, T, most=200):
    """(positions, how a query says them)."""
    rows = int(draw.integers(16, most))
    offset = int(pick(draw, (0, 0, 0, 1, 2, 100, 4096, 30000)))
    step = pick(draw, (1, 1, 1, 1, 2, 0.5, -1, 20))
    offset += rows if step < 0 else 0
    said = f"length={rows}" + (f"&offset={offset}" if offset else "")
    said += f"&step={step:g}" if step != 1 else ""
    return (offset + step * numpy.arange(rows)).astype(T), said


def said_base(name, base, usual=1e4):
    return "" if base == usual else f"&{name}={base:.12g}"


# ---- sines and cosines of positions ----


def sinusoid(layout, to_last):
    def make(draw, T):
        at, said = positions_of(draw, T)
        half, base = pick(draw, HALF), pick(draw, BASES)
        angles = at[:, None] * powers(T, base, half, int(to_last))
        sine, cosine = numpy.sin(angles), numpy.cos(angles)
        if layout == "interleaved":
            table = numpy.stack([sine, cosine], 2).reshape(len(at), -1)
        else:
            table = numpy.concatenate(
                [sine, cosine] if layout == "concat" else [cosine, sine], 1
            )
        said += f"&dim={2 * half}{said_base('base', base)}&layout={layout}"
        said += "&frequencies=tensor2tensor" if to_last else ""
        return Law([table], "sinusoidal", said)

    return make


def timesteps(draw, T):
    """DDPM's, of a batch whose times were drawn."""
    at = draw.integers(0, 1000, int(draw.integers(8, 64))).astype(T)
    half = pick(draw, HALF)
    angles = at[:, None] * powers(T, 1e4, half, 1)
    listed = ",".join(f"{time:g}" for time in at)
    said = f"positions={listed}&dim={2 * half}&layout=concat&frequencies=tensor2tensor"
    return Law(
        [numpy.concatenate([numpy.sin(angles), numpy.cos(angles)], 1)], "sinusoidal", said
    )


def one_time(draw, T):
    """One time for a whole batch."""
    at = numpy.full(int(draw.integers(4, 32)), float(draw.integers(1, 1000)), T)
    half = pick(draw, HALF)
    angles = at[:, None] * powers(T, 1e4, half)
    said = f"positions={at[0]:g}&dim={2 * half}&layout=concat"
    return Law(
        [numpy.concatenate([numpy.sin(angles), numpy.cos(angles)], 1)], "sinusoidal", said
    )


def diffwave(draw, T):
    """Frequencies that rise: 10^(4i/63)."""
    at = numpy.arange(int(draw.integers(16, 200)), dtype=T)
    angles = at[:, None] * raised(T, 10, numpy.arange(64, dtype=T) * T(4) / T(63))
    table = numpy.concatenate([numpy.sin(angles), numpy.cos(angles)], 1)
    return Law([table], None, None, digits=5)


def unit_fourier(draw, T):
    """pixel-nerf's 1-D coordinates from 0 to 1, in bands of octaves."""
    points, bands = int(draw.integers(16, 100)), int(draw.integers(4, 9))
    at = numpy.arange(points, dtype=T) / T(points - 1)
    angles = at[:, None] * (T(numpy.pi) * T(2) ** numpy.arange(bands, dtype=T))
    table = numpy.stack([numpy.sin(angles), numpy.cos(angles)], 2).reshape(points, -1)
    said = f"sizes={points}&bands={bands}&grid=unit&angle=half_turns&layout=by_frequency"
    return Law([table], "fourier", said)


def perceiver(draw, T):
    """A picture's coordinates from -1 to 1 and linear bands up to the Nyquist frequency."""
    height, bands = int(draw.integers(8, 24)), int(draw.integers(4, 12))
    at = numpy.linspace(T(-1), T(1), height, dtype=T)
    x = numpy.concatenate(cells(T, at, at), 1)
    bends = numpy.linspace(T(1), T(height / 2), bands, dtype=T)
    angles = (x[:, :, None] * bends * T(numpy.pi)).reshape(len(x), -1)
    table = numpy.concatenate([numpy.sin(angles), numpy.cos(angles)], 1)
    said = f"sizes={height},{height}&bands={bands}&spacing=linear&angle=half_turns"
    return Law([table], "fourier", f"{said}&max_frequency={height / 2:g}", (height, height))


# ---- grids ----


def grid_of(draw):
    return int(draw.integers(5, 16)), int(draw.integers(5, 16))


def cells(T, *axes):
    """The coordinates of a grid's cells, one column for each axis."""
    axes = (numpy.asarray(axis).astype(T) for axis in axes)
    return [each.reshape(-1, 1) for each in numpy.meshgrid(*axes, indexing="ij")]


def sines_and_cosines(columns, own):
    return [f(at * own) for at in columns for f in (numpy.sin, numpy.cos)]


def planar(to_last, bases):
    """MAE's and, up to the last frequency, simple ViT's."""

    def make(draw, T):
        height, width = grid_of(draw)
        quarter, base = pick(draw, HALF), pick(draw, bases)
        y, x = cells(T, range(height), range(width))
        parts = sines_and_cosines((x, y), powers(T, base, quarter, int(to_last)))
        said = f"height={height}&width={width}&dim={4 * quarter}&layout=concat&shape=nc"
        said += said_base("base", base) + "&frequencies=tensor2tensor" * to_last
        return Law([numpy.concatenate(parts, 1)], "sinusoidal_2d", said, (height, width))

    return make


def simple_vit_3d(draw, T):
    depth, (height, width) = int(draw.integers(3, 6)), grid_of(draw)
    sixth = pick(draw, (8, 16, 32))
    z, y, x = cells(T, range(depth), range(height), range(width))
    parts = sines_and_cosines((x, y, z), powers(T, 1e4, sixth, 1))
    said = f"depth={depth}&height={height}&width={width}&dim={6 * sixth}&layout=concat"
    said += "&axis_order=width_height_depth&shape=nc&frequencies=tensor2tensor"
    return Law([numpy.concatenate(parts, 1)], "sinusoidal_3d", said, (depth, height, width))


def detr(first):
    def make(draw, T):
        height, width = grid_of(draw)
        quarter, base = pick(draw, HALF[:4]), pick(draw, (1e4, 1e4, 20.0))
        turns = (
            (numpy.arange(extent, dtype=T) + T(first)) / (T(extent) + T(1e-6)) * T(2 * numpy.pi)
            for extent in (height, width)
        )
        own = powers(T, base, quarter)
        parts = [
            numpy.stack(sines_and_cosines([at], own), 2).reshape(len(at), -1)
            for at in cells(T, *turns)
        ]
        said = f"height={height}&width={width}&dim={4 * quarter}&axis_order=height_first"
        said += f"&first_position={first:g}&normalize=cells{said_base('base', base)}&shape=nc"
        return Law([numpy.concatenate(parts, 1)], "sinusoidal_2d", said, (height, width))

    return make


def loftr(draw, T):
    """Sine and cosine of x, then of y, by turns in the channels, from 1."""
    height, width = grid_of(draw)
    y, x = cells(T, range(1, height + 1), range(1, width + 1))
    parts = sines_and_cosines((x, y), powers(T, 1e4, pick(draw, HALF[:4])))
    table = numpy.stack(parts, 2).reshape(height * width, -1)
    return Law([table], None, None, (height, width), digits=2)


# ---- rotary embeddings: cosines and sines ----


def turned(T, angles, factor=1.0):
    return [numpy.cos(angles) * T(factor), numpy.sin(angles) * T(factor)]


def yarn(T, width, base, factor, original, fast=32, slow=1):
    low, high = (
        width * numpy.log(original / (turns * 2 * numpy.pi)) / (2 * numpy.log(base))
        for turns in (fast, slow)
    )
    low, high = max(numpy.floor(low), 0), min(numpy.ceil(high), width - 1)
    ramp = numpy.clip((numpy.arange(width // 2, dtype=T) - T(low)) / T(high - low), 0, 1)
    own = powers(T, base, width // 2)
    return own / T(factor) * ramp + own * (T(1) - ramp)


def llama3(T, width, base, factor, original):
    own = powers(T, base, width // 2)
    waves = T(2 * numpy.pi) / own
    smooth = numpy.clip((T(original) / waves - T(1)) / T(4 - 1), 0, 1)
    return (T(1) - smooth) * own / T(factor) + smooth * own


def longer_base(T, width, base, ratio):
    return powers(T, base * ratio ** (width / (width - 2)), width // 2)


# {kind: (frequencies by type, width, base and factor; the query)}
SCALED = {
    "default": (lambda T, width, base, _: powers(T, base, width // 2), ""),
    "linear": (
        lambda T, width, base, factor: powers(T, base, width // 2) / T(factor),
        "&rope_type=linear&factor={:g}",
    ),
    "ntk": (longer_base, "&rope_type=ntk&factor={:g}"),
    "ntk_fixed": (
        lambda T, width, base, factor: (
            powers(T, base * factor, width // 2) / T(factor ** (2 / width))
        ),
        "&rope_type=ntk_fixed&factor={:g}",
    ),
    "dynamic": (
        lambda T, width, base, factor: longer_base(T, width, base, factor + 1),
        "&rope_type=dynamic&factor={:g}&original_max_position_embeddings=4096&seq_len=8192",
    ),
    "yarn": (
        lambda T, width, base, factor: yarn(T, width, base, factor, 32768),
        "&rope_type=yarn&factor={:g}&original_max_position_embeddings=32768",
    ),
    "llama3": (
        lambda T, width, base, factor: llama3(T, width, base, factor, 8192),
        "&rope_type=llama3&factor={:g}&low_freq_factor=1&high_freq_factor=4"
        "&original_max_position_embeddings=8192",
    ),
}


def rope(kind):
    own, more = SCALED[kind]

    def make(draw, T):
        at, said = positions_of(draw, T)
        published = kind in ("yarn", "llama3")
        width = 128 if published else 2 * pick(draw, HALF)
        base = 5e5 if kind == "llama3" else pick(draw, (1e4, 5e5, 1e6, 1e5, 777777.0))
        factor = pick(draw, (2.0, 4.0, 8.0))
        amplitude = 0.1 * numpy.log(factor) + 1 if kind == "yarn" else 1.0
        said += f"&dim={width}{said_base('rope_theta', base)}{more.format(factor)}"
        return Law(
            turned(T, at[:, None] * own(T, width, base, factor), amplitude), "rope", said
        )

    return make


def partial(draw, T):
    """The first quarter of a head of which the rest does not turn: cosines 1 and sines 0."""
    at, said = positions_of(draw, T)
    half = pick(draw, HALF)
    angles = at[:, None] * powers(T, 1e4, half)
    angles = numpy.concatenate([angles, numpy.zeros((len(at), half), T)], 1)
    said += f"&dim={4 * half}&rope_theta=100000000&rope_type=proportional"
    return Law(turned(T, angles), "rope", f"{said}&partial_rotary_factor=0.5")


def axial(draw, T):
    """rope-vit's: x has the first half of the pairs, y the second."""
    height, width = grid_of(draw)
    half, base = pick(draw, HALF[:4]), pick(draw, (1e4, 100.0))
    y, x = cells(T, range(height), range(width))
    turns = numpy.concatenate([at * powers(T, base, half) for at in (x, y)], 1)
    said = f"sizes={height},{width}&dim={4 * half}&axis_order=reversed"
    said += said_base("rope_theta", base)
    return Law(turned(T, turns), "axial_rope", said, (height, width))


def dinov3(draw, T):
    height, width = grid_of(draw)
    half = pick(draw, HALF[:4])
    centres = (
        T(2) * (numpy.arange(extent, dtype=T) + T(0.5)) / T(extent) - T(1)
        for extent in (height, width)
    )
    own = T(2 * numpy.pi) * powers(T, 100.0, half)
    turns = numpy.concatenate([at * own for at in cells(T, *centres)], 1)
    said = f"sizes={height},{width}&dim={4 * half}&coordinate_type=centres&rope_theta=100"
    return Law(turned(T, turns), "axial_rope", said, (height, width))


def mrope(draw, T):
    """Text, a picture, text, as Qwen2-VL numbers them: sections of 16, 24 and 24 pairs."""
    before, after = (int(draw.integers(4, 20)) for _ in range(2))
    height, width = (int(draw.integers(2, 8)) for _ in range(2))
    y, x = numpy.indices((height, width)).reshape(2, -1)
    picture = before + numpy.stack([0 * y, y, x])
    rest = picture.max() + 1 + numpy.arange(after)
    text, rest = (numpy.tile(each, (3, 1)) for each in (numpy.arange(before), rest))
    at = numpy.concatenate([text, picture, rest], 1)[numpy.repeat([0, 1, 2], [16, 24, 24])]
    said = f"text={before},{after}&grids=1,{2 * height},{2 * width}&dim=128&rope_theta=1000000"
    return Law(turned(T, at.T.astype(T) * powers(T, 1e6, 64)), "mrope", said)


def xpos(draw, T):
    at, said = positions_of(draw, T)
    half = pick(draw, HALF)
    zeta = (numpy.arange(0, 2 * half, 2, dtype=T) + T(0.8 * half)) / T(2.8 * half)
    scale = raised(T, zeta, at[:, None] / T(512))
    angles = at[:, None] * powers(T, 1e4, half)
    tensors = [tensor * scale for tensor in turned(T, angles)]
    return Law(tensors, "xpos", f"{said}&dim={2 * half}")


def retnet_turn(draw, T):
    rows, half = int(draw.integers(16, 200)), pick(draw, HALF)
    own = T(1) / raised(T, 1e4, numpy.linspace(T(0), T(1), half, dtype=T))
    angles = numpy.arange(rows, dtype=T)[:, None] * numpy.repeat(own, 2)
    return Law(turned(T, angles), "retnet", f"length={rows}&dim={2 * half}&heads=1")


def frequencies(draw, T):
    half, base = pick(draw, HALF), pick(draw, BASES)
    said = f"length=1&dim={2 * half}{said_base('rope_theta', base)}&tensor=inv_freq"
    return Law([powers(T, base, half)], "rope", said)


def angles(draw, T):
    """Positions times frequencies, before cosine and sine."""
    at, said = positions_of(draw, T)
    half, base = pick(draw, HALF), pick(draw, BASES)
    said += f"&dim={2 * half}{said_base('rope_theta', base)}"
    return Law([at[:, None] * powers(T, base, half)], "rope", said)


# ---- biases and indices ----


def slopes_of(T, heads, most=8):
    power = 2 ** int(numpy.log2(heads))
    own = [2 ** (-most * (i + 1) / power) for i in range(power)]
    more = [2 ** (-most * (i + 1) / (2 * power)) for i in range(2 * power)][::2]
    return numpy.array(own + more[: heads - power], T)[:, None, None]


def alibi(mask):
    def make(draw, T):
        heads, count = pick(draw, (4, 8, 12, 16)), int(draw.integers(16, 100))
        at = numpy.arange(count, dtype=T)
        slopes = slopes_of(T, heads)
        if mask == "key_only":
            table = slopes * at[None, None]
        else:
            table = slopes * -abs(at[None, :, None] - at)
        if mask == "causal":
            table = numpy.where(at[:, None] < at, T(-numpy.inf), table)
        return Law(
            [table],
            "alibi",
            f"length={count}&heads={heads}&mask={mask}"
            + ("&query_length=1" if mask == "key_only" else ""),
        )

    return make


def retnet_mask(draw, T):
    heads, count = pick(draw, (4, 8, 12)), int(draw.integers(16, 100))
    gamma = T(1) - raised(T, 2, -5 - numpy.arange(heads))[:, None, None]
    at = numpy.arange(count)
    distance = at[:, None] - at
    table = numpy.where(distance >= 0, raised(T, gamma, numpy.maximum(distance, 0)), T(0))
    return Law([table.astype(T)], "retnet", f"length={count}&heads={heads}&dim=8")


def t5(draw, _):
    """transformers' relative_position_bucket, whose logarithms are of float32."""
    count, buckets, most = (
        int(draw.integers(32, 160)),
        pick(draw, (32, 32, 64)),
        pick(draw, (128, 128, 256)),
    )
    both = bool(draw.integers(2))
    at = numpy.arange(count)
    distance = at - at[:, None]
    half = buckets // 2 if both else buckets
    result = (distance > 0) * half if both else 0 * distance
    distance = abs(distance) if both else numpy.maximum(-distance, 0)
    exact = half // 2
    F = numpy.float32
    large = numpy.log(numpy.maximum(distance, 1).astype(F) / F(exact)) / F(
        numpy.log(most / exact)
    )
    large = numpy.minimum(exact + (large * F(half - exact)).astype(int), half - 1)
    table = result + numpy.where(distance < exact, distance, large)
    said = f"length={count}&heads=1&num_buckets={buckets}&max_distance={most}"
    said += f"&bidirectional={'true' if both else 'false'}&tensor=bucket"
    return Law([table.astype("f8")], "t5", said)


def swin(draw, _):
    height, width = (int(draw.integers(4, 9)) for _ in range(2))
    y, x = (axis.ravel() for axis in numpy.indices((height, width)))
    rows = y[:, None] - y + height - 1
    table = rows * (2 * width - 1) + x[:, None] - x + width - 1
    said = f"height={height}&width={width}&heads=1&tensor=index"
    return Law([table.astype("f8")], "swin", said)


# ---- no law ----


def drawn(draw, T):
    rows, columns = int(draw.integers(16, 100)), 2 * pick(draw, HALF)
    return Law([(0.02 * draw.normal(size=(rows, columns))).astype(T)], None, None)


def trained(draw, T):
    law = drawn(draw, T)
    law.tensors = [law.tensors[0].cumsum(0)]
    return law


NOTHING = {"drawn": drawn, "trained": trained}
LAWS = {
    "vaswani": sinusoid("interleaved", False),
    "tensor2tensor": sinusoid("concat", True),
    "sines, then cosines": sinusoid("concat", False),
    "dit": sinusoid("concat_cos_first", False),
    "times of a batch": timesteps,
    "one time": one_time,
    "diffwave": diffwave,
    "fourier, 0 to 1": unit_fourier,
    "perceiver": perceiver,
    "simple ViT": planar(True, (1e4, 1e4, 1e3)),
    "simple ViT 3-D": simple_vit_3d,
    "MAE": planar(False, (1e4, 1e4, 777.0)),
    "DETR": detr(1.0),
    "deformable DETR": detr(0.5),
    "LoFTR": loftr,
    **{f"rope {kind}": rope(kind) for kind in SCALED},
    "rope of a part": partial,
    "axial rope": axial,
    "DINOv3": dinov3,
    "M-RoPE": mrope,
    "xPos": xpos,
    "RetNet, turned": retnet_turn,
    "frequencies": frequencies,
    "angles": angles,
    **{f"ALiBi {mask}": alibi(mask) for mask in ("symmetric", "causal", "key_only")},
    "RetNet, decay": retnet_mask,
    "T5 buckets": t5,
    "Swin index": swin,
    **NOTHING,
}
