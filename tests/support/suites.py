"""Which source files have a unit suite, and which tests cover the others.

Every .c file of lib, api and server has a suite at tests/unit/<same path>, or a line in
tests/unit/without_suite.txt that names the tests which cover it. Prints what is missing or out
of date, and then exits with 1."""

import re
import sys
from fnmatch import fnmatchcase
from pathlib import Path

LIST = Path("tests/unit/without_suite.txt")
SUITES = Path("tests/unit/suites.def")


def sources():
    """The .c files of the layers; the visualiser's belongs to its build."""
    found = (path for layer in ("lib", "api", "server") for path in Path(layer).rglob("*.c"))
    return sorted(str(path) for path in found if "visualiser" not in path.parts)


def has_suite(source):
    suite = Path("tests/unit", source)
    return suite.exists() and re.search(
        r"^Suite \*\w+_suite\(void\)", suite.read_text(), re.MULTILINE
    )


def listed():
    """(pattern, tests) of each line."""
    for line in LIST.read_text().splitlines():
        if line and not line.startswith("#"):
            pattern, *tests = line.split()
            yield pattern, tests


def exists(test, suites):
    return Path(test).is_file() if "/" in test else test in suites


def faults():
    suites = set(re.findall(r"^SUITE\((\w+)\)", SUITES.read_text(), re.MULTILINE))
    lines, lacking = list(listed()), [source for source in sources() if not has_suite(source)]
    for source in lacking:
        if not any(fnmatchcase(source, pattern) for pattern, _ in lines):
            yield f"{source} has neither a suite, tests/unit/{source}, nor a line in {LIST}"
    for pattern, tests in lines:
        if not any(fnmatchcase(source, pattern) for source in lacking):
            yield f"{LIST}: {pattern} is no file without a suite: remove the line"
        if not tests:
            yield f"{LIST}: {pattern} names no test that covers it"
        for test in tests:
            if not exists(test, suites):
                yield f"{LIST}: {pattern} names {test}, which is neither a suite nor a file"


def main():
    found = list(faults())
    for fault in found:
        print(f"suites: {fault}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
