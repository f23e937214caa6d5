"""/v1/identify: what happens to tables after they were made, and why a table is unknown."""

import io

import numpy

from forms import undone
from server import ServerCase
from test_compare import NPY, npy
from transformations import NOTHING, ROWS, Source, run

F = numpy.float32


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
