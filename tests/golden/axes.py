"""Rotary tables whose pairs of columns turn by several axes: grids, and M-RoPE.

A scheme takes the arguments of a query and returns its tensors,
{name: (shape, entries[, dtype])}, and the absolute tolerance of their f64 entries. The rules
are those of the libraries' code that the presets are named after; angles are exact fractions of
a radian or of a turn times a power.
"""

import math
from fractions import Fraction
from itertools import product

import mpmath
from rotary import F64_TOLERANCE, ROPE_DEFAULTS, ROPE_TYPES, TYPE_DEFAULTS, number
from rotary import product as times
from rotary import widen as widen_rope
from schemes import cosine, frequency, nearest_double, sine, sine_of_quarters, with_defaults

AXIAL_DEFAULTS = {
    "split": "equal",
    "ladder": "by_axis",
    "rope_theta": "10000",
    "axis_order": "as_sizes",
    "arrangement": "blocks",
    "coordinate_type": "index",
    "row_order": "row_major",
    "repeats": "1",
    "prefix": "0",
    "suffix": "0",
    "layout": "half",
    "table": "half_width",
}

AXIAL_PRESETS = {
    "qwen2_vl_vision": {"row_order": "merge_blocks", "merge_size": "2"},
    "pixtral": {"ladder": "split"},
    "llama4_vision": {
        "layout": "interleaved",
        "axis_order": "reversed",
        "first_index": "1",
        "suffix": "1",
    },
    "dinov3": {"coordinate_type": "centres", "rope_theta": "100"},
    "sam2": {"layout": "interleaved", "axis_order": "reversed"},
    "vjepa2": {"split": "rounded_down", "layout": "half_by_axis", "table": "full"},
    "flux": {"split": "eighth_first", "layout": "interleaved"},
    "wan": {"split": "rest_to_first", "layout": "interleaved"},
    "eva": {"layout": "interleaved"},
}


def integers(text):
    return [int(float(item)) for item in text.split(",")]


def turned(function, coordinate, omega):
    """cos or sin of coordinate * omega radians; a coordinate may be any fraction."""
    if coordinate == 0:
        return function(Fraction(0), omega)
    angle = mpmath.mpf(coordinate.numerator) / coordinate.denominator * omega
    return mpmath.cos(angle) if function is cosine else mpmath.sin(angle)


def turned_by_turns(function, coordinate, omega):
    """The same of coordinate * omega turns; omega is 1, or an irrational power, or a
    fraction."""
    if coordinate == 0:
        return function(Fraction(0), omega)
    if isinstance(omega, Fraction):  # exact multiples of a quarter turn
        quarters = 4 * coordinate * omega
        return fraction_of_quarters(quarters + (1 if function is cosine else 0))
    angle = 2 * mpmath.pi * coordinate.numerator / coordinate.denominator * omega
    return mpmath.cos(angle) if function is cosine else mpmath.sin(angle)


def fraction_of_quarters(quarters):
    """sin of quarters * pi/2."""
    if quarters.denominator == 1:
        return sine_of_quarters(quarters)
    quarters %= 4
    return mpmath.sin(mpmath.mpf(quarters.numerator) / quarters.denominator * mpmath.pi / 2)


# ---- grids ----


def axis_widths(options, axes):
    dim = int(options["dim"])
    if "widths" in options:
        return integers(options["widths"])
    part = 2 * ((dim // axes) // 2)
    if options["split"] == "equal":
        assert part * axes == dim
        return [part] * axes
    if options["split"] == "rounded_down":
        return [part] * axes
    if options["split"] == "rest_to_first":
        return [dim - part * (axes - 1)] + [part] * (axes - 1)
    return [dim // 8] + [(dim - dim // 8) // (axes - 1)] * (axes - 1)


def axis_coordinates(options, sizes):
    """For each axis the exact coordinates of its cells."""
    kind = options["coordinate_type"]
    if kind == "listed":
        rest = [nearest_double(text) for text in options["coordinates"].split(",")]
        return [[rest.pop(0) for _ in range(size)] for size in sizes]
    if kind == "centres":
        choose = {"separate": None, "max": max, "min": min}[
            options.get("normalize", "separate")
        ]
        extents = [choose(sizes) if choose else size for size in sizes]
        return [
            [2 * Fraction(2 * k + 1, 2 * extent) - 1 for k in range(size)]
            for size, extent in zip(sizes, extents)
        ]
    offsets = [nearest_double(text) for text in options.get("first_index", "0").split(",")]
    offsets *= len(sizes) if len(offsets) == 1 else 1
    scales = [Fraction(1)] * len(sizes)
    if "reference_sizes" in options:
        reference = integers(options["reference_sizes"])
        scales = [Fraction(r, size) for r, size in zip(reference, sizes)]
    return [
        [(offset + k) * scale for k in range(size)]
        for offset, size, scale in zip(offsets, sizes, scales)
    ]


def grid_rows(options, sizes):
    """The index on each axis of every row of one grid."""
    if options["row_order"] == "zipped":
        return [[k] * len(sizes) for k in range(sizes[0])]
    if options["row_order"] == "row_major":
        return [list(cell) for cell in product(*map(range, sizes))]
    m, (height, width) = int(options.get("merge_size", "2")), sizes[-2:]
    return [
        [*outer, by * m + y, bx * m + x]
        for outer in product(*map(range, sizes[:-2]))
        for by in range(height // m)
        for bx in range(width // m)
        for y in range(m)
        for x in range(m)
    ]


def columns_of_axes(options, widths):
    """Of each pair its axis and the exponent of its frequency; (None, None) where it is
    still."""
    axes = list(range(len(widths)))
    if options["axis_order"] == "reversed":
        axes.reverse()
    pairs = {axis: [] for axis in axes}
    for turn, axis in enumerate(axes):
        for i in range(widths[axis] // 2):
            if options["ladder"] == "split":
                exponent = Fraction(2 * (i * len(axes) + turn), sum(widths))
            else:
                exponent = Fraction(2 * i, widths[axis])
            pairs[axis].append((axis, exponent))
    if options["arrangement"] == "alternating":
        ordered = [pair for group in zip(*(pairs[axis] for axis in axes)) for pair in group]
    else:
        ordered = [pair for axis in axes for pair in pairs[axis]]
    return ordered + [(None, None)] * (int(options["dim"]) // 2 - len(ordered))


def widen(row, options, axis_of_pair):
    if options["table"] == "half_width":
        return row
    if options["layout"] == "half":
        return row + row
    if options["layout"] == "interleaved":
        return [entry for entry in row for _ in range(2)]
    blocks = {}
    for axis, entry in zip(axis_of_pair, row):
        blocks.setdefault(axis, []).append(entry)
    return [entry for block in blocks.values() for entry in block + block]


def power_of(theta, exponent):
    """theta^-exponent, as a fraction where it is a simple one."""
    if exponent == 0:
        return Fraction(1)
    root = round(float(theta) ** (1 / exponent.denominator))
    if Fraction(root) ** exponent.denominator == theta:
        return Fraction(1, root**exponent.numerator)
    return frequency(mpmath.mpf(theta.numerator) / theta.denominator, exponent)


def axial_rope(arguments):
    options = with_defaults(arguments, AXIAL_DEFAULTS, AXIAL_PRESETS)
    sizes = integers(options["sizes"])
    pairs = columns_of_axes(options, axis_widths(options, len(sizes)))
    coordinates = axis_coordinates(options, sizes)
    centres = options["coordinate_type"] == "centres"
    theta = nearest_double(options["rope_theta"])
    if centres:
        omegas = [None if e is None else power_of(theta, e) for _, e in pairs]
    else:
        base = number(options, "rope_theta")
        omegas = [None if e is None else frequency(base, e) for _, e in pairs]
    grid = grid_rows(options, sizes) * int(options["repeats"])
    rows = [None] * int(options["prefix"]) + grid + [None] * int(options["suffix"])
    axis_of_pair = [axis for axis, _ in pairs]
    turn = turned_by_turns if centres else turned
    known = {}

    def entry(function, row, axis, p):
        if row is None or axis is None:
            return Fraction(1 if function is cosine else 0)
        key = function, axis, row[axis], p
        if key not in known:
            known[key] = turn(function, coordinates[axis][row[axis]], omegas[p])
        return known[key]

    tensors = {}
    for name, function in (("cos", cosine), ("sin", sine)):
        table = [
            widen(
                [entry(function, row, axis, p) for p, axis in enumerate(axis_of_pair)],
                options,
                axis_of_pair,
            )
            for row in rows
        ]
        tensors[name] = [len(table), len(table[0])], [x for line in table for x in line]
    tensors["inv_freq"] = [len(pairs)], [Fraction(0) if w is None else w for w in omegas]
    tensors["coordinates"] = [len(rows), len(sizes)], [
        Fraction(0) if row is None else coordinates[axis][row[axis]]
        for row in rows
        for axis in range(len(sizes))
    ]
    tensors["axis"] = [len(pairs)], [-1 if a is None else a for a in axis_of_pair], "i32"
    return tensors, F64_TOLERANCE


# ---- M-RoPE ----

MROPE_DEFAULTS = {
    **ROPE_DEFAULTS,
    "mrope_section": "16,24,24",
    "section_order": "chunked",
    "frame_positions": "index",
    "spatial_merge_size": "2",
    "temporal_merge_size": "1",
    "first_position": "0",
    "tokens_per_second": "2",
}

STAMPED = {
    "frame_positions": "apart",
    "partial_rotary_factor": "0.5",
    "mrope_section": "8,12,12",
}

MROPE_PRESETS = {
    "qwen2_vl": {"rope_theta": "1000000"},
    "qwen2_5_vl": {"rope_theta": "1000000", "frame_positions": "whole_seconds"},
    "qwen3_vl": {
        "rope_theta": "5000000",
        "mrope_section": "24,20,20",
        "section_order": "interleaved",
        "frame_positions": "apart",
    },
    "ernie4_5_vl": {
        "rope_theta": "500000",
        "layout": "interleaved",
        "mrope_section": "22,22,20",
        "section_order": "alternating",
        "temporal_merge_size": "2",
    },
    "glm4v": {**STAMPED, "layout": "interleaved"},
    "glm4v_moe": STAMPED,
}


def time_of_frame(options, grid, frame):
    if options["frame_positions"] in ("index", "apart"):
        return frame
    seconds = Fraction(1)
    if "seconds_per_grid" in options:
        seconds = nearest_double(options["seconds_per_grid"].split(",")[grid])
    if options["frame_positions"] == "whole_seconds":
        seconds = int(seconds)
    return math.floor(frame * seconds * int(options["tokens_per_second"]))


def rope_index(options):
    """(t, h, w) of each token, as get_rope_index builds them block by block."""
    if "position_ids" in options:
        ids = integers(options["position_ids"])
        n = len(ids) // 3
        return list(zip(ids[:n], ids[n : 2 * n], ids[2 * n :]))
    texts = integers(options["text"])
    flat = integers(options["grids"]) if "grids" in options else []
    merge, frames_merge = int(options["spatial_merge_size"]), int(
        options["temporal_merge_size"]
    )
    rows, start = [], int(options["first_position"])
    for block, text in enumerate(texts):
        rows += [(start + i,) * 3 for i in range(text)]
        start += text
        if 3 * block == len(flat):
            break
        frames, height, width = flat[3 * block : 3 * block + 3]
        frames = frames // frames_merge if frames > 1 else frames
        cells = [
            (start + time_of_frame(options, block, t), start + y, start + x)
            for t, y, x in product(range(frames), range(height // merge), range(width // merge))
        ]
        rows += cells
        start = max(max(cell) for cell in cells) + 1
    return rows


def axes_of_pairs(options, pairs):
    """0 for time, 1 for height, 2 for width."""
    section = integers(options["mrope_section"])
    assert sum(section) == pairs
    if options["section_order"] == "chunked":
        return [0] * section[0] + [1] * section[1] + [2] * section[2]
    if options["section_order"] == "alternating":
        return [1, 2] * section[0] + [0] * section[2]
    axes = [0] * pairs
    for axis in (1, 2):
        chosen = list(range(pairs))[axis : 3 * section[axis] : 3]
        assert len(chosen) == section[axis]
        for p in chosen:
            axes[p] = axis
    return axes


def mrope(arguments):
    options = with_defaults(arguments, MROPE_DEFAULTS, MROPE_PRESETS)
    options = {**TYPE_DEFAULTS.get(options["rope_type"], {}), **options}
    frequencies, factor = ROPE_TYPES[options["rope_type"]](options)
    rows, axes = rope_index(options), axes_of_pairs(options, len(frequencies))
    tensors = {}
    for name, function in (("cos", cosine), ("sin", sine)):
        table = [
            widen_rope(
                [
                    times(function(Fraction(row[a]), w), factor)
                    for a, w in zip(axes, frequencies)
                ],
                options,
            )
            for row in rows
        ]
        tensors[name] = [len(table), len(table[0])], [x for line in table for x in line]
    tensors["inv_freq"] = [len(frequencies)], frequencies
    tensors["position_ids"] = [3, len(rows)], [row[a] for a in range(3) for row in rows], "i32"
    tensors["axis"] = [len(axes)], axes, "i32"
    tensors["rope_delta"] = [1], [max(map(max, rows)) + 1 - len(rows)], "i32"
    return tensors, F64_TOLERANCE


AXES = {"axial_rope": axial_rope, "mrope": mrope}
