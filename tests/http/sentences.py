"""Sentences of /v1/identify, each checked by numpy: rows of (pattern, check). A check gets the
match and a Case, and says what is untrue, or None."""

import re

import numpy

ALIKE, UNLIKE = 0.2, 0.6  # correlations of neighbouring rows that are, and are not, so called


class Case:
    """A table and what was said of it: `lines` has both parts of complex numbers in one axis,
    `table` in one more. Of what was found, the table without its forms and the exact one of the
    same dtype."""

    def __init__(self, lines, said, left=None, exact=None, same_as_preset=None, table=None):
        self.lines, self.said = numpy.asarray(lines), said
        self.table = self.lines if table is None else numpy.asarray(table)
        self.left, self.exact = left, exact
        self.kinds = {form["kind"] for form in said.get("forms", ())}
        self.same_as_preset = same_as_preset  # whether a preset of that name gives these bits

    def errors(self):
        """How far each entry is off; None without an exact table of that shape."""
        if self.exact is None or self.left is None or self.exact.shape != self.left.shape:
            return None
        with numpy.errstate(invalid="ignore"):
            off = abs(self.left - self.exact)
        return numpy.where(self.left == self.exact, 0, off)


def numbers(text):
    return [int(number) for number in re.findall(r"\d+", text)]


def unlike(said, found, share):
    return None if abs(said - found) <= share * abs(found) else f"it is {found:.3g}"


# forms after whose undoing the entries are rounded, in a way that is not said
COMPUTED = {"factor", "affine", "angles"}
UNITS = {
    "f32": 2.0**-23,
    "f64": 2.0**-52,
    "f16": 2.0**-10,
    "bf16": 2.0**-7,
    "tf32": 2.0**-10,
}


# ---- figures ----


def largest_error(match, case):
    errors = case.errors()
    if errors is None:
        return None
    at = tuple(numbers(match[2]))
    most = numpy.nanmax(errors)
    if not numpy.isfinite(most):
        return None
    rounding = UNITS[case.said["values"]] * abs(case.exact).max()
    if case.kinds & COMPUTED and abs(float(match[1]) - most) < rounding:
        return None
    right = unlike(float(match[1]), most, 0.06)
    return right or (unlike(errors[at], most, 1e-3) if len(at) == errors.ndim else None)


def differing(match, case):
    errors = case.errors()
    if errors is None or "noise" in case.said:
        return None
    said, found = int(match[1]), int((errors > 0).sum())
    return None if said == found or case.kinds & COMPUTED else f"it is {found}"


def misfits(match, case):
    """As many as the answer counts, and no fewer than are grossly off."""
    errors = case.errors()
    if int(match[1]) != case.said["misfits"]:
        return f"misfits is {case.said['misfits']}"
    if errors is None:
        return None
    finite = numpy.where(numpy.isfinite(case.exact), case.exact, 0)
    gross = int((errors > 0.02 * max(abs(finite).max(), 1e-30)).sum())
    return f"{gross} are grossly off" if gross > int(match[1]) else None


def root_mean_square(match, case):
    errors = case.errors()
    if errors is None:
        return None
    errors = errors[numpy.isfinite(case.exact)]
    return unlike(float(match[1]), float(numpy.sqrt((errors**2).mean())), 0.3)


def preset(match, case):
    if case.same_as_preset is None:
        return None
    return None if case.same_as_preset(match[1]) else "the preset makes another table"


# ---- forms ----


def are_alike(one, other, case, times):
    """But for the noise and the misfits that are told, which each copy may have. Nothing is
    checked of what is left without some rows."""
    if case.kinds & {"zero_rows", "zero_columns", "other_rows"} or one.shape != other.shape:
        return True
    with numpy.errstate(invalid="ignore"):
        off = abs(one - other) > 17 * case.said.get("noise", 0)
    off |= numpy.isnan(one) != numpy.isnan(other)
    fit = case.said["misfits"] + case.said.get("second", {}).get("misfits", 0)
    return (off & (one != other)).sum() <= (0 if "noise" in case.said else fit * times)


def has_it(match, case):
    axis, count = int(match[1]), int(match[2])
    table = case.table
    first = numpy.broadcast_to(numpy.take(table, [0], axis), table.shape)
    right = are_alike(first, table, case, count)
    return None if right else "indices of the axis differ"


def in_turn(match, case):
    axis, period = int(match[1]), int(match[2])
    table = case.table
    count = table.shape[axis] // period
    again = numpy.concatenate([numpy.take(table, range(period), axis)] * count, axis)
    return None if are_alike(again, table, case, count) else "they differ"


def in_a_row(match, case):
    axis, count = int(match[1]), int(match[2])
    each = numpy.take(case.table, range(0, case.table.shape[axis], count), axis)
    again = numpy.repeat(each, count, axis)
    return None if are_alike(again, case.table, case, count) else "they differ"


def is_zero(axis):
    def check(match, case):
        table = case.table.squeeze()
        if table.ndim != 2 or case.kinds & {"tiled", "each_repeated"}:
            return None  # of what is left of the table
        places = numbers(match[0])
        if places[-1] >= table.shape[axis]:
            return None  # of another shape than what was undone before
        part = numpy.take(table, range(places[0], places[-1] + 1), axis)
        return None if (abs(part) <= 9 * case.said.get("noise", 0)).all() else "it is not"

    return check


def narrower(match, case):
    table = case.table.astype("f8")
    table = table[numpy.isfinite(table)]
    keep = {"bfloat16": 8, "float16": 11, "TF32": 11, "float32": 24}[match[1]]
    bits = numpy.frexp(table)[0] * 2.0**keep
    others = table.astype("f2") != table if match[1] == "float16" else bits != numpy.rint(bits)
    said = int(match[2] or 0)
    return None if others.sum() == said else f"{others.sum()} others are among them"


# ---- reasons ----


def matrix_of(case):
    table = case.lines.astype("f8")
    return table.reshape(-1, *table.shape[-2:]) if table.ndim >= 2 else None


def diagonals_are_constant(table):
    return table is not None and numpy.array_equal(
        table[:, 1:, 1:], table[:, :-1, :-1], equal_nan=True
    )


def neighbours(case):
    """The correlation of neighbouring rows, without what all rows share; 1 for equal rows."""
    table = case.lines.astype("f8")
    table = table.reshape(-1, table.shape[-1])
    if len(table) < 2 or not numpy.isfinite(table).all():
        return None
    one, other = table[1:], table[:-1]
    if (one == other).mean() > 0.5:
        return 1.0
    with numpy.errstate(all="ignore"):
        own = numpy.corrcoef((one - table.mean(0)).ravel(), (other - table.mean(0)).ravel())
    return float(own[0, 1])


def random(_, case):
    if diagonals_are_constant(matrix_of(case)):
        return "its diagonals are constant"
    alike = neighbours(case)
    return f"neighbouring rows correlate {alike:.2f}" if alike and abs(alike) > UNLIKE else None


def smooth(_, case):
    alike = neighbours(case)
    return (
        None if alike is None or alike > ALIKE else f"neighbouring rows correlate {alike:.2f}"
    )


def diagonals(_, case):
    return None if diagonals_are_constant(matrix_of(case)) else "they are not"


def constant(_, case):
    return None if (case.lines == case.lines.flat[0]).all() else "they are not"


def not_finite(_, case):
    at = tuple(case.said["reason"]["at"])[: case.lines.ndim]
    return f"{at} is finite" if numpy.isfinite(case.lines[at]) else None


def few_rows(_, case):
    rows = case.lines.size // case.lines.shape[-1] if case.lines.ndim else 1
    return None if rows < 4 else f"it has {rows}"


SENTENCES = (
    (r"the largest error against the exact table is (\S+), at \[([\d, ]*)\]", largest_error),
    (r"(\d+) of \d+ entries differ from it", differing),
    (r"(\d+) entr(?:y does|ies do) not fit", misfits),
    (r"but for noise of (\S+) \(root mean square\)", root_mean_square),
    (r"\(as preset (\w[\w.]*)", preset),
    (r"axis (\d+) has it (\d+) times", has_it),
    (r"axis (\d+) has its (\d+) indices \d+ times in turn", in_turn),
    (r"axis (\d+) has each index (\d+) times in a row", in_a_row),
    (r"rows? \d+(?: to \d+)? (?:is|are) zero", is_zero(0)),
    (r"columns? \d+(?: to \d+)? (?:is|are) zero", is_zero(1)),
    (r"(\w+) values(?:, but for (\d+),)? in a \w+ file", narrower),
    (r"looks random", random),
    (r"Neighbouring rows are alike", smooth),
    (r"diagonals are constant", diagonals),
    (r"All its entries are the same", constant),
    (r"entries that are infinite or no numbers", not_finite),
    (r"fewer than four rows", few_rows),
)


def untrue(case):
    """The sentences of an answer that do not hold, each with why; and how many were checked."""
    found, checked = [], 0
    for pattern, check in SENTENCES:
        for match in re.finditer(pattern, case.said["summary"]):
            checked += 1
            why = check(match, case)
            if why:
                found.append(f'"{match[0]}": {why}')
    return found, checked
