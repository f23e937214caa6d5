"""--module: what tests exchange with servers is asked of the WebAssembly module as well, and
the answers are equal in status, fields and bytes. tests/http/module.py says what is not
compared."""

import re
import threading
from collections import Counter

import pytest

CHANGING = re.compile(rb"\b(PUT|PATCH|DELETE) ")

# Flags of a server that make no difference to an answer.
HARMLESS = ("drain-seconds", "log-format", "port", "threads")


class Replay:
    """In a process that runs tests: a module for each server that is asked."""

    def __init__(self, config):
        import server

        self.config, self.counts, self.modules = config, Counter(), {}
        self.changed = set()  # servers that hold other sets than their modules
        self.lock = threading.Lock()
        self.exchanging = set()  # wires that are in the middle of an exchange
        self.in_parts = []  # servers, and wires that sent them less or more than one request
        request, exchange = server.Server.request, server.Wire.exchange
        send, replay = server.Wire.send, self

        def of_server(self, method, target, headers=None, body=None):
            reply = request(self, method, target, headers, body)
            replay.compare(self, method, target, headers or {}, body, reply)
            return reply

        def on_wire(self, method, target, headers=None, body=b"", version="1.1"):
            replay.exchanging.add(self)
            try:
                reply = exchange(self, method, target, headers, body, version)
            finally:
                replay.exchanging.discard(self)
            asked = replay.peer_of(self)
            if asked:
                replay.compare(asked, method, target, headers or {}, body, reply, version)
            else:
                replay.skip("a server that the tests did not start")
            return reply

        def sent(self, data):
            if self not in replay.exchanging:
                replay.note_part(self, bytes(data[:100000]))
            return send(self, data)

        server.Server.request, server.Wire.exchange = of_server, on_wire
        server.Wire.send = sent

    def peer_of(self, wire):
        """The server at the other end; None if the tests did not start it."""
        import server

        try:
            address = wire.socket.getpeername()
        except OSError:  # the server has closed
            return None
        address = address if isinstance(address, str) else address[:2]
        return next((each for each in server.Server.recent if each.address == address), None)

    def note_part(self, wire, data):
        """Bytes that are no whole exchange are not replayed: no module has what they change."""
        asked = self.peer_of(wire)
        with self.lock:
            self.in_parts = [(a, w) for a, w in self.in_parts if w.socket.fileno() >= 0]
            self.in_parts.append((asked, wire))
            if CHANGING.search(data):
                self.changed.add(asked)

    def module_of(self, asked):
        """The module beside a server; None if the server has what no module has."""
        import module

        given = [flag[2:] for flag in asked.flags if flag.startswith("--")]
        settings = module.settings_of(asked.flags)
        if any(name not in (*module.SETTINGS, *HARMLESS) for name in given):
            return None
        if asked not in self.modules:
            for other in [each for each in self.modules if each.process.poll() is not None]:
                self.modules.pop(other).stop()
            self.modules[asked] = module.Module(settings)
        return self.modules[asked]

    def reason_to_skip(self, asked, body):
        if not self.module_of(asked):
            return "a server with other settings"
        if body is not None and not isinstance(body, (bytes, bytearray)):
            return "bodies in chunks"
        if threading.current_thread() is not threading.main_thread():
            return "several clients at once"
        if any(each is asked and wire.socket.fileno() >= 0 for each, wire in self.in_parts):
            return "a connection is in the middle of a request"
        return "after a change that was not replayed" if asked in self.changed else None

    def skip(self, reason):
        with self.lock:
            self.counts[f"not asked of the module: {reason}"] += 1

    def compare(self, asked, method, target, headers, body, reply, version="1.1"):
        import module
        from comparison import Answer, Asked, compare

        if isinstance(target, bytes):
            target = target.decode("latin-1")
        body = body.encode() if isinstance(body, str) else body
        headers = {
            name: value
            for name, value in headers.items()
            if name.lower() != "content-length" or value != str(len(body or b""))
        }
        with self.lock:
            reason = module.reason_to_skip(method, target, headers, version)
            reason = reason or self.reason_to_skip(asked, body)
            self.counts[f"not asked of the module: {reason}" if reason else REPLAYED] += 1
            if reason:
                if method not in ("GET", "HEAD", "POST"):
                    self.changed.add(asked)
                return
            answer = self.module_of(asked).ask(method, target, headers, body)
        sides = (Answer(reply.status, reply.fields, reply.body), answer)
        request = Asked("", method, target, headers, body)
        finding = compare(request, *map(module.without_wire, sides))
        if finding:
            raise AssertionError(f"module: {method} {target} {headers}: {finding.what[:600]}")

    def pytest_sessionfinish(self):
        for each in self.modules.values():
            each.stop()
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["replay"] = dict(self.counts)
        else:
            self.config.stash[COUNTS].update(self.counts)


class Report:
    """In the process that the user has started: what all have counted."""

    def __init__(self, config):
        self.config = config

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        self.config.stash[COUNTS].update(getattr(node, "workeroutput", {}).get("replay", {}))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        """Tests that exchange something, of which nothing was replayed, prove nothing."""
        counts = self.config.stash[COUNTS]
        if counts and not counts[REPLAYED]:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        for what, count in self.config.stash[COUNTS].most_common():
            terminalreporter.write_line(f"module: {count} exchanges {what}")


COUNTS = pytest.StashKey[Counter]()
REPLAYED = "replayed"


def begin(config):
    """Start what this process needs."""
    is_worker = hasattr(config, "workerinput")
    if not is_worker:
        config.stash[COUNTS] = Counter()
        config.pluginmanager.register(Report(config), "module-report")
    if is_worker or not config.getoption("numprocesses"):
        config.pluginmanager.register(Replay(config), "module-replay")
