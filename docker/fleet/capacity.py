"""What share of requests a fleet's caches answer: a simulation of least-recently-used caches
behind consistent hashing, with keys that are asked for by Zipf's law.

    python3 capacity.py

A case says how many nodes there are, how many tables a node keeps, and how many are asked for
in all; the exponent says how unequal they are. In the middle of the measured requests some
nodes are lost, with their caches, and come back empty."""

import bisect
import random
from collections import OrderedDict

POINTS = 16  # of a node on the ring, as HAProxy has


class Cache(OrderedDict):
    """The most recently used keys, at most `size`."""

    def __init__(self, size):
        super().__init__()
        self.size = size

    def ask(self, key):
        """Whether the key was there; it is afterwards."""
        if key in self:
            self.move_to_end(key)
            return True
        self[key] = None
        if len(self) > self.size:
            self.popitem(last=False)
        return False


def ring_of(nodes, draw):
    points = sorted((draw.random(), node) for node in nodes for _ in range(POINTS))
    return [place for place, _ in points], [node for _, node in points]


def keys_of(count, exponent, draw, requests):
    """Keys by Zipf's law: key k is asked for in proportion to 1 / (k + 1)^exponent."""
    total, sums = 0.0, []
    for k in range(count):
        total += (k + 1) ** -exponent
        sums.append(total)
    return [bisect.bisect_left(sums, draw.random() * total) for _ in range(requests)]


def simulate(nodes, size, keys, exponent, hashing=True, lost=0, requests=300_000):
    """Shares of hits: of the second third of the requests, and of the last one, before which
    nodes are lost."""
    draw = random.Random(1)
    caches = [Cache(size) for _ in range(nodes)]
    places, owners = ring_of(range(nodes), draw)
    homes = [draw.random() for _ in range(keys)]
    hits = [0, 0, 0]
    for i, key in enumerate(keys_of(keys, exponent, draw, requests)):
        if i == 2 * requests // 3:
            for node in range(lost):
                caches[node] = Cache(size)
        at = bisect.bisect(places, homes[key]) % len(places)
        node = owners[at] if hashing else i % nodes
        hits[3 * i // requests] += caches[node].ask(key)
    third = requests // 3
    return hits[1] / third, hits[2] / third


CASES = {
    "a lab: 1 node of 1000 tables, 600 asked for": {
        "nodes": 1,
        "size": 1000,
        "keys": 600,
        "exponent": 0.8,
    },
    "3 nodes of 250, 600 asked for, by turns": {
        "nodes": 3,
        "size": 250,
        "keys": 600,
        "exponent": 0.8,
        "hashing": False,
    },
    "3 nodes of 250, 600 asked for, hashed": {
        "nodes": 3,
        "size": 250,
        "keys": 600,
        "exponent": 0.8,
    },
    "a company: 10 nodes of 1000, 50,000 asked for, by turns": {
        "nodes": 10,
        "size": 1000,
        "keys": 50_000,
        "exponent": 1.0,
        "hashing": False,
    },
    "10 nodes of 1000, 50,000 asked for, hashed; 1 lost": {
        "nodes": 10,
        "size": 1000,
        "keys": 50_000,
        "exponent": 1.0,
        "lost": 1,
    },
    "1000 nodes of 100, 1,000,000 asked for, by turns": {
        "nodes": 1000,
        "size": 100,
        "keys": 1_000_000,
        "exponent": 1.0,
        "hashing": False,
        "requests": 1_500_000,
    },
    "1000 nodes of 100, 1,000,000 asked for, hashed; 10 lost": {
        "nodes": 1000,
        "size": 100,
        "keys": 1_000_000,
        "exponent": 1.0,
        "lost": 10,
        "requests": 1_500_000,
    },
}

if __name__ == "__main__":
    for name, case in CASES.items():
        before, after = simulate(**case)
        print(
            f"{name}: {before:.3f} hits"
            + (f", {after:.3f} after the loss" if case.get("lost") else "")
        )
