"""The relative schemes of ENCODINGS section 2 that add a vector to keys or values.

A scheme takes the arguments of a query and returns its tensors, {name: (shape, entries)} or
{name: (shape, entries, "i32")}, and the absolute tolerance of their f64 entries.

Every relative scheme has `length` keys j = 0, 1 ... and `query_length` queries, which begin
with i = `query_offset`; unless that is given, the last query is the last key.
"""

from rotary import F64_TOLERANCE
from schemes import SCHEMES, with_defaults
from trained import STD, flat, initialiser, seeded_rows


def queries_and_keys(options, keys=None):
    keys = int(options["length"]) if keys is None else keys
    count = int(options.get("query_length", keys))
    first = int(options.get("query_offset", keys - count))
    return range(first, first + count), range(keys)


def is_compact(options):
    form = options.get("form", "expanded")
    if form not in ("expanded", "compact"):
        raise ValueError(form)
    return form == "compact"


def grid(options):
    """The shape of one matrix, and key minus query of each of its cells: a cell for every pair
    of query and key, or one for every distance between them."""
    queries, keys = queries_and_keys(options)
    if not is_compact(options):
        return [len(queries), len(keys)], [j - i for i in queries for j in keys]
    rows = len(queries) + len(keys) - 1
    return [rows], [t - queries[-1] for t in range(rows)]


def with_distance(tensors, options):
    """The tensors of a scheme whose compact form says which distance each row has."""
    if is_compact(options):
        shape, distances = grid(options)
        tensors["distance"] = shape, distances, "i32"
    return tensors


def clip(value, low, high):
    return min(max(value, low), high)


def seeded(options, name, rows, columns):
    """A seeded tensor with the initialiser of every relative scheme, as a list of rows."""
    value = initialiser("normal", STD, None)
    return seeded_rows(options, name, range(rows), columns, value)


def sinusoids(distances, options, layout):
    """A row of the sinusoidal table for each distance, taken as a position."""
    wanted = sorted(set(distances))
    arguments = {"positions": ",".join(map(str, wanted)), "layout": layout}
    arguments |= {name: options[name] for name in ("dim", "base") if name in options}
    (_, dim), entries = SCHEMES["sinusoidal"](arguments)
    rows = {k: entries[r * dim : (r + 1) * dim] for r, k in enumerate(wanted)}
    return [rows[distance] for distance in distances]


def relative_sinusoidal(arguments):
    options = with_defaults(arguments, {"layout": "interleaved"}, {})
    shape, distances = grid(options)
    if "max_distance" in options:
        limit = int(options["max_distance"])
        distances = [clip(distance, -limit, limit) for distance in distances]
    rows = sinusoids(distances, options, options["layout"])
    tensors = {"encoding": (shape + [int(options["dim"])], flat(rows))}
    return with_distance(tensors, options), F64_TOLERANCE


SHAW_DEFAULTS = {
    "max_distance": "16",
    "source": "learned",
    "difference": "key_minus_query",
    "keys_only": "false",
}

SHAW_PRESETS = {
    "wav2vec2_bert": {"min_distance": "-64", "max_distance": "8", "keys_only": "true"},
    "speecht5": {
        "min_distance": "-160",
        "max_distance": "159",
        "difference": "query_minus_key",
        "keys_only": "true",
    },
}


def shaw(arguments):
    """Shaw et al. 2018, equation 4, with key minus query unless asked otherwise."""
    options = with_defaults(arguments, SHAW_DEFAULTS, SHAW_PRESETS)
    dim, high = int(options["dim"]), int(options["max_distance"])
    low = int(options.get("min_distance", -high))
    if not low <= 0 <= high:
        raise ValueError("min_distance <= 0 <= max_distance")
    rows = high - low + 1
    if options["source"] == "learned":
        tables = {name: seeded(options, name, rows, dim) for name in ("keys", "values")}
    else:
        table = sinusoids(range(low, high + 1), {"dim": options["dim"]}, "interleaved")
        tables = {"keys": table, "values": table}
    if options["keys_only"] == "true":
        del tables["values"]
    tolerance = 0 if options["source"] == "learned" else F64_TOLERANCE
    # The matrix over queries and keys has an index in both forms.
    shape, distances = grid({**options, "form": "expanded"})
    if options["difference"] == "query_minus_key":
        distances = [-distance for distance in distances]
    index = [clip(distance, low, high) - low for distance in distances]
    if is_compact(options):
        tensors = {name: ([len(t), dim], flat(t)) for name, t in tables.items()}
        return {**tensors, "index": (shape, index, "i32")}, tolerance
    return {
        name: (shape + [dim], flat(table[row] for row in index))
        for name, table in tables.items()
    }, tolerance


def transformer_xl(arguments):
    """Dai et al. 2019; `bi` and `uni` are attention types of XLNet, whose code has their rows
    (relative_positional_encoding). Here a distance is query minus key."""
    presets = {"conformer": {"attention": "two_sided"}}
    options = with_defaults(arguments, {"heads": "1", "attention": "bi"}, presets)
    dim, heads = int(options["dim"]), int(options["heads"])
    if dim % 2 or dim % heads:
        raise ValueError("dim")
    queries, keys = queries_and_keys(options)
    two_sided = options["attention"] == "two_sided"  # Wav2Vec2ConformerRelPositionalEmbedding
    last = 0 if options["attention"] in ("uni", "txl") else -len(queries) + 1
    first = len(keys) - (options["attention"] in ("txl", "two_sided"))
    layout = options.get("layout", "interleaved") if two_sided else "concat"
    distances = list(range(first, last - 1, -1))

    def encode(distances):
        if "clamp_length" in options:
            limit = int(options["clamp_length"])
            distances = [clip(distance, -limit, limit) for distance in distances]
        return flat(sinusoids(distances, options, layout))

    tensors = {
        "encoding": ([len(distances), dim], encode(distances)),
        "distance": ([len(distances)], distances, "i32"),
    }
    for name in ("u", "v"):
        tensors[name] = [heads, dim // heads], flat(seeded(options, name, heads, dim // heads))
    if not is_compact(options):
        pairs = [i - j for i in queries for j in keys]
        tensors["relative"] = [len(queries), len(keys), dim], encode(pairs)
    return tensors, F64_TOLERANCE


RELATIVE = {scheme.__name__: scheme for scheme in (relative_sinusoidal, shaw, transformer_xl)}
