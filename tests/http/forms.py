"""What an answer of /v1/identify says that a table went through (`forms`), with numpy alone.
`undone` undoes it: what is left are the tensors that the answer names. `made_again` goes the
other way, from these tensors to the table. Axes are those of the table, all of which are kept
until the end, but for those of 2x2 matrices."""

import numpy


def undone(values, said):
    """The tensor of the answer, and the second one or None, without axes of size 1."""
    values = numpy.asarray(values)
    if values.dtype.kind == "c":
        values = numpy.stack([values.real, values.imag], -1)
    tensors = [values]
    for form in said["forms"]:
        tensors = undo(form, tensors, said)
    tensors = [in_order(tensor, said) for tensor in tensors]
    return tensors[0], tensors[1] if len(tensors) > 1 else None


def kinds(said):
    return [form["kind"] for form in said["forms"]]


def order(count, said):
    """The axes of the table in the order of the tensor's, but that axes are exchanged."""
    axes = list(range(count))
    for form in said["forms"]:
        if form["kind"] == "channels_first":
            axes.append(axes.pop(axes.index(form["axis"])))
        if form["kind"] == "heads_last":
            axes.insert(0, axes.pop(axes.index(form["axis"])))
    return axes


def in_order(tensor, said):
    """What is left of a table as the tensor, without axes of size 1."""
    tensor = tensor.transpose(order(tensor.ndim, said))
    if "grid" in kinds(said):
        tensor = tensor.reshape(-1, tensor.shape[-1])
    tensor = numpy.squeeze(tensor)
    tensor = tensor.T if "transposed" in kinds(said) else tensor
    return tensor[..., said["columns"]] if "columns" in kinds(said) else tensor


def out_of_order(tensor, said, shape):
    """The other way, to what is left of a table of that shape."""
    tensor, axes = numpy.squeeze(tensor), order(len(shape), said)
    if "columns" in kinds(said):
        table = numpy.empty_like(tensor)
        table[..., said["columns"]] = tensor
        tensor = table
    tensor = tensor.T if "transposed" in kinds(said) else tensor
    return tensor.reshape([shape[axis] for axis in axes]).transpose(numpy.argsort(axes))


def made_again(tensors, said, shape):
    """The table of that shape, of the tensors of an answer's requests, one or two; where the
    table has them the angles."""
    left, shapes = numpy.broadcast_to(0.0, shape), []
    for form in said["forms"]:
        shapes.append(left.shape)
        left = left if form["kind"] == "angles" else undo(form, [left], said)[0]
    tensors = [out_of_order(tensor, said, left.shape) for tensor in tensors]
    for form, before in zip(reversed(said["forms"]), reversed(shapes)):
        kind = form["kind"]
        if kind in JOIN:
            tensors = [JOIN[kind](tensors, form, said)]
        else:
            tensors = [AGAIN[kind](tensor, form, said).reshape(before) for tensor in tensors]
    return tensors[0]


def undo(form, tensors, said):
    kind = form["kind"]
    if kind in SPLIT:
        return SPLIT[kind](tensors[0], form, said)
    return [UNDO[kind](tensor, form, said) for tensor in tensors]


def turned(said):
    """The sign of the second tensor in the table."""
    return -1 if said.get("second", {}).get("negative") else 1


def part(axis, *bounds):
    """The part of an axis of the table."""
    return (slice(None),) * axis + (slice(*bounds),)


# ---- two tensors in one table ----


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


def confirm(said, *equal):
    """But for noise and for entries that do not fit, which each copy may have."""
    misfits = said["misfits"] + said.get("second", {}).get("misfits", 0)
    assert "noise" in said or sum((~each).sum() for each in equal) <= misfits


def matrices(values, _, said):
    same = values[..., 0, 0] == values[..., 1, 1]
    confirm(said, same, values[..., 0, 1] == -values[..., 1, 0])
    return [values[..., 0, 0], turned(said) * values[..., 1, 0]]


def angles(values, _, said):
    tensors = [numpy.cos(values), numpy.sin(values)]
    if said["request"]["tensor"].endswith("sin"):
        tensors.reverse()
    return tensors


SPLIT = {
    "pair": pair,
    "halves": halves,
    "alternating": alternating,
    "matrices": matrices,
    "angles": angles,
    "parts": lambda values, form, _: [values[part(form["axis"], i, i + 1)] for i in range(2)],
}


def one_after_the_other(tensors, form, said):
    return numpy.concatenate([tensors[0], turned(said) * tensors[1]], form["axis"])


def by_turns(tensors, form, said):
    axis, shape = form["axis"], tensors[0].shape
    both = numpy.stack([tensors[0], turned(said) * tensors[1]], axis + 1)
    return both.reshape(*shape[:axis], 2 * shape[axis], *shape[axis + 1 :])


def rotations(tensors, _, said):
    cos, sin = tensors[0], turned(said) * tensors[1]
    return numpy.stack([cos, -sin, sin, cos], -1).reshape(*cos.shape, 2, 2)


JOIN = {
    "pair": one_after_the_other,
    "halves": one_after_the_other,
    "alternating": by_turns,
    "matrices": rotations,
    "angles": lambda tensors, *_: tensors[0],
    "parts": one_after_the_other,
}


# ---- one table ----


def with_heads_first(change):
    """The change of a bias whose heads may lie last."""

    def changed(values, form, said):
        axes = order(values.ndim, said)
        values = change(values.transpose(axes), form, said)
        return values.transpose(numpy.argsort(axes))

    return changed


@with_heads_first
def masked(values, form, said):
    """Keys after the query have what the tensor has, what the last query has, or, if that with
    what was added is there, what it has as far before it; those beyond a window go on as the
    keys beside them do. An entry that is not the mask's stays."""
    before, after = unseen(values, form)
    wrong = ~numpy.isclose(values, float(form["value"]), rtol=5e-7) & (not form.get("added"))
    confirm(said, values[..., before | after] <= 0)
    own, values = values.dtype, values.astype("f8")
    for query, key in numpy.argwhere(before)[::-1]:
        values[..., query, key] = 2 * values[..., query, key + 1] - values[..., query, key + 2]
    for query, key in numpy.argwhere(after) if form.get("count") else ():
        values[..., query, key] = 2 * values[..., query, key - 1] - values[..., query, key - 2]
    values = values.astype(own)
    if form.get("count"):
        return values
    url = said["request"]["url"]
    own = {"mask=causal": -numpy.inf, "/retnet?": 0.0}  # what the tensor has there itself
    queries, keys = values.shape[-2:]
    last, at = values[..., -1, :], numpy.arange(keys)
    back = keys - 1 - numpy.maximum(at - numpy.arange(queries)[:, None] - keys + queries, 0)
    there = numpy.where(after, last[..., back] + float(form["value"]), values)
    mirrored = form.get("added") and numpy.allclose(there, values, 1e-6, 0, True)
    fill = last[..., back] if mirrored else last[..., None, :]
    fill = next((own[name] for name in own if name in url), fill)
    return numpy.where(after & ~wrong, fill, values)


def unseen(values, form):
    """The keys before the window of each query, and those after it."""
    queries, keys = values.shape[-2:]
    distance = numpy.arange(queries)[:, None] + keys - queries - numpy.arange(keys)
    window = form.get("first", keys)
    return distance >= window, -distance >= (window if form.get("count") else 1)


def zeros(values, form, said):
    axis, count = form["axis"], form["count"]
    first = min(form["first"], values.shape[axis] - count)
    confirm(said, values[part(axis, first, first + count)] == 0)
    return numpy.delete(values, range(first, first + count), axis)


def opposite(values, form, said):
    count = values.shape[form["axis"]] // 2
    first, second = (
        values[part(form["axis"], 0, count)],
        values[part(form["axis"], count, None)],
    )
    confirm(said, first == -second)
    return second


def without_factor(values, form, said):
    """What an exact answer says times another number than a power of 2 are whole numbers."""
    factor, constant = form["value"], form.get("constant", 0)
    left = numpy.where(numpy.isinf(values), values, (values - constant) / factor)
    is_whole = said["status"] == "exact" and (constant or abs(numpy.frexp(factor)[0]) != 0.5)
    return numpy.rint(left) + 0.0 if is_whole else left


UNDO = {
    "repeated": lambda values, form, _: values[part(form["axis"], 0, 1)],
    "tiled": lambda values, form, _: values[part(form["axis"], 0, form["first"])],
    "each_repeated": lambda values, form, _: values[
        part(form["axis"], None, None, form["count"])
    ],
    "grid": lambda values, *_: values,
    "masked": masked,
    "masked_keys": lambda values, form, _: values[part(form["axis"], 0, form["first"])],
    "opposite": opposite,
    "zero_rows": zeros,
    "zero_columns": zeros,
    "other_rows": lambda values, form, _: numpy.delete(
        values, range(form["count"]), form["axis"]
    ),
    "decimals": lambda values, *_: values,
    "noise": lambda values, *_: values,
    "channels_first": lambda values, *_: values,
    "heads_last": lambda values, *_: values,
    "transposed": lambda values, *_: values,
    "columns": lambda values, *_: values,
    "factor": without_factor,
}


@with_heads_first
def with_mask(values, form, _):
    """`added` is for one who tries both: an answer does not say which of the two it means."""
    before, after = unseen(values, form)
    value = float(form["value"])
    filled = values + value if form.get("added") else value
    return numpy.where(before | after, filled, values)


def with_zeros(values, form, _):
    axis, first = form["axis"], form["first"]
    return numpy.insert(values, [min(first, values.shape[axis])] * form["count"], 0, axis)


AGAIN = {
    "repeated": lambda values, form, _: values.repeat(form["count"], form["axis"]),
    "tiled": lambda values, form, _: numpy.concatenate([values] * form["count"], form["axis"]),
    "each_repeated": lambda values, form, _: values.repeat(form["count"], form["axis"]),
    "grid": lambda values, *_: values,
    "masked": with_mask,
    "noise": lambda values, *_: values,
    "decimals": lambda values, form, _: numpy.rint(values / form["value"]) * form["value"],
    "channels_first": lambda values, *_: values,
    "heads_last": lambda values, *_: values,
    "transposed": lambda values, *_: values,
    "columns": lambda values, *_: values,
    "masked_keys": lambda values, form, _: numpy.insert(  # or numbers that are not told
        values,
        [form["first"]] * form["count"],
        float(form.get("value", numpy.nan)),
        form["axis"],
    ),
    "opposite": lambda values, form, _: numpy.concatenate([-values, values], form["axis"]),
    "zero_rows": with_zeros,
    "zero_columns": with_zeros,
    "other_rows": lambda values, form, _: numpy.insert(  # numbers that are not told
        values, [0] * form["count"], numpy.nan, form["axis"]
    ),
    "factor": lambda values, form, _: numpy.where(
        numpy.isinf(values), values, values * form["value"] - -form.get("constant", 0)
    ),
}
