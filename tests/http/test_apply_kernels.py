"""/v1/apply judges kernels by the bound of their arithmetic. KERNELS in the environment says
how many are drawn, KERNEL_SEED from where on."""

import io
import os
import unittest
from dataclasses import replace

import numpy
import torch

import applied_schemes
from kernels import ARITHMETICS, draw_case, file_of
from server import ServerCase
from test_apply import read_file
from test_compare import SAFETENSORS

U = 2.0**-24  # the unit roundoff of float32

SEED = int(os.environ.get("KERNEL_SEED", 57))
DRAWN = int(os.environ.get("KERNELS", 9))
JUDGED = int(os.environ.get("KERNELS", 3))  # one of each arithmetic


class KernelCase(ServerCase):
    def judge(self, scheme, query, body):
        target = f"/v1/apply/{scheme}?{query}&against=mine"
        return self.server.request("POST", target, {"Content-Type": SAFETENSORS}, body)

    def drawn(self, count=DRAWN):
        """(seed, what draws on, the case, its query with the tolerance of its arithmetic)"""
        for seed in range(SEED, SEED + count):
            random = numpy.random.default_rng(seed)
            arithmetic = list(ARITHMETICS)[seed % 3]
            case = draw_case(random, arithmetic)
            yield seed, random, case, f"{case.query}&tolerance={arithmetic}"


class Drawn(KernelCase):
    def test_right_kernels_pass_and_wrong_ones_do_not(self):
        judged = 0
        for seed, random, case, query in self.drawn(JUDGED):
            reply = self.judge(case.scheme, query, case.body(case.kernel, random))
            self.assertEqual(reply.status, 200, (seed, case.scheme, query, reply.body[:800]))
            for name, kernel in case.kernel.mistakes().items():
                reply = self.judge(case.scheme, query, case.body(kernel))
                self.assertEqual(reply.status, 409, (seed, name, case.scheme, query, kernel))
                judged += 1
        if "KERNELS" in os.environ:
            print(f"\n{JUDGED} right kernels passed, {judged} wrong ones did not (seed {SEED})")


def f32_file(**tables):
    """A file of tables, that of the kernel in float64."""
    return file_of(**{name: torch.from_numpy(table) for name, table in tables.items()})


class Bounds(KernelCase):
    """The bound of each result is that of the documentation."""

    def exact(self, scheme, query, body):
        target = f"/v1/apply/{scheme}?{query}&dtype=f64"
        reply = self.server.request("POST", target, {"Content-Type": SAFETENSORS}, body)
        return read_file(self.assert_ok(reply).body)

    def check(self, scheme, query, name, x, bound, result=None):
        """Hold a kernel to bounds: off by a little less it passes, off by more it does not."""
        result = result or name
        asked = f"{query}&result={result}"
        found = self.exact(scheme, asked, f32_file(**{name: x}))[result][1]
        exact = found.view(numpy.float64).reshape(bound.shape)
        places = numpy.random.default_rng(3).choice(exact.size, 12, False)
        for place in places:
            index = numpy.unravel_index(place, exact.shape)
            for share, status in ((0.98, 200), (1.02, 409)):
                kernel = exact.copy()
                kernel[index] += share * bound[index]
                body = f32_file(**{name: x, "mine": kernel})
                reply = self.judge(scheme, f"{asked}&tolerance=float32", body)
                self.assertEqual(reply.status, status, (scheme, index, share, reply.body))

    def table(self, scheme, query, tensor):
        reply = self.get(f"/v1/encodings/{scheme}?{query}&tensor={tensor}&dtype=f64&format=npy")
        return numpy.load(io.BytesIO(self.assert_ok(reply).body))

    def test_of_a_rotation(self):
        x = numpy.random.default_rng(1).standard_normal((3, 4, 8)).astype("f4")
        query = "offset=70000&length=4&dim=8"
        w = 10000.0 ** (-numpy.arange(0, 8, 2) / 8)
        loss = numpy.arange(70000, 70004)[:, None] * w * (8 + 3 * abs(numpy.log(w)))
        cos, sin = (
            U * (loss + (12 + 4 + 2) * abs(self.table("rope", query, name)))
            for name in ("cos", "sin")
        )
        one, other = abs(x[..., :4]), abs(x[..., 4:])
        bound = numpy.concatenate((one * cos + other * sin, other * cos + one * sin), -1)
        self.check("rope", query, "query", x, bound)

    def test_of_dot_products_grows_with_their_length(self):
        x = numpy.random.default_rng(2).standard_normal((2, 5, 96)).astype("f4")
        query = "length=5&dim=96"
        w = numpy.repeat(10000.0 ** (-numpy.arange(0, 96, 2) / 96), 2)
        distances = abs(numpy.arange(5) - numpy.arange(5)[:, None])[..., None]
        table = abs(self.table("relative_sinusoidal", query, "encoding"))
        weights = U * (distances * w * (8 + 3 * abs(numpy.log(w))) + (12 + 4 + 96) * table)
        bound = numpy.einsum("...id,ijd->...ij", abs(x), weights)
        self.check("relative_sinusoidal", query, "query", x, bound, "scores")

    def test_of_sums_of_rows(self):
        x = numpy.random.default_rng(3).standard_normal((2, 5, 5)).astype("f4")
        table = abs(self.table("shaw", "length=5&dim=6", "values"))
        bound = numpy.einsum("...ij,ijd->...id", abs(x), U * (12 + 4 + 5) * table)
        self.check("shaw", "length=5&dim=6", "weights", x, bound, "value_sums")

    def test_of_a_table_that_is_gathered(self):
        x = numpy.random.default_rng(4).standard_normal((5, 8)).astype("f4")
        query = "length=5&dim=8&max_relative_positions=16"
        table = self.table("deberta", query, "table")
        rows = abs(table[self.table("deberta", query, "c2p_index").astype(int)])
        bound = numpy.einsum("id,ijd->ij", abs(x), U * (12 + 4 + 8) * rows)
        self.check("deberta", query, "query", x, bound, "content_to_position")

    def test_of_a_bias_whose_heads_come_last(self):
        x = numpy.random.default_rng(5).standard_normal((3, 6, 6, 4)).astype("f4")
        table = abs(self.table("alibi", "length=6&heads=4", "bias")).transpose(1, 2, 0)
        bound = U * (0.5 * (12 + 4 + 2) * table + abs(x))
        query = "length=6&heads=4&scale=0.5&axes=batch,queries,keys,heads"
        self.check("alibi", query, "scores", x, bound)

    def test_values_and_columns_that_stay_may_only_be_rounded(self):
        x = numpy.random.default_rng(6).standard_normal((2, 40, 3, 2, 16)).astype("f4")
        query = "length=40&dim=8&rotary_offset=-8&axes=batch,length,qkv,heads,dim"
        body = f32_file(query=x)
        exact = self.exact("rope", query, body)["query"][1].view(numpy.float64)
        for index, change in (((0, 30, 2, 1, 9), 1e-6), ((1, 30, 0, 1, 3), 1e-6)):
            kernel = exact.reshape(x.shape).astype("f4")
            query_ = f"{query}&tolerance=float32"
            self.assertEqual(
                self.judge("rope", query_, f32_file(query=x, mine=kernel)).status, 200
            )
            kernel[index] += 4 * change * max(1, abs(kernel[index]))
            reply = self.judge("rope", query_, f32_file(query=x, mine=kernel))
            self.assertEqual(reply.json()["outside_tolerance"], 1)

    def test_every_scheme_has_one_or_says_that_it_has_none(self):
        random = numpy.random.default_rng(7)
        for scheme, queries in applied_schemes.CASES.items():
            for name, shape, result, exact in applied_schemes.results(scheme, queries[0]):
                x = random.standard_normal((7, *shape)).astype("f4")
                asked = f"{queries[0]}&result={result}"
                found = self.exact(scheme, asked, f32_file(**{name: x}))[result][1]
                found = found.view(numpy.float64).astype("f4")
                for change, status in ((0, 200), (0.01, 409)):
                    body = f32_file(**{name: x, "mine": found + numpy.float32(change)})
                    reply = self.judge(scheme, f"{asked}&tolerance=float32", body)
                    if reply.status == 422:
                        self.assert_problem(reply, 422, "tolerance")
                        self.assertIn("terms may cancel", reply.json()["detail"])
                        break
                    self.assertEqual(reply.status, status, (scheme, result, reply.body))

    def test_factors_of_queries_belong_to_it(self):
        x = numpy.random.default_rng(8).standard_normal((2, 30, 16)).astype("f4")
        query = "length=30&offset=90000&dim=8&rotary_offset=-8&temperature=ministral3"
        query += "&temperature_length=8&query_factors=true"
        exact = self.exact("rope", query, f32_file(query=x))["query"][1]
        exact = exact.view(numpy.float64).reshape(x.shape)
        for factor, status in ((1, 200), (1 + 2**-25, 200), (1.5, 409), (1 / 1.5, 409)):
            body = f32_file(query=x, mine=(exact * factor).astype("f4"))
            reply = self.judge("rope", f"{query}&tolerance=float32", body)
            self.assertEqual(reply.status, status, reply.body)


SENTENCES = {  # of mistakes: the kind, and how the sentence begins
    "pairing": ("layout", "The columns are in another order: the result is that of layout="),
    "output order": ("parameter", "The result is that of output_layout="),
    "the other way": ("parameter", "Turned the other way: the result is that of inverse="),
    "sine sign": ("sine_sign", "The sines have the other sign, as at positions that are"),
    "off by one": ("shift", "Shifted by 1 row: row r of the result is row r "),
    "theta": ("base", "The result is that of rope_theta="),
    "base": ("base", "The result is that of base="),
    "scale": ("factor", ""),
    "sines for cosines": ("tensor", "Sines and cosines are exchanged."),
    "column order": (
        "layout",
        "The columns are in another order: the result is that of layout=",
    ),
    "exponent to the end": ("parameter", "The result is that of frequencies=tensor2tensor"),
}


class Explained(KernelCase):
    """What is wrong with a kernel is said, and the request that is named makes its result."""

    def explain(self, case, kernel, query, status=409):
        reply = self.judge(case.scheme, query, case.body(kernel))
        self.assertEqual(reply.status, status, (query, reply.body))
        return reply.json().get("explanation")

    def is_sayable(self, case, name):
        """Whether a request, or a factor of all entries, makes what the kernel does."""
        whole = case.scheme != "rope" or case.x.shape[-1] == case.kernel.width
        return name in SENTENCES and {
            "scale": whole,
            "exponent to the end": case.scheme == "sinusoidal",
            "sines for cosines": case.scheme == "rope",
            "the other way": case.scheme != "relative_sinusoidal",
        }.get(name, True)

    def test_a_mistake_has_a_sentence_and_its_request_is_right(self):
        said = 0
        for seed, _, case, query in self.drawn():
            reply = self.judge(case.scheme, query, case.body(case.kernel))
            self.assertNotIn("explanation", reply.json())
            for name, kernel in case.kernel.mistakes().items():
                if not self.is_sayable(case, name):
                    continue
                about = (seed, name, case.scheme, query)
                found = self.explain(case, kernel, query)
                self.assertIsNotNone(found, about)
                turned = name != "the other way" or case.scheme == "rope"
                kind, begin = SENTENCES[name if turned else "sine sign"]
                self.assertEqual(found["kind"], kind, (about, found))
                self.assertEqual(found["sentence"][: len(begin)], begin, about)
                said += 1
                if "request" not in found or "factor" in found:
                    continue
                target = f"{found['request']['url']}&tolerance={case.arithmetic}"
                reply = self.server.request(
                    "POST", target, {"Content-Type": SAFETENSORS}, case.body(kernel)
                )
                self.assertEqual(reply.status, 200, (about, target, reply.body))
        if "KERNELS" in os.environ:
            print(f"\n{said} mistakes of {DRAWN} kernels were named (seed {SEED})")

    def draw(self, seed, scheme="rope", arithmetic="float32", **wanted):
        """The first drawn case of a scheme whose kernel has these values."""
        while True:
            case = draw_case(numpy.random.default_rng(seed), arithmetic)
            if case.scheme == scheme and all(
                getattr(case.kernel, name) == value for name, value in wanted.items()
            ):
                return case
            seed += 1

    def test_what_was_rounded_to_bfloat16_on_the_way_is_said(self):
        case = self.draw(1, factor=0)
        kernel = replace(case.kernel, bf16="waves")
        found = self.explain(case, kernel, f"{case.query}&tolerance=float32")
        self.assertEqual(
            found["sentence"],
            "Rounded to bfloat16 on the way: every entry is within what that arithmetic may "
            "lose.",
        )
        kernel = replace(kernel, inverse=not kernel.inverse)
        found = self.explain(case, kernel, f"{case.query}&tolerance=float32")
        self.assertIn("Turned the other way", found["sentence"])
        self.assertIn("The arithmetic is that of bfloat16.", found["sentence"])

    def test_angles_are_read_off_a_rotation(self):
        x = numpy.random.default_rng(9).standard_normal((3, 400, 64)).astype("f4")
        positions = numpy.arange(400, dtype="f4")
        rounded = torch.from_numpy(positions).bfloat16().float().numpy()
        turned = "Turned the other way: the result is that of inverse=true, not false, and"
        for base, at, sign, sentence in (
            (23456, positions, 1, "The result is that of rope_theta=23456, not 10000."),
            (500000, positions, -1, f"{turned} of rope_theta=500000, not 10000."),
            (23456, positions, -1, f"{turned} of rope_theta=23456, not 10000."),
            (
                10000,
                rounded,
                1,
                "Positions were rounded to bfloat16 before the sines and cosines.",
            ),
        ):
            angle = numpy.outer(at, base ** (-numpy.arange(0, 64, 2) / 64)).astype("f4")
            cos, sin = numpy.cos(angle), sign * numpy.sin(angle)
            one, other = x[..., :32], x[..., 32:]
            mine = numpy.concatenate((one * cos - other * sin, other * cos + one * sin), -1)
            body = f32_file(query=x, mine=mine)
            reply = self.judge("rope", "length=400&dim=64&tolerance=float32", body)
            found = reply.json()["explanation"]
            self.assertEqual(found["sentence"], sentence)
            if at is positions:
                target = f"{found['request']['url']}&tolerance=float32"
                reply = self.server.request("POST", target, {"Content-Type": SAFETENSORS}, body)
                self.assertEqual(reply.status, 200, reply.body)

    def test_positions_at_which_anything_fits_explain_nothing(self):
        """At the square of the offset float32 may lose as much as an entry is."""
        x = numpy.random.default_rng(10).standard_normal((3, 17, 64)).astype("f4")
        angle = numpy.outer(numpy.arange(1e5, 1e5 + 17), 1e4 ** (-numpy.arange(32) / 32))
        cos, sin = (wave(angle)[:, ::-1].astype("f4") for wave in (numpy.cos, numpy.sin))
        one, other = x[..., :32], x[..., 32:]
        mine = numpy.concatenate((one * cos - other * sin, other * cos + one * sin), -1)
        query = "offset=100000&length=17&dim=64&tolerance=float32"
        reply = self.judge("rope", query, f32_file(query=x, mine=mine))
        self.assertEqual(reply.status, 409)
        self.assertNotIn("explanation", reply.json())

    def test_a_scale_is_that_of_the_request(self):
        case = self.draw(1, "sinusoidal", scale=2.5)
        for factor, text in ((-2.5, "-2.5"), (1.0, "1"), (5.0, "5")):
            kernel = replace(case.kernel, scale=factor)
            found = self.explain(case, kernel, f"{case.query}&tolerance=float32")
            self.assertEqual(found["parameters"], {"scale": text})
            self.assertEqual(
                found["sentence"], f"What is added has another factor: scale={text}."
            )

    def test_without_a_tolerance_a_right_kernel_is_told_from_a_wrong_one(self):
        case = self.draw(1, factor=0)
        found = self.explain(case, case.kernel, case.query, 200)
        self.assertEqual(found["kind"], "arithmetic")
        self.assertEqual(
            found["sentence"],
            "No mistake: every entry is within what float32 arithmetic may lose.",
        )
        narrow = self.draw(1, arithmetic="bfloat16", fused=False)
        self.assertEqual(
            self.explain(narrow, narrow.kernel, narrow.query, 200)["sentence"],
            "No mistake: every entry is within what bfloat16 arithmetic may lose.",
        )
        wrong = case.kernel.mistakes()["one sign"]
        self.assertIsNone(self.explain(case, wrong, case.query, 200))

    def test_a_layer_of_a_model_is_explained_as_its_scheme(self):
        x = numpy.random.default_rng(12).standard_normal((4, 9, 128)).astype("f4")
        mine = self.exact_of(x, "rope?length=9&dim=128&rope_theta=10000")
        target = "/v1/apply?model=llama-3-8b&length=9&against=mine&tolerance=float32"
        body = f32_file(query=x, mine=mine)
        reply = self.server.request("POST", target, {"Content-Type": SAFETENSORS}, body)
        found = reply.json()["explanation"]
        self.assertEqual(found["parameters"], {"rope_theta": "10000"})
        self.assertTrue(found["request"]["url"].startswith("/v1/apply/rope?"))

    def exact_of(self, x, target):
        reply = self.server.request(
            "POST", f"/v1/apply/{target}", {"Content-Type": SAFETENSORS}, f32_file(query=x)
        )
        bits = read_file(self.assert_ok(reply).body)["query"][1]
        return bits.view(numpy.float32).reshape(x.shape)


if __name__ == "__main__":
    unittest.main()
