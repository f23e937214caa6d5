"""What pytest prints last: for each failure its name, what was expected and found, the command
that runs it alone and the server's last words; then one line with the number of tests."""

import os
import re
import shlex
import sys
import unittest
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest

SHOWN = 4  # failures; the rest is counted
LINES = 30  # of the terminal, for all of them
LOG_LINES = 3  # of the server
COLUMNS = 280  # of a line
# what says nothing about why
NOISE = re.compile(r"Running suite|Traceback|^\s*File \"|^During handling|^\s*[~^]+$")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        report.user_properties.append(("rerun", command_for(item)))
        report.user_properties.append(("server", server_lines()))


def server_classes():
    """Server of tests/http and of tests/interop, as far as they are loaded."""
    found = (sys.modules.get(name) for name in ("server", "service"))
    return [module.Server for module in found if module]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup():
    """Forget the servers of other tests, which have ended."""
    for kind in server_classes():
        running = [each for each in kind.recent if each.process.poll() is None]
        kind.recent.clear()
        kind.recent.extend(running)


@contextmanager
def named_case(_, message=None, **parameters):
    """A failure names the subtest that it is in; pytest itself makes nothing of subtests."""
    try:
        yield
    except Exception as error:
        told = [str(message)] if message else []
        told += [f"{name}={value!r}" for name, value in parameters.items()]
        error.add_note(f"in {', '.join(told)}")
        raise


def pytest_configure():
    unittest.TestCase.subTest = named_case


def command_for(item):
    if hasattr(item, "rerun"):
        return item.rerun()
    settings = " ".join(
        f"{name}={shlex.quote(os.environ[name])}"
        for name in ("TEST_SEED", "TEST_SERVER", "INSTALLED")
        if name in os.environ
    )
    proxy = " --contract" if item.config.getoption("contract") else ""
    python = os.path.relpath(sys.executable) if in_tree(sys.executable) else sys.executable
    return f"{settings} {python} -B -m pytest{proxy} {shlex.quote(item.nodeid)}"


def in_tree(path):
    return Path(path).is_relative_to(Path.cwd())


def server_lines():
    """The last lines that the servers of this test have written, if any."""
    recent = [each for kind in server_classes() for each in kind.recent]
    lines = [line for each in recent for line in each.last_words()]
    return [line for line in lines if line.strip()][-LOG_LINES:]


def reasons(report):
    """The lines of a failure that say what was expected and found."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash else str(report.longrepr)
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not NOISE.search(line)]
    if crash and str(crash.path).startswith(os.getcwd()):
        lines[:0] = [f"{os.path.relpath(crash.path)}:{crash.lineno}:"]
    return lines


def shorten(lines, most):
    """At most so many lines, none too long: the first ones and the last one."""
    kept = lines if len(lines) <= most else [*lines[: most - 1], lines[-1]]
    return [line if len(line) <= COLUMNS else f"{line[:COLUMNS]} …" for line in kept]


def block(report, most):
    properties = dict(getattr(report, "user_properties", ()))
    server = [f"server: {line}" for line in properties.get("server", [])]
    when = getattr(report, "when", "collect")
    lines = [f"FAILED {report.nodeid}" + ("" if when == "call" else f" ({when})")]
    lines += [f"  {line}" for line in shorten(reasons(report), most - 2 - len(server))]
    lines += [f"  {line}" for line in shorten(server, LOG_LINES)]
    rerun = properties.get("rerun")
    return [*lines, f"  alone: {rerun}"] if rerun else lines


def failures(reporter):
    found = reporter.stats.get("failed", []) + reporter.stats.get("error", [])
    return [report for report in found if hasattr(report, "nodeid")]


def show_skipped(reporter):
    """Each reason once, with the number of its tests."""
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ").split("\n")[0]
        for report in reporter.stats.get("skipped", [])
    )
    for reason, count in sorted(reasons.items()):
        reporter.write_line(f"skipped {count}: {reason}")


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter):
    show_skipped(terminalreporter)
    failed = failures(terminalreporter)
    if not failed:
        return
    shown = failed[:SHOWN]
    most = (LINES - 3) // len(shown)
    for report in shown:
        for line in block(report, most):
            terminalreporter.write_line(line)
    if len(failed) > len(shown):
        terminalreporter.write_line(f"and {len(failed) - len(shown)} more that failed, above")


def tests_of(report):
    return dict(report.user_properties).get("tests", 1)


class LastLine:
    """Says what is left out, and how many tests there were, after all that pytest prints."""

    def __init__(self, config):
        self.config, self.status = config, 0

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        self.status = int(session.exitstatus)

    def tally(self, reporter):
        passed = sum(map(tests_of, reporter.stats.get("passed", [])))
        failed = max(len(failures(reporter)), int(self.status != 0))
        skipped = len(reporter.stats.get("skipped", []))
        return f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else "")

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self):
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        if not reporter or not self.config.getoption("name"):
            return
        if said := self.config.getoption("leaves_out"):
            reporter.write_line(said)
        reporter.write_line(f"{self.config.getoption('name')}: {self.tally(reporter)}")
