"""Apply every scheme to random numbers and compare each result with exact arithmetic.

apply_proof.py [ELEMENTS [SEED]]: the encodings come from the formulas of the golden values, in
fractions and in mpmath with 400 bits; sums and products are those of integers (exact_reals.py).
Inputs have all magnitudes, from the least subnormal number to the largest, or those of models;
inputs and results have all dtypes. Prints a line for each scheme and exits with 1 if one result
is not the nearest element, or a scheme was not tried. Too near to half way are results that a
number decides which is below 2^-92 of an entry that is a quotient, such as 1/5: api/README.md
says so."""

import contextlib
import math
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "golden"))

import mpmath
import numpy
from write_golden import CASES, parse_query, tensors_of

import applied_schemes
from exact_reals import (
    DTYPES,
    nearest,
    numbers_of,
    of_double,
    of_real,
    product,
    random_bits,
    total,
)
from server import Server
from test_apply import file_of, read_file

SAFETENSORS = "application/vnd.safetensors"
QUERIES = 40  # of a scheme
LARGEST = 20000  # elements of an encoding
# exponent of the least entry that has all its bits in two doubles; smaller ones are not tried
LEAST = -960


def of_entry(entry):
    """(integer, exponent) of an entry; an infinity, or a fraction that is no such number, stays
    what it is."""
    if isinstance(entry, float) and not math.isfinite(entry):
        return entry
    if isinstance(entry, (int, float)):
        entry = Fraction(entry)
    if isinstance(entry, Fraction):
        denominator = entry.denominator
        return (
            entry
            if denominator & (denominator - 1)
            else (entry.numerator, 1 - denominator.bit_length())
        )
    return float(entry) if mpmath.isinf(entry) else of_real(entry)


def fraction_of(number):
    integer, exponent = number
    return Fraction(integer) * Fraction(2) ** exponent


def to_odd(fraction):
    """(integer, exponent) on the same side of every number that a dtype has, and of every half
    way."""
    shift = 1200 + fraction.denominator.bit_length()
    integer, rest = divmod(abs(fraction.numerator) << shift, fraction.denominator)
    integer = 2 * integer + (rest != 0)
    return -integer if fraction < 0 else integer, -shift - 1


class Rational(float):
    """A sum with terms that are fractions, rounded: it knows the sum and the size of those
    terms."""


def rounded_fraction(terms, dtype):
    products = [
        Fraction(n) * (e if isinstance(e, Fraction) else fraction_of(e)) for n, e in terms
    ]
    result = Rational(nearest(to_odd(sum(products)), dtype))
    result.sum = sum(products)
    result.size = sum(
        abs(product) for product, (_, e) in zip(products, terms) if isinstance(e, Fraction)
    )
    return result


def is_half_way(value, exact):
    """Whether an entry that is off by 2^-92 of itself explains the other element."""
    return (
        isinstance(exact, Rational)
        and abs(exact.sum - (Fraction(value) + Fraction(float(exact))) / 2)
        <= exact.size / 2**92
    )


def with_infinities(terms, dtype):
    """The sum of products (number, entry), rounded, where entries may be infinite."""
    infinite = sum(
        entry * math.copysign(1, number) for number, entry in terms if isinstance(entry, float)
    )
    if infinite:
        return infinite
    if any(isinstance(entry, Fraction) for _, entry in terms):
        return rounded_fraction(terms, dtype)
    return nearest(total([product(of_double(n), e) for n, e in terms]), dtype)


class Case:
    """A query and the exact entries of its tensors."""

    def __init__(self, scheme, query):
        arguments = {
            name: value
            for name, value in parse_query(query).items()
            if name not in ("dtype", "tensor")
        }
        self.scheme = scheme
        self.query = "&".join(f"{name}={value}" for name, value in arguments.items())
        tensors, _ = tensors_of(scheme, arguments)
        self.shapes = {name: shape for name, (shape, *_) in tensors.items()}
        self.reals = {name: entries for name, (_, entries, *_) in tensors.items()}

    def entries(self, name):
        return [of_entry(entry) for entry in self.reals[name]]


# ---- what a scheme does: the shape of an input, and the results for the numbers of one ----


def sums(case, rule, scale):
    entries = case.entries(rule["tensors"][0])
    return case.shapes[rule["tensors"][0]], lambda numbers, dtype: [
        with_infinities([(number, (1, 0)), (scale, entry)], dtype)
        for number, entry in zip(numbers, entries)
    ]


def products(case, rule, _):
    entries = case.entries(rule["tensors"][0])
    return case.shapes[rule["tensors"][0]], lambda numbers, dtype: [
        with_infinities([(number, entry)], dtype) for number, entry in zip(numbers, entries)
    ]


def places_of(case, pairs):
    """The two columns of each pair, in the order of a table of pairs."""
    layout = case.parameters.get("layout")
    if layout == "interleaved":
        return [(2 * p, 2 * p + 1) for p in range(pairs)]
    if layout != "half_by_axis":
        return [(p, p + pairs) for p in range(pairs)]
    widths = case.parameters["widths"][
        :: -1 if case.parameters["axis_order"] == "reversed" else 1
    ]
    starts = [sum(widths[:axis]) for axis in range(len(widths))]
    places = [
        (start + j, start + j + width // 2)
        for start, width in zip(starts, widths)
        for j in range(width // 2)
    ]
    return places + [(2 * p, 2 * p + 1) for p in range(len(places), pairs)]


def rotations(case, rule, _):
    """A table has a column for each pair, or for each column; pairs are halves or
    neighbours."""
    arguments = parse_query(case.query)
    cosines, sines = (case.entries(name) for name in rule["tensors"])
    *axes, columns = case.shapes[rule["tensors"][0]]
    full = arguments.get("table", "pairs") == "full"
    pairs = columns // 2 if full else columns
    places = places_of(case, pairs)

    def turn(numbers, dtype):
        found = [None] * len(numbers)
        for r in range(len(numbers) // (2 * pairs)):
            for p, (one, other) in enumerate(places):
                at = r * columns + (one if full else p)
                x, y = numbers[2 * pairs * r + one], numbers[2 * pairs * r + other]
                cosine, sine = cosines[at], sines[at]
                found[2 * pairs * r + one] = with_infinities([(x, cosine), (-y, sine)], dtype)
                found[2 * pairs * r + other] = with_infinities([(x, sine), (y, cosine)], dtype)
        return found

    return [*axes, 2 * pairs], turn


def terms(case, rule, _):
    """Sums over an axis, by the formulas of each scheme."""
    if case.scheme == "decomposed":
        return grids(case, rule)
    shape, exact = next(
        (shape, exact)
        for _, shape, result, exact in applied_schemes.results(case.scheme, case.query)
        if result == rule["result"]
    )
    return shape, lambda numbers, dtype: [
        nearest(number, dtype) for number in exact(numpy.array(numbers).reshape(shape))
    ]


def grids(case, rule):
    """The sums of scheme decomposed, whose entries may be quotients."""
    name = rule["tensors"][0]
    (rows, *_), (columns, *_), (_, extent, dim) = (
        case.shapes["rel_h"],
        case.shapes["rel_w"],
        case.shapes[name],
    )
    entries = case.entries(name)

    def contract(numbers, dtype):
        return [
            with_infinities(
                [
                    (
                        numbers[(r * columns + c) * dim + d],
                        entries[((r if name == "rel_h" else c) * extent + j) * dim + d],
                    )
                    for d in range(dim)
                ],
                dtype,
            )
            for r in range(rows)
            for c in range(columns)
            for j in range(extent)
        ]

    return [rows, columns, dim], contract


KINDS = {
    "add": sums,
    "multiply": products,
    "rotate": rotations,
    "contract": terms,
    "combine": terms,
    "gather": terms,
}


class Proof:
    def __init__(self, server, seed):
        self.server = server
        self.random = numpy.random.default_rng(seed)
        self.schemes = {
            scheme["name"]: scheme
            for scheme in server.request("GET", "/v1/schemes").json()["schemes"]
        }
        self.tried, self.wrong, self.refused, self.half_way = (
            Counter(),
            Counter(),
            Counter(),
            Counter(),
        )

    def parameters(self, scheme, query):
        """All values of a request: its own, its preset's and the defaults."""
        reply = self.server.request("GET", f"/v1/encodings/{scheme}?{query}&dtype=f64")
        return reply.json()["parameters"]

    def served(self, scheme, query):
        """The entries of a table in float64."""
        reply = self.server.request(
            "GET", f"/v1/encodings/{scheme}?{query}&dtype=f64&format=raw"
        )
        return numpy.frombuffer(reply.body)

    def apply(self, scheme, query, name, dtype, bits):
        reply = self.server.request(
            "POST",
            f"/v1/apply/{scheme}?{query}",
            {"Content-Type": SAFETENSORS},
            file_of({name: (dtype, bits)}),
        )
        return read_file(reply.body) if reply.status == 200 else None

    def try_case(self, scheme, case, rule, elements):
        """Apply a rule to about this many numbers."""
        scale = float(self.random.choice([1, 1, -2.5, 0.1])) if rule["kind"] == "add" else 1.0
        shape, results = KINDS[rule["kind"]](case, rule, scale)
        size = math.prod(shape)
        batches = max(1, elements // size)
        option = f"&scale={scale!r}" if scale != 1 else ""
        for batch in range(batches):
            given, wanted = (str(self.random.choice(list(DTYPES))) for _ in range(2))
            bits = random_bits(self.random, tuple(shape), given, plain=batch % 2 == 1)
            found = self.apply(
                scheme,
                f"{case.query}&dtype={wanted}&result={rule['result']}{option}",
                rule["input"],
                given,
                bits,
            )
            found = found and found.get(rule["result"])
            if not found:
                self.refused[scheme] += 1
                continue
            expected = results(
                [float(number) for number in numbers_of(bits, given).ravel()], wanted
            )
            values = numbers_of(found[1], wanted).ravel()
            self.tried[scheme] += len(expected)
            for place, (value, exact) in enumerate(zip(values, expected)):
                if value != exact and is_half_way(value, exact):
                    self.half_way[scheme] += 1
                elif value != exact:
                    self.wrong[scheme] += 1
                    if self.wrong[scheme] < 5:
                        print(
                            f"{scheme}?{case.query}: {given} to {wanted}, element {place}: "
                            f"{value!r}, not {exact!r}"
                        )

    def try_scheme(self, name, elements):
        rules = self.schemes[name]["applies"]
        cases = [
            query
            for query in CASES[name].values()
            if "set=" not in query and "compact" not in query
        ]
        queries = [cases[i] for i in self.random.permutation(len(cases))[:QUERIES]]
        for number, query in enumerate(queries):
            case = Case(name, query)
            if name == "floater":  # its entries are what its steps in float64 give
                case.reals = {"encoding": self.served(name, case.query).tolist()}
            rule = rules[number % len(rules)]
            if any(tensor not in case.reals for tensor in rule["tensors"]):
                continue  # cos_sin=true and the like
            if rule["kind"] == "rotate":
                case.parameters = self.parameters(name, case.query)
                if (
                    case.parameters["layout"] == "half_by_axis"
                    and not case.parameters["widths"]
                ):
                    continue
            if any(
                isinstance(e, tuple) and e[0] and e[0].bit_length() + e[1] < LEAST
                for n in rule["tensors"]
                for e in case.entries(n)
            ):
                print(f"{name}?{case.query}: not tried, as entries are below 2^{LEAST}")
                continue
            if sum(map(len, case.reals.values())) > LARGEST:
                continue
            self.try_case(
                name, case, rule, (elements - self.tried[name]) // (len(queries) - number)
            )

    def run(self, elements):
        applied = [name for name, scheme in self.schemes.items() if scheme["applies"]]
        for name in applied:
            self.try_scheme(name, elements // len(applied))
            print(
                f"{name}: {self.tried[name]} elements, {self.wrong[name]} wrong, "
                f"{self.half_way[name]} too near to half way, {self.refused[name]} requests "
                "refused",
                flush=True,
            )
        untried = [name for name in applied if self.tried[name] == 0]
        print(
            f"{sum(self.tried.values())} elements of {len(applied)} schemes, "
            f"{sum(self.wrong.values())} wrong; not tried: {untried}"
        )
        return not untried and not sum(self.wrong.values())


@contextlib.contextmanager
def started():
    server = Server()
    try:
        yield server
    finally:
        server.stop()


if __name__ == "__main__":
    with started() as running:
        elements, seed = (
            int(text) for text in (sys.argv[1:] + ["1000000", "0"][len(sys.argv) - 1 :])[:2]
        )
        sys.exit(not Proof(running, seed).run(elements))
