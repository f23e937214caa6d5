"""Which node of the fleet has a table: the choice that haproxy.cfg makes, for clients that
fetch large tables directly.

    node = choose_node("/v1/encodings/rope?length=131072&dim=128&format=raw", 3)     # 1, 2 or 3

Nodes that are down are left out of the numbers: choose_node(target, [1, 3])."""

import re

MASK = 0xFFFFFFFF


def spread(a):
    """Bob Jenkins' integer hash as HAProxy has it: a small change of the input changes every
    bit."""
    a = (a + 0x7ED55D16 + (a << 12)) & MASK
    a = a ^ 0xC761C23C ^ (a >> 19)
    a = (a + 0x165667B1 + (a << 5)) & MASK
    a = ((a + 0xD3A2646C) ^ (a << 9)) & MASK
    a = (a + 0xFD7046C5 + (a << 3)) & MASK
    a = a ^ 0xB55A4F09 ^ (a >> 16)
    return a * 3221225473 & MASK


def choose_node(target, nodes):
    """The number of the node for a request target (path and query)."""
    hashed = 0
    for byte in re.sub("[?&]format=[^&]*", "", target, count=1).encode():
        hashed = (byte + (hashed << 6) + (hashed << 16) - hashed) & MASK
    hashed = spread(hashed)
    numbers = range(1, nodes + 1) if isinstance(nodes, int) else nodes
    points = sorted(
        (spread(number * 4096 + point), number) for number in numbers for point in range(16)
    )
    following = next((i for i, (place, _) in enumerate(points) if place >= hashed), 0)
    before, after = points[following - 1], points[following]
    nearer = (hashed - before[0]) & MASK <= (after[0] - hashed) & MASK
    return before[1] if nearer else after[1]
