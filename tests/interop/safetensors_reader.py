"""A strict reader of the safetensors format, written from its specification."""

import json
import struct
from collections import namedtuple

Tensor = namedtuple("Tensor", "dtype shape start data")  # start: within the file

SIZES = {
    "BOOL": 1,
    "U8": 1,
    "I8": 1,
    "F8_E4M3": 1,
    "F8_E5M2": 1,
    "U16": 2,
    "I16": 2,
    "F16": 2,
    "BF16": 2,
    "U32": 4,
    "I32": 4,
    "F32": 4,
    "U64": 8,
    "I64": 8,
    "F64": 8,
}
HEADER_MAX = 100_000_000


class Malformed(ValueError):
    """The file breaks a rule of the format."""


def demand(holds, rule):
    if not holds:
        raise Malformed(rule)


def unique(pairs):
    demand(len({name for name, _ in pairs}) == len(pairs), "no name twice")
    return dict(pairs)


def is_count(value):
    return type(value) is int and value >= 0


def read_tensor(entry, data_start, body):
    demand(
        isinstance(entry, dict) and set(entry) == {"dtype", "shape", "data_offsets"},
        "a tensor has dtype, shape and data_offsets, and nothing else",
    )
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    demand(dtype in SIZES, "a known dtype")
    demand(isinstance(shape, list) and all(map(is_count, shape)), "a shape of counts")
    demand(
        isinstance(offsets, list) and len(offsets) == 2 and all(map(is_count, offsets)),
        "two offsets",
    )
    begin, end = offsets
    size = SIZES[dtype]
    for extent in shape:
        size *= extent
    demand(end - begin == size, "offsets that fit dtype and shape")
    demand(data_start + end <= len(body), "offsets within the file")
    return Tensor(
        dtype, tuple(shape), data_start + begin, body[data_start + begin : data_start + end]
    )


def read(body):
    """({name: Tensor} in the header's order, metadata, position of the data); or Malformed."""
    demand(len(body) >= 8, "eight bytes of length")
    (length,) = struct.unpack("<Q", body[:8])
    demand(length <= HEADER_MAX and 8 + length <= len(body), "a header within the file")
    text = body[8 : 8 + length]
    demand(text[:1] == b"{", "a header that begins with a brace")
    demand(text.rstrip(b" ")[-1:] == b"}", "a header padded by nothing but blanks")
    try:
        header = json.loads(text.decode("utf-8"), object_pairs_hook=unique)
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise Malformed(f"a header of UTF-8 JSON: {error}") from error
    metadata = header.pop("__metadata__", {})
    demand(
        isinstance(metadata, dict) and all(isinstance(v, str) for v in metadata.values()),
        "metadata of strings only",
    )
    tensors = {name: read_tensor(entry, 8 + length, body) for name, entry in header.items()}
    end = 8 + length
    for tensor in sorted(tensors.values(), key=lambda tensor: tensor.start):
        demand(tensor.start == end, "no hole and no overlap")
        end += len(tensor.data)
    demand(end == len(body), "no bytes after the last tensor")
    return tensors, metadata, 8 + length
