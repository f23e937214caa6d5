"""Sets of trained tensors, written by numpy as safetensors and uploaded to a server."""

import json
import struct

import numpy as np

NAMES = {np.dtype("<f8"): "F64", np.dtype("<f4"): "F32", np.dtype("<f2"): "F16"}


class BFloat16:
    """An array of bf16 as its bits."""

    def __init__(self, array):
        """Cut from f32: any bf16 does."""
        self.bits = (np.asarray(array, "<f4").view("<u4") >> 16).astype("<u2")
        self.shape = self.bits.shape

    def wide(self):
        return (self.bits.astype("<u4") << 16).view("<f4").astype(float)


def wide(array):
    """The values of a tensor in double."""
    return array.wide() if isinstance(array, BFloat16) else np.asarray(array, float)


def write(tensors):
    """A safetensors file of {name: array}."""
    header, data = {}, b""
    for name, array in tensors.items():
        dtype = "BF16" if isinstance(array, BFloat16) else NAMES[array.dtype]
        part = array.bits.tobytes() if dtype == "BF16" else array.tobytes()
        header[name] = {
            "dtype": dtype,
            "shape": list(array.shape),
            "data_offsets": [len(data), len(data) + len(part)],
        }
        data += part
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def upload(test, name, tensors):
    """PUT a set through a ServiceTest's connection."""
    reply = test.request("PUT", f"/v1/sets/{name}", write(tensors))
    test.assertIn(reply.status, (201, 204), reply.body)
    return name
