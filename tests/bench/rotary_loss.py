"""What rotary recipes in float32 and bfloat16 lose, against /v1/apply/rope: the table of
api/guides/questions.md.

rotary_loss.py SERVER_BINARY: print the median and the largest error of an element of a query
that is turned as models turn it, whose numbers are normal variables of variance 1, at the last
64 positions below each of POSITIONS."""

import contextlib
import io
import sys
from pathlib import Path

import numpy
import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "http"))

import server  # noqa: E402

POSITIONS = 4096, 131072, 1048576
ROWS, DIM = 64, 128


def recipe(query, positions):
    """As models in transformers turn a query: angles in float32, sines and cosines in the
    query's dtype."""
    frequencies = 1.0 / 10000 ** (torch.arange(0, DIM, 2, dtype=torch.int64).float() / DIM)
    angles = positions.float()[:, None] * frequencies[None]
    angles = torch.cat((angles, angles), -1)
    cosines, sines = angles.cos().to(query.dtype), angles.sin().to(query.dtype)
    one, other = query.chunk(2, -1)
    return query * cosines + torch.cat((-other, one), -1) * sines


def exact(running, query, first):
    """The exact result for the query's numbers, in float64."""
    body = io.BytesIO()
    numpy.save(body, query.double().numpy())
    reply = running.request(
        "POST",
        f"/v1/apply/rope?length={ROWS}&offset={first}&dim={DIM}",
        {"Content-Type": "application/x-npy"},
        body.getvalue(),
    )
    assert reply.status == 200, reply
    return numpy.load(io.BytesIO(reply.body))


@contextlib.contextmanager
def started(binary):
    running = server.Server(binary=binary)
    try:
        yield running
    finally:
        running.stop()


def main():
    generator = torch.Generator().manual_seed(0)
    print(
        "| positions up to | float32: median | largest | bfloat16: median | largest |\n"
        "|---|---|---|---|---|"
    )
    with started(sys.argv[1]) as running:
        for position in POSITIONS:
            first = position - ROWS
            row = [f"{position:,}"]
            for dtype in (torch.float32, torch.bfloat16):
                query = torch.randn(32, ROWS, DIM, generator=generator).to(dtype)
                turned = recipe(query, torch.arange(first, position))
                error = numpy.abs(turned.double().numpy() - exact(running, query, first))
                row += [f"{numpy.median(error):.0e}", f"{error.max():.0e}"]
            print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
