"""The plain schemes of ENCODINGS section 1 as formulas, one function per scheme.

A scheme takes the arguments of a query (names and values are strings) and returns the shape
and the row-major entries of its `encoding`: a Fraction where the value is exact, an mpf where
it is transcendental.
"""

from fractions import Fraction
from itertools import product

import mpmath

# Entries are wanted to 200 bits. A phase of up to 2^53 radians loses 53 of the working bits,
# and one within 2^-60 of a multiple of pi loses 60 more.
mpmath.mp.prec = 400

SINUSOIDAL_PRESETS = {
    "vaswani": {},
    "tensor2tensor": {"layout": "concat", "frequencies": "tensor2tensor", "odd_dim": "pad"},
    "fairseq": {"layout": "concat", "frequencies": "tensor2tensor", "odd_dim": "pad"},
    "whisper": {"layout": "concat", "frequencies": "tensor2tensor"},
    "marian": {"layout": "concat"},
    "transformer_xl": {"layout": "concat"},
    "seed_cls": {"frequencies": "per_column", "zero_first_row": "true"},
    "ddpm": {"layout": "concat", "frequencies": "tensor2tensor", "odd_dim": "pad"},
    "dit": {"layout": "concat_cos_first", "odd_dim": "pad"},
    "sd3": {"layout": "concat_cos_first", "odd_dim": "pad"},
    "flux": {"layout": "concat_cos_first", "odd_dim": "pad", "position_scale": "1000"},
    "ggml": {"layout": "concat_cos_first", "odd_dim": "pad"},
}

SINUSOIDAL_2D_PRESETS = {
    "mae": {"layout": "concat", "axis_order": "width_first", "shape": "nc"},
    "timm": {
        "layout": "concat",
        "axis_order": "height_first",
        "grouping": "function",
        "shape": "nc",
    },
    "timm_interleaved": {"layout": "concat", "axis_order": "height_first", "shape": "nc"},
    "detr": {"axis_order": "height_first", "first_position": "1", "normalize": "cells"},
    "deformable_detr": {
        "axis_order": "height_first",
        "first_position": "0.5",
        "normalize": "cells",
    },
    "dab_detr": {
        "axis_order": "height_first",
        "first_position": "1",
        "normalize": "cells",
        "base": "20",
    },
    "rt_detr": {"layout": "concat", "axis_order": "height_first", "shape": "nc"},
    "pixart": {
        "layout": "concat",
        "shape": "nc",
        "base_size": "64",
        "interpolation_scale": "2",
    },
    "sd3": {"layout": "concat", "shape": "nc", "base_size": "64", "table_size": "192"},
    "simple_vit": {"layout": "concat", "frequencies": "tensor2tensor", "shape": "nc"},
    "big_vision": {"layout": "concat", "frequencies": "tensor2tensor", "shape": "nc"},
}


def nearest_double(text):
    """A decimal as the service reads it: the nearest double, exactly."""
    return Fraction(float(text))


def real(value):
    """An exact value in working precision; refuses one that does not fit."""
    numerator, denominator = mpmath.mpf(value.numerator), mpmath.mpf(value.denominator)
    if int(numerator) != value.numerator or value.denominator & (value.denominator - 1):
        raise ValueError(f"{value} is not exact in working precision")
    return numerator / denominator


def quotient(fraction):
    """A fraction in working precision, rounded."""
    return mpmath.mpf(fraction.numerator) / fraction.denominator


def with_defaults(arguments, defaults, presets):
    preset = presets[arguments["preset"]] if "preset" in arguments else {}
    return {**defaults, **preset, **arguments}


def row_positions(arguments):
    """The exact position of every row."""
    if "positions" in arguments:
        return [nearest_double(text) for text in arguments["positions"].split(",")]
    offset = nearest_double(arguments.get("offset", "0"))
    step = nearest_double(arguments.get("step", "1"))
    return [offset + row * step for row in range(int(arguments["length"]))]


def frequency(base, exponent):
    """base^-exponent for an exact rational exponent."""
    return mpmath.power(base, -mpmath.mpf(exponent.numerator) / exponent.denominator)


def sine(position, omega):
    return mpmath.sin(real(position) * omega) if position else Fraction(0)


def cosine(position, omega):
    return mpmath.cos(real(position) * omega) if position else Fraction(1)


def sine_of_quarters(turns):
    """sin(turns * pi/2); exactly 0 or +-1 when `turns` is an integer."""
    nearest = round(turns)
    quadrant, rest = nearest % 4, turns - nearest
    phase = quotient(rest) * mpmath.pi / 2
    if quadrant % 2:
        magnitude = mpmath.cos(phase) if rest else Fraction(1)
    else:
        magnitude = mpmath.sin(phase) if rest else Fraction(0)
    return -magnitude if quadrant >= 2 else magnitude


def lay_out(exponents, layout):
    """The (function, exponent) of each column of sine-cosine pairs."""
    sines = [(sine, exponent) for exponent in exponents]
    cosines = [(cosine, exponent) for exponent in exponents]
    if layout == "interleaved":
        return [column for pair in zip(sines, cosines) for column in pair]
    if layout == "concat":
        return sines + cosines
    if layout == "concat_cos_first":
        return cosines + sines
    raise ValueError(layout)


def integer(arguments):
    positions = row_positions(arguments)
    return [len(positions), 1], positions


def normalized(arguments):
    length = int(arguments["length"])
    entries = [Fraction(row, max(length - 1, 1)) for row in range(length)]
    return [length, 1], entries


def binary(arguments):
    positions = [int(position) for position in row_positions(arguments)]
    width = int(arguments["width"])
    shifts = list(range(width))
    if arguments.get("order", "msb") == "msb":
        shifts.reverse()
    bits = [(position >> shift) & 1 for position in positions for shift in shifts]
    return [len(positions), width], bits


def periodic(arguments):
    positions, dim = row_positions(arguments), int(arguments["dim"])
    shape = [len(positions), dim]
    if arguments.get("frequencies", "dyadic") == "dyadic":
        return shape, [sine_of_quarters(k / 2**i) for k in positions for i in range(dim)]
    base = real(nearest_double(arguments.get("base", "10000")))
    omegas = [frequency(base, Fraction(i, dim)) for i in range(dim)]
    return shape, [sine(k, omega) for k in positions for omega in omegas]


def sinusoidal_columns(options):
    """The (function, exponent) of each column that is not padding."""
    dim = int(options["dim"])
    divisor = columns = dim
    if dim % 2 and options["odd_dim"] == "truncate":
        columns = dim + 1
    elif dim % 2 and options["odd_dim"] == "pad":
        divisor = columns = dim - 1
    elif dim % 2:
        raise ValueError("odd dim")

    if options["frequencies"] == "per_column":
        table = [((sine, cosine)[j % 2], Fraction(2 * j, divisor)) for j in range(columns)]
        return table[:dim]
    pairs = columns // 2
    if options["frequencies"] == "tensor2tensor":
        exponents = [Fraction(i, pairs - 1) for i in range(pairs)]
    else:
        exponents = [Fraction(2 * i, divisor) for i in range(pairs)]
    return lay_out(exponents, options["layout"])[:dim]


SINUSOIDAL_DEFAULTS = {
    "base": "10000",
    "layout": "interleaved",
    "frequencies": "vaswani",
    "odd_dim": "reject",
    "zero_first_row": "false",
    "amplitude": "1",
    "position_scale": "1",
}


def sinusoidal(arguments):
    options = with_defaults(arguments, SINUSOIDAL_DEFAULTS, SINUSOIDAL_PRESETS)
    scale = nearest_double(options["position_scale"])
    positions = [scale * position for position in row_positions(options)]
    dim = int(options["dim"])
    base = real(nearest_double(options["base"]))
    amplitude = nearest_double(options["amplitude"])
    columns = [(f, frequency(base, exponent)) for f, exponent in sinusoidal_columns(options)]

    def scaled(value):
        return value * (amplitude if isinstance(value, Fraction) else real(amplitude))

    entries = []
    for position in positions:
        row = [scaled(function(position, omega)) for function, omega in columns]
        if position == 0 and options["zero_first_row"] == "true":
            row = []
        entries += row + [Fraction(0)] * (dim - len(row))
    return [len(positions), dim], entries


SINUSOIDAL_2D_DEFAULTS = {
    "base": "10000",
    "frequencies": "vaswani",
    "layout": "interleaved",
    "axis_order": "width_first",
    "grouping": "axis",
    "shape": "chw",
    "extra_tokens": "0",
    "first_position": "0",
    "normalize": "none",
    "turns": "1",
    "interpolation_scale": "1",
}


def turned(function, turns, divisor):
    """The sine or cosine of turns/divisor, exact at quarter turns. The divisor may be a whole
    number that was rounded: what is that near to a quarter turn is one."""
    quarters = 4 * quotient(turns) / divisor
    nearest = mpmath.nint(quarters)
    if quarters == 0 or (nearest and abs(quarters - nearest) < mpmath.mpf(2) ** -250):
        return sine_of_quarters(Fraction(int(nearest) + (function is cosine)))
    angle = quarters * mpmath.pi / 2
    return mpmath.sin(angle) if function is sine else mpmath.cos(angle)


def stretched(function, position, divisor):
    """The sine or cosine of position/divisor radians."""
    if position == 0:
        return function(position, divisor)
    angle = quotient(position) / divisor
    return mpmath.sin(angle) if function is sine else mpmath.cos(angle)


def grid_counts(options, height, width):
    """For each cell (y, x) and axis: which valid cell it is, and how many its line has."""
    if "mask" not in options:
        valid = [[1] * width for _ in range(height)]
    else:
        runs = [int(run) for run in options["mask"].split(",")]
        cells = [1 - i % 2 for i, run in enumerate(runs) for _ in range(run)]
        valid = [cells[y * width : (y + 1) * width] for y in range(height)]
        if len(cells) != height * width:
            raise ValueError("mask")
    columns = list(zip(*valid))
    return {
        (y, x): (
            (sum(columns[x][: y + 1]), sum(columns[x])),
            (sum(valid[y][: x + 1]), sum(valid[y])),
        )
        for y in range(height)
        for x in range(width)
    }


def grid_entry(options, extent, count, total):
    """The function (sine or cosine, base^exponent) -> entry of one axis of a cell."""
    position = count - 1 + Fraction(options["first_position"])
    if options["normalize"] == "cells":
        turns = position / (total + Fraction(1, 10**6)) * nearest_double(options["turns"])
        return lambda function, divisor: turned(function, turns, divisor)
    size = int(options.get("table_size", extent))
    position += (size - extent) // 2
    position *= Fraction(int(options.get("base_size", size)), size)
    position /= nearest_double(options["interpolation_scale"])
    return lambda function, divisor: stretched(function, position, divisor)


def axis_exponents(options, count):
    """The exponents of the frequencies of an axis, as powers of 1/base."""
    last = count - (options["frequencies"] == "tensor2tensor")
    return [Fraction(i, last) for i in range(count)]


def sinusoidal_2d(arguments):
    options = with_defaults(arguments, SINUSOIDAL_2D_DEFAULTS, SINUSOIDAL_2D_PRESETS)
    height, width, dim = (int(options[name]) for name in ("height", "width", "dim"))
    extra_tokens = int(options["extra_tokens"])
    counts = grid_counts(options, height, width)
    columns = lay_out(axis_exponents(options, dim // 4), options["layout"])
    kept = {}

    def part(extent, base, place):
        if (extent, base, place) not in kept:
            entry, base_value = grid_entry(options, extent, *place), real(nearest_double(base))
            kept[extent, base, place] = [
                entry(function, mpmath.power(base_value, quotient(exponent)))
                for function, exponent in columns
            ]
        return kept[extent, base, place]

    def channels(y, x):
        rows = part(height, options.get("base_height", options["base"]), counts[y, x][0])
        across = part(width, options["base"], counts[y, x][1])
        first, second = (
            (across, rows) if options["axis_order"] == "width_first" else (rows, across)
        )
        if options["grouping"] == "axis":
            return first + second
        half = dim // 4
        return first[:half] + second[:half] + first[half:] + second[half:]

    cells = [channels(y, x) for y in range(height) for x in range(width)]
    if options["shape"] == "chw":
        return [dim, height, width], [cell[c] for c in range(dim) for cell in cells]
    flat = [entry for cell in cells for entry in cell]
    if options["shape"] == "hwc":
        return [height, width, dim], flat
    zeros = [Fraction(0)] * (extra_tokens * dim)
    return [extra_tokens + height * width, dim], zeros + flat


SINUSOIDAL_3D_PRESETS = {
    "tatp22": {},
    "cogvideox": {
        "split": "quarter",
        "layout": "concat",
        "axis_order": "depth_width_height",
        "shape": "dnc",
        "spatial_interpolation_scale": "1.875",
    },
    "prithvi": {
        "split": "quarter",
        "layout": "concat",
        "axis_order": "width_height_depth",
        "shape": "nc",
    },
    "simple_vit": {
        "layout": "concat",
        "axis_order": "width_height_depth",
        "frequencies": "tensor2tensor",
        "shape": "nc",
    },
}

SINUSOIDAL_3D_DEFAULTS = {
    "base": "10000",
    "frequencies": "vaswani",
    "layout": "interleaved",
    "split": "equal",
    "axis_order": "depth_height_width",
    "shape": "dhwc",
    "spatial_interpolation_scale": "1",
    "temporal_interpolation_scale": "1",
}


def sinusoidal_3d(arguments):
    options = with_defaults(arguments, SINUSOIDAL_3D_DEFAULTS, SINUSOIDAL_3D_PRESETS)
    dim, base = int(options["dim"]), real(nearest_double(options["base"]))
    order = options["axis_order"].split("_")
    extents = {axis: int(options[axis]) for axis in order}
    third = -(-dim // 6) * 2
    widths = {axis: dim // 4 if axis == "depth" else 3 * dim // 8 for axis in order}
    if options["split"] == "equal":
        widths = {axis: third for axis in order}

    def part(axis, place):
        kind = "temporal" if axis == "depth" else "spatial"
        position = place / nearest_double(options[f"{kind}_interpolation_scale"])
        exponents = axis_exponents(options, widths[axis] // 2)
        return [
            stretched(function, position, mpmath.power(base, quotient(exponent)))
            for function, exponent in lay_out(exponents, options["layout"])
        ]

    parts = {axis: [part(axis, place) for place in range(extents[axis])] for axis in order}
    depth, height, width = (extents[axis] for axis in ("depth", "height", "width"))
    entries = []
    for d in range(depth):
        for h in range(height):
            for w in range(width):
                places = {"depth": d, "height": h, "width": w}
                row = [entry for axis in order for entry in parts[axis][places[axis]]]
                entries += row[:dim]
    shape = {
        "dhwc": [depth, height, width, dim],
        "dnc": [depth, height * width, dim],
        "nc": [depth * height * width, dim],
    }[options["shape"]]
    return shape, entries


FOURIER_PRESETS = {
    "nerfstudio": {"include_input": "last"},
    "nerf": {"angle": "radians", "layout": "by_frequency", "include_input": "first"},
    "perceiver": {
        "angle": "half_turns",
        "spacing": "linear",
        "max_frequency": "112",
        "include_input": "first",
    },
    "timm_pixel": {"angle": "half_turns", "spacing": "linear", "max_frequency": "112"},
    "timm_fourier_embed": {
        "angle": "half_turns",
        "spacing": "linear",
        "max_frequency": "32",
        "layout": "concat_by_frequency",
        "include_input": "first",
    },
}

FOURIER_DEFAULTS = {
    "grid": "corners",
    "min_frequency": "1",
    "spacing": "geometric",
    "angle": "turns",
    "layout": "concat",
    "include_input": "none",
}


def grid_coordinates(grid, n):
    gaps = max(n - 1, 1)
    return {
        "corners": [Fraction(2 * k, gaps) - 1 for k in range(n)],
        "centers": [Fraction(2 * k + 1, n) - 1 for k in range(n)],
        "unit": [Fraction(k, gaps) for k in range(n)],
        "index": [Fraction(k) for k in range(n)],
    }[grid]


def points(options):
    """The exact coordinates of each point."""
    if "sizes" in options:
        axes = [grid_coordinates(options["grid"], int(n)) for n in options["sizes"].split(",")]
        return [list(point) for point in product(*axes)]
    flat = [nearest_double(text) for text in options["coordinates"].split(",")]
    axes = int(options["axes"])
    return [flat[i : i + axes] for i in range(0, len(flat), axes)]


def band_frequencies(options, axis):
    count, low = int(options["bands"]), nearest_double(options["min_frequency"])
    linear = options["spacing"] == "linear"
    if "max_frequency" in options:
        given = options["max_frequency"].split(",")
        high = nearest_double(given[axis if len(given) > 1 else 0])
    else:
        high = low * count if linear else low * 2 ** (count - 1)
    if count == 1:
        return [low]
    if linear:
        return [low + (high - low) * Fraction(i, count - 1) for i in range(count)]
    ratio = quotient(high / low)
    return [
        real(low) * mpmath.power(ratio, quotient(Fraction(i, count - 1))) for i in range(count)
    ]


def fourier_entry(function, angle, coordinate, frequency_value):
    divisor = 1 / (
        quotient(frequency_value) if isinstance(frequency_value, Fraction) else frequency_value
    )
    if angle == "radians":
        return stretched(function, coordinate, divisor)
    return turned(function, coordinate / (2 if angle == "half_turns" else 1), divisor)


def fourier(arguments):
    options = with_defaults(arguments, FOURIER_DEFAULTS, FOURIER_PRESETS)
    rows = points(options)
    axes, count = len(rows[0]), int(options["bands"])
    bands = [band_frequencies(options, axis) for axis in range(axes)]
    by_axis = [(axis, i) for axis in range(axes) for i in range(count)]
    by_frequency = [(axis, i) for i in range(count) for axis in range(axes)]
    if options["layout"] == "concat":
        columns = [(f, *at) for f in (sine, cosine) for at in by_axis]
    elif options["layout"] == "concat_by_frequency":
        columns = [(f, *at) for f in (sine, cosine) for at in by_frequency]
    else:
        columns = [
            (f, axis, i) for i in range(count) for f in (sine, cosine) for axis in range(axes)
        ]
    entries = []
    for point in rows:
        row = [
            fourier_entry(f, options["angle"], point[axis], bands[axis][i])
            for f, axis, i in columns
        ]
        before = point if options["include_input"] == "first" else []
        after = point if options["include_input"] == "last" else []
        entries += [*before, *row, *after]
    return [len(rows), len(entries) // len(rows)], entries


SCHEMES = {
    function.__name__: function
    for function in (
        integer,
        normalized,
        binary,
        periodic,
        sinusoidal,
        sinusoidal_2d,
        sinusoidal_3d,
        fourier,
    )
}
