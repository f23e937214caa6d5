"""SIGTERM in the middle of a random mix of long requests: drain-seconds later nothing is
computed any more."""

import contextlib
import os
import random
import signal
import threading
import time
import unittest

from server import Server
from steady import steadily
from test_price import LONG, ask, seconds_of

SEED = int(os.environ.get("SEED", random.randrange(2**32)))
REPEATS = int(os.environ.get("REPEATS", "2"))
DRAIN = 1
PAUSE = 5  # seconds that the machine may stand still
CLIENTS = 6


def keep_asking(server, requests):
    """Send one request after the other until the server is gone."""
    with contextlib.suppress(OSError):
        for asked in requests:
            ask(server, asked)


class Stop(unittest.TestCase):
    def begin(self, rng):
        """A server that is busy with a random mix."""
        flags = ("--threads", "2", "--compute-cost", "0", "--compute-seconds", "600")
        server = Server(*flags, "--drain-seconds", str(DRAIN))
        self.addCleanup(server.stop)
        for _ in range(CLIENTS):
            requests = rng.choices(list(LONG.values()), k=50)
            thread = threading.Thread(target=keep_asking, args=(server, requests), daemon=True)
            thread.start()
            self.addCleanup(thread.join)
        return server

    @steadily(1)
    def test_all_computing_ends_drain_seconds_after_sigterm(self):
        for repeat in range(REPEATS):
            seed = SEED + repeat
            rng = random.Random(seed)
            with self.subTest(seed=seed):
                server = self.begin(rng)
                busy = rng.uniform(0.05, 1.5)  # seconds of CPU time
                while seconds_of(server) < busy:
                    time.sleep(0.01)
                began = time.monotonic()
                server.signal(signal.SIGTERM)
                server.process.wait(120)
                took = time.monotonic() - began
                if os.environ.get("SHOW"):
                    print(f"{took:.2f} s")
                self.assertLess(took, DRAIN + 1 + PAUSE, f"SEED={seed}")


if __name__ == "__main__":
    unittest.main()
