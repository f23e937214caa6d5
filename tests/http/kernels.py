"""Kernels as models have them, in float32, bfloat16 and float16, drawn with their requests; and
the same with a usual mistake."""

import math
from dataclasses import dataclass, replace

import torch

from test_compare import safetensors

F32, BF16, F16 = torch.float32, torch.bfloat16, torch.float16
ARITHMETICS = {"float32": F32, "bfloat16": BF16, "float16": F16}
NAMES = {F32: "F32", BF16: "BF16", F16: "F16", torch.int64: "I64", torch.float64: "F64"}
THETAS = (10000, 500000, 1000000, 77777)


def file_of(**tensors):
    """A safetensors file of tensors of torch."""
    return safetensors(
        {
            name: (
                NAMES[table.dtype],
                list(table.shape),
                table.contiguous().view(torch.uint8).numpy().tobytes(),
            )
            for name, table in tensors.items()
        }
    )


def frequencies(width, base, law, random=None):
    """base^(-2i/width) in float32, as one of three formulas has it."""
    exponents = torch.arange(0, width, 2, dtype=F32) / (width - 2 if law == "last" else width)
    way = random.integers(3) if random else 0
    if way == 0:
        return 1 / base**exponents
    if way == 1:
        return torch.exp(exponents * -math.log(base))
    return torch.tensor(float(base)) ** -exponents


def yarn(inverse, width, base, factor, trained):
    """The frequencies of YaRN, blended between 32 and 1 turns."""

    def index(turns):
        return width * math.log(trained / (turns * 2 * math.pi)) / (2 * math.log(base))

    low, high = max(math.floor(index(32)), 0), min(math.ceil(index(1)), width - 1)
    ramp = torch.clamp((torch.arange(width // 2, dtype=F32) - low) / (high - low), 0, 1)
    return inverse / factor * ramp + inverse * (1 - ramp)


def narrow(table, rounded):
    return table.to(BF16).to(F32) if rounded else table


@dataclass(frozen=True)
class Rotation:
    """What a rotary kernel does to [batch, heads, length, dim]."""

    width: int  # the last columns, which are turned
    layout: str
    output: str
    theta: float
    factor: float  # of yarn, or 0
    positions: tuple
    inverse: bool
    fused: bool  # all in float32, and the result rounded; else cosines are rounded
    law: str = "paper"
    exponent_width: int = 0
    shift: int = 0
    times: float = 1
    attention: bool = True
    bf16: str = ""  # what is rounded to bfloat16
    one_sign: bool = False
    exchanged: bool = False

    def waves(self, random):
        inverse = frequencies(self.exponent_width or self.width, self.theta, self.law, random)
        inverse = inverse[: self.width // 2]
        if self.factor:
            inverse = yarn(inverse, self.width, self.theta, self.factor, 4096)
        positions = torch.tensor(self.positions, dtype=torch.int64).to(F32) + self.shift
        if positions.ndim > 1:  # of each row of a batch
            positions = positions[:, None]
        inverse = narrow(inverse, self.bf16 == "frequencies")
        angles = narrow(positions, self.bf16 == "positions")[..., None] * inverse
        angles = narrow(angles, self.bf16 == "angles")
        scale = 0.1 * math.log(self.factor) + 1 if self.factor and self.attention else 1
        cosines, sines = angles.cos() * scale, angles.sin() * scale
        cosines = narrow(cosines, self.bf16 == "waves")
        if self.exchanged:
            cosines, sines = sines, cosines
        return cosines, -sines if self.inverse else sines

    def __call__(self, x, arithmetic, random=None):
        computed = F32 if self.fused else arithmetic
        cosines, sines = (table.to(computed) for table in self.waves(random))
        kept, turned = x[..., : -self.width], x[..., -self.width :].to(computed)
        if self.layout == "half":
            one, other = turned.chunk(2, -1)
        else:
            one, other = turned[..., ::2], turned[..., 1::2]
        first = one * cosines - other * sines
        second = other * cosines + (-one * sines if self.one_sign else one * sines)
        if self.output == "half":
            turned = torch.cat((first, second), -1)
        else:
            turned = torch.stack((first, second), -1).flatten(-2)
        return torch.cat((kept, (turned * self.times).to(arithmetic)), -1)

    def mistakes(self):
        """{name: this with a mistake}"""
        flipped = {"half": "interleaved", "interleaved": "half"}
        both = {"layout": flipped[self.layout]}
        if self.output == self.layout:
            both["output"] = flipped[self.output]
        wrong = {
            "pairing": both,
            "output order": {"output": flipped[self.output]},
            "the other way": {"inverse": not self.inverse},
            "theta": {"theta": 10000 if self.theta > 90000 else 500000},
            "off by one": {"shift": 1},
            "scale": {"attention": False} if self.factor else {"times": 0.125},
            "bfloat16 positions": {"bf16": "positions"},
            "bfloat16 frequencies": {"bf16": "frequencies"},
            "bfloat16 angles": {"bf16": "angles"},
            "one sign": {"one_sign": True},
            "sines for cosines": {"exchanged": True},
            "exponent to the end": {"law": "last"},
            "exponent of twice the width": {"exponent_width": 2 * self.width},
        }
        return {name: replace(self, **change) for name, change in wrong.items()}


@dataclass
class Case:
    """A request, its input, and a kernel; `axes` permutes what the kernel has."""

    scheme: str
    query: str
    input: str
    x: torch.Tensor
    kernel: object
    arithmetic: str
    axes: tuple = (0, 1, 2, 3)
    ids: torch.Tensor = None  # position_ids

    def body(self, kernel, random=None, **more):
        """The file of the input and of what a kernel makes of it."""
        result = kernel(self.x, ARITHMETICS[self.arithmetic], random)
        if self.ids is not None:
            more["position_ids"] = self.ids
        return file_of(
            **{self.input: self.x.permute(self.axes), "mine": result.permute(self.axes)}, **more
        )


def draw_positions(random, length):
    """Far enough that bfloat16 shows: consecutive ones from some offset on, or a list."""
    offset = int(random.choice((300, 2000, 30000, 100000))) + int(random.integers(500))
    return tuple(range(offset, offset + length))


def draw_rotation(random, arithmetic):
    dim = int(random.choice((32, 64, 96, 128)))
    width = int(random.choice((dim, dim, dim // 2)))
    batch, heads = (int(n) for n in random.integers(1, 4, 2))
    positions = draw_positions(random, int(random.integers(40, 120)))
    layout, output = (str(s) for s in random.choice(("half", "interleaved"), 2))
    if random.integers(2):
        output = layout
    factor = 4 if random.integers(3) == 0 else 0
    kernel = Rotation(
        width,
        layout,
        output,
        float(random.choice(THETAS)),
        factor,
        positions,
        bool(random.integers(2)),
        bool(random.integers(2)),
    )
    axes = [(0, 1, 2, 3), (0, 2, 1, 3), (2, 0, 1, 3), (1, 2, 0, 3)][random.integers(4)]
    names = ",".join(("batch", "heads", "length", "dim")[axis] for axis in axes)
    query = f"dim={width}&layout={layout}&rope_theta={kernel.theta:.0f}&axes={names}"
    ids = None
    if random.integers(3) == 0:
        ids = torch.from_numpy(random.integers(300, 5000, (batch, 1)) + range(len(positions)))
        kernel = replace(kernel, positions=tuple(map(tuple, ids.tolist())))
    else:
        query += f"&offset={positions[0]}&length={len(positions)}"
    query += f"&rotary_offset=-{width}" if width < dim else ""
    query += f"&output_layout={output}" if output != layout else ""
    query += "&inverse=true" if kernel.inverse else ""
    if factor:
        query += f"&rope_type=yarn&factor={factor}&original_max_position_embeddings=4096"
    x = torch.from_numpy(random.standard_normal((batch, heads, len(positions), dim)))
    x = x.to(ARITHMETICS[arithmetic])
    name = str(random.choice(("query", "key")))
    return Case("rope", query, name, x, kernel, arithmetic, axes, ids)


@dataclass(frozen=True)
class Sinusoid:
    """What is added to [batch, length, dim], or, as a dot product with the rows of distances,
    makes scores of [length, dim]."""

    base: float
    layout: str
    positions: tuple
    scale: float
    fused: bool
    law: str = "paper"
    shift: int = 0
    bf16: str = ""
    sign: int = 1
    exchanged: bool = False

    def table(self, positions, width, random):
        inverse = narrow(
            frequencies(width, self.base, self.law, random), self.bf16 == "frequencies"
        )
        positions = narrow(positions.to(F32) + self.shift, self.bf16 == "positions")
        angles = narrow(positions[..., None] * inverse, self.bf16 == "angles")
        waves = [angles.sin() * self.sign, angles.cos()]
        waves = waves[::-1] if self.exchanged else waves
        return (
            torch.cat(waves, -1)
            if self.layout == "concat"
            else torch.stack(waves, -1).flatten(-2)
        )

    def __call__(self, x, arithmetic, random=None):
        computed = F32 if self.fused else arithmetic
        table = self.table(torch.tensor(self.positions), x.shape[-1], random).to(computed)
        return (x.to(computed) + self.scale * table).to(arithmetic)

    def mistakes(self):
        wrong = {
            "column order": {
                "layout": {"concat": "interleaved", "interleaved": "concat"}[self.layout]
            },
            "the other way": {"sign": -1},
            "base": {"base": 10000 if self.base > 90000 else 500000},
            "off by one": {"shift": 1},
            "scale": {"scale": self.scale * 0.9},
            "bfloat16 positions": {"bf16": "positions"},
            "bfloat16 frequencies": {"bf16": "frequencies"},
            "bfloat16 angles": {"bf16": "angles"},
            "sines for cosines": {"exchanged": True},
            "exponent to the end": {"law": "last"},
        }
        return {name: replace(self, **change) for name, change in wrong.items()}


@dataclass(frozen=True)
class Scores(Sinusoid):
    """Queries times the waves of distances, accumulated in float32."""

    def __call__(self, x, arithmetic, random=None):
        queries = torch.tensor(self.positions)
        distances = torch.arange(len(self.positions)) - queries[:, None]
        table = self.table(distances, x.shape[-1], random)
        table = table if self.fused else table.to(arithmetic)
        return torch.einsum("...id,ijd->...ij", x.to(F32), table.to(F32)).to(arithmetic)

    def mistakes(self):
        return {name: kernel for name, kernel in super().mistakes().items() if name != "scale"}


def draw_sinusoid(random, arithmetic):
    positions = draw_positions(random, int(random.integers(40, 120)))
    scores = bool(random.integers(2))
    kind = Scores if scores else Sinusoid
    scale = 1.0 if scores else float(random.choice((1, 2.5, 0.125)))
    layout = str(random.choice(("concat", "interleaved")))
    base = float(random.choice(THETAS))
    kernel = kind(base, layout, positions, scale, bool(random.integers(2)))
    dim, batch = int(random.choice((32, 64, 128))), int(random.integers(1, 4))
    query = f"dim={dim}&base={base:.0f}&layout={layout}"
    if scores:
        query += f"&length={len(positions)}&query_length={len(positions)}"
        query += f"&query_offset={positions[0]}"
    else:
        query += f"&offset={positions[0]}&length={len(positions)}&scale={scale}"
    x = torch.from_numpy(random.standard_normal((batch, len(positions), dim)))
    scheme = "relative_sinusoidal" if scores else "sinusoidal"
    return Case(
        scheme,
        query,
        "query" if scores else "x",
        x.to(ARITHMETICS[arithmetic]),
        kernel,
        arithmetic,
        (0, 1, 2),
    )


def draw_case(random, arithmetic):
    draw = draw_sinusoid if random.integers(5) == 0 else draw_rotation
    return draw(random, arithmetic)
