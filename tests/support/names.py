"""No function of lib, api and server has a name that ends in a preposition: names.py.

A name is a verb phrase, such as find_row or write_zeros, or a noun with its verb behind. What
the installed header promises keeps its names."""

import re
import sys
from pathlib import Path

LAYERS = ("lib", "api", "server")
PREPOSITIONS = (
    "above after against at before below between beyond by down for from in into like near of "
    "off on out over than through to under up upon with within without"
).split()
DEFINED = re.compile(r"^(?!typedef|#|})[A-Za-z][^;{}()=]*?\b(\w+)\([^;{}]*\)\n{$", re.MULTILINE)
ENDS_IN_ONE = re.compile(rf"\w+_(?:{'|'.join(PREPOSITIONS)})")


def main():
    promised = set(re.findall(r"\b(pe_\w+)\(", Path("lib/posenc.h").read_text("utf-8")))
    defined = faults = 0
    for layer in LAYERS:
        for path in sorted(Path(layer).rglob("*.[ch]")):
            if "visualiser" in path.parts:
                continue
            for name in DEFINED.findall(path.read_text("utf-8")):
                defined += 1
                if ENDS_IN_ONE.fullmatch(name) and name not in promised:
                    print(f"names: {path}: {name} ends in a preposition", file=sys.stderr)
                    faults += 1
    if defined < 1000:
        sys.exit(f"names: {defined} functions are found, which cannot be all")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
