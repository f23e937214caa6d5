"""Checking what /v1/identify says of a table, sentence by sentence, with numpy alone.

`check(said, table, fetch)` takes an answer, the table that was sent and a function that gets
the array of a target; it returns the sentences that do not hold. A text that is no known
sentence is one of them: what is not checked may not be said.
"""

import json
import re
import urllib.parse

import numpy

from forms import undone
from strange_forms import bf16, wide

NUMBER = r"(-?(?:[\d.]+(?:e[-+]?\d+)?|inf|Infinity))"
FAR = 0.1
VALUES = {"bfloat16": 16, "TF32": 13}  # low bits of a float32 that are 0


def rows_of(table):
    """Lines along the last axis, as doubles."""
    squeezed = table.squeeze().astype("f8")
    return squeezed.reshape(-1, squeezed.shape[-1]) if squeezed.ndim else squeezed.reshape(1, 1)


def near(said, found, digits=2):
    """Whether a number of so many digits was printed of another one."""
    return abs(float(said) - found) <= 0.6 * 10 ** (1 - digits) * abs(found) + 1e-300


# ---- what is said of a table that no request was found for ----


def is_constant(table, rows, value):
    want = table.dtype.type(float(value))
    return bool((table == want).all())


def has_few_rows(table, rows, count):
    return len(rows_of(table)) == int(count) < 4


def is_not_finite(table, rows, bad, entries, place):
    finite = numpy.isfinite(rows)
    if (~finite).sum() != int(bad) or rows.size != int(entries):
        return False
    return numpy.argwhere(~numpy.isfinite(table))[0].tolist() == json.loads(place)


def has_diagonals(table, rows, first, second):
    moved = numpy.moveaxis(table, (int(first), int(second)), (0, 1))
    tied = (moved[1:, 1:] == moved[:-1, :-1]).all()
    return bool(tied and (moved[1:] != moved[:-1]).any() and min(moved.shape[:2]) >= 4)


def measure_waves(columns, frequencies):
    """What waves of each frequency about a constant leave of columns: sums of squares, but for
    the largest ones, an eighth of them."""
    at, kept = numpy.arange(len(columns)), len(columns) - len(columns) // 8
    left = []
    for frequency in frequencies:
        basis = numpy.stack([at**0, numpy.cos(frequency * at), numpy.sin(frequency * at)], 1)
        basis = numpy.linalg.qr(basis.astype("f8"))[0]
        squares = (columns - basis @ (basis.T @ columns)) ** 2
        left.append(numpy.sort(squares, 0)[:kept].sum(0))
    return numpy.array(left)


def is_wave(column, tried, best):
    """Whether a wave of a frequency beside the best one meets 7 of 8 numbers within 1 %."""
    for _ in range(8):
        low, high = tried[max(best - 1, 0)], tried[min(best + 1, len(tried) - 1)]
        tried = numpy.linspace(low, high, 9)
        best = measure_waves(column[:, None], tried)[:, 0].argmin()
    at, frequency, kept = numpy.arange(len(column)), tried[4], numpy.isfinite(column)
    for _ in range(9):  # numbers far off do not count, for the frequency neither
        cosine, sine = numpy.cos(frequency * at), numpy.sin(frequency * at)
        basis = numpy.stack([at**0.0, cosine, sine], 1)
        parts = numpy.linalg.lstsq(basis[kept], column[kept], rcond=None)[0]
        left = abs(column - basis @ parts)
        kept = left <= numpy.quantile(left, 7 / 8)
        bends = numpy.column_stack([basis, at * (parts[2] * cosine - parts[1] * sine)])
        rest = (column - basis @ parts)[kept]
        frequency += numpy.linalg.lstsq(bends[kept], rest, rcond=None)[0][3]
    far = left > 0.015 * numpy.hypot(*parts[1:])
    return far.mean() <= 1 / 8


def has_waves(table, rows, count, columns, lowest, highest=None):
    """Of wide tables some columns are looked at."""
    tried = numpy.geomspace(float(lowest) * 0.97, float(highest or lowest) * 1.03, 600)
    if int(columns) != rows.shape[1] or int(count) > rows.shape[1]:
        return False
    step = -(-rows.shape[1] // 48)
    looked = rows[:512, ::step].astype("f8")
    bests = measure_waves(looked, tried).argmin(0)
    found = [is_wave(column, tried, best) for column, best in zip(looked.T, bests)]
    return sum(found) >= 0.8 * int(count) / step - 1


def are_different(lines, count, total):
    return len(lines) == int(total) and len(numpy.unique(lines, axis=0)) == int(count)


def is_smooth(table, rows, correlation):
    moved = rows - rows.mean(0)
    one, other = moved[1:], moved[:-1]
    found = (one * other).sum() / numpy.sqrt((one**2).sum() * (other**2).sum())
    return abs(found - float(correlation)) < 0.006 and found > 0.69


def looks_random(table, rows, mean, deviation):
    if not near(deviation, rows.std()) or abs(float(mean) - rows.mean()) > 0.1 * rows.std():
        return False
    # rows of few numbers may be there twice by chance, as points of a circle
    if rows.shape[1] >= 4 and len(numpy.unique(rows, axis=0)) < len(rows):
        return False
    moved = rows - rows.mean()
    for lines in (moved, moved.T):
        for lag in range(1, min(9, len(lines) - 1)):
            products = lines[lag:] * lines[:-lag]
            if abs(products.sum()) > 5 * numpy.sqrt((products**2).sum()):
                return False
            within = products.sum(0) ** 2 / numpy.maximum((products**2).sum(0), 1e-300)
            if within.mean() > 1 + 4 * numpy.sqrt(10 / len(within)) + 30 / len(within) + 1:
                return False
    return True


def may_be_trained(table, rows):
    numbers = rows[numpy.isfinite(rows)]
    return bool(
        table.dtype.kind in "fc" and len(rows) >= 4 and (numbers != numpy.rint(numbers)).any()
    )


SENTENCES = [
    (r"No request was found that makes this table(?: in the time there was)?\.", None),
    (rf"all entries are {NUMBER}\.", is_constant),
    (r"it has (\d+) rows?, as many requests make: send at least four\.", has_few_rows),
    (
        r"(\d+) of (\d+) entries (?:is|are) not finite, the first one at (\[[\d,]+\])\.",
        is_not_finite,
    ),
    (r"diagonals of axes (\d+) and (\d+) are constant\.", has_diagonals),
    (
        rf"(\d+) of (\d+) columns (?:is a wave|are waves) of {NUMBER}"
        rf"(?: to {NUMBER})? radians a row\.",
        has_waves,
    ),
    (
        r"the (\d+) rows are copies of (\d+) different ones\.",
        lambda t, r, *n: are_different(r, *n[::-1]),
    ),
    (r"all (\d+) rows are equal\.", lambda t, r, n: are_different(r, 1, n)),
    (
        r"the (\d+) columns are copies of (\d+) different ones\.",
        lambda t, r, *n: are_different(r.T, *n[::-1]),
    ),
    (r"all (\d+) columns are equal\.", lambda t, r, n: are_different(r.T, 1, n)),
    (rf"neighbouring rows have the correlation {NUMBER}\.", is_smooth),
    (rf"it looks random, with mean {NUMBER} and deviation {NUMBER}\.", looks_random),
    (
        r"If it was drawn or trained, store what it was made of and ask with set=NAME\.",
        may_be_trained,
    ),
]


def check_sentence(text, table):
    """The length of the sentence that a text begins with, and whether it holds."""
    first = re.match(r"In the first (\d+) rows ", text)
    begin = first.end() if first else 0
    rows = rows_of(table)[: int(first[1]) if first else None]
    part = table
    if first and table.ndim == 2:
        part = table[: int(first[1])]
    for pattern, holds in SENTENCES:
        found = re.compile(pattern, re.IGNORECASE).match(text, begin)
        if found:
            with numpy.errstate(all="ignore"):
                return found.end(), holds is None or bool(holds(part, rows, *found.groups()))
    return len(text), False


def check_sentences(text, table):
    wrong = []
    text = text.strip()
    while text:
        length, holds = check_sentence(text, table)
        if not holds:
            wrong.append(text[:length])
        text = text[length:].strip()
    return wrong


# ---- what is said of a request ----

PLACES = r"[^;]*"
FOUND = re.compile(
    r"This is (?P<nearly>nearly )?(?P<tensor>\S+)(?: and (?P<second>\S+))? of (?P<scheme>\S+)"
    r" with (?P<query>.*?)(?: \((?P<as>as|the law of) preset (?P<preset>\S+)\))?"
    r"(?:, and \S+ of \S+ with (?P<apart>.*?))?"
    r"(?P<transposed>, transposed)?(?P<columns>, with its columns in another order)?"
    r"(?P<arithmetic>, bit for bit|, computed in float64 and rounded once|, computed in float32"
    r"|, as near as float32 arithmetic brings it)?"
    r"(?: \((?P<computation>[^()]*)\): entries are off by more than 0\.1, first in row"
    r" (?P<first_off>\d+))?"
    r"(?P<forms>(?:; (?:[^;.]|\.\d)*?)*?)"
    rf"(?:, but for noise of (?P<noise>{NUMBER}) \(root mean square\))?"
    rf"(?:; the largest error against the exact table is (?P<error>{NUMBER}), at"
    r" \[(?P<at>[\d, ]*)\])?"
    r"(?:; (?P<differing>\d+) of (?P<entries>\d+) entries differ from it)?"
    rf"(?:; (?P<misfits>\d+) entr(?:y|ies) do(?:es)? not fit(?P<places>: {PLACES})?)?"
    r"(?:; (?P<others>\d+) entr(?:y|ies) of (?P<whose>\S+) do(?:es)? not fit)?"
    r"(?P<chosen>; a number of it was chosen to fit, as one can be for other tables)?"
    r"(?:; (?P<values>\w+) values(?:, but for (?P<longer>\d+),)? in a (?P<file>\w+) file)?\.$"
)


def read_exact(url, fetch):
    """The exact tensor as doubles, and as it is rounded to the request's dtype."""
    base, dtype = (url.split("&dtype=") + ["f32"])[:2]
    wide = fetch(base + "&dtype=f64&format=npy").squeeze()
    if wide.dtype.kind in "iu":
        return wide, wide
    if dtype == "bf16":
        bits = fetch(base + "&dtype=bf16&format=raw")[: wide.size].astype("u4") << 16
        return wide, bits.view("f4").reshape(wide.shape).astype("f8")
    return wide, fetch(f"{base}&dtype={dtype}&format=npy").astype("f8").squeeze()


def has_values(table, name, longer):
    """Whether all numbers but some are of a shorter format."""
    numbers = numpy.asarray(table)
    if numbers.dtype.kind == "c":
        numbers = numpy.stack([numbers.real, numbers.imag], -1)
    if name == "float16":
        same = (numbers.astype("f2") == numbers) | numpy.isnan(numbers)
        return (~same).sum() == longer
    narrow = numpy.ascontiguousarray(numbers, "f4")
    low = (1 << VALUES.get(name, 0)) - 1
    far = (narrow != numbers) | (narrow.view("u4") & low != 0)
    return (far & numpy.isfinite(narrow)).sum() == longer


def is_noise(left):
    """Whether numbers are as strong everywhere, and independent of the row before."""
    whole = (left**2).mean()
    for axis in range(2):
        means = (left**2).mean(axis)
        if left.shape[axis] >= 32 and not (
            means.max() <= 3.01 * whole and means.min() >= whole / 3.01
        ):
            return False
    products = left[1:] * left[:-1]
    return abs(products.sum()) <= 4.01 * numpy.sqrt((products**2).sum())


def check_places(places, left, exact):
    """Whether rows, columns and entries that are said not to fit differ; zeros are zeros."""
    differ = (left != exact) & ~(numpy.isnan(left) & numpy.isnan(exact))
    lines = differ.reshape(-1, differ.shape[-1]) if differ.ndim else differ.reshape(1, 1)
    row, column, entry = (
        re.search(pattern, places)
        for pattern in (
            r"\brows? (\d+)",
            r"columns? (\d+)",
            r"entr\w+(?: such as)? \[([\d, ]*)\]",
        )
    )
    zeros = "which is zero" in places or "which are zero" in places
    return (
        (not row or 2 * lines[int(row[1])].sum() >= lines.shape[1])
        and (not zeros or not left.reshape(lines.shape)[int(row[1])].any())
        and (not column or lines[:, int(column[1])].any())
        and (not entry or bool(differ[tuple(int(i) for i in entry[1].split(","))]))
    )


NUMBER = r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]\d+)?"


def is_of_form(form, said):
    """Whether the numbers of a form's text are its own, or rows of others, as %g prints them,
    and its tensors those of the answer."""
    first, count = form.get("first", 0), form.get("count", 0)
    own = [form[name] for name in ("axis", "value", "constant") if name in form]
    own += [first, count, first + count - 1, said.get("noise", 0)]
    own += [each["count"] for each in said["forms"] if each["kind"] == "other_rows"]
    own = [float(each) for each in own if numpy.isfinite(float(each))]
    digits = 2 if form["kind"] == "noise" else 6
    for number in re.findall(NUMBER, form["text"].replace("less than -1000", "")):
        if not any(near(number, each, digits) for each in own):
            return False
    if form["kind"] in ("pair", "halves", "alternating"):
        sign = "-" if said["second"].get("negative") else ""
        one, two = said["request"]["tensor"], sign + said["second"]["tensor"]
        return f" {one}, " in form["text"] and form["text"].endswith(f" {two}")
    return True


def check_found(said, table, fetch):
    """The parts of the sentence about the request that do not hold, by name."""
    sentence = said["summary"].split(". All entries are ")[0].rstrip(".") + "."
    parts = FOUND.match(sentence)
    if not parts:
        return [f"not read: {sentence}"]
    exact64, exact = read_exact(said["request"]["url"], fetch)
    left = undone(table.astype("c16" if table.dtype.kind == "c" else "f8"), said)[0].squeeze()
    if left.shape != exact.shape:
        return [f"shape {left.shape}, not {exact.shape}"]
    with numpy.errstate(all="ignore"):
        errors = numpy.where(left == exact, 0, abs(left - exact))
    errors[numpy.isnan(left) & numpy.isnan(exact)] = 0
    finite = numpy.nan_to_num(errors, nan=0, posinf=0)
    factor = any(form["kind"] == "factor" for form in said["forms"])
    # what a factor and angles undo rounds numbers once more
    unit = 2e-7 * max(1, finite.max()) if factor or "angles" in str(said["forms"]) else 0
    far = numpy.argwhere(
        (finite > FAR).reshape(-1, exact.shape[-1] if exact.ndim else 1).any(1)
    )
    tests = {
        "query": lambda: parts["query"] == in_words(said["request"]["url"]),
        "apart": lambda: parts["apart"] == in_words(said["second"]["url"]),
        "nearly": lambda: bool(parts["nearly"]) == (said["status"] == "near"),
        "as": lambda: (
            parts["as"] == "the law of"
            or (
                said["status"] != "near" and (finite <= FAR * numpy.maximum(1, abs(left))).all()
            )
        )
        and parts["preset"] in said["request"]["presets"],
        "arithmetic": lambda: check_arithmetic(parts, said, table, exact64, errors, unit, left),
        "first_off": lambda: len(far) > 0 and far[0][0] == int(parts["first_off"]),
        "forms": lambda: parts["forms"]
        == "".join("; " + form["text"] for form in said["forms"])
        and all(is_of_form(form, said) for form in said["forms"]),
        "noise": lambda: near(parts["noise"], numpy.sqrt((errors**2).mean()))
        and is_noise(left - exact),
        "error": lambda: unit > 0 or near(parts["error"], finite.max()),
        "at": lambda: unit > 0
        or near(parts["error"], finite[tuple(int(i) for i in parts["at"].split(","))]),
        "differing": lambda: unit > 0
        or (int(parts["differing"]), int(parts["entries"]))
        == ((errors != 0).sum(), errors.size),
        # the first of several copies alone is looked at
        "misfits": lambda: unit > 0
        or left.size < table.size
        or 0 < int(parts["misfits"]) <= (errors != 0).sum(),
        "places": lambda: check_places(parts["places"], left, exact),
        "values": lambda: has_values(table, parts["values"], int(parts["longer"] or 0)),
    }
    return [
        f"{name}: {parts[name]!r} in {sentence}"
        for name, holds in tests.items()
        if (parts[name] is not None or name in ("nearly", "forms")) and not holds()
    ]


def in_words(url):
    """The parameters of a request, without the tensor and how it is written; of long lists the
    ends."""
    words = []
    for name, value in urllib.parse.parse_qsl(url.split("?")[1]):
        items = value.split(",")
        if len(items) > 16:
            value = f"{','.join(items[:3])},…,{items[-1]} ({len(items)} numbers)"
        if name not in ("tensor", "dtype"):
            words.append(f"{name} {value}")
    return ", ".join(words)


def greatest_angle(said):
    """At most, by the numbers of the request, of a wave of one radian a position."""
    given = dict(urllib.parse.parse_qsl(said["request"]["url"].split("?")[1]))
    reach = float(given.get("length", 1024)) * abs(float(given.get("step", 1)))
    listed = [abs(float(each)) for each in given.get("positions", "0").split(",")]
    greatest = max(abs(float(given.get("offset", 0))) + reach, *listed)
    return greatest / min(1.0, float(given.get("base", 1)))  # they rise by a base below 1


def multiplied(values, said):
    """Values times the factor that is said, plus the constant, rounded as the table is."""
    for form in said["forms"]:
        if form["kind"] == "factor":
            values = values * form["value"] + form.get("constant", 0)
    short = {"f32": "f4", "f16": "f2"}.get(said["values"], "f8")
    return wide(bf16(values)) if said["values"] == "bf16" else values.astype(short)


def check_arithmetic(parts, said, table, exact, errors, unit, left):
    """What is said of how it was computed, but for rows whose effect is told."""
    kind = parts["arithmetic"].strip(", ")
    if kind == "bit for bit":
        again = [multiplied(each, said) for each in (left, exact)]
        least = numpy.finfo("f8").eps * (unit > 0)  # where a factor is undone
        for form in said["forms"]:  # or a number that the table was rounded with
            if "are moved by" in form["text"]:
                least += 2.0**-24 * abs(form["value"])
        return said["status"] == "exact" and numpy.allclose(*again, least, least, True)
    if kind.startswith("computed in float64"):
        with numpy.errstate(invalid="ignore"):
            gap = numpy.abs(left - exact)
        size = numpy.abs(exact[numpy.isfinite(exact)]).max()
        step = {"f32": 2**-24, "f16": 2**-11, "bf16": 2**-8, "tf32": 2**-11}
        step = 2.0**-50 * greatest_angle(said) + step.get(said["values"], 0)
        for form in said["forms"]:
            if form["kind"] == "decimals":
                step += 0.51 * form["value"]
            if form["kind"] == "factor":  # which has as many digits as the table tells
                step *= 2
            if form["kind"] == "angles" and said["values"] in ("f16", "bf16"):
                alone = len(said["forms"]) == 1  # these are the angles
                step = step * (1 + (numpy.abs(table) if alone else greatest_angle(said)))
        return numpy.nanmax(gap - (1e-11 + step) * max(size, 1)) <= unit
    if kind.startswith("as near"):
        most = FAR + min(1, 2.0**-22 * greatest_angle(said))
        return said["values"] != "f64" and parts["misfits"] is None and errors.max() < most
    return said["status"] == "match" and (parts["first_off"] or errors.max() <= FAR)


def check(said, table, fetch):
    """The sentences of an answer that do not hold of the table."""
    table = numpy.asarray(table)
    if said["status"] != "unknown":
        wrong = check_found(said, table, fetch)
        return wrong + check_sentences(said.get("reason", {}).get("text", ""), table)
    if table.dtype.kind == "c":  # both parts are columns
        table = numpy.stack([table.real, table.imag], -1).reshape(*table.shape[:-1], -1)
    wrong = check_sentences(said["summary"], table)
    if "reason" in said and said["reason"]["text"] not in said["summary"]:
        wrong.append("the reason is not in the summary: " + said["reason"]["text"])
    return wrong
