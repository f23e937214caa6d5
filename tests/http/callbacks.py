"""How long callbacks of event threads work: callbacks.py [REQUESTS [SEED]].

Random requests of every route and size up to the limits, from several clients, and then the
histogram of posenc_callback_cpu_seconds, which counts callbacks of requests with a body and of
streams. The aim is that none is above 5 ms; the requests that were answered around one that is
are named. `make callbacks` runs it."""

import http.client
import random
import sys
import threading

from draws import PATIENT, Draw, Scout
from random_requests import Requests
from server import Server
from test_event_threads import BODIES, MOST, NAME, late_callbacks
from test_price import ROWS, Asked, ask

CLIENTS = 4
LOOK = 40  # requests between two looks at the histogram
LARGE = 0.02  # of the requests: bodies of megabytes, and tables up to the limits
KINDS = {"encodings": 30, "documents": 5, "mistakes": 15, "posts": 50}
FLAGS = ("--threads", "2", "--compute-seconds", "2")


def large(rng):
    if rng.random() < 0.4:
        target, media_type, body = rng.choice(list(BODIES.values()))
        return Asked("POST", target, media_type, body)
    return rng.choice([row for name, row in ROWS.items() if name[1] != "/v1/identify"])(rng)


class Clients:
    def __init__(self, server, requests, rng, count):
        self.server, self.requests, self.rng, self.left = server, requests, rng, count
        self.lock, self.statuses = threading.Lock(), {}
        self.recent, self.late = [], 0

    def draw(self):
        """The next request; None after the last."""
        with self.lock:
            self.left -= 1
            if self.left < 0:
                return None
            if self.rng.random() < LARGE:
                return large(self.rng)
            drawn = self.requests.next()
            asked = Asked(drawn.method, drawn.target, None, drawn.body)
            asked.headers = {name: text for name, text in drawn.headers.items() if text}
            return asked

    def run(self):
        while asked := self.draw():
            try:
                status = ask(self.server, asked)[0]
            except (OSError, ValueError, http.client.HTTPException) as error:
                status = type(error).__name__
            with self.lock:
                self.statuses[status] = self.statuses.get(status, 0) + 1
                self.recent.append((status, asked))
                if len(self.recent) >= LOOK:
                    self.look()

    def look(self):
        """Name the requests since the last look if a callback was late."""
        late = late_callbacks(self.server.metrics())
        if late > self.late:
            print(f"{late - self.late:.0f} late callbacks, at one of")
            for status, asked in self.recent:
                size = len(asked.body or b"")
                print(f"    {status} {asked.method} {asked.target[:200]} ({size} bytes)")
        self.late = late
        self.recent = self.recent[-CLIENTS:]  # may still have been under way


def main(count=30000, seed=None):
    seed = random.randrange(2**32) if seed is None else seed
    rng = random.Random(seed)
    scout, server = Server(*PATIENT), Server(*FLAGS)
    try:
        requests = Requests(rng, Draw(rng, Scout(scout)), KINDS)
        clients = Clients(server, requests, rng, count)
        threads = [threading.Thread(target=clients.run) for _ in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        series = server.metrics()
    finally:
        server.stop()
        scout.stop()
    print(f"{count} requests, SEED={seed}: {clients.statuses}")
    before = 0
    for name, total in series.items():
        if name.startswith(f"{NAME}_bucket"):
            print(f"{name.partition('le=')[2]:>12} {total - before:9.0f} {total:9.0f}")
            before = total
    count = series[f"{NAME}_count"]
    print(f"callbacks above {MOST} s: {late_callbacks(series):.0f} of {count:.0f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
