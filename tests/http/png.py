"""An independent reader of palette pictures by the PNG specification: the standard library
alone."""

import struct
import zlib


def chunks(body):
    assert body[:8] == b"\x89PNG\r\n\x1a\n", body[:8]
    at = 8
    while at < len(body):
        size, kind = struct.unpack(">I4s", body[at : at + 8])
        data = body[at + 8 : at + 8 + size]
        assert struct.unpack(">I", body[at + 8 + size : at + 12 + size])[0] == zlib.crc32(
            kind + data
        )
        yield kind.decode(), data
        at += 12 + size


def read_png(body):
    """(rows of palette indices, palette of RGB, opacities, texts) of an 8-bit palette
    picture."""
    parts = list(chunks(body))
    assert parts[0][0] == "IHDR" and parts[-1] == ("IEND", b"")
    width, height, *kind = struct.unpack(">IIBBBBB", parts[0][1])
    assert kind == [8, 3, 0, 0, 0], kind  # bits, palette, deflate, filters, not interlaced
    data = zlib.decompress(b"".join(data for name, data in parts if name == "IDAT"))
    assert len(data) == height * (width + 1)
    rows = []
    for at in range(0, len(data), width + 1):
        assert data[at] == 0, "a filter, which palette pictures do not use here"
        rows.append(data[at + 1 : at + 1 + width])
    named = {name: data for name, data in parts if name != "tEXt"}
    palette = [tuple(named["PLTE"][i : i + 3]) for i in range(0, len(named["PLTE"]), 3)]
    texts = dict(data.decode("latin-1").split("\0") for name, data in parts if name == "tEXt")
    return rows, palette, named["tRNS"], texts
