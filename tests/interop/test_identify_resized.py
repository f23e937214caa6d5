"""Position embeddings that torch has resized in float32: /v1/identify says from which stored
table, by which filter, and that no entry is further off than float32 brings it."""

import io
import json

import numpy as np
import torch
from torch.nn.functional import interpolate

from service import ServiceTest
from stored_sets import upload

FILTERS = {
    "&mode=nearest": ("nearest", {}),
    "&mode=bilinear": ("bilinear", {}),
    "&mode=bilinear&align_corners=true": ("bilinear", {"align_corners": True}),
    "&mode=bilinear&antialias=true": ("bilinear", {"antialias": True}),
    "": ("bicubic", {}),
    "&align_corners=true": ("bicubic", {"align_corners": True}),
    "&antialias=true": ("bicubic", {"antialias": True}),
}


def resized(table, mode, options, grid, prefix, **size):
    """Rows of a table [prefix + cells, dim] on another grid, in the table's own arithmetic."""
    cells = torch.from_numpy(table[prefix:]).reshape(1, *grid, -1).permute(0, 3, 1, 2)
    if mode != "nearest":
        options = {"align_corners": False, **options}
    moved = interpolate(cells, mode=mode, **size, **options)
    moved = moved.permute(0, 2, 3, 1).reshape(-1, table.shape[1]).numpy()
    return np.vstack([table[:prefix], moved])


class IdentifyResizedTest(ServiceTest):
    def identify(self, table, set_name):
        file = io.BytesIO()
        np.save(file, table)
        reply = self.request(
            "POST",
            f"/v1/identify?set={set_name}",
            file.getvalue(),
            {"Content-Type": "application/x-npy"},
        )
        self.assertEqual(reply.status, 200, reply.body)
        return json.loads(reply.body)

    def assert_like_float32(self, table, set_name, query):
        found = self.identify(table, set_name)
        self.assertEqual(
            found["request"]["url"], f"/v1/encodings/resized?{query}&tensor=encoding"
        )
        if found["status"] != "exact":
            self.assertEqual(
                (found["status"], found["arithmetic"], found["misfits"]),
                ("near", "like_float32", 0),
                query,
            )
        return found

    def test_the_filter_of_a_checkpoint_is_told(self):
        """ViT's 14 x 14 cells and class token for pictures of 384, 112 and 518 pixels, and of
        320 x 480."""
        vit = np.random.default_rng(1).normal(0, 0.02, (197, 48)).astype(np.float32)
        vit[3, 7] = 2.5  # as some have
        upload(self, "vit", {"table": vit})
        for text, (mode, options) in FILTERS.items():
            for height, width in ((24, 24), (7, 7), (37, 37), (20, 30)):
                table = resized(vit, mode, options, (14, 14), 1, size=(height, width))
                said = text
                if text == "&mode=bilinear&antialias=true" and height > 14:
                    said = "&mode=bilinear"  # which is the same where the grid grows
                grid = f"height={height}" + (f"&width={width}" if width != height else "")
                self.assert_like_float32(
                    table, "vit", f"{grid}&set=vit" f"&prefix_tokens=1{said}"
                )

    def test_large_grids_lines_and_registers(self):
        rng = np.random.default_rng(2)
        for set_name, grid, prefix, size, query in (
            ("large", (64, 64), 0, (96, 80), "height=96&width=80&set=large"),
            (
                "line",
                (1, 300),
                0,
                (1, 777),
                "height=1&width=777&set=line&source_height=1&source_width=300",
            ),
            (
                "registers",
                (16, 16),
                5,
                (12, 12),
                "height=12&set=registers&prefix_tokens=5",
            ),
            (
                "wide",
                (6, 10),
                1,
                (9, 15),
                "height=9&width=15&set=wide" "&prefix_tokens=1&source_height=6&source_width=10",
            ),
        ):
            table = rng.normal(0, 1, (prefix + grid[0] * grid[1], 16)).astype(np.float32)
            upload(self, set_name, {"table": table})
            for text in ("&mode=bilinear", "", "&align_corners=true"):
                mode, options = FILTERS[text]
                found = resized(table, mode, options, grid, prefix, size=size)
                self.assert_like_float32(found, set_name, query + text)

    def test_dinov2s_tenth_of_a_cell_is_told(self):
        table = np.random.default_rng(3).normal(0, 0.02, (1 + 37 * 37, 20)).astype(np.float32)
        upload(self, "dinov2", {"table": table})
        for side in (16, 28, 50):
            factor = (side + 0.1) / 37
            found = resized(table, "bicubic", {}, (37, 37), 1, scale_factor=(factor, factor))
            self.assert_like_float32(
                found,
                "dinov2",
                f"height={side}&set=dinov2" "&prefix_tokens=1&scale_offset=0.1",
            )

    def test_float64_and_half_precision(self):
        table = np.random.default_rng(4).normal(0, 0.02, (197, 24)).astype(np.float32)
        upload(self, "base", {"table": table})
        for mode, text in (("bicubic", ""), ("bilinear", "&mode=bilinear")):
            wide = resized(table.astype(float), mode, {}, (14, 14), 1, size=(24, 24))
            query = f"height=24&set=base&prefix_tokens=1{text}"
            found = self.identify(wide, "base")
            self.assertEqual(
                (found["status"], found["arithmetic"], found["misfits"]),
                ("match", "float64", 0),
                query,
            )
            self.assertIn(query, found["request"]["url"])
            found = self.identify(wide.astype(np.float32), "base")
            self.assertIn(found["status"], ("exact", "match"), query)
            half = resized(table, mode, {}, (14, 14), 1, size=(24, 24)).astype(np.float16)
            found = self.identify(half, "base")
            self.assertIn(found["status"], ("exact", "match", "near"))
            self.assertEqual(found["misfits"], 0)
            self.assertIn(query, found["request"]["url"])
