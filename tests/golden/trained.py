"""The schemes with trained or seeded tensors; seeded here, by the rules of philox.py.

A scheme takes the arguments of a query and returns its tensors, {name: (shape, entries)}, and
the absolute tolerance of their f64 entries.
"""

from fractions import Fraction

import mpmath
from floats import Interval, exact, nearest_double_of
from flow import RungeKutta, Taylor
from philox import draw, normal, truncated, uniform
from rotary import F64_TOLERANCE, product
from schemes import (
    cosine,
    frequency,
    nearest_double,
    points,
    real,
    row_positions,
    sine,
    sine_of_quarters,
    with_defaults,
)

STD = nearest_double("0.02")


def root_of(fraction):
    """A positive Fraction rounded to a double, and its square root rounded again."""
    radicand = nearest_double_of(fraction)
    return nearest_double_of(mpmath.sqrt(real(radicand)))


def initialiser(init, std, fans):
    """The value of an element with draws u and v; `fans` is fan_in + fan_out."""
    if init == "normal":
        return lambda u, v: normal(std, u, v)
    if init == "uniform":  # its standard deviation is std
        bound = nearest_double_of(root_of(Fraction(3)) * std)
        return lambda u, v: uniform(bound, u, v)
    if init == "trunc_normal":
        return lambda u, v: truncated(std, u, v)
    if init == "xavier_uniform":
        return lambda u, v: uniform(root_of(Fraction(6, fans)), u, v)
    if init == "xavier_normal":
        return lambda u, v: normal(root_of(Fraction(2, fans)), u, v)
    if init == "zeros":
        return lambda u, v: Fraction(0)
    raise ValueError(init)


def seed_of(options):
    seed = nearest_double(options.get("seed", "0"))
    if seed.denominator != 1 or not 0 <= seed <= 2**53:
        raise ValueError("seed")
    return int(seed)


def seeded_rows(options, name, rows, columns, value):
    """Rows of a seeded tensor, whichever are asked for."""
    seed = seed_of(options)
    return [
        [value(*draw(seed, name, row * columns + column)) for column in range(columns)]
        for row in rows
    ]


def flat(rows):
    return [entry for row in rows for entry in row]


def row_numbers(options):
    positions = row_positions(options)
    if any(position.denominator != 1 or position < 0 for position in positions):
        raise ValueError("rows are numbered 0, 1, 2 ...")
    return [int(position) for position in positions]


LEARNED_DEFAULTS = {"init": "normal", "std": "0.02", "row_offset": "0"}
# LearnedPositionalEmbedding of fairseq and of the models of transformers that came from it
LEARNED_PRESETS = {
    "opt": {"row_offset": "2"},
    "bart": {"row_offset": "2"},
    "roberta": {"row_offset": "2"},
}


def learned(arguments):
    options = with_defaults(arguments, LEARNED_DEFAULTS, LEARNED_PRESETS)
    rows = [row + int(options["row_offset"]) for row in row_numbers(options)]
    dim = int(options["dim"])
    base_length = int(options.get("base_length", "0"))
    if base_length and max(rows) >= base_length and options.get("extend") != "random":
        raise ValueError("rows beyond base_length")
    value = initialiser(options["init"], nearest_double(options["std"]), dim + base_length)
    table = seeded_rows(options, "table", rows, dim, value)
    return {"encoding": ([len(rows), dim], flat(table))}, 0


def hierarchical(arguments):
    options = with_defaults(arguments, {"alpha": "0.4"}, {})
    rows, dim, count = row_numbers(options), int(options["dim"]), int(options["base_length"])
    alpha = nearest_double(options["alpha"])
    value = initialiser("normal", STD, None)
    table = seeded_rows(options, "table", range(count), dim, value)
    basis = [
        [(p - alpha * first) / (1 - alpha) for p, first in zip(row, table[0])] for row in table
    ]
    encoding = [
        [alpha * u + (1 - alpha) * w for u, w in zip(basis[k // count], basis[k % count])]
        for k in rows
    ]
    if any(encoding[r] != table[k] for r, k in enumerate(rows) if k < count):
        raise ArithmeticError("the first rows are the table's own")
    return {
        "encoding": ([len(rows), dim], flat(encoding)),
        "basis": ([count, dim], flat(basis)),
    }, 0


FLOATER_DEFAULTS = {
    "dt": "0.01",
    "activation": "relu",
    "method": "dopri5",
    "rtol": "0.00000000005",
    "atol": "0.00000000000001",
    "substeps": "5",
}


def floater_error(options, largest):
    """What a solver in doubles may be off by, for states up to `largest`. Of the classic rule
    only rounding errors remain; an adaptive solver keeps the error that it sees of each step
    below atol + rtol * largest, and 200 times that leaves room for many steps."""
    if options["method"] == "rk4":
        return Fraction(1, 2**44) * max(Fraction(1), largest)
    return 200 * (nearest_double(options["atol"]) + nearest_double(options["rtol"]) * largest)


def network(options, dim, hidden):
    """p0, w1 and w2; the last column of both layers is t's, and their biases are zero."""
    value = initialiser("xavier_normal", None, dim + 1 + hidden)  # both layers' fans
    first = seeded_rows(options, "p0", [0], dim, initialiser("normal", STD, None))[0]
    w1 = seeded_rows(options, "w1", range(hidden), dim + 1, value)
    w2 = seeded_rows(options, "w2", range(dim), hidden + 1, value)
    return first, [w1, w2]


def floater(arguments):
    options = with_defaults(arguments, FLOATER_DEFAULTS, {})
    rows, dim = row_numbers(options), int(options["dim"])
    first, weights = network(options, dim, int(options.get("hidden", dim)))
    weights = [[[real(weight) for weight in row] for row in layer] for layer in weights]
    start, dt = [real(entry) for entry in first], real(nearest_double(options["dt"]))
    if options["method"] == "rk4":
        flow = RungeKutta(weights, options["activation"], dt, int(options["substeps"]))
    else:
        flow = Taylor(weights, options["activation"], dt)
    states = [[exact(p) for p in state] for state in flow.states(start, max(rows))]
    error = floater_error(options, max(abs(p) for p in flat(states)))
    if options.get("dtype") != "f64":  # whatever a solver returns must round to these bits
        states[1:] = [[Interval(p - error, p + error) for p in state] for state in states[1:]]
    entries = flat(states[k] for k in rows)
    return {"encoding": ([len(rows), dim], entries)}, float(error)


COMPLEX_DEFAULTS = {"sharing": "word_dim", "base": "10000"}


def complex_order(arguments):
    options = with_defaults(arguments, COMPLEX_DEFAULTS, {})
    positions, dim = row_positions(options), int(options["dim"])
    tokens = [int(token) for token in options.get("tokens", "0").split(",")]
    if "tokens" not in options:
        tokens *= len(positions)
    if len(tokens) != len(positions) or max(tokens) >= int(options["vocab"]):
        raise ValueError("tokens")
    base = real(nearest_double(options["base"]))
    # One frequency for a word is that of its first dimension.
    exponents = [Fraction(2 * j, dim) for j in range(dim)]
    if options["sharing"] == "word":
        exponents = [Fraction(0)] * dim
    frequencies = [frequency(base, exponent) for exponent in exponents]
    amplitudes = seeded_rows(
        options, "amplitude", tokens, dim, initialiser("normal", Fraction(1), None)
    )
    tensors = {}
    for name, function in (("real", cosine), ("imag", sine)):
        entries = [
            product(function(k, w), r)
            for k, row in zip(positions, amplitudes)
            for r, w in zip(row, frequencies)
        ]
        tensors[name] = [len(positions), dim], entries
    return tensors, F64_TOLERANCE


RANDOM_FOURIER_PRESETS = {
    "sam": {"coordinate_range": "unit", "axis_order": "last_to_first"},
}
RANDOM_FOURIER_DEFAULTS = {
    "grid": "centers",
    "coordinate_range": "symmetric",
    "axis_order": "first_to_last",
    "std": "1",
}


def random_fourier(arguments):
    options = with_defaults(arguments, RANDOM_FOURIER_DEFAULTS, RANDOM_FOURIER_PRESETS)
    rows, features = points(options), int(options["features"])
    value = initialiser("normal", nearest_double(options["std"]), None)
    matrix = seeded_rows(options, "matrix", range(len(rows[0])), features, value)
    entries = []
    for point in rows:
        if "coordinates" in options and options["coordinate_range"] == "unit":
            point = [2 * x - 1 for x in point]
        if "sizes" in options and options["axis_order"] == "last_to_first":
            point = point[::-1]
        turns = [sum(x * line[j] for x, line in zip(point, matrix)) for j in range(features)]
        entries += [sine_of_quarters(4 * t) for t in turns]
        entries += [sine_of_quarters(4 * t + 1) for t in turns]
    return {"encoding": ([len(rows), 2 * features], entries)}, F64_TOLERANCE


TRAINED = {
    scheme.__name__: scheme
    for scheme in (learned, hierarchical, floater, complex_order, random_fourier)
}
