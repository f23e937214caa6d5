"""Each row of lib/identify/mistakes.def, and two mistakes at once: a table that has the mistake
and is made by formulas in float64 here is explained, and the explanation's request makes it."""

import re
from pathlib import Path
from urllib.parse import parse_qsl

import numpy

from test_compare import CompareCase, npy
from test_compare_explained import bfloat16

ROWS = Path("lib/identify/mistakes.def")

FULL = "length=256&dim=64&table=full&tensor=cos"
YARN = FULL + "&rope_theta=1000000&rope_type=yarn&factor=4"
YARN += "&original_max_position_embeddings=32768"
WAVES = "length=256&dim=64"
HEADS = "length=64&heads=8&tensor=bias"
IMAGE = "preset=qwen2_vl&text=5,11&grids=1,8,12&dim=128&tensor=sin"
LLAMA = "length=256&dim=64&table=full&tensor=cos&preset=llama3.1"


def yarn(length=32768, fast=32, slow=1, truncate=True):
    """yarn's ramp of 64 columns and theta 1e6, as transformers has it."""
    low, high = (
        64 * numpy.log(length / (beta * 2 * numpy.pi)) / (2 * numpy.log(1e6))
        for beta in (fast, slow)
    )
    if truncate:
        low, high = numpy.floor(low), numpy.ceil(high)
    low, high = max(low, 0), min(high, 63)
    return numpy.clip((numpy.arange(32) - low) / (high - low), 0, 1)


def rotary(base=1e4, first=0, step=1.0, turn=numpy.cos, order="half", exponent=1, ramp=None):
    """256 rows of 64 columns of full width; with a ramp they are yarn's of factor 4."""
    w = base ** (-exponent * numpy.arange(0, 64, 2) / 64)
    if ramp is not None:
        w = w * (1 - ramp) + w / 4 * ramp
    angle = numpy.outer((first + numpy.arange(256)) * step, w)
    entries = turn(numpy.tile(angle, 2) if order == "half" else angle.repeat(2, 1))
    return entries if ramp is None else entries * (0.1 * numpy.log(4) + 1)


def waves(base=1e4, first=0, last=32, order="interleaved"):
    """A sinusoidal table of 256 rows and 64 columns."""
    angle = numpy.outer(first + numpy.arange(256), base ** (-numpy.arange(32) / last))
    parts = [numpy.sin(angle), numpy.cos(angle)]
    if order == "concat":
        return numpy.hstack(parts)
    return numpy.stack(parts[::-1] if order == "cosines" else parts, 2).reshape(256, 64)


def slopes(first, count, ratio):
    """ALiBi's bias of 64 queries and keys, of slopes ratio^(first + 1), …"""
    places = numpy.arange(64)
    powers = ratio ** numpy.arange(first + 1.0, first + 1 + count)
    return -powers[:, None, None] * abs(places[:, None] - places)


def half_angles():
    angle = numpy.outer(numpy.arange(256.0), 1e4 ** (-numpy.arange(0, 64, 2) / 64))
    return numpy.cos(numpy.tile(bfloat16(angle.astype("f4")), 2))


# The row, the scheme, what is asked, the table, the parameters that are named, and words of the
# sentence. A table that is text is that of a request. Parameters are None where none makes
# the table.
PLANTED = (
    ("values", "rope", FULL, bfloat16(rotary()), {}, "bfloat16 numbers"),
    ("tensor", "rope", FULL, rotary(turn=numpy.sin), {}, "the tensor sin, not cos"),
    (
        "negated",
        "rope",
        FULL.replace("cos", "sin"),
        -rotary(turn=numpy.sin),
        {"step": "-1", "offset": "0"},
        "other sign",
    ),
    ("factor", "sinusoidal", WAVES, 8 * waves(), {}, "the square root of dim=64"),
    (
        "factor",
        "alibi",
        HEADS + "&mask=causal",
        numpy.where(numpy.tri(64) > 0, -slopes(0, 8, 0.5), -numpy.inf),
        {},
        "Every finite entry has the other sign.",
    ),
    ("offset", "rope", FULL, rotary(first=1), {"offset": "1"}, "Shifted by 1 row"),
    (
        "unit",
        "rope",
        FULL,
        rotary(step=numpy.pi / 180),
        {"step": repr(numpy.pi / 180)},
        "degrees",
    ),
    ("choice", "rope", FULL, rotary(order="pairs"), {"layout": "interleaved"}, "another order"),
    ("choice", "sinusoidal", WAVES, waves(order="concat"), {"layout": "concat"}, "not interl"),
    (
        "choice",
        "sinusoidal",
        WAVES + "&layout=concat",
        waves(order="concat", last=31),
        {"frequencies": "tensor2tensor"},
        "not vaswani",
    ),
    (
        "choice",
        "rope",
        YARN,
        rotary(1e6, ramp=yarn(truncate=False)),
        {"truncate": "false"},
        "not",
    ),
    ("base", "rope", FULL, rotary(5e5), {"rope_theta": "500000"}, "not 10000"),
    (
        "scaling",
        "rope",
        YARN,
        rotary(1e6),
        {"rope_type": None, "factor": None, "original_max_position_embeddings": None},
        "not scaled: the table is that without rope_type=yarn",
    ),
    (
        "scaling",
        "rope",
        LLAMA,
        rotary(5e5),
        {"rope_type": "default"},
        "without rope_type=llama3",
    ),
    (
        "preset",
        "rope",
        "length=9&dim=128&tensor=cos",
        "length=9&dim=128&tensor=cos&preset=llama3.1",
        {"preset": "llama3.1"},
        "forgotten",
    ),
    (
        "preset",
        "rope",
        YARN,
        rotary(1e6, order="pairs", ramp=yarn()) / (0.1 * numpy.log(4) + 1),
        {"preset": "deepseek_v3"},
        "The table is that of preset=deepseek_v3.",
    ),
    (
        "columns",
        "sinusoidal",
        WAVES,
        waves(order="cosines"),
        None,
        "2i and 2i + 1 are exchanged",
    ),
    ("columns", "rope", FULL, rotary()[:, ::-1], None, "they are reversed"),
    (
        "columns",
        "sinusoidal",
        WAVES,
        waves().reshape(256, 32, 2)[:, ::-1].reshape(256, 64),
        None,
        "pairs of neighbours are reversed",
    ),
    (
        "columns",
        "sinusoidal",
        WAVES + "&layout=concat",
        waves(order="concat").reshape(256, 2, 32)[:, :, ::-1].reshape(256, 64),
        None,
        "those of each half are reversed",
    ),
    (
        "proposed_request",
        "rope",
        YARN + "&truncate=false",
        rotary(1e6, ramp=yarn(5000, truncate=False)),
        {"original_max_position_embeddings": "5000"},
        "not 32768",
    ),
    *(
        ("proposed_request", "rope", LLAMA, f"{LLAMA}&{name}={value}", {name: value}, "not")
        for name, value in (
            ("original_max_position_embeddings", "5000"),
            ("low_freq_factor", "1.5"),
            ("high_freq_factor", "6"),
        )
    ),
    ("proposed_request", "rope", FULL, rotary(777777), {"rope_theta": "777777"}, "not 10000"),
    ("proposed_request", "rope", FULL, rotary(first=3000), {"offset": "3000"}, "by 3000 rows"),
    (
        "proposed_request",
        "rope",
        FULL,
        rotary(step=0.125),
        {"rope_type": "linear", "factor": "8"},
        "A scaling is forgotten",
    ),
    (
        "proposed_request",
        "alibi",
        HEADS,
        slopes(8, 8, 2**-0.25),
        {"heads_total": "32", "first_head": "8"},
        "first_head=8, not 0",
    ),
    (
        "proposed_request",
        "alibi",
        "length=64&heads=12&tensor=bias",
        slopes(0, 12, 2**-0.5),
        {"heads_total": "16"},
        "not 12",
    ),
    (
        "proposed_request",
        "rope",
        YARN,
        rotary(1e6, ramp=yarn(131072)),
        {"original_max_position_embeddings": "131072"},
        "not 32768",
    ),
    (
        "proposed_request",
        "rope",
        "length=256&dim=64&partial_rotary_factor=0.5&tensor=cos",
        rotary()[:, :32],
        {"partial_rotary_factor": "1"},
        "not 0.5",
    ),
    (
        "proposed_request",
        "rope",
        FULL + "&rope_type=linear&factor=4",
        rotary(step=4),
        {"step": "4", "rope_type": "default", "factor": None},
        "without rope_type=linear",
    ),
    ("number", "rope", FULL, rotary(exponent=2), {"rope_theta": "100000000"}, "not 10000"),
    (
        "number",
        "t5",
        "length=90&heads=4&tensor=bucket",
        "length=90&heads=4&tensor=bucket&max_distance=64",
        {"max_distance": "64"},
        "not 128",
    ),
    *(
        (
            "moved_items",
            "mrope",
            IMAGE,
            f"{IMAGE}&mrope_section={sections}",
            {"mrope_section": sections},
            "not 16,24,24",
        )
        for sections in ("24,16,24", "24,20,20", "10,32,22")
    ),
    ("narrow_angles", "rope", FULL, half_angles(), None, "angles were rounded to bfloat16"),
    ("reversed_ramp", "rope", YARN, rotary(1e6, ramp=1 - yarn()), None, "the other way round"),
    (
        "reversed_ramp",
        "rope",
        YARN,
        rotary(1e6, ramp=yarn(fast=1, slow=32)),
        None,
        "beta_fast and beta_slow are exchanged",
    ),
    (
        "reversed_ramp",
        "rope",
        YARN + "&truncate=false",
        rotary(1e6, ramp=1 - yarn(truncate=False)),
        None,
        "the other way round",
    ),
    ("overlap", "sinusoidal", WAVES, numpy.roll(waves(), 2, 0), None, "i - 2 of the exact one"),
    # two at once
    (
        "two",
        "alibi",
        HEADS,
        -slopes(8, 8, 2**-0.25),
        {"heads_total": "32", "first_head": "8"},
        "Every finite entry has the other sign. Besides: The table is that of heads_total=32",
    ),
    (
        "two",
        "alibi",
        HEADS,
        numpy.where(numpy.tri(64) > 0, -slopes(0, 8, 0.5), -numpy.inf),
        {"mask": "causal"},
        "Every finite entry has the other sign. Besides: ",
    ),
    (
        "two",
        "sinusoidal",
        WAVES,
        waves(1e3, order="cosines"),
        None,
        "Besides: The table is that",
    ),
    ("two", "rope", FULL, rotary(5e5, 1), {"rope_theta": "500000", "offset": "1"}, "offset=1"),
    (
        "two",
        "rope",
        FULL,
        rotary(order="pairs", turn=numpy.sin),
        {"layout": "interleaved"},
        "of layout=interleaved, not half, and of the tensor sin, not cos",
    ),
    ("two", "rope", FULL, 1.2 * rotary(3e5), {"rope_theta": "300000"}, "times 1.2"),
    (
        "two",
        "rope",
        YARN,
        rotary(1e6, order="pairs", ramp=yarn(131072)),
        {"original_max_position_embeddings": "131072", "layout": "interleaved"},
        "not half",
    ),
    (
        "two",
        "sinusoidal",
        WAVES,
        waves(777, order="concat"),
        {"base": "777", "layout": "concat"},
        "not 10000, and of layout=concat",
    ),
    (
        "two",
        "mrope",
        IMAGE,
        IMAGE + "&mrope_section=24,16,24&rope_theta=10000",
        {"rope_theta": "10000", "mrope_section": "24,16,24"},
        "Besides",
    ),
    (
        "two",
        "mrope",
        IMAGE,
        IMAGE + "&mrope_section=24,20,20&rope_theta=10000",
        {"rope_theta": "10000", "mrope_section": "24,20,20"},
        "rope_theta=10000, not 1000000. Besides: ",
    ),
)


class Mistakes(CompareCase):
    def explain(self, scheme, query, table):
        reply = self.compare(query, npy(table), scheme=scheme)
        return reply.json().get("explanation")

    def assert_request_makes(self, scheme, found, table, row):
        """Check the request of an explanation in float64, but for the rounding of the table."""
        query = found["request"]["url"].split("?", 1)[1]
        self.assertNotIn("dtype=", query)
        exact = self.fetch(query + "&dtype=f64", scheme)
        exact = numpy.where(numpy.isinf(exact), exact, exact * found.get("factor", 1))
        least = numpy.where(numpy.isfinite(table), numpy.abs(table), 0).max() * 2e-6
        near = 2**-8 if row == "values" else least
        self.assertTrue(((exact == table) | numpy.isfinite(table)).all(), (row, query))
        finite = numpy.isfinite(table)
        self.assertLess(numpy.abs(exact[finite] - table[finite]).max(), near, (row, query))

    def assert_parameters_are_what_differs(self, found, asked):
        """Check that the request of an explanation is that of the question but for these."""
        made = dict(parse_qsl(found["request"]["url"].split("?", 1)[1]))
        asked = dict(parse_qsl(asked)) | {"tensor": made["tensor"]}
        changed = {name for name in made | asked if made.get(name) != asked.get(name)}
        self.assertEqual(changed, set(found["parameters"]), found)

    def test_each_row_has_a_planted_table(self):
        rows = set(re.findall(r"^MISTAKE\(\w+, pe_find_(\w+)\)", ROWS.read_text(), re.M))
        self.assertGreater(len(rows), 15)
        self.assertEqual(rows - {"option", "in_entries"}, {row[0] for row in PLANTED} - {"two"})

    def test_planted_mistakes_are_found_and_their_requests_make_the_tables(self):
        for row, scheme, query, made, parameters, words in PLANTED:
            table = self.fetch(made, scheme) if isinstance(made, str) else made.astype("f4")
            found = self.explain(scheme, query, table)
            self.assertIsNotNone(found, (row, query))
            self.assertIn(words, found["sentence"], row)
            if parameters is not None:
                self.assertEqual(found["parameters"], parameters, found)
                self.assert_parameters_are_what_differs(found, query)
                self.assert_request_makes(scheme, found, table, row)

    def test_a_wrong_table_of_a_batch_is_named(self):
        right = rotary().astype("f4")
        wrong = right.copy()
        wrong[5:] += 0.25
        for tables, words in (
            ([right, wrong], "1 is wrong, and the others are the exact one: table 1 of axis 0"),
            ([wrong, right, wrong], "2 are wrong, and the others are the exact one: table 0"),
        ):
            found = self.explain("rope", FULL, numpy.stack(tables))
            self.assertEqual(found["kind"], "batch")
            self.assertIn(words, found["sentence"])
            self.assertIn("is wrong from row 5.", found["sentence"])
        self.assertIsNone(self.explain("rope", FULL, numpy.stack([wrong, wrong + 1])))
        many = numpy.stack([right] * 4000 + [wrong])  # of which not all may be looked at
        found = self.explain("rope", FULL, many)
        if found:
            self.assertIn("Of the 4001 tables of axis 0, 1 is wrong", found["sentence"])
            self.assertIn("table 4000 of axis 0 is wrong from row 5.", found["sentence"])

    def test_the_status_and_the_sentence_are_one_verdict(self):
        angle = numpy.arange(10**6, 10**6 + 16, dtype="f4")[:, None] * (
            1 / numpy.float32(1e4) ** (numpy.arange(0, 64, 2, dtype="f4") / numpy.float32(64))
        )
        query, table = "length=16&dim=64&tensor=cos&offset=1000000", npy(numpy.cos(angle))
        for tolerance, status, words in (
            ("", 200, "No mistake: every entry"),
            ("&tolerance=float32", 200, None),
            ("&tolerance=1e-5", 409, "Right for float32, and outside this tolerance: every"),
            ("&tolerance=0", 409, "Right for float32, and outside this tolerance: every"),
        ):
            found = self.compared(query + tolerance, table, scheme="rope", status=status)
            sentence = found.get("explanation", {}).get("sentence")
            self.assertEqual(sentence and sentence[: len(words or "")], words, tolerance)

    def test_random_tables_have_no_two_mistakes(self):
        generator = numpy.random.default_rng(3)
        for scheme, query, shape in (
            ("rope", YARN, (256, 64)),
            ("alibi", HEADS, (8, 64, 64)),
            ("sinusoidal", WAVES, (256, 64)),
            # float32 may lose as much as an entry is, at the square of this offset
            ("rope", "length=17&dim=64&offset=100000&tensor=cos", (17, 32)),
        ):
            table = generator.uniform(-1, 1, shape).astype("f4")
            self.assertIsNone(self.explain(scheme, query, table))
        bent = rotary() + numpy.linspace(0, 0.1, 64)
        self.assertIsNone(self.explain("rope", FULL, bent.astype("f4")))


if __name__ == "__main__":
    import unittest

    unittest.main()
