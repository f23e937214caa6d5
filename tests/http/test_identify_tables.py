"""What /v1/identify says of many tables: of libraries, its own with other windows and dtypes,
and those that were changed."""

import io
import random

import numpy

from faults import SANITIZED
from identify_case import IdentifyCase
from library_tables import (
    F,
    HALVES,
    LIBRARIES,
    OWN,
    angles,
    annotated,
    frequencies,
    gpt_j,
    hugging_face,
    in_half,
)
from test_compare import RAW, npy

EVERY = (
    3 if SANITIZED else 1
)  # under a sanitizer, which takes several times as long, one of three tables


class Tables(IdentifyCase):
    def test_tables_of_libraries(self):
        for name, (table, scheme, said) in list(LIBRARIES.items())[::EVERY]:
            found = self.identify(npy(table))
            self.assertIn(found["status"], ("match", "exact"), (name, found["summary"]))
            self.assertEqual(found["request"]["scheme"], scheme, name)
            for text in said:
                self.assertIn(text, self.texts(found), name)
            self.assertEqual(found["transposed"], "transposed" in name)
            self.assert_true(found, table)

    def test_a_zero_of_the_other_sign_is_not_exact_in_a_wider_file_either(self):
        url = "/v1/encodings/sinusoidal?length=40&dim=16&format=raw"
        table = numpy.frombuffer(self.get(url).body, "<f4").astype("<f8").reshape(40, 16)
        for zero, status in ((0.0, "exact"), (-0.0, "match")):
            table[0, 0] = zero  # sin 0
            found = self.identify(npy(table))
            self.assertEqual((found["status"], found["values"]), (status, "f32"))
            self.assertEqual(found["against_exact"]["signs"], int(status == "match"))

    def test_own_columns_in_another_order_are_exact_in_every_dtype(self):
        generator = numpy.random.default_rng(13)
        for query in (
            "sinusoidal?length=200&dim=64",
            "sinusoidal?length=90&dim=34&layout=concat",
            "rope?length=1500&dim=128&tensor=sin",
            "rope?length=300&dim=64&table=full&tensor=cos&rope_theta=500000",
            "rope?length=1024&dim=128&tensor=cos&preset=llama3.1",
            "sinusoidal?length=81&dim=96&base=777&offset=4177&step=-1",
            "sinusoidal?length=72&dim=64&frequencies=tensor2tensor&offset=100",
            "mrope?text=9,5&grids=1,12,8&dim=128&preset=qwen2_vl&tensor=cos",
        ):
            for dtype in ("f32", "f64", "f16", "bf16")[::EVERY]:
                reply = self.assert_ok(
                    self.get(f"/v1/encodings/{query}&dtype={dtype}&format=raw")
                )
                bits = numpy.frombuffer(
                    reply.body, {"f32": "<u4", "f64": "<u8"}.get(dtype, "<u2")
                )
                bits = bits.reshape(
                    [int(extent) for extent in reply.header("Tensor-Shape").split(", ")]
                )
                mixed = numpy.ascontiguousarray(bits[:, generator.permutation(bits.shape[1])])
                found = self.identify(
                    mixed.tobytes(),
                    f"?shape={mixed.shape[0]},{mixed.shape[1]}&dtype={dtype}",
                    RAW,
                )
                self.assertEqual(found["status"], "exact", (query, dtype, found["summary"]))
                exact = self.assert_ok(self.get(found["request"]["url"] + "&format=raw"))
                self.assertEqual(
                    mixed[:, found["columns"]].tobytes(), exact.body, (query, dtype)
                )
                self.assertEqual(found["against_exact"]["differing"], 0)

    def test_columns_of_indices_and_angles_are_found_in_another_order(self):
        generator = numpy.random.default_rng(16)
        at, theta = numpy.arange(7, 90, dtype="f8"), 5e5 ** -(numpy.arange(32) / 32)
        indices = (
            "t5?length=70&heads=1&tensor=bucket",
            "swin?height=6&width=7&heads=1&tensor=index",
        )
        tables = {
            **{query: self.fetch(f"/v1/encodings/{query}").astype("f8") for query in indices},
            "rope?length=83&dim=64&rope_theta=500000&offset=7": numpy.outer(at, theta),
        }
        for query, table in tables.items():
            scheme, left = query.split("?")
            for dtype in ("f4", "f8"):
                order = generator.permutation(table.shape[1])
                found = self.identify(npy(table[:, order].astype(dtype)))
                self.assertEqual(found["request"]["scheme"], scheme, found["summary"])
                said = found["request"]["url"].replace("?", "&").split("&")
                for text in left.split("&")[:1] + left.split("&")[3:]:
                    self.assertIn(text, said)
                self.assertEqual(found["misfits"], 0)
                if scheme != "rope":
                    self.assertEqual(order[found["columns"]].tolist(), [*range(table.shape[1])])

    def test_columns_in_another_order_that_were_changed_are_no_match(self):
        generator = numpy.random.default_rng(14)
        for good in (annotated(300, 64), hugging_face(300, 64), gpt_j(300, 128)):
            order = generator.permutation(64)
            names = "an entry,a row,a column,noise,row 0,scaled,nan,a column twice"
            changed = {name: good[:, order].copy() for name in names.split(",")}
            changed["an entry"][150, 5] += F(0.01)
            changed["a row"][100] = changed["a row"][101]
            changed["a column"][:, 7] = generator.normal(size=300)
            changed["noise"] += generator.normal(size=(300, 64)).astype("f4") * F(1e-3)
            changed["row 0"][0, 3] += F(0.001)
            changed["scaled"][:, 9] *= F(1.001)
            changed["nan"][70, 5] = numpy.nan
            changed["a column twice"][:, 4] = changed["a column twice"][:, 11] + F(1e-4)
            for name, table in changed.items():
                found = self.identify(npy(table))
                self.assertIn(found["status"], ("near", "unknown"), (name, found["summary"]))
                if name == "an entry":
                    # all columns, or one of each two that are equal
                    self.assertIn(len(set(found["columns"])), (32, 64))
                    self.assertEqual(found["misfits"], 1)

    def test_what_begins_as_waves_do_and_is_none_has_no_order(self):
        generator = numpy.random.default_rng(15)
        for dtype in ("f4", "f8", "f2"):
            for first in (0, 1, numpy.arange(96) % 2):
                table = generator.normal(size=(500, 96)).astype(dtype)
                table[0] = first
                found = self.identify(npy(table))
                self.assertEqual(found["status"], "unknown", found["summary"])
                self.assertNotIn("columns", found)

    def test_few_numbers_are_not_explained_by_many(self):
        bits = numpy.arange(64)[:, None] >> numpy.arange(6) & 1
        tables = [2.0 * bits - 1, numpy.sqrt(0.5) * (2 * bits - 1)]
        for seed in range(8):
            tables.append(numpy.random.default_rng(seed).uniform(-1, 1, (6, 6)).round(1))
        tables.append(numpy.random.default_rng(7).normal(size=(6, 6)).round(1))
        for table in tables:
            for dtype in ("f4", "f8"):
                found = self.identify(npy(table.astype(dtype)))
                self.assertNotIn("positions", found["summary"])

    def test_own_tables_are_exact_and_nothing_else_is_said(self):
        generator = random.Random(5)
        counts = {"exact": 0, "match": 0, "near": 0, "unknown": 0}
        for _ in range(60):
            length, dim = generator.randint(30, 400), 2 * generator.randint(4, 40)
            dtype = generator.choice(["f32", "f32", "f64", "f16"])
            window = generator.choice(
                ["", "&offset=1000", "&offset=-3.5", "&step=0.5", "&offset=70000"]
            )
            target = generator.choice(
                [
                    f"/v1/encodings/sinusoidal?length={length}&dim={dim}"
                    + generator.choice(["", "&layout=concat", "&base=500"]),
                    f"/v1/encodings/rope?length={length}&dim={dim}"
                    f"&tensor={generator.choice(['cos', 'sin'])}"
                    + generator.choice(
                        ["", "&table=full", "&rope_theta=500000", "&rope_type=linear&factor=4"]
                    ),
                    f"/v1/encodings/integer?length={length}",
                    f"/v1/encodings/periodic?length={length}&dim={dim}",
                ]
            ) + window * (generator.random() < 0.5)
            reply = self.get(target + f"&dtype={dtype}&format=npy")
            if reply.status != 200:
                continue
            table = numpy.load(io.BytesIO(reply.body))
            found = self.identify(reply.body)
            counts[found["status"]] += 1
            self.assert_true(found, table)
        self.assertGreater(counts["exact"], 25, counts)

    def test_own_scaled_rotary_tables_are_exact_whatever_the_settings(self):
        generator = random.Random(11)
        draw, unknown, count = generator.choice, [], 24
        for _ in range(count):
            length, dim, kind = (
                draw([40, 100, 300, 1000, 2048]),
                2 * draw([16, 32, 40, 64]),
                draw(
                    [
                        "yarn",
                        "yarn",
                        "llama3",
                        "llama3",
                        "ntk",
                        "linear",
                        "dynamic",
                        "proportional",
                    ]
                ),
            )
            keys = {
                "yarn": f"&original_max_position_embeddings={draw([2048, 4096, 8192, 32768])}"
                + draw(
                    [
                        "",
                        "&truncate=false",
                        "&mscale=1&mscale_all_dim=1",
                        "&attention_factor=1.3",
                        "&beta_fast=1",
                    ]
                ),
                "llama3": f"&original_max_position_embeddings={draw([4096, 8192, 16384])}"
                + draw(["", "&high_freq_factor=1", "&high_freq_factor=8"]),
                "dynamic": "&original_max_position_embeddings=1024"
                f"&seq_len={draw([1500, 2048, 4096])}",
                "proportional": f"&partial_rotary_factor={draw([.25, .5, .75])}",
            }.get(kind, "")
            target = (
                f"/v1/encodings/rope?length={length}&dim={dim}"
                f"&rope_theta={draw([10000, 150000, 500000, 1000000, 5000000])}"
                f"&rope_type={kind}"
                f"&factor={draw([2, 3, 4, 8, 32, 40])}{keys}"
                + draw(["", "", "&step=0.5", "&offset=1000", "&offset=17&step=0.25"])
                + f"&tensor={draw(['cos', 'sin'])}"
                + draw(["", "&table=full", "&table=full&layout=interleaved"])
                + f"&dtype={draw(['f32', 'f64', 'f16'])}"
            )
            reply = self.assert_ok(self.get(target + "&format=npy"))
            found = self.identify(reply.body, "?scheme=rope")
            self.assert_true(found, numpy.load(io.BytesIO(reply.body)))
            unknown += [(target, found)] * (found["status"] != "exact")
        self.assertLess(len(unknown), count / 20, unknown)

    def test_own_tables_of_other_schemes_are_exact(self):
        for scheme, queries in OWN.items():
            for query in queries[::EVERY]:
                for dtype in ("f32", "f64", "f16") if scheme != "xpos" else ("f32", "f64"):
                    target = f"/v1/encodings/{scheme}?{query}&dtype={dtype}"
                    reply = self.assert_ok(self.get(target + "&format=npy"))
                    found = self.identify(reply.body)
                    self.assertEqual(found["status"], "exact", (target, found))
                    self.assert_true(found, numpy.load(io.BytesIO(reply.body)))

    def test_noise_and_constants_lead_to_few_proposals(self):
        """Each proposal costs a computation: cheap tests turn most of them down. Of numbers
        that sines and cosines have, twelve rows are held against each of some hundred."""
        noise = numpy.random.default_rng(4).normal(size=(256, 192))
        for table in (noise, 0.02 * noise, noise.T, 0 * noise, numpy.sin(noise)):
            answer = self.identify(npy(numpy.ascontiguousarray(table, "<f4")))
            self.assertEqual(answer["status"], "unknown")
            most = 128 if abs(table).max() <= 1 and table.any() else 30
            self.assertLess(answer["proposed"], most, answer)

    def test_tables_computed_in_half_precision(self):
        for (*formats, dtype), text in list(HALVES.items())[::EVERY]:
            for length, dim, base in [(500, 64, 10000.0), (300, 128, 500000.0)][
                len(formats[1]) % 2 :
            ][:1]:
                table = in_half(length, dim, base, formats).astype(dtype)
                found = self.identify(npy(table))
                self.assertEqual(
                    (found["status"], found.get("arithmetic")),
                    ("match", "float32"),
                    (formats, length, found),
                )
                self.assertIn(text, found["computation"])
                for said in (
                    f"length={length}",
                    f"dim={dim}",
                    *([] if base == 1e4 else [f"rope_theta={base:.0f}"]),
                ):
                    self.assertIn(said, found["request"]["url"].replace("?", "&").split("&"))
                table[length // 2, dim // 3] += table.dtype.type(0.02)
                self.assertIn(self.identify(npy(table))["status"], ("near", "unknown"))

    def test_own_inverse_frequencies_are_exact(self):
        for keys in (
            "rope_theta=500000",
            "rope_theta=150000&rope_type=yarn&factor=32&original_max_position_embeddings=4096"
            "&truncate=false",
            "rope_theta=500000&rope_type=llama3&factor=32",
            "rope_type=linear&factor=3",
            "rope_type=ntk&factor=8",
            "rope_type=ntk_fixed&factor=8",
        ):
            for dtype in ("f32", "f64"):
                target = (
                    f"/v1/encodings/rope?length=1&dim=128&{keys}&tensor=inv_freq&dtype={dtype}"
                )
                found = self.identify(self.get(target + "&format=npy").body)
                self.assertEqual(found["status"], "exact", (target, found))
                self.assertEqual(
                    self.bits(self.fetch(found["request"]["url"])),
                    self.bits(self.fetch(target)),
                )

    def test_own_biases_are_exact_whatever_the_window_and_dtype(self):
        generator = random.Random(8)
        exact = 0
        for _ in range(60):
            keys, heads = generator.randint(8, 90), generator.choice([2, 3, 8, 12, 16, 20, 71])
            window = generator.choice(
                [
                    "",
                    "",
                    f"&query_length={generator.randint(1, 30)}",
                    f"&query_length={generator.randint(1, 9)}"
                    f"&query_offset={generator.randint(-20, 120)}",
                    "&form=compact",
                ]
            )
            more = generator.choice(
                [
                    "",
                    "&non_power_of_two=geometric",
                    "&alibi_bias_max=4",
                    "&head_dim=64&slope_dtype=bf16",
                    "&slope_dtype=f16",
                ]
            )
            mask = generator.choice(["symmetric", "causal", "key_only", "from_last_key"])
            reply = self.get(
                f"/v1/encodings/alibi?length={keys}&heads={heads}&mask={mask}"
                f"&tensor=bias{window}{more}"
                f"&dtype={generator.choice(['f32', 'f64', 'f16'])}&format=npy"
            )
            if reply.status != 200:
                continue
            found = self.identify(reply.body)
            self.assert_true(found, numpy.load(io.BytesIO(reply.body)))
            self.assertNotEqual(found["status"], "match", reply)
            exact += found["status"] == "exact"
        self.assertGreater(exact, 45)

    def test_own_grids_are_exact(self):
        generator = random.Random(9)
        for arrangement in (
            "preset=mae",
            "preset=mae&extra_tokens=2",
            "preset=timm",
            "preset=timm_interleaved",
            "preset=detr",
            "preset=deformable_detr",
            "preset=dab_detr",
            "preset=rt_detr",
            "preset=sd3",
            "",
            "shape=hwc",
            "shape=nc&axis_order=height_first",
            "layout=concat&base=100",
            "layout=concat&grouping=function&shape=hwc",
        ):
            target = (
                f"/v1/encodings/sinusoidal_2d?height={generator.randint(4, 19)}"
                f"&width={generator.randint(4, 19)}&dim={4 * generator.randint(4, 40)}"
                f"&{arrangement}&dtype={generator.choice(['f32', 'f64', 'f16'])}"
            ).replace("&&", "&")
            reply = self.assert_ok(self.get(target + "&format=npy"))
            found = self.identify(reply.body)
            self.assertEqual(found["status"], "exact", (target, found))
            self.assert_true(found, numpy.load(io.BytesIO(reply.body)))

    def test_what_was_changed_is_no_match(self):
        generator = numpy.random.default_rng(7)
        table = hugging_face(300, 64)
        exact = self.fetch("/v1/encodings/rope?length=300&dim=64&table=full&tensor=cos")
        changed = {
            "an entry": table.copy(),
            "a row": table.copy(),
            "a column": table.copy(),
            "noise": table + generator.normal(size=table.shape).astype("f4") * F(1e-3),
            "halves": numpy.concatenate(
                [numpy.sin(angles(300, frequencies(64))), table[:, :32] * F(1.01)], 1
            ),
            "random": generator.normal(size=(300, 64)).astype("f4"),
            "constant": numpy.ones((300, 64), "f4"),
            "an ulp": exact.copy(),
            "nan": table.copy(),
        }
        changed["an entry"][70, 3] += F(1e-3)
        changed["a row"][11] = changed["a row"][12]
        changed["a column"][:, 9] *= F(1.001)
        changed["an ulp"][200, 1] = numpy.nextafter(exact[200, 1], F(9))
        changed["nan"][5, 5] = numpy.nan
        moved = self.identify(npy(table[generator.permutation(300)]))
        self.assertEqual(moved["status"], "match")  # of the same rows in another order
        self.assertIn("positions=", moved["request"]["url"])
        for name, other in changed.items():
            found = self.identify(npy(other))
            self.assertNotEqual(found["status"], "exact", name)
            if name != "an ulp":  # which float32 arithmetic may give
                self.assertIn(found["status"], ("near", "unknown"), name)
            self.assert_true(found, other)
        one = self.identify(npy(changed["an entry"]))
        self.assertEqual((one["status"], one["misfits"]), ("near", 1))
        self.assertEqual(one["request"]["scheme"], "rope")
