"""What /v1/identify says of how tables were computed: torch's own results, and frequencies that
mpmath rounds step by step."""

import io
import json
import math

import mpmath
import numpy
import torch

from service import ServiceTest

NPY = {"Content-Type": "application/x-npy"}


def f32(number):
    with mpmath.workprec(24):
        return +mpmath.mpf(number)


def powers(base, dim, sign=1):
    with mpmath.workprec(200):
        return [
            f32(mpmath.mpf(base) ** (sign * f32(mpmath.mpf(2 * i) / dim)))
            for i in range(dim // 2)
        ]


def reciprocals(base, dim):
    return [f32(1 / power) for power in powers(base, dim)]


def exponentials(base, dim):
    with mpmath.workprec(200):
        slope = f32(-mpmath.log(base) / dim)
        return [f32(mpmath.exp(f32(2 * i * slope))) for i in range(dim // 2)]


def exact(base, dim):
    with mpmath.workprec(200):
        return [f32(mpmath.mpf(base) ** (-mpmath.mpf(2 * i) / dim)) for i in range(dim // 2)]


def yarn(base, dim, factor, original, fast=32, slow=1):
    """transformers' _compute_yarn_parameters, every operation rounded to 24 bits."""

    def index(turns):
        return dim * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(base))

    low, high = max(math.floor(index(fast)), 0), min(math.ceil(index(slow)), dim - 1)
    out = []
    for i, power in enumerate(powers(base, dim)):
        ramp = min(max(f32(mpmath.mpf(i - low) / (high - low)), 0), 1)
        kept = f32(1 - ramp)
        out.append(
            f32(f32(f32(1 / f32(factor * power)) * f32(1 - kept)) + f32(f32(1 / power) * kept))
        )
    return out


def llama3(base, dim, factor, original, low=1, high=4):
    """transformers' _compute_llama3_parameters, every operation rounded to 24 bits."""
    out = []
    for frequency in reciprocals(base, dim):
        length = f32(f32(2 * math.pi) / frequency)
        smooth = f32(f32(f32(original / length) - low) / (high - low))
        blended = f32(f32(f32(f32(1 - smooth) * frequency) / factor) + f32(smooth * frequency))
        out.append(
            f32(frequency / factor)
            if length > original / low
            else frequency
            if length < original / high
            else blended
        )
    return out


def ntk(base, dim, factor):
    return reciprocals(float(f32(base * factor ** (dim / (dim - 2)))), dim)


# frequencies: (numbers, what the request says)
VECTORS = {
    "reciprocals": (reciprocals(10000, 128), ""),
    "reciprocals of an odd width": (reciprocals(500000, 80), "rope_theta=500000"),
    "negative powers": (powers(10000, 96, -1), ""),
    "exponentials": (exponentials(10000, 128), ""),
    "rounded once": (exact(1000000, 128), "rope_theta=1000000"),
    "linear": (
        [f32(w / 3) for w in reciprocals(10000, 80)],
        "rope_type=linear&factor=3",
    ),
    "ntk": (ntk(10000, 128, 8), "rope_type=ntk&factor=8"),
    "yarn": (
        yarn(1000000, 128, 4, 32768),
        "rope_theta=1000000&rope_type=yarn&factor=4&original_max_position_embeddings=32768",
    ),
    "llama3": (llama3(500000, 128, 8, 8192), "preset=llama3.1"),
}


def turns(length, frequencies):
    return torch.arange(length).float()[:, None] * frequencies


def inverse(dim, base=10000.0):
    return 1.0 / (base ** (torch.arange(0, dim, 2).float() / dim))


def sinusoids(angles, dtype=torch.float32):
    out = torch.zeros(len(angles), 2 * angles.shape[1], dtype=dtype)
    out[:, 0::2], out[:, 1::2] = torch.sin(angles), torch.cos(angles)
    return out


def tutorial(length, dim):
    """The table of "Dive into Deep Learning": positions are divided by powers."""
    place = torch.arange(length, dtype=torch.float32).reshape(-1, 1)
    return sinusoids(
        place / torch.pow(10000, torch.arange(0, dim, 2, dtype=torch.float32) / dim)
    )


def annotated(length, dim):
    return sinusoids(
        turns(length, torch.exp(torch.arange(0, dim, 2).float() * (-math.log(10000.0) / dim)))
    )


# tables of torch: (table, computation)
TABLES = {
    "transformers, llama": (
        torch.cos(turns(2048, inverse(64)).repeat(1, 2)),
        "float32 positions times float32 frequencies",
    ),
    "transformers, positions by a factor": (
        torch.sin((torch.arange(1500).float() / 3)[:, None] * inverse(64)),
        "float32 positions, divided by a factor, times float32 frequencies",
    ),
    "transformers, frequencies by a factor": (
        torch.cos(turns(1500, inverse(64) / 3)),
        "float32 positions times float32 frequencies",
    ),
    "the annotated transformer": (
        annotated(2048, 64),
        "float32 positions times float32 frequencies",
    ),
    "Dive into Deep Learning": (
        tutorial(2048, 64),
        "float32 positions divided by float32 powers",
    ),
}


# tables with sines and cosines in float64: (angles, computation)
POSITIONS = torch.arange(1000).double()[:, None]
F64_TABLES = {
    "frequencies in float32": (
        POSITIONS * inverse(128).double(),
        "float64 positions times float32 frequencies",
    ),
    "angles in float32": (
        turns(1000, inverse(128)).double(),
        "float32 positions times float32 frequencies",
    ),
    "divisors in float32": (
        POSITIONS / torch.pow(10000, torch.arange(0, 128, 2).float() / 128).double(),
        "float64 positions divided by float32 powers",
    ),
}


class Arithmetic(ServiceTest):
    def identify(self, table):
        body = io.BytesIO()
        numpy.save(body, table)
        reply = self.request("POST", "/v1/identify", body.getvalue(), NPY)
        self.assertEqual(reply.status, 200, reply)
        return json.loads(reply.body)

    def test_frequencies(self):
        for name, (numbers, said) in VECTORS.items():
            for dtype in ("f4", "f2"):
                vector = numpy.array([float(number) for number in numbers], "f4").astype(dtype)
                found = self.identify(vector)
                if found["status"] == "exact":  # what is rounded once
                    continue
                self.assertEqual(found["status"], "match", (name, dtype, found["summary"]))
                for part in said.split("&") if said else ():
                    self.assertIn(
                        part, found["request"]["url"].replace("?", "&").split("&"), name
                    )

    def test_frequencies_that_were_rounded_to_bfloat16(self):
        vector = inverse(128).bfloat16().float().numpy()
        found = self.identify(vector)
        self.assertEqual((found["status"], found["values"]), ("exact", "bf16"))
        vector[3] *= numpy.float32(1.01)
        self.assertNotIn(self.identify(vector)["status"], ("match", "exact"))

    def test_tables_of_torch(self):
        for name, (table, computation) in TABLES.items():
            found = self.identify(table.numpy())
            self.assertEqual(
                (found["status"], found["arithmetic"], found["computation"]),
                ("match", "float32", computation),
                (name, found["summary"]),
            )

    def test_half_precision_of_many_rows_and_columns(self):
        """Entries of 16 bits leave several floats for a frequency, most of which only a few of
        all rows refute."""
        table = annotated(4096, 1024)
        for name, narrow in (
            ("bf16", table.bfloat16().float()),  # all of them are numbers of bf16
            ("f16", table.half()),
        ):
            found = self.identify(narrow.numpy())
            self.assertEqual(
                (found["status"], found["values"], found["computation"]),
                ("match", name, "float32 positions times float32 frequencies"),
                found["summary"],
            )
        off = table.bfloat16()
        off.view(torch.int16)[3000, 20] += 1  # a neighbour of what float32 arithmetic gives
        self.assertEqual(self.identify(off.float().numpy())["status"], "near")

    def test_float64_numbers_are_judged_by_float64_arithmetic(self):
        for name, (angles, computation) in F64_TABLES.items():
            found = self.identify(sinusoids(angles, torch.float64).numpy())
            self.assertEqual(
                (found["status"], found["arithmetic"], found["values"], found["computation"]),
                ("match", "float32", "f64", computation),
                (name, found["summary"]),
            )
        exponents = torch.arange(0, 128, 2).double() * (-math.log(10000.0) / 128)
        table = sinusoids(POSITIONS * torch.exp(exponents), torch.float64)
        found = self.identify(table.numpy())
        self.assertEqual((found["status"], found["arithmetic"]), ("match", "float64"))
        table += 1e-7 * torch.sin(POSITIONS**2)  # float32 arithmetic would bring it as near
        found = self.identify(table.numpy())
        self.assertIn(found["status"], ("near", "unknown"), found["summary"])
        self.assertNotIn(found.get("arithmetic"), ("float64", "like_float32"))
