"""The drawing in ARCHITECTURE.md, made from the rules of rooms.py.

drawing.py: write architecture.svg. drawing.py --check: fail if it is another than the rules
give, or if the walk in ARCHITECTURE.md names a function that is not where it says."""

import re
import sys
from html import escape
from pathlib import Path

from rooms import LADDER, LAYERS, OTHERS, PUBLIC

DRAWING = Path("architecture.svg")
ARCHITECTURE = Path("ARCHITECTURE.md")
WIDTH, GAP, MARGIN = 272, 56, 16  # of a layer, between two, around all
ROOM, STEP, PAD, HEAD = 26, 32, 14, 34  # heights
STYLE = """
text { font: 14px system-ui, sans-serif; fill: #1f2328 }
.layer { font-size: 18px; font-weight: 600 }
.small { font-size: 12px; fill: #57606a }
.house { fill: #f6f8fa; stroke: #8c959f }
.room { fill: #fff; stroke: #8c959f }
.edge { fill: #ddf4ff; stroke: #0969da }
.arrow { fill: none; stroke: #0969da; stroke-width: 2 }
.tip { fill: #0969da }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.small { fill: #9198a1 }
.house { fill: #151b23; stroke: #656c76 }
.room { fill: #0d1117; stroke: #656c76 }
.edge { fill: #121d2f; stroke: #4493f8 }
.arrow { stroke: #4493f8 }
.tip { fill: #4493f8 }
}
"""


def readable(pattern):
    """A pattern of rooms.py as names of headers."""
    plain = re.sub(r"\([\w/]+\)\?|\\\.h|/?\.\*|[()]", "", pattern)
    return plain.replace("|", ", ")


def guests(layer, room=None):
    """The headers of others that a room may include; without a room, its whole layer."""
    prefix = f"{layer}/{room}/" if room else f"{layer}/"
    names = []
    for pattern, places in OTHERS.items():
        fits = (place == prefix or (room and place.startswith(prefix)) for place in places)
        if any(fits):
            names.append(readable(pattern))
    return ", ".join(names)


def text(x, y, said, kind="", anchor="start"):
    kind = f' class="{kind}"' if kind else ""
    place = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text x="{x}" y="{y}"{kind}{place}>{escape(said)}</text>'


def box(x, y, width, height, kind):
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="4" class="{kind}"/>'


def arrow(*points):
    """A line through the points, with a tip at its end, which it reaches along its last leg."""
    (x0, y0), (x, y) = points[-2:]
    path = " L".join(f"{px} {py}" for px, py in points)
    if x == x0:
        tip = (
            f"{x - 5},{y - 9} {x + 5},{y - 9}" if y > y0 else f"{x - 5},{y + 9} {x + 5},{y + 9}"
        )
    else:
        tip = f"{x - 9},{y - 5} {x - 9},{y + 5}"
    return f'<path d="M{path}" class="arrow"/><polygon points="{x},{y} {tip}" class="tip"/>'


def rows_of_text(said, width=38):
    """The words in lines of about that many characters."""
    lines = [""]
    for word in said.split():
        if len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += f"{word} "
    return [line.strip() for line in lines]


def draw_layer(layer, x, floor):
    """A layer whose ground ends at height `floor`: (its parts, the height of its top)."""
    ladder, inner = LADDER[layer], WIDTH - 2 * PAD
    parts, y = [], floor - PAD
    notes = rows_of_text("all: " + guests(layer)) if guests(layer) else []
    for note in reversed(notes):
        parts.append(text(x + PAD, y, note, "small"))
        y -= 16
    if PUBLIC[layer]:
        y -= ROOM - 4
        parts.append(box(x + PAD, y, inner, ROOM, "edge"))
        parts.append(text(x + PAD + 8, y + 18, ", ".join(sorted(PUBLIC[layer]))))
        y -= 6
    for room in ladder:
        y -= ROOM
        parts.append(box(x + PAD, y, inner, ROOM, "room"))
        parts.append(text(x + PAD + 8, y + 18, f"{room}/"))
        parts.append(text(x + WIDTH - PAD - 8, y + 18, guests(layer, room), "small", "end"))
        y -= STEP - ROOM
    top = y - HEAD
    parts.append(text(x + PAD, top + 24, f"{layer}/", "layer"))
    return [box(x, top, WIDTH, floor - top, "house"), *parts], top


def drawing():
    """The whole picture. Layers stand beside each other, those above to the left."""
    order = LAYERS[::-1]
    floor = (
        MARGIN + HEAD + 2 * STEP + max(len(ladder) for ladder in LADDER.values()) * STEP + 40
    )
    x, parts, tops = MARGIN, [], []
    for layer in order:
        drawn, top = draw_layer(layer, x, floor)
        parts += drawn
        tops.append(top)
        x += WIDTH + GAP
    width, height = x - GAP + MARGIN, floor + 84
    for index, layer in enumerate(order):
        left = MARGIN + index * (WIDTH + GAP)
        for below in range(index + 1, len(order)):
            deep = floor + 20 * (below - index)
            start = left + WIDTH // 2 + 30 * below
            end = MARGIN + below * (WIDTH + GAP) + 40 * (index + 1)
            parts.append(arrow((start, floor), (start, deep), (end, deep), (end, floor)))
    rule = "A room uses the rooms below it, and of the layers below the headers in blue alone."
    parts.append(text(MARGIN, height - 12, rule, "small"))
    top = min(tops) - MARGIN
    size = f'width="{width}" height="{height - top}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 {top} {width} {height - top}" '
        f'{size} role="img" aria-label="The layers and their rooms">\n<style>{STYLE}</style>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


# ---- the walk ----

WALK = re.compile(r"<!-- the walk: .*? -->\n\n```text\n(.*?)```", re.DOTALL)
STEP_OF_WALK = re.compile(r"( *)(\w+)(\*?)(?: +([\w/]+\.[ch]))?(?: +\S.*)?")


def body_of(name, path):
    """The text of a function; None if the file does not define it."""
    if not Path(path).exists():
        return None
    source = Path(path).read_text(encoding="utf-8")
    head = rf"^(?:[a-z][^\n;=]*[ *])?{name}\([^;{{]*\)\n{{\n"
    found = re.search(head + r".*?^}", source, re.DOTALL | re.MULTILINE)
    return found and found[0]


def walk_faults(document):
    """What is wrong with the walk: a function is not in its file, or not called by the one
    above it. A star marks what is called through a table."""
    found = WALK.search(document)
    if not found:
        yield f"{ARCHITECTURE} has no walk"
        return
    above = []  # (depth, file, body) of each function that is under way
    for line in found[1].splitlines():
        step = STEP_OF_WALK.fullmatch(line)
        if not step:
            yield f"no step of the walk: {line}"
            continue
        depth, name = len(step[1]), step[2]
        above = [caller for caller in above if caller[0] < depth]
        path = step[4] or (above[-1][1] if above else "")
        body = body_of(name, path)
        if body is None:
            yield f"the walk names {name}, which {path or 'no file'} does not define"
        elif above and not step[3] and not re.search(rf"\b{name}\b", above[-1][2] or ""):
            yield f"the walk says that {name} is called by the function above it, and it is not"
        above.append((depth, path, body))


def main():
    picture = drawing()
    if "--check" not in sys.argv:
        DRAWING.write_text(picture, encoding="utf-8")
        return
    faults = list(walk_faults(ARCHITECTURE.read_text(encoding="utf-8")))
    if not DRAWING.exists() or DRAWING.read_text(encoding="utf-8") != picture:
        faults.append(f"{DRAWING} is not what the rules give: `make drawing` writes it")
    for fault in faults:
        print("drawing:", fault, file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
