"""The relative schemes of ENCODINGS section 2 that index a table or weigh the attention.

Tensors are as in relative.py. Logarithmic buckets are decided in integers, slopes and biases
are exact or known to 200 bits.
"""

import math
from fractions import Fraction

import mpmath
from floats import FORMATS, MINUS_INFINITY, floor_log2, interval_of
from relative import clip, grid, is_compact, queries_and_keys, seeded, with_distance
from rotary import as_mpf, product
from schemes import nearest_double, with_defaults
from trained import flat


def by_head(rows, index):
    """The entries [heads, cells] of a table [rows, heads] at the index of each cell."""
    return [rows[row][head] for head in range(len(rows[0])) for row in index]


def whole_steps(ratio, power, step, limit):
    """The largest t <= limit with step^t <= ratio^power, for ratio >= 1 and step > 1: the floor
    of power * ln(ratio) / ln(step), which a quotient of rounded logarithms may miss."""
    t = 0
    while t < limit and step ** (t + 1) <= ratio**power:
        t += 1
    return t


def t5_bucket(distance, options):
    """The bucket of a distance, key minus query (Raffel et al. 2020, section 2.1)."""
    buckets, n, first = int(options["num_buckets"]), -distance, 0
    if options["bidirectional"] == "true":
        if buckets % 2:
            raise ValueError("num_buckets")
        buckets //= 2
        first = buckets if distance > 0 else 0
        n = abs(n)
    n, exact = max(n, 0), buckets // 2
    if n < exact:
        return first + n
    beyond = buckets - exact
    step = Fraction(int(options["max_distance"]), exact)
    return first + exact + whole_steps(Fraction(n, exact), beyond, step, beyond - 1)


T5_DEFAULTS = {"num_buckets": "32", "max_distance": "128", "bidirectional": "true"}


def t5(arguments):
    options = with_defaults(arguments, T5_DEFAULTS, {})
    heads = int(options["heads"])
    shape, distances = grid(options)
    of_distance = {d: t5_bucket(d, options) for d in set(distances)}
    bucket = [of_distance[distance] for distance in distances]
    table = seeded(options, "table", int(options["num_buckets"]), heads)
    tensors = {
        "bias": ([heads] + shape, by_head(table, bucket)),
        "bucket": (shape, bucket, "i32"),
    }
    return with_distance(tensors, options), 0


def levit_grid(options):
    """The number of tokens, the shape of one matrix and the index of each of its cells."""
    if "height" not in options:
        shape, distances = grid(options)
        return int(options["length"]), shape, [abs(distance) for distance in distances]
    if is_compact(options):
        raise ValueError("a grid has no compact form")
    width = int(options["width"])
    tokens = int(options["height"]) * width
    queries, keys = queries_and_keys(options, tokens)
    index = []
    for i in queries:
        for j in keys:
            dx, dy = abs(i // width - j // width), abs(i % width - j % width)
            index.append(dx * width + dy)
    return tokens, [len(queries), len(keys)], index


def levit(arguments):
    """Graham et al. 2021, section 3.5: a bias for each head and each pair of offsets."""
    heads = int(arguments["heads"])
    tokens, shape, index = levit_grid(arguments)
    queries, _ = queries_and_keys(arguments, tokens)
    if queries[0] < 0 or queries[-1] >= tokens:
        raise ValueError("queries are tokens")
    table = seeded(arguments, "table", tokens, heads)
    if "dim_head" in arguments:
        factor = mpmath.sqrt(int(arguments["dim_head"]))
        if factor == int(factor):
            factor = Fraction(int(factor))
        table = [[product(entry, factor) for entry in row] for row in table]
    tensors = {
        "bias": ([heads] + shape, by_head(table, index)),
        "index": (shape, index, "i32"),
    }
    return with_distance(tensors, arguments), 0


def deberta_bucket(relative, buckets, longest, beyond):
    """make_log_bucket_position of Microsoft's DeBERTa (beyond=clamp) and of Hugging Face's
    transformers (continue), for query minus key."""
    middle, magnitude = buckets // 2, abs(relative)
    if beyond == "clamp":
        magnitude = min(magnitude, longest - 1)
    if magnitude <= middle:
        return relative
    step, power = Fraction(longest - 1, middle), Fraction(magnitude, middle) ** (middle - 1)
    steps = math.log(magnitude / middle) / math.log(step) * (middle - 1)
    steps = max(0, math.floor(steps) - 1)  # certainly below the ceiling
    while step**steps < power:  # the ceiling of ln(power) / ln(step)
        steps += 1
    return (middle + steps) * (1 if relative > 0 else -1)


DEBERTA_DEFAULTS = {
    "position_buckets": "-1",
    "max_relative_positions": "512",
    "beyond": "clamp",
    "p2c": "code",
}


def deberta(arguments):
    """He et al. 2021, with the indices of the published code or of equation 4."""
    options = with_defaults(arguments, DEBERTA_DEFAULTS, {})
    dim, longest = int(options["dim"]), int(options["max_relative_positions"])
    buckets = int(options["position_buckets"])
    if buckets % 2 and buckets != -1 or longest - 1 <= buckets // 2:
        raise ValueError("position_buckets")
    span = buckets if buckets > 0 else longest
    shape, distances = grid(options)
    relative = [-distance for distance in distances]
    if buckets > 0:
        of_relative = {
            r: deberta_bucket(r, buckets, longest, options["beyond"]) for r in set(relative)
        }
        if any(of_relative.get(-r, -bucket) != -bucket for r, bucket in of_relative.items()):
            raise ArithmeticError("buckets are odd in the distance")
        relative = [of_relative[r] for r in relative]

    def index(rows):
        return shape, [clip(row + span, 0, 2 * span - 1) for row in rows], "i32"

    key_to_query = [-r for r in relative] if options["p2c"] == "paper" else relative
    tensors = {
        "c2p_index": index(relative),
        "p2c_index": index(key_to_query),
        "relative_position": (shape, relative, "i32"),
        "table": ([2 * span, dim], flat(seeded(options, "table", 2 * span, dim))),
    }
    return with_distance(tensors, options), 0


def urpe(arguments):
    """Luo et al. 2022, equation 5: the Toeplitz matrix of query minus key."""
    options = with_defaults(arguments, {"heads": "1", "init": "ones"}, {})
    heads, n = int(options["heads"]), int(options["length"])
    shape, distances = grid(options)
    columns = [-distance + n - 1 for distance in distances]
    if min(columns) < 0 or max(columns) > 2 * n - 2:
        raise ValueError("queries are positions of keys")
    if options["init"] == "ones":
        g = [[1] * (2 * n - 1)] * heads
    else:
        g = seeded(options, "g", heads, 2 * n - 1)
    entries = [row[column] for row in g for column in columns]
    return with_distance({"toeplitz": ([heads] + shape, entries)}, options), 0


def power_of_two(exponent):
    """2^-exponent for a Fraction; exact if the power is an integer."""
    if exponent.denominator == 1:
        return 1 / Fraction(2) ** exponent.numerator
    return mpmath.power(2, -mpmath.mpf(exponent.numerator) / exponent.denominator)


def alibi_slopes(options):
    """Press et al. 2022, section 3, and get_slopes of the published code."""
    here, first = int(options["heads"]), int(options["first_head"])
    heads = int(options.get("heads_total", here))
    most = nearest_double(options["alibi_bias_max"])

    def geometric(count):
        return [power_of_two(most * h / count) for h in range(1, count + 1)]

    whole = 1 << (heads.bit_length() - 1)
    if heads == whole or options["non_power_of_two"] == "geometric":
        slopes = geometric(heads)
    else:
        slopes = geometric(whole) + geometric(2 * whole)[::2][: heads - whole]
    return slopes[first : first + here]


ALIBI_DEFAULTS = {
    "first_head": "0",
    "alibi_bias_max": "8",
    "mask": "symmetric",
    "non_power_of_two": "official",
}

ALIBI_PRESETS = {
    "bloom": {"mask": "key_only"},
    "falcon": {"mask": "key_only", "slope_dtype": "bf16", "head_dim": "64"},
    "mpt": {"mask": "from_last_key", "query_length": "1"},
}


def rounded(number, dtype):
    """A slope rounded to a dtype, exactly."""
    fmt = FORMATS[dtype]
    exponent = max(floor_log2(interval_of(number).low), fmt.min_exponent)
    quantum = Fraction(2) ** (exponent - fmt.precision + 1)
    low, high = (round(end / quantum) for end in interval_of(number))
    if low != high:
        raise ArithmeticError("a slope is too near a rounding boundary")
    return low * quantum


def quotient_by_root(value, number):
    """value / sqrt(number), exact where the root is and the value."""
    root = math.isqrt(number)
    if root * root != number:
        return as_mpf(value) / mpmath.sqrt(number)
    return value / root


def alibi(arguments):
    options = with_defaults(arguments, ALIBI_DEFAULTS, ALIBI_PRESETS)
    slopes = alibi_slopes(options)
    if "slope_dtype" in options:
        slopes = [rounded(slope, options["slope_dtype"]) for slope in slopes]
    shape, distances = grid(options)
    if options["mask"] in ("key_only", "from_last_key"):
        if is_compact(options):
            raise ValueError("the bias of a key is not one of a distance")
        queries, keys = queries_and_keys(options)
        last = len(keys) - 1 if options["mask"] == "from_last_key" else 0
        factors = [j - last for _ in queries for j in keys]
    elif options["mask"] == "causal":
        factors = [distance if distance <= 0 else None for distance in distances]
    else:
        factors = [-abs(distance) for distance in distances]

    def bias(slope, factor):
        if factor is None:
            return MINUS_INFINITY
        value = product(slope, Fraction(factor))
        return (
            quotient_by_root(value, int(options["head_dim"]))
            if "head_dim" in options
            else value
        )

    entries = [bias(slope, factor) for slope in slopes for factor in factors]
    tensors = {"bias": ([len(slopes)] + shape, entries), "slopes": ([len(slopes)], slopes)}
    return with_distance(tensors, options), 0


def check_known_answers():
    """The published slopes of 8 and 12 heads, and the published buckets of some distances."""
    eight = alibi_slopes({**ALIBI_DEFAULTS, "heads": "8"})
    if eight != [Fraction(1, 2**h) for h in range(1, 9)]:
        raise ArithmeticError("eight heads have the slopes 1/2, 1/4 ... 1/256")
    twelve = alibi_slopes({**ALIBI_DEFAULTS, "heads": "12"})
    halves = [mpmath.nint(-2 * mpmath.log(slope, 2)) for slope in twelve]
    if halves != [2, 4, 6, 8, 10, 12, 14, 16, 1, 3, 5, 7]:
        raise ArithmeticError("twelve heads have the slopes of eight, then half powers")
    buckets = [t5_bucket(distance, T5_DEFAULTS) for distance in (-128, -8, -1, 0, 1, 2, 128)]
    if buckets != [15, 8, 1, 0, 17, 18, 31]:
        raise ArithmeticError("t5 differs from the published buckets")


check_known_answers()

BIASES = {scheme.__name__: scheme for scheme in (t5, levit, deberta, urpe, alibi)}
