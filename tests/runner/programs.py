"""Tests that are programs, as items of pytest: a unit suite, a fuzz harness, a file of golden
values.

A file stands for its items: tests/unit/suites.def for the unit suites, tests/fuzz/query.c for
the harness of that name. An item runs its program, and counts as many tests as that says it has
run."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TEST_SERVER", "build/posenc-server")).parent
PATIENCE = 1800  # seconds, also under a sanitizer on a busy machine
CHECKS = re.compile(r"^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)$", re.MULTILINE)
SEED = re.compile(r"^TEST_SEED=\d+$", re.MULTILINE)
KEPT = 40  # lines of a program that failed
FAILED = re.compile(r"^(tests/\S+\.c):(\d+):F:")

# `make test` has short forms, `make ci` these, and `make slow` longer ones.
MUTATIONS = {"test": 300, "sanitized": 300, "whole": 3000}
NUMBERS = {"test": 1_000_000, "whole": 4_000_000}
GOLDEN_CASES = {"test": 0.15, "whole": 1}  # the share that is computed anew


class ProgramFailed(Exception):
    """A program's exit status, and what it wrote."""


def asserted(line):
    """The statement that a line of check says has failed, if it is one of the tree's."""
    failed = FAILED.match(line)
    if not failed or not (ROOT / failed[1]).is_file():
        return []
    source = (ROOT / failed[1]).read_text().splitlines()[int(failed[2]) - 1 :]
    statement = re.match(r"ck_assert_msg\(.*?;", " ".join(map(str.strip, source)))
    return [f"  {statement[0]}"] if statement else []


class Program(pytest.Item):
    """Runs `command`, which must exit with 0."""

    command = ()
    count = 1  # tests that it runs, where its output does not say so
    seeded = ""  # what it has drawn by

    def runtest(self):
        ended = subprocess.run(
            self.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="backslashreplace",
            timeout=PATIENCE,
            check=False,
        )
        checked = CHECKS.search(ended.stdout)
        if checked:
            self.count = int(checked[1])
        self.user_properties.append(("tests", self.count))
        if drawn := SEED.search(ended.stdout):
            self.seeded = f"{drawn[0]} "
        if ended.returncode != 0:
            raise ProgramFailed(ended.returncode, ended.stdout)

    def repr_failure(self, excinfo):
        if not isinstance(excinfo.value, ProgramFailed):
            return super().repr_failure(excinfo)
        status, text = excinfo.value.args
        lines = [line for line in text.splitlines() if line.strip()]
        told = [each for line in lines[-KEPT:] for each in (line, *asserted(line))]
        return "\n".join([*told, f"exit status {status}"])

    def reportinfo(self):
        return self.path, 0, self.nodeid

    def rerun(self):
        """The command that runs it alone."""
        return f"{self.seeded}{' '.join(self.command)}"


class Golden(Program):
    """Recomputes lines of one file, in this process: mpmath is loaded once."""

    def runtest(self):
        if str(self.path.parent) not in sys.path:
            sys.path.append(str(self.path.parent))
        import write_golden

        share = length_of(self.config, GOLDEN_CASES)
        if faults := write_golden.faults_in(self.path.stem, share):
            raise ProgramFailed(1, "\n".join(faults))

    def rerun(self):
        return f"{sys.executable} -B tests/golden/write_golden.py --check {self.path.stem}"


class Programs(pytest.File):
    """The items of one file: (name, command) each."""

    kind = Program
    commands = ()

    def collect(self):
        for name, command in self.commands:
            item = self.kind.from_parent(self, name=name)
            item.command = command
            yield item


def length_of(config, lengths):
    return lengths.get(config.getoption("part"), lengths["whole"])


def suites(path, config):
    unit = BUILD / "unit-tests"
    return [
        (name, (unit, name)) for name in re.findall(r"(?m)^SUITE\((\w+)\)", path.read_text())
    ]


def harness(path, config):
    mutations = str(length_of(config, MUTATIONS))
    return [(path.stem, (BUILD / "fuzz-replay", "--mutations", mutations, path.stem))]


def digits(path, config):
    return [("digits", (BUILD / "digits-tests", str(length_of(config, NUMBERS))))]


def buckets(path, config):
    return [("buckets", (sys.executable, "-B", path, BUILD / "bucket-runs"))]


def hardening(path, config):
    return [(name, ("sh", path, BUILD / name)) for name in ("posenc-server", "posenc")]


def golden(path, config):
    return [(path.stem, ())]


ITEMS = {
    "unit/suites.def": (Program, suites),
    "fuzz/*.c": (Program, harness),
    "digits/main.cc": (Program, digits),
    "buckets/check.py": (Program, buckets),
    "support/hardening.sh": (Program, hardening),
    "golden/*.jsonl": (Golden, golden),
}


def pytest_collect_file(file_path, parent):
    for pattern, (kind, commands) in ITEMS.items():
        if file_path == ROOT / "tests" / pattern or file_path.match(f"tests/{pattern}"):
            found = Programs.from_parent(parent, path=file_path)
            found.kind = kind
            found.commands = [
                (name, tuple(map(readable, command)))
                for name, command in commands(file_path, parent.config)
            ]
            return found
    return None


def readable(argument):
    """A path below the repository without its prefix, so that a command is short."""
    path = Path(argument)
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(argument)
