"""What exactness costs: bytes a second that /v1/apply takes, beside torch in float32 on one
thread. `make apply-cost` runs it:

    apply_cost.py SERVER

Each figure is the median of rounds in which the service and torch take turns. The service's
time is that of the answer, from its first byte to its last; the body has been sent before. Its
event threads compute while they send, one for each answer."""

import http.client
import json
import statistics
import struct
import sys
import time
from pathlib import Path

import numpy
import torch

sys.path.insert(0, str(Path(__file__).parent.parent / "http"))

from server import Server  # noqa: E402

ROUNDS = 7
HEADS, LENGTH, DIM = 32, 4096, 128
TYPES = {
    "f32": ("F32", numpy.float32),
    "f64": ("F64", numpy.float64),
    "f16": ("F16", numpy.float16),
}


def body_of(name, array, dtype):
    head = json.dumps(
        {
            name: {
                "dtype": TYPES[dtype][0],
                "shape": array.shape,
                "data_offsets": [0, array.nbytes],
            }
        }
    ).encode()
    head += b" " * (-len(head) % 8)
    return struct.pack("<Q", len(head)) + head + array.tobytes()


def answer(connection, target, body, buffer=bytearray(1 << 20)):
    """Seconds that the answer takes."""
    connection.request(
        "POST", f"/v1/apply/{target}", body, {"Content-Type": "application/vnd.safetensors"}
    )
    reply = connection.getresponse()
    assert reply.status == 200, reply.read()
    began = time.perf_counter()
    while reply.readinto(buffer):
        pass
    return time.perf_counter() - began


def timed(function):
    began = time.perf_counter()
    function()
    return time.perf_counter() - began


def rotary(query):
    angles = torch.outer(
        torch.arange(LENGTH).float(), 1 / 10000 ** (torch.arange(0, DIM, 2).float() / DIM)
    ).repeat(1, 2)
    cos, sin = angles.cos().to(query.dtype), angles.sin().to(query.dtype)
    half = DIM // 2
    return lambda: query * cos + torch.cat((-query[..., half:], query[..., :half]), -1) * sin


def sum_with(array, addend):
    own = torch.tensor(array)
    return lambda: own + addend


def cases():
    """(what, target, tensor, its array, its dtype, what torch does)."""
    numbers = numpy.random.default_rng(0)
    query = numbers.standard_normal((HEADS, LENGTH, DIM))
    x = numbers.standard_normal((16, LENGTH, 256))
    scores = numbers.standard_normal((8, 2048, 1024))
    for dtype in ("f32", "f16", "f64"):
        array = query.astype(TYPES[dtype][1])
        tensor = torch.tensor(array if dtype != "f16" else array.astype("f4"))
        target = f"rope?length={LENGTH}&dim={DIM}"
        yield f"rope, {dtype}", target, "query", array, dtype, rotary(tensor)
    x, scores = x.astype("f4"), scores.astype("f4")
    target = f"sinusoidal?length={LENGTH}&dim=256"
    yield "sinusoidal, f32", target, "x", x, "f32", sum_with(x, torch.randn(LENGTH, 256))
    target = "alibi?length=1024&query_length=2048&query_offset=0&heads=8"
    bias = torch.randn(8, 2048, 1024)
    yield "alibi, f32", target, "scores", scores, "f32", sum_with(scores, bias)


def main(program):
    torch.set_num_threads(1)
    server = Server(binary=program)
    connection = http.client.HTTPConnection(*server.address[:2], timeout=300)
    for what, target, name, array, dtype, other in cases():
        body, mine, theirs = body_of(name, array, dtype), [], []
        for _ in range(ROUNDS):
            mine.append(answer(connection, target, body))
            theirs.append(timed(other))
        size = array.size * (4 if dtype == "f16" else array.itemsize)
        print(
            f"{what}: {array.nbytes / statistics.median(mine) / 1e9:.2f} GB/s with the "
            f"transfer; torch {size / statistics.median(theirs) / 1e9:.2f}"
            f"{' (in float32)' if dtype == 'f16' else ''}",
            flush=True,
        )
    connection.close()
    server.stop()


if __name__ == "__main__":
    main(sys.argv[1])
