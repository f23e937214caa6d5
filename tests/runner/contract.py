"""--contract: what tests exchange with servers goes through Prism, a validating proxy, and no
answer is but as /openapi.json describes it. Each process has a Prism; the first process gathers
what all have seen."""

import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "contract"))

# What cannot pass a proxy, by its nature. (In the other modules, bytes that a test writes to a
# socket itself go directly, too; they are counted as little as these.)
OUTSIDE = {
    "test_framing": "bytes that are no HTTP, or nearly none: a proxy would mend or refuse them",
    "test_deadlines": "clients that stop in the middle, watched by the clock",
    "test_overload": "queues held full for moments",
    "test_load": "many clients at once, and what they cost the server",
    "test_soak": "random traffic, much of it broken off, on sockets of its own",
    "test_event_threads": "bodies of megabytes, made to hurt, which the proxy would parse",
    "test_memory_budget": "the same, from many clients at once",
    "test_memory": "thousands of times the same request, one allocation of which fails each "
    "time",
    "test_model_identity.Names": "names with a slash inside, which no template of a path has",
    "test_model_identity.Texts": "bodies that begin with a byte order mark, which are no JSON",
    "test_models.PythonsJson": "numbers as Python writes them, which are no JSON",
    "test_peers": "configs as Python writes them, with numbers that are no JSON",
    "test_command_random": "random requests, whose bodies may be no JSON",
    "test_confusion": "hundreds of random tables, on sockets of its own",
    "test_identify_tables": "hundreds of tables, whose answers are as those in test_identify",
    "test_identify_relative": "the same for tables of relative positions",
    "test_compare.LongBodies": "bodies of 32 MiB, in chunks, and clients that leave in the "
    "middle",
    "test_floater.Load": "how long a hit may take beside a long computation",
    "test_lifecycle": "processes that end, sockets handed over",
    "test_unix_sockets": "sockets that a proxy does not know",
}

# Responses that no test of the other modules brings about.
UNSEEN = {
    "NotImplemented": "framing, in test_framing alone",
    "NotReady": "starts and endings, in test_lifecycle alone",
}


def is_outside(nodeid):
    module, *names = nodeid.split("::")
    module = Path(module).stem
    return module in OUTSIDE or f"{module}.{names[0] if names else ''}" in OUTSIDE


def may_be_carried(nodeid):
    return nodeid.startswith("tests/http/") and not is_outside(nodeid)


class Proxy:
    """In a process that runs tests: its Prism."""

    def __init__(self, config):
        from prism import Document, Prism
        from server import Server

        self.config, self.folder = config, tempfile.TemporaryDirectory()
        server = Server()
        document = server.request("GET", "/openapi.json").json()
        server.stop()
        self.described = sorted(Document(document).responses())
        self.prism = Prism(document, self.folder.name, config.getoption("contract_share"))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item):
        from server import Way, directly

        carry = self.prism.carry if may_be_carried(item.nodeid) else directly
        Way.carry = staticmethod(carry)

    def pytest_sessionfinish(self):
        self.prism.stop()
        self.folder.cleanup()
        found = (self.described, dict(self.prism.counts), dict(self.prism.document.seen))
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["contract"] = found
        else:
            self.config.stash[REPORT].add(*found)


class Report:
    """In the process that the user has started: what all have seen."""

    def __init__(self, config):
        self.described, self.counts, self.seen = set(), Counter(), Counter()
        self.whole = not any(".py" in argument for argument in config.args)

    def add(self, described, counts, seen):
        self.described |= set(described)
        self.counts.update(counts)
        self.seen.update(seen)

    def wrong(self):
        """Responses that should have been seen, or not."""
        if not self.whole:
            return []
        seen = set(self.seen)
        return sorted((self.described - seen - set(UNSEEN)) | (set(UNSEEN) & seen))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        if found := getattr(node, "workeroutput", {}).get("contract"):
            self.add(*found)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session):
        if session.exitstatus == 0 and self.wrong():
            session.exitstatus = 1

    def pytest_terminal_summary(self, terminalreporter):
        for what, count in sorted(self.counts.items()):
            terminalreporter.write_line(f"contract: {count} {what}")
        for module, reason in OUTSIDE.items():
            terminalreporter.write_line(f"contract: outside is {module}: {reason}")
        for name, reason in UNSEEN.items():
            terminalreporter.write_line(f"contract: not seen is {name}: {reason}")
        if wrong := self.wrong():
            terminalreporter.write_line(
                f"contract: these responses should be seen, or not: {', '.join(wrong)}"
            )


REPORT = pytest.StashKey[Report]()


def begin(config):
    """Start what this process needs."""
    is_worker = hasattr(config, "workerinput")
    if not is_worker:
        config.stash[REPORT] = Report(config)
        config.pluginmanager.register(config.stash[REPORT], "contract-report")
    if is_worker or not config.getoption("numprocesses"):
        config.pluginmanager.register(Proxy(config), "contract-proxy")
