"""Undoing what an answer of /v1/identify says that a table went through (`forms`), with numpy
alone: what is left are the tensors that the answer names."""

import numpy


def undone(values, said):
    """The tensor of the answer, and the second one or None, without axes of size 1."""
    values = numpy.asarray(values)
    if values.dtype.kind == "c":
        values = numpy.stack([values.real, values.imag], -1)
    tensors = [values]
    for form in said["forms"]:
        tensors = UNDO[form["kind"]](tensors[0], form, said)
    if tensors[0].ndim > 2 and any(form["kind"] == "grid" for form in said["forms"]):
        tensors = [tensor.reshape(-1, tensor.shape[-1]) for tensor in tensors]
    second = numpy.squeeze(tensors[1]) if len(tensors) > 1 else None
    return numpy.squeeze(tensors[0]), second


def turned(said):
    return -1 if said["second"]["negative"] else 1


def part(axis, *bounds):
    """The part of an axis of the table; forms keep all axes of it, but for zeros."""
    return (slice(None),) * axis + (slice(*bounds),)


def repeated(values, form, _):
    return [values[part(form["axis"], 0, 1)]]


def tiled(values, form, _):
    return [values[part(form["axis"], 0, form["first"])]]


def each_repeated(values, form, _):
    return [values[part(form["axis"], None, None, form["count"])]]


def pair(values, form, said):
    first, second = (values[part(form["axis"], i, i + 1)] for i in range(2))
    return [first, turned(said) * second]


def halves(values, form, said):
    count = values.shape[form["axis"]] // 2
    return [
        values[part(form["axis"], 0, count)],
        turned(said) * values[part(form["axis"], count, None)],
    ]


def alternating(values, form, said):
    return [
        values[part(form["axis"], 0, None, 2)],
        turned(said) * values[part(form["axis"], 1, None, 2)],
    ]


def matrices(values, _, said):
    assert (values[..., 0, 0] == values[..., 1, 1]).all()
    assert (values[..., 0, 1] == -values[..., 1, 0]).all()
    return [values[..., 0, 0], turned(said) * values[..., 1, 0]]


def angles(values, _, said):
    tensors = [numpy.cos(values), numpy.sin(values)]
    if said["request"]["tensor"].endswith("sin"):
        tensors.reverse()
    return tensors


def masked(values, form, said):
    """Keys after the query have -inf instead, or what the last query has; those beyond a window
    go on as the keys beside them do."""
    queries, keys = values.shape[-2:]
    own = numpy.arange(queries)[:, None] + keys - queries
    distance = own - numpy.arange(keys)
    window = form.get("first", keys)
    before, after = distance >= window, -distance >= (window if form.get("count") else 1)
    assert (values[..., before | after] <= 0).all()
    values = values.copy()
    for query in range(queries):
        for key in numpy.flatnonzero(before[query])[::-1]:
            values[..., query, key] = (
                2 * values[..., query, key + 1] - values[..., query, key + 2]
            )
        for key in numpy.flatnonzero(after[query]) if form.get("count") else ():
            values[..., query, key] = (
                2 * values[..., query, key - 1] - values[..., query, key - 2]
            )
    if form.get("count"):
        return [values]
    fill = -numpy.inf if "mask=causal" in said["request"]["url"] else values[..., -1:, :]
    return [numpy.where(after, fill, values)]


def zero_rows(values, form, _):
    first, count = form["first"], form["count"]
    rows = values.squeeze()
    gone, cut = (rows[:count], rows[count:]) if first == 0 else (rows[-count:], rows[:-count])
    assert (gone == 0).all()
    return [cut]


def zero_columns(values, form, _):
    columns = values.squeeze()
    assert (columns[..., form["first"] :] == 0).all()
    return [columns[..., : form["first"]]]


UNDO = {
    "repeated": repeated,
    "tiled": tiled,
    "each_repeated": each_repeated,
    "grid": lambda values, *_: [values],
    "pair": pair,
    "halves": halves,
    "alternating": alternating,
    "matrices": matrices,
    "angles": angles,
    "masked": masked,
    "zero_rows": zero_rows,
    "zero_columns": zero_columns,
    "channels_first": lambda values, form, _: [numpy.moveaxis(values.squeeze(), 0, -1)],
    "transposed": lambda values, *_: [values.squeeze().T],
    "columns": lambda values, _, said: [values.squeeze()[:, said["columns"]]],
    "parts": lambda values, form, _: [values[part(form["axis"], i, i + 1)] for i in range(2)],
    "factor": lambda values, form, _: [(values - form.get("constant", 0)) / form["value"]],
}
