"""What happens to tables after they were made: rows of transformations, each with tables by the
formulas of public implementations, of random sizes, bases and dtypes, in numpy alone. `make
confusion` and test_identify_forms.py send them to /v1/identify."""

from collections import Counter

import numpy

F = numpy.float32
BASES = (1e4, 5e5, 1e6, 1e5)


def frequencies(pairs, base):
    return (F(1) / F(base) ** (numpy.arange(0, 2 * pairs, 2, dtype=F) / F(2 * pairs))).astype(F)


class Source:
    """A random table of float32 and what its request must have."""

    def __init__(self, random):
        self.random = random
        self.rows = int(random.integers(24, 200))
        self.pairs = int(random.integers(8, 48))
        self.base = float(random.choice(BASES))
        positions = numpy.arange(self.rows, dtype=F)
        self.angles = numpy.outer(positions, frequencies(self.pairs, self.base)).astype(F)
        self.cos, self.sin = numpy.cos(self.angles), numpy.sin(self.angles)
        self.heads = int(random.choice((2, 4, 8, 12)))

    def full(self):
        return numpy.concatenate([self.cos, self.cos], -1)

    def encoding(self):
        """The sinusoidal encoding of the annotated transformer."""
        return numpy.stack([self.sin, self.cos], -1).reshape(self.rows, -1)

    def slopes(self):
        power = 2 ** int(numpy.log2(self.heads))
        own = [2 ** (-8 * (i + 1) / power) for i in range(power)]
        more = [2 ** (-8 * (i + 1) / (2 * power)) for i in range(2 * power)][::2]
        return numpy.array(own + more[: self.heads - power], F)

    def alibi(self):
        """[heads, n, n], symmetric, and the keys after the query."""
        places = numpy.arange(self.rows)
        distance = -abs(places[:, None] - places).astype(F)
        return self.slopes()[:, None, None] * distance, places > places[:, None]


# ---- one tensor that repeats ----


def batch(source):
    count = int(source.random.integers(2, 5))
    return "rope", numpy.repeat(source.full()[None], count, 0)


def batch_of_encodings(source):
    return "sinusoidal", numpy.stack([source.encoding()] * 3)


def heads_between(source):
    return "rope", numpy.repeat(source.full()[:, None], source.heads, 1)


def batch_and_heads(source):
    table = numpy.broadcast_to(source.full(), (2, source.heads, source.rows, 2 * source.pairs))
    return "rope", numpy.ascontiguousarray(table)


def planes(source):
    return "rope", numpy.stack([source.full()] * 3)[:, None]


def tiled_rows(source):
    return "rope", numpy.tile(source.full(), (3, 1))


def alibi_of_a_batch(source):
    bias = source.slopes()[:, None, None] * numpy.arange(source.rows, dtype=F)
    return "alibi", numpy.tile(bias.astype(F), (2, 1, 1))


def alibi_of_batches(source):
    return "alibi", numpy.stack([source.alibi()[0]] * 2)


def batch_of_grids(source):
    """DETR's PositionEmbeddingSine(normalize=True), of a batch."""
    height, width, half = source.pairs, source.pairs + 3, 32
    divisor = 10000.0 ** (2 * (numpy.arange(half) // 2) / half)
    axes = []
    for extent in (height, width):
        at = (numpy.arange(extent) + 1) / (extent + 1e-6) * 2 * numpy.pi
        angle = (at[:, None] / divisor).astype(F)
        axes.append(
            numpy.stack([numpy.sin(angle[:, 0::2]), numpy.cos(angle[:, 1::2])], 2).reshape(
                extent, -1
            )
        )
    table = numpy.concatenate(
        [
            numpy.broadcast_to(axes[0][:, None], (height, width, half)),
            numpy.broadcast_to(axes[1][None], (height, width, half)),
        ],
        -1,
    )
    return "sinusoidal_2d", numpy.stack([table.transpose(2, 0, 1)] * 2).astype(F)


# ---- two tensors in one ----


def complex64(source):
    return "rope", (source.cos + 1j * source.sin).astype("c8")


def complex128(source):
    angles = source.angles.astype("f8")
    return "rope", numpy.cos(angles) + 1j * numpy.sin(angles)


def last_axis(source):
    return "rope", numpy.stack([source.cos, source.sin], -1)


def middle_axis(source):
    return "rope", numpy.stack([source.sin, source.cos], 1)


def first_axis(source):
    return "rope", numpy.stack([source.full(), numpy.concatenate([source.sin] * 2, -1)])


def rotations(source):
    table = numpy.stack([source.cos, -source.sin, source.sin, source.cos], -1)
    return "rope", table.reshape(1, 1, source.rows, source.pairs, 2, 2)


def vllm_scaled(source):
    """cat(cos, sin) of YaRN, whose attention factor is 0.1 ln(4) + 1."""
    width, base, factor, original = 128, 1e6, 4.0, 32768
    at = numpy.arange(0, width, 2, dtype=F)
    power = F(base) ** (at / F(width))
    low, high = (
        width * numpy.log(original / (turns * 2 * numpy.pi)) / (2 * numpy.log(base))
        for turns in (32, 1)
    )
    low, high = max(numpy.floor(low), 0), min(numpy.ceil(high), width - 1)
    ramp = numpy.clip((numpy.arange(width // 2, dtype=F) - F(low)) / F(high - low), 0, 1)
    keep = F(1) - ramp
    own = (F(1) / (F(factor) * power)) * (F(1) - keep) + (F(1) / power) * keep
    angles = numpy.outer(numpy.arange(source.rows, dtype=F), own.astype(F)).astype(F)
    source.base = base
    scale = F(0.1 * numpy.log(factor) + 1)
    return "rope", numpy.concatenate([numpy.cos(angles), numpy.sin(angles)], -1) * scale


def sines_of_a_negative_angle(source):
    return "rope", (source.cos - 1j * source.sin).astype("c8")


def angles_once(source):
    return "rope", source.angles


def angles_twice(source):
    return "rope", numpy.concatenate([source.angles] * 2, -1)[:, None, None]


# ---- masks, zeros, factors ----


def masked(value):
    def mask(source):
        bias, after = source.alibi()
        return "alibi", numpy.where(after, F(value), bias)

    return mask


def mask_added(source):
    bias, after = source.alibi()
    return "alibi", bias + numpy.where(after, F(-1e4), F(0))


def masked_keys(source):
    bias = source.slopes()[:, None, None] * numpy.arange(source.rows, dtype=F)
    after = numpy.triu(numpy.full((source.rows, source.rows), -numpy.inf, F), 1)
    return "alibi", (bias + after).astype(F)


def heads_last(source):
    bias, after = source.alibi()
    return "alibi", numpy.moveaxis(numpy.where(after, F(-numpy.inf), bias), 0, -1)


def padded_keys(value, added=0):
    def pad(source):
        bias = source.slopes()[:, None, None] * numpy.arange(source.rows, dtype=F)
        padded = numpy.arange(source.rows) >= source.rows - 5
        return "alibi", numpy.where(padded, F(value) + F(added) * bias, bias).astype(F)

    return pad


def opposite_sines(source):
    return "rope", numpy.concatenate([-source.sin, source.sin], -1)


def grid_with_padding(source):
    _, tables = batch_of_grids(source)
    return "sinusoidal_2d", numpy.pad(tables[0], ((0, 0), (0, 3), (0, 5)))


def zero_row_before(source):
    table = source.encoding()
    return "sinusoidal", numpy.concatenate([numpy.zeros_like(table[:1]), table])


def zero_row_inside(source):
    table = source.encoding()
    table[source.rows // 3] = 0
    return "sinusoidal", table


def zero_column(source):
    table = numpy.concatenate([source.sin, source.cos, numpy.zeros((source.rows, 1), F)], -1)
    return "sinusoidal", table


def padded_heads(source):
    return "rope", numpy.pad(numpy.concatenate([source.sin] * 2, -1), ((0, 0), (0, 16)))


def over_root(source):
    return "sinusoidal", source.encoding() * F((2 * source.pairs) ** -0.5)


def any_factor(source):
    return "sinusoidal", source.encoding() * F(source.random.uniform(0.03, 3))


def factor_of_a_rotation(source):
    return "rope", source.full() * F(source.random.uniform(0.03, 3))


# ---- nearly ----


def noise(most):
    def add(source):
        table = source.encoding()
        return "sinusoidal", table + source.random.normal(size=table.shape).astype(F) * F(most)

    return add


def noisy_rotation(source):
    table = source.full()
    return "rope", table + source.random.normal(size=table.shape).astype(F) * F(1e-4)


def four_decimals(source):
    return "sinusoidal", numpy.round(source.encoding(), 4)


def eight_bits(source):
    return "sinusoidal", (numpy.rint(source.encoding() * 127) / 127).astype(F)


def tuned(source):
    table = source.encoding()
    steps = source.random.normal(size=table.shape).cumsum(0) / source.rows**0.5
    return "sinusoidal", (table + 0.02 * steps).astype(F)


# ---- nothing ----


def drawn(source):
    return None, source.random.normal(size=(source.rows, 2 * source.pairs)).astype(F) * F(0.02)


def drawn_batch(source):
    return None, numpy.stack([drawn(source)[1]] * 2)


def drawn_complex(source):
    return None, numpy.exp(1j * source.random.uniform(0, 6, source.cos.shape)).astype("c8")


def trained(source):
    return None, drawn(source)[1].cumsum(0)


def zeros(source):
    return None, numpy.zeros((source.rows, source.pairs), F)


# Near tables have the right request, or nothing is claimed.
ROWS = {
    "batch": batch,
    "batch of encodings": batch_of_encodings,
    "heads between": heads_between,
    "batch and heads": batch_and_heads,
    "three planes": planes,
    "rows in turn": tiled_rows,
    "ALiBi of [b*h, 1, n]": alibi_of_a_batch,
    "ALiBi of [b, h, n, n]": alibi_of_batches,
    "DETR of a batch": batch_of_grids,
    "complex64": complex64,
    "complex128": complex128,
    "[n, d/2, 2]": last_axis,
    "[n, 2, d/2]": middle_axis,
    "[2, n, d]": first_axis,
    "2x2 matrices": rotations,
    "vLLM's cache of YaRN": vllm_scaled,
    "conjugate": sines_of_a_negative_angle,
    "angles": angles_once,
    "angles twice": angles_twice,
    "mask -1e9": masked(-1e9),
    "mask finfo.min": masked(numpy.finfo(F).min),
    "mask 0": masked(0),
    "mask -10000 added": mask_added,
    "mask of keys": masked_keys,
    "heads last": heads_last,
    "padded keys": padded_keys(-numpy.inf),
    "padding added": padded_keys(-1e4, 1),
    "opposite sines": opposite_sines,
    "grid with padding": grid_with_padding,
    "zero row before": zero_row_before,
    "zero row inside": zero_row_inside,
    "zero column": zero_column,
    "zero columns": padded_heads,
    "over sqrt(d)": over_root,
    "any factor": any_factor,
    "factor of a rotation": factor_of_a_rotation,
    "noise 1e-5": noise(1e-5),
    "noise 1e-4": noise(1e-4),
    "noise 1e-3": noise(1e-3),
    "noise of a rotation": noisy_rotation,
    "four decimals": four_decimals,
    "eight bits": eight_bits,
    "tuned": tuned,
    "drawn": drawn,
    "drawn batch": drawn_batch,
    "drawn complex": drawn_complex,
    "trained": trained,
    "zeros": zeros,
}
NOTHING = {"drawn", "drawn batch", "drawn complex", "trained", "zeros"}


# ---- one after another ----


def complex_alone(table):
    return table + 0j if table.dtype.kind == "f" else table


def after_zeros(table):
    return numpy.concatenate([numpy.zeros_like(table[:2]), table])


def rounded_to_f16(table):
    return table if table.dtype.kind == "c" else table.astype("f2").astype(F)


def one_wrong(table):
    table = table.copy()
    table.reshape(-1)[table.size // 3] += F(0.5)
    return table


# What may happen to a table of ROWS afterwards. None of it makes anything of nothing.
AFTER = {
    "of a batch": lambda table: numpy.stack([table] * 3),
    "of heads": lambda table: numpy.stack([table] * 2, 1),
    "times 0.5": lambda table: table * F(0.5),
    "zero rows": after_zeros,
    "complex": complex_alone,
    "transposed": lambda table: table.swapaxes(-1, -2),
    "f16": rounded_to_f16,
    "one wrong": one_wrong,
}


def followed_by(make, change):
    def both(source):
        scheme, table = make(source)
        with numpy.errstate(all="ignore"):
            return scheme, change(table.squeeze())

    return both


# a few of the rows, which have unlike forms, and what may follow
PAIRS = {
    f"{first}, {then}": followed_by(ROWS[first], change)
    for first in (
        "batch",
        "[n, d/2, 2]",
        "[n, 2, d/2]",
        "complex64",
        "2x2 matrices",
        "ALiBi of [b*h, 1, n]",
        "mask -1e9",
        "DETR of a batch",
        "zero row before",
        "zero columns",
        "angles",
        "any factor",
        "rows in turn",
        "drawn",
    )
    for then, change in AFTER.items()
}


def judge(said, source, scheme):
    """right, near, unknown or wrong."""
    if said["status"] == "unknown":
        return "right" if scheme is None else "unknown"
    if scheme is None:
        return "wrong"
    # cosines of angles and interleaved encodings have names in both schemes
    named = {said["request"]["scheme"], *(same["scheme"] for same in said["same_table"])}
    parts = said["request"]["url"].replace("?", "&").split("&")
    bases = [part for part in parts if part.startswith(("base=", "rope_theta="))]
    wanted = [] if source.base == 1e4 else [f"{source.base:.0f}"]
    waves = {"rope", "sinusoidal"}
    right = scheme in named or (scheme in waves and named & waves)
    if scheme in waves:
        right = right and [part.split("=")[1] for part in bases] == wanted
    if not right:
        return "wrong" if said["status"] != "near" else "near, another"
    return "near" if said["status"] == "near" else "right"


def run(identify, count, seed, rows=ROWS):
    """{name: Counter of verdicts}, and what was wrong; `identify` answers for a table."""
    found, wrong = {}, []
    for index, (name, make) in enumerate(rows.items()):
        counts = found[name] = Counter()
        for turn in range(count):
            source = Source(numpy.random.default_rng([seed, index, turn]))
            scheme, table = make(source)
            said = identify(numpy.ascontiguousarray(table))
            verdict = judge(said, source, scheme)
            counts[verdict] += 1
            if verdict in ("wrong", "near, another"):
                wrong.append((verdict, name, turn, table.shape, source.base, said["summary"]))
    return found, wrong


def lines(found):
    verdicts = ("right", "near", "near, another", "unknown", "wrong")
    yield f"{'':34}" + "".join(f"{verdict:>14}" for verdict in verdicts)
    for name, counts in found.items():
        yield f"{name:34}" + "".join(f"{counts[verdict] or '-':>14}" for verdict in verdicts)
