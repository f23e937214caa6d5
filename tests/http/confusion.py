"""What /v1/identify says of random requests' own tables, of all schemes, and of tables that
were spoilt. `make confusion` runs it:

    confusion.py SERVER [REQUESTS [CORRUPTIONS [SEED]]]

Every answer is checked. `exact` is wrong unless the request that is answered gives the table
bit for bit; `match` is wrong unless all entries are within the bound of the arithmetic that is
named, around the exact values of that request in float64. Both are wrong where another request
or value that is said to make the same table does not. Columns are compared in the order that is
answered. `near` and `unknown` claim nothing. Of tables of libraries after what happens to them
(transformations.py) the request is known: another one is wrong. The program fails if an answer
is wrong."""

import io
import random
import re
import sys
import time
from collections import Counter
from typing import NamedTuple
from urllib.parse import parse_qs

import numpy

from draws import PATIENT, Draw, Goal, Query, Scout, patient_wire
from forms import undone
from registry import query_of
from server import Server

DTYPES = ("f32", "f64", "f16", "bf16")
TYPES = {"f32": "<f4", "f64": "<f8", "f16": "<f2", "bf16": "<u2", "i32": "<i4"}
DIGITS = {"f32": 24, "f64": 53, "f16": 11, "bf16": 8, "tf32": 11}
LEAST = {"f32": -126, "f64": -1022, "f16": -14, "bf16": -126, "tf32": -126}
STATUSES = ("exact", "match", "near", "unknown", "wrong")
LARGEST = 1 << 20  # bytes of a table
STEPS = ("1", "1", "0.5", "2", "-1", "0.25", "3", "20")


class Table(NamedTuple):
    """Raw elements, and where they are from."""

    origin: str
    dtype: str
    shape: tuple
    body: bytes

    def bits(self):
        return numpy.frombuffer(self.body, TYPES[self.dtype]).reshape(self.shape)

    def as_said(self, said):
        """The same without its forms, as an answer says them."""
        bits = self.bits().squeeze()
        if said.get("forms"):
            bits = self.rounded(undone(self.values(), said)[0])
        return self.holding(bits, "what is left")

    def values(self):
        bits = self.bits()
        if self.dtype == "bf16":
            return (bits.astype("u4") << 16).view("f4").astype("f8")
        return bits.astype("f8")

    def holding(self, bits, how):
        """The same with other elements."""
        bits = numpy.ascontiguousarray(bits, TYPES[self.dtype])
        return Table(f"{how} of {self.origin}", self.dtype, bits.shape, bits.tobytes())

    def rounded(self, values):
        """Numbers as elements of this dtype."""
        if self.dtype != "bf16":
            return numpy.asarray(values, TYPES[self.dtype])
        wide = numpy.asarray(values, "f4").view("u4").astype("u8")
        return ((wide + 0x7FFF + (wide >> 16 & 1)) >> 16).astype("u2")


class Asker:
    def __init__(self, server):
        self.scout = Scout(server)
        self.wire = patient_wire(server)

    def done(self):
        self.wire.close()
        self.scout.wire.close()

    def get(self, target, most=16 * LARGEST):
        """The table of a target; None if it is refused or larger than that."""
        reply = self.scout.ask("HEAD", target + "&format=raw")
        if reply.status != 200 or int(reply.header("Content-Length") or 0) > most:
            return None
        reply = self.scout.ask("GET", target + "&format=raw")
        if reply.status != 200:
            return None
        shape = reply.header("Tensor-Shape")
        shape = tuple(int(extent) for extent in shape.split(", ")) if shape else ()
        return Table(target, reply.header("Tensor-Dtype"), shape, reply.body)

    def identify(self, table):
        extents = ",".join(str(extent) for extent in table.shape or (1,))
        self.wire.ask(
            "POST",
            f"/v1/identify?shape={extents}&dtype={table.dtype}",
            {"Content-Type": "application/octet-stream"},
            table.body,
        )
        reply = self.wire.receive("POST")
        assert reply.status == 200, (table.origin, reply)
        return reply.json()

    def identify_array(self, array):
        """The same of an array of numpy, whatever its dtype."""
        body = io.BytesIO()
        numpy.save(body, array)
        self.wire.ask(
            "POST", "/v1/identify", {"Content-Type": "application/x-npy"}, body.getvalue()
        )
        reply = self.wire.receive("POST")
        assert reply.status == 200, reply
        return reply.json()

    def status_of(self, table):
        """(what is said, what is wrong with that or None)."""
        said = self.identify(table)
        if said["status"] in ("near", "unknown"):
            return said["status"], None
        wrong = self.misses(table, said)
        return (
            "wrong" if wrong else said["status"]
        ), wrong and f"{said['status']} of {said['request']['url']}: {wrong}"

    def misses(self, table, said):
        """Why an answer does not hold; None if it does."""
        url = said["request"]["url"]
        made = self.get(url)
        if made is None:
            return "the request is refused"
        turned = table.as_said(said)
        bits, given = made.bits().squeeze(), turned.bits()
        if bits.shape != given.shape:
            return f"its shape is {bits.shape}, not {given.shape}"
        if said["status"] == "exact":
            same = (
                bits.tobytes() == given.tobytes()
                if made.dtype == table.dtype
                else (made.values().squeeze() == turned.values()).all()
            )
            if not same:
                others = (made.values().squeeze() != turned.values()).sum()
                return f"{others} entries have other bits"
        return self.unlike(said, made) or (
            said["status"] == "match" and self.beyond(table, said, url) or None
        )

    def unlike(self, said, made):
        """Which of the requests that are said to make the same table does not."""
        for request in said.get("same_table", ()):
            target = request["url"]
            other = self.get(target)
            if other is None or other.body != made.body or other.dtype != made.dtype:
                return f"{target} makes another table"
        return None

    def beyond(self, table, said, url):
        """Why entries are not what the arithmetic gives: its angles have a relative error of
        some units, and its results too."""
        wide = self.get(re.sub("&dtype=[^&]*", "", url) + "&dtype=f64").values().squeeze()
        dtype = said.get("values", table.dtype)  # what they were rounded to
        found = table.as_said(said).values()
        given = dict(pair.split("=") for pair in url.split("?")[1].split("&"))
        count = float(given.get("length", max(table.shape)))
        angle = (
            8 + abs(float(given.get("offset", 0))) + count * abs(float(given.get("step", 1)))
        )
        if "positions" in given:
            angle += max(abs(float(position)) for position in given["positions"].split(","))
        if said["arithmetic"] not in ("float32", "float64"):
            return f"a match in {said['arithmetic']}"
        in_float64 = said["arithmetic"] == "float64"
        bound = (3 * angle + 3) * 2.0**-52 if in_float64 else (4 * angle + 8) * 2.0**-23
        finite = numpy.isfinite(wide)
        if not numpy.array_equal(found[~finite], wide[~finite]):
            return "infinite entries differ"
        exponent = numpy.maximum(numpy.frexp(abs(found[finite]))[1] - 1, LEAST[dtype])
        rounding = (
            0
            if in_float64 and dtype == "f64"
            else numpy.ldexp(0.5, exponent + 1 - DIGITS[dtype])
        )
        most = rounding + bound * numpy.maximum(abs(wide[finite]), 1)
        error = abs(found[finite] - wide[finite])
        return None if (error <= most).all() else f"an entry is off by {error.max()}"


class Maker:
    """Random legal requests, by what /v1/schemes says of their parameters, each of which is the
    goal of a request in turn."""

    def __init__(self, generator, asker):
        self.random, self.asker = generator, asker
        self.draw = Draw(generator, asker.scout)
        self.schemes = [
            scheme for scheme in asker.scout.schemes if scheme.path.startswith("/v1/encodings/")
        ]
        self.turns = Counter()  # {path: requests so far}

    def goal(self, scheme):
        """The parameter whose turn it is; a set only where there is one."""
        rows = [
            row
            for row in scheme.rows
            if row != scheme.stored() or len(self.draw.bases[scheme.path]) > 1
        ]
        self.turns[scheme.path] += 1
        return rows[self.turns[scheme.path] % len(rows)]

    def window(self):
        """Positions from anywhere."""
        offset = self.random.choice((-1, 1, 1, 1)) * int(2 ** self.random.uniform(0, 20))
        return {"offset": str(offset), "step": self.random.choice(STEPS)}

    def query(self, scheme):
        query = self.draw.query(Goal(scheme, self.goal(scheme), None))
        given = {
            name: text
            for name, text in (query.given if query else {}).items()
            if name in scheme.rows
        }
        if (
            self.random.random() < 0.35
            and {"offset", "step"} <= set(scheme.rows)
            and "positions" not in given
        ):
            given |= self.window()
        if self.random.random() < 0.5:
            given["tensor"] = self.random.choice(scheme.more["tensor"]["choices"])
        given["dtype"] = self.random.choice(DTYPES)
        query = Query(scheme, given)
        if self.random.random() < 0.8 and self.asker.scout.accepts(query):
            self.draw.enlarge(query, 2 ** self.random.uniform(7, 16))
        return query

    def table(self, scheme):
        """The table of a random request of a scheme."""
        while True:
            table = self.asker.get(
                f"{scheme.path}?{query_of(self.query(scheme).given)}", LARGEST
            )
            if table:
                return table


# ---- spoilt tables ----


def by_an_ulp(table, generator):
    bits = table.bits().copy()
    place = generator.integers(bits.size)
    word = bits.reshape(-1).view(f"<i{bits.itemsize}")
    word[place] += 1 if word[place] & 0xFF < 0xFF else -1
    return bits


def by_a_row(table, generator):
    bits = table.bits().copy()
    row = generator.integers(len(bits))
    bits[row] = bits[row - 1]
    return bits


def by_halves(table, _):
    bits = table.bits()
    return numpy.roll(bits, bits.shape[-1] // 2, -1)


def by_an_offset(table, generator):
    return numpy.roll(table.bits(), int(generator.integers(1, 4)), 0)


def by_noise(table, generator):
    values = table.values()
    return table.rounded(
        values
        + numpy.nan_to_num(abs(values), posinf=0).max()
        * 2.0 ** -generator.integers(3, 12)
        * generator.normal(size=values.shape)
    )


def by_columns(table, generator):
    return table.bits()[..., generator.permutation(table.shape[-1])]


def by_scaling(table, generator):
    return table.rounded(table.values() * (1 + 2.0 ** -generator.integers(2, 9)))


def by_drawing(table, generator):
    return table.rounded(generator.normal(size=table.shape))


def by_training(table, generator):
    return table.rounded(0.02 * generator.normal(size=table.shape).cumsum(0))


SPOILT = {
    "one ulp": by_an_ulp,
    "one row": by_a_row,
    "halves": by_halves,
    "offset": by_an_offset,
    "noise": by_noise,
    "columns": by_columns,
    "scaled": by_scaling,
    "random": by_drawing,
    "learned": by_training,
}


def spoil(table, how, generator):
    """A spoilt table; None where it is as it was."""
    if table.dtype not in DIGITS or len(table.shape) < 1 or table.bits().size < 4:
        return None
    with numpy.errstate(all="ignore"):
        spoilt = table.holding(SPOILT[how](table, generator), how)
    return None if spoilt.body == table.body else spoilt


# ---- the run ----


class Confusion:
    """What was said of tables, by kind."""

    def __init__(self, schemes=()):
        self.schemes = schemes
        self.counts, self.wrong, self.slowest = {}, [], (0, "")
        self.parameters = {}  # {kind: {parameter that was given: Counter of statuses}}
        self.unknown = []

    def add(self, kind, asker, table, given=()):
        began = time.monotonic()
        status, wrong = asker.status_of(table)
        self.slowest = max(self.slowest, (time.monotonic() - began, table.origin))
        self.counts.setdefault(kind, Counter())[status] += 1
        for name in given:
            self.parameters.setdefault(kind, {}).setdefault(name, Counter())[status] += 1
        if status == "unknown":
            self.unknown.append(table.origin)
        if wrong:
            self.wrong.append(f"{table.origin}: {wrong}")

    def total(self, status):
        return sum(counts[status] for counts in self.counts.values())

    def lines_of_parameters(self):
        """What was said of the tables of requests that give a parameter, of all of them."""
        for scheme in self.schemes:
            kind = scheme.document["name"]
            yield kind
            for name in scheme.rows:
                counts = self.parameters.get(kind, {}).get(name, Counter())
                yield f"  {name:22}" + "".join(
                    f"{counts[status] or '-':>9}" for status in STATUSES
                )

    def lines(self):
        yield f"{'':24}" + "".join(f"{status:>9}" for status in STATUSES)
        for kind, counts in [
            *self.counts.items(),
            ("all", Counter({status: self.total(status) for status in STATUSES})),
        ]:
            yield f"{kind:24}" + "".join(f"{counts[status] or '-':>9}" for status in STATUSES)


def run(server, requests, corruptions, seed, libraries=()):
    """(of own tables, of spoilt ones). `libraries` are further tables to be spoilt, of
    numpy."""
    generator, numbers = random.Random(seed), numpy.random.default_rng(seed)
    asker = Asker(server)
    try:
        return run_with(asker, requests, corruptions, generator, numbers, libraries)
    finally:
        asker.done()


def run_with(asker, requests, corruptions, generator, numbers, libraries):
    maker = Maker(generator, asker)
    own, spoilt, known = Confusion(maker.schemes), Confusion(), []
    for i in range(requests):
        scheme = maker.schemes[i % len(maker.schemes)]
        table = maker.table(scheme)
        given = parse_qs(table.origin.split("?")[1])
        own.add(
            scheme.document["name"],
            asker,
            table,
            [name for name in given if name in scheme.rows],
        )
        if scheme.document["recognised"] and len(table.shape) > 0:
            known.append(table)
    known += [
        Table(name, f"f{8 * table.itemsize}", table.shape, table.tobytes())
        for name, table in libraries
    ]
    kinds, tries = list(SPOILT), 0
    while tries < corruptions:
        how = kinds[tries % len(kinds)]
        table = spoil(generator.choice(known), how, numbers)
        if table:
            spoilt.add(how, asker, table)
            tries += 1
    return own, spoilt


def of_libraries(asker, tables):
    """What is said of tables as libraries compute them: right where it holds and says what is
    known of them, (table, scheme, parts of the url)."""
    found = {}
    for name, (table, scheme, parts) in tables.items():
        said = asker.identify(
            Table(
                name,
                f"f{8 * table.itemsize}",
                table.shape,
                numpy.ascontiguousarray(table).tobytes(),
            )
        )
        request = said.get("request") or {"url": "", "scheme": "", "presets": []}
        own = request["url"].replace("?", "&").split("&")
        own += [f"preset={preset}" for preset in request["presets"]]
        claims = said["status"] in ("exact", "match")
        right = claims and request["scheme"] == scheme and set(parts) <= set(own)
        found[name] = "right" if right else "wrong" if claims else said["status"]
    return found


def main(program, requests=2000, corruptions=540, seed=1):
    import transformations
    from library_tables import LIBRARIES

    libraries = [
        (name, numpy.ascontiguousarray(table))
        for name, (table, *_) in LIBRARIES.items()
        if table.dtype.kind == "f"
    ]
    server = Server(*PATIENT, binary=program)
    try:
        asker = Asker(server)
        told = of_libraries(
            asker, {name: row for name, row in LIBRARIES.items() if row[0].dtype.kind == "f"}
        )
        moved, misnamed = transformations.run(asker.identify_array, 10, int(seed))
        paired, misnamed_pairs = transformations.run(
            asker.identify_array, 2, int(seed), transformations.PAIRS
        )
        asker.done()
        print(
            "tables of libraries",
            *(f"{status:>9} {name}" for name, status in told.items()),
            "",
            "transformed tables, by what happened to them",
            *transformations.lines(moved | paired),
            "",
            sep="\n",
            flush=True,
        )
        own, spoilt = run(server, int(requests), int(corruptions), int(seed), libraries)
    finally:
        server.stop()
    for title, confusion in (("own tables, by scheme", own), ("spoilt tables, by how", spoilt)):
        print(
            title,
            *confusion.lines(),
            f"the slowest answer: {confusion.slowest[0]:.2f} s, {confusion.slowest[1]}",
            "",
            sep="\n",
        )
    print("own tables, by scheme and parameter", *own.lines_of_parameters(), "", sep="\n")
    print("own tables that are not found", *own.unknown, "", sep="\n")
    wrong = [
        *own.wrong,
        *spoilt.wrong,
        *(claim for claim in misnamed + misnamed_pairs if claim[0] == "wrong"),
        *(name for name, status in told.items() if status == "wrong"),
    ]
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
