"""A share of the transformed tables of `make confusion`, and what is said of some of them."""

import unittest

import numpy

from confusion import Asker, of_transformed
from draws import PATIENT
from identify_case import IdentifyCase
from test_compare import npy
from transformed import F, inverse, to_bf16, to_tf32

SEED = 11


def cosines(positions, dim=64, base=10000.0):
    angles = numpy.asarray(positions, F)[:, None] * inverse(dim, base)
    return numpy.cos(numpy.concatenate([angles, angles], 1))


class Transformed(IdentifyCase):
    flags = (*PATIENT, "--compute-seconds", "600")

    def test_nearly_all_are_found_and_no_name_is_wrong(self):
        asker = Asker(self.server)
        self.addCleanup(asker.done)
        counts, wrong = of_transformed(asker, 2, SEED)
        self.assertEqual(wrong, [], f"seed {SEED}")
        right = sum(own["right"] for own in counts.values())
        self.assertGreaterEqual(right, 0.95 * 2 * len(counts), f"seed {SEED}: {counts}")

    def test_values_that_were_rounded_before_they_were_stored(self):
        table = cosines(range(100))
        # the small ones are no float16 numbers
        sines = numpy.sin(numpy.arange(100, dtype=F)[:, None] * inverse(64, 500000.0))
        for rounded, values, words in (
            (to_bf16(table), "bf16", "bfloat16 values in a float32 file"),
            (to_bf16(table).astype("f8"), "bf16", "bfloat16 values in a float64 file"),
            (table.astype("f2").astype("f4"), "f16", "float16 values in a float32 file"),
            (to_tf32(sines), "tf32", "TF32 values in a float32 file"),
            (table.astype("f8"), "f32", "float32 values in a float64 file"),
        ):
            found = self.identify(npy(rounded))
            self.assertEqual((found["status"], found["values"]), ("match", values), found)
            self.assertIn(words, found["summary"])
        found = self.identify(npy(table))
        self.assertEqual((found["status"], found["values"]), ("match", "f32"))
        self.assertNotIn("file", found["summary"])
        whole = numpy.arange(64, dtype="f4")  # in every format, which says nothing
        self.assertEqual(self.identify(npy(whole))["values"], "f32")

    def test_a_row_of_zeros_is_said_to_be_zero(self):
        table = cosines(range(100))
        found = self.identify(npy(numpy.concatenate([table[:1] * 0, table])))
        self.assertEqual(found["status"], "match")
        self.assertIn("length=100&dim=64", found["request"]["url"])
        self.assertEqual(found["forms"][0]["kind"], "zero_rows")
        self.assertIn("row 0 is zero", found["summary"])

    def test_what_is_near_has_its_presets(self):
        table = cosines(range(300), 128, 500000.0)
        table[7, 5] += 0.1
        found = self.identify(npy(table))
        self.assertEqual(found["status"], "near")
        self.assertIn("llama3", found["request"]["presets"])

    def test_positions_of_own_tables_are_found(self):
        for query in (
            "rope?length=60&dim=64&table=full&offset=900&step=-13&tensor=cos",
            "rope?positions=5,3,900,17.5,20,21,22,400&dim=64&tensor=sin",
            "sinusoidal?positions=-4,11,-900,33.3,0,1,2&dim=48&layout=concat&tensor=encoding",
            "sinusoidal?length=40&offset=3&step=20&dim=96&tensor=encoding",
            "rope?length=90&offset=70000&dim=128&rope_theta=500000&rope_type=llama3&tensor=cos",
        ):
            target = f"/v1/encodings/{query}"
            found = self.identify(self.assert_ok(self.get(target + "&format=npy")).body)
            self.assertEqual(found["status"], "exact", (query, found["summary"]))

    def test_a_theta_of_many_digits_comes_before_a_length_that_fits(self):
        for base in (12345.678, 83333.33, 27182.8183, 1234.5678):
            found = self.identify(npy(inverse(128, base)))
            self.assertEqual(found["status"], "match", found)
            self.assertNotIn("rope_type", found["request"]["url"])
            theta = float(found["request"]["url"].split("rope_theta=")[1].split("&")[0])
            self.assertAlmostEqual(theta / base, 1, delta=1e-6)


if __name__ == "__main__":
    unittest.main()
