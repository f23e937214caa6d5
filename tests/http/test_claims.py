"""/v1/identify says what holds: each claim of tables of which it does, and none beside them;
and every sentence about tables of many kinds, checked by numpy (claims.py)."""

import io
import os
import pathlib
import re

import numpy

from claims import NUMBER, check, is_of_form
from library_tables import half
from server import ServerCase
from test_compare import NPY, npy
from transformations import ROWS, Source

F = numpy.float32
CASES = os.environ.get("POSENC_CASES", "")


def normal(*shape):
    return numpy.random.default_rng(7).normal(size=shape)


def waves(rows, dim):
    """Of no law that is known: frequencies are neither geometric nor linear."""
    frequencies = numpy.sort(numpy.random.default_rng(8).uniform(0.02, 2, dim // 2))
    angles = numpy.arange(rows)[:, None] * frequencies
    return numpy.concatenate([numpy.sin(angles + 0.3), numpy.cos(angles * 1.01)], 1)


def sinusoid(rows, dim, frequencies=None):
    if frequencies is None:
        frequencies = 10000.0 ** (-numpy.arange(0, dim, 2) / dim)
    angles = numpy.arange(rows)[:, None] * frequencies
    return numpy.stack([numpy.sin(angles), numpy.cos(angles)], 2).reshape(rows, -1)


def with_entry(table, place, value):
    changed = numpy.array(table)
    changed[place] = value
    return changed


def masked(table, most, least=None):
    ahead = numpy.subtract(*numpy.indices(table.shape[-2:])[::-1])
    gone = (ahead > most) | (ahead < least if least is not None else False)
    return numpy.where(gone, -numpy.inf, table)


def toeplitz(values, rows):
    at = numpy.arange(rows)
    return values[at[:, None] - at + rows - 1]


SLOW = numpy.sort(numpy.random.default_rng(9).uniform(0.02, 0.5, 32))
DISTANCES = toeplitz(normal(79), 40)
ALIKE = normal(60, 16).cumsum(0)
RANDOM = 0.02 * normal(64, 48)
SINUSOID = sinusoid(300, 64)
NOISE = 1e-3 * normal(300, 64)
# What is said, of tables of which it holds, and not of those beside it.
CLAIMS = {
    "All entries are 6.9e-18.": ([numpy.full((64, 64), 6.9e-18, F)], []),
    "All entries are ": (
        [numpy.zeros((1024, 768), F), numpy.ones((64, 64), F), numpy.full((1320, 800), 3, F)],
        [
            with_entry(numpy.zeros((1024, 768), F), (1023, 767), 1),
            with_entry(numpy.full((1320, 800), 3, F), (1319, 799), 2),
        ],
    ),
    "All entries are -infinity.": ([numpy.full((8, 8), -numpy.inf, F)], []),
    "rows, as many requests make": ([normal(3, 64)], [normal(4, 64)]),
    "is not finite": ([with_entry(RANDOM, (7, 5), numpy.nan)], [RANDOM]),
    "Diagonals of axes 0 and 1 are constant": (
        [DISTANCES, DISTANCES[:, 7:20], numpy.stack([DISTANCES, 2 * DISTANCES], 2)],
        [
            with_entry(DISTANCES, (20, 20), 5),
            DISTANCES[:, :3],
            numpy.zeros((1024, 768), F),
            numpy.stack([waves(256, 32), waves(256, 32) + 1], 2),
        ],
    ),
    "columns are waves of": (
        [waves(200, 32), 0.5 + waves(200, 32)],
        [
            ALIKE,
            RANDOM,
            normal(9, 64),
            waves(200, 32)[numpy.random.default_rng(1).permutation(200)],
        ],
    ),
    "16 rows are equal": ([numpy.repeat(normal(1, 64), 16, 0)], [RANDOM[:16]]),
    "The 60 rows are copies of 20 different ones": (
        [numpy.tile(normal(20, 9), (3, 1))],
        [with_entry(numpy.tile(normal(20, 9), (3, 1)), (59, 8), 0)],
    ),
    "The 256 columns are copies of 16 different ones": (
        [numpy.tile(waves(100, 16), (1, 16))],
        [with_entry(numpy.tile(waves(100, 16), (1, 16)), (99, 255), 0)],
    ),
    "rows have the correlation": ([ALIKE], [numpy.random.default_rng(1).permutation(ALIKE)]),
    "It looks random": (
        [
            RANDOM,
            normal(8, 500),
            normal(4, 30, 30),
            normal(64, 48) * numpy.linspace(0.2, 1, 48),
            numpy.random.default_rng(1).integers(0, 1000, (50, 64)),
        ],
        [
            numpy.repeat(RANDOM[:16], 4, 0),
            numpy.repeat(RANDOM, 2, 1),
            RANDOM + 0.02 * normal(1, 48),
            RANDOM + 0.5 * numpy.roll(RANDOM, 1, 0),
            RANDOM + 0.5 * numpy.roll(RANDOM, 3, 1),
            numpy.sin(numpy.arange(64)[:, None] * normal(48) * 9),
            numpy.sin(numpy.arange(48) * 3 * normal(64, 1)),
            DISTANCES,
            masked(RANDOM[:40, :40], 0),
            numpy.kron(normal(9, 9), numpy.ones((3, 3))),
            with_entry(RANDOM, 5, 0),
        ],
    ),
    "ask with set=NAME": (
        [RANDOM, ALIKE, DISTANCES],
        [
            numpy.zeros((64, 64), F),
            numpy.ones((48, 24), F) * F(0.7),
            numpy.random.default_rng(1).integers(0, 1000, (50, 64)),
            numpy.rint(1000 * RANDOM),
            RANDOM[:3],
            waves(200, 32),
            0.5 + waves(200, 32),
            numpy.sin(numpy.arange(200)[:, None] * SLOW),
            numpy.repeat(normal(1, 64), 16, 0),
            toeplitz(-1.4427 * 0.5 * abs(numpy.arange(79) - 39.0), 40),
        ],
    ),
    "but for noise of": (
        [SINUSOID + NOISE],
        [
            SINUSOID + NOISE * (numpy.arange(64) < 40),
            SINUSOID + NOISE * numpy.geomspace(0.2, 1, 64),
            SINUSOID + NOISE + 0.5 * numpy.roll(NOISE, 1, 0),
            SINUSOID + NOISE * (numpy.arange(300) < 100)[:, None],
            SINUSOID + 0.1 * NOISE.cumsum(0),
            numpy.round(SINUSOID, 4),
            sinusoid(256, 64, 10000.0 ** (-numpy.arange(32) / 31.3)).astype("f2"),
        ],
    ),
    "rounded to 4 decimals": (
        [numpy.round(SINUSOID, 4)],
        [SINUSOID + NOISE, numpy.round(SINUSOID, 4) + 0.3 * NOISE],
    ),
    "(as preset vaswani)": (
        [SINUSOID],
        [SINUSOID + NOISE, numpy.round(SINUSOID, 4), with_entry(SINUSOID, (7, 3), 0.5)],
    ),
    "(the law of preset vaswani)": ([SINUSOID + NOISE], [SINUSOID]),
    "as near as float32 arithmetic brings it": (
        [],
        [(SINUSOID + numpy.random.default_rng(1).uniform(-1e-7, 1e-7, (300, 64)), "f8")],
    ),
}


def rope_in_bfloat16(rows, dtype):
    """The cosines of qwen2, with frequencies that went through bfloat16."""
    frequencies = half(1e6 ** (-numpy.arange(0, 128, 2) / 128), "bf16").astype(F)
    angles = numpy.arange(rows, dtype=F)[:, None] * frequencies
    table = numpy.cos(numpy.concatenate([angles, angles], 1).astype("f8")).astype(F)
    return {"f4": table, "f2": table.astype("f2"), "bf16": half(table, "bf16")}[dtype]


class Claims(ServerCase):
    flags = ("--compute-seconds", "600")

    def identify(self, table):
        reply = self.server.request("POST", "/v1/identify", {"Content-Type": NPY}, npy(table))
        return self.assert_ok(reply, "application/json").json()

    def fetch(self, target):
        body = self.assert_ok(self.get(target)).body
        if "format=raw" in target:
            return numpy.frombuffer(body, "u2")
        return numpy.load(io.BytesIO(body))

    def checked(self, table, name):
        """The answer, each sentence of which holds."""
        said = self.identify(table)
        self.assertEqual(check(said, table, self.fetch), [], name)
        return said

    def test_what_holds_is_said_and_what_does_not_is_not(self):
        for claim, tables in CLAIMS.items():
            for holds, some in zip((True, False), tables):
                for i, table in enumerate(some):
                    table, dtype = table if isinstance(table, tuple) else (table, None)
                    if table.dtype.kind == "f" and table.dtype != "f2":
                        table = table.astype(dtype or F)
                    said = self.checked(table, f"{claim} {holds} {i}")
                    self.assertEqual(
                        claim in said["summary"], holds, (claim, i, said["summary"])
                    )

    def test_low_precision_is_told_with_its_effect(self):
        for dtype in ("f4", "f2", "bf16"):
            said = self.checked(rope_in_bfloat16(2048, dtype), dtype)
            self.assertEqual(said["status"], "match")
            for words in ("the law of preset qwen2", "bfloat16 frequencies", "first in row"):
                self.assertIn(words, said["summary"])
            self.assertIn(f"first in row {said['off_from_row']};", said["summary"])
        said = self.checked(rope_in_bfloat16(64, "f4"), "the first rows alone")
        self.assertNotIn("first in row", said["summary"])
        self.assertNotIn("off_from_row", said)

    def test_numbers_of_claims_stand_beside_their_texts(self):
        broken = with_entry(RANDOM, (7, 5), numpy.nan).astype(F)
        claims = self.identify(broken)["reason"]["claims"]
        self.assertEqual(claims[0]["at"], [7, 5])
        self.assertEqual((claims[0]["count"], claims[0]["of"]), (1, broken.size))
        said = self.identify(normal(3000, 400).astype(F))["reason"]
        self.assertEqual(said["kind"], "random")
        self.assertEqual(said["claims"][0]["first_rows"], (1 << 20) // 400)
        self.assertIn("In the first 2621 rows it looks random", said["text"])

    def test_a_row_is_one_of_the_array(self):
        complex_rows = numpy.repeat(RANDOM[:16, ::2] + 1j * RANDOM[:16, 1::2], 4, 0)
        for table in (complex_rows, numpy.asfortranarray(complex_rows)):
            said = self.identify(table.astype("c8"))
            self.assertIn("The 64 rows are copies of 16 different ones", said["summary"])
        vector = 1e4 ** (-numpy.arange(64) / 64)
        vector[5] *= 3
        said = self.identify(vector.astype(F))
        where = said["exceptions"]
        self.assertEqual((where["rows"], where["entries"]), ([], [[5]]))
        self.assertIn("1 entry does not fit: entry [5].", said["summary"])

    def test_the_check_sees_what_is_false(self):
        """Each sentence is refused of a table of which it does not hold."""
        other = {True: RANDOM, False: numpy.eye(64, 48)}
        for claim, (tables, _) in CLAIMS.items():
            for table in tables:
                said = self.identify(numpy.asarray(table).astype(F))
                random = "It looks random" in said["summary"]
                wrong = other[not random].astype(F)
                if said["status"] == "unknown":
                    self.assertNotEqual(check(said, wrong, self.fetch), [], claim)
                else:
                    changed = numpy.asarray(table).astype(F) * F(1.37)
                    self.assertNotEqual(check(said, changed, self.fetch), [], claim)

    def test_every_sentence_about_drawn_tables_holds(self):
        seed = int(os.environ.get("TEST_SEED", "1"))
        print(f"claims: {len(ROWS)} tables of seed {seed}")
        source, counts = Source(numpy.random.default_rng(seed)), {}
        for name, make in ROWS.items():
            said = self.checked(make(source)[1], (name, seed))
            counts[said["status"]] = counts.get(said["status"], 0) + 1
            for form in said.get("forms", []):  # each number of a text is looked at
                for at in re.finditer(NUMBER, form["text"]):
                    other = f"{13 * float(at[0]) + 7919:g}"
                    false = form["text"][: at.start()] + other + form["text"][at.end() :]
                    self.assertFalse(is_of_form({**form, "text": false}, said), false)
        print(f"claims: {counts}")
        self.assertGreater(counts["match"], 0)
        self.assertGreater(counts["unknown"], 0)

    def test_every_sentence_about_tables_of_strangers_holds(self):
        paths = sorted(pathlib.Path(CASES).glob("[fp]*.npy")) if CASES else []
        if not paths:
            self.skipTest("POSENC_CASES names no folder with tables f*.npy and p*.npy")
        for path in paths:
            table = numpy.load(path)
            said = self.checked(table, path.name)
            self.assertIn(said["status"], ("exact", "match", "near", "unknown"))
        print(f"claims: {len(paths)} tables of {CASES}")
