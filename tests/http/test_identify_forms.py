"""/v1/identify: what happens to tables after they were made, and why a table is unknown."""

import io

import numpy

from forms import undone
from library_tables import frequencies, half, hugging_face
from server import ServerCase
from test_compare import NPY, npy
from transformations import NOTHING, ROWS, Source, run

F = numpy.float32
STEPS = numpy.arange(64)
PERMUTED = numpy.random.default_rng(4).permutation(1000)[:64]
# positions, and how a request says them; None: one after another
POSITIONS = (
    (12345 + STEPS, "length=64&offset=12345"),
    (7 + 20 * STEPS, "length=64&offset=7&step=20"),
    (33.3 * STEPS, "length=64&step=33.3"),
    (400 - STEPS, "length=64&offset=400&step=-1"),
    (numpy.concatenate([numpy.arange(count) for count in (20, 57, 90)]), None),
    (PERMUTED, None),
    (numpy.concatenate([[1] * 9, STEPS]), None),
)


def to_tf32(values):
    wide = numpy.asarray(values, F).view("u4").astype("u8")
    return (((wide + 0xFFF + (wide >> 13 & 1)) >> 13) << 13).astype("u4").view(F)


class Forms(ServerCase):
    flags = ("--compute-seconds", "600")

    def identify(self, table):
        reply = self.server.request("POST", "/v1/identify", {"Content-Type": NPY}, npy(table))
        return self.assert_ok(reply, "application/json").json()

    def fetch(self, url):
        url = url.split("&dtype=")[0]
        reply = self.assert_ok(self.get(url + "&dtype=f64&format=npy"))
        return numpy.load(io.BytesIO(reply.body)).squeeze()

    def check(self, table, said):
        """What is left of the table is what the requests make, but for noise."""
        if said["status"] == "unknown":
            return
        most = 3e-3 + 8 * said.get("noise", 0)
        most += sum(form["value"] for form in said["forms"] if form["kind"] == "decimals")
        zero = said.get("exceptions", {}).get("rows", [])
        requests = [said["request"], said.get("second")]
        for left, request in zip(undone(table, said), requests):
            if not request:
                continue
            exact = self.fetch(request["url"])
            kept = [row for row in range(len(exact)) if row not in zero]
            numpy.testing.assert_allclose(left[kept], exact[kept], 1e-3, most, str(request))

    def test_what_happens_to_tables_is_looked_through(self):
        def identify(table):
            said = self.identify(table)
            self.check(table, said)
            return said

        found, wrong = run(identify, 1, 31)
        self.assertEqual(wrong, [])
        missed = [name for name in found if found[name]["unknown"]]
        self.assertLessEqual(len(missed), 2, missed)
        self.assertEqual({name for name in NOTHING if not found[name]["right"]}, set())
        self.assertEqual(set(found), set(ROWS))

    def test_forms_are_said_in_words(self):
        source = Source(numpy.random.default_rng(1))
        for name, words in (
            ("batch and heads", ("axis 0 has it 2 times", "axis 1 has it")),
            ("[n, d/2, 2]", ("axis 2 has cos, then sin",)),
            ("2x2 matrices", ("rotation matrices",)),
            ("angles", ("angles, before cosine and sine",)),
            ("mask -1e9", ("keys after the query have -1e+09",)),
            ("complex64", ("its real part is cos, its imaginary part sin",)),
            ("heads last", ("its heads lie along axis 2",)),
            ("padded keys", ("have -inf",)),
            ("padding added", ("have less than -1000",)),
            ("opposite sines", ("axis 1 has it twice, at first with the other sign",)),
            ("grid with padding", ("axis 1: columns", "axis 2: columns")),
            ("zero row before", ("row 0 is zero",)),
        ):
            scheme, table = ROWS[name](source)
            said = self.identify(table)
            for text in words:
                self.assertIn(text, said["summary"])
            self.assertEqual(said["misfits"], 0, said["summary"])
            self.assertEqual(said["request"]["scheme"], scheme)

    def test_several_forms_are_undone_one_after_the_other(self):
        log2e, later = numpy.log2(numpy.e), numpy.triu(numpy.ones((40, 40), bool), 1)
        grid = self.fetch("/v1/encodings/sinusoidal_2d?preset=mae&height=7&width=6&dim=64")
        padded = numpy.concatenate([grid.reshape(42, 64), numpy.zeros((3, 64))]) * log2e
        sines = self.fetch("/v1/encodings/sinusoidal?length=90&dim=32")
        decay = self.fetch("/v1/encodings/retnet?length=40&heads=8&dim=8&tensor=mask")
        matrices = ROWS["2x2 matrices"](Source(numpy.random.default_rng(1)))[1]
        slopes = self.fetch("/v1/encodings/alibi?length=40&heads=12")
        for table, scheme, kinds in (
            (padded.astype("c8"), "sinusoidal_2d", ["factor", "zero_columns", "zero_rows"]),
            (
                numpy.roll(sines.round(4), 16, 1).astype(F),
                "sinusoidal",
                ["columns", "decimals"],
            ),
            (numpy.where(later, F(-1e4), decay.astype(F)), "retnet", ["masked"]),
            ((matrices * F(0.5)).round(4), "rope", ["decimals", "factor", "matrices"]),
            (numpy.where(later, F(-numpy.inf), -slopes), "alibi", ["factor"]),
        ):
            said = self.identify(table)
            self.check(table, said)
            own = {form["kind"] for form in said.get("forms", [])}
            self.assertTrue(own >= set(kinds), (kinds, said["summary"]))
            schemes = [each["scheme"] for each in (said["request"], *said["same_table"])]
            self.assertIn(scheme, schemes, said["summary"])

    def test_a_factor_and_a_constant_of_tables_without_pairs(self):
        for target, scheme in (
            ("/v1/encodings/t5?length=60&heads=1&tensor=bucket", "t5"),
            ("/v1/encodings/swin?height=5&width=6&heads=1&tensor=index", "swin"),
            ("/v1/encodings/rope?length=80&dim=64&tensor=cos", "rope"),
            ("/v1/encodings/rope?length=80&dim=64&tensor=sin", "rope"),
        ):
            exact = self.fetch(target).astype("f8")
            for dtype in (F, "f2") if scheme == "rope" else (F,):
                table = ((exact - exact.mean()) / (10 * exact.std())).astype(dtype)
                said = self.identify(table)
                self.check(table, said)
                self.assertEqual(said["request"]["scheme"], scheme, said["summary"])
                self.assertIn("factor", [form["kind"] for form in said["forms"]])

    def test_whole_numbers_of_every_dtype_go_through_forms(self):
        distances = STEPS[:40] - STEPS[:24, None]
        bits = STEPS[:, None] >> numpy.arange(6) & 1
        for dtype in ("i8", "i4", "i2", "i1", "f4", "f2"):
            for whole, scheme, kinds in (
                (distances, "deberta", {"transposed"}),
                (-abs(distances[:, :24]), "levit", {"factor"}),
                (bits * 2 - 1, "binary", {"factor"}),
                (1 - bits, "binary", {"factor"}),
                (7 - 3 * bits, "binary", {"factor"}),
            ):
                said = self.identify(whole.astype(dtype))
                self.check(whole.astype("f8"), said)
                self.assertEqual(said["status"], "exact", said["summary"])
                self.assertEqual(said["request"]["scheme"], scheme, said["summary"])
                self.assertEqual({form["kind"] for form in said["forms"]}, kinds)
        # one of many that is off by its last bit, between the rows that are looked at
        table = ((numpy.arange(8192)[:, None] >> numpy.arange(12) & 1) * 0.3 - 0.1).astype(F)
        said = self.identify(table)
        self.assertEqual(said["status"], "exact")
        self.assertIn("times 0.3, plus -0.1", said["summary"])
        table[4001, 2] = numpy.nextafter(table[4001, 2], F(1))
        said = self.identify(table)
        self.assertEqual(said["exceptions"]["entries"], [[4001, 2]], said["summary"])

    def test_a_factor_leaves_one_rounding(self):
        """By two, a preset of another factor fits."""
        scaled = "rope_theta=500000&rope_type=llama3&factor=2&low_freq_factor=1"
        scaled += "&high_freq_factor=4&original_max_position_embeddings=8192"
        query = f"length=60&step=0.5&dim=128&table=half_width&{scaled}&tensor=cos"
        table = self.fetch(f"/v1/encodings/rope?{query}") * numpy.log2(numpy.e)
        said = self.identify(table.astype("f2"))
        self.assertIn("rope_type=llama3&factor=2&", said["request"]["url"])

    def test_a_law_is_not_told_of_columns_that_noise_or_misfits_hide(self):
        """Half of the columns do not turn: rope_theta=1e8 fits, too, but for noise; of slow
        cosines noise hides the order; a base of 7334958 is nearly that of a factor of 2.4."""
        draw = numpy.random.default_rng(8)
        angles = 2 * numpy.arange(88, dtype=F)[:, None] * frequencies(128)
        angles = numpy.concatenate([angles, numpy.zeros_like(angles)], 1)
        y, x = (1 + axis.reshape(-1, 1) for axis in numpy.indices((9, 10)))
        slow = 1e4 ** (numpy.arange(8) / -8)
        parts = [turn(at * slow) for at in (x, y) for turn in (numpy.sin, numpy.cos)]
        order = draw.permutation(32)
        turned = (2 + numpy.arange(85))[:, None] * 7334958 ** (numpy.arange(48) / -48)
        turned = numpy.stack([numpy.cos(turned), numpy.sin(turned)], -1)
        for table in (
            numpy.cos(angles),
            numpy.stack(parts, 2).reshape(90, 32)[:, order],
            turned,
        ):
            noisy = (table + 1e-3 * draw.normal(size=table.shape)).astype(F)
            self.assertEqual(self.identify(noisy)["status"], "unknown")

    def test_a_law_shows_through_noise(self):
        """And a number of several digits, if noise leaves but one: with the last law of
        frequencies 10000 is nearly 13460 with the other, which is not told."""
        draw = numpy.random.default_rng(9)
        at = numpy.arange(96, dtype="f8")[:, None]
        distance = abs(at - at.T)
        y, x = (axis.reshape(-1, 1) for axis in numpy.indices((12, 14)).astype("f8"))
        to_last = numpy.arange(32) / -31
        grid = [f(each * 1e4**to_last) for each in (x, y) for f in (numpy.sin, numpy.cos)]
        angles = (at + 100) * 777 ** (numpy.arange(24) / -24)
        sines = numpy.concatenate([numpy.sin(angles), numpy.cos(angles)], 1)
        slopes = 2.0 ** -numpy.arange(1, 9)[:, None, None]
        for table, wanted in (
            (sines, "base=777&"),
            (numpy.concatenate(grid, 1), "preset=simple_vit&"),
            (-distance * slopes, "heads=8&"),
            (numpy.where(at < at.T, 0, (1 - slopes / 16) ** distance), "heads=8&"),
            (numpy.cos(at * 1e4**to_last), "unknown"),
            (sines + 0.5, "; plus 0.5;"),
            (3.7 * sines - 0.25, "; times 3.7, plus -0.25;"),
        ):
            noise = 1e-3 * abs(table).max() * draw.normal(size=table.shape)
            said = self.identify((table + noise).astype(F))
            url = said["request"]["url"] + "&" if said["status"] == "near" else "unknown"
            self.assertIn(wanted, url + said["summary"])

    def test_a_wrong_entry_of_what_is_there_twice_does_not_fit(self):
        source = Source(numpy.random.default_rng(1))
        for name, places in (
            ("2x2 matrices", ((0, 0, 7, 3, i, j) for i in range(2) for j in range(2))),
            ("opposite sines", ((7, 3), (7, source.pairs + 3))),
        ):
            for place in places:
                table = ROWS[name](source)[1].copy()
                table[place] += F(0.5)
                said = self.identify(table)
                misfits = said["misfits"] + said.get("second", {}).get("misfits", 0)
                self.assertEqual((said["status"], misfits), ("near", 1), (name, place))

    def test_a_wrong_entry_of_what_is_masked_does_not_fit(self):
        decay = self.fetch("/v1/encodings/retnet?length=40&heads=8&dim=8&tensor=mask")
        masked = numpy.where(numpy.triu(numpy.ones((40, 40), bool), 1), -1e4, decay).astype(F)
        masked[2, 7, 31] += F(0.35)
        said = self.identify(masked)
        self.assertEqual((said["status"], said["misfits"]), ("near", 1), said["summary"])
        alibi = self.fetch("/v1/encodings/alibi?length=27&heads=12&mask=symmetric")
        moved = alibi - 1e4 * numpy.triu(numpy.ones((27, 27)), 1)
        said = self.identify(half(moved.astype(F), "bf16"))
        self.assertNotEqual(said["status"], "exact", said["summary"])

    def assert_made_by(self, table, said):
        found = self.identify(table)
        self.assertIn(found["status"], ("exact", "match"), (said, found["summary"]))
        urls = [each["url"] for each in (found["request"], *found["same_table"])]
        parts = set(said.split("&"))
        self.assertTrue(
            any(parts <= set(url.replace("?", "&").split("&")) for url in urls), urls
        )

    def test_positions_of_any_kind_are_found(self):
        for positions, said in POSITIONS:
            said = said or "positions=" + ",".join(f"{each:g}" for each in positions)
            angles = numpy.asarray(positions, F)[:, None] * frequencies(64)
            sine, cosine = numpy.sin(angles), numpy.cos(angles)
            twice = numpy.concatenate([cosine, cosine], 1)
            self.assert_made_by(twice, f"{said}&dim=64&tensor=cos")
            self.assert_made_by(half(twice, "bf16"), f"{said}&dim=64&tensor=cos&dtype=bf16")
            self.assert_made_by(numpy.concatenate([sine, cosine], 1), f"{said}&layout=concat")
            exact = numpy.asarray(positions)[:, None] * 1e4 ** (numpy.arange(32) / -32)
            exact = numpy.concatenate([numpy.sin(exact), numpy.cos(exact)], 1)
            self.assert_made_by(exact.round(8), f"{said}&layout=concat")

    def test_angles_in_16_bits(self):
        for base, step in ((1e4, 1), (1e5, 0.5), (5e5, 1)):
            angles = step * numpy.arange(102)[:, None] * frequencies(64, base)
            for name in ("bf16", "f16"):
                said = self.identify(half(angles.astype(F), name))
                self.assertEqual(said["status"], "match", said["summary"])
                self.assertEqual([form["kind"] for form in said["forms"]][-1], "angles")
                exact = self.fetch(said["request"]["url"])
                numpy.testing.assert_allclose(exact, numpy.sin(angles), 0, 1e-5)

    def test_values_that_were_rounded_before_they_were_stored(self):
        table = hugging_face(100, 64)
        # the small ones are no float16 numbers
        sines = numpy.sin(numpy.arange(100, dtype=F)[:, None] * frequencies(64, 500000.0))
        for rounded, values, words in (
            (half(table, "bf16"), "bf16", "bfloat16 values in a float32 file"),
            (half(table, "bf16").astype("f8"), "bf16", "bfloat16 values in a float64 file"),
            (table.astype("f2").astype("f4"), "f16", "float16 values in a float32 file"),
            (to_tf32(sines), "tf32", "TF32 values in a float32 file"),
            (table.astype("f8"), "f32", "float32 values in a float64 file"),
        ):
            found = self.identify(rounded)
            self.assertEqual((found["status"], found["values"]), ("match", values), found)
            self.assertIn(words, found["summary"])
        found = self.identify(table)
        self.assertEqual((found["status"], found["values"]), ("match", "f32"))
        self.assertNotIn("file", found["summary"])
        whole = numpy.arange(64, dtype="f4")  # in every format, which says nothing
        self.assertEqual(self.identify(whole)["values"], "f32")

    def test_a_base_of_many_digits_comes_before_a_length_that_fits(self):
        for base in (12345.678, 83333.33, 27182.8183, 1234.5678):
            for table in (frequencies(128, base), hugging_face(256, 96, base)):
                found = self.identify(table)
                self.assertEqual(found["status"], "match", found)
                self.assertNotIn("rope_type", found["request"]["url"])
                theta = float(found["request"]["url"].split("rope_theta=")[1].split("&")[0])
                self.assertAlmostEqual(theta / base, 1, delta=1e-6)

    def test_what_is_near_has_its_presets(self):
        table = hugging_face(300, 128, 500000.0)
        table[7, 5] += F(0.1)
        found = self.identify(table)
        self.assertEqual(found["status"], "near")
        self.assertIn("llama3", found["request"]["presets"])

    def test_unknown_says_why(self):
        random = numpy.random.default_rng(2)
        noise = random.normal(size=(48, 24)).astype(F)
        broken = noise.copy()
        broken[7, 5] = numpy.nan
        distances = random.normal(size=95).astype(F)
        places = numpy.arange(48)
        cases = {
            "few_rows": noise[:2],
            "not_finite": broken,
            "constant": numpy.full((48, 24), 0.7, F),
            "random": noise,
            "smooth": noise.cumsum(0),
            "diagonals": distances[places[:, None] - places + 47],
        }
        for kind, table in cases.items():
            said = self.identify(table)
            self.assertEqual((said["status"], said["reason"]["kind"]), ("unknown", kind))
            self.assertIn(said["reason"]["text"], said["summary"])
        self.assertEqual(self.identify(broken)["reason"]["claims"][0]["at"], [7, 5])
        for size in (1e300, 1e-310):  # of which no product can be told
            self.assertNotIn("random", self.identify(noise.astype("f8") * size)["summary"])

    def test_a_batch_is_compared_as_its_table(self):
        scheme = "/v1/compare/rope?length=40&dim=16&table=full&tensor=cos"
        table = self.fetch("/v1/encodings/rope?length=40&dim=16&table=full&tensor=cos").astype(
            F
        )
        batch = numpy.stack([numpy.stack([table] * 3, 1)] * 2)
        said = self.assert_ok(self.compare(scheme, batch)).json()
        self.assertEqual((said["equal"], said["repeated"]), (True, 6))
        batch[1, 2, 1, 3] += 1
        self.assert_problem(self.compare(scheme, batch), 422)

    def compare(self, target, table):
        return self.server.request("POST", target, {"Content-Type": NPY}, npy(table))
