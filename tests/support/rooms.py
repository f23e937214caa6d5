"""The architecture as a program checks it: layers, the rooms inside them, and who may use whom.

rooms.py [BUILD]: read the includes of every file and, where BUILD is given, the symbols of its
objects: who uses whom, and which global state there is. A layer's rooms form a ladder: a file
uses rooms below its own and its own room alone. Files take no symbols of each other in circles.
rooms.py --plant BUILD: put a forbidden include and a symbol that closes a circle into every
room, in memory, and see each one refused.
rooms.py --figures [BUILD]: rooms and arrows of each layer, arrows that run up, circles."""

import functools
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

# Bottom up. Headers in the layer's own folder are its ground, sources there its roof.
LADDER = {
    "lib": [
        "numerics",
        "kernels",
        "requests",
        "tables",
        "foreign",
        "positions",
        "relative",
        "waves",
        "trained",
        "ode",
        "recognise",
        "schemes",
        "similarity",
        "identify",
        "apply",
    ],
    "api": [
        "bytes",
        "json",
        "http",
        "replies",
        "files",
        "formats",
        "representations",
        "models",
        "openapi",
        "endpoints",
    ],
    "server": ["settings", "work", "observe", "store", "net", "http", "command", "module"],
}
LAYERS = list(LADDER)
# What a layer shows to those above it.
PUBLIC = {
    "lib": {"posenc.h", "locks.h"},
    "api": {"api.h", "store.h", "bytes/text.h"},
    "server": set(),
}
# A header of others: the only places (prefixes of paths) that may include it.
OTHERS = {
    r"microhttpd\.h": ["server/http/"],
    r"sqlite3\.h": ["server/store/database.c"],
    r"libpq-fe\.h": ["server/store/postgres_engine.c", "server/store/postgres_link.c"],
    r"png\.h": ["api/formats/png.c"],
    r"zlib\.h": ["api/bytes/gzip.c", "api/http/coding.c", "api/formats/png.c"],
    r"nettle/.*": ["api/bytes/digest.c", "api/bytes/base64.c"],
    r"jansson\.h": ["api/"],
    r"(sys/socket|netinet/.*|arpa/.*|sys/epoll|poll|signal)\.h": ["server/"],
    r"(sys/)?time\.h": ["server/"],
    r"pthread\.h": ["lib/locks.h", "server/"],
}
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)
# A row of the table of global state in ARCHITECTURE.md: a file of lib or api, and names.
STATE = re.compile(r"^\| `((?:lib|api)/\S+\.c)` \| (`\w+`(?:, `\w+`)*) \|", re.MULTILINE)
GROUND, ROOF = -1, 1000


def sources():
    """{path: [(is it quoted, included name)]} of all files of the layers."""
    found = {}
    for layer in LAYERS:
        for path in sorted(Path(layer).rglob("*")):
            if path.suffix in (".c", ".h", ".def") and "visualiser" not in path.parts:
                includes = INCLUDE.findall(path.read_text())
                found[str(path)] = [(quote == '"', name) for quote, name in includes]
    return found


@functools.cache
def room_of(path):
    """The layer, the room ("" for the layer's own folder) and the floor of a file."""
    layer, *rest = path.split("/")
    if len(rest) == 1:
        return layer, "", GROUND if path.endswith((".h", ".def")) else ROOF
    room = rest[0]
    return layer, room, LADDER[layer].index(room) if room in LADDER[layer] else None


def resolve(path, name, files):
    """The file that an include means: of the own layer, or of one below it."""
    layer = path.split("/")[0]
    beside = str(Path(path).parent / name)
    if "/" not in name and beside in files:
        return beside
    for below in reversed(LAYERS[: LAYERS.index(layer) + 1]):
        if f"{below}/{name}" in files:
            return f"{below}/{name}"
    return None


def may_use(path, target):
    """None, or the rule that keeps `path` from using `target`."""
    layer, room, floor = room_of(path)
    other_layer, other_room, other_floor = room_of(target)
    if layer != other_layer:
        if LAYERS.index(other_layer) > LAYERS.index(layer):
            return f"{other_layer} stands above {layer}"
        return (
            None
            if target.split("/", 1)[1] in PUBLIC[other_layer]
            else (
                f"{layer} uses {other_layer} by {', '.join(sorted(PUBLIC[other_layer]))} alone"
            )
        )
    if floor is None or other_floor is None:
        return "the folder is no room of the ladder in tests/support/rooms.py"
    if other_floor > floor:
        return f"{other_room or 'the roof'} stands above {room or 'the ground'} in {layer}"
    return None


def include_faults(files, paths=None):
    """What is wrong with the includes of all files, or of these paths."""
    for path in paths or files:
        for quoted, name in files[path]:
            if not quoted:
                for pattern, places in OTHERS.items():
                    if re.fullmatch(pattern, name) and not path.startswith(tuple(places)):
                        yield f"{path} includes <{name}>, which belongs to {', '.join(places)}"
                continue
            target = resolve(path, name, files)
            if target is None:
                yield f'{path} includes "{name}", which no layer at or below its own has'
            elif reason := may_use(path, target):
                yield f"{path} includes {target}: {reason}"


def objects(build):
    """{object: its source}, without a kernel's other builds and files that have moved."""
    units = {}
    for unit in (unit for layer in LAYERS for unit in sorted(Path(build, layer).rglob("*.o"))):
        source = str(unit.relative_to(build)).removesuffix(".o") + ".c"
        if Path(source).exists():
            units[str(unit)] = source
    return units


def state_faults(build):
    """Variables of lib and api that a program may change, against those in ARCHITECTURE.md."""
    listed = {
        (source, name)
        for source, names in STATE.findall(Path("ARCHITECTURE.md").read_text())
        for name in re.findall(r"`(\w+)`", names)
    }
    found = set()
    units = objects(build)
    text = subprocess.run(
        ["nm", "-A", "-f", "sysv", *units], capture_output=True, text=True, check=True
    ).stdout
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        unit, _, name = cells[0].rpartition(":")
        if re.fullmatch(r"\.t?(data|bss)", cells[-1]) and not units[unit].startswith("server"):
            found.add((units[unit], name.split(".")[0]))
    for source, name in sorted(found - listed):
        yield f"{source} has the global state {name}, which ARCHITECTURE.md gives no reason for"
    for source, name in sorted(listed - found):
        yield f"ARCHITECTURE.md lists the global state {name} of {source}, which has none"


def calls(build):
    """(source, source that defines a symbol which the first needs, the symbol)."""
    defined, needed = {}, defaultdict(set)
    units = objects(build)
    text = subprocess.run(
        ["nm", "-A", *units], capture_output=True, text=True, check=True
    ).stdout
    for line in text.splitlines():
        unit, line = line.split(":", 1)
        *_, kind, symbol = line.split()
        if kind == "U":
            needed[units[unit]].add(symbol)
        elif kind in "TDBRC":
            defined[symbol] = units[unit]
    for source, symbols in needed.items():
        for symbol in sorted(symbols):
            if symbol in defined and defined[symbol] != source:
                yield source, defined[symbol], symbol


def call_faults(found):
    for source, target, symbol in found:
        if source.split("/")[0] == target.split("/")[0] and (reason := may_use(source, target)):
            yield f"{source} uses {symbol} of {target}: {reason}"


def list_taken(found):
    """{source: {source: the symbols that the first takes of it}} of calls."""
    taken = defaultdict(lambda: defaultdict(list))
    for source, target, symbol in found:
        taken[source][target].append(symbol)
    return taken


def find_circle(start, taken):
    """The shortest way from a file back to itself, each taking of the next one; or None."""
    before, reached = {}, [start]
    for source in reached:
        for target in taken.get(source, ()):
            if target == start:
                way = [source]
                while way[0] != start:
                    way.insert(0, before[way[0]])
                return way
            if target not in before:
                before[target] = source
                reached.append(target)
    return None


def circle_faults(found, paths=None):
    """Circles among calls, each once, or those alone that these paths are in."""
    taken, told = list_taken(found), set()
    for path in paths or sorted(taken):
        way = find_circle(path, taken)
        if not way or frozenset(way) in told:
            continue
        told.add(frozenset(way))
        steps = [
            f"{source} takes {', '.join(taken[source][target])} of {target}"
            for source, target in zip(way, way[1:] + way[:1])
        ]
        yield f"a circle: {'; '.join(steps)}"


def plants(files):
    """A forbidden include for each room, each thing above it and each layer: (path, name)."""
    for path in files:
        layer, room, floor = room_of(path)
        for target in files:
            other_layer, _, other_floor = room_of(target)
            above = LAYERS.index(other_layer) > LAYERS.index(layer)
            inner = other_layer != layer and target.split("/", 1)[1] not in PUBLIC[other_layer]
            if above or inner or (other_layer == layer and other_floor > floor):
                yield path, target


def plant(files):
    """See that every forbidden include is refused, one file for each pair of rooms."""
    seen = {}
    for path, target in plants(files):
        pair = (*room_of(path)[:2], *room_of(target)[:2])
        if pair in seen or not target.endswith(".h"):
            continue
        # an include of another layer's file by its bare name could mean a file of the own one
        name = target.split("/", 1)[1]
        planted = {**files, path: files[path] + [(True, name)]}
        if resolve(path, name, files) not in (target, None):
            continue
        seen[pair] = any(path in fault for fault in include_faults(planted, [path]))
    missed = [pair for pair, refused in seen.items() if not refused]
    rooms = {pair[:2] for pair in seen}
    expected = {(layer, room) for layer, ladder in LADDER.items() for room in ladder}
    for pair in missed:
        print("rooms: a planted include was not refused:", *pair, file=sys.stderr)
    for room in sorted(expected - rooms):
        print("rooms: no include was planted in", *room, file=sys.stderr)
    print(
        f"rooms: {len(seen)} forbidden includes planted in {len(rooms)} rooms, "
        f"{len(seen) - len(missed)} refused"
    )
    return bool(missed or expected - rooms)


def plant_circles(build):
    """See that circles of two files and of three are refused, one of each for each room: a
    file takes a symbol of one that takes some of it, itself or through a third."""
    found = list(calls(build))
    taken, missed, count = list_taken(found), 0, 0
    inner = {
        room_of(first)[:2]: (first, second)
        for first in taken
        for second in taken[first]
        if room_of(first)[:2] == room_of(second)[:2]
    }
    for first, second in inner.values():
        beyond = [third for third in taken[second] if third not in taken[first]]
        for length, last in enumerate([second, *beyond[:1]], 2):
            planted = [*found, (last, first, "planted")]
            fault = next(circle_faults(planted, [last]), "")
            step = f"{last} takes planted of {first}"
            refused = step in fault and fault.count(" takes ") == length
            if not refused:
                print(f"rooms: it was not refused that {step}", file=sys.stderr)
            missed += not refused
            count += 1
    print(f"rooms: {count} circles planted in {len(inner)} rooms, {count - missed} refused")
    return bool(missed or not count)


def figures(files, build):
    arrows = defaultdict(set)
    pairs = [
        (path, resolve(path, name, files))
        for path, names in files.items()
        for quoted, name in names
        if quoted
    ]
    pairs += [(source, target) for source, target, _ in calls(build)] if build else []
    for path, target in pairs:
        layer, room, _ = room_of(path)
        if target and target.startswith(layer + "/") and room_of(target)[1] != room:
            arrows[layer].add((room, room_of(target)[1]))
    for layer, ladder in LADDER.items():
        inner = {(a, b) for a, b in arrows[layer] if a and b}
        up = [pair for pair in inner if ladder.index(pair[1]) > ladder.index(pair[0])]
        both = [pair for pair in inner if pair[::-1] in inner]
        print(
            f"{layer}: {len(ladder)} rooms, {len(inner)} arrows, {len(up)} up, "
            f"{len(both) // 2} pairs that use each other"
        )


def main():
    arguments = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    build = arguments[0] if arguments else None
    files = sources()
    if "--plant" in sys.argv:
        sys.exit(plant(files) | plant_circles(build))
    if "--figures" in sys.argv:
        figures(files, build)
        return
    faults = list(include_faults(files))
    if build:
        found = list(calls(build))
        faults += [*call_faults(found), *circle_faults(found)]
        faults += state_faults(build)
    for layer, ladder in LADDER.items():
        faults += [
            f"{layer}/{room} is a room of the ladder and holds no source"
            for room in ladder
            if not any(room_of(path)[:2] == (layer, room) for path in files)
        ]
    for fault in faults:
        print("rooms:", fault, file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
