#!/usr/bin/python3
"""Write the golden files <scheme>/<case>.json next to this program; needs mpmath.

Those in similarity/ are no scheme's tensors; similarity.py says what they hold.

With --check nothing is written: every file that differs from its case, is missing or belongs
to no case is named, and the exit status is 1 if there is one.
"""

import argparse
import json
import sys
from pathlib import Path

from biases import BIASES
from cases import CASES as PLAIN_CASES
from cases_biases import BIASES_CASES
from cases_relative import RELATIVE_CASES
from cases_rotary import ROTARY_CASES
from cases_trained import TRAINED_CASES
from floats import encode
from relative import RELATIVE
from rotary import F64_TOLERANCE, ROTARY
from schemes import SCHEMES
from similarity import similarity_files
from trained import TRAINED

CASES = PLAIN_CASES | ROTARY_CASES | TRAINED_CASES | RELATIVE_CASES | BIASES_CASES
DIRECTORY = Path(__file__).resolve().parent

# Everything is bit for bit but f64 entries of schemes that compute sines or integrate.
EXACT_SCHEMES = ("integer", "normalized", "binary")


def parse_query(query):
    pairs = [pair.split("=") for pair in query.split("&")]
    arguments = dict(pairs)
    if len(arguments) != len(pairs):
        raise ValueError(f"repeated argument in {query}")
    return arguments


def tensors_of(scheme, arguments):
    """The tensors and the tolerance of f64 entries. A tensor is its shape and its entries, and
    its dtype where that is not the requested one: {name: (shape, entries[, dtype])}."""
    if scheme in SCHEMES:
        tolerance = 0 if scheme in EXACT_SCHEMES else F64_TOLERANCE
        return {"encoding": SCHEMES[scheme](arguments)}, tolerance
    return {**ROTARY, **TRAINED, **RELATIVE, **BIASES}[scheme](arguments)


def golden_text(scheme, query):
    """The content of one golden file."""
    arguments = parse_query(query)
    dtype = arguments.get("dtype", "f32")
    tensors, tolerance = tensors_of(scheme, arguments)
    lines = []
    for name, (shape, entries, *own_dtype) in tensors.items():
        stored = own_dtype[0] if own_dtype else dtype
        data = encode(entries, stored)
        lines.append(json.dumps({"name": name, "dtype": stored, "shape": shape, "data": data}))
    return (
        f'{{"scheme": {json.dumps(scheme)},\n'
        f' "arguments": {json.dumps(arguments)},\n'
        f' "tolerance": {json.dumps(tolerance if dtype == "f64" else 0)},\n'
        f' "tensors": [\n  ' + ",\n  ".join(lines) + "\n ]}\n"
    )


def golden_files():
    """The path and content of every golden file."""
    for scheme, cases in CASES.items():
        for name, query in cases.items():
            yield DIRECTORY / scheme / f"{name}.json", golden_text(scheme, query)
    for name, text in similarity_files():
        yield DIRECTORY / "similarity" / f"{name}.json", text


def write():
    for path, text in golden_files():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def check():
    """Name what is wrong; return the exit status."""
    folders = [*CASES, "similarity"]
    strays = {path for folder in folders for path in (DIRECTORY / folder).glob("*")}
    faults = []
    for path, text in golden_files():
        strays.discard(path)
        if not path.is_file():
            faults.append((path, "is missing"))
        elif path.read_text() != text:
            faults.append((path, "differs"))
    faults += [(path, "belongs to no case") for path in sorted(strays)]
    for path, fault in faults:
        print(f"{path.relative_to(DIRECTORY)} {fault}", file=sys.stderr)
    return 1 if faults else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    if parser.parse_args().check:
        return check()
    write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
