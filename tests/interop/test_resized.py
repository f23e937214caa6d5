"""Resized tables from sets: against torch's interpolate in double, and bit for bit
against fractions made of the weights that torch has itself, where these are dyadic."""

import itertools
import math
import sys
from collections import Counter
from fractions import Fraction

import numpy as np
import torch
from torch.nn.functional import interpolate

import exact
from service import ServiceTest
from stored_sets import upload

REAL_DTYPES = ("f32", "f64", "f16", "bf16")
FILTERS = {
    "nearest": {},
    "bilinear": {},
    "bilinear aligned": {"align_corners": True},
    "bilinear antialias": {"antialias": True},
    "bicubic": {},
    "bicubic aligned": {"align_corners": True},
    "bicubic antialias": {"antialias": True},
}

compared = Counter()


def tearDownModule():
    if compared:
        print("\nentries of resized tables compared:", dict(compared), file=sys.stderr)


def torch_resized(table, name, options, grid, prefix=0, **size):
    """Rows of a table [prefix + cells, dim] on another grid, in double."""
    cells = torch.from_numpy(table[prefix:].astype(float)).reshape(1, *grid, -1)
    mode = name.split()[0]
    if mode != "nearest":
        options = {"align_corners": False, **options}
    moved = interpolate(cells.permute(0, 3, 1, 2), mode=mode, **size, **options)
    moved = moved.permute(0, 2, 3, 1).reshape(-1, table.shape[1]).numpy()
    return np.vstack([table[:prefix].astype(float), moved])


class ResizedTest(ServiceTest):
    def ask(self, name, set_name, grid, options, **more):
        own = {key: value for key, value in options.items() if value}
        query = {
            "set": set_name,
            "mode": name.split()[0],
            "source_height": grid[0],
            "source_width": grid[1],
            **own,
            **more,
        }
        return query

    def near(self, query, expected):
        got = self.bits("resized", {**query, "dtype": "f64"}).view("<f8")
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12, err_msg=str(query))
        compared["with torch, to 1e-12"] += expected.size

    def test_every_filter_is_that_of_torch(self):
        rng = np.random.default_rng(1)
        sizes = (
            (14, 14, 37, 25),
            (7, 10, 7, 10),
            (16, 9, 5, 13),
            (24, 24, 12, 36),
            (1, 6, 1, 17),
        )
        for number, (height, width, *target) in enumerate(sizes):
            table = rng.normal(0, 1, (1 + height * width, 5))
            set_name = upload(self, f"resized-{number}", {"table": table})
            for name, options in FILTERS.items():
                query = self.ask(
                    name,
                    set_name,
                    (height, width),
                    options,
                    prefix_tokens=1,
                    height=target[0],
                    width=target[1],
                )
                self.near(
                    query,
                    torch_resized(table, name, options, (height, width), 1, size=tuple(target)),
                )

    def test_a_line_is_torchs_linear_mode(self):
        line = np.random.default_rng(2).normal(0, 1, (11, 3))
        set_name = upload(self, "resized-line", {"table": line})
        cells = torch.from_numpy(line.T[None])
        for length, aligned in itertools.product((4, 11, 30), (False, True)):
            expected = interpolate(cells, size=length, mode="linear", align_corners=aligned)
            query = {
                "set": set_name,
                "source_height": 1,
                "height": 1,
                "width": length,
                "mode": "bilinear",
                "align_corners": aligned,
            }
            self.near(query, expected[0].T.numpy())

    def test_scale_factors_are_those_of_torch(self):
        table = np.random.default_rng(3).normal(0, 1, (30, 4))
        set_name = upload(self, "resized-factor", {"table": table})
        for factor, name in itertools.product(
            (0.4, 0.7, 1.3, 2, 2.5, 37.1 / 16), ("nearest", "bilinear", "bicubic")
        ):
            query = self.ask(name, set_name, (5, 6), {}, scale_factor=factor)
            self.near(query, torch_resized(table, name, {}, (5, 6), scale_factor=factor))

    def test_dinov2_adds_a_tenth_of_a_cell(self):
        """interpolate_pos_encoding of DINOv2: scale factors of (size + 0.1) / side."""
        table = np.random.default_rng(4).normal(0, 1, (1 + 16 * 16, 6))
        set_name = upload(self, "resized-dinov2", {"table": table})
        for height, width in ((37, 37), (12, 20), (16, 30)):
            factors = ((height + 0.1) / 16, (width + 0.1) / 16)
            expected = torch_resized(table, "bicubic", {}, (16, 16), 1, scale_factor=factors)
            self.near(
                {"preset": "dinov2", "set": set_name, "height": height, "width": width},
                expected,
            )

    def test_qwen3_vl_takes_four_corners_of_aligned_grids(self):
        """fast_pos_embed_interpolate: linspace over the grid, floors and next cells."""
        side, table = 12, np.random.default_rng(5).normal(0, 1, (144, 4))
        set_name = upload(self, "resized-qwen", {"table": table})
        for height, width in ((8, 14), (12, 12), (30, 5)):
            expected = np.zeros((height * width, 4))
            for row, (y, x) in enumerate(
                itertools.product(
                    np.linspace(0, side - 1, height), np.linspace(0, side - 1, width)
                )
            ):
                low_y, low_x = int(y), int(x)
                for dy, dx in itertools.product((0, 1), repeat=2):
                    weight = abs(1 - dy - (y - low_y)) * abs(1 - dx - (x - low_x))
                    cell = min(low_y + dy, side - 1) * side + min(low_x + dx, side - 1)
                    expected[row] += weight * table[cell]
            self.near(
                {
                    "preset": "qwen3_vl",
                    "set": set_name,
                    "height": height,
                    "width": width,
                },
                expected,
            )

    def test_idefics2_takes_fractional_buckets(self):
        """Where a coordinate is no boundary, which in floats may fall to either side."""
        side, table = 16, np.arange(256.0)[:, None]
        set_name = upload(self, "resized-idefics", {"table": table})
        boundaries = torch.arange(1 / side, 1.0, 1 / side, dtype=torch.float64)
        for height, width in ((7, 11), (13, 29), (31, 5)):
            buckets = [
                torch.bucketize(
                    torch.arange(n, dtype=torch.float64) / n, boundaries, right=True
                )
                for n in (height, width)
            ]
            expected = (buckets[0][:, None] * side + buckets[1]).reshape(-1, 1).double().numpy()
            self.near(
                {
                    "preset": "idefics2",
                    "set": set_name,
                    "height": height,
                    "width": width,
                },
                expected,
            )

    def test_dyadic_weights_give_exact_sums_bit_by_bit(self):
        """Weights are what torch makes of one cell that is 1; they are dyadic, so exact."""
        rng = np.random.default_rng(6)
        for grid, target in (((3, 5), (6, 10)), ((4, 6), (2, 3)), ((2, 3), (8, 12))):
            cells = grid[0] * grid[1]
            for (name, options), dtype, stored in itertools.product(
                FILTERS.items(), REAL_DTYPES, ("<f8", "<f4")
            ):
                if name.endswith("aligned") or (
                    name.endswith("antialias") and target[0] < grid[0]
                ):
                    continue  # other fractions
                weights = torch_resized(np.eye(cells), name, options, grid, size=target)
                if name.endswith("antialias") and not all(
                    math.log2(Fraction(w).denominator) < 30 for w in weights.flat
                ):
                    continue  # at the edges the weights are divided by their sum
                table = rng.normal(0, 1, (cells, 3)).astype(stored)
                set_name = upload(self, "resized-dyadic", {"table": table})
                query = self.ask(
                    name,
                    set_name,
                    grid,
                    options,
                    height=target[0],
                    width=target[1],
                    dtype=dtype,
                )
                expected = [
                    [
                        exact.round_rational(
                            sum(Fraction(w) * Fraction(float(v)) for w, v in zip(row, column)),
                            dtype,
                        )
                        for column in table.T
                    ]
                    for row in weights
                ]
                self.assertEqual(self.bits("resized", query).tolist(), expected, str(query))
                compared["dyadic, bit by bit"] += 3 * len(expected)


class WindowTest(ServiceTest):
    """Swin's and BEiT's recipes, in a few lines of torch in double."""

    @staticmethod
    def index_of(height, width):
        """get_relative_position_index, as the authors and timm compute it."""
        cells = torch.stack(
            torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
        ).flatten(1)
        offset = (cells[:, :, None] - cells[:, None, :]).permute(1, 2, 0).contiguous()
        offset[:, :, 0] = (offset[:, :, 0] + height - 1) * (2 * width - 1)
        offset[:, :, 1] += width - 1
        return offset.sum(-1)

    def index_with_class(self, height, width):
        """BEiT's three numbers, for the class token in front."""
        tokens, offsets = height * width + 1, (2 * height - 1) * (2 * width - 1)
        index = torch.zeros((tokens, tokens), dtype=torch.long)
        index[1:, 1:] = self.index_of(height, width)
        index[0, :], index[:, 0], index[0, 0] = offsets, offsets + 1, offsets + 2
        return index

    def compare(self, query, index, table):
        """Both tensors; `table` in double."""
        bias = self.bits("swin", {**query, "dtype": "f64"}).view("<f8")
        expected = table[index.flatten()].reshape(*index.shape, -1).permute(2, 0, 1).numpy()
        np.testing.assert_allclose(bias, expected, rtol=0, atol=1e-12, err_msg=str(query))
        own = self.bits("swin", {**query, "tensor": "index"}).view("<i4")
        np.testing.assert_array_equal(own, index.numpy())
        compared["biases, with torch"] += expected.size

    def test_swins_bias_is_the_librarys(self):
        for height, width in ((7, 7), (8, 12), (1, 5)):
            table = np.random.default_rng(height).normal(
                0, 1, ((2 * height - 1) * (2 * width - 1), 4)
            )
            name = upload(self, f"swin-{height}", {"table": table})
            self.compare(
                {"set": name, "height": height, "width": width},
                self.index_of(height, width),
                torch.from_numpy(table),
            )

    def test_a_table_of_another_window_is_resized_as_in_swins_load_pretrained(self):
        table = np.random.default_rng(9).normal(0, 1, (13 * 13, 3))
        name = upload(self, "swin-resized", {"table": table})
        for window in (12, 8, 5):
            side = 2 * window - 1
            moved = torch_resized(table, "bicubic", {}, (13, 13), size=(side, side))
            self.compare(
                {"set": name, "height": window},
                self.index_of(window, window),
                torch.from_numpy(moved),
            )

    def test_beits_bias_has_a_class_token(self):
        table = np.random.default_rng(10).normal(0, 1, (27 * 27 + 3, 2))
        name = upload(self, "swin-beit", {"table": table})
        query = {"set": name, "preset": "beit"}
        self.compare(
            {**query, "height": 14}, self.index_with_class(14, 14), torch.from_numpy(table)
        )
        moved = torch_resized(table[:-3], "bilinear", {}, (27, 27), size=(39, 31))
        self.compare(
            {**query, "height": 20, "width": 16},
            self.index_with_class(20, 16),
            torch.from_numpy(np.vstack([moved, table[-3:]])),
        )


class DecomposedTest(ServiceTest):
    """get_rel_pos as ViTDet and SAM have it, in torch and in double."""

    @staticmethod
    def rel_pos(queries, keys, table):
        distances, table = 2 * max(queries, keys) - 1, torch.from_numpy(table)
        if len(table) != distances:
            table = interpolate(table.T[None], size=distances, mode="linear")[0].T
        from_queries = torch.arange(queries)[:, None] * max(keys / queries, 1.0)
        from_keys = torch.arange(keys)[None, :] * max(queries / keys, 1.0)
        rows = from_queries - from_keys + (keys - 1) * max(queries / keys, 1.0)
        return table[rows.long()].numpy(), rows.long().numpy()

    def test_vectors_are_those_of_get_rel_pos(self):
        """Grids whose ratios are dyadic, so that the recipe's floats are exact."""
        rng = np.random.default_rng(11)
        tables = {
            "rel_pos_h": rng.normal(0, 1, (27, 6)),
            "rel_pos_w": rng.normal(0, 1, (127, 6)),
        }
        name = upload(self, "decomposed", tables)
        for queries, keys in (
            ((14, 64), (14, 64)),
            ((16, 24), (16, 24)),
            ((7, 5), (14, 20)),
            ((32, 16), (8, 16)),
            ((1, 3), (1, 3)),
        ):
            query = {
                "set": name,
                "height": keys[0],
                "width": keys[1],
                "query_height": queries[0],
                "query_width": queries[1],
                "dtype": "f64",
            }
            for axis, number in (("h", 0), ("w", 1)):
                vectors, rows = self.rel_pos(
                    queries[number], keys[number], tables[f"rel_pos_{axis}"]
                )
                own = self.bits("decomposed", {**query, "tensor": f"rel_{axis}"}).view("<f8")
                np.testing.assert_allclose(own, vectors, rtol=0, atol=1e-12)
                own = self.bits("decomposed", {**query, "tensor": f"index_{axis}"}).view("<i4")
                np.testing.assert_array_equal(own, rows)
                compared["vectors, with torch"] += vectors.size


class NetworkTest(ServiceTest):
    """Swin v2's cpb_mlp in torch and in double."""

    @staticmethod
    def coordinates(window, pretrained):
        """get_relative_coords_table of the authors and timm."""
        axes = [torch.arange(1 - side, side, dtype=torch.float64) for side in window]
        table = torch.stack(torch.meshgrid(*axes, indexing="ij"), -1)
        divisor = torch.tensor([max(side - 1, 1) for side in pretrained or window])
        table = table / divisor * 8
        return torch.sign(table) * torch.log2(torch.abs(table) + 1.0) / math.log2(8)

    def test_biases_are_those_of_cpb_mlp(self):
        rng = np.random.default_rng(12)
        for number, (window, pretrained) in enumerate(
            (((8, 8), None), ((4, 6), None), ((8, 3), (12, 12)), ((1, 5), None))
        ):
            network = {
                "w1": rng.normal(0, 0.5, (64, 2)),
                "b1": rng.normal(0, 0.5, 64),
                "w2": rng.normal(0, 0.2, (3, 64)),
            }
            name = upload(self, f"swin-v2-{number}", network)
            w1, b1, w2 = (torch.from_numpy(network[key]) for key in ("w1", "b1", "w2"))
            coordinates = self.coordinates(window, pretrained).reshape(-1, 2)
            table = 16 * torch.sigmoid(torch.relu(coordinates @ w1.T + b1) @ w2.T)
            index = WindowTest.index_of(*window)
            expected = table[index.flatten()].reshape(*index.shape, 3).permute(2, 0, 1).numpy()
            query = {
                "set": name,
                "height": window[0],
                "width": window[1],
                "dtype": "f64",
            }
            if pretrained:
                query |= {"pretrained_height": pretrained[0], "pretrained_width": pretrained[1]}
            own = self.bits("swin_v2", query).view("<f8")
            np.testing.assert_allclose(own, expected, rtol=0, atol=1e-12)
            own = self.bits("swin_v2", {**query, "tensor": "coordinates"}).view("<f8")
            np.testing.assert_allclose(own, coordinates.numpy(), rtol=0, atol=1e-15)
            compared["biases of networks, with torch"] += expected.size
