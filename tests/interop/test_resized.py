"""Resized tables from sets against torch's interpolate in double."""

import itertools

import numpy as np
import torch
from torch.nn.functional import interpolate

from service import ServiceTest
from stored_sets import upload

FILTERS = {
    "nearest": {},
    "bilinear": {},
    "bilinear aligned": {"align_corners": True},
    "bilinear antialias": {"antialias": True},
    "bicubic": {},
    "bicubic aligned": {"align_corners": True},
    "bicubic antialias": {"antialias": True},
}


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


class WindowTest(ServiceTest):
    """Swin's recipe, in a few lines of torch in double."""

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

    def compare(self, query, index, table):
        """Both tensors; `table` in double."""
        bias = self.bits("swin", {**query, "dtype": "f64"}).view("<f8")
        expected = table[index.flatten()].reshape(*index.shape, -1).permute(2, 0, 1).numpy()
        np.testing.assert_allclose(bias, expected, rtol=0, atol=1e-12, err_msg=str(query))
        own = self.bits("swin", {**query, "tensor": "index"}).view("<i4")
        np.testing.assert_array_equal(own, index.numpy())

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
