"""Relative schemes whose entries fall with the distance, from their papers.

Tensors are as in relative.py. All entries are exact or known to 200 bits.
"""

from fractions import Fraction

import mpmath
from floats import MINUS_INFINITY
from floats import nearest_double_of as rn
from philox import draw, uniform
from relative import grid, is_compact, queries_and_keys, with_distance
from rotary import geometric, product
from schemes import cosine, frequency, nearest_double, real, sine, with_defaults
from trained import initialiser, seed_of, seeded_rows


def by_distance(options, function):
    """The shape of a matrix of one head, and the entries of each cell; the function takes the
    magnitude of a distance. mask=causal hides the keys after the query."""
    shape, distances = grid(options)
    known = {d: function(d) for d in {abs(d) for d in distances}}
    causal = options["mask"] == "causal"
    hidden = [causal and d > 0 for d in distances]
    return shape, [MINUS_INFINITY if h else known[abs(d)] for h, d in zip(hidden, distances)]


def of_heads(options, function):
    """A tensor [heads, …] by a function of the head and the distance's magnitude."""
    heads = int(options["heads"])
    cells = [by_distance(options, lambda d, h=h: function(h, d)) for h in range(heads)]
    return [heads] + cells[0][0], [entry for _, entries in cells for entry in entries]


def learned_pace(options, name, head, end):
    """torch.rand times `end`: uniform on [0, end), and at least 0.01."""
    u, v = draw(seed_of(options), name, head)
    number = rn(1 + uniform(Fraction(1), u, v)) * end / 2
    return max(number, nearest_double("0.01"))


def kerple(arguments):
    """Chi et al. 2022, section 4, with the limits of the authors' code."""
    options = with_defaults(arguments, {"kernel": "log", "mask": "symmetric"}, {})
    heads = range(int(options["heads"]))
    p = [learned_pace(options, "p", h, 2) for h in heads]
    a = [learned_pace(options, "a", h, 1) for h in heads]
    if options["kernel"] == "power":
        p = [min(number, Fraction(2)) for number in p]

    def bias(head, distance):
        if distance == 0:
            return Fraction(0)
        if options["kernel"] == "log":
            return -real(p[head]) * mpmath.log(1 + real(a[head]) * distance)
        return (
            -real(a[head]) * mpmath.power(distance, real(p[head])) if distance > 1 else -a[head]
        )

    tensors = {"bias": of_heads(options, bias), "p": ([len(p)], p), "a": ([len(a)], a)}
    return with_distance(tensors, options), 0


FIRE_DEFAULTS = {
    "hidden": "32",
    "c": "0.1",
    "threshold": "512",
    "epsilon": "1e-6",
    "mask": "symmetric",
}


def fire_network(options):
    """w1, b1, w2 and b2 as torch.nn.Linear begins: uniform within 1/sqrt(inputs)."""
    heads, hidden = int(options["heads"]), int(options["hidden"])
    one = initialiser("xavier_uniform", None, 6)
    many = initialiser("xavier_uniform", None, 6 * hidden)
    w1 = [row[0] for row in seeded_rows(options, "w1", range(hidden), 1, one)]
    b1 = seeded_rows(options, "b1", [0], hidden, one)[0]
    w2 = seeded_rows(options, "w2", range(heads), hidden, many)
    b2 = seeded_rows(options, "b2", [0], heads, many)[0]
    return w1, b1, w2, b2


def fire(arguments):
    """Li et al. 2024, equation 8, with epsilon as in their program."""
    options = with_defaults(arguments, FIRE_DEFAULTS, {})
    w1, b1, w2, b2 = fire_network(options)
    c, threshold = nearest_double(options["c"]), nearest_double(options["threshold"])
    epsilon = nearest_double(options["epsilon"])
    queries, keys = queries_and_keys(options)
    causal, known = options["mask"] == "causal", {}

    def psi(x):
        return mpmath.log(real(c * x + 1)) if x else Fraction(0)

    def bias(distance, query):
        """Of all heads; a sum of exact terms is exact."""
        position = max(Fraction(query), threshold)
        if (distance, position) not in known:
            u = psi(Fraction(distance))
            if u:
                u = u / (psi(position) + real(epsilon))
            units = [product(w, u) + (b if u == 0 else real(b)) for w, b in zip(w1, b1)]
            active = [k for k, unit in enumerate(units) if unit > 0]
            known[distance, position] = [
                sum((product(row[k], units[k]) for k in active), b if u == 0 else real(b))
                for row, b in zip(w2, b2)
            ]
        return known[distance, position]

    if is_compact(options):
        shape, distances = grid(options)
        if queries[-1] > threshold:
            raise ValueError("biases depend on the query's position")
        cells = [(d, queries[-1]) for d in distances]
    else:
        shape, cells = [len(queries), len(keys)], [(j - i, i) for i in queries for j in keys]
    entries = [
        MINUS_INFINITY if causal and d > 0 else bias(abs(d), i)[head]
        for head in range(len(w2))
        for d, i in cells
    ]
    return with_distance({"bias": ([len(w2)] + shape, entries)}, options), 0


def sandwich(arguments):
    """Chi et al. 2023, section 5 and the program of appendix E."""
    options = with_defaults(arguments, {"dim": "128", "base": "10000", "mask": "symmetric"}, {})
    heads, dim = int(options["heads"]), int(options["dim"])
    frequencies = geometric(real(nearest_double(options["base"])), dim)
    products = {}

    def inner_product(distance):
        if distance == 0:
            return Fraction(dim // 2)
        return sum(cosine(Fraction(distance), w) for w in frequencies)

    def bias(head, distance):
        if distance not in products:
            products[distance] = inner_product(distance)
        ratio = Fraction(heads, 8 * (head + 1))
        if distance == 0:
            return products[0] * ratio
        return products[distance] * ratio.numerator / ratio.denominator

    return with_distance({"bias": of_heads(options, bias)}, options), 0


def retnet(arguments):
    """Sun et al. 2023, equations 5 and 8, with the angles of torchscale."""
    options = with_defaults(arguments, {"base": "10000"}, {})
    heads, dim = int(options["heads"]), int(options["dim"])
    gammas = [1 - Fraction(1, 2 ** (5 + h)) for h in range(heads)]
    shape, distances = grid(options)

    def power(gamma, distance):
        """gamma^distance for a distance that is query minus key."""
        if distance < 0:
            return Fraction(0)
        if distance < 200:
            return gamma**distance
        logarithm = distance * mpmath.log(real(gamma))
        # Anything this small rounds to 0, and quickly so if its exponent is moderate.
        return mpmath.exp(max(logarithm, mpmath.mpf(-2000)))

    _, keys = queries_and_keys(options)
    base, last = real(nearest_double(options["base"])), max(dim // 2 - 1, 1)
    frequencies = [frequency(base, Fraction(c, last)) for c in range(dim // 2)]
    tensors = {
        "mask": ([heads] + shape, [power(g, -d) for g in gammas for d in distances]),
        "decay": ([heads], [mpmath.log(real(gamma)) for gamma in gammas]),
    }
    for name, function in (("cos", cosine), ("sin", sine)):
        entries = [function(Fraction(k), w) for k in keys for w in frequencies for _ in "xy"]
        tensors[name] = [len(keys), dim], entries
    return with_distance(tensors, options), 0


DECAYS = {scheme.__name__: scheme for scheme in (kerple, fire, sandwich, retnet)}
