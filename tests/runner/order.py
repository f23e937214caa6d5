"""In which order tests run on which process: what takes long comes first, so that no process is
left alone with it at the end. Tests of a class that share more than a server, which starts in
milliseconds, stay together."""

from xdist.scheduler import LoadScopeScheduling

from parts import LONG, starts


def scope_of(nodeid):
    """What runs together."""
    together = nodeid.split("::")[0].endswith(".py") and not starts(nodeid, ("http/",))
    return nodeid.rsplit("::", 1)[0] if together else nodeid


def rank(nodeid):
    path = nodeid.removeprefix("tests/")
    return next((at for at, name in enumerate(LONG) if path.startswith(name)), len(LONG))


class LongestFirst(LoadScopeScheduling):
    def _split_scope(self, nodeid):
        return scope_of(nodeid)


def pytest_xdist_make_scheduler(config, log):
    return LongestFirst(config, log)


def sort(items):
    """Long scopes first, in the order of LONG; the others stay as they are."""
    first = {}
    for item in items:
        scope = scope_of(item.nodeid)
        first[scope] = min(first.get(scope, len(LONG)), rank(item.nodeid))
    items.sort(key=lambda item: first[scope_of(item.nodeid)])
