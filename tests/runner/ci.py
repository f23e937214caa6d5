"""ci.py LOGS: run the parts of `make ci`, three at a time, and say how each went.

Tests wait for servers, browsers and time to pass; compilers and analysers only compute. So
tests run one after the other, and what computes runs beside them in two lanes, since some of it
keeps one processor busy or waits for packages. When nothing is left to compute, these lanes
take tests, too, from the end of the list: what takes longest does not come last. All have the
same priority: what computes would stand still for hours beside other work. Each part is a
target of make, whose output goes to LOGS/TARGET.log; what failed is shown last."""

import os
import re
import subprocess
import sys
import threading
import time
from collections import deque
from pathlib import Path

TESTS = "browser sanitize kubernetes installed fleet postgres test-wasm rest".split()
# what others wait for first, then the longest
COMPUTING = (
    "sanitize-build",
    "check-bare",
    "analyze-quick",
    "check-builds",
    "wasm-programs",
    "tsan",
    "check",
    "valgrind",
    "check-page",
)
LANES = 2  # of what computes
AFTER = {"sanitize": "sanitize-build", "test-wasm": "wasm-programs"}
SHOWN = 26  # lines of what failed
# how many tests a part has run, as pytest, Check and unittest say it
PASSED = re.compile(r"^\w+: (\d+) passed, \d+ failed(?:, (\d+) skipped)?$", re.MULTILINE)
CHECKS = re.compile(r"^\d+%: Checks: (\d+), Failures: 0, Errors: 0$", re.MULTILINE)
UNITTESTS = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)
NOISE = re.compile(r"make(\[\d+\])?: (Entering|Leaving) directory|^\s*$")


class Part:
    def __init__(self, target, log):
        self.target, self.log = target, log
        self.status, self.ended = None, threading.Event()

    def run(self):
        """Make the target, as from a shell: with a job server of its own."""
        began = time.monotonic()
        environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
        }
        with open(self.log, "wb") as log:
            process = subprocess.Popen(
                ["make", self.target],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
            )
            _, status, used = os.wait4(process.pid, 0)
        process.returncode = self.status = os.waitstatus_to_exitcode(status)
        seconds, processor = time.monotonic() - began, used.ru_utime + used.ru_stime
        self.ended.set()
        said = "ok    " if self.status == 0 else "FAILED"
        print(
            f"{said} {self.target:14} {seconds:4.0f} s, {processor:4.0f} s of processors",
            flush=True,
        )

    def text(self):
        return self.log.read_text(errors="replace")

    def counts(self):
        """(tests that passed, tests that were skipped); what has no tests counts as one."""
        text = self.text()
        found = [*CHECKS.findall(text), *UNITTESTS.findall(text)]
        pairs = PASSED.findall(text)
        passed = sum(map(int, found)) + sum(int(count) for count, _ in pairs)
        return passed or int(self.status == 0), sum(int(count or 0) for _, count in pairs)


def parts_of(*takes):
    """The parts that no other lane has taken, until none is left."""
    for take in takes:
        try:
            while True:
                yield take()
        except IndexError:
            pass


def run_lane(waiting, all_parts):
    for part in waiting:
        if part.target in AFTER:
            all_parts[AFTER[part.target]].ended.wait()
        part.run()


def show(failed):
    """The ends of the logs, so that all of them fit on a screen."""
    most = max(4, SHOWN // len(failed) - 1)
    for part in failed:
        lines = [line for line in part.text().splitlines() if not NOISE.search(line)]
        print(f"FAILED {part.target}, in {part.log}:")
        print("\n".join(f"  {line[:200]}" for line in lines[-most:]))


def main(logs):
    logs = Path(logs)
    logs.mkdir(parents=True, exist_ok=True)
    tests, computing = (
        deque(Part(target, logs / f"{target}.log") for target in targets)
        for targets in (TESTS, COMPUTING)
    )
    parts = {part.target: part for part in (*tests, *computing)}
    lanes = [parts_of(tests.popleft)]
    lanes += [parts_of(computing.popleft, tests.pop) for _ in range(LANES)]
    threads = [threading.Thread(target=run_lane, args=(lane, parts)) for lane in lanes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    failed = [part for part in parts.values() if part.status != 0]
    counts = [part.counts() for part in parts.values()]
    if failed:
        show(failed)
    passed, skipped = (sum(numbers) for numbers in zip(*counts))
    more = f", {skipped} skipped" if skipped else ""
    print(f"ci: {passed} passed, {len(failed)} failed{more}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
