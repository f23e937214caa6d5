"""Safetensors files for uploads: a writer, and a reader written from the specification."""

import hashlib
import json
import math
import struct

SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}
EXPONENTS = {"F64": 0x7FF0 << 48, "F32": 0x7F80 << 16, "F16": 0x7C00, "BF16": 0x7F80}
PATH = "/v1/sets"


def write(tensors, metadata=None, padding=b""):
    """A file of {name: (dtype, shape, data)}."""
    header, data = {"__metadata__": metadata} if metadata else {}, b""
    for name, (dtype, shape, part) in tensors.items():
        offsets = [len(data), len(data) + len(part)]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": offsets}
        data += part
    text = json.dumps(header).encode() + padding
    return struct.pack("<Q", len(text)) + text + data


def floats(count, first=0.0):
    return struct.pack(f"<{count}f", *(first + i for i in range(count)))


def simple(count=6, first=0.0):
    """A file of one tensor `table` of `count` numbers."""
    return write({"table": ("F32", [count], floats(count, first))})


def rich():
    """A file with every dtype, a scalar and metadata."""
    numbers = [0.5, -2.0, 3.25, 1e-3, 5.0, 6.0]
    tensors = {
        "table": ("F32", [2, 3], struct.pack("<6f", *numbers)),
        "precise": ("F64", [3, 2], struct.pack("<6d", *numbers)),
        "half": ("F16", [6], struct.pack("<6e", *numbers)),
        "brain": ("BF16", [1, 6], struct.pack("<6H", *(0x3F80 + i for i in range(6)))),
        "scalar": ("F32", [], struct.pack("<f", 7.0)),
    }
    return write(tensors, {"made": "by hand"}, b"   ")


def tag(body):
    return f'"{hashlib.sha256(body).hexdigest()}"'


def unique(pairs):
    assert len({name for name, _ in pairs}) == len(pairs)
    return dict(pairs)


def is_count(value, least):
    return type(value) is int and value >= least


def read(body):
    """Read {name: (dtype, shape, data)}; AssertionError if the store must refuse the file."""
    assert len(body) >= 8
    (length,) = struct.unpack("<Q", body[:8])
    assert length <= min(len(body) - 8, 1 << 20)
    text, data = body[8 : 8 + length], body[8 + length :]
    assert text[:1] == b"{" and text.rstrip(b" ")[-1:] == b"}"
    header = json.loads(text.decode("utf-8"), object_pairs_hook=unique)
    metadata = header.pop("__metadata__", {})
    assert isinstance(metadata, dict) and all(isinstance(v, str) for v in metadata.values())
    assert 1 <= len(header) <= 256
    tensors, end = {}, 0
    for name, entry in header.items():
        assert 1 <= len(name.encode()) <= 128
        assert all(ord(character) >= 32 and ord(character) != 127 for character in name)
        assert isinstance(entry, dict) and set(entry) == {"dtype", "shape", "data_offsets"}
        dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
        assert dtype in SIZES and isinstance(shape, list) and len(shape) <= 4
        assert all(is_count(extent, 1) for extent in shape)
        assert isinstance(offsets, list) and len(offsets) == 2
        assert all(is_count(offset, 0) for offset in offsets) and offsets[1] <= len(data)
        assert offsets[1] - offsets[0] == math.prod(shape) * SIZES[dtype]
        part, size = data[offsets[0] : offsets[1]], SIZES[dtype]
        for at in range(0, len(part), size):
            bits = int.from_bytes(part[at : at + size], "little")
            assert bits & EXPONENTS[dtype] != EXPONENTS[dtype], "finite"
        tensors[name] = (dtype, shape, part)
    for begin, stop in sorted(entry["data_offsets"] for entry in header.values()):
        assert begin == end, "no hole and no overlap"
        end = stop
    assert end == len(data)
    return tensors


def is_legal(body):
    try:
        read(body)
    except (AssertionError, ValueError, TypeError, RecursionError):
        return False
    return True


def corrupt(body, random):
    """The body with a random change, after which it may still be legal."""
    header = 8 + struct.unpack("<Q", body[:8])[0]
    at = random.randrange(len(body))
    inside = random.randrange(8, header)
    kinds = [
        lambda: body[:at],
        lambda: body + bytes(random.randrange(1, 9)),
        lambda: body[:at] + bytes([random.randrange(256)]) + body[at + 1 :],
        lambda: body[:inside] + bytes([random.randrange(32, 127)]) + body[inside + 1 :],
        lambda: body[:inside]
        + random.choice(b'0123456789[]{},:"').to_bytes(1, "big")
        + body[inside + 1 :],
        lambda: body[:inside] + body[inside + 1 :],
        lambda: body[:at] + body[at : at + 8] + body[at:],
        lambda: struct.pack(
            "<Q", random.choice([0, 1, header, header - 9, 2**31, 2**64 - 1])
        )
        + body[8:],
        lambda: body[: -(random.randrange(4) * 4) - 4]
        + b"\x00\x00\x80\x7f"
        + body[len(body) - random.randrange(4) * 4 :],
        lambda: body.replace(b"F32", random.choice([b"I32", b"F16", b"F64", b"f32"]), 1),
        lambda: bytes(random.randrange(256) for _ in range(random.randrange(300))),
    ]
    return random.choice(kinds)()
