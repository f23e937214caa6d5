"""What happens to strangers' tables, by rows: each form changes the exact table, the one that
is sent, and which entries the law still says. Forms are drawn one after another, of one stage
at most one (strangers.py)."""

import numpy

F = numpy.float32


class Made:
    """A table on its way: `exact` is in float64 what the law gives, `sent` what a library would
    compute, `known` is false where no law holds. Each is a list of tensors, which `join`
    ends."""

    def __init__(self, exact, sent, law, T):
        self.exact, self.sent, self.law, self.type = exact, sent, law, T
        self.known = [numpy.ones(tensor.shape, bool) for tensor in exact]
        self.names, self.factors = [], []  # and constants
        self.spoilt, self.noise = 0, 0.0  # entries, and how far the others are off
        self.filled = 0  # entries that a form fills, which may be told as misfits
        self.ordered, self.complex, self.stored = True, False, None

    @property
    def shape(self):
        return self.exact[0].shape

    def each(self, change):
        for role in ("exact", "sent", "known"):
            setattr(self, role, [change(tensor) for tensor in getattr(self, role)])

    def join(self, change):
        for role in ("exact", "sent", "known"):
            setattr(self, role, [change(*getattr(self, role))])

    def value(self, change):
        """Change numbers alone."""
        self.exact = [change(tensor) for tensor in self.exact]
        self.sent = [change(tensor).astype(self.type) for tensor in self.sent]

    def put(self, where, value):
        """The same number in both."""
        self.filled += int(numpy.broadcast_to(where, self.shape).sum())
        self.exact = [numpy.where(where, value, tensor) for tensor in self.exact]
        self.sent = [
            numpy.where(where, value, tensor).astype(tensor.dtype) for tensor in self.sent
        ]


def is_pair(made, _=None):
    return len(made.exact) == 2


def is_rows(made, _=None):
    return len(made.shape) == 2 and min(made.shape) >= 4 and not made.complex


def is_any(made, _=None):
    return True


def is_grid(made, _=None):
    return bool(made.law.grid) and is_rows(made) and made.shape[0] == numpy.prod(made.law.grid)


def is_bias(made, _=None):
    return len(made.shape) == 3 and made.shape[1] == made.shape[2] and not made.names


def is_biased(made, _=None):
    return made.law.scheme in ("alibi",) and len(made.shape) == 3


# ---- cosines and sines in one table ----


def negative(tensor):
    return tensor if tensor.dtype == bool else -tensor


def matrices(cos, sin):
    return numpy.stack([cos, negative(sin), sin, cos], -1).reshape(*cos.shape, 2, 2)


def joined(change, sent_as_complex=False):
    def form(made, _):
        made.join(change)
        made.complex = sent_as_complex

    return form


def stacked(axis):
    return joined(lambda cos, sin: numpy.stack([cos, sin], axis))


def alone(which, full=None):
    """One of the two, of half width, or each column twice."""

    def change(*tensors):
        tensor = tensors[which]
        if full == "halves":
            return numpy.concatenate([tensor, tensor], -1)
        return numpy.repeat(tensor, 2, -1) if full == "neighbours" else tensor

    return joined(change)


JOINED = {
    "cosines": alone(0),
    "sines": alone(1),
    "cosines, full": alone(0, "halves"),
    "sines, full": alone(1, "halves"),
    "cosines, each twice": alone(0, "neighbours"),
    "stacked last": stacked(-1),
    "stacked first": stacked(0),
    "stacked between": stacked(1),
    "side by side": joined(lambda cos, sin: numpy.concatenate([cos, sin], -1)),
    "by turns": joined(lambda cos, sin: numpy.stack([cos, sin], -1).reshape(len(cos), -1)),
    "complex": joined(lambda cos, sin: numpy.stack([cos, sin], -1), True),
    "conjugate": joined(lambda cos, sin: numpy.stack([cos, negative(sin)], -1), True),
    "matrices": joined(matrices),
}


# ---- columns, rows and axes ----


def permuted(made, draw):
    order = draw.permutation(made.shape[1])
    made.each(lambda table: table[:, order])
    made.ordered = False


def in_blocks(made, draw):
    count = int(draw.integers(2, 5))
    made.each(lambda table: numpy.tile(table, (1, count)))


def exchanged_halves(made, _):
    made.each(lambda table: numpy.roll(table, table.shape[1] // 2, 1))
    made.ordered = False


def added_rows(before, special=False):
    def form(made, draw):
        count = int(draw.integers(1, 5))
        shape = (count, *made.shape[1:])
        rows = draw.normal(size=shape) if special else numpy.zeros(shape)
        for role in ("exact", "sent", "known"):
            (table,) = getattr(made, role)
            more = rows.astype(table.dtype)
            if role == "known":
                more = numpy.full(shape, not special)
            parts = [more, table] if before else [table, more]
            setattr(made, role, [numpy.concatenate(parts)])
        made.spoilt += special * rows.size
        made.filled += rows.size

    return form


def repeated(axis):
    def form(made, draw):
        count = int(draw.integers(2, 6))
        made.each(lambda table: numpy.repeat(numpy.expand_dims(table, axis), count, axis))

    return form


def tiled(made, draw):
    count = int(draw.integers(2, 4))
    made.each(lambda table: numpy.tile(table, (count, *[1] * (table.ndim - 1))))


def each_twice(made, draw):
    count = int(draw.integers(2, 4))
    made.each(lambda table: numpy.repeat(table, count, 0))


def channels_first(made, _):
    made.each(
        lambda table: numpy.moveaxis(table.reshape(*made.law.grid, table.shape[1]), -1, 0)
    )


def as_grid(made, _):
    made.each(lambda table: table.reshape(*made.law.grid, table.shape[1]))


def cameras(made, draw):
    """ACT's: the same grid for several pictures, along its width."""
    as_grid(made, draw)
    count, axis = int(draw.integers(2, 5)), len(made.law.grid) - 1
    made.each(lambda table: numpy.concatenate([table] * count, axis))


# ---- biases ----


def some_heads(made, draw):
    first = int(draw.integers(1, made.shape[0] // 2 + 1))
    made.each(lambda table: table[first : first + table.shape[0] // 2])


def masked(value):
    def form(made, _):
        queries = numpy.arange(made.shape[1])
        made.put(queries[:, None] < queries, value)

    return form


def added_mask(made, _):
    queries = numpy.arange(made.shape[1])
    after = queries[:, None] < queries
    made.filled += int(after.sum()) * made.shape[0]
    made.value(lambda table: table - table.dtype.type(1e4) * after)


def window(made, draw):
    width, at = int(draw.integers(4, made.shape[1] // 2)), numpy.arange(made.shape[1])
    made.put(abs(at[:, None] - at) > width, -numpy.inf)


def padding(made, draw):
    keys = made.shape[-1]
    made.put(
        numpy.arange(keys) >= keys - int(draw.integers(1, keys // 4 + 1)),
        (-1e4, -numpy.inf)[int(draw.integers(2))],
    )


def heads_last(made, _):
    made.each(lambda table: numpy.moveaxis(table, 0, -1))


# ---- numbers ----


def times(factor):
    def form(made, _):
        value = made.shape[-1] ** 0.5 if factor is None else factor
        made.value(lambda table: table * table.dtype.type(value))
        made.factors.append(value)

    return form


def affine(made, _):
    """PatchTST's: the mean taken off, divided by ten deviations."""
    mean, deviation = made.exact[0].mean(), 10 * made.exact[0].std()
    made.value(lambda table: (table - table.dtype.type(mean)) / table.dtype.type(deviation))
    made.factors += [1 / deviation, mean / deviation]


def sent_alone(change):
    def form(made, draw):
        made.sent = [change(made, table, draw) for table in made.sent]

    return form


def bf16(values):
    bits = numpy.asarray(values, "f4").view("u4").astype("u8")
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("u2")


def wide(bits):
    return (bits.astype("u4") << 16).view("f4")


def rounded_to_bf16(made, table, _):
    made.noise, made.stored = 2.0**-9, "f4"
    return wide(bf16(table)).astype(table.dtype)


def rounded_to_f16(made, table, _):
    made.noise, made.stored = 2.0**-12, "f4"
    return table.astype("f2").astype(table.dtype)


def decimals(made, table, draw):
    count = int(draw.integers(6, 9))
    made.noise = 0.3 * 10.0**-count
    return numpy.round(table, count)


def wrong_entries(made, table, draw):
    count, flat = int(draw.integers(1, 6)), table.copy().reshape(-1)
    places = draw.permutation(flat.size)[:count]
    flat[places] += draw.choice([-1, 1], count) * draw.uniform(0.1, 1, count).astype(
        table.dtype
    )
    made.known[0].reshape(-1)[places] = False
    made.spoilt += count
    return flat.reshape(table.shape)


def noise(made, table, draw):
    finite = table[numpy.isfinite(table)]
    made.noise = 1e-3 * float(abs(finite).max())
    return table + (made.noise * draw.normal(size=table.shape)).astype(table.dtype)


def zero_imaginary(made, _):
    known = numpy.stack([made.known[0], numpy.ones(made.shape, bool)], -1)
    made.each(lambda table: numpy.stack([table, numpy.zeros_like(table)], -1))
    made.known = [known]
    made.complex = True


# {stage: {name: (whether it can be, the form)}}
STAGES = (
    {name: (is_pair, form) for name, form in JOINED.items()},
    {
        "columns permuted": (is_rows, permuted),
        "columns in blocks": (is_rows, in_blocks),
        "halves exchanged": (is_rows, exchanged_halves),
        "some heads of all": (is_biased, some_heads),
        "masked -10000": (is_bias, masked(-1e4)),
        "masked finfo.min": (is_bias, masked(numpy.finfo(F).min)),
        "window": (is_bias, window),
        "keys padded": (is_biased, padding),
        "-10000 added": (is_bias, added_mask),
    },
    {
        "zero rows before": (is_rows, added_rows(True)),
        "zero rows after": (is_rows, added_rows(False)),
        "special rows before": (is_rows, added_rows(True, True)),
        "channels first": (is_grid, channels_first),
        "as a grid": (is_grid, as_grid),
        "cameras side by side": (is_grid, cameras),
        "heads last": (is_biased, heads_last),
    },
    {
        "of a batch": (is_any, repeated(0)),
        "of heads": (is_rows, repeated(1)),
        "rows in turn": (is_rows, tiled),
        "rows each twice": (is_rows, each_twice),
        "imaginary part 0": (is_rows, zero_imaginary),
        "transposed": (is_rows, lambda made, _: made.each(numpy.transpose)),
    },
    {
        "times sqrt(d)": (is_any, times(None)),
        "times 0.5": (is_any, times(0.5)),
        "times log2 e": (is_any, times(numpy.log2(numpy.e))),
        "factor and constant": (is_rows, affine),
    },
    {
        "bf16 in a wider file": (is_any, sent_alone(rounded_to_bf16)),
        "f16 in a wider file": (is_any, sent_alone(rounded_to_f16)),
        "decimals": (is_any, sent_alone(decimals)),
    },
    {
        "wrong entries": (is_any, sent_alone(wrong_entries)),
        "noise": (is_any, sent_alone(noise)),
    },
)


def go_through(made, draw, count):
    """Let `count` forms happen to a table, at most one of a stage; two tensors are joined
    first, or one is taken."""
    if is_pair(made):
        names = list(JOINED)
        name = names[int(draw.integers(len(names)))]
        JOINED[name](made, draw)
        made.names.append(name)
    chosen = sorted(draw.permutation(len(STAGES) - 1)[:count] + 1)
    for stage in chosen:
        names = [name for name, (can, _) in STAGES[stage].items() if can(made)]
        if names:
            name = names[int(draw.integers(len(names)))]
            STAGES[stage][name][1](made, draw)
            made.names.append(name)
