"""Whether two builds of the server give the same answers: starts both, sends both the same
random requests, and compares status, headers and body. `make same-answers` runs it.

    same_answers.py OLD NEW [--requests 2000] [--seed N] [--texts]

What is drawn follows the tables that OLD publishes (draws.py); what may differ is in
comparison.py. Both need the same visualiser, or none. Either may be the WebAssembly module,
the path of its posenc.js: then what it is not asked is counted by reason (module.py)."""

import argparse
import contextlib
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import mistakes
import module
from comparison import ENDED, Answer, Finding, compare
from draws import MOST, PATIENT, SHARE, Draw, Scout
from random_requests import SPARE, Requests
from server import Server

KEY = "a-key-of-the-comparison"
# Small, so that small tables are streamed and small requests meet every limit
FLAGS = (
    "--cache-bytes", str(4 * SHARE), "--max-elements", str(MOST // 2), "--threads", "2",
    "--json-max-elements", str(MOST // 8), "--png-max-pixels", str(MOST // 8),
    "--max-list-length", str(mistakes.LIST_LIMIT), "--max-body-bytes", str(mistakes.BODY_LIMIT),
    "--max-target-bytes", str(mistakes.TARGET_LIMIT), "--max-upload-bytes", str(MOST),
)  # fmt: skip
ON_DISK = 0.12  # of the requests go to servers with sets on disk and a key
CLASSES = ("2xx", "3xx", "4xx", "5xx", "other")
OUTCOMES = ("equal", "but for texts", "different")
SOON = 2  # seconds in which a server that does not answer ends, if it does
LONGEST = 400  # characters of a target, a header or a text that are shown


class Side:
    """One of the servers, and a connection that is kept."""

    def __init__(self, command, flags):
        self.binary, *more = command
        self.flags = (*FLAGS, *flags, *more)
        self.start()

    def start(self):
        self.server = Server(*self.flags, binary=self.binary)
        self.wire = self.server.wire()

    def stop(self):
        self.wire.close()
        self.server.stop()

    def restart(self):
        if self.server.process.poll() is None:
            self.stop()
        else:
            self.server.kill()  # what is left to do
        self.start()

    def renew(self):
        self.wire.close()
        with contextlib.suppress(
            ConnectionError
        ):  # that it has ended is found by the next request
            self.wire = self.server.wire()

    def send(self, asked, tag):
        headers = {name: value.replace("{tag}", tag) for name, value in asked.headers.items()}
        with contextlib.suppress(OSError):  # refused while we were sending: the answer is there
            if asked.raw is not None:
                self.wire.send(asked.raw)
            else:
                self.wire.ask(asked.method, asked.target, headers, asked.body, asked.version)

    def receive(self, asked):
        try:
            if asked.raw is not None:
                answer = Answer(0, [], self.rest())
            else:
                reply = self.wire.receive(asked.method)
                answer = Answer(reply.status, reply.fields, reply.body)
        except (AssertionError, EOFError, OSError, ValueError) as error:
            answer = self.failure(error)
        ends = (answer.header("Connection") or "").lower() == "close"
        if ends or answer.status == 0 or asked.version != "1.1":
            self.renew()
        return answer

    def rest(self):
        """Everything until the server closes, as far as it comes."""
        parts = []
        with contextlib.suppress(ConnectionResetError):  # closed with bytes of ours unread
            while data := self.wire.socket.recv(1 << 16):
                parts.append(data)
        return b"".join(parts)

    def failure(self, error):
        try:
            self.server.process.wait(SOON)
        except subprocess.TimeoutExpired:
            return Answer(0, [], b"", f"no answer: {type(error).__name__}")
        return Answer(0, [], self.server.log().encode(), ENDED)


def side_of(command, flags):
    """A side by its command: a program and its own flags, or posenc.js."""
    if module.is_module(command[0]):
        return module.ModuleSide(command[0], (*FLAGS, *flags, *command[1:]))
    return Side(command, flags)


class Difference(NamedTuple):
    asked: object
    what: str


class Record:
    """What was asked, and how the answers compared."""

    def __init__(self):
        self.classes, self.outcomes = {}, {}  # {kind: Counter}
        self.differences, self.only_texts = [], []
        self.unanswered = []  # by both
        self.texts = Counter()
        self.features = set()
        self.skipped = Counter()  # what the module is not asked, by reason

    def add(self, asked, old, finding):
        streamed = "streamed" in (old.header("Cache-Status") or "")
        kind = f"{asked.kind}, streamed" if streamed else asked.kind
        status = f"{old.status // 100}xx"
        self.classes.setdefault(kind, Counter())[status if status in CLASSES else "other"] += 1
        self.outcomes.setdefault(kind, Counter())[self.sort(asked, old, finding)] += 1
        if old.status in (200, 206):
            self.features |= asked.features

    def sort(self, asked, old, finding):
        """Keep what is to be told, and return the outcome."""
        if not finding:
            if old.failure:
                self.unanswered.append(Difference(asked, f"{old.failure} {old.body.decode()}"))
            return "equal"
        if finding.texts is None:
            self.differences.append(Difference(asked, finding.what))
            return "different"
        self.only_texts.append(Difference(asked, finding.what))
        self.texts.update(finding.texts)
        return "but for texts"

    def count(self, outcome):
        return sum(counts[outcome] for counts in self.outcomes.values())

    def total(self):
        return sum(counts.total() for counts in self.outcomes.values())


def converse(old, new, requests, count, record):
    """Send what is fixed and so many random requests to both."""

    beside_module = any(isinstance(side, module.ModuleSide) for side in (old, new))

    def answers_to(asked):
        for side, tag in zip((old, new), asked.tags):
            side.send(asked, tag)
        answers = old.receive(asked), new.receive(asked)
        return tuple(map(module.without_wire, answers)) if beside_module else answers

    def exchange(asked):
        reason = beside_module and module.reason_to_skip(
            asked.method, asked.target, asked.headers, asked.version, asked.raw
        )
        if reason:
            record.skipped[reason] += 1
            return
        answers = answers_to(asked)
        finding = compare(asked, *answers)
        if finding and finding.texts == [] and asked.method == "HEAD":
            # only the whole shows what the texts are
            plain = {name: text for name, text in asked.headers.items() if name[:3] != "If-"}
            whole = asked._replace(method="GET", headers=plain)
            finding = compare(whole, *answers_to(whole)) or Finding(finding.what)
        record.add(asked, answers[0], finding)
        requests.remember(asked, *answers)
        if ENDED in (answers[0].failure, answers[1].failure):
            for side in (old, new):  # both, so that they hold the same
                side.restart()
            for upload in requests.uploads():
                answers_to(upload)

    for asked in requests.first():
        exchange(asked)
    for _ in range(count):
        exchange(requests.next())
    for asked in requests.last():
        exchange(asked)


def run_pair(old, new, flags, requests, count, record):
    """Compare two commands, each a program and its own flags."""
    with contextlib.ExitStack() as stack:
        sides = []
        for command, own in zip((old, new), flags):
            sides.append(side_of(command, own))
            stack.callback(sides[-1].stop)
        converse(*sides, requests, count, record)


def flags_on_disk(directory, name):
    key = directory / "key"
    key.write_text(f"{KEY}\n")
    key.chmod(0o600)
    return (
        "--data-dir",
        str(directory / name),
        "--api-key-file",
        str(key),
        "--access-log",
        "--set-cache-bytes",
        "4096",
    )


def run(old, new, count, seed):
    """Compare two commands; (Record, the goals that were drawn)."""
    chance, record = random.Random(seed), Record()
    servers = [side[0] for side in (old, new) if not module.is_module(side[0])]
    scout_server = Server(*FLAGS, *PATIENT, binary=servers[0])
    try:
        draw = Draw(chance, Scout(scout_server))
        on_disk = int(count * ON_DISK) if len(servers) == 2 else 0
        room = (
            "--max-stored-sets",
            str(len(draw.sets) + len(SPARE) - 1),
        )  # not for all at once
        requests = Requests(chance, draw, Requests.ALL)
        run_pair(old, new, (room, room), requests, count - on_disk, record)
        if on_disk == 0:
            return record, requests.goals
        with tempfile.TemporaryDirectory(prefix="posenc-") as directory:
            flags = [(*room, *flags_on_disk(Path(directory), name)) for name in ("old", "new")]
            run_pair(
                old, new, flags, Requests(chance, draw, Requests.STORE, KEY), on_disk, record
            )
    finally:
        scout_server.stop()
    return record, requests.goals


# ---- the report ----


def shown(text):
    text = text if isinstance(text, str) else text.decode("utf-8", "backslashreplace")
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text)} characters)"


def print_differences(differences, word):
    for asked, what in differences:
        print(f"{word}: {asked.method or 'bytes'} {shown(asked.target)}")
        if asked.headers:
            print(f"  with {shown(str(asked.headers))}")
        if asked.body:
            print(f"  with the body {shown(repr(asked.body))}")
        print(f"  {shown(what)}")


def print_texts(texts):
    for (old, new), times in texts.most_common():
        print(f"text, {times} times:\n  {shown(old)}\n  {shown(new)}")


def print_table(record):
    columns = (*CLASSES, *OUTCOMES)
    print(f"{'requests':<28}" + "".join(f"{name:>{max(7, len(name) + 2)}}" for name in columns))
    totals = Counter()
    for kind in sorted(record.classes):
        print_row(kind, record.classes[kind] + record.outcomes[kind], columns)
        totals += record.classes[kind] + record.outcomes[kind]
    print_row("all", totals, columns)


def print_row(kind, counts, columns):
    cells = "".join(f"{counts[name] or '.':>{max(7, len(name) + 2)}}" for name in columns)
    print(f"{kind:<28}{cells}")


def print_skipped(record):
    for reason, times in record.skipped.most_common():
        print(f"not asked, {times} times: {reason}")
    if record.skipped:
        fields = ", ".join(f"{name} ({why})" for name, why in module.OF_THE_WIRE.items())
        print(f"not compared: {fields}")


def print_coverage(record, goals):
    """How much of what OLD's tables list was in a request that succeeded."""
    wanted = {(goal.scheme.path, goal.name, goal.text) for goal in goals}
    missed = sorted(
        " ".join(str(part) for part in goal if part) for goal in wanted - record.features
    )
    print(
        f"covered: {len(wanted) - len(missed)} of {len(wanted)} parameters, choices, formats, "
        "tensors and presets of all paths; not every one is legal"
    )
    if missed:
        print(shown(f"not covered: {', '.join(missed)}"))


def main(arguments):
    parser = argparse.ArgumentParser(description="whether two builds give the same answers")
    parser.add_argument("old", help="path of a posenc-server, or of a posenc.js")
    parser.add_argument("new", help="path of another one")
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**9)
    parser.add_argument(
        "--texts", action="store_true", help="texts that people read may differ"
    )
    given = parser.parse_args(arguments)
    began = time.monotonic()
    print(f"same answers: seed {given.seed}", flush=True)
    record, goals = run((given.old,), (given.new,), given.requests, given.seed)
    if given.texts:
        print_texts(record.texts)
    else:
        print_differences(record.only_texts, "text")
    print_differences(record.differences, "different")
    print_differences(record.unanswered, "answered by neither")
    print_table(record)
    print_skipped(record)
    print_coverage(record, goals)
    different = record.count("different") + (
        0 if given.texts else record.count("but for texts")
    )
    print(
        f"same answers: {different} of {record.total()} differ, seed {given.seed}, "
        f"{time.monotonic() - began:.0f} s"
    )
    return 1 if different or record.unanswered else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
