"""Tables that are read on another grid, after torch.nn.functional.interpolate and the kernels
behind it (UpSample.h, UpSampleKernel.cpp of PyTorch): positions and weights are fractions.
And biases of attention in a window, which take such tables, or a network of the offsets.
"""

import math
from fractions import Fraction

import mpmath

from schemes import nearest_double, real, with_defaults
from trained import STD, flat, initialiser, seeded_rows

HALF = Fraction(1, 2)


def clamp(cell, source):
    return min(max(cell, 0), source - 1)


def cubic(x, a):
    """The cubic convolution kernel (Keys 1981)."""
    x = abs(x)
    if x <= 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    if x < 2:
        return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a
    return Fraction(0)


def triangle(x):
    return max(Fraction(0), 1 - abs(x))


def antialiased(mode, source, target, k):
    """The weights {cell: weight} of a filter that is stretched where the grid shrinks."""
    scale = Fraction(source, target)
    stretch = max(scale, Fraction(1))
    support = stretch * (2 if mode == "bicubic" else 1)
    centre = scale * (k + HALF)
    begin = max(math.floor(centre - support + HALF), 0)
    end = min(math.floor(centre + support + HALF), source)
    kernel = (lambda x: cubic(x, -HALF)) if mode == "bicubic" else triangle
    weights = {cell: kernel((cell - centre + HALF) / stretch) for cell in range(begin, end)}
    whole = sum(weights.values())
    return {cell: weight / whole for cell, weight in weights.items()}


def interpolated(mode, source, target, k, scale, align_corners):
    """The weights of the two or four cells around a position."""
    if align_corners:
        position = k * scale
    elif mode == "bilinear" and source == target:
        position = Fraction(k)
    else:
        position = scale * (k + HALF) - HALF
    if mode == "bilinear":
        position = max(position, Fraction(0))
    first = math.floor(position)
    t = position - first
    if mode == "bilinear":
        parts = [(first, 1 - t), (first + 1, t)]
    else:
        a = Fraction(-3, 4)
        parts = [(first + i, cubic(t - i, a)) for i in (-1, 0, 1, 2)]
    weights = {}
    for cell, weight in parts:
        cell = clamp(cell, source)
        weights[cell] = weights.get(cell, 0) + weight
    return weights


def axis_weights(options, source, target, scale):
    """For each target cell {source cell: weight}; `scale` is source cells per target cell."""
    mode = options["mode"]
    if mode == "nearest":
        return [{clamp(math.floor(k * scale), source): Fraction(1)} for k in range(target)]
    if options["antialias"] == "true":
        return [antialiased(mode, source, target, k) for k in range(target)]
    aligned = options["align_corners"] == "true"
    if aligned:
        scale = Fraction(source - 1, target - 1) if target > 1 else Fraction(0)
    return [interpolated(mode, source, target, k, scale, aligned) for k in range(target)]


def mixed(rows, width, y_weights, x_weights, columns):
    """Rows of the target grid out of those of a source grid of `width` columns of cells."""
    return [
        [
            sum(
                y_weight * x_weight * rows[y * width + x][column]
                for y, y_weight in of_y.items()
                for x, x_weight in of_x.items()
            )
            for column in range(columns)
        ]
        for of_y in y_weights
        for of_x in x_weights
    ]


RESIZED_DEFAULTS = {
    "mode": "bicubic",
    "align_corners": "false",
    "antialias": "false",
    "scale_offset": "0",
    "prefix_tokens": "0",
}
RESIZED_PRESETS = {
    "vit": {"prefix_tokens": "1"},
    "dinov2": {"prefix_tokens": "1", "scale_offset": "0.1"},
    "dinov2_registers": {"prefix_tokens": "1", "antialias": "true"},
    "timm": {"prefix_tokens": "1", "antialias": "true"},
    "siglip2": {"mode": "bilinear", "antialias": "true"},
    "qwen3_vl": {"mode": "bilinear", "align_corners": "true"},
    "idefics2": {"mode": "nearest"},
}


def target_axis(options, source, size):
    """The target size of an axis and the source cells in one of its cells. DINOv2 divides a sum
    that it has rounded to a double."""
    if "scale_factor" in options:
        factor = nearest_double(options["scale_factor"])
        return math.floor(float(source) * float(factor)), 1 / factor
    offset = nearest_double(options["scale_offset"])
    return size, source / Fraction(float(size) + float(offset))


def resized(arguments):
    options = with_defaults(arguments, RESIZED_DEFAULTS, RESIZED_PRESETS)
    source_height = int(options["source_height"])
    source_width = int(options.get("source_width", source_height))
    size = int(options.get("height", 0)), int(options.get("width", options.get("height", 0)))
    if "length" in options:  # a line of a line
        size, source_width = (int(options["length"]), 1), 1
    prefix, dim = int(options["prefix_tokens"]), int(options["dim"])
    height, y_scale = target_axis(options, source_height, size[0])
    width, x_scale = target_axis(options, source_width, size[1])
    rows = range(prefix + source_height * source_width)
    table = seeded_rows(options, "table", rows, dim, initialiser("normal", STD, None))
    cells = mixed(
        table[prefix:],
        source_width,
        axis_weights(options, source_height, height, y_scale),
        axis_weights(options, source_width, width, x_scale),
        dim,
    )
    return {"encoding": ([prefix + height * width, dim], flat(table[:prefix] + cells))}, 0


def resized_cells(rows, mode, source, target, columns):
    """Cells of a source grid (height, width) on a target grid."""
    options = {"mode": mode, "antialias": "false", "align_corners": "false"}
    y_weights, x_weights = (
        axis_weights(options, a, b, Fraction(a, b)) for a, b in zip(source, target)
    )
    return mixed(rows, source[1], y_weights, x_weights, columns)


SWIN_DEFAULTS = {"class_token": "false", "mode": "bicubic"}
SWIN_PRESETS = {"beit": {"class_token": "true", "mode": "bilinear"}}


def window_index(height, width, class_token):
    """relative_position_index of Swin, and of BEiT with its class token first."""
    cells = [(y, x) for y in range(height) for x in range(width)]
    index = [
        [(y - v + height - 1) * (2 * width - 1) + (x - u + width - 1) for v, u in cells]
        for y, x in cells
    ]
    if class_token:
        offsets = (2 * height - 1) * (2 * width - 1)
        index = [[offsets + 2] + [offsets] * len(cells)] + [
            [offsets + 1] + row for row in index
        ]
    return index


def swin(arguments):
    """Liu et al. 2021, equation 4; Bao et al. 2022 and their code for the class token."""
    options = with_defaults(arguments, SWIN_DEFAULTS, SWIN_PRESETS)
    heads = int(options["heads"])
    window = int(options["height"]), int(options.get("width", options["height"]))
    source = window
    if "source_height" in options:
        side = options["source_height"]
        source = int(side), int(options.get("source_width", side))
    grids = [tuple(2 * side - 1 for side in sides) for sides in (source, window)]
    cells = math.prod(grids[0])
    class_token = options["class_token"] == "true"
    value = initialiser("trunc_normal", STD, None)
    table = seeded_rows(options, "table", range(cells + 3 * class_token), heads, value)
    offsets = table[:cells]
    if source != window:
        offsets = resized_cells(offsets, options["mode"], *grids, heads)
    index = window_index(*window, class_token)
    by_row = offsets + table[cells:]
    bias = [by_row[row][head] for head in range(heads) for row in flat(index)]
    return {
        "bias": ([heads, len(index), len(index)], bias),
        "index": ([len(index), len(index)], flat(index), "i32"),
    }, 0


def log_coordinate(offset, pretrained):
    """sign(x) * log2(|x| + 1) / log2(8) for x = 8 * offset / (pretrained - 1)."""
    if offset == 0:
        return mpmath.mpf(0)
    x = Fraction(8 * abs(offset), pretrained - 1)
    size = mpmath.log(mpmath.mpf(x.numerator + x.denominator) / x.denominator, 2) / 3
    return size if offset > 0 else -size


def bias_network(arguments, heads, coordinates):
    """16 * sigmoid(cpb_mlp(coordinates)) for each head; b1 is zero."""
    hidden = int(arguments.get("hidden", "512"))
    value = initialiser("trunc_normal", STD, None)
    w1 = [
        [real(w) for w in row] for row in seeded_rows(arguments, "w1", range(hidden), 2, value)
    ]
    w2 = seeded_rows(arguments, "w2", range(heads), hidden, value)
    w2 = [[real(w) for w in row] for row in w2]
    biases = []
    for y, x in coordinates:
        units = [max(mpmath.mpf(0), a * y + b * x) for a, b in w1]
        outputs = [mpmath.fsum(w * u for w, u in zip(row, units)) for row in w2]
        biases.append([16 / (1 + mpmath.exp(-output)) for output in outputs])
    return biases


def swin_v2(arguments):
    """Liu et al. 2022, equations 3 and 4, and the authors' code."""
    heads = int(arguments["heads"])
    window = int(arguments["height"]), int(arguments.get("width", arguments["height"]))
    pretrained = [
        int(arguments.get(f"pretrained_{name}", side))
        for name, side in zip(("height", "width"), window)
    ]
    axes = [
        [log_coordinate(offset, trained) for offset in range(1 - side, side)]
        for side, trained in zip(window, pretrained)
    ]
    coordinates = [(y, x) for y in axes[0] for x in axes[1]]
    biases = bias_network(arguments, heads, coordinates)
    index = window_index(*window, False)
    return {
        "bias": (
            [heads, len(index), len(index)],
            [biases[row][head] for head in range(heads) for row in flat(index)],
        ),
        "index": ([len(index), len(index)], flat(index), "i32"),
        "coordinates": ([len(coordinates), 2], flat(coordinates)),
    }, 0


def relative_rows(queries, keys):
    """relative_coords of get_rel_pos, whose truncation drops a fraction."""
    to_keys, to_queries = (
        max(Fraction(keys, queries), Fraction(1)),
        max(Fraction(queries, keys), Fraction(1)),
    )
    return [
        [
            math.floor(i * to_keys - j * to_queries + (keys - 1) * to_queries)
            for j in range(keys)
        ]
        for i in range(queries)
    ]


def decomposed(arguments):
    """Li et al. 2022 (MViTv2), equation 5, and get_rel_pos of ViTDet and SAM."""
    dim, height = int(arguments["dim"]), arguments["height"]
    keys = {"h": int(height), "w": int(arguments.get("width", height))}
    queries = {
        "h": int(arguments.get("query_height", keys["h"])),
        "w": int(arguments.get("query_width", keys["w"])),
    }
    source = {"h": arguments.get("source_height"), "w": arguments.get("source_width")}
    vectors, indices = {}, {}
    for axis in "hw":
        size = max(keys[axis], queries[axis])
        rows, own = 2 * size - 1, 2 * int(source[axis] or size) - 1
        value = initialiser("trunc_normal", STD, None)
        table = seeded_rows(arguments, f"rel_pos_{axis}", range(own), dim, value)
        if own != rows:
            table = resized_cells(table, "bilinear", (1, own), (1, rows), dim)
        index = flat(relative_rows(queries[axis], keys[axis]))
        shape = [queries[axis], keys[axis]]
        vectors[f"rel_{axis}"] = shape + [dim], flat(table[row] for row in index)
        indices[f"index_{axis}"] = shape, index, "i32"
    return {**vectors, **indices}, 0


RESAMPLING = {scheme.__name__: scheme for scheme in (resized, swin, swin_v2, decomposed)}
