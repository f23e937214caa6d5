"""Tables of well-known formulas after what happens to tables: windows, rounding, positions of
any kind. Each transformation draws tables by a seed, in float32 as libraries compute them, and
says what an answer must have."""

import numpy
from float32 import power

F = numpy.float32
BASES = (10000.0, 500000.0, 1000000.0, 150000.0, 5000000.0, 100000.0)


def inverse(dim, base=10000.0, to_last=False, formula=0):
    """Frequencies in float32, by one of the formulas that libraries have."""
    half = dim // 2
    last = half - 1 if to_last else half
    index = numpy.arange(half, dtype=F)
    if formula == 0:
        return F(1) / power(F(base), index / F(last))
    if formula == 1:
        return numpy.exp(index * F(-numpy.log(base) / last))
    return power(F(base), -index / F(last))


class Made:
    """A table and the parts of the request that is right."""

    def __init__(self, table, scheme, **parts):
        self.table, self.scheme = numpy.ascontiguousarray(table), scheme
        self.parts = {name: str(text) for name, text in parts.items()}
        self.base = None  # of the frequencies, where the parts do not say it
        self.near = False  # whether `near` is the right status
        self.forms = []  # what the table went through


def rotary(random, at, **parts):
    """Cosines or sines in one of the three arrangements."""
    dim = int(random.choice([32, 64, 80, 96, 128, 256]))
    base = parts.pop("base", None) or float(random.choice(BASES))
    tensor = random.choice(["cos", "sin"])
    angles = numpy.asarray(at, F)[:, None] * inverse(dim, base, False, 2 * random.integers(2))
    arrangement = random.integers(3)
    if arrangement == 1:
        angles = numpy.concatenate([angles, angles], 1)
    if arrangement == 2:
        angles = numpy.repeat(angles, 2, 1)
    table = (numpy.cos if tensor == "cos" else numpy.sin)(angles)
    if base != 10000:
        parts["rope_theta"] = f"{base:.0f}"
    return Made(table, "rope", dim=dim, tensor=tensor, **parts)


def sinusoidal(random, at, **parts):
    dim = int(random.choice([32, 48, 64, 128, 192, 256]))
    base = parts.pop("base", None) or float(random.choice([1e4, 1e4, 1e4, 1e5, 5e5]))
    to_last = bool(random.integers(2))
    angles = numpy.asarray(at, F)[:, None] * inverse(dim, base, to_last, random.integers(3))
    sine, cosine = numpy.sin(angles), numpy.cos(angles)
    layout = random.integers(3)
    if layout == 0:
        table = numpy.stack([sine, cosine], 2).reshape(len(angles), dim)
    else:
        table = numpy.concatenate([sine, cosine] if layout == 1 else [cosine, sine], 1)
        parts["layout"] = ("", "concat", "concat_cos_first")[layout]
    if to_last:
        parts["frequencies"] = "tensor2tensor"
    if base != 10000:
        parts["base"] = f"{base:.0f}"
    return Made(table, "sinusoidal", dim=dim, **parts)


def either(random, at, **parts):
    return (rotary, sinusoidal)[random.integers(2)](random, at, **parts)


# ---- positions ----


def window(random, most=1000000):
    rows = int(random.choice([8, 16, 24, 64, 100, 256]))
    offset = int(10 ** random.uniform(2, numpy.log10(most)))
    return either(random, offset + numpy.arange(rows), length=rows, offset=offset)


def steps(random):
    rows = int(random.choice([25, 50, 100, 250]))
    step = float(random.choice([10, 20, 50, 100, 33.3, 2.5]))
    first = float(random.choice([0, 1, 7]))
    positions = numpy.asarray(first + step * numpy.arange(rows))
    parts = {"step": f"{step:g}"} | ({"offset": f"{first:g}"} if first else {})
    return either(random, positions, length=rows, **parts)


def falling(random):
    rows = int(random.choice([50, 128, 256, 500]))
    first = int(rows + random.integers(0, 1000))
    return either(random, first - numpy.arange(rows), length=rows, offset=first, step=-1)


def small_steps(random):
    rows = int(random.choice([30, 50, 100]))
    step = float(random.choice([0.001, 0.004, 0.02]))
    return sinusoidal(random, step * numpy.arange(rows), length=rows, step=f"{step:g}")


def listed(positions):
    return ",".join(f"{position:g}" for position in positions)


def packed(random):
    counts = random.integers(20, 120, 3)
    positions = numpy.concatenate([numpy.arange(count) for count in counts])
    return either(random, positions, positions=listed(positions))


def shuffled(random):
    positions = random.permutation(int(random.choice([100, 1000])))[:64]
    return either(random, positions, positions=listed(positions))


def left_padded(random):
    rows = int(random.choice([40, 100]))
    positions = numpy.concatenate(
        [numpy.full(int(random.integers(3, 20)), random.integers(2)), numpy.arange(rows)]
    )
    return either(random, positions, positions=listed(positions))


def distances(random):
    rows = int(random.choice([20, 64, 100]))
    positions = abs(numpy.arange(1 - rows, rows))
    made = sinusoidal(random, positions, positions=listed(positions))
    return made


# ---- rounding ----


def to_bf16(values):
    wide = numpy.asarray(values, F).view("u4").astype("u8")
    return (((wide + 0x7FFF + (wide >> 16 & 1)) >> 16) << 16).astype("u4").view(F)


def to_half(values):
    return values.astype("f2").astype(F)


def to_tf32(values):
    wide = numpy.asarray(values, F).view("u4").astype("u8")
    return (((wide + 0xFFF + (wide >> 13 & 1)) >> 13) << 13).astype("u4").view(F)


def begun(random, rows=None):
    rows = rows or int(random.choice([40, 128, 512]))
    return either(random, numpy.arange(rows), length=rows)


def half_then_float(random):
    made = begun(random)
    made.table, made.parts["dtype"] = to_half(made.table), "f16"
    return made


def bf16_then_float(random):
    made = begun(random)
    made.table, made.parts["dtype"] = to_bf16(made.table), "bf16"
    return made


def bf16_then_double(random):
    made = begun(random)
    made.table, made.parts["dtype"] = to_bf16(made.table).astype("f8"), "bf16"
    return made


def float_then_double(random):
    made = begun(random)
    made.table = made.table.astype("f8")
    return made


def bf16_then_half(random):
    made = rotary(random, numpy.arange(128), base=10000.0, length=128)
    while not (to_half(to_bf16(made.table)) == to_bf16(made.table)).all():
        made = rotary(random, numpy.arange(128), base=10000.0, length=128)
    made.table, made.parts["dtype"] = to_bf16(made.table).astype("f2"), "bf16"
    return made


def tf32_then_float(random):
    made = begun(random)
    made.table = to_tf32(made.table)
    return made


def bf16_window(random):
    made = window(random, 100000)
    made.table, made.parts["dtype"] = to_bf16(made.table), "bf16"
    return made


def long_bf16(random):
    made = begun(random, int(random.choice([1500, 2048, 4096])))
    made.table, made.parts["dtype"] = to_bf16(made.table), "bf16"
    return made


def long_half(random):
    made = begun(random, int(random.choice([1500, 2048, 4096])))
    made.table, made.parts["dtype"] = made.table.astype("f2"), "f16"
    return made


# ---- bases ----


def odd_base(random):
    """Of as many digits as a float32 table tells."""
    base = round(10 ** random.uniform(3.5, 6), 3)
    base = float(f"{base:.{random.integers(5, 9)}g}")
    made = either(random, numpy.arange(int(random.choice([128, 256, 512]))), base=base)
    if made.parts.pop("frequencies", None):
        base **= 1 / (1 - 2 / int(made.parts["dim"]))
    made.parts.pop("rope_theta", None)
    made.parts.pop("base", None)
    made.base = base
    return made


def odd_frequencies(random):
    base = float(f"{10 ** random.uniform(3.5, 6):.{random.integers(5, 9)}g}")
    made = Made(inverse(int(random.choice([64, 96, 128])), base), "rope", tensor="inv_freq")
    made.base = base
    return made


def identity_matrix(random):
    return Made(numpy.eye(int(random.integers(8, 100)), dtype=F), None)


def zeros(random):
    return Made(numpy.zeros((int(random.integers(8, 100)), 64), F), None)


def zero_row(random):
    """Before a table; before sines alone it is that of position 0."""
    made = begun(random)
    while made.parts.get("tensor") == "sin":
        made = begun(random)
    made.table = numpy.concatenate([made.table[:1] * 0, made.table])
    made.forms = ["zero_rows"]
    return made


TRANSFORMED = {
    "window": window,
    "steps": steps,
    "falling": falling,
    "small steps": small_steps,
    "packed": packed,
    "shuffled": shuffled,
    "left-padded": left_padded,
    "distances": distances,
    "half, then float": half_then_float,
    "bf16, then float": bf16_then_float,
    "bf16, then double": bf16_then_double,
    "bf16, then half": bf16_then_half,
    "float, then double": float_then_double,
    "tf32 in float": tf32_then_float,
    "bf16 window": bf16_window,
    "long bf16": long_bf16,
    "long half": long_half,
    "odd base": odd_base,
    "odd frequencies": odd_frequencies,
    "identity": identity_matrix,
    "zeros": zeros,
    "zero row": zero_row,
}


def has_base(made, given):
    """Whether a request has the base of a table, by either formula: they give the same table,
    and the one of fewer digits is right."""
    half = int(given["dim"]) / 2
    found = float(given.get("rope_theta", given.get("base", 10000)))
    last = half - 1 if given.get("frequencies") == "tensor2tensor" else half
    logs = numpy.log(found) / last, numpy.log(made.base) / half
    return "rope_type" not in given and abs(logs[0] - logs[1]) * half < 2e-6


def is_right(made, request):
    """Whether a request is the one that a table was made by."""
    given = dict(pair.split("=") for pair in request["url"].split("?")[1].split("&"))
    right = request["scheme"] == made.scheme and all(
        given.get(name) == text for name, text in made.parts.items()
    )
    return right and (not made.base or has_base(made, given))


def judge(made, said):
    """right, near, unknown, or wrong: of `match` and `exact` the request must be right; `near`
    counts as wrong where it is another request."""
    status = said["status"]
    if made.scheme is None:
        return "right" if status == "unknown" else "wrong"
    if status == "unknown":
        return status
    requests = [said["request"], *said["same_table"]]
    same = any(is_right(made, request) for request in requests)
    same = same and [form["kind"] for form in said["forms"]] == made.forms
    if status == "near" and not made.near:
        return "near" if same else "wrong"
    return "right" if same else "wrong"
