"""Independent readers of the binary formats and element types: the standard library alone."""

import ast
import json
import math
import struct

SIZES = {"f32": 4, "f64": 8, "f16": 2, "bf16": 2, "i32": 4}
NPY_DTYPES = {"<f4": "f32", "<f8": "f64", "<f2": "f16", "<i4": "i32"}


def read_npy(body):
    """(dtype, shape, data) of an .npy file as numpy's format document, version 1.0, has it."""
    assert body[:8] == b"\x93NUMPY\x01\x00", body[:8]
    end = 10 + struct.unpack("<H", body[8:10])[0]
    assert end % 64 == 0, f"data at {end} is not 64-byte aligned"
    assert body[end - 1 : end] == b"\n"
    header = ast.literal_eval(body[10:end].decode("latin-1"))
    assert set(header) == {"descr", "fortran_order", "shape"}, header
    assert header["fortran_order"] is False
    return NPY_DTYPES[header["descr"]], list(header["shape"]), body[end:]


def read_safetensors(body):
    """(metadata, {name: (dtype, shape, data)}) by the safetensors specification."""
    size = struct.unpack("<Q", body[:8])[0]
    text = body[8 : 8 + size].decode("utf-8")
    assert text.startswith("{"), text[:20]
    header = json.loads(text)
    metadata = header.pop("__metadata__", {})
    assert all(isinstance(value, str) for value in metadata.values()), metadata
    data, tensors, at = body[8 + size :], {}, 0
    assert (8 + size) % 64 == 0, f"data at {8 + size} is not 64-byte aligned"
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = entry["data_offsets"]
        dtype = entry["dtype"].lower()
        assert begin == at, f"{name} begins at {begin}, the one before ends at {at}"
        assert end - begin == math.prod(entry["shape"]) * SIZES[dtype], entry
        tensors[name] = (dtype, entry["shape"], data[begin:end])
        at = end
    assert at == len(data), f"{len(data) - at} bytes belong to no tensor"
    return metadata, tensors


def elements(dtype, data):
    """The elements of little-endian data as Python numbers."""
    count = len(data) // SIZES[dtype]
    if dtype == "bf16":
        words = struct.unpack(f"<{count}H", data)
        return [struct.unpack("<f", struct.pack("<I", word << 16))[0] for word in words]
    letter = {"f32": "f", "f64": "d", "f16": "e", "i32": "i"}[dtype]
    return list(struct.unpack(f"<{count}{letter}", data))


def pack(dtype, numbers):
    """Little-endian data of numbers, each rounded once to the dtype (not bf16)."""
    letter = {"f32": "f", "f64": "d", "f16": "e", "i32": "i"}[dtype]
    return struct.pack(f"<{len(numbers)}{letter}", *numbers)


def flatten(nested, shape):
    """The leaves of nested lists, which must have exactly this shape."""
    if not shape:
        assert not isinstance(nested, list), nested
        return [nested]
    assert isinstance(nested, list) and len(nested) == shape[0], f"not of shape {shape}"
    return [leaf for item in nested for leaf in flatten(item, shape[1:])]
