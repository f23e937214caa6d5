"""/v1/identify: which request made a table. The rule above all: never another table than
that."""

import io
import unittest

import numpy

from identify_case import IdentifyCase
from library_tables import (
    F,
    NEARLY,
    OWN,
    angles,
    annotated,
    frequencies,
    gpt_j,
    half,
    hugging_face,
    yarn,
)
from test_compare import NPY, RAW, SAFETENSORS, npy, safetensors


TENSORS = {  # that are looked at, of schemes with trained numbers
    **dict.fromkeys(("learned", "resized", "floater"), "encoding"),
    **dict.fromkeys(("kerple", "fire", "t5", "levit", "swin"), "bias"),
    "complex_order": "real",
    "urpe": "toeplitz",
    "shaw": "keys",
}


def neighbours(table):
    """The correlation of neighbouring rows, without the mean of each column."""
    rows = table - table.mean(0)
    return (rows[1:] * rows[:-1]).sum() / (rows[1:] ** 2).sum()


def diagonals(table):
    """The share of entries that are equal to the one before on their diagonal."""
    return (table[1:, 1:] == table[:-1, :-1]).mean()


class Identify(IdentifyCase):
    def test_columns_in_another_order_are_found(self):
        generator = numpy.random.default_rng(12)
        cosines, sinusoids = hugging_face(300, 64), annotated(512, 128)
        mixed = {  # the table, the scheme, and what the request must say
            "the annotated transformer": (
                sinusoids[:, generator.permutation(128)],
                "sinusoidal",
                ["length=512", "dim=128"],
            ),
            "the same, reversed": (sinusoids[:, ::-1], "sinusoidal", ["length=512", "dim=128"]),
            "the same, transposed": (
                sinusoids[:, generator.permutation(128)].T,
                "sinusoidal",
                ["length=512", "dim=128"],
            ),
            "cosines, each twice": (
                cosines[:, generator.permutation(64)],
                "rope",
                ["length=300", "dim=64", "table=full", "layout=interleaved", "tensor=cos"],
            ),
            "cosines, two of them changed": (
                cosines[:, [0, 20, *range(2, 20), 1, *range(21, 64)]],
                "rope",
                ["table=full", "layout=interleaved", "tensor=cos"],
            ),
            "sines": (
                gpt_j(600, 64)[:, generator.permutation(32)],
                "rope",
                ["length=600", "dim=64", "table=half_width", "tensor=sin"],
            ),
            "times an amplitude": (
                annotated(300, 64, 8)[:, generator.permutation(64)],
                "sinusoidal",
                ["amplitude=8"],
            ),
        }
        for name, (table, scheme, said) in mixed.items():
            found = self.identify(npy(numpy.ascontiguousarray(table)))
            self.assertEqual(
                (found["status"], found["arithmetic"]),
                ("match", "float32"),
                (name, found["summary"]),
            )
            self.assertIn("with its columns in another order", found["summary"], name)
            self.assertEqual(found["request"]["scheme"], scheme, name)
            for text in said:
                self.assertIn(text, found["request"]["url"].replace("?", "&").split("&"), name)
            self.assertEqual(found["transposed"], "transposed" in name)
            self.assertEqual(sorted(found["columns"]), list(range(min(table.shape))), name)
            self.assert_true(found, table)
        self.assertNotIn("columns", self.identify(npy(sinusoids)))

    def test_requests_of_libraries_whose_arithmetic_is_not_named(self):
        for name, (table, scheme, said) in NEARLY.items():
            found = self.identify(npy(table))
            self.assertIn(found["status"], ("near", "match", "exact"), name)
            self.assertEqual((found["request"]["scheme"], found["misfits"]), (scheme, 0), name)
            for text in said:
                self.assertIn(text, found["request"]["url"].replace("?", "&").split("&"), name)
            self.assert_true(found, table)
            table[tuple(size // 2 for size in table.shape)] += F(0.01)
            damaged = self.identify(npy(table))
            self.assertIn(damaged["status"], ("near", "unknown"), name)

    def test_a_bad_row_or_column_or_a_few_bad_entries_are_near(self):
        generator = numpy.random.default_rng(4)
        tables = {
            "rope": hugging_face(300, 64),
            "sinusoidal": annotated(200, 64),
            "yarn": yarn(600, 64, 1e6, 4, 32768),
            "own": self.fetch(
                "/v1/encodings/rope?length=400&dim=64&rope_type=llama3&factor=32&table=full"
            ),
        }
        for name, table in tables.items():
            good = self.identify(npy(table))["request"]
            rows, columns = table.shape
            for spoilt in ("row", "first row", "last row", "column", "first column", "entries"):
                other = table.copy()
                if spoilt == "entries":
                    places = generator.random(table.shape) < 1 / 17
                    other[places] = generator.normal(size=places.sum())
                elif "row" in spoilt:
                    row = {"row": rows // 3, "first row": 0, "last row": rows - 1}[spoilt]
                    other[row] = generator.normal(size=columns)
                else:
                    other[:, 0 if "first" in spoilt else columns // 5] = generator.normal(
                        size=rows
                    )
                found = self.identify(npy(other))
                wrong = (other != table).sum()
                if spoilt == "entries" and len(table) < 300 and found["status"] == "unknown":
                    continue  # a short table does not say enough then
                if spoilt == "first row" and found["forms"]:
                    self.assertIn("row 0 is another", found["summary"])
                    continue  # the law of the others is as cheap from row 1 on
                self.assertEqual(found["status"], "near", (name, spoilt, found["summary"]))
                self.assertEqual(
                    self.bits(self.fetch(found["request"]["url"])),
                    self.bits(self.fetch(good["url"])),
                    (name, spoilt),
                )
                self.assertLessEqual(found["misfits"], wrong)
                self.assertGreater(found["misfits"], 0.9 * wrong)
                where, bad_rows, bad_columns = found["exceptions"], *(
                    (other != table).mean(axis) > 0.9 for axis in (1, 0)
                )
                self.assertEqual(
                    (where["rows"], where["row_count"]),
                    (list(bad_rows.nonzero()[0]), bad_rows.sum()),
                    (name, spoilt),
                )
                self.assertEqual(
                    (where["columns"], where["column_count"]),
                    (list(bad_columns.nonzero()[0]), bad_columns.sum()),
                    (name, spoilt),
                )
                self.assertEqual(bool(where["entries"]), spoilt == "entries")
                self.assertTrue(
                    all(other[tuple(at)] != table[tuple(at)] for at in where["entries"]),
                    (name, spoilt),
                )

    def test_grids_with_a_bad_entry_in_their_second_cell(self):
        for path in (
            "sinusoidal_2d?height=6&width=7&dim=64&shape=nc",
            "sinusoidal_3d?depth=6&height=4&width=9&dim=64&shape=nc",
        ):
            table = self.fetch(f"/v1/encodings/{path}")
            table[1, 7] += F(0.3)
            found = self.identify(npy(table))
            self.assertEqual(found["status"], "near", (path, found["summary"]))
            self.assertEqual(
                (found["request"]["scheme"], found["misfits"]), (path.split("?")[0], 1)
            )

    def test_files_and_raw_elements(self):
        table = self.fetch("/v1/encodings/sinusoidal?length=64&dim=32")
        for body, query, media_type in (
            (npy(numpy.asfortranarray(table)), "", NPY),
            (
                safetensors(
                    {"a": ("F32", [64, 32], table.tobytes()), "b": ("F32", [2], bytes(8))}
                ),
                "?file_tensor=a",
                SAFETENSORS,
            ),
            (table.tobytes(), "?shape=64,32&dtype=f32", RAW),
            (table.tobytes(), "?shape=1,64,32", RAW),
        ):
            found = self.identify(body, query, media_type)
            self.assertEqual(
                (found["status"], found["request"]["url"]),
                ("exact", "/v1/encodings/sinusoidal?length=64&dim=32&tensor=encoding"),
            )
        self.assertEqual(self.identify(npy(table), "?scheme=alibi")["status"], "unknown")
        self.refuse(422, "scheme", npy(table), "?scheme=none", NPY)
        problem = self.refuse(422, "scheme", npy(table), "?scheme=alibbi", NPY)
        self.assertRegex(problem["detail"], '^scheme must be .* did you mean "alibi"')
        for scheme in self.get("/v1/schemes").json()["schemes"]:
            if not scheme["recognised"]:
                self.refuse(422, "scheme", npy(table), f"?scheme={scheme['name']}", NPY)
        self.refuse(400, "dim", npy(table), "?dim=4", NPY)
        self.refuse(400, "shape", table.tobytes(), "", RAW)
        self.refuse(400, "body", table.tobytes(), "?shape=64,33", RAW)
        self.refuse(400, "dtype", table.tobytes(), "?shape=64,32&dtype=f33", RAW)

    def test_other_requests_of_the_same_table(self):
        cases = {
            "rope?length=120&dim=64&step=0.25&tensor=cos": (None, "rope_type=linear&factor=4"),
            "rope?length=120&dim=64&rope_theta=1000000&table=full&tensor=sin": ("qwen2", ""),
            "rope?length=120&dim=64&preset=gemma3_global&tensor=cos": ("gemma3_global", ""),
            "sinusoidal?length=64&dim=32": ("vaswani", ""),
            "sinusoidal?length=8&dim=8&dtype=f16": ("vaswani", ""),
            "sinusoidal_2d?height=5&width=5&dim=32&preset=mae": ("mae", ""),
        }
        for query, (preset, other) in cases.items():
            reply = self.assert_ok(self.get(f"/v1/encodings/{query}&format=npy"))
            exact = numpy.load(io.BytesIO(reply.body))
            found = self.identify(reply.body, "?limit=8")
            self.assertEqual(found["status"], "exact", query)
            self.assertEqual(preset is None, found["request"]["presets"] == [], query)
            self.assertTrue(preset is None or preset in found["request"]["presets"], query)
            self.assertNotIn("llama3.1", found["request"]["presets"], query)
            urls = [each["url"] for each in (found["request"], *found["same_table"])]
            self.assertTrue(any(other in url for url in urls), urls)
            for target in urls:
                self.assertEqual(self.bits(self.fetch(target)), self.bits(exact), target)
            self.assertEqual(self.identify(reply.body, "?limit=0")["same_table"], [])
        self.refuse(422, "limit", npy(exact), "?limit=99", NPY)
        huge = self.assert_ok(
            self.get(
                "/v1/encodings/sinusoidal?length=40&dim=16&amplitude=1e30&dtype=f64&format=npy"
            )
        )
        found = self.identify(huge.body)
        self.assertEqual(found["status"], "exact")
        self.assertEqual(
            self.bits(self.fetch(found["request"]["url"])),
            self.bits(numpy.load(io.BytesIO(huge.body))),
        )

    def test_of_a_table_that_is_drawn_from_a_seed_only_what_is_seen_is_said(self):
        alike = {  # what holds of the first matrix
            "random": lambda table: abs(neighbours(table)) < 0.3 and diagonals(table) < 0.1,
            "smooth": lambda table: neighbours(table) > 0.7,
            "diagonals": lambda table: diagonals(table) > 0.9,
            "waves": lambda table: (
                abs(table[1:-1] * 2 * numpy.cos(1) - table[2:] - table[:-2]).max(0) < 1e-5
            ).any(),
            None: lambda table: True,
        }
        for query, kind in {
            "learned?length=100&dim=32": "random",
            "learned?length=100&dim=32&init=uniform&std=1&seed=3": "random",
            "resized?height=40&dim=16&source_height=14": "smooth",
            "floater?length=100&dim=64": "smooth",
            "complex_order?length=60&dim=32&vocab=1": "waves",
            "complex_order?length=60&dim=32&vocab=1&sharing=word": "waves",
            "complex_order?length=400&dim=2&vocab=1": "waves",
            "kerple?length=50&heads=4": "diagonals",
            "fire?length=50&heads=4": "diagonals",
            "t5?length=50&heads=4": "diagonals",
            "urpe?length=50&heads=4&init=normal": "diagonals",
            "levit?height=5&width=6&heads=4": None,
            "swin?height=5&width=6&heads=4": None,
            "shaw?length=20&dim=6": "diagonals",
        }.items():
            table = self.fetch(f"/v1/encodings/{query}&tensor={TENSORS[query.split('?')[0]]}")
            found = self.identify(npy(table))
            self.assertEqual(
                (found["status"], found.get("reason", {}).get("kind")), ("unknown", kind), query
            )
            self.assertNotIn("request", found)
            matrix = table.astype("f8")
            while matrix.ndim > 2:
                matrix = matrix[..., 0] if "shaw" in query else matrix[0]
            self.assertTrue(alike[kind](matrix), query)
            advised = kind and "vocab=1&sharing=word" not in query and "dim=2" not in query
            self.assertEqual("set=NAME" in found["summary"], bool(advised), query)
        drawn = self.fetch("/v1/encodings/learned?length=100&dim=32")
        file = safetensors({"table": ("F32", [100, 32], drawn.tobytes())})
        self.assertEqual(self.server.request("PUT", "/v1/sets/drawn", {}, file).status, 201)
        self.assertEqual(
            self.identify(npy(drawn[40:]), "?set=drawn")["request"]["url"],
            "/v1/encodings/learned?length=60&set=drawn&offset=40&tensor=encoding",
        )

    def test_every_scheme_says_whether_it_is_recognised(self):
        schemes = self.get("/v1/schemes").json()["schemes"]
        recognised = {scheme["name"] for scheme in schemes if scheme["recognised"]}
        self.assertLessEqual(
            {
                "integer",
                "normalized",
                "binary",
                "sinusoidal",
                "rope",
                "alibi",
                "sinusoidal_2d",
                *OWN,
            },
            recognised,
        )
        self.assertEqual(
            {scheme["name"] for scheme in schemes} - recognised,
            {"random_fourier", "complex_order", "floater", "kerple", "fire"},
        )

    def test_presets_are_those_that_make_the_table(self):
        for query, presets, others in [
            (
                "sinusoidal?length=150&dim=64&preset=whisper",
                {"whisper", "tensor2tensor", "fairseq"},
                {"vaswani"},
            ),
            ("sinusoidal?length=150&dim=64&base=500", set(), {"vaswani"}),
            ("sinusoidal?length=150&dim=64&amplitude=2", set(), {"vaswani"}),
            ("rope?length=150&dim=64&rope_theta=777&tensor=cos", set(), {"gpt_neox"}),
            ("alibi?length=30&heads=12&preset=falcon", {"falcon"}, set()),
        ]:
            scheme = query.split("?")[0]
            found = self.identify(
                self.assert_ok(self.get(f"/v1/encodings/{query}&format=npy")).body
            )
            said = set(found["request"]["presets"])
            self.assertEqual(
                (presets - said, others & said), (set(), set()), (query, found["request"])
            )
            for preset in said & {"whisper", "tensor2tensor", "fairseq", "vaswani", "gpt_neox"}:
                sizes = "&".join(
                    part
                    for part in query.split("?")[1].split("&")
                    if part.split("=")[0] in ("length", "dim", "tensor")
                )
                self.assertEqual(
                    self.bits(self.fetch(f"/v1/encodings/{scheme}?preset={preset}&{sizes}")),
                    self.bits(self.fetch(f"/v1/encodings/{query}")),
                    preset,
                )

    def test_powers_of_two_are_plain_frequencies(self):
        """They are exact in 16 bits, where very many laws are near them."""
        for count in range(3, 25):
            answer = self.identify(npy((0.5 ** numpy.arange(count)).astype("f4")))
            wanted = f"rope?length=1&dim={2 * count}&rope_theta={2**count}&tensor=inv_freq"
            self.assertEqual(answer["status"], "exact", answer)
            self.assertIn(wanted, answer["request"]["url"])

    def test_a_base_of_few_digits_comes_before_one_of_many(self):
        """10000^(h / (h - 1)) is near a number of six digits."""
        for dim in (8, 16, 32, 48, 64, 100, 256, 768):
            half_dim = dim // 2
            step = F(-numpy.log(10000.0) / (half_dim - 1))
            inverse = numpy.exp(numpy.arange(half_dim, dtype="f4") * step).astype("f4")
            turned = angles(128, inverse)
            table = numpy.concatenate([numpy.sin(turned), numpy.cos(turned)], 1)
            answer = self.identify(npy(table.astype("f4")))
            self.assertEqual(answer["status"], "match", (dim, answer["summary"]))
            self.assertIn("frequencies=tensor2tensor", answer["request"]["url"], dim)
            self.assertNotIn("base=", answer["request"]["url"], dim)

    def test_columns_of_one_frequency_have_one(self):
        table = numpy.sin(angles(300, frequencies(64))).repeat(2, 1)
        self.assertEqual(self.identify(npy(table))["status"], "match")
        table[:, 63] *= F(1 + 2**-20)
        self.assertNotIn(self.identify(npy(table))["status"], ("match", "exact"))

    def test_frequencies_of_16_bits_are_those_of_a_float32_near_the_formula(self):
        generator = numpy.random.default_rng(0)
        rounded = half(frequencies(64), "bf16")
        moved = (
            rounded.view("u4") + generator.integers(-1, 2, 32).astype("u4") * 0x10000
        ).view("f4")
        for inverse, statuses in (
            (rounded, ("match",)),
            (moved, ("near", "unknown")),
            (half(frequencies(64, 9950.0), "bf16"), ("near", "unknown")),
        ):
            self.assertIn(
                self.identify(npy(numpy.cos(angles(600, inverse))))["status"], statuses
            )

    def test_float32_tables_that_were_rounded_to_float16_are_a_match(self):
        for length, dim in ((2048, 64), (700, 128)):
            powers = (
                10000.0 ** (numpy.arange(0, dim, 2, dtype=F) / F(dim)).astype("f8")
            ).astype(
                F
            )  # as torch has them, rounded once
            found = self.identify(npy(numpy.cos(angles(length, F(1) / powers)).astype("f2")))
            self.assertEqual(
                (found["status"], found["arithmetic"]), ("match", "float32"), (length, dim)
            )

    def test_slow_and_still_columns_are_told_from_float32_arithmetic(self):
        per_column = F(1) / F(10000) ** (numpy.arange(0, 64, 2, dtype=F) / F(32))
        sinusoids = numpy.sin(angles(50, per_column))
        sinusoids[:, 1::2] = numpy.cos(angles(50, per_column))[:, 1::2]
        still = numpy.concatenate(
            [F(1) / F(10000) ** (numpy.arange(32, dtype=F) / F(32)), numpy.zeros(32, F)]
        )
        for table in (sinusoids, numpy.cos(angles(3000, still))):
            found = self.identify(npy(table))
            self.assertEqual(
                (found["status"], found["arithmetic"]), ("match", "float32"), found["summary"]
            )

    def test_small_sines_are_not_near_what_has_another_sign(self):
        for target, place in (
            ("sinusoidal?length=50&dim=64&base=1e18", (slice(None), 62)),
            ("sinusoidal?length=100&dim=64&dtype=f64", (1, 62)),
        ):
            table = self.fetch(f"/v1/encodings/{target}").copy()
            table[place] *= table.dtype.type(-1 if table.dtype == "f4" else 1 + 3e-12)
            self.assertNotIn(self.identify(npy(table))["status"], ("match", "exact"), target)

    def test_integers_that_no_double_has_are_no_numbers(self):
        for table in (
            numpy.arange(5) + 2**53,
            2**53 + numpy.array([0, 1, 0, 1]),
            numpy.array([2**64 - 1, 0, 5, 7], "u8"),
        ):
            self.assertEqual(self.identify(npy(table))["status"], "unknown")
        self.assertIn(
            self.identify(npy(numpy.arange(5) + 2**52))["status"], ("match", "exact")
        )
        reply = self.server.request(
            "POST",
            "/v1/compare/integer?length=2&offset=9007199254740992&step=0&dtype=f64",
            {"Content-Type": NPY},
            npy(numpy.array([[2**53], [2**53 + 1]])),
        )
        self.assertEqual((reply.json()["equal"], reply.json()["not_finite"]), (False, 1))

    def test_what_is_near_tells_how_much_differs(self):
        table = self.fetch("/v1/encodings/rope?length=200&dim=64&tensor=cos").copy()
        table[7, 3] += F(1e-6)
        found = self.identify(npy(table))
        self.assertEqual((found["status"], found["misfits"]), ("near", 0))
        self.assertIn("1 of 6400 entries differ", found["summary"])
        self.refuse(400, "body", b"", "", NPY)


if __name__ == "__main__":
    unittest.main()
