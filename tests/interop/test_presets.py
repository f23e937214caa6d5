"""Presets are what the libraries compute that they are named after.

Each function is the library's recipe in a few lines of numpy and in double; where the library
itself works in double and stores float32, the float32 bits agree as well.
"""

import numpy as np

from service import REAL, ServiceTest

LENGTH, DIM = 300, 48


def sin_cos(positions, frequencies):
    angles = np.asarray(positions, float)[:, None] * frequencies[None, :]
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)


def vaswani(positions, dim):
    """The paper, section 3.5."""
    table = np.empty((len(positions), dim))
    for i in range(dim // 2):
        angle = np.asarray(positions, float) / 10000 ** (2 * i / dim)
        table[:, 2 * i], table[:, 2 * i + 1] = np.sin(angle), np.cos(angle)
    return table


def tensor2tensor(positions, dim):
    """get_timing_signal_1d: sines, cosines, and a zero column where channels are odd."""
    timescales = dim // 2
    increment = np.log(1.0e4 / 1.0) / max(timescales - 1, 1)
    signal = sin_cos(positions, 1.0 * np.exp(np.arange(timescales) * -increment))
    return np.pad(signal, ((0, 0), (0, dim % 2)))


def fairseq(positions, dim):
    """SinusoidalPositionalEmbedding.get_embedding, the rows from padding_idx + 1 on."""
    half = dim // 2
    table = sin_cos(positions, np.exp(np.arange(half) * -(np.log(10000) / (half - 1))))
    return np.hstack([table, np.zeros((len(positions), dim % 2))])


def whisper(positions, dim):
    """whisper.model.sinusoids."""
    return sin_cos(positions, np.exp(-np.log(10000) / (dim // 2 - 1) * np.arange(dim // 2)))


def marian(positions, dim):
    """MarianSinusoidalPositionalEmbedding: even columns' sines first, then odd ones'
    cosines."""
    columns = np.arange(dim)
    angles = np.asarray(positions, float)[:, None] / np.power(10000, 2 * (columns // 2) / dim)
    return np.hstack([np.sin(angles[:, 0::2]), np.cos(angles[:, 1::2])])


def transformer_xl(positions, dim):
    """PositionalEmbedding of Transformer-XL."""
    return sin_cos(positions, 1 / (10000 ** (np.arange(0.0, dim, 2.0) / dim)))


def seed_cls(positions, dim):
    """Every column at its own exponent; the row of position 0 is left for a class token."""
    columns = np.arange(dim)
    angles = np.asarray(positions, float)[:, None] / np.power(10000, 2 * columns / dim)
    table = np.where(columns % 2 == 0, np.sin(angles), np.cos(angles))
    table[np.asarray(positions) == 0] = 0
    return table


def timesteps(times, dim, cosines_first=True, shift=0, scale=1):
    """get_timestep_embedding of diffusers."""
    half = dim // 2
    angles = scale * (
        np.asarray(times, float)[:, None]
        * np.exp(-np.log(10000) * np.arange(half) / (half - shift))
    )
    parts = (
        [np.cos(angles), np.sin(angles)] if cosines_first else [np.sin(angles), np.cos(angles)]
    )
    return np.pad(np.concatenate(parts, axis=1), ((0, 0), (0, dim % 2)))


def mae(height, width, dim, extra=0, rows=None, columns=None):
    """get_2d_sincos_pos_embed of MAE: its first half of channels follows the column."""
    rows = np.arange(height, dtype=float) if rows is None else rows
    columns = np.arange(width, dtype=float) if columns is None else columns
    first, second = np.meshgrid(columns, rows)
    omega = 1.0 / 10000 ** (np.arange(dim // 4) / (dim / 4.0))
    table = np.hstack([sin_cos(first.ravel(), omega), sin_cos(second.ravel(), omega)])
    return np.vstack([np.zeros((extra, dim)), table])


def simple_vit(height, width, dim):
    """posemb_sincos_2d of vit-pytorch and of big_vision."""
    rows, columns = np.meshgrid(np.arange(height), np.arange(width), indexing="ij")
    omega = 1.0 / 10000 ** (np.arange(dim // 4) / (dim // 4 - 1))
    return np.hstack([sin_cos(columns.ravel(), omega), sin_cos(rows.ravel(), omega)])


def timm(height, width, dim, interleave_sin_cos=False):
    """build_sincos2d_pos_embed of timm."""
    bands = 1.0 / 10000.0 ** (np.arange(dim // 4) / (dim // 4))
    rows, columns = np.meshgrid(np.arange(height), np.arange(width), indexing="ij")
    grid = np.stack([rows.ravel(), columns.ravel()], axis=1)  # [cells, 2]
    angles = grid[:, :, None] * bands  # [cells, 2, dim/4]
    stacked = np.stack([np.sin(angles), np.cos(angles)], axis=2 if interleave_sin_cos else 1)
    return stacked.reshape(height * width, dim)


def detr(height, width, dim, middle=0.0, temperature=10000):
    """DetrSinePositionEmbedding without a mask, and its kin."""
    half = dim // 2
    periods = temperature ** (2 * (np.arange(half) // 2) / half)

    def axis(count):
        embedded = (np.arange(1, count + 1) - middle) / (count + 1e-6) * (2 * np.pi)
        angles = embedded[:, None] / periods
        return np.stack([np.sin(angles[:, 0::2]), np.cos(angles[:, 1::2])], 2).reshape(
            count, half
        )

    rows = np.broadcast_to(axis(height)[:, None, :], (height, width, half))
    columns = np.broadcast_to(axis(width)[None, :, :], (height, width, half))
    return np.concatenate([rows, columns], axis=2).transpose(2, 0, 1)


def rt_detr(height, width, dim):
    """build_2d_sincos_position_embedding of RT-DETR: sines and cosines of y, then those of
    x."""
    omega = 1.0 / 10000 ** (np.arange(dim // 4) / (dim // 4))
    rows, columns = np.meshgrid(np.arange(height), np.arange(width), indexing="ij")
    return np.hstack([sin_cos(rows.ravel(), omega), sin_cos(columns.ravel(), omega)])


def pixart(height, width, dim):
    """get_2d_sincos_pos_embed of diffusers with base_size 64 and interpolation_scale 2."""
    return mae(
        height,
        width,
        dim,
        rows=np.arange(height) / (height / 64) / 2,
        columns=np.arange(width) / (width / 64) / 2,
    )


def sd3(height, width, dim):
    """The middle of a grid of 192 by 192 cells with base_size 64."""

    def cut(count):
        return np.arange((192 - count) // 2, (192 - count) // 2 + count) / (192 / 64)

    return mae(height, width, dim, rows=cut(height), columns=cut(width))


SCALES = {"flux": 1000}  # what a preset multiplies positions by
SEQUENCES = {
    "vaswani": vaswani,
    "tensor2tensor": tensor2tensor,
    "fairseq": fairseq,
    "whisper": whisper,
    "marian": marian,
    "transformer_xl": transformer_xl,
    "seed_cls": seed_cls,
    "ddpm": lambda times, dim: timesteps(times, dim, cosines_first=False, shift=1),
    "dit": timesteps,
    "sd3": timesteps,
    "ggml": timesteps,
    "flux": lambda times, dim: timesteps(times, dim, scale=1000),
}
GRIDS = {
    "mae": mae,
    "timm": timm,
    "timm_interleaved": lambda h, w, dim: timm(h, w, dim, interleave_sin_cos=True),
    "detr": detr,
    "rt_detr": rt_detr,
    "pixart": pixart,
    "sd3": sd3,
    "deformable_detr": lambda h, w, dim: detr(h, w, dim, middle=0.5),
    "dab_detr": lambda h, w, dim: detr(h, w, dim, temperature=20),
    "simple_vit": simple_vit,
    "big_vision": simple_vit,
}


class PresetTest(ServiceTest):
    def assert_close(self, scheme, options, want, positions):
        """Within the error that double arithmetic makes in the library's angles."""
        got = self.bits(scheme, {**options, "dtype": "f64"}).view(REAL["f64"])
        self.assertEqual(got.shape, want.shape)
        bound = 2.0**-50 + 2.0**-49 * np.max(np.abs(positions))
        self.assertLessEqual(np.abs(got - want).max(), bound, options)

    def assert_equal_in_f32(self, scheme, options, want):
        got = self.bits(scheme, {**options, "dtype": "f32"}).view(REAL["f32"])
        np.testing.assert_array_equal(got, want.astype(np.float32), str(options))

    def test_every_preset_has_its_library_here(self):
        presets = {
            scheme["name"]: {preset["name"] for preset in scheme["presets"]}
            for scheme in self.schemes()
        }
        self.assertEqual(presets["sinusoidal"], set(SEQUENCES))
        self.assertEqual(presets["sinusoidal_2d"], set(GRIDS))

    def test_sequence_presets_are_the_libraries_tables(self):
        for name, recipe in SEQUENCES.items():
            for dim in (4, DIM, 512):
                for offset in (0, 2, 5000):
                    positions = np.arange(offset, offset + LENGTH)
                    with self.subTest(preset=name, dim=dim, offset=offset):
                        self.assert_close(
                            "sinusoidal",
                            {"preset": name, "dim": dim, "length": LENGTH, "offset": offset},
                            recipe(positions, dim),
                            positions * SCALES.get(name, 1),
                        )

    def test_odd_widths_follow_the_libraries_that_have_them(self):
        positions = np.arange(LENGTH)
        for name, more in (
            ("tensor2tensor", {}),
            ("fairseq", {}),
            ("marian", {"odd_dim": "truncate"}),
        ):
            options = {"preset": name, "dim": 31, "length": LENGTH, **more}
            self.assert_close("sinusoidal", options, SEQUENCES[name](positions, 31), positions)

    def test_grid_presets_are_the_libraries_tables(self):
        for name, recipe in GRIDS.items():
            for height, width, dim in ((14, 14, 64), (3, 7, 8), (16, 9, 192)):
                with self.subTest(preset=name, height=height, width=width, dim=dim):
                    self.assert_close(
                        "sinusoidal_2d",
                        {"preset": name, "height": height, "width": width, "dim": dim},
                        recipe(height, width, dim),
                        [max(height, width)],
                    )

    def test_what_the_library_computes_in_double_is_the_same_after_rounding(self):
        positions = np.arange(512)
        self.assert_equal_in_f32(
            "sinusoidal",
            {"preset": "marian", "dim": 512, "length": 512},
            marian(positions, 512),
        )
        self.assert_equal_in_f32(
            "sinusoidal_2d",
            {"preset": "mae", "height": 14, "width": 14, "dim": 192, "extra_tokens": 1},
            mae(14, 14, 192, extra=1),
        )

    def test_an_explicit_parameter_stands_above_the_preset(self):
        plain = self.bits("sinusoidal", {"dim": 8, "length": 5, "layout": "concat"})
        over = self.bits(
            "sinusoidal", {"dim": 8, "length": 5, "preset": "whisper", "frequencies": "vaswani"}
        )
        np.testing.assert_array_equal(over, plain)


class TorchscaleTest(ServiceTest):
    def test_xpos_is_that_of_torchscale(self):
        """XPOS.forward of xpos_relative_position.py, for queries and downscaled keys."""
        for n, dim in ((40, 12), (33, 64), (1, 2)):
            least = -n // 2
            base = (np.arange(0, dim, 2) + 0.4 * dim) / (1.4 * dim)
            scale = base ** (np.arange(least, n + least) / 512)[:, None]
            angle = np.arange(n)[:, None] * 10000.0 ** (-np.arange(dim // 2) / (dim // 2))
            for name, wave, factor in (
                ("q_cos", np.cos, scale),
                ("q_sin", np.sin, scale),
                ("k_cos", np.cos, 1 / scale),
                ("k_sin", np.sin, 1 / scale),
            ):
                got = self.bits(
                    "xpos",
                    {
                        "length": n,
                        "dim": dim,
                        "centre": (n + 1) // 2,
                        "table": "full",
                        "tensor": name,
                        "dtype": "f64",
                    },
                )
                want = np.repeat(wave(angle) * factor, 2, axis=-1)
                np.testing.assert_allclose(got.view(REAL["f64"]), want, rtol=0, atol=1e-14)
