"""Witnesses: for each response that /openapi.json describes, tests that bring it about, in
tests/contract/witnesses.json. They run wherever tests are drawn, so that no response is unseen
by chance. `make contract WITNESSES=1` writes the file anew."""

import json
from pathlib import Path

FILE = Path(__file__).resolve().parents[1] / "contract" / "witnesses.json"
MOST = 2  # tests of a response


def read():
    return json.loads(FILE.read_text(encoding="utf-8"))


def all_tests():
    return {test for tests in read().values() for test in tests}


def choose(askers):
    """Of {response: {test that brought it about: seconds}}, MOST tests for each: those that are
    witnesses already, then those that are over soonest."""
    before = read()

    def order(response):
        kept = before.get(response, ())
        return lambda test: (test not in kept, askers[response][test])

    return {
        response: sorted(sorted(tests, key=order(response))[:MOST])
        for response, tests in sorted(askers.items())
    }


def write(askers):
    text = json.dumps(choose(askers), indent=1)
    FILE.write_text(f"{text}\n", encoding="utf-8")


def wrong(described, askers):
    """What is wrong with the file, after a whole run, as lines of text."""
    named = read()
    lines = [f"no test is named for {response}" for response in sorted(described - set(named))]
    lines += [f"{response} is not described" for response in sorted(set(named) - described)]
    for response, tests in named.items():
        if not set(tests) & set(askers.get(response, ())):
            lines.append(f"{response} was not brought about by {' or '.join(tests)}")
    return lines
