"""Deadlines of a second or two can only be judged while the machine runs: one that stands still
for longer makes every client late, and a server is right to end its connection."""

import functools
import http.client
import sys
import threading
import time

PATIENCE = 600  # seconds to wait for a machine that runs
FAILURES = AssertionError, OSError, EOFError, http.client.HTTPException
LOOK = 0.02  # seconds between two looks at the clock


class Standstill(threading.Thread):
    """Measures the longest time for which this process did not run."""

    def __init__(self):
        super().__init__(daemon=True)
        self.longest, self.ended = 0, threading.Event()

    def run(self):
        before, ended = time.monotonic(), False
        while not ended:
            ended = self.ended.wait(LOOK)
            now = time.monotonic()
            self.longest, before = max(self.longest, now - before), now

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join()


def prepare_again(case):
    """What unittest does between two tests."""
    case.tearDown()
    case.doCleanups()
    case.setUp()


def repeated(test, seconds):
    @functools.wraps(test)
    def judged(*arguments):
        deadline = time.monotonic() + PATIENCE
        while True:
            with Standstill() as still:
                try:
                    return test(*arguments)
                except FAILURES as failure:
                    reason = failure
            if still.longest < seconds or time.monotonic() > deadline:
                raise reason
            note = f"the machine stood still for {still.longest:.1f} s: once more"
            print(f"{test.__qualname__}: {note}", file=sys.stderr, flush=True)
            prepare_again(*arguments)

    return judged


def steadily(seconds):
    """For a test or a class of tests: repeat one that failed while this process did not run for
    so many seconds."""

    def decorate(case):
        if not isinstance(case, type):
            return repeated(case, seconds)
        for name, test in list(vars(case).items()):
            if name.startswith("test_"):
                setattr(case, name, repeated(test, seconds))
        return case

    return decorate
