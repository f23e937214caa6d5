"""Rotary tables of grids, and M-RoPE, are what the libraries compute that the presets are named
after.

Each function is a library's recipe in numpy and in double: it returns the angle of every row
and pair, and how the library's table repeats them.
"""

import numpy as np

from service import REAL, ServiceTest


def ladder(width, theta=10000.0):
    return 1.0 / theta ** (np.arange(0, width, 2) / width)


def meshed(*axes):
    """The index on each axis of every cell, row by row: [axes, cells]."""
    return [index.ravel() for index in np.meshgrid(*map(np.arange, axes), indexing="ij")]


def halves(angles):
    return np.concatenate([angles, angles], axis=-1)


def pairs(angles):
    return np.repeat(angles, 2, axis=-1)


# ---- the libraries ----


def qwen2_vl_vision(sizes, dim):
    """rot_pos_emb and VisionRotaryEmbedding(head_dim // 2), spatial_merge_size 2."""
    frames, height, width = sizes

    def merged(index):
        blocks = index.reshape(height // 2, 2, width // 2, 2)
        return np.tile(blocks.transpose(0, 2, 1, 3).ravel(), frames)

    rows, columns = (merged(index) for index in meshed(height, width))
    table = np.outer(np.arange(max(height, width)), ladder(dim // 2))
    return halves(np.stack([table[rows], table[columns]], axis=1).reshape(len(rows), -1))


def pixtral(sizes, dim):
    """PixtralRotaryEmbedding: a table of all cells, indexed by row * side + column."""
    height, width = sizes
    side, frequencies = max(sizes), ladder(dim)
    rows = np.outer(np.arange(side), frequencies[::2])
    columns = np.outer(np.arange(side), frequencies[1::2])
    table = np.concatenate(
        [np.repeat(rows[:, None], side, 1), np.repeat(columns[None], side, 0)], axis=-1
    ).reshape(-1, dim // 2)
    y, x = meshed(height, width)
    return halves(table[y * side + x])


def llama4_vision(sizes, dim):
    """Llama4VisionRotaryEmbedding on a square: x before y, from 1, the class token last."""
    side = sizes[0]
    index = np.append(np.arange(side * side), -2)
    frequencies = ladder(dim // 2)
    angles = np.concatenate(
        [np.outer(index % side + 1, frequencies), np.outer(index // side + 1, frequencies)],
        axis=-1,
    )
    angles[index < 0] = 0
    return pairs(angles)


def dinov3(sizes, dim, extents=None):
    """DINOv3ViTRopePositionEmbedding."""
    inv_freq = 1 / 100.0 ** np.arange(0, 1, 4 / dim)
    extents = extents or sizes
    y, x = (
        2.0 * ((index + 0.5) / extent) - 1.0 for index, extent in zip(meshed(*sizes), extents)
    )
    angles = 2 * np.pi * np.stack([y, x], axis=1)[:, :, None] * inv_freq
    return np.tile(angles.reshape(len(y), -1), 2)


def sam2(sizes, dim):
    """Sam2VideoVisionRotaryEmbedding."""
    frequencies = 1.0 / 10000.0 ** (np.arange(0, dim, 4)[: dim // 4] / dim)
    flat = np.arange(sizes[0] * sizes[1])
    return pairs(
        np.concatenate(
            [np.outer(flat % sizes[1], frequencies), np.outer(flat // sizes[1], frequencies)],
            axis=-1,
        )
    )


def vjepa2(sizes, dim):
    """VJEPA2RopeAttention: three blocks whose tables are tiled, and a rest that does not
    turn."""
    width = int(2 * ((dim // 3) // 2))
    omega = 1.0 / 10000 ** (np.arange(width // 2) / (width / 2.0))
    blocks = [np.tile(np.outer(index, omega), 2) for index in meshed(*sizes)]
    rest = np.zeros((len(blocks[0]), dim - 3 * width))
    return np.concatenate([*blocks, rest], axis=-1)


def flux(sizes, dim):
    """FluxPosEmbed with axes_dim = [16, 56, 56] of 128."""
    widths = [dim // 8, dim * 7 // 16, dim * 7 // 16]
    return np.concatenate(
        [pairs(np.outer(index, ladder(width))) for index, width in zip(meshed(*sizes), widths)],
        axis=-1,
    )


def wan(sizes, dim):
    """WanRotaryPosEmbed."""
    side = 2 * (dim // 6)
    return np.concatenate(
        [
            pairs(np.outer(index, ladder(width)))
            for index, width in zip(meshed(*sizes), [dim - 2 * side, side, side])
        ],
        axis=-1,
    )


def eva(sizes, dim, reference=None):
    """timm's build_rotary_pos_embed with in_pixels=False."""
    bands = 1.0 / 10000.0 ** (np.arange(dim // 4) / (dim // 4))
    reference = reference or sizes
    grid = np.stack(
        [
            index / size * trained
            for index, size, trained in zip(meshed(*sizes), sizes, reference)
        ],
        axis=1,
    )
    return pairs((grid[:, :, None] * bands).reshape(len(grid), -1))


MODELS = {
    "qwen2_vl_vision": (qwen2_vl_vision, [([1, 4, 6], 80), ([3, 16, 10], 72)]),
    "pixtral": (pixtral, [([5, 7], 64), ([64, 48], 64)]),
    "llama4_vision": (llama4_vision, [([24, 24], 88), ([3, 3], 8)]),
    "dinov3": (dinov3, [([14, 14], 64), ([7, 24], 128), ([12, 36], 64)]),
    "sam2": (sam2, [([64, 64], 256), ([5, 9], 8)]),
    "vjepa2": (vjepa2, [([8, 16, 16], 64), ([2, 3, 4], 80)]),
    "flux": (flux, [([1, 32, 48], 128), ([2, 3, 4], 32)]),
    "wan": (wan, [([21, 30, 52], 128), ([3, 4, 5], 40)]),
    "eva": (eva, [([16, 16], 64), ([24, 32], 64)]),
}


class GridTest(ServiceTest):
    def assert_table(self, options, angles, reach):
        """cos and sin are those of the angles, within what double makes of them."""
        bound = 2.0**-50 + 2.0**-50 * reach
        for tensor, function in (("cos", np.cos), ("sin", np.sin)):
            got = self.bits("axial_rope", {**options, "dtype": "f64", "tensor": tensor})
            got = got.view(REAL["f64"])
            self.assertEqual(got.shape, angles.shape, options)
            self.assertLessEqual(np.abs(got - function(angles)).max(), bound, (options, tensor))

    def test_every_preset_has_its_library_here(self):
        presets = {
            scheme["name"]: {preset["name"] for preset in scheme["presets"]}
            for scheme in self.schemes()
        }
        self.assertEqual(presets["axial_rope"], set(MODELS))

    def test_presets_are_the_libraries_tables(self):
        for name, (recipe, tables) in MODELS.items():
            for sizes, dim in tables:
                options = {"preset": name, "sizes": sizes, "dim": dim, "table": "full"}
                if name == "qwen2_vl_vision":
                    options.update(sizes=sizes[1:], repeats=sizes[0])
                with self.subTest(options):
                    self.assert_table(options, recipe(sizes, dim), max(sizes) + 7)

    def test_eva_on_a_grid_of_another_size(self):
        options = {"preset": "eva", "sizes": [24, 32], "dim": 64, "reference_sizes": [16, 14]}
        self.assert_table({**options, "table": "full"}, eva([24, 32], 64, [16, 14]), 32)

    def test_dinov3_normalised_by_another_axis(self):
        for normalize, extent in (("max", 24), ("min", 7)):
            options = {"preset": "dinov3", "sizes": [7, 24], "dim": 64, "table": "full"}
            self.assert_table(
                {**options, "normalize": normalize},
                dinov3([7, 24], 64, [extent, extent]),
                7 * 24,
            )

    def test_flux_text_tokens_are_a_prefix_of_angle_0(self):
        options = {"preset": "flux", "sizes": [1, 8, 8], "dim": 128, "table": "full"}
        want = np.concatenate([np.zeros((512, 128)), flux([1, 8, 8], 128)])
        self.assert_table({**options, "prefix": 512}, want, 8)

    def test_kimi_vl_takes_x_and_y_in_turn(self):
        """MoonViT's Rope2DPosEmb: x0, y0, x1, y1 … with frequencies theta^(-4i/dim)."""
        height, width, dim = 5, 6, 72
        frequencies = 1.0 / 10000.0 ** (np.arange(0, dim, 4)[: dim // 4] / dim)
        flat = np.arange(height * width)
        angles = np.stack(
            [np.outer(flat % width, frequencies), np.outer(flat // width, frequencies)], axis=-1
        )
        options = {
            "sizes": [height, width],
            "dim": dim,
            "arrangement": "alternating",
            "axis_order": "reversed",
            "layout": "interleaved",
            "table": "full",
        }
        self.assert_table(options, pairs(angles.reshape(height * width, -1)), 6)


# ---- M-RoPE: get_rope_index and the sections of each model ----


def text_ids(ids, length):
    start = ids.max() + 1 if ids.size else 0
    return np.concatenate([ids, np.tile(np.arange(length) + start, (3, 1))], axis=1)


def grid_ids(ids, times, height, width):
    """A block of len(times) frames; `times` count from its start."""
    start = ids.max() + 1 if ids.size else 0
    t = np.repeat(times, height * width)
    h = np.tile(np.repeat(np.arange(height), width), len(times))
    w = np.tile(np.arange(width), len(times) * height)
    return np.concatenate([ids, np.stack([t, h, w]) + start], axis=1)


def rope_index(model, text, grids, seconds=None):
    """The position_ids of a prompt: text[0], grids[0], text[1] …; grids are unmerged."""
    ids = np.empty((3, 0), np.int64)
    for block, length in enumerate(text):
        ids = text_ids(ids, length)
        if block == len(grids):
            break
        frames, height, width = grids[block]
        times = np.arange(frames)
        if model == "qwen2_5_vl":
            times = times * int(seconds[block] if frames > 1 else 0) * 2
        if model == "ernie4_5_vl" and frames > 1:
            times = np.arange(frames // 2)
        ids = grid_ids(ids, times, height // 2, width // 2)
    return ids


def chunked(angles, section):
    """angles: [3, n, pairs]. apply_multimodal_rotary_pos_emb's split, of one half."""
    parts = np.split(angles, np.cumsum(section)[:-1], axis=-1)
    return np.concatenate([part[i % 3] for i, part in enumerate(parts)], axis=-1)


def interleaved(angles, section):
    """apply_interleaved_mrope."""
    mixed = angles[0].copy()
    for axis, offset in enumerate((1, 2), start=1):
        chosen = slice(offset, section[axis] * 3, 3)
        mixed[..., chosen] = angles[axis][..., chosen]
    return mixed


def ernie(positions, frequencies, section):
    """compute_default_rope_parameters rotates the frequencies, recomposition_to_3d the
    angles."""
    spatial, last = section[0] + section[1], section[2]
    rotated = np.concatenate(
        [frequencies[:-last][0::2], frequencies[:-last][1::2], frequencies[-last:]]
    )
    angles = positions[:, :, None] * rotated
    h, w, t = (
        part[(i + 1) % 3]
        for i, part in enumerate(np.split(angles, [section[0], spatial], axis=-1))
    )
    return np.concatenate([np.stack([h, w], axis=-1).reshape(h.shape[0], -1), t], axis=-1)


MROPE_MODELS = {  # theta, turning columns of 128, how pairs are stored, section, sections
    "qwen2_vl": (1e6, 128, halves, [16, 24, 24], chunked),
    "qwen2_5_vl": (1e6, 128, halves, [16, 24, 24], chunked),
    "qwen3_vl": (5e6, 128, halves, [24, 20, 20], interleaved),
    "ernie4_5_vl": (5e5, 128, pairs, [22, 22, 20], None),
    "glm4v": (1e4, 64, pairs, [8, 12, 12], chunked),
    "glm4v_moe": (1e4, 64, halves, [8, 12, 12], chunked),
}

PROMPTS = [  # texts, grids
    ([15, 7], [(1, 28, 36)]),
    ([3, 0, 5], [(1, 4, 6), (1, 10, 2)]),
    ([4, 2, 1], [(8, 12, 16), (1, 6, 6)]),
    ([0, 3], [(16, 4, 4)]),
]


STAMP = 6  # tokens of a time stamp between the frames of a video


def stamped(text, grids):
    """Every frame as a grid of its own, with a time stamp before each but the first."""
    frames = [[(1, height, width)] * count for count, height, width in grids]
    texts = text[:1]
    for own, after in zip(frames, text[1:]):
        texts = texts + [STAMP] * (len(own) - 1) + [after]
    return texts, [frame for own in frames for frame in own]


class MropeTest(ServiceTest):
    def test_every_preset_has_its_library_here(self):
        presets = {
            scheme["name"]: {preset["name"] for preset in scheme["presets"]}
            for scheme in self.schemes()
        }
        self.assertEqual(presets["mrope"], set(MROPE_MODELS))

    def check(self, model, options, ids):
        theta, turning, store, section, mixed = MROPE_MODELS[model]
        got = {
            name: self.bits(
                "mrope", {**options, "dtype": "f64", "table": "full", "tensor": name}
            )
            for name in ("cos", "sin", "position_ids", "rope_delta")
        }
        np.testing.assert_array_equal(got["position_ids"].view(np.int32), ids)
        self.assertEqual(got["rope_delta"].view(np.int32)[0], ids.max() + 1 - ids.shape[1])
        frequencies = ladder(turning, theta)
        if model == "ernie4_5_vl":
            angles = ernie(ids, frequencies, section)
        else:
            angles = mixed(ids[:, :, None] * frequencies, section)
        bound = 2.0**-50 + 2.0**-50 * ids.max()
        for name, function in (("cos", np.cos), ("sin", np.sin)):
            want = store(function(angles))
            self.assertEqual(got[name].shape, want.shape)
            self.assertLessEqual(np.abs(got[name].view(REAL["f64"]) - want).max(), bound)

    def test_presets_are_the_libraries_tables(self):
        for model in MROPE_MODELS:
            for text, grids in PROMPTS:
                if model in ("qwen3_vl", "glm4v", "glm4v_moe"):
                    text, grids = stamped(text, grids)
                seconds = [2.5 + block for block in range(len(grids))]
                options = {
                    "preset": model,
                    "dim": 128,
                    "text": text,
                    "grids": [size for grid in grids for size in grid],
                }
                if model == "qwen2_5_vl":
                    options["seconds_per_grid"] = seconds
                with self.subTest(options):
                    self.check(model, options, rope_index(model, text, grids, seconds))

    def test_text_alone(self):
        for model in MROPE_MODELS:
            with self.subTest(model):
                self.check(
                    model,
                    {"preset": model, "dim": 128, "text": 50},
                    np.tile(np.arange(50), (3, 1)),
                )
