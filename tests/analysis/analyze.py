"""Static analysis: gcc -fanalyzer, clang-tidy and cppcheck over lib, api and server.

analyze.py quick|full: `quick` leaves out clang-tidy, which takes most of the time: of leaks,
double frees, uses after a free, overruns, values that are not set, shifts and formats the other
two find each kind. A finding is a failure unless accepted.txt beside this file names it with a
reason; so is, in a full run, an entry of that file that finds nothing any more."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
LIBPQ = subprocess.run(
    ["pkg-config", "--cflags", "libpq"], capture_output=True, text=True, check=True
).stdout.split()
DEFINES = ["-D_GNU_SOURCE", "-DPE_KERNEL_X86", "-Ilib", "-Iapi", "-Iserver", *LIBPQ]
FINDING = re.compile(
    r"(?P<file>[^\s:]+):(?P<line>\d+):(?:\d+:)? (?P<kind>warning|error|style|"
    r"performance|portability): (?P<text>.*) \[(?P<check>[^]]+)\]$"
)
# what WebAssembly lacks, and what this system has: its names are those of the system's headers
FOREIGN = {"server/module/memory.c"}
SOURCES = sorted(
    str(path)
    for folder in ("lib", "api", "server")
    for path in Path(folder).rglob("*.c")
    if "node_modules" not in path.parts and str(path) not in FOREIGN
)


def run(command):
    """What a tool says, with the exit status left to its findings."""
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout + ended.stderr


def gcc(source):
    return run(
        [
            "gcc",
            "-std=c11",
            *DEFINES,
            "-O1",
            "-pthread",
            "-Wall",
            "-Wextra",
            "-fanalyzer",
            "-S",
            "-o",
            os.devnull,
            source,
        ]
    )


def tidy(source):
    return run(["clang-tidy", "--quiet", source, "--", "-std=c11", *DEFINES])


def cppcheck(folder):
    return run(
        [
            "cppcheck",
            "--quiet",
            "--std=c11",
            "--enable=warning,performance,portability",
            *DEFINES,
            "--error-exitcode=0",
            "--template={file}:{line}: {severity}: {message} [{id}]",
            folder,
        ]
    )


def findings(output):
    """(file, line number, check, text) of each finding, each once."""
    found = set()
    for line in output.splitlines():
        match = FINDING.match(line)
        if match:
            path = os.path.relpath(match["file"])
            check = match["check"].split("=")[-1].split(",")[0]
            found.add((path, int(match["line"]), check, match["text"]))
    return found


def accepted():
    """[(check, file, part of the line)] from "check file: text  # reason"."""
    entries = []
    for number, line in enumerate((HERE / "accepted.txt").read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = re.fullmatch(r"(\S+) (\S+): (.+?)  # (.{10,})", line)
        if not match:
            sys.exit(f'analyze: accepted.txt:{number}: not "check file: text  # reason"')
        entries.append(match.groups()[:3])
    return entries


def is_entry(entry, finding):
    check, path, text = entry
    line = Path(path).read_text().splitlines()[finding[1] - 1] if path == finding[0] else ""
    return check == finding[2] and text in line


def main():
    full = sys.argv[1:] == ["full"]
    jobs = [(cppcheck, folder) for folder in ("lib", "api", "server")]
    jobs += [(tool, source) for source in SOURCES for tool in ((tidy, gcc) if full else (gcc,))]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda job: job[0](job[1]), jobs))
    found = set()
    for (tool, source), (status, output) in zip(jobs, results):
        found |= findings(output)
        if status != 0 and not findings(output):
            sys.exit(f"analyze: {source}: a tool failed:\n{output}")
    entries = accepted()
    new = sorted(f for f in found if not any(is_entry(entry, f) for entry in entries))
    for path, line, check, text in new:
        print(f"{path}:{line}: {text} [{check}]")
    stale = [entry for entry in entries if not any(is_entry(entry, f) for f in found)]
    for check, path, text in stale if full else []:
        print(f"tests/analysis/accepted.txt: {check} {path}: {text}: is found no more")
    print(
        f"analyze: {len(SOURCES)} files, {len(found)} findings, {len(found) - len(new)} "
        f"accepted, {len(new)} not"
    )
    sys.exit(1 if new or (full and stale) else 0)


if __name__ == "__main__":
    main()
