"""What /v1/identify says of tables as public code makes them (strange_tables.py), after what
happens to such tables (strange_forms.py). `make strangers` runs it:

    strangers.py [--server PROGRAM or URL] [--seed 1] [--count 500] [--seconds 900] [--only i,j]

Each answer is judged by making the table again: its request as float64, and the answer's forms.
right: the request is the law, in no more digits than the law has, and under its name, which
may stand in same_table. other: the law with more digits, forms or another name, or a request
that fits as well as is said. wrong: a request that is not the law, and does not fit or fits but
for misfits or noise that the table does not have. Beside that each sentence is checked
(claims.py), and what a status promises. `--only` asks for single tables again, and prints
all of the answer."""

import argparse
import io
import json
import re
import time
import urllib.parse
import urllib.request
from collections import Counter
from pathlib import Path

import numpy

from claims import check
from forms import made_again
from server import Server
from strange_forms import JOINED, Made, bf16, go_through, wide
from strange_tables import LAWS, NOTHING

VERDICTS = ("right", "other", "wrong", "unknown")
# what a request must say whatever its law is
SIZES = set(
    "length offset dim height width depth sizes heads query_length query_offset text grids "
    "dtype tensor table prefix suffix extra_tokens bands first_head heads_total".split()
)
FILLED = {"masked finfo.min", "masked -10000", "-10000 added", "keys padded"}
UNTOLD = {"other_rows", "masked_keys"}  # which have numbers that are not told
TYPES = {"f32": "<f4", "f64": "<f8", "f16": "<f2", "bf16": "<u2", "i32": "<i4"}
DIGITS = {"f32": 24, "f64": 53, "f16": 11, "bf16": 8, "tf32": 11}
LEAST = {"f32": -126, "f64": -1022, "f16": -14, "bf16": -126, "tf32": -126}


class Stranger:
    """The table number `index` of a seed."""

    def __init__(self, seed, index):
        names = list(LAWS)
        self.kind, self.index = names[index % len(names)], index
        own = [seed, index]
        draw = numpy.random.default_rng([*own, 0])
        T = numpy.float64 if draw.random() < 0.3 else numpy.float32
        exact, sent = (
            LAWS[self.kind](numpy.random.default_rng([*own, 1]), each)
            for each in (numpy.float64, T)
        )
        self.made = Made(exact.tensors, [each.astype(T) for each in sent.tensors], exact, T)
        with numpy.errstate(over="ignore"):  # of a mask of the least number
            go_through(self.made, draw, int(draw.choice(4, p=(0.2, 0.4, 0.25, 0.15))))
            self.dtype, self.sent = self.stored(draw)
        self.forms, self.law = self.made.names, exact
        self.exact, self.known = self.made.exact[0], self.made.known[0]

    def stored(self, draw):
        """(name of the dtype, the table as it is sent)."""
        (table,) = self.made.sent
        if self.made.complex:
            table = table[..., 0] + 1j * table[..., 1]
            single = draw.random() < 0.7 or self.made.type is numpy.float32
            return "complex", table.astype("c8" if single else "c16")
        names = ["f32"] * 6 + ["bf16", "f16"] + ["f64"] * 4 * (self.made.type is numpy.float64)
        name = "f32" if self.made.stored else names[int(draw.integers(len(names)))]
        return name, bf16(table) if name == "bf16" else table.astype(TYPES[name])

    def values(self):
        """What was sent, as float64; a complex table has two numbers along its last axis."""
        if self.dtype == "complex":
            return numpy.stack([self.sent.real, self.sent.imag], -1).astype("f8")
        return (wide(self.sent) if self.dtype == "bf16" else self.sent).astype("f8")

    def unsure(self):
        """How far off, of the largest entry, a number that was estimated may make entries."""
        unit = {"bf16": 2.0**-9, "f16": 2.0**-12}.get(self.dtype, 0)
        told = max(0.05, 4 / numpy.sqrt(self.sent.size))  # by least squares
        return max(1e-8, 0.05 * unit, told * self.made.noise)


class Asker:
    """A server's answers, and the processor time that they take."""

    def __init__(self, url, pid=None):
        self.url, self.pid = url.rstrip("/"), pid

    def open(self, target, body=None, media_type=None):
        fields = {"Content-Type": media_type} if media_type else {}
        request = urllib.request.Request(self.url + target, body, fields)
        with urllib.request.urlopen(request, timeout=600) as reply:
            return reply.headers, reply.read()

    def identify(self, stranger):
        if stranger.dtype == "bf16":
            shape = ",".join(str(extent) for extent in stranger.sent.shape)
            target = f"/v1/identify?dtype=bf16&shape={shape}"
            body = numpy.ascontiguousarray(stranger.sent).tobytes()
            return json.loads(self.open(target, body, "application/octet-stream")[1])
        file = io.BytesIO()
        numpy.save(file, stranger.sent)
        return json.loads(self.open("/v1/identify", file.getvalue(), "application/x-npy")[1])

    def table(self, url, dtype=None):
        """The table of a request, as float64."""
        if dtype:
            url = re.sub("&dtype=[^&]*", "", url) + f"&dtype={dtype}"
        fields, body = self.open(f"{url}&format=raw")
        raw = numpy.frombuffer(body, TYPES[fields["Tensor-Dtype"]])
        shape = [int(extent) for extent in fields["Tensor-Shape"].split(",") if extent.strip()]
        return (wide(raw) if raw.dtype == "u2" else raw).astype("f8").reshape(shape)

    def fetch(self, target):
        """The array of a target, of which the format is part."""
        body = self.open(target)[1]
        if "format=raw" in target:
            return numpy.frombuffer(body, "u2")
        return numpy.load(io.BytesIO(body))

    def processor_seconds(self):
        """What the server's threads have used of the processors."""
        if not self.pid:
            return time.monotonic()
        threads = Path(f"/proc/{self.pid}/task").glob("*/schedstat")
        return sum(int(each.read_text().split()[0]) for each in threads) / 1e9


# ---- making a table again ----


def query_of(url):
    return dict(urllib.parse.parse_qsl(url.split("?")[1]))


def tensors_of(said, asker):
    """The exact tensors of an answer, in float64: one, two, or the angles."""
    url = said["request"]["url"]
    if any(form["kind"] == "angles" for form in said["forms"]):
        return [angles_of(url, asker)]
    second = said.get("second")
    urls = [url] + ([second["url"]] if second else [])
    return [asker.table(each, "f64") for each in urls]


def made_as_sent(stranger, said, tensors):
    """The table made again; a mask in place of entries, or added to them."""
    made = made_again(tensors, said, stranger.exact.shape)
    if not any(form["kind"] == "masked" for form in said["forms"]) or is_law(stranger, made):
        return made
    added = [{**form, "added": True} for form in said["forms"]]
    other = made_again(tensors, {**said, "forms": added}, stranger.exact.shape)
    return other if is_law(stranger, other) else made


def angles_of(url, asker):
    given = query_of(url)
    if "positions" in given:
        at = numpy.array([float(each) for each in given["positions"].split(",")])
    else:
        at = float(given.get("offset", 0)) + float(given.get("step", 1)) * numpy.arange(
            int(given["length"])
        )
    own = re.sub("tensor=[^&]*", "tensor=inv_freq", url)
    angles = at[:, None] * asker.table(own, "f64")
    if given.get("table") == "full":
        twice = given.get("layout") == "interleaved"
        return numpy.repeat(angles, 2, 1) if twice else numpy.concatenate([angles] * 2, 1)
    return angles


def digits_of(text):
    """Significant digits of a number, 0 of a word."""
    try:
        float(text)
    except ValueError:
        return 0
    digits = re.sub("[eE].*", "", text).replace(".", "").strip("-+0")
    return min(len(digits), 9)


def price_of(url):
    return sum(
        digits_of(number)
        for name, text in query_of(url).items()
        if name not in SIZES
        for number in text.split(",")
    )


def digits_of_answer(said):
    """Of the numbers that a request and its forms have beside the sizes; noise is measured."""
    numbers = [
        value
        for form in said["forms"]
        for name, value in form.items()
        if form["kind"] != "noise"
        if isinstance(value, float) or (name == "value" and isinstance(value, int))
    ]
    return price_of(said["request"]["url"]) + sum(digits_of(f"{each:.7g}") for each in numbers)


def digits_of_law(stranger):
    law = stranger.law
    own = price_of(f"?{law.query}") if law.query else law.digits or 0
    rounded = stranger.unsure() > 1e-8  # the best factor has all digits
    factors = sum(7 if rounded else digits_of(f"{each:.7g}") for each in stranger.made.factors)
    decimals = "decimals" in stranger.forms  # how many there are
    return own + factors + decimals + 7 * len(FILLED & set(stranger.forms))


# ---- the verdict ----


def bound_of(said, stranger, made):
    """How far off an entry may be by what is said of its arithmetic."""
    given = query_of(said["request"]["url"])
    positions = [float(each) for each in given.get("positions", "0").split(",") if each]
    count = float(given.get("length", 1024)) * abs(float(given.get("step", 1)))
    angle = max(abs(float(given.get("offset", 0))) + count, *map(abs, positions), 8)
    angle /= min(1.0, float(given.get("base", 1)))  # frequencies rise by a base below 1
    size = numpy.maximum(abs(made), abs(made[numpy.isfinite(made)]).max(initial=0))
    exponent = numpy.maximum(numpy.frexp(abs(made))[1] - 1, LEAST[said["values"]])
    unit = numpy.ldexp(1.0, exponent + 1 - DIGITS[said["values"]])
    if said["status"] == "exact":
        return (2 if said["forms"] else 0.5000001) * unit
    in_float64 = said["arithmetic"] == "float64"
    return unit + (4 * angle + 8) * (2.0**-52 if in_float64 else 2.0**-23) * size


def noise_of(said):
    """Of the table; that of an answer is of what is left without a factor."""
    factors = [abs(form["value"]) for form in said["forms"] if form["kind"] == "factor"]
    return said["noise"] * float(numpy.prod(factors))


def holds(said, stranger, made):
    """Why a table that was made again is not the one that was sent, as is said; else None."""
    values = stranger.values()
    with numpy.errstate(invalid="ignore"):
        off = numpy.where(made == values, 0, abs(made - values))
    untold = any(form["kind"] in UNTOLD for form in said["forms"])
    off = numpy.where(numpy.isnan(off), 0 if untold else numpy.inf, off)
    finite = off[numpy.isfinite(off)]
    if "noise" in said:
        most = float(numpy.sqrt((finite**2).mean()))
        return None if most <= 2 * noise_of(said) else f"it is {most:.2g} off, not by noise"
    beyond = int((off > bound_of(said, stranger, made)).sum())
    times = -(-values.size // max(1, said["against_exact"]["entries"]))
    misfits = said["misfits"] + said.get("second", {}).get("misfits", 0)
    if beyond > times * misfits:
        return f"{beyond} entries are off, by {off.max():.2g}; misfits {misfits}"
    return None


class Verdict:
    def __init__(self, kind, why="", untrue_claims=()):
        self.kind, self.why, self.untrue = kind, why, list(untrue_claims)


def is_law(stranger, made):
    """Whether a table is the exact one, or has the very number that was sent, as a mask."""
    known = stranger.known & ~numpy.isnan(made)
    exact = numpy.where(known, stranger.exact, 0)
    made = numpy.where(known, made, 0)
    with numpy.errstate(invalid="ignore"):
        same = (made == exact) | (made == stranger.values())
        off = numpy.where(same, 0, abs(made - exact))
    most = abs(exact[numpy.isfinite(exact)]).max(initial=0)
    return bool((off <= stranger.unsure() * most).all())


def named(stranger, said):
    schemes = {said["request"]["scheme"], *(same["scheme"] for same in said["same_table"])}
    return stranger.law.scheme is None or stranger.law.scheme in schemes


def judge(stranger, said, asker):
    if said["status"] == "unknown":
        own = untrue(stranger, said, asker)
        right = stranger.kind in NOTHING
        return Verdict(
            "right" if right else "unknown",
            said.get("reason", {}).get("kind", "no reason"),
            own,
        )
    if stranger.kind in NOTHING:
        return Verdict("wrong", "there is no law")
    try:
        made = made_as_sent(stranger, said, tensors_of(said, asker))
    except (ValueError, KeyError, IndexError) as problem:
        return Verdict("wrong", f"cannot be made again: {problem!r}")
    broken, law = holds(said, stranger, made), is_law(stranger, made)
    claims = untrue(stranger, said, asker)
    if broken:
        claims.append(f"{said['status']}: {broken}")
    return Verdict(*verdict_of(stranger, said, law, broken), claims)


def verdict_of(stranger, said, law, broken):
    more = digits_of_answer(said) - digits_of_law(stranger)
    reasons = [f"{more} more digits"] if more > 0 else []
    if "columns" in said and stranger.made.ordered:
        reasons.append("columns in another order")
    if not named(stranger, said):
        reasons.append(f"the name {said['request']['scheme']}")
    if law:
        return ("other", ", ".join(reasons)) if reasons else ("right", "")
    if broken:
        return "wrong", broken
    if "noise" in said:
        return "wrong", f"another law but for noise {said['noise']:.2g}"
    if said["misfits"] > stranger.made.spoilt + stranger.made.filled:
        return "wrong", f"another law but for {said['misfits']} misfits"
    if said["misfits"] > stranger.made.spoilt:
        reasons.append("a form told as misfits")
    if said["values"] == "f64" and said["arithmetic"] == "like_float32":
        reasons.append("float64 judged by float32")
        return "wrong" if more > 0 else "other", ", ".join(reasons)
    return ("other", "fits; " + ", ".join(reasons)) if reasons else ("right", "undecided")


def untrue(stranger, said, asker):
    """The sentences of an answer that do not hold."""
    sent = wide(stranger.sent) if stranger.dtype == "bf16" else stranger.sent
    return check(said, sent, asker.fetch)


# ---- the run ----


def lines(counts):
    yield f"{'':26}" + "".join(f"{verdict:>9}" for verdict in VERDICTS)
    for name, own in [*counts.items()]:
        yield f"{name:26}" + "".join(f"{own[verdict] or '-':>9}" for verdict in VERDICTS)


def report(stranger, said, verdict):
    through = ", ".join(stranger.forms) or "as it is"
    return (
        f"{stranger.index}: {stranger.kind}; {through}; {stranger.dtype} "
        f"{list(stranger.sent.shape)}: {verdict.why}; {said['summary'][:300]}"
    )


def run(asker, seed, indices, seconds):
    kinds, forms, alone, depths, prices = {}, {}, {}, {}, []
    listed = {"wrong": [], "other": [], "unknown": [], "untrue": []}
    began = time.monotonic()
    for index in indices:
        if time.monotonic() - began > seconds:
            break
        stranger = Stranger(seed, index)
        before = asker.processor_seconds()
        said = asker.identify(stranger)
        prices.append((asker.processor_seconds() - before, index))
        verdict = judge(stranger, said, asker)
        kinds.setdefault(stranger.kind, Counter())[verdict.kind] += 1
        depths.setdefault(f"{len(stranger.forms)} forms", Counter())[verdict.kind] += 1
        own = [name for name in stranger.forms if name not in JOINED] or ["none"]
        if len(own) == 1:
            alone.setdefault(own[0], Counter())[verdict.kind] += 1
        for form in stranger.forms or ["none"]:
            forms.setdefault(form, Counter())[verdict.kind] += 1
        if verdict.kind in listed:
            listed[verdict.kind].append(report(stranger, said, verdict))
        through = f"{index}: {stranger.kind}; {', '.join(stranger.forms)}"
        listed["untrue"] += [f"{through}: {claim}" for claim in verdict.untrue]
    return kinds, forms, alone, depths, prices, listed


def print_all(kinds, forms, alone, depths, prices, listed):
    total = {"all": sum(kinds.values(), Counter())}
    tables = {"law": kinds, "form": forms, "that form alone": alone, "": depths | total}
    for title, counts in tables.items():
        print(title, *lines(dict(sorted(counts.items()))), "", sep="\n")
    for name, texts in listed.items():
        print(f"{name}: {len(texts)}", *texts, "", sep="\n")
    costs = [cost for cost, _ in sorted(prices)]
    print(
        f"processor seconds: median {costs[len(costs) // 2]:.3f}, all {sum(costs):.0f}, most:",
        *(f"{cost:.2f} (table {index})" for cost, index in sorted(prices)[:-4:-1]),
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", default="build/posenc-server")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=900)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    print(f"seed {given.seed}")
    own = None
    if not given.server.startswith("http"):
        own = Server("--idle-seconds", "3600", "--compute-seconds", "600", binary=given.server)
    asker = Asker(own.url if own else given.server, own and own.pid)
    try:
        if given.only:
            for index in map(int, given.only.split(",")):
                stranger = Stranger(given.seed, index)
                said = asker.identify(stranger)
                verdict = judge(stranger, said, asker)
                print(json.dumps(said, indent=1), verdict.kind, *verdict.untrue, sep="\n")
                print(report(stranger, said, verdict))
        else:
            print_all(*run(asker, given.seed, range(given.count), given.seconds))
    finally:
        if own:
            own.stop()


if __name__ == "__main__":
    main()
