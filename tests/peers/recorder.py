"""Records what a model of torch does about positions in a forward: rotations, look-ups in
tables, tables and indices that it holds.

What is recorded are samples, enough to tell one table from another: a few columns of a few
rows."""

import inspect
import re
import sys

import numpy
import torch
from cheap import numbers, randn
from questions import TooLong
from torch import nn
from torch.nn.modules import module as hooks

APPLIES = re.compile(
    r"^_?apply_.*(rotary|rope)|^rotate_queries_or_keys$|^vision_apply_rotary|^apply_rotary"
)
ALIBI = re.compile(r"^build_(mpt_)?alibi_tensor$")
EXPERTS = re.compile(r"(Experts|NaiveMoe)$")
RELATIVE = re.compile(r"^build_relative_position$")
MAKES = re.compile(r"(Sine|Sinusoidal|Rel).*Position|PositionalEncoding")
POSITIONAL = re.compile(
    r"pos(?!t)|\brpb|(\b|_)rel_|relative|distance|alibi|freq|bias_table|attention_bias|coord"
    r"|box|wpe|time_emb|(row|col|column)_emb",
    re.I,
)
LAYER = re.compile(
    r"(?:^|\.)(?:layers|h|blocks?|layer|encoder_layers|decoder_layers|resblocks)\.(\d+)(?=\.|$)"
)
DOUBLE = re.compile(
    r"\.layers?\.(\d+)\.self_attn\.([01])(?=\.|$)"
)  # LongCat: two in each layer
NO_TABLES = (nn.modules.conv._ConvNd, nn.modules.batchnorm._NormBase, nn.LayerNorm, nn.PReLU)


def columns(count):
    """The columns of which samples are kept."""
    return sorted({i for i in (0, 1, count // 4, count // 2, count - 2, count - 1) if i >= 0})


def rounded(values, digits=7):
    return [float(f"%.{digits}g" % value) for value in numpy.ravel(values)]


def starred(path):
    """A path without numbers, and that of its layer."""
    layer, double = LAYER.search(path), DOUBLE.search("." + path)
    number = int(layer[1]) if layer else -1
    if double:
        number = 2 * int(double[1]) + int(double[2])
    return re.sub(r"(?<=\.)\d+(?=\.|$)", "*", path), number


def heads_of(tensor, rows):
    """Up to four heads of a tensor as [heads, rows, columns]; None if it is none of queries."""
    array = tensor.detach().float().numpy()
    if array.ndim == 4:
        array = array[0]
    if array.ndim == 2:
        return array[None]
    if array.ndim != 3 or rows not in array.shape[:2]:
        return None
    if array.shape[1] == rows and array.shape[0] != rows:
        return array[:4]
    return array[:, :4].transpose(1, 0, 2)


PAIRINGS = {
    # what are real and imaginary parts of the columns before and after
    "half": lambda x, y: (split(x, 0), split(y, 0)),
    "interleaved": lambda x, y: (split(x, 1), split(y, 1)),
    "interleaved, then halves": lambda x, y: (split(x, 1), split(y, 0)),
}


def split(x, is_interleaved):
    half = x.shape[-1] // 2
    if is_interleaved:
        return x[..., 0::2] + 1j * x[..., 1::2]
    return x[..., :half] + 1j * x[..., half:]


def read_turn(x, y):
    """The rotation that gives y of x, both [several, rows, columns]: pairing, width and one
    complex number for each row and pair; None if it is none."""
    changed = numpy.flatnonzero(numpy.abs(y - x).max((0, 1)) > 1e-6)
    if changed.size == 0:
        return {"pairing": "none", "width": 0, "table": None}
    if changed[0] > 1:  # the last columns turn, not the first
        first = int(changed[0]) // 2 * 2
        return read_turn(x[..., first:], y[..., first:])
    widths = [x.shape[-1], (int(changed[-1]) + 2) // 2 * 2]
    for width in dict.fromkeys(widths):
        for pairing, parts in PAIRINGS.items():
            if width % 2 or width > x.shape[-1]:
                continue
            before, after = parts(x[..., :width], y[..., :width])
            table = (after * before.conj()).sum(0) / (abs(before) ** 2).sum(0)
            if abs(after - table * before).max() < 1e-3 * max(1, abs(after).max()):
                return {"pairing": pairing, "width": width, "table": table}
    return read_two_angles(x, y)


def read_two_angles(x, y):
    """As read_turn, where the columns of a pair of neighbours turn by an angle each, which is
    no rotation: a complex number for each row and column."""
    beside = numpy.stack([-x[..., 1::2], x[..., 0::2]], axis=-1).reshape(x.shape)
    xx, xb, bb = (x * x).sum(0), (x * beside).sum(0), (beside * beside).sum(0)
    xy, by, scale = (x * y).sum(0), (beside * y).sum(0), xx * bb - xb * xb
    cos, sin = (xy * bb - by * xb) / scale, (by * xx - xy * xb) / scale
    if abs(y - cos * x - sin * beside).max() < 1e-3 * max(1, abs(y).max()):
        return {"pairing": "interleaved", "width": x.shape[-1], "table": cos + 1j * sin}
    return None


def no_experts(module, states, *_, **__):
    """In place of the forward of all experts of a mixture."""
    return torch.zeros(*states.shape[:-1], getattr(module, "output_size", states.shape[-1]))


class Recorder:
    """What happens in one forward."""

    def __init__(self):
        self.events, self.stack, self.names, self.rows = None, [], {}, 7

    def install(self):
        embedding = nn.functional.embedding

        def looked_up(ids, weight, *args, **named):
            if self.events is not None:
                self.events.append(("lookup", self.path(), tuple(weight.shape), ids.numpy()))
            if weight.is_meta:
                return randn(*ids.shape, weight.shape[1])
            return embedding(ids, weight, *args, **named)

        nn.functional.embedding = looked_up
        hooks.register_module_forward_pre_hook(lambda m, _: self.stack.append(id(m)))
        hooks.register_module_forward_hook(self.leave)

    def leave(self, module, given, output):
        del given
        if self.events is not None and MAKES.search(type(module).__name__):
            output = output[-1] if isinstance(output, tuple) else output
            if isinstance(output, torch.Tensor) and output.is_floating_point():
                self.events.append(("made", self.path(), tuple(output.shape), output))
        while self.stack and self.stack.pop() != id(module):
            pass

    def path(self):
        return self.names.get(self.stack[-1], "") if self.stack else ""

    def wrap(self, package):
        """Watch the functions for positions in the package's modules of models."""
        for name, module in list(sys.modules.items()):
            known = vars(module).get("_is_watched")  # not if it was imported anew
            if known or not name.startswith(package) or ".modeling_" not in name:
                continue
            module._is_watched = True
            for key, value in list(vars(module).items()):
                if inspect.isfunction(value) and not hasattr(value, "is_watched"):
                    if APPLIES.match(key):
                        setattr(module, key, self.watched(value, self.turn))
                    elif ALIBI.match(key):
                        setattr(module, key, self.watched(value, self.alibi))
                    elif RELATIVE.match(key):
                        setattr(module, key, self.watched(value, self.relative))
                elif inspect.isclass(value):
                    self.watch_class(key, value)

    def watch_class(self, name, found):
        if EXPERTS.search(name):
            found.forward = no_experts
        for key, value in list(vars(found).items()):
            if isinstance(value, staticmethod) and APPLIES.match(key):
                watched = self.watched(value.__func__, self.turn)
                setattr(found, key, staticmethod(watched))
            elif inspect.isfunction(value) and APPLIES.match(key):
                setattr(found, key, self.watched(value, self.turn))
        method = vars(found).get("relative_positional_encoding")
        if method:
            found.relative_positional_encoding = self.watched(method, self.encoding)

    def watched(self, function, record):
        signature = inspect.signature(function)

        def call(*args, **named):
            events, self.events = self.events, None  # of this call alone, not of those within
            try:
                result = function(*args, **named)
            finally:
                self.events = events
            if self.events is not None:
                bound = signature.bind(*args, **named)
                record(function, bound, result)
            return result

        call.is_watched = True
        return call

    @staticmethod
    def turn_of(pairs, rows):
        """What turns the first of each pair of tensors into the second; None if nothing."""
        both = [[heads_of(tensor, rows) for tensor in pair] for pair in pairs]
        if both[0][0] is None or both[0][1] is None:
            return None
        if numpy.isnan(both[0][0]).any():
            del both[0]
        before, after = zip(*both)
        turn = read_turn(numpy.concatenate(before), numpy.concatenate(after))
        return turn or read_turn(before[-1], after[-1])  # numbers may have been huge

    def turn(self, function, bound, result):
        first = result[0] if isinstance(result, (tuple, list)) else result
        name, x = next(
            (name, value)
            for name, value in bound.arguments.items()
            if isinstance(value, torch.Tensor) and value.shape == first.shape
        )
        bound.arguments[name] = torch.randn(x.shape, generator=numbers).to(x.dtype)
        events, self.events = self.events, None
        again = function(*bound.args, **bound.kwargs)
        self.events = events
        again = again[0] if isinstance(again, (tuple, list)) else again
        pairs = [(x, first), (bound.arguments[name], again)]
        axes = x.shape[-3:-1]
        # of a picture nobody knows how many rows it has: rather more of them than heads
        guesses = [self.rows] if self.rows in axes else sorted(axes, reverse=True)
        turns = (self.turn_of(pairs, rows) for rows in guesses)
        turn = next(filter(None, turns), None)
        self.events.append(("turn", self.path(), tuple(x.shape), turn))

    def alibi(self, function, bound, result):
        del function, bound
        values = result.detach().float().reshape(-1, result.shape[-1])
        self.events.append(
            ("alibi", self.path(), None, (values[:, -1] - values[:, -2]).numpy())
        )

    def encoding(self, function, bound, result):
        del function, bound
        self.events.append(("made", self.path(), tuple(result.shape), result))

    def relative(self, function, bound, result):
        del function, bound
        distances = result.reshape(result.shape[-2:]).numpy()
        self.events.append(("relative", self.path(), None, distances))

    def begin(self, model, rows):
        """Record what happens in the model from now on."""
        self.events, self.rows = [], rows
        self.names = {id(module): name for name, module in model.named_modules()}

    def run(self, model, inputs):
        """Record a forward of the model or of one that it consists of; its failure, if any."""
        self.stack = []
        try:
            with torch.no_grad():
                model(**inputs())
        except (TooLong, KeyboardInterrupt):
            raise
        except BaseException as error:  # whatever the library raises: that is not all Exception
            return f"{type(error).__name__}: {error}"[:300]
        return None


def frequencies(model):
    """All inv_freq, by their paths."""
    return {
        name: buffer.detach().float().numpy().ravel()
        for name, buffer in model.named_buffers()
        if "inv_freq" in name and not buffer.is_meta and not buffer.is_complex()
    }


def frequencies_of(table, found):
    """Those of `found` that give a rotation's table, or its first pairs where the others do not
    turn; and the first position."""
    scale = abs(table[0, 0])
    for values in sorted(found.values(), key=len, reverse=True):
        if values.size > table.shape[1] or abs(table[:, values.size :] - 1).sum() > 1e-4:
            continue
        for first in range(3):
            angles = (numpy.arange(len(table)) + first)[:, None] * values[None].astype(float)
            if abs(scale * numpy.exp(1j * angles) - table[:, : values.size]).max() < 1e-3:
                return values, first
    return None, None


def describe_turn(path, shape, turn, found, rows=None, chosen=None):
    """A rotation by its frequencies, else by the chosen rows of its table, or the first ones
    and the last. `rows`: of a text."""
    if turn is None:
        return {"path": path, "pairing": "unreadable", "shape": list(shape)}
    described = {"path": path, "pairing": turn["pairing"]}
    table = turn["table"]
    if table is None:
        return described
    described["head"] = shape[-1]
    values, first = frequencies_of(table, found)
    if values is not None:
        described.update(pairs=len(values), first=first, scale=rounded(abs(table[0, 0]), 6)[0])
        return {**described, "inv_freq": rounded(values[columns(len(values))], 9)}
    at = chosen or [0, 1, len(table) - 1]
    if chosen:
        described["rows"] = list(chosen)
    elif len(table) != rows:  # those of a picture, perhaps after some that are trained
        at = sorted({0, 1, 2, len(table) - 1})
        described["at"] = at
    picked = table[list(at)][:, columns(table.shape[1])].astype(complex)
    cos, sin = numpy.round(picked.real, 5), numpy.round(picked.imag, 5) + 0.0
    return {
        **described,
        "pairs": table.shape[1],
        "cos": cos.ravel().tolist(),
        "sin": sin.ravel().tolist(),
    }


def describe_turns(events, found, **which):
    """The rotations, those that are the same in several layers as one."""
    groups = {}
    for _, path, shape, turn in events:
        path, layer = starred(path)
        described = describe_turn(path, shape, turn, found, **which)
        coarse = {
            name: numpy.round(value, 3).tolist() if name in ("cos", "sin", "scale") else value
            for name, value in described.items()
        }
        group = groups.setdefault(repr(coarse), {**described, "layers": set()})
        group["layers"].add(layer)
    return [{**group, "layers": sorted(group["layers"])} for group in groups.values()]


def describe_lookups(events):
    """Look-ups in tables of positions, those of several layers as one. Of a matrix of ids,
    which belongs to a relative scheme, the first row and the first column."""
    described = {}
    for _, path, shape, ids in events:
        path, _ = starred(path)
        if not POSITIONAL.search(path):
            continue
        ids = ids[0] if ids.ndim == 3 and ids.shape[0] == 1 else ids
        lookup = {"path": path, "shape": list(shape), "first": int(ids.ravel()[0])}
        if ids.ndim == 2 and ids.shape[0] == ids.shape[1] and ids.shape[0] > 1:
            lookup.update(row=ids[0].tolist(), column=ids[:, 0].tolist())
        else:
            lookup["least"] = int(ids.min())
        described[repr(lookup)] = lookup
    return list(described.values())


def spread(values):
    """Some entries of a tensor, with where these are."""
    flat = values.ravel()
    at = sorted({int(i) for i in numpy.linspace(0, len(flat) - 1, 12)})
    return {"at": at, "values": rounded(flat[at].float().numpy(), 6)}


def samples(values):
    """Of a table the first eight rows, of anything else some entries, with where these are."""
    values = (
        values.reshape(values.shape[1:]) if values.ndim == 3 and len(values) == 1 else values
    )
    if values.dtype.is_floating_point and values.ndim == 2:
        at = columns(values.shape[1])
        rows = [rounded(row[at].numpy(), 5) for row in values[:8].float()]
        # trained ones hold whatever was in memory, while rows of sinusoids have a one
        return {"rows": rows} if any(0.5 < value < 2 for row in rows for value in row) else {}
    return spread(values)


def describe_tables(model):
    """Shapes of trained tables, and samples of those that are computed."""
    tables = {}
    embeddings = {
        f"{name}.weight": module
        for name, module in model.named_modules()
        if isinstance(module, nn.Embedding)
    }
    plain = [  # what is neither trained nor saved
        (f"{path}.{name}", value)
        for path, module in model.named_modules()
        for name, value in vars(module).items()
        if isinstance(value, torch.Tensor)
    ]
    others = {  # weights of what is no table, whatever it is called
        f"{path}.{name}"
        for path, module in model.named_modules()
        if isinstance(module, NO_TABLES)
        for name in (*module._parameters, *module._buffers)
    }
    for name, values in [*model.named_parameters(), *model.named_buffers(), *plain]:
        owner = embeddings.get(name)
        if name in others:
            continue
        looks = POSITIONAL.search(name + (type(owner).__name__ if owner else ""))
        if not looks or "inv_freq" in name or values.is_complex():
            continue
        path, _ = starred(name)
        table = {"path": path, "shape": list(values.shape)}
        is_trained = values.requires_grad and type(owner) in (type(None), nn.Embedding)
        if not is_trained and not values.is_meta and values.numel() > 1:
            table.update(samples(values.detach()))
        tables.setdefault(repr(table), table)
    return list(tables.values())[:40]


def describe(model, recorder):
    """What the model holds and what happened in its forward, as JSON."""
    events = recorder.events or []
    chosen = {kind: [event for event in events if event[0] == kind] for kind, *_ in events}
    answer = {
        "turns": describe_turns(chosen.get("turn", []), frequencies(model), rows=recorder.rows),
        "lookups": describe_lookups(chosen.get("lookup", [])),
        "tables": describe_tables(model),
    }
    for *_, slopes in chosen.get("alibi", [])[:1]:
        answer["slopes"] = rounded(slopes)
    for *_, matrix in chosen.get("relative", [])[:1]:
        answer["distances"] = {"row": matrix[0].tolist(), "column": matrix[:, 0].tolist()}
    answer["made"] = [
        {"path": starred(path)[0], "shape": list(shape), **spread(output)}
        for _, path, shape, output in chosen.get("made", [])[:4]
    ]
    if not answer["turns"]:
        answer["frequencies"] = [
            {
                "path": path,
                "pairs": len(values),
                "inv_freq": rounded(values[columns(len(values))], 9),
            }
            for path, values in list(frequencies(model).items())[:12]
            if "original" not in path
        ]
    return {name: value for name, value in answer.items() if value}
