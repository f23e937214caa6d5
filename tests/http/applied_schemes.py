"""What /v1/apply must answer for every scheme: entries from tests/golden, and the formulas of
the documentation."""

import sys
from fractions import Fraction
from pathlib import Path


sys.path.append(str(Path(__file__).resolve().parents[1] / "golden"))

from write_golden import parse_query, tensors_of  # noqa: E402

from exact_reals import of_double, of_real, product, total  # noqa: E402

INFINITE = "-inf"
BITS = 420  # of a fraction that is no binary one

# {scheme: queries}; the first dtype of a tensor of trained entries does not matter
CASES = {
    "sinusoidal": [
        "length=4&dim=6&offset=3",
        "length=3&dim=5&odd_dim=pad&layout=concat&amplitude=2.5&frequencies=tensor2tensor",
        "positions=0,1000000,-3.5&dim=4&position_scale=0.1",
    ],
    "sinusoidal_2d": [
        "height=2&width=3&dim=8",
        "height=2&width=3&dim=8&shape=hwc&layout=concat",
        "height=3&width=2&dim=4&shape=nc",
    ],
    "sinusoidal_3d": [
        "depth=2&height=1&width=3&dim=12",
        "depth=2&height=2&width=2&dim=16&shape=nc&split=quarter",
    ],
    "periodic": ["length=6&dim=4", "length=5&dim=4&frequencies=geometric&offset=100"],
    "binary": ["length=8&width=5&offset=3"],
    "learned": ["length=4&dim=6", "length=4&dim=6&init=uniform&seed=5"],
    "hierarchical": ["length=9&base_length=3&dim=4"],
    "resized": [
        "height=3&source_height=2&dim=4",
        "height=2&source_height=4&source_width=3&width=2&dim=4&mode=bicubic",
    ],
    "rope": [
        "length=5&dim=8",
        "positions=0,100000,-7&dim=8&layout=interleaved&rope_theta=500000",
        "length=3&dim=8&partial_rotary_factor=0.5&offset=2000",
        "length=3&dim=16&table=full&layout=interleaved",
        "length=3&dim=16&rope_type=yarn&factor=8&original_max_position_embeddings=2048"
        "&offset=999",
    ],
    "axial_rope": [
        "sizes=2,3&dim=16",
        "sizes=2,3&dim=16&layout=interleaved&axis_order=reversed",
        "sizes=3,2&dim=16&layout=half_by_axis&table=full",
    ],
    "mrope": ["text=2,1&grids=1,2,4&dim=128&mrope_section=16,24,24"],
    "xpos": ["length=5&dim=8", "length=3&dim=8&offset=700&layout=half"],
    "alibi": [
        "length=3&heads=4",
        "length=3&heads=6&mask=causal",
        "length=4&heads=3&query_length=1&mask=key_only&head_dim=64",
    ],
    "t5": ["length=4&heads=3", "length=5&query_length=2&heads=3&bidirectional=false"],
    "levit": ["length=4&heads=3", "height=2&width=2&heads=2&dim_head=16"],
    "kerple": ["length=4&heads=3", "length=3&heads=2&kernel=power&mask=causal"],
    "fire": ["length=4&heads=2"],
    "sandwich": ["length=4&heads=3", "length=3&heads=2&mask=causal"],
    "swin": ["height=2&heads=3"],
    "swin_v2": ["height=1&width=2&heads=3&hidden=8"],
    "retnet": ["length=4&heads=3&dim=4"],
    "urpe": ["length=4&heads=3&init=normal"],
    "complex_order": ["length=4&dim=4&vocab=10"],
    "rotation_matrix": ["length=4&dim=6", "length=3&dim=4&convention=shift&offset=50"],
    "shaw": ["length=4&dim=6", "length=5&query_length=2&dim=5&max_distance=2"],
    "relative_sinusoidal": ["length=4&dim=8", "length=3&dim=18&layout=concat"],
    "transformer_xl": ["length=4&dim=8&heads=2&form=expanded"],
    "decomposed": ["height=2&dim=4", "height=2&width=3&query_height=4&query_width=3&dim=5"],
    "deberta": [
        "length=4&dim=8&max_relative_positions=16",
        "length=5&query_length=3&dim=6&max_relative_positions=8&position_buckets=4&p2c=paper",
    ],
}


def exact(entry):
    """An entry of the golden values as (integer, exponent)."""
    if entry == INFINITE:
        return INFINITE
    if isinstance(entry, Fraction):
        numerator, denominator = entry.numerator, entry.denominator
        shift = 0 if denominator & (denominator - 1) == 0 else BITS
        places = shift + denominator.bit_length() - 1
        return (numerator << places) // denominator, -places
    if isinstance(entry, int):
        return entry, 0
    return of_real(entry)


def entries_of(scheme, query):
    """{tensor: (shape, [(integer, exponent) …])}"""
    arguments = parse_query(query)
    tensors, _ = tensors_of(scheme, arguments)
    return {
        name: (shape, [exact(entry) for entry in entries])
        for name, (shape, entries, *_) in tensors.items()
    }


def columns_of(width, layout, widths=()):
    """The two columns of each pair."""
    if layout == "interleaved":
        return [(2 * p, 2 * p + 1) for p in range(width // 2)]
    if layout == "half":
        return [(p, p + width // 2) for p in range(width // 2)]
    starts = [sum(widths[:n]) for n in range(len(widths))]
    return [
        (start + p, start + width // 2 + p)
        for start, width in zip(starts, widths)
        for p in range(width // 2)
    ]


def negative(number):
    return -number[0], number[1]


def turned_row(row, cosines, sines, columns):
    """The exact row of a rotation, given its doubles."""
    result = [of_double(number) for number in row]
    for (one, other), cosine, sine in zip(columns, cosines, sines):
        x, y = of_double(row[one]), of_double(row[other])
        result[one] = total([product(x, cosine), product(y, negative(sine))])
        result[other] = total([product(x, sine), product(y, cosine)])
    return result


def rotation(scheme, query, tensors, name, rows):
    """Rows [n, dim] turned."""
    arguments = parse_query(query)
    prefix = {"query": "q_", "key": "k_"}[name] if scheme == "xpos" else ""
    (_, width), cosines = tensors[prefix + "cos"]
    sines = tensors[prefix + "sin"][1]
    layout = arguments.get("layout", "interleaved" if scheme == "xpos" else "half")
    full = arguments.get("table") == "full"
    columns = columns_of(width if full else 2 * width, layout, [8, 8])
    places = [one if full else p for p, (one, _) in enumerate(columns)]
    result = []
    for r, row in enumerate(rows):
        at = r % (len(cosines) // width) * width
        result += turned_row(
            row, [cosines[at + p] for p in places], [sines[at + p] for p in places], columns
        )
    return result


def sums(numbers, rows):
    """The exact sums of products of numbers with each of some rows."""
    exact_numbers = [of_double(number) for number in numbers]
    return [total([product(x, entry) for x, entry in zip(exact_numbers, row)]) for row in rows]


def in_rows(entries, width):
    return [entries[i : i + width] for i in range(0, len(entries), width)]


def by_row(numbers, width, blocks):
    """Sums for rows of numbers, each with its block of rows of entries, which come again."""
    return [
        exact
        for r, row in enumerate(numbers.reshape(-1, width))
        for exact in sums(row, blocks[r % len(blocks)])
    ]


def contraction(name, tensor, result):
    """A tensor [i, j, d]: input [i, d], results [i, j]."""
    (first, _, width), entries = tensor
    blocks = in_rows(in_rows(entries, width), tensor[0][1])
    return name, [first, width], result, lambda numbers: by_row(numbers, width, blocks)


def terms(scheme, tensors):
    """The results of schemes whose inputs are summed over an axis."""
    if scheme == "rotation_matrix":
        return [contraction("x", tensors["matrix"], "x")]
    if scheme == "relative_sinusoidal":
        return [contraction("query", tensors["encoding"], "scores")]
    if scheme == "shaw":
        if "values" not in tensors:
            return [contraction("query", tensors["keys"], "key_scores")]
        (queries, keys, width), entries = tensors["values"]
        columns = [
            [list(column) for column in zip(*block)]
            for block in in_rows(in_rows(entries, width), keys)
        ]
        return [
            contraction("query", tensors["keys"], "key_scores"),
            (
                "weights",
                [queries, keys],
                "value_sums",
                lambda numbers: by_row(numbers, keys, columns),
            ),
        ]
    if scheme == "transformer_xl":
        (heads, width), u = tensors["u"]
        blocks = {
            name: [[row] for row in in_rows(tensors[name][1], width) for _ in range(5)]
            for name in "uv"
        }
        expanded = (
            [contraction("query", tensors["relative"], "position_scores")]
            if "relative" in tensors
            else []
        )
        return [
            *expanded,
            (
                "key",
                [heads, 5, width],
                "content_bias",
                lambda numbers: by_row(numbers, width, blocks["u"]),
            ),
            (
                "projected",
                [heads, 5, width],
                "position_bias",
                lambda numbers: by_row(numbers, width, blocks["v"]),
            ),
        ]
    if scheme == "decomposed":
        (rows, height, dim), vertical = tensors["rel_h"]
        (columns, width, _), horizontal = tensors["rel_w"]
        down = [
            block for block in in_rows(in_rows(vertical, dim), height) for _ in range(columns)
        ]
        across = in_rows(in_rows(horizontal, dim), width)
        return [
            (
                "query",
                [rows, columns, dim],
                "scores_h",
                lambda numbers: by_row(numbers, dim, down),
            ),
            (
                "query",
                [rows, columns, dim],
                "scores_w",
                lambda numbers: by_row(numbers, dim, across),
            ),
        ]
    (_, dim), entries = tensors["table"]
    table = in_rows(entries, dim)
    (queries, keys), to_position = tensors["c2p_index"]
    for_query = [[table[index] for index, _ in row] for row in in_rows(to_position, keys)]
    for_key = [
        [table[row[j][0]] for row in in_rows(tensors["p2c_index"][1], keys)]
        for j in range(keys)
    ]
    return [
        (
            "query",
            [queries, dim],
            "content_to_position",
            lambda numbers: by_row(numbers, dim, for_query),
        ),
        (
            "key",
            [keys, dim],
            "position_to_content",
            lambda numbers: by_row(numbers, dim, for_key),
        ),
    ]


TERMS = "rotation_matrix relative_sinusoidal shaw transformer_xl decomposed deberta".split()


def factors(name, tensor, result):
    shape, entries = tensor
    return (
        name,
        shape,
        result,
        lambda numbers: [
            product(of_double(number), entries[i % len(entries)])
            for i, number in enumerate(numbers.ravel())
        ],
    )


def results(scheme, query):
    """[(input, its shape, result, function from the input's doubles to exact results)] of a
    request."""
    tensors = entries_of(scheme, query)
    if "cos" in tensors and scheme != "retnet" or "q_cos" in tensors:
        name = "cos" if "cos" in tensors else "q_cos"
        rows = tensors[name][0][0]
        arguments = parse_query(query)
        shape = [rows, int(arguments["dim"])]
        return [
            (
                which,
                shape,
                which,
                lambda numbers, which=which: rotation(
                    scheme, query, tensors, which, numbers.reshape(-1, shape[1])
                ),
            )
            for which in ("query", "key")
        ]
    if scheme in TERMS:
        return terms(scheme, tensors)
    if scheme == "complex_order":
        return [factors("x", tensors[part], part) for part in ("real", "imag")]
    if scheme in ("urpe", "retnet"):
        tensor, name = ("toeplitz", "weights") if scheme == "urpe" else ("mask", "scores")
        return [factors(name, tensors[tensor], name)]
    name = "encoding" if "encoding" in tensors else "bias"
    shape, added = tensors[name]
    given = "x" if name == "encoding" else "scores"
    return [
        (
            given,
            shape,
            given,
            lambda numbers: [
                INFINITE
                if added[i % len(added)] == INFINITE
                else total([of_double(number), added[i % len(added)]])
                for i, number in enumerate(numbers.ravel())
            ],
        )
    ]
