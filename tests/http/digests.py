"""Digests of what releases promise to keep: of 2,000 random requests over all schemes, dtypes
and formats, in tests/golden/digests.txt. `make digests` writes those of schemes that are new
or whose revision has risen, and nothing else:

    digests.py PROGRAM [FILE]

A scheme begins with a line `NAME REVISION`; a line below has a digest and a query. Of a JSON
document and a safetensors file it is that of the tensors, of a picture that of its pixels."""

import hashlib
import itertools
import json
import random
import re
import sys
from pathlib import Path

from draws import PATIENT, Draw, Query, Scout
from png import read_png
from server import Server

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "tests" / "golden" / "digests.txt"
TOTAL = 2000
LARGEST = 1 << 14  # bytes of a request's tensors
TENSOR = ("name", "dtype", "shape", "data")
SEED = 1


def kept(form, body):
    """The bytes of an answer that stay the same as long as the scheme's revision does."""
    if form == "json":
        tensors = json.loads(body)["tensors"]
        return json.dumps([[each[key] for key in TENSOR] for each in tensors]).encode()
    if form == "safetensors":
        end = 8 + int.from_bytes(body[:8], "little")
        head = json.loads(body[8:end])
        head.pop("__metadata__", None)
        return json.dumps(head, sort_keys=True).encode() + body[end:]
    if form == "png":
        rows, palette, *_ = read_png(body)
        return b"".join(rows) + bytes(itertools.chain(*palette))
    return body


def digest(reply, query):
    """Of an answer; of one that refuses, its status."""
    if reply.status != 200:
        return str(reply.status)
    form = re.search(r"(?:^|&)format=(\w+)", query)[1]
    return hashlib.sha256(kept(form, reply.body)).hexdigest()[:32]


def read(path=FILE):
    """{scheme: (revision, {query: digest})}."""
    schemes = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        first, second = line.split(" ")
        if second.isdigit():
            queries = {}
            schemes[first] = (int(second), queries)
        else:
            queries[second] = first
    return schemes


def text_of(schemes):
    return "".join(
        f"{name} {revision}\n" + "".join(f"{each} {query}\n" for query, each in queries.items())
        for name, (revision, queries) in sorted(schemes.items())
    )


def is_told(name, revision, changelog):
    """Whether a line of the changelog names the scheme and its revision."""
    entries = re.split(r"\n(?=- )", changelog)
    return any(
        f"`{name}`" in part and f"revision {revision}" in part
        for entry in entries
        for part in entry.split(";")
    )


def draw_queries(draw, scheme, count):
    """Queries of a scheme that are answered, in every dtype and format that it takes."""
    forms = [form["name"] for form in draw.scout.info["formats"]]
    combinations = itertools.cycle(itertools.product(scheme.row("dtype")["choices"], forms))
    goals = [goal for goal in draw.goals() if goal.scheme is scheme and goal.name != "format"]
    goals = [goal for goal in goals if goal.name not in scheme.takers]
    queries = {}
    while len(queries) < count:
        dtype, form = next(combinations)
        drawn = draw.query(draw.random.choice(goals))
        if drawn is None or scheme.stored() in drawn.given:
            continue
        given = {
            name: text
            for name, text in drawn.given.items()
            if form in scheme.takers.get(name, (form,))
        }
        if form in scheme.takers["slice"] and draw.random.random() < 0.5:
            given["slice"] = draw.random.choice(("0", "0,0"))
        query = Query(scheme, {**given, "dtype": dtype, "format": form})
        if (draw.scout.size(query) or LARGEST + 1) <= LARGEST and draw.scout.accepts(query):
            queries[query.target().partition("?")[2]] = None
    return queries


def write(program, path):
    server = Server(*PATIENT, binary=program)
    try:
        draw = Draw(random.Random(SEED), Scout(server))
        schemes, known = {}, read(path)
        each = -(-TOTAL // len(draw.scout.documents))
        for scheme in draw.scout.schemes:
            if not scheme.path.startswith("/v1/encodings/"):
                continue
            name, revision = scheme.document["name"], scheme.document["revision"]
            if name in known and known[name][0] == revision:
                schemes[name] = known[name]
                continue
            queries = draw_queries(draw, scheme, each)
            for query in queries:
                reply = draw.scout.ask("GET", f"{scheme.path}?{query}")
                queries[query] = digest(reply, query)
            schemes[name] = (revision, queries)
            print(f"digests: {name}, revision {revision}: {len(queries)} requests", flush=True)
        path.write_text(text_of(schemes), encoding="utf-8")
    finally:
        server.stop()


if __name__ == "__main__":
    write(sys.argv[1], Path(sys.argv[2]) if len(sys.argv) > 2 else FILE)
