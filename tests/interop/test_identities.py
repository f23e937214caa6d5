"""What holds between answers: windows, lists, signs, shifts, rotations, grids."""

import itertools
import random

import numpy as np

from service import REAL, ServiceTest, example_document, parameter, query_text

WINDOWS = (
    (0, 1),
    (1, 63),
    (60, 10),
    (64, 64),
    (127, 2),
    (128, 99),
    (130, 170),
)  # offset, length
WHOLE = 300


def free_options(scheme):
    """A small legal request without its positions, with as many columns at every length."""
    options = example_document(scheme)
    options.pop("length", None)
    if parameter(scheme, "width"):
        options["width"] = 24
    if parameter(scheme, "dim"):
        options["dim"] = 70  # more than one chunk of frequencies
    if "base_length" in options:
        options["base_length"] = 2**12  # its square is beyond every window
    options.pop("tokens", None)  # one for each row
    return options


class WindowTest(ServiceTest):
    def each(self):
        """Every position-indexed scheme in every dtype."""
        schemes = [scheme for scheme in self.schemes() if parameter(scheme, "offset")]
        self.assertGreaterEqual(len(schemes), 4)
        for scheme in schemes:
            for dtype in parameter(scheme, "dtype")["choices"]:
                yield scheme["name"], {**free_options(scheme), "dtype": dtype}

    def has_rows_below_0(self, name, options):
        target = f"/v1/encodings/{name}?{query_text({**options, 'length': 1, 'offset': -1})}"
        reply = self.request("GET", target)
        self.assertIn(reply.status, (200, 422))
        return reply.status == 200

    def assert_windows_are_slices(self, name, options, start=0, step=1):
        """Steps are dyadic: every offset is exact."""
        options = {**options, "step": step}
        whole = self.bits(name, {**options, "length": WHOLE, "offset": start})
        for offset, length in WINDOWS:
            first = start + offset * step
            window = self.bits(name, {**options, "length": length, "offset": first})
            np.testing.assert_array_equal(
                window,
                whole[offset : offset + length],
                f"{name} {options} rows {offset} and {length} more",
            )

    def test_a_window_has_the_bits_of_that_slice_of_the_whole(self):
        for name, options in self.each():
            self.assert_windows_are_slices(name, options)

    def test_a_far_window_has_the_bits_of_that_slice_of_the_whole(self):
        for name, options in self.each():
            start = 16000 if options["dtype"] == "f16" else 2**22 - 128
            if name in ("floater", "xpos"):
                start = 900  # these grow until a dtype does not hold them
            self.assert_windows_are_slices(name, options, start)

    def test_fractional_and_negative_windows_are_slices_too(self):
        tried = 0
        for name, options in self.each():
            if self.has_rows_below_0(name, options):
                tried += 1
                for start, step in (
                    (-150.0, 1.0),
                    (-20.25, 0.125),
                    (-3.0, 1 / 64),
                    (9.5, -0.5),
                ):
                    self.assert_windows_are_slices(name, options, start, step)
        self.assertGreater(tried, 8)

    def test_every_other_row_is_a_step_of_two(self):
        for name, options in self.each():
            whole = self.bits(name, {**options, "length": WHOLE})
            for step in (2, 7):
                rows = self.bits(name, {**options, "length": 40, "offset": 3, "step": step})
                np.testing.assert_array_equal(rows, whole[3 : 3 + 40 * step : step], name)
            back = self.bits(
                name, {**options, "length": WHOLE, "offset": WHOLE - 1, "step": -1}
            )
            np.testing.assert_array_equal(back, whole[::-1], name)

    def test_a_list_of_positions_has_the_bits_of_the_window(self):
        rng = random.Random(21)
        for name, options in self.each():
            whole = self.bits(name, {**options, "length": WHOLE})
            for count in (1, 20, 200):
                rows = [rng.randrange(WHOLE) for _ in range(count)]
                listed = self.bits(name, {**options, "positions": rows})
                np.testing.assert_array_equal(listed, whole[rows], f"{name} {options}")
            if self.has_rows_below_0(name, options):
                window = self.bits(
                    name, {**options, "length": 90, "offset": -20.25, "step": 0.375}
                )
                listed = self.bits(
                    name, {**options, "positions": [-20.25 + row * 0.375 for row in range(90)]}
                )
                np.testing.assert_array_equal(listed, window, f"{name} {options}")


class TrigonometryTest(ServiceTest):
    PLACES = (
        {"offset": 0},
        {"offset": 10**6},
        {"offset": 2**47},
        {"offset": -300},
        {"offset": -17.25, "step": 0.1},
        {"offset": 0.6875, "step": 1 / 3},
    )

    def pairs(self, options):
        """Sines and cosines [rows, 8] in f64."""
        bits = self.bits(
            "sinusoidal",
            {"dim": 16, "length": 200, "layout": "concat", "dtype": "f64", **options},
        )
        return np.split(bits.view(REAL["f64"]), 2, axis=1)

    def test_sines_and_cosines_lie_on_the_unit_circle(self):
        for place in self.PLACES:
            sine, cosine = (part.astype(np.longdouble) for part in self.pairs(place))
            error = np.abs(sine * sine + cosine * cosine - 1).max()
            self.assertLessEqual(error, 2.0**-50, place)

    def test_a_shift_is_a_rotation_by_the_shifts_own_row(self):
        for place in self.PLACES:
            for shift in (1, 63, 1000):
                sine, cosine = (p.astype(np.longdouble) for p in self.pairs(place))
                by_sine, by_cosine = (
                    p.astype(np.longdouble) for p in self.pairs({"offset": shift, "length": 1})
                )
                there = self.pairs({**place, "offset": place["offset"] + shift})
                for got, want in zip(
                    (sine * by_cosine + cosine * by_sine, cosine * by_cosine - sine * by_sine),
                    there,
                ):
                    self.assertLessEqual(np.abs(got - want).max(), 2.0**-48, (place, shift))

    def test_sines_are_odd_and_cosines_even_bit_for_bit(self):
        rng = random.Random(22)
        positions = [rng.uniform(0, 2.0 ** rng.randint(-10, 50)) for _ in range(60)] + [
            1,
            64,
            1e9,
        ]
        for dtype, sign in (("f32", 1 << 31), ("f16", 1 << 15), ("bf16", 1 << 15)):
            options = {"dim": 16, "layout": "concat", "dtype": dtype}
            there = self.bits("sinusoidal", {**options, "positions": positions})
            back = self.bits("sinusoidal", {**options, "positions": [-p for p in positions]})
            np.testing.assert_array_equal(there[:, 8:], back[:, 8:])
            np.testing.assert_array_equal(
                np.where(there[:, :8] == 0, 0, there[:, :8] ^ np.array(sign, there.dtype)),
                back[:, :8],
            )

    def test_layouts_are_permutations_of_the_same_columns(self):
        options = {"dim": 16, "length": 100}
        interleaved = self.bits("sinusoidal", options)
        concat = self.bits("sinusoidal", {**options, "layout": "concat"})
        flipped = self.bits("sinusoidal", {**options, "layout": "concat_cos_first"})
        np.testing.assert_array_equal(
            concat, np.hstack([interleaved[:, 0::2], interleaved[:, 1::2]])
        )
        np.testing.assert_array_equal(
            flipped, np.hstack([interleaved[:, 1::2], interleaved[:, 0::2]])
        )

    def test_geometric_periodic_columns_are_the_sines_of_twice_the_width(self):
        periodic = self.bits("periodic", {"dim": 8, "length": 50, "frequencies": "geometric"})
        sinusoidal = self.bits("sinusoidal", {"dim": 16, "length": 50})
        np.testing.assert_array_equal(periodic, sinusoidal[:, 0::2])

    def test_odd_dims_are_a_column_more_or_less(self):
        for layout in ("interleaved", "concat", "concat_cos_first"):
            options = {"length": 30, "layout": layout}
            even = self.bits("sinusoidal", {**options, "dim": 8})
            padded = self.bits("sinusoidal", {**options, "dim": 9, "odd_dim": "pad"})
            np.testing.assert_array_equal(padded, np.pad(even, ((0, 0), (0, 1))))
            for choice in ("pad", "truncate"):
                same = self.bits("sinusoidal", {**options, "dim": 8, "odd_dim": choice})
                np.testing.assert_array_equal(same, even)

    def test_a_zero_first_row_belongs_to_position_0_wherever_it_stands(self):
        for options in (
            {"length": 6},
            {"length": 6, "offset": -2},
            {"length": 3, "offset": 1},
            {"positions": [5, 0, 0.5, 0]},
            {"length": 9, "offset": -1, "step": 0.25},
        ):
            plain = self.bits("sinusoidal", {"dim": 8, **options})
            kept = self.bits("sinusoidal", {"dim": 8, "zero_first_row": True, **options})
            at_origin = self.bits("integer", options)[:, 0] == 0
            np.testing.assert_array_equal(kept, np.where(at_origin[:, None], 0, plain))


class GridTest(ServiceTest):
    HEIGHT, WIDTH, DIM = 3, 5, 16

    def axis(self, extent, layout, dtype):
        return self.bits(
            "sinusoidal",
            {"length": extent, "dim": self.DIM // 2, "layout": layout, "dtype": dtype},
        )

    def expected(self, layout, order, grouping, shape, dtype):
        """[height, width, dim] of two 1-D tables, moved to the shape asked for."""
        x = np.broadcast_to(
            self.axis(self.WIDTH, layout, dtype)[None, :, :],
            (self.HEIGHT, self.WIDTH, self.DIM // 2),
        )
        y = np.broadcast_to(self.axis(self.HEIGHT, layout, dtype)[:, None, :], x.shape)
        axes = (x, y) if order == "width_first" else (y, x)
        if grouping == "function":
            axes = [
                half
                for part in (0, 1)
                for half in (
                    np.split(axes[0], 2, axis=2)[part],
                    np.split(axes[1], 2, axis=2)[part],
                )
            ]
        cells = np.concatenate(axes, axis=2)
        return {
            "hwc": cells,
            "chw": np.moveaxis(cells, 2, 0),
            "nc": cells.reshape(-1, self.DIM),
        }[shape]

    def test_a_grid_is_two_tables_of_half_the_width_laid_out_by_numpy(self):
        for layout, order, grouping, shape, dtype in itertools.product(
            ("interleaved", "concat"),
            ("width_first", "height_first"),
            ("axis", "function"),
            ("chw", "hwc", "nc"),
            ("f32", "f64", "f16", "bf16"),
        ):
            if grouping == "function" and layout != "concat":
                continue
            options = {
                "height": self.HEIGHT,
                "width": self.WIDTH,
                "dim": self.DIM,
                "layout": layout,
                "axis_order": order,
                "grouping": grouping,
                "shape": shape,
                "dtype": dtype,
            }
            with self.subTest(**options):
                np.testing.assert_array_equal(
                    self.bits("sinusoidal_2d", options),
                    self.expected(layout, order, grouping, shape, dtype),
                )

    def test_extra_tokens_are_zero_rows_before_the_cells(self):
        options = {"height": self.HEIGHT, "width": self.WIDTH, "dim": self.DIM, "shape": "nc"}
        plain = self.bits("sinusoidal_2d", options)
        more = self.bits("sinusoidal_2d", {**options, "extra_tokens": 2})
        np.testing.assert_array_equal(more, np.pad(plain, ((2, 0), (0, 0))))
