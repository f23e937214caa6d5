"""Relative schemes beside torch: the bias, index or table that a few lines of torch make of the
same trained numbers. Index tensors are equal; real ones, made in double, within one f32 ulp."""

import math
import unittest

import numpy as np

import seeded
from service import REAL, ServiceTest, query_text

try:
    import torch
except ImportError:
    torch = None

# keys, queries, position of the first query
SPANS = ((33, 33, 0), (40, 5, 35), (64, 16, 20), (300, 7, 290))
COMPARED_ELSEWHERE = {"swin", "swin_v2", "decomposed"}  # in test_resized.py
BOUNDARY = 1e-9  # what a logarithm in double may miss a whole number by


def setUpModule():
    if not torch:
        print("torch is not installed: the schemes are not compared with it")


@unittest.skipUnless(torch, "torch is not installed")
class AttentionTest(ServiceTest):
    def tensor_of(self, scheme, options):
        """A tensor of the service: doubles of a real one, in f32 unless asked; or integers."""
        target = f"/v1/encodings/{scheme}?{query_text({'format': 'raw', **options})}"
        reply = self.get(target)
        bits, dtype = self.tensor(reply), reply.headers["Tensor-Dtype"]
        kind = np.dtype("<i4") if dtype == "i32" else REAL[dtype]
        return torch.from_numpy(bits.view(kind).copy())

    def spans(self):
        for keys, queries, offset in SPANS:
            yield (
                {"length": keys, "query_length": queries, "query_offset": offset},
                torch.arange(offset, offset + queries),
                torch.arange(keys),
            )

    def seeded(self, rows, columns, seed):
        """What a scheme draws as its tensor `table`: an element depends on seed and name
        alone."""
        return self.tensor_of(
            "learned", {"length": rows, "dim": columns, "seed": seed, "dtype": "f64"}
        )

    def assert_equal(self, got, want):
        self.assertEqual(got.dtype, torch.int32)
        self.assertTrue(torch.equal(got.long(), want.long()), (got - want).abs().max())

    def assert_within_an_ulp(self, got, want):
        """`want` in double."""
        self.assertEqual((got.dtype, want.dtype), (torch.float32, torch.float64))
        self.assertEqual(got.shape, want.shape)
        got, want = got.numpy(), want.to(torch.float32).numpy()
        finite = np.isfinite(want)
        np.testing.assert_array_equal(got[~finite], want[~finite])
        ulps = np.abs(got[finite] - want[finite]) / np.spacing(np.abs(want[finite]))
        self.assertLessEqual(ulps.max(initial=0), 1)

    # ---- one test for each scheme ----

    def test_alibi(self):
        def slopes(heads):
            power = 2 ** math.floor(math.log2(heads))
            whole = torch.pow(2.0, -torch.arange(1, power + 1).double() * 8 / power)
            if power == heads:
                return whole
            return torch.cat([whole, slopes(2 * power)[::2][: heads - power]])

        for heads in (1, 8, 12, 25):
            for span, i, j in self.spans():
                distance = (j[None, :] - i[:, None]).double()
                bias = -slopes(heads)[:, None, None] * distance.abs()
                causal = bias.masked_fill(distance > 0, -math.inf)
                by_key = (slopes(heads)[:, None, None] * j.double()).expand_as(bias)
                for mask, want in (
                    ("symmetric", bias),
                    ("causal", causal),
                    ("key_only", by_key),
                ):
                    with self.subTest(heads=heads, mask=mask, **span):
                        got = self.tensor_of("alibi", {**span, "heads": heads, "mask": mask})
                        self.assert_within_an_ulp(got, want)

    def test_alibi_of_models(self):
        """Falcon's slopes in bf16 and its division, MPT's row; heads that are a power of
        two."""
        slopes = torch.pow(2.0, -torch.arange(1, 33).double() / 4)
        keys = torch.arange(50).double()
        falcon = slopes.to(torch.bfloat16).double()[:, None] * keys / math.sqrt(64)
        got = self.tensor_of("alibi", {"preset": "falcon", "heads": 32, "length": 50})
        self.assert_within_an_ulp(got, falcon[:, None, :].expand(32, 50, 50))
        got = self.tensor_of("alibi", {"preset": "mpt", "heads": 32, "length": 50})
        self.assert_within_an_ulp(got, (slopes[:, None] * (keys - 49))[:, None, :])

    def test_t5(self):
        def bucket(relative, bidirectional, buckets, longest):  # as in Hugging Face's T5
            first = torch.zeros_like(relative)
            if bidirectional:
                buckets //= 2
                first += (relative > 0).long() * buckets
                distance = relative.abs()
            else:
                distance = -torch.min(relative, torch.zeros_like(relative))
            exact = buckets // 2
            large = (
                exact
                + (
                    torch.log(distance.clamp(min=1).double() / exact)
                    / math.log(longest / exact)
                    * (buckets - exact)
                    + BOUNDARY
                )
                .floor()
                .long()
            )
            large = large.clamp(max=buckets - 1)
            return first + torch.where(distance < exact, distance, large)

        for buckets, longest, bidirectional in (
            (32, 128, True),
            (32, 128, False),
            (6, 9, True),
            (64, 256, True),
            (9, 50, False),
        ):
            options = {
                "heads": 6,
                "num_buckets": buckets,
                "max_distance": longest,
                "bidirectional": bidirectional,
                "seed": 11,
            }
            table = self.seeded(buckets, 6, 11)
            for span, i, j in self.spans():
                with self.subTest(**options, **span):
                    index = bucket(j[None, :] - i[:, None], bidirectional, buckets, longest)
                    self.assert_equal(
                        self.tensor_of("t5", {**span, **options, "tensor": "bucket"}), index
                    )
                    bias = torch.nn.functional.embedding(index, table).permute(2, 0, 1)
                    self.assert_within_an_ulp(self.tensor_of("t5", {**span, **options}), bias)

    def test_levit(self):
        for height, width, more in ((5, 7, {}), (6, 6, {"dim_head": 16}), (1, 9, {"seed": 3})):
            tokens = height * width
            points = torch.cartesian_prod(torch.arange(height), torch.arange(width))
            offsets = (points[:, None, :] - points[None, :, :]).abs()
            index = offsets[..., 0] * width + offsets[..., 1]
            table = self.seeded(tokens, 4, more.get("seed", 0))
            if "dim_head" in more:
                table = table / more["dim_head"] ** -0.5
            options = {"height": height, "width": width, "heads": 4, **more}
            self.assert_equal(self.tensor_of("levit", {**options, "tensor": "index"}), index)
            self.assert_within_an_ulp(
                self.tensor_of("levit", options), table[index].permute(2, 0, 1)
            )
            last = {"query_length": 3, "query_offset": tokens - 3}
            self.assert_within_an_ulp(
                self.tensor_of("levit", {**options, **last}), table[index[-3:]].permute(2, 0, 1)
            )

    def test_deberta(self):
        def bucket(relative, buckets, longest, beyond):
            """make_log_bucket_position of Microsoft's DeBERTa and of Hugging Face, which does
            not clamp."""
            most = longest - 1 if beyond == "clamp" else None
            middle = buckets // 2
            near = (relative < middle) & (relative > -middle)
            size = torch.where(
                near,
                torch.full_like(relative, middle - 1),
                relative.abs().clamp(min=0, max=most),
            )
            steps = torch.ceil(
                torch.log(size.double() / middle)
                / math.log((longest - 1) / middle)
                * (middle - 1)
                - BOUNDARY
            )
            far = (middle + steps) * torch.sign(relative)
            return torch.where(size <= middle, relative, far.long())

        for buckets, longest, beyond in (
            (-1, 16, "clamp"),
            (-1, 512, "continue"),
            (32, 128, "clamp"),
            (32, 128, "continue"),
            (256, 512, "clamp"),
            (256, 512, "continue"),
        ):
            span_of_table = buckets if buckets > 0 else longest
            options = {
                "dim": 8,
                "position_buckets": buckets,
                "seed": 2,
                "max_relative_positions": longest,
                "beyond": beyond,
            }
            self.assert_within_an_ulp(
                self.tensor_of("deberta", {"length": 2, **options, "tensor": "table"}),
                self.seeded(2 * span_of_table, 8, 2),
            )
            for span, i, j in self.spans():
                with self.subTest(**options, **span):
                    relative = i[:, None] - j[None, :]
                    if buckets > 0:
                        relative = bucket(relative, buckets, longest, beyond)
                    most = 2 * span_of_table - 1
                    c2p = (relative + span_of_table).clamp(0, most)
                    paper = (-relative + span_of_table).clamp(0, most)
                    asked = {**span, **options}
                    for more, want in (
                        ({"tensor": "relative_position"}, relative),
                        ({"tensor": "c2p_index"}, c2p),
                        ({"tensor": "p2c_index"}, c2p),
                        ({"tensor": "p2c_index", "p2c": "paper"}, paper),
                    ):
                        self.assert_equal(self.tensor_of("deberta", {**asked, **more}), want)

    def test_shaw(self):
        for low, high in ((-16, 16), (-2, 5), (0, 3)):
            options = {"dim": 6, "min_distance": low, "max_distance": high, "seed": 4}
            for span, i, j in self.spans():
                index = (j[None, :] - i[:, None]).clamp(low, high) - low
                compact = {**span, **options, "form": "compact"}
                self.assert_equal(self.tensor_of("shaw", {**compact, "tensor": "index"}), index)
                for name in ("keys", "values"):
                    with self.subTest(tensor=name, **options, **span):
                        table = self.tensor_of(
                            "shaw", {**compact, "tensor": name, "dtype": "f64"}
                        )
                        self.assertEqual(tuple(table.shape), (high - low + 1, 6))
                        self.assert_within_an_ulp(
                            self.tensor_of("shaw", {**span, **options, "tensor": name}),
                            table[index],
                        )

    def test_shaw_of_models(self):
        for preset, sign, low, high in (
            ("wav2vec2_bert", 1, -64, 8),
            ("speecht5", -1, -160, 159),
        ):
            for span, i, j in self.spans():
                options = {**span, "preset": preset, "dim": 6}
                index = (sign * (j[None, :] - i[:, None])).clamp(low, high) - low
                compact = {**options, "form": "compact"}
                self.assert_equal(self.tensor_of("shaw", {**compact, "tensor": "index"}), index)
                table = self.tensor_of("shaw", {**compact, "tensor": "keys", "dtype": "f64"})
                self.assertEqual(table.shape[0], high - low + 1)
                self.assert_within_an_ulp(self.tensor_of("shaw", options), table[index])

    def frequencies(self, dim, base):
        return base ** (-torch.arange(0, dim, 2).double() / dim)

    def test_relative_sinusoidal(self):
        for layout, longest in (("interleaved", None), ("concat", 12)):
            options = {"dim": 16, "layout": layout, "base": 10000}
            options |= {"max_distance": longest} if longest else {}
            for span, i, j in self.spans():
                with self.subTest(**options, **span):
                    distance = j[None, :] - i[:, None]
                    if longest:
                        distance = distance.clamp(-longest, longest)
                    angle = distance[..., None].double() * self.frequencies(16, 10000.0)
                    if layout == "concat":
                        want = torch.cat([angle.sin(), angle.cos()], dim=-1)
                    else:
                        want = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)
                    self.assert_within_an_ulp(
                        self.tensor_of("relative_sinusoidal", {**span, **options}), want
                    )

    def test_transformer_xl(self):
        for attention in ("bi", "uni", "txl"):
            for clamp in (None, 9):
                options = {"dim": 12, "heads": 3, "attention": attention}
                options |= {"clamp_length": clamp} if clamp else {}
                for keys, queries in ((20, 20), (30, 4)):
                    span = {"length": keys, "query_length": queries}
                    first, last = {
                        "bi": (keys, -queries + 1),
                        "uni": (keys, 0),
                        "txl": (keys - 1, 0),
                    }[attention]
                    with self.subTest(**options, **span):
                        distance = torch.arange(first, last - 1, -1)
                        self.assert_equal(
                            self.tensor_of(
                                "transformer_xl", {**span, **options, "tensor": "distance"}
                            ),
                            distance,
                        )
                        if clamp:
                            distance = distance.clamp(-clamp, clamp)
                        angle = distance[:, None].double() * self.frequencies(12, 10000.0)
                        self.assert_within_an_ulp(
                            self.tensor_of("transformer_xl", {**span, **options}),
                            torch.cat([angle.sin(), angle.cos()], dim=-1),
                        )

    def test_transformer_xl_of_conformers(self):
        for n in (1, 2, 20):
            options = {"length": n, "dim": 12, "preset": "conformer"}
            distance = torch.arange(n - 1, -n, -1)
            self.assert_equal(
                self.tensor_of("transformer_xl", {**options, "tensor": "distance"}), distance
            )
            angle = distance[:, None].double() * self.frequencies(12, 10000.0)
            self.assert_within_an_ulp(
                self.tensor_of("transformer_xl", options),
                torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2),
            )

    def test_urpe(self):
        for span, i, j in self.spans():
            keys = span["length"]
            options = {"heads": 3, "init": "normal", "seed": 8}
            # all distances, key minus query ascending: g runs the other way
            g = self.tensor_of(
                "urpe", {**options, "length": keys, "form": "compact", "dtype": "f64"}
            ).flip(-1)
            want = g[:, i[:, None] - j[None, :] + keys - 1]
            self.assert_within_an_ulp(self.tensor_of("urpe", {**span, **options}), want)

    def distances(self, i, j):
        return (j[None, :] - i[:, None]).double()

    def test_kerple(self):
        for kernel in ("log", "power"):
            for mask in ("symmetric", "causal"):
                options = {"heads": 6, "kernel": kernel, "mask": mask, "seed": 12}
                for span, i, j in self.spans():
                    with self.subTest(**options, **span):
                        asked = {**span, **options}
                        p, a = (
                            self.tensor_of("kerple", {**asked, "tensor": name, "dtype": "f64"})[
                                :, None, None
                            ]
                            for name in ("p", "a")
                        )
                        self.assertTrue(bool((p >= 0.01).all() and (p < 2).all()))
                        self.assertTrue(bool((a >= 0.01).all() and (a < 1).all()))
                        distance = self.distances(i, j)
                        size = distance.abs()
                        bias = (
                            -p * torch.log(1 + a * size)
                            if kernel == "log"
                            else -size.pow(p) * a
                        )
                        if mask == "causal":
                            bias = bias.masked_fill(distance > 0, -math.inf)
                        self.assert_within_an_ulp(self.tensor_of("kerple", asked), bias)

    def test_fire(self):
        for threshold, mask in ((512, "symmetric"), (30.5, "causal")):
            options = {
                "heads": 3,
                "hidden": 32,
                "c": 0.2,
                "threshold": threshold,
                "seed": 6,
                "mask": mask,
            }
            network = self.fire_network(3, 32, 6)
            for span, i, j in self.spans():
                with self.subTest(**options, **span):
                    distance = self.distances(i, j)
                    above = torch.log(0.2 * distance.abs() + 1)
                    below = torch.log(0.2 * i.double().clamp(min=threshold) + 1) + 1e-6
                    with torch.no_grad():
                        bias = network((above / below[:, None])[..., None]).permute(2, 0, 1)
                    if mask == "causal":
                        bias = bias.masked_fill(distance > 0, -math.inf)
                    got = self.tensor_of("fire", {**span, **options, "dtype": "f64"})
                    finite = torch.isfinite(bias)
                    self.assertTrue(torch.equal(finite, torch.isfinite(got)))
                    self.assertLess((got - bias)[finite].abs().max(), 1e-13)

    def fire_network(self, heads, hidden, seed):
        """A torch network with the weights that the service draws, as its README says."""
        network = torch.nn.Sequential(
            torch.nn.Linear(1, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, heads)
        ).double()
        layers = (
            ("w1", network[0].weight, 1.0),
            ("b1", network[0].bias, 1.0),
            ("w2", network[2].weight, hidden**-0.5),
            ("b2", network[2].bias, hidden**-0.5),
        )
        for name, tensor, bound in layers:
            flat = [2 * seeded.philox.draw(seed, name, e)[0] - 1 for e in range(tensor.numel())]
            values = torch.tensor([bound * float(x) for x in flat], dtype=torch.float64)
            tensor.data = values.reshape(tensor.shape)
        return network

    def test_sandwich(self):
        for heads, dim in ((3, 128), (12, 16)):
            options = {"heads": heads, "dim": dim}
            for span, i, j in self.spans():
                with self.subTest(**options, **span):
                    angle = self.distances(i, j)[..., None] * self.frequencies(dim, 10000.0)
                    ratio = torch.arange(1, heads + 1).double() * 8 / heads
                    self.assert_within_an_ulp(
                        self.tensor_of("sandwich", {**span, **options}),
                        angle.cos().sum(-1) / ratio[:, None, None],
                    )

    def test_retnet(self):
        for heads, dim in ((4, 16), (9, 6)):
            options = {"heads": heads, "dim": dim}
            decay = torch.log(1 - 2 ** (-5 - torch.arange(heads).double()))
            angle = 10000 ** -torch.linspace(0, 1, dim // 2, dtype=torch.float64)
            for span, i, j in self.spans():
                with self.subTest(**options, **span):
                    distance = i[:, None] - j[None, :]
                    mask = torch.exp(distance.double() * decay[:, None, None])
                    mask = mask.masked_fill(distance < 0, 0.0)
                    asked = {**span, **options}
                    self.assert_within_an_ulp(self.tensor_of("retnet", asked), mask)
                    self.assert_within_an_ulp(
                        self.tensor_of("retnet", {**asked, "tensor": "decay"}), decay
                    )
                    turn = j.double()[:, None] * angle.repeat_interleave(2)
                    for name, want in (("cos", turn.cos()), ("sin", turn.sin())):
                        self.assert_within_an_ulp(
                            self.tensor_of("retnet", {**asked, "tensor": name}), want
                        )

    def test_every_relative_scheme_is_compared(self):
        names = {scheme["name"] for scheme in self.schemes() if scheme["family"] == "relative"}
        for name in names - COMPARED_ELSEWHERE:
            self.assertTrue(hasattr(self, f"test_{name}"), name)

    def test_a_bias_is_added_to_the_scores(self):
        """Attention with the service's bias is that with ALiBi computed by torch."""
        torch.manual_seed(0)
        query, key, value = torch.randn(3, 2, 8, 32, 16).double()
        bias = self.tensor_of(
            "alibi", {"length": 32, "heads": 8, "mask": "causal", "dtype": "f64"}
        )
        slopes = torch.pow(2.0, -torch.arange(1, 9).double())[:, None, None]
        position = torch.arange(32)
        distance = (position[None, :] - position[:, None]).double()
        own = (slopes * distance).masked_fill(distance > 0, -math.inf)
        scores = query @ key.transpose(-1, -2) / 4
        self.assertTrue(
            torch.equal((scores + bias).softmax(-1) @ value, (scores + own).softmax(-1) @ value)
        )


if __name__ == "__main__":
    unittest.main()
