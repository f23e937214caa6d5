"""Writes heads of GGUF files, after the format's public description (ggml, docs/gguf.md)."""

import struct

U32, F32, BOOL, TEXT, LIST, U64 = 4, 6, 7, 8, 9, 10
ALIGNMENT = 32


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def value_of(value):
    """A value with its type; lists are of texts, of integers or of floats."""
    if isinstance(value, bool):
        return struct.pack("<I?", BOOL, value)
    if isinstance(value, int):
        return struct.pack("<II", U32, value)
    if isinstance(value, float):
        return struct.pack("<If", F32, value)
    if isinstance(value, str):
        return struct.pack("<I", TEXT) + text(value)
    kinds = {str: (TEXT, text), int: (U32, lambda item: struct.pack("<I", item))}
    kind, write = kinds.get(type(value[0]), (F32, lambda item: struct.pack("<f", item)))
    return struct.pack("<IIQ", LIST, kind, len(value)) + b"".join(map(write, value))


def write(pairs, tensors=(), version=3):
    """A file of metadata and of tensors of float32: (name, numbers)."""
    parts = [b"GGUF", struct.pack("<IQQ", version, len(tensors), len(pairs))]
    parts += [text(name) + value_of(value) for name, value in pairs.items()]
    offset, data = 0, b""
    for name, numbers in tensors:
        parts.append(text(name) + struct.pack("<IQIQ", 1, len(numbers), 0, offset))
        data += struct.pack(f"<{len(numbers)}f", *numbers)
        data += bytes(-len(data) % ALIGNMENT)
        offset = len(data)
    head = b"".join(parts)
    return head + bytes(-len(head) % ALIGNMENT) + data
