"""The short form of `make confusion`: random requests of every scheme and spoilt tables,
identified; and that the run notices wrong answers."""

import unittest

import numpy

from confusion import SPOILT, Asker, run
from draws import PATIENT
from server import ServerCase


class ConfusionRun(ServerCase):
    flags = (*PATIENT, "--compute-seconds", "600")

    def test_no_answer_is_wrong(self):
        own, spoilt = run(self.server, 102, 90, seed=3)
        self.assertEqual(own.wrong + spoilt.wrong, [])
        self.assertGreater(own.total("exact"), 10)
        self.assertGreater(spoilt.total("near"), 2)
        self.assertEqual(len(own.counts), len(self.get("/v1/schemes").json()["schemes"]))
        self.assertEqual(set(spoilt.counts), set(SPOILT))

    def test_answers_that_do_not_hold_are_noticed(self):
        asker = Asker(self.server)
        self.addCleanup(asker.done)
        url = "/v1/encodings/sinusoidal?length=20&dim=8&tensor=encoding"
        for dtype in ("f32", "f64", "f16", "bf16"):
            table = asker.get(f"{url}&dtype={dtype}")
            said = {
                "status": "exact",
                "request": {"url": f"{url}&dtype={dtype}"},
                "arithmetic": "float64",
            }
            self.assertIsNone(asker.misses(table, said))
            self.assertIsNone(asker.misses(table, {**said, "status": "match"}))
            mixed = table.holding(table.bits()[:, [2, 0, 1, 7, 6, 5, 4, 3]], "columns")
            right, wrong = (
                {**said, "columns": order, "forms": [{"kind": "columns"}]}
                for order in ([1, 2, 0, 7, 6, 5, 4, 3], [2, 0, 1, 7, 6, 5, 4, 3])
            )
            self.assertIsNone(asker.misses(mixed, right))
            self.assertIsNone(asker.misses(mixed, {**right, "status": "match"}))
            self.assertIn("other bits", asker.misses(mixed, wrong))
            self.assertIn("off by", asker.misses(mixed, {**wrong, "status": "match"}))
            bits = table.bits().copy()
            bits.reshape(-1).view(f"<i{bits.itemsize}")[77] += 1
            other = table.holding(bits, "an ulp")
            self.assertIn("1 entries", asker.misses(other, said))
            bits.reshape(-1).view(f"<i{bits.itemsize}")[77] += 512
            other = table.holding(bits, "many ulps")
            self.assertIn("off by", asker.misses(other, {**said, "status": "match"}))
            zero = table.holding(
                numpy.where(
                    table.values() == 0,
                    table.rounded(numpy.full(table.shape, -0.0)),
                    table.bits(),
                ),
                "signs",
            )
            self.assertIn("other bits", asker.misses(zero, said))
            turned = {**said, "forms": [{"kind": "transposed"}]}
            self.assertIn("shape", asker.misses(table, turned))
            self.assertIn(
                "refused", asker.misses(table, {**said, "request": {"url": f"{url}&base=-1"}})
            )
            if dtype != "f64":
                self.assertEqual(asker.status_of(zero)[0], "match")


if __name__ == "__main__":
    unittest.main()
