"""format=png: every pixel has the colour that its element's value demands."""

import math
import unittest
from fractions import Fraction

from decode import elements
from png import read_png
from server import ServerCase

ENCODINGS = "/v1/encodings"
# scheme and query, and the slice: the indices of the leading axes, None for a matrix
MATRICES = [
    ("sinusoidal?length=9&dim=6", None),
    ("sinusoidal?length=1500&dim=2&dtype=f16", None),
    ("sinusoidal?length=2&dim=2200&dtype=f64", None),
    ("sinusoidal?length=5&dim=8&dtype=bf16&amplitude=1e30", None),
    ("sinusoidal?length=5&dim=8&dtype=f64&amplitude=1e-321", None),
    ("integer?length=40&offset=-7", None),
    ("integer?positions=9007199254740992,-9007199254740992,1&dtype=f64", None),
    ("integer?length=5&step=0", None),  # equal elements
    ("integer?length=5&step=0&offset=3", None),
    ("alibi?length=7&heads=4&mask=causal", [0]),
    ("alibi?length=7&heads=4&mask=causal", [3]),
    ("alibi?length=70&heads=2&query_length=3&dtype=f64", [1]),
    ("rope?length=5&dim=8&tensor=inv_freq", None),  # a vector: one row
    ("rotation_matrix?length=4&dim=6", [2]),
]


def level(value, end, steps):
    """value / end as the nearest of `steps` equal steps, in rational numbers."""
    return math.floor(Fraction(value) * steps / end + Fraction(1, 2))


def picture_of(numbers, colormap):
    """The palette indices of the specification, api/reference/formats.md."""
    finite = [Fraction(number) for number in numbers if math.isfinite(number)]
    largest = max(map(abs, finite))
    low, high = min(finite), max(finite)

    def index(number):
        if not math.isfinite(number):
            return 0
        if colormap == "diverging":
            step = level(abs(number), largest, 127) if largest else 0
            return 128 + (step if number >= 0 else -step)
        return 1 + level(Fraction(number) - low, high - low, 254) if high > low else 128

    return [index(number) for number in numbers]


class Pictures(ServerCase):
    def raw(self, target):
        reply = self.assert_ok(self.get(f"{ENCODINGS}/{target}&format=raw"))
        shape = [int(extent) for extent in reply.header("Tensor-Shape").split(", ")]
        return shape, elements(reply.header("Tensor-Dtype"), reply.body)

    def matrix(self, target, indices):
        shape, numbers = self.raw(target)
        rows, columns = [1, *shape][-2:]
        first = 0
        for axis, index in enumerate(indices or []):
            first = first * shape[axis] + index
        return rows, columns, numbers[first * rows * columns :][: rows * columns]

    def check(self, target, indices, colormap, scale):
        options = f"&format=png&colormap={colormap}&scale={scale}"
        if indices:
            options += f"&slice={','.join(map(str, indices))}"
        reply = self.assert_ok(self.get(f"{ENCODINGS}/{target}{options}"), "image/png")
        pixels = read_png(reply.body)[0]
        rows, columns, numbers = self.matrix(target, indices)
        expected = picture_of(numbers, colormap)
        self.assertEqual(len(pixels), rows * scale)
        for row in range(rows):
            of_row = expected[row * columns : (row + 1) * columns]
            line = bytes(index for index in of_row for _ in range(scale))
            for pixel_row in pixels[row * scale : (row + 1) * scale]:
                self.assertEqual(pixel_row, line, (target, options, row))

    def test_every_pixel_is_the_one_of_its_element(self):
        for target, indices in MATRICES:
            for colormap in ("diverging", "viridis", "gray"):
                with self.subTest(target, colormap=colormap):
                    self.check(target, indices, colormap, 1)
        for scale in (2, 3, 16):
            self.check(*MATRICES[0], "diverging", scale)
            self.check(*MATRICES[9], "viridis", scale)

    def test_similarities_are_pictures(self):
        target = "/v1/similarity/sinusoidal?length=30&dim=8&metric=cosine"
        reply = self.assert_ok(self.get(f"{target}&format=png&colormap=gray"), "image/png")
        raw = self.get(f"{target}&format=raw")
        expected = picture_of(elements("f32", raw.body), "gray")
        self.assertEqual(b"".join(read_png(reply.body)[0]), bytes(expected))

    def test_palettes_are_what_they_are_called(self):
        palettes = {}
        for colormap in ("diverging", "viridis", "gray"):
            reply = self.get(f"{ENCODINGS}/integer?length=2&format=png&colormap={colormap}")
            _, palette, opacities, texts = read_png(reply.body)
            self.assertEqual((len(palette), opacities[0]), (256, 0))
            self.assertTrue(all(opacity == 255 for opacity in opacities[1:]))
            self.assertEqual(palette[0], (255, 0, 255))
            self.assertEqual(texts["Colormap"], colormap)
            palettes[colormap] = palette[1:]
        self.assertEqual(palettes["gray"], [(round(i * 255 / 254),) * 3 for i in range(255)])
        # entries of matplotlib's table of 256 at 0, 63.75, 127.5, 191.25 and 255, about
        for entry, color in (
            (0, (68, 1, 84)),
            (64, (59, 82, 139)),
            (127, (33, 145, 140)),
            (190, (92, 200, 99)),
            (254, (253, 231, 37)),
        ):
            for ours, theirs in zip(palettes["viridis"][entry], color):
                self.assertLessEqual(abs(ours - theirs), 3, entry)
        diverging = palettes["diverging"]
        self.assertEqual(diverging[127], (250, 250, 250))
        for step in range(1, 128):  # blue below, red above, darker outward, alike on both sides
            below, above = diverging[127 - step], diverging[127 + step]
            self.assertGreater(below[2], below[0])
            self.assertGreater(above[0], above[2])
            weight = [0.299 * c[0] + 0.587 * c[1] + 0.114 * c[2] for c in (below, above)]
            self.assertLess(abs(weight[0] - weight[1]), 25, step)
        lightness = [sum(color) for color in diverging]
        self.assertEqual(lightness[:128], sorted(lightness[:128]))
        self.assertEqual(lightness[127:], sorted(lightness[127:], reverse=True))

    def test_the_file_says_its_range(self):
        ranges = {
            "integer?length=3&offset=-5": "-5, 5",
            "integer?length=3&offset=-5&colormap=gray": "-5, -3",
            "alibi?length=3&heads=1&mask=causal&slice=0&colormap=viridis": "-0.0078125, 0",
        }
        for target, text in ranges.items():
            reply = self.get(f"{ENCODINGS}/{target}&format=png")
            self.assertEqual(read_png(reply.body)[3]["Range"], text)

    def test_conditions_heads_and_names(self):
        target = f"{ENCODINGS}/alibi?length=8&heads=2&format=png&slice=1&scale=3"
        first = self.assert_ok(self.get(target), "image/png")
        second = self.assert_ok(self.get(target), "image/png")
        self.assertEqual(first.body, second.body)
        self.assertIn("hit", second.header("Cache-Status"))
        name = first.header("Content-Disposition")
        self.assertIn('filename="alibi_bias_2x8x8_f32_', name)
        other = self.get(target.replace("scale=3", "scale=2"))
        self.assertNotEqual(other.header("Content-Disposition"), name)
        self.assertIsNone(first.header("Accept-Ranges"))
        whole = self.assert_ok(self.get(target, {"Range": "bytes=0-3"}), "image/png")
        self.assertEqual(whole.body, first.body)
        tag = {"If-None-Match": first.header("ETag")}
        self.assertEqual(self.get(target, tag).status, 304)
        self.assertEqual(self.get(f"{target}&colormap=diverging", tag).status, 304)
        for other in (
            target.replace("slice=1", "slice=0"),
            f"{target}&colormap=gray",
            target.replace("scale=3", "scale=4"),
        ):
            reply = self.assert_ok(self.get(other, tag), "image/png")
            self.assertNotEqual(reply.body, first.body)
        computed = self.server.computed()
        head = self.head(target.replace("length=8", "length=9"))
        self.assertEqual((head.status, head.header("Content-Length")), (200, None))
        self.assertEqual(self.server.computed(), computed)

    def test_post_draws_the_same(self):
        document = {
            "length": 8,
            "heads": 2,
            "format": "png",
            "slice": [1],
            "scale": 3,
            "colormap": "gray",
        }
        posted = self.assert_ok(self.post(f"{ENCODINGS}/alibi", document), "image/png")
        target = f"{ENCODINGS}/alibi?length=8&heads=2&format=png&slice=1&scale=3&colormap=gray"
        self.assertEqual(posted.body, self.get(target).body)
        for name, wrong in (("slice", 1), ("scale", "3"), ("colormap", 3), ("scale", [3])):
            reply = self.post(f"{ENCODINGS}/alibi", {**document, name: wrong})
            self.assert_problem(reply, 400, name)

    def test_an_image_element_gets_a_picture_where_there_is_one(self):
        accept = {"Accept": "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8"}
        target = f"{ENCODINGS}/sinusoidal?length=8&dim=8&colormap=viridis"
        self.assert_ok(self.get(target, accept), "image/png")
        cube = f"{ENCODINGS}/alibi?length=8&heads=2"
        self.assert_ok(self.get(cube, accept), "application/json")
        self.assert_ok(self.get(f"{cube}&slice=0", accept), "image/png")


class Refusals(ServerCase):
    flags = ("--png-max-pixels", "4096")

    def test_what_cannot_be_drawn_is_a_problem(self):
        cases = {
            "alibi?length=8&heads=2&format=png": (422, "slice"),
            "alibi?length=8&heads=2&format=png&slice=2": (422, "slice"),
            "alibi?length=8&heads=2&format=csv&slice=2": (422, "slice"),
            "alibi?length=8&heads=2&format=png&slice=0,0": (422, "slice"),
            "alibi?length=8&heads=2&format=png&slice=0,0,0": (422, "slice"),
            "alibi?length=8&heads=2&format=png&slice=-1": (422, "slice"),
            "alibi?length=8&heads=2&format=png&slice=0.5": (400, "slice"),
            "sinusoidal?length=8&dim=8&format=png&slice=0": (422, "slice"),
            "sinusoidal?length=8&dim=8&format=png&scale=0": (422, "scale"),
            "sinusoidal?length=8&dim=8&format=png&scale=17": (422, "scale"),
            "sinusoidal?length=8&dim=8&format=png&scale=2&scale=2": (400, "scale"),
            "sinusoidal?length=8&dim=8&format=png&colormap=jet": (400, "colormap"),
            "sinusoidal?length=8&dim=8&format=png&scale=9": (422, "format"),
            "sinusoidal?length=1e7&dim=1e3&format=png": (422, "format"),
            "sinusoidal?length=8&dim=8&scale=2": (400, "scale"),
            "sinusoidal?length=8&dim=8&format=npy&colormap=gray": (400, "colormap"),
            "sinusoidal?length=8&dim=8&format=csv&scale=2": (400, "scale"),
            "alibi?length=8&heads=2&slice=0": (400, "slice"),
        }
        for target, (status, parameter) in cases.items():
            with self.subTest(target):
                reply = self.get(f"{ENCODINGS}/{target}")
                self.assert_problem(reply, status, parameter)
                self.assertEqual(self.head(f"{ENCODINGS}/{target}").status, status)

    def test_at_the_limit_there_is_a_picture(self):
        target = f"{ENCODINGS}/sinusoidal?length=8&dim=8&format=png&scale=8"
        self.assertEqual(len(read_png(self.assert_ok(self.get(target)).body)[0]), 64)

    def test_an_unacceptable_picture_is_refused_with_its_reason(self):
        accept = {"Accept": "image/png"}
        self.assert_problem(
            self.get(f"{ENCODINGS}/alibi?length=8&heads=2", accept), 422, "slice"
        )
        reply = self.get(f"{ENCODINGS}/sinusoidal?length=80&dim=80", accept)
        self.assertIn("4096 pixels", self.assert_problem(reply, 406)["detail"])

    def test_misspelt_options_and_choices_are_suggested(self):
        target = f"{ENCODINGS}/sinusoidal?length=8&dim=8&format=png"
        for wrong, right in (
            ("colourmap=gray", "colormap"),
            ("scales=2", "scale"),
            ("colormap=virids", "viridis"),
        ):
            problem = self.assert_problem(self.get(f"{target}&{wrong}"), 400)
            self.assertEqual(problem["errors"][0]["did_you_mean"], right)

    def test_every_wrong_option_is_told_at_once(self):
        reply = self.get(f"{ENCODINGS}/sinusoidal?dim=8&format=png&scale=0&colormap=jet")
        self.assert_problem(reply, 400, "length", "scale", "colormap")


class Large(ServerCase):
    flags = ("--cache-bytes", "64KiB")  # tables above 16 KiB are streamed

    def test_a_slice_of_a_table_that_is_not_held(self):
        target = f"{ENCODINGS}/alibi?length=64&heads=8&mask=causal"
        reply = self.get(f"{target}&format=png&slice=5")
        self.assertIn("streamed", reply.header("Cache-Status"))
        raw = self.get(f"{target}&format=raw")
        numbers = elements("f32", raw.body)[5 * 4096 : 6 * 4096]
        expected = bytes(picture_of(numbers, "diverging"))
        self.assertEqual(b"".join(read_png(reply.body)[0]), expected)


if __name__ == "__main__":
    unittest.main()
