"""Similarity matrices (ENCODINGS section 4), with exact arithmetic on a scheme's table in f64.

Each line of similarity.jsonl holds the scheme and the query of /v1/similarity/SCHEME, and

    tolerance      how far a value may be off, plus `ulps` units in the last place of `dtype`
    dtype, shape   of the matrix, [rows, n]
    values         its rows, as numbers of the dtype; "nan" where it is undefined

A table in f64 is known to 2^-51 only, and sums over it no better: the tolerance is 1e-12 of
the largest value of an l1 or l2 matrix, of the largest square norm for dot, and 1e-12 itself
for cosine and pearson.
"""

import json
import math
import struct
from fractions import Fraction

import mpmath
from floats import FORMATS, encode, nearest_double_of
from schemes import SCHEMES
from trained import TRAINED

RELATIVE_TOLERANCE = 1e-12
STRUCT_CODES = {"f64": "<d", "f32": "<f", "f16": "<e"}


def dot(x, y):
    return sum(a * b for a, b in zip(x, y))


def l1(x, y):
    return sum(abs(a - b) for a, b in zip(x, y))


def root(fraction):
    """The square root, as a Fraction if it is one."""
    numerator, denominator = map(math.isqrt, (fraction.numerator, fraction.denominator))
    if Fraction(numerator, denominator) ** 2 == fraction:
        return Fraction(numerator, denominator)
    return mpmath.sqrt(mpmath.mpf(fraction.numerator) / fraction.denominator)


def l2(x, y):
    return root(Fraction(sum((a - b) ** 2 for a, b in zip(x, y))))


def cosine(x, y):
    """None where it is undefined."""
    product, norms = dot(x, y), dot(x, x) * dot(y, y)
    if norms == 0:
        return None
    return root(Fraction(product * product) / norms) * (1 if product > 0 else -1)


def centred(x):
    mean = Fraction(sum(x)) / len(x)
    return [a - mean for a in x]


def pearson(x, y):
    return cosine(centred(x), centred(y))


METRICS = {metric.__name__: metric for metric in (l2, l1, dot, cosine, pearson)}


def table_in_f64(scheme, arguments):
    if scheme in TRAINED:
        (_, columns), entries = TRAINED[scheme](arguments)[0]["encoding"]
    else:
        (_, columns), entries = SCHEMES[scheme](arguments)
    entries = [nearest_double_of(entry) for entry in entries]
    return [entries[i : i + columns] for i in range(0, len(entries), columns)]


def decoded(entry, dtype):
    """An entry rounded to the dtype, as the number that JSON writes for it."""
    if entry is None:
        return "nan"
    raw = bytes.fromhex(encode([entry], dtype))
    if dtype == "bf16":
        return struct.unpack("<f", b"\0\0" + raw)[0]
    return struct.unpack(STRUCT_CODES[dtype], raw)[0]


def largest_possible(metric, table, matrix):
    """What errors are relative to."""
    if metric in ("cosine", "pearson"):
        return 1.0
    if metric == "dot":
        return float(max(dot(row, row) for row in table))
    return max(float(value) for row in matrix for value in row)


def similarity_line(name, target):
    """The line of one case, for scheme?query."""
    scheme, _, query = target.partition("?")
    arguments = dict(pair.split("=") for pair in query.split("&"))
    metric, dtype = arguments["metric"], arguments.get("dtype", "f32")
    table = table_in_f64(scheme, arguments)
    rows = range(len(table))
    if "rows" in arguments:
        rows = [int(row) for row in arguments["rows"].split(",")]
    matrix = [[METRICS[metric](table[row], other) for other in table] for row in rows]
    return json.dumps(
        {
            "case": name,
            "scheme": scheme,
            "query": query,
            "tolerance": RELATIVE_TOLERANCE * largest_possible(metric, table, matrix),
            "ulps": 0 if dtype == "f64" else 1,
            "dtype": dtype,
            "shape": [len(rows), len(table)],
            "values": [[decoded(entry, dtype) for entry in row] for row in matrix],
        }
    )


# Tables of at most 17 rows; some rows are zero or constant, some are multiples of others.
TABLES = {
    "sinusoidal": "sinusoidal?length=16&dim=8",
    "sinusoidal_offset": "sinusoidal?length=12&offset=999999990&dim=8",
    "sinusoidal_negative": "sinusoidal?length=9&offset=-4&dim=6&layout=concat",
    "sinusoidal_base_10": "sinusoidal?length=16&dim=8&base=10",
    "seed_cls": "sinusoidal?length=8&dim=8&preset=seed_cls",
    "integer": "integer?length=9&offset=-3",
    "binary": "binary?length=16&width=4",
    "periodic": "periodic?length=17&dim=5",
    "periodic_geometric": "periodic?length=10&dim=6&frequencies=geometric",
    "learned": "learned?length=10&dim=6&seed=3",
}

CASES = {
    **{
        f"{name}_{metric}_{dtype}": f"{table}&metric={metric}&dtype={dtype}"
        for name, table in TABLES.items()
        for metric in METRICS
        for dtype in ("f64", "f32")
    },
    **{
        f"rows_{metric}_{dtype}": "sinusoidal?length=50&dim=16&rows=0,10,49"
        f"&metric={metric}&dtype={dtype}"
        for metric in METRICS
        for dtype in FORMATS
    },
    "one_row_l2": "sinusoidal?length=1&dim=8&metric=l2",
    "one_row_pearson": "sinusoidal?length=1&dim=8&metric=pearson",
    "one_zero_row_cosine": "integer?length=1&metric=cosine",
    "rows_in_any_order": "sinusoidal?length=12&dim=8&rows=7,0,11&metric=dot&dtype=f64",
    "rows_of_binary": "binary?length=16&width=4&rows=15,0,5&metric=pearson&dtype=f64",
    "equal_rows_cosine": "sinusoidal?positions=3,7,3,1000000&dim=8&metric=cosine&dtype=f64",
    "equal_rows_l2": "sinusoidal?positions=3,7,3,1000000&dim=8&metric=l2&dtype=f64",
    "normalized_l2": "normalized?length=11&metric=l2&dtype=f64",
}
