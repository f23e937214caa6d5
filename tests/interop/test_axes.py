"""Positions of M-RoPE are those of the libraries' get_rope_index, for each preset."""

import numpy as np

from service import ServiceTest


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


PROMPTS = [  # texts, grids
    ([15, 7], [(1, 28, 36)]),
    ([3, 0, 5], [(1, 4, 6), (1, 10, 2)]),
    ([4, 2, 1], [(8, 12, 16), (1, 6, 6)]),
    ([0, 3], [(16, 4, 4)]),
]


STAMPED = ("qwen3_vl", "glm4v", "glm4v_moe")  # whose frames are grids of their own
MODELS = ("qwen2_vl", "qwen2_5_vl", "ernie4_5_vl", *STAMPED)
STAMP = 6  # tokens of a time stamp between the frames of a video


def stamped(text, grids):
    """Every frame as a grid of its own, with a time stamp before each but the first."""
    frames = [[(1, height, width)] * count for count, height, width in grids]
    texts = text[:1]
    for own, after in zip(frames, text[1:]):
        texts = texts + [STAMP] * (len(own) - 1) + [after]
    return texts, [frame for own in frames for frame in own]


class MropeTest(ServiceTest):
    def check(self, options, ids):
        got = {
            name: self.bits("mrope", {**options, "dim": 128, "tensor": name}).view(np.int32)
            for name in ("position_ids", "rope_delta")
        }
        np.testing.assert_array_equal(got["position_ids"], ids)
        self.assertEqual(got["rope_delta"][0], ids.max() + 1 - ids.shape[1])

    def test_every_preset_is_asked_for(self):
        (presets,) = (s["presets"] for s in self.schemes() if s["name"] == "mrope")
        self.assertEqual({preset["name"] for preset in presets}, set(MODELS))

    def test_positions_of_prompts_are_the_libraries(self):
        for model in MODELS:
            for text, grids in PROMPTS:
                if model in STAMPED:
                    text, grids = stamped(text, grids)
                seconds = [2.5 + block for block in range(len(grids))]
                options = {
                    "preset": model,
                    "text": text,
                    "grids": [size for grid in grids for size in grid],
                }
                if model == "qwen2_5_vl":
                    options["seconds_per_grid"] = seconds
                with self.subTest(options):
                    self.check(options, rope_index(model, text, grids, seconds))

    def test_text_alone_has_one_position_on_all_axes(self):
        for model in MODELS:
            with self.subTest(model):
                self.check({"preset": model, "text": 50}, np.tile(np.arange(50), (3, 1)))
