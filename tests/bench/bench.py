"""posenc against its peers: ratios measured by turns in one run, medians over rounds.

Whatever peer is not installed is named (make deps-bench installs all). Loopback only.
"""

import argparse
import json
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import peers
import rows


@dataclass(frozen=True)
class Pace:
    rounds: int
    runs: int  # of what is timed alone; the best counts
    seconds: float  # of our own client
    wrk_seconds: int
    heats: int
    heat_seconds: float


FULL = Pace(rounds=5, runs=3, seconds=1, wrk_seconds=2, heats=3, heat_seconds=0.4)
QUICK = Pace(rounds=1, runs=2, seconds=0.25, wrk_seconds=1, heats=1, heat_seconds=0.1)


class Bench:
    """What the rows share: servers, choices made, numbers not used before, remarks."""

    def __init__(self, servers, pace):
        self.peers, self.pace = servers, pace
        self.notes, self.chosen, self.numbers = [], {}, 1

    def note(self, text):
        self.notes.append(text)

    def fresh_numbers(self, count):
        first = self.numbers
        self.numbers += count
        return first

    def measure(self, row):
        """The row's outcome: values of all rounds, or why there are none."""
        self.notes = []
        outcome = {"what": row.what, "against": row.against, "unit": row.unit, "rounds": []}
        if row.aim:
            outcome["aim"] = row.aim.limit
            outcome["at_most"] = row.aim.at_most
        start = time.monotonic()
        try:
            measure_round = row.prepare(self)
            outcome["rounds"] = [measure_round() for _ in range(self.pace.rounds)]
            outcome["value"] = statistics.median(outcome["rounds"])
        except peers.Missing as missing:
            outcome["missing"] = f"not installed: {missing}"
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:
            outcome["failed"] = str(error)
        outcome["notes"], outcome["seconds"] = self.notes, time.monotonic() - start
        if row.aim and "value" in outcome:
            outcome["reached"] = row.aim.reached(outcome["value"])
        return outcome


# ---- printing ----


def amount(value, unit):
    digits = 2 if value < 100 else 0
    return f"{value:.{digits}f}{'' if unit == 'x' else ' '}{unit}"


def cells(outcome):
    """what, against, result, aim, how much of the aim is reached"""
    unit = outcome["unit"]
    result = amount(outcome["value"], unit) if "value" in outcome else "-"
    aim = mark = ""
    if "aim" in outcome:
        space = "" if unit == "x" else " "
        aim = f"{'<=' if outcome['at_most'] else '>='} {outcome['aim']:g}{space}{unit}"
    if "reached" in outcome:
        mark = "met" if outcome["reached"] >= 1 else f"{outcome['reached']:.0%}"
    remarks = [outcome.get("missing"), outcome.get("failed"), *outcome["notes"]]
    return [
        outcome["what"],
        outcome["against"],
        result,
        aim,
        "; ".join(filter(None, [mark, *remarks])),
    ]


HEADINGS = ["what", "against", "result", "aim", "reached"]


def print_plain(columns):
    print("{:46} {:28} {:>9}  {:9} {}".format(*columns).rstrip(), flush=True)


def print_markdown(columns):
    print("| " + " | ".join(columns) + " |", flush=True)


# ---- what is measured, and where ----


def first_line(*command):
    """What a program says of its version, on whichever output."""
    try:
        ended = subprocess.run(
            [peers.program(command[0]), *command[1:]],
            capture_output=True,
            text=True,
            check=False,
        )
    except peers.Missing:
        return f"no {command[0]}"
    return ((ended.stdout + ended.stderr).splitlines() or [command[0]])[0]


def module_version(name):
    try:
        return f"{name} {metadata.version(name)}"
    except metadata.PackageNotFoundError:
        return f"no {name}"


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def describe(pace):
    """When, on what and against which versions: one sentence each."""
    programs = [
        first_line(str(peers.BUILD / "posenc-server"), "--version"),
        first_line("nginx", "-v").replace("nginx version: ", ""),
        first_line("lighttpd", "-v").split(" - ")[0].split(" (")[0],
        " ".join(first_line("wrk", "-v").split()[:2]),
    ]
    modules = [
        module_version(name)
        for name in ("numpy", "torch", "fastapi", "uvicorn", "uvloop", "httptools", "h11")
    ]
    return (
        f"{time.strftime('%Y-%m-%d')}, {processor()}, {peers.PROCESSORS} processors, "
        f"Linux {platform.release()}, medians of {pace.rounds} rounds by turns. "
        f"{', '.join(programs)}, Python {platform.python_version()}, {', '.join(modules)}."
    )


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick",
        action="store_true",
        help="one short round of the rows that have an aim, under a minute",
    )
    parser.add_argument(
        "--only",
        metavar="WORD",
        default="",
        help="only rows whose name or peer contains the word",
    )
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument(
        "--json", metavar="FILE", help="write every round's value there as well"
    )
    return parser.parse_args()


def main():
    given = arguments()
    pace = QUICK if given.quick else FULL
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # servers are ended on the way out
    chosen = [
        row
        for row in rows.all_rows()
        if (row.aim or not given.quick)
        and given.only.lower() in f"{row.what} {row.against}".lower()
    ]
    if not chosen:
        sys.exit(f"bench: no row contains {given.only!r}")
    about = describe(pace)
    print(about + "\n")
    show = print_markdown if given.markdown else print_plain
    show(HEADINGS)
    if given.markdown:
        show(["---", "---", "---:", "---:", "---"])
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        with peers.Peers(folder) as servers:
            bench = Bench(servers, pace)
            for row in chosen:
                outcomes.append(bench.measure(row))
                show(cells(outcomes[-1]))
    if given.json:
        Path(given.json).write_text(json.dumps({"about": about, "rows": outcomes}, indent=1))
    return any("failed" in outcome for outcome in outcomes)


if __name__ == "__main__":
    sys.exit(main())
