#!/usr/bin/python3
"""Write the golden files SCHEME.jsonl next to this program, a line for each case; needs mpmath.

README.md says what a line holds and where the values come from; similarity.jsonl holds no
scheme's tensors, and similarity.py says what its lines hold.

With --check nothing is written: every case whose line differs, is missing or should not be
there is named, and the exit status is 1 if there is one. `--check rope` looks at that file
alone.
"""

import argparse
import json
import os
import random
import sys
from pathlib import Path

from axes import AXES
from biases import BIASES
from cases import CASES as PLAIN_CASES
from cases_axes import AXES_CASES
from cases_biases import BIASES_CASES
from cases_decays import DECAYS_CASES
from cases_relative import RELATIVE_CASES
from cases_resampling import RESAMPLING_CASES
from cases_rotary import ROTARY_CASES
from cases_trained import TRAINED_CASES
from decays import DECAYS
from floats import encode
from relative import RELATIVE
from resampling import RESAMPLING
from rotary import F64_TOLERANCE, ROTARY
from schemes import SCHEMES
from similarity import CASES as SIMILARITY_CASES
from similarity import similarity_line
from trained import TRAINED

CASES = (
    PLAIN_CASES
    | ROTARY_CASES
    | AXES_CASES
    | TRAINED_CASES
    | RELATIVE_CASES
    | BIASES_CASES
    | DECAYS_CASES
    | RESAMPLING_CASES
)
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
    families = {**ROTARY, **AXES, **TRAINED, **RELATIVE, **BIASES, **DECAYS, **RESAMPLING}
    return families[scheme](arguments)


def golden_line(scheme, name, query):
    """The line of one case."""
    arguments = parse_query(query)
    dtype = arguments.get("dtype", "f32")
    tensors, tolerance = tensors_of(scheme, arguments)
    stored = []
    for tensor, (shape, entries, *own_dtype) in tensors.items():
        kept = own_dtype[0] if own_dtype else dtype
        data = encode(entries, kept)
        stored.append({"name": tensor, "dtype": kept, "shape": shape, "data": data})
    return json.dumps(
        {
            "case": name,
            "scheme": scheme,
            "query": query,
            "tolerance": tolerance if dtype == "f64" else 0,
            "tensors": stored,
        }
    )


NAMES = (*CASES, "similarity")


def path_of(name):
    return DIRECTORY / f"{name}.jsonl"


def cases_of(name):
    """What a golden file should hold: the queries of its lines by the names of their cases."""
    return dict(sorted((SIMILARITY_CASES if name == "similarity" else CASES[name]).items()))


def line_of(name, case, query):
    """The line of a case in the file of this name."""
    is_matrix = name == "similarity"
    return similarity_line(case, query) if is_matrix else golden_line(name, case, query)


def write():
    for name in NAMES:
        lines = [line_of(name, *case) for case in cases_of(name).items()]
        path_of(name).write_text("".join(f"{line}\n" for line in lines))


def case_of(line):
    """The name of a stored line's case, None if it has none."""
    try:
        return json.loads(line)["case"]
    except (ValueError, KeyError, TypeError):
        return None


def drawn(cases, share):
    """A share of the cases, drawn by the seed of the tests, at least one."""
    draw = random.Random(os.environ.get("TEST_SEED"))
    return draw.sample(list(cases), max(1, round(len(cases) * share)))


def faults_of(name, cases, share):
    """What is wrong with the golden file that should have these cases. Values are computed anew
    for a share of them."""
    path = path_of(name)
    if not path.is_file():
        return ["is missing"]
    text = path.read_text()
    stored = text.splitlines()
    names = [case_of(line) for line in stored]
    by_name = dict(zip(names, stored))
    faults = [f"{case} is missing" for case in cases if case not in by_name]
    faults += [f"line {i} is no case" for i, case in enumerate(names, 1) if case is None]
    faults += [f"{case} belongs to no case" for case in by_name if case and case not in cases]
    if not faults and (names != list(cases) or not text.endswith("\n")):
        faults.append("is not a line for each case, sorted by their names")
    return faults or [
        f"{case} differs"
        for case in drawn(cases, share)
        if line_of(name, case, cases[case]) != by_name[case]
    ]


def faults_in(name, share=1):
    """What is wrong with the file of this name."""
    known = name in NAMES
    faults = faults_of(name, cases_of(name), share) if known else ["belongs to no scheme"]
    return [f"{name}.jsonl: {fault}" for fault in faults]


def check(names):
    """Name what is wrong with these files, or with strays beside all of them; return the exit
    status."""
    strays = {path.stem for path in DIRECTORY.glob("*.jsonl")} - set(NAMES)
    looked_at = [*names, *sorted(strays)] if names is NAMES else names
    faults = [fault for name in looked_at for fault in faults_in(name)]
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument(
        "names", nargs="*", choices=[[], *NAMES], metavar="NAME", help="these files alone"
    )
    given = parser.parse_args()
    if given.check:
        return check(given.names or NAMES)
    write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
