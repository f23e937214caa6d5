"""A soak test: random traffic for some time (SOAK_SECONDS, SOAK_SEED). The resident size must
stay below the sum of the cache budgets, the bytes of requests in flight, 64 KiB for each
connection and 32 MiB. Each measurement reads the kernel's high-water mark and resets it.
`make soak` runs ten minutes."""

import os
import sys
import tempfile
import time
from pathlib import Path

import faults
from server import Server, wait_until
from traffic import MEBI, Client, JSON_ELEMENTS, Ledger

CACHE, SET_CACHE = 64 * MEBI, 8 * MEBI
EACH_CONNECTION, REST = 64 << 10, 32 * MEBI
CLIENTS = 16
LOOK = 0.1  # seconds between two measurements
SPELL, LULL = 9, 3  # seconds of traffic, and of none

FLAGS = (
    "--cache-bytes",
    str(CACHE),
    "--set-cache-bytes",
    str(SET_CACHE),
    "--threads",
    "4",
    "--json-max-elements",
    str(JSON_ELEMENTS),
    "--max-streams",
    "8",
    "--send-seconds",
    "10",
)
IDLE = {
    "posenc_connections": 1,
    "posenc_requests_under_way": 1,
    "posenc_streams": 0,
    "posenc_jobs_waiting": 0,
}  # the request for /metrics counts itself


class Watch:
    """Compares the resident size of the process with its bound."""

    def __init__(self, pid, ledger):
        self.process, self.ledger = Path(f"/proc/{pid}"), ledger
        self.worst = None  # (share, bytes, bound)
        self.peak = self.quiet = 0

    def fields(self):
        lines = (self.process / "status").read_text().splitlines()
        return {
            line.split(":")[0]: line.split()[1] for line in lines if line[:2] in ("Vm", "Rs")
        }

    def look(self, quiet):
        """Measure the largest resident size since the last measurement."""
        status = self.fields()
        (self.process / "clear_refs").write_text("5")  # reset the high-water mark
        size = int(status["VmHWM"]) << 10
        bound = CACHE + SET_CACHE + self.ledger.highest() + REST
        self.peak = max(self.peak, size)
        if quiet:
            self.quiet = max(self.quiet, size)
        if not self.worst or size / bound > self.worst[0]:
            self.worst = size / bound, size, bound, int(status["RssAnon"]) << 10


def descriptors(server):
    return len(list(Path(f"/proc/{server.pid}/fd").iterdir()))


def traffic(server, seed, seconds):
    """Run clients for some time and measure meanwhile; returns (ledger, watch, failures)."""
    ledger = Ledger(EACH_CONNECTION)
    watch = Watch(server.pid, ledger)
    begun = time.monotonic()
    end = begun + seconds
    clients = [Client(server.address, ledger, f"{seed}-{i}", end) for i in range(CLIENTS)]
    for client in clients:
        client.start()
    while any(client.is_alive() for client in clients):
        phase = (time.monotonic() - begun) % (SPELL + LULL)
        for client in clients:
            (client.pause.set if phase > SPELL else client.pause.clear)()
        watch.look(quiet=phase > SPELL + LULL - 1)
        time.sleep(LOOK)
    return ledger, watch, [failure for client in clients for failure in client.failures]


def is_idle(server):
    metrics = server.metrics()
    return all(metrics[name] == value for name, value in IDLE.items())


def report(seed, seconds, ledger, watch):
    share, size, bound, anonymous = watch.worst
    answered = sum(count for what, count in ledger.counts.items() if isinstance(what, int))
    aborted = sum(ledger.counts.values()) - answered
    lines = [
        f"soak: seed {seed}, {seconds:.0f} s, {answered} requests, {aborted} aborts",
        f"  peak {watch.peak / MEBI:.1f} MiB; in the lulls {watch.quiet / MEBI:.1f} MiB",
        f"  nearest to its bound: {size / MEBI:.1f} of {bound / MEBI:.1f} MiB ({share:.0%}), "
        f"{anonymous / MEBI:.1f} MiB of it not of files",
        f"  {dict(sorted(ledger.counts.items(), key=str))}",
    ]
    print("\n".join(lines), file=sys.stderr, flush=True)


def soak(seconds, seed):
    """The failures, as texts."""
    print(f"soak: seed {seed}", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(prefix="posenc-") as directory:
        server = Server(*FLAGS, "--data-dir", directory)
        try:
            wait_until(lambda: is_idle(server), "it has begun")
            before = descriptors(server)
            ledger, watch, failures = traffic(server, seed, seconds)
            report(seed, seconds, ledger, watch)
            wait_until(lambda: is_idle(server), "nothing is under way")
            wait_until(lambda: descriptors(server) <= before, "descriptors are given back")
        finally:
            server.stop()
    if faults.SANITIZED:
        print("soak: no bound, since a sanitizer takes memory of its own", file=sys.stderr)
    elif watch.worst[0] > 1:
        failures.append(f"resident {watch.worst[1]} bytes, over the bound of {watch.worst[2]}")
    return failures


if __name__ == "__main__":
    found = soak(
        float(os.environ.get("SOAK_SECONDS", "600")),
        os.environ.get("SOAK_SEED", str(time.time_ns() % 10**9)),
    )
    sys.exit("\n".join(found) or 0)
