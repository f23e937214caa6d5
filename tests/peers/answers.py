"""Compares what a library does about the positions of a config, as recorder.py describes it,
with the plan and the tensors of POST /v1/models.

Each part of the plan is "right", "wrong" or "not known": the library's code did not show it."""

import math
import re
from typing import NamedTuple
from urllib.parse import urlencode

from decode import elements, read_safetensors

ROWS = 7  # of tables, unless a case says otherwise
EQUAL = 2e-4  # cosines and sines of a library's float32 arithmetic
EQUAL_FREQUENCIES = 2e-6  # relative
COMPONENTS = [  # of a plan, by the path of the library's module
    ("vision", r"visual|vision|image|pixel"),
    ("audio", r"audio|speech"),
    ("talker", r"talker"),
    ("encoder", r"(^|\.)(text_)?encoder\."),
    ("decoder", r"(^|\.)decoder\."),
    ("text", r"language|text|^model|^layers|^h\."),
]
DISTANCES = ("sinusoidal", "relative_sinusoidal")  # the library may have more of them
SILENT = {"convolution"}  # parts without numbers


class Plan:
    """A plan, with the tensors of its parts."""

    def __init__(self, plan, body):
        self.parts, self.components = plan["parts"], plan["components"]
        self.model_type = plan["model_type"]
        self.notes = plan["notes"]
        self.names = [component["name"] for component in self.components]
        self.tensors = read_safetensors(body)[1] if body else {}

    def tensor(self, part, name):
        """(shape, elements) of a tensor of a part; None if it has none of that name."""
        found = self.tensors.get(f"{part['name']}.{name}")
        return found and (found[1], elements(found[0], found[2]))

    def component_of(self, path):
        """The name of the component that a module of the library belongs to; or None."""
        path = path.lower()
        wanted = next((name for name, form in COMPONENTS if re.search(form, path)), None)
        if len(self.names) == 1:
            return self.names[0]
        first = path.split(".", 1)[0]  # of "global_transformer", "global" is the component
        beside = next((name for name in self.names if name in first), None)
        found = self.named(wanted) or beside or self.named("text")
        within = (
            name
            for name in self.names
            if re.fullmatch(rf"{re.escape(found or '-')}[._](\w+)", name)
            and f".{name[len(found) + 1 :]}." in path
        )
        return next(within, found)

    def named(self, word):
        """The first component of that name, whatever its parents are called."""
        ends = (f".{word}", f"_{word}")
        return next((n for n in self.names if n == word or n.endswith(ends)), None)

    def layers_of(self, part):
        """The layers that use a part; None where the plan does not list them, or where it is
        the second part of its layers."""
        layers = next(c for c in self.components if c["name"] == part["component"])["layers"]
        index = self.parts.index(part)
        return [layer for layer, used in enumerate(layers) if used == index] or None


def ask(post, config, query=None, rows=ROWS):
    """The plan of a config and None, or None and the problem document that refuses it.
    `post(target, config)` gives the reply of a POST."""
    options = {"length": rows, **(query or {})}
    plan = post(f"/v1/models?{urlencode({**options, 'plan': 'true'})}", config)
    if plan.status == 422:  # an option that nothing depends on is refused
        unused = {
            error["parameter"]
            for error in plan.json()["errors"]
            if error["allowed"].startswith("left out: nothing in this model")
        }
        options = {name: value for name, value in options.items() if name not in unused}
        plan = post(f"/v1/models?{urlencode({**options, 'plan': 'true'})}", config)
    if plan.status != 200:
        return None, plan.json()
    tensors = post(f"/v1/models?{urlencode({**options, 'format': 'safetensors'})}", config)
    return Plan(plan.json(), tensors.body if tensors.status == 200 else None), None


def columns(count):
    """The columns that recorder.py keeps."""
    return sorted({i for i in (0, 1, count // 4, count // 2, count - 2, count - 1) if i >= 0})


def picked(table, rows):
    """The entries of a table (shape, elements) in some rows and those columns."""
    (_, width), values = table
    return [values[row * width + column] for row in rows for column in columns(width)]


def furthest(mine, theirs):
    if len(mine) != len(theirs):
        return math.inf
    return max((abs(a - b) for a, b in zip(mine, theirs)), default=0)


def furthest_relative(mine, theirs):
    if len(mine) != len(theirs):
        return math.inf
    return max(abs(a - b) / max(abs(b), 1e-30) for a, b in zip(mine, theirs))


def entries_of(turn, rows):
    """The cosines and sines of a rotation of the library."""
    if "cos" in turn:
        return turn["cos"], turn["sin"]
    angles = [(row + turn["first"]) * f for row in rows for f in turn["inv_freq"]]
    scale = turn["scale"]
    return [scale * math.cos(a) for a in angles], [scale * math.sin(a) for a in angles]


def rows_beside(turn, count):
    """The rows of a plan's table of so many that the library's rotation shows, and the entries
    of that. The library's may begin with more rows, which are trained or do not turn."""
    if "rows" in turn:  # some of a table of as many rows
        rows = turn["rows"]
        return (rows, entries_of(turn, rows)) if max(rows) < count else (None, None)
    at = turn.get("at", [0, 1, count - 1])
    cos, sin = entries_of(turn, at)
    more = at[-1] + 1 - count
    if more < 0:
        return None, None
    shown = [row - more for row in at if row >= more]
    width = len(cos) // len(at)
    return shown, (cos[-width * len(shown) :], sin[-width * len(shown) :])


def check_turn(turn, part, plan):
    """What differs between a rotation of the library and a part; None if nothing does."""
    if turn["pairing"] == "unreadable":
        return "the library's rotation cannot be read"
    if turn["pairing"] == "none":
        return "the library does not turn"
    pairing = turn["pairing"].split(",")[0]  # the order of what comes out is told in a note
    if pairing != part["pairing"]:
        return f"{part['pairing']} pairs, the library has {pairing}"
    cos, sin = plan.tensor(part, "cos"), plan.tensor(part, "sin")
    if cos is None or len(cos[0]) != 2:
        return "there are no cosines"
    count = cos[0][1]
    if count != turn["pairs"]:
        return f"{count} pairs, the library has {turn['pairs']}"
    rows, theirs = rows_beside(turn, cos[0][0])
    if rows is None:
        return f"{cos[0][0]} rows, the library has {max(turn.get('rows', turn.get('at'))) + 1}"
    apart = max(furthest(picked(cos, rows), theirs[0]), furthest(picked(sin, rows), theirs[1]))
    if apart > EQUAL:
        reverse = [-value for value in theirs[1]]
        if furthest(picked(sin, rows), reverse) < EQUAL and "-sin for sin" in str(
            part["notes"]
        ):
            return None
        return f"cosines and sines differ by {apart:.2g}"
    return check_frequencies(turn, part, plan)


def check_frequencies(turn, part, plan):
    mine = plan.tensor(part, "inv_freq")
    if mine is None or "inv_freq" not in turn:
        return None
    values = [mine[1][column] for column in columns(len(mine[1]))]
    apart = furthest_relative(values, turn["inv_freq"])
    return f"frequencies differ by {apart:.2g}" if apart > EQUAL_FREQUENCIES else None


def is_facts_alone(part, plan):
    """Whether a rotary part has no tensors in this release."""
    return bool(plan.tensors) and plan.tensor(part, "cos") is None


def judge_rotary(part, answer, plan):
    """Each layer of the part must have a rotation as the part's, whatever else turns there."""
    component = part["component"]
    turns = [t for t in answer.get("turns", []) if plan.component_of(t["path"]) == component]
    if is_facts_alone(part, plan):
        return "not known", "the plan has facts alone"
    if not turns:
        return judge_by_frequencies(part, answer, plan)
    listed = plan.layers_of(part)
    texts = [(turn["layers"], check_turn(turn, part, plan)) for turn in turns]
    fitting = [layers for layers, text in texts if text is None]
    if fitting and listed is None:  # the plan does not say which layers use which part
        return "right", ""
    missing = set(listed or []) - {layer for layers in fitting for layer in layers}
    if listed is not None and not missing:
        return "right", ""
    reasons = [
        f"layers {sorted(layers)[:8]}: {text}"
        for layers, text in texts
        if text and (listed is None or missing & set(layers))
    ]
    is_unread = any(turn["pairing"] == "unreadable" for turn in turns) or "failure" in answer
    why = reasons[0] if reasons else f"layers {sorted(missing)} do not turn"
    return (
        "not known" if is_unread and (not reasons or "cannot be read" in why) else "wrong"
    ), why


def judge_by_frequencies(part, answer, plan):
    """Where no forward shows a rotation, frequencies alone."""
    known = answer.get("frequencies", [])
    fitting = [f for f in known if plan.component_of(f["path"]) == part["component"]]
    texts = [check_frequencies(f, part, plan) for f in fitting]
    if fitting and None in texts and plan.tensor(part, "inv_freq"):
        return "right", "by its frequencies"
    if "failure" in answer or not answer.get("class"):
        return "not known", answer.get("failure", "")
    return ("wrong", texts[0]) if fitting else ("not known", "the library shows no rotation")


def judge_grid(part, answer, plan):
    """A table of rotations for the cells of a grid, whatever layers it is for."""
    turns = answer.get("turns", [])
    if not turns:
        return "not known", "the library shows no rotation"
    text = check_turn(turns[0], part, plan)
    return ("wrong", text) if text else ("right", "")


def judge_learned(part, answer, plan):
    facts = {name: fact["value"] for name, fact in part["facts"].items()}
    shape, first = [facts.get("rows"), facts.get("dim")], facts.get("offset", 0)
    wrong = ""
    for lookup in answer.get("lookups", []):
        if lookup["shape"] == shape:
            if first in (lookup["first"], lookup.get("least")):
                return "right", ""
            wrong = f"its first row is {first}, the library's {lookup['first']}"
    if wrong:
        return "wrong", wrong
    for table in answer.get("tables", []):
        same = table["shape"][-2:] == shape  # maybe one of several in one tensor
        if same or None not in shape and math.prod(table["shape"]) == shape[0] * shape[1]:
            return "right", "by its shape"
    near = [table["shape"] for table in answer.get("tables", []) if "pos" in table["path"]]
    if not near:
        return "not known", "the library shows no table"
    return "wrong", f"it is {shape}, the library's tables are {near[:6]}"


def judge_sinusoidal(part, answer, plan):
    mine = plan.tensor(part, "encoding")
    if mine is None or len(mine[0]) != 2:
        return "not known", "there are no tensors"
    tables = [
        table["rows"]
        for table in answer.get("tables", [])
        if table.get("rows") and table["shape"][-1] == mine[0][1]
    ]
    for rows in tables:
        for first in range(len(rows) - 2):
            count = min(mine[0][0], len(rows) - first)
            if all(
                furthest(picked(mine, [row]), rows[first + row]) < EQUAL for row in range(count)
            ):
                return "right", ""
    if tables:
        return "wrong", "no table of the library has its rows"
    return judge_made(part, answer, plan)


def judge_buckets(part, answer, plan):
    mine = plan.tensor(part, "bucket")
    facts = {name: fact["value"] for name, fact in part["facts"].items()}
    found = [
        lookup
        for lookup in answer.get("lookups", [])
        if "row" in lookup
        and lookup["shape"] == [facts["num_buckets"], facts["heads"]]
        and plan.component_of(lookup["path"]) == part["component"]
    ]
    if mine is None or not found:
        return "not known", "the library shows no buckets of that size"
    count = mine[0][-1]
    for lookup in found:
        if mine[1][:count] != lookup["row"] or mine[1][::count] != lookup["column"]:
            return "wrong", "its buckets differ"
    return "right", ""


def judge_shaw(part, answer, plan):
    """A table with a row for each clipped distance."""
    facts = {name: fact["value"] for name, fact in part["facts"].items()}
    left, right = facts["left"], facts["right"]
    for lookup in answer.get("lookups", []):
        if "row" in lookup and plan.component_of(lookup["path"]) == part["component"]:
            if lookup["shape"] != [facts["rows"], facts["dim"]]:
                return "wrong", f"the library's table is {lookup['shape']}"
            distances = range(len(lookup["row"]))
            ahead = [left + min(distance, right) for distance in distances]
            behind = [left - min(distance, left) for distance in distances]
            found = (lookup["row"], lookup["column"])
            same = found in ((ahead, behind), (behind, ahead))
            return ("right", "") if same else ("wrong", "distances are clipped otherwise")
    return "not known", "the library shows no distances"


def judge_alibi(part, answer, plan):
    mine = plan.tensor(part, "slopes")
    if mine is None or "slopes" not in answer:
        return "not known", ""
    apart = furthest_relative(mine[1], answer["slopes"])
    return ("right", "") if apart < 1e-2 else ("wrong", f"slopes differ by {apart:.2g}")


def judge_distances(part, answer, plan):
    mine = plan.tensor(part, "relative_position")
    if mine is None or "distances" not in answer:
        known = "not known" if "failure" in answer else "wrong"
        return known, "the library shows no distances"
    width, theirs = mine[0][-1], answer["distances"]
    count = min(width, len(theirs["row"]))  # convolutions may have cut the library's
    row, column = mine[1][:count], mine[1][::width][:count]
    same = row == theirs["row"][:count] and column == theirs["column"][:count]
    return ("right", "") if same else ("wrong", "distances between queries and keys differ")


def has_coordinates(coordinates, tables):
    """Whether one of the library's tables of coordinates has these, if any is of their size."""
    found = [
        furthest([coordinates[1][at] for at in table["at"]], table["values"])
        for table in tables
        if coordinates and "coords_table" in table["path"] and "at" in table
        if math.prod(table["shape"]) == len(coordinates[1])
    ]
    return not found or min(found) <= EQUAL


def judge_indices(part, answer, plan):
    """Tables for windows: by the index that the library holds, else by their shapes."""
    facts = {name: fact["value"] for name, fact in part["facts"].items()}
    tables = answer.get("tables", [])
    held = [table["shape"] for table in tables if table["path"].endswith("bias_table")]
    if held and [facts.get("rows"), facts.get("heads")] not in held:
        return "wrong", f"it has no table like the library's {held[:4]}"
    if not has_coordinates(plan.tensor(part, "coordinates"), tables):
        return "wrong", "its coordinates differ"
    mine = plan.tensor(part, "index")
    for table in tables:
        if mine and "at" in table and math.prod(table["shape"]) == len(mine[1]):
            same = [mine[1][at] for at in table["at"]] == table["values"]
            return ("right", "") if same else ("wrong", "its index differs")
    shapes = [facts[name] for name in ("rel_pos_h", "rel_pos_w") if name in facts]
    if shapes and all(shape in [table["shape"] for table in tables] for shape in shapes):
        return "right", "by its shapes"
    near = [table["shape"] for table in tables if "rel_pos" in table["path"]]
    return (
        ("wrong", f"{shapes}, the library's are {near[:4]}")
        if near and shapes
        else ("not known", "")
    )


def row_of(part, row, rows, theirs):
    """The row of a plan's table of distances that is one of the library's, which has more."""
    if part["kind"] == "sinusoidal":  # from the farthest to 0, where the plan's begin
        return theirs - 1 - row
    return row - (theirs - rows) // 2  # as many on both sides of 0


def judge_made(part, answer, plan):
    """What a module of the library computes."""
    mine = plan.tensor(part, "encoding")
    for made in answer.get("made", []) if mine else []:
        width, theirs = mine[0][-1], math.prod(made["shape"]) // mine[0][-1]
        rows = len(mine[1]) // width
        if math.prod(made["shape"]) == len(mine[1]):
            both = [(mine[1][at], value) for at, value in zip(made["at"], made["values"])]
        elif part["kind"] in DISTANCES and made["shape"][-1] == width and theirs > rows:
            places = [
                (row_of(part, at // width, rows, theirs), at % width) for at in made["at"]
            ]
            both = [
                (mine[1][row * width + column], value)
                for (row, column), value in zip(places, made["values"])
                if 0 <= row < rows
            ]
        else:
            continue
        apart = furthest(*zip(*both))
        return ("right", "") if apart < EQUAL else ("wrong", f"it differs by {apart:.2g}")
    return "not known", "the library does not show it"


def judge_sines(part, answer, plan):
    """Sinusoids of a grid: what a module computes, else a table that it holds."""
    made = judge_made(part, answer, plan)
    return judge_sinusoidal(part, answer, plan) if made[0] == "not known" else made


def judge_trained(part, answer, plan):
    """Trained numbers for distances: the table has their number, on one side or on both."""
    del plan
    size = part["facts"].get("size", {}).get("value")
    if size is None:
        return "not known", "the plan does not say how many"
    counts = {size, 2 * size - 1, 2 * size, 2 * size + 1}
    if any(counts & set(table["shape"]) for table in answer.get("tables", [])):
        return "right", "by its shape"
    return "not known", "the library shows no table of that size"


JUDGES = {
    "relative_bias": judge_trained,
    "relative_vectors": judge_trained,
    "rope": judge_rotary,
    "rope_2d": judge_rotary,
    "rope_3d": judge_rotary,
    "rope_nd": judge_grid,
    "mrope": judge_rotary,
    "learned": judge_learned,
    "sinusoidal": judge_sinusoidal,
    "t5": judge_buckets,
    "shaw": judge_shaw,
    "alibi": judge_alibi,
    "deberta": judge_distances,
    "swin_relative_bias": judge_indices,
    "swin_v2_bias": judge_indices,
    "decomposed": judge_indices,
    "relative_sinusoidal": judge_made,
    "transformer_xl": judge_made,
    "detr_sine_2d": judge_made,
    "sinusoidal_2d": judge_sines,
}


def judge_rest(answer, plan):
    """Rotations of the library that no part of the plan accounts for, nor turns back."""
    for turn in answer.get("turns", []):
        if turn["pairing"] in ("none", "unreadable"):
            continue
        component = plan.component_of(turn["path"])
        parts = [p for p in plan.parts if p["component"] == component and p["pairing"]]
        left = set(turn["layers"]) - {-1}
        back = {**turn, "sin": [-value for value in turn["sin"]]} if "sin" in turn else turn
        for part in parts:
            fits = None in (check_turn(turn, part, plan), check_turn(back, part, plan))
            if fits or part["kind"] == "rope_nd" or is_facts_alone(part, plan):
                listed = plan.layers_of(part)
                left -= left if listed is None else set(listed)
        if left or not parts:
            where = sorted(left)[:8]
            yield component or "?", "wrong", f"the library turns layers {where} otherwise"


ABSOLUTE = re.compile(r"(position_embeddings?|embed_positions|pos_embed|wpe)$")


def judge_left_out(answer, plan):
    """Look-ups in tables of positions that no part of the plan accounts for."""
    widths = ("dim", "heads", "rotary_dim")
    known = {
        part["facts"][name]["value"]
        for part in plan.parts
        for name in widths
        if name in part["facts"]
    }
    for lookup in answer.get("lookups", []):
        if ABSOLUTE.search(lookup["path"]) and "relative" not in lookup["path"]:
            if lookup["shape"][1] not in known:
                yield lookup["path"], "wrong", f"a table {lookup['shape']} is left out"


class Verdict(NamedTuple):
    part: str
    verdict: str
    why: str
    model_type: str = ""  # of the part's component


HOLDS = re.compile(r"pos|attention_bias|bias_table")


def judge(answer, plan):
    """Verdicts on each part, and on what the plan leaves out."""
    verdicts = []
    for part in plan.parts:
        if part["kind"] in SILENT:
            continue
        judged = JUDGES.get(part["kind"])
        found = judged(part, answer, plan) if judged else ("not known", "not compared")
        of = next(c["model_type"] for c in plan.components if c["name"] == part["component"])
        verdicts.append(Verdict(f"{part['name']} {part['kind']}", *found, of))
    verdicts += [Verdict(*found) for found in judge_rest(answer, plan)]
    verdicts += [Verdict(*found) for found in judge_left_out(answer, plan)]
    if not verdicts:
        silent = {part["kind"] for part in plan.parts}
        shown = [
            table["path"]
            for table in answer.get("tables", [])
            if HOLDS.search(table["path"]) and not ("conv" in table["path"] and silent)
        ]
        is_wrong = plan.model_type.startswith("timm-")  # whose tables all have such names
        word = "wrong" if is_wrong else "not known"
        found = (word, f"the library has {shown[:4]}") if shown else ("right", "")
        verdicts.append(Verdict("no positions", *found))
    return verdicts


DEPARTS = re.compile(r"transformers ignores|5\.16 turns all")


def sum_up(verdicts, plan):
    """One word for a config: "wrong" if a part is, "noted" if a note of the plan says that it
    departs from the library, "right" if all that are shown are."""
    found = {verdict for _, verdict, *_ in verdicts}
    word = next(word for word in ("wrong", "right", "not known") if word in found)
    notes = plan.notes + [note for part in plan.parts for note in part["notes"]]
    return "noted" if word == "wrong" and DEPARTS.search(str(notes)) else word
