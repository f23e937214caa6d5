"""Laws that are published and seldom: /v1/identify must name them, in every dtype."""

import numpy

from float32 import power
from identify_case import IdentifyCase
from strange_forms import bf16
from test_compare import RAW, npy

F = numpy.float32
DTYPES = ("f4", "f2", "bf16")


def endpoint_grid(height, width, dim, temperature=10000.0, real=F):
    """posemb_sincos_2d of vit-pytorch's simple_vit and of big_vision."""
    rows, columns = numpy.meshgrid(numpy.arange(height), numpy.arange(width), indexing="ij")
    exponents = numpy.arange(dim // 4).astype(real) / real(dim // 4 - 1)
    omega = real(1) / (
        real(temperature) ** exponents if real is not F else power(F(temperature), exponents)
    )
    parts = [axis.ravel()[:, None].astype(real) * omega for axis in (columns, rows)]
    return numpy.concatenate(
        [function(part) for part in parts for function in (numpy.sin, numpy.cos)], 1
    )


def endpoint_volume(depth, height, width, dim, temperature=10000.0):
    """posemb_sincos_3d of vit-pytorch's simple_vit_3d."""
    axes = numpy.meshgrid(*map(numpy.arange, (depth, height, width)), indexing="ij")
    omega = F(1) / power(F(temperature), numpy.arange(dim // 6, dtype=F) / F(dim // 6 - 1))
    parts = [axis.ravel()[:, None].astype(F) * omega for axis in axes[::-1]]
    return numpy.concatenate(
        [function(part) for part in parts for function in (numpy.sin, numpy.cos)], 1
    )


def diffwave(steps, dim, real=F):
    """DiffusionEmbedding of DiffWave and CSDI: frequencies from 1 to 10^4."""
    rates = power(F(10), numpy.arange(dim // 2, dtype=F) * F(4) / F(dim // 2 - 1))
    if real is not F:
        rates = 10 ** (numpy.arange(dim // 2) * 4 / (dim // 2 - 1))
    table = numpy.asarray(steps, real)[:, None] * rates
    return numpy.concatenate([numpy.sin(table), numpy.cos(table)], 1)


def framediff(length, dim):
    """get_index_embedding of FrameDiff: half turns, and the longest chain as base."""
    pairs = numpy.arange(dim // 2).astype(F)
    angles = numpy.arange(length).astype(F)[:, None] * F(numpy.pi)
    angles = angles / power(F(2056), F(2) * pairs[None] / F(dim))
    return numpy.concatenate([numpy.sin(angles), numpy.cos(angles)], 1)


def aurora(hours, dim, least=1 / 60, most=504.0):
    """Aurora's FourierExpansion of lead times, in float64: wavelengths from one to another."""
    wavelengths = numpy.logspace(numpy.log10(least), numpy.log10(most), dim // 2)
    angles = numpy.asarray(hours, float)[:, None] * 2 * numpy.pi / wavelengths
    return numpy.concatenate([numpy.sin(angles), numpy.cos(angles)], 1)


def rotary(length, dim, theta=10000.0, factor=1.0):
    """Angles of rotary tables in float32, [length, dim / 2]."""
    inverse = F(1) / power(F(theta), numpy.arange(0, dim, 2, dtype=F) / F(dim)) / F(factor)
    return numpy.arange(length, dtype=F)[:, None] * inverse


def perceiver(size, bands, resolution):
    """generate_fourier_features of Perceiver on a square grid, without the positions."""
    places = numpy.linspace(-1, 1, size)
    grid = numpy.stack(numpy.meshgrid(places, places, indexing="ij"), -1).reshape(-1, 2)
    frequencies = numpy.linspace(1, resolution / 2, bands)
    angles = numpy.pi * (grid[:, :, None] * frequencies).reshape(len(grid), -1)
    return numpy.concatenate([numpy.sin(angles), numpy.cos(angles)], 1)


def centres(height, width):
    """make_axial_pos of k-diffusion, where pixels are square."""
    rows, columns = (
        (numpy.arange(size).astype(F) * F(2) + F(1)) / F(size) - F(1)
        for size in (height, width)
    )
    return numpy.stack(numpy.meshgrid(rows, columns, indexing="ij"), -1).reshape(-1, 2)


def dab_detr(height, width, dim, temperatures):
    """PositionEmbeddingSineHW of DAB-DETR, whose axes have temperatures of their own."""

    def embed(count, temperature):
        places = numpy.arange(1, count + 1).astype(F) / (F(count) + F(1e-6)) * F(2 * numpy.pi)
        pairs = F(2) * (numpy.arange(dim // 2) // 2).astype(F) / F(dim // 2)
        angles = places[:, None] / power(F(temperature), pairs)
        table = numpy.empty((count, dim // 2), F)
        table[:, 0::2], table[:, 1::2] = numpy.sin(angles[:, 0::2]), numpy.cos(angles[:, 1::2])
        return table

    rows = numpy.repeat(embed(height, temperatures[0])[:, None], width, 1)
    columns = numpy.repeat(embed(width, temperatures[1])[None], height, 0)
    return numpy.concatenate([rows, columns], 2).transpose(2, 0, 1)


def axial_rope(height, width, dim, theta):
    """Cosines of rotary tables of a grid: half of the pairs turn with each axis."""
    inverse = F(1) / power(F(theta), numpy.arange(0, dim // 2, 2, dtype=F) / F(dim // 2))
    rows, columns = numpy.meshgrid(numpy.arange(height), numpy.arange(width), indexing="ij")
    parts = [axis.ravel()[:, None].astype(F) * inverse for axis in (rows, columns)]
    return numpy.cos(numpy.concatenate(parts, 1))


class Laws(IdentifyCase):
    def identify_as(self, table, dtype, query):
        if dtype != "bf16":
            return self.identify(npy(table.astype(dtype)), query)
        shape = ",".join(map(str, table.shape))
        query = f"?shape={shape}&dtype=bf16{query.replace('?', '&')}"
        return self.identify(bf16(table).tobytes(), query, RAW)

    def assert_found(self, table, scheme, said, dtypes=("f4",), query=""):
        for dtype in dtypes:
            found = self.identify_as(table, dtype, query)
            self.assertIn(found["status"], ("exact", "match", "near"), (said, found))
            self.assertEqual(found.get("misfits", 0), 0, (dtype, said, found["summary"]))
            self.assertEqual(found["request"]["scheme"], scheme, (dtype, said))
            for text in said.split("&"):
                self.assertIn(text, self.texts(found), (dtype, found["request"]["url"]))
        return found

    def test_grids_whose_last_frequency_is_one_over_the_base(self):
        for height, width, dim in ((16, 16, 256), (14, 20, 512), (7, 7, 512), (14, 14, 192)):
            said = f"height={height}&width={width}&dim={dim}&preset=simple_vit"
            table = endpoint_grid(height, width, dim)
            self.assert_found(table, "sinusoidal_2d", said, DTYPES)
        said = "frequencies=tensor2tensor&base=1000"
        table = endpoint_grid(16, 16, 384, 1000)
        self.assert_found(table, "sinusoidal_2d", said, DTYPES)
        table = endpoint_grid(16, 16, 768, real=numpy.float64)
        self.assert_found(table, "sinusoidal_2d", "preset=simple_vit", ("f8",))

    def test_volumes_whose_last_frequency_is_one_over_the_base(self):
        table = endpoint_volume(4, 8, 8, 192)
        said = "depth=4&height=8&width=8&preset=simple_vit"
        self.assert_found(table, "sinusoidal_3d", said, DTYPES)
        said = "frequencies=tensor2tensor&base=500"
        self.assert_found(endpoint_volume(5, 6, 7, 96, 500), "sinusoidal_3d", said, DTYPES)

    def test_temperatures_of_each_axis(self):
        for temperatures in ((40, 20), (30, 20), (20, 20)):
            said = f"base=20&base_height={temperatures[0]}"
            said = "preset=dab_detr" if temperatures == (20, 20) else said
            table = dab_detr(12, 15, 128, temperatures)
            self.assert_found(table, "sinusoidal_2d", said, DTYPES)

    def test_rotary_grids_of_any_theta(self):
        for theta in (777, 300, 50):
            said = f"sizes=14,14&dim=64&rope_theta={theta}"
            table = axial_rope(14, 14, 64, theta)
            self.assert_found(table, "axial_rope", said, DTYPES)

    def test_frequencies_that_rise(self):
        said = "layout=concat&frequencies=tensor2tensor&base=0.0001"
        for steps in (50, 200):
            own = f"length={steps}&{said}"
            self.assert_found(diffwave(range(steps), 128), "sinusoidal", own, DTYPES)
            table = diffwave(range(steps), 128, numpy.float64)
            self.assert_found(table, "sinusoidal", own, ("f8", *DTYPES))
        self.assert_found(diffwave([3, 1, 4, 1, 5, 9, 2, 6], 128), "sinusoidal", said)

    def test_one_row_and_a_row_that_is_repeated(self):
        """A timestep for a whole batch, and the position of a decoding step."""
        half = numpy.exp(numpy.arange(64, dtype=F) * F(-numpy.log(10000) / 63))
        row = F(333) * half
        row = numpy.concatenate([numpy.sin(row), numpy.cos(row)])[None]
        said = "dim=128&layout=concat&frequencies=tensor2tensor"
        self.assert_found(row, "sinusoidal", f"positions=333&{said}", DTYPES)
        table = numpy.repeat(row, 16, 0)
        found = self.assert_found(table, "sinusoidal", f"positions=333&{said}", DTYPES)
        self.assertEqual([form["kind"] for form in found["forms"]], ["repeated"])
        inverse = F(1) / power(F(500000), numpy.arange(0, 128, 2, dtype=F) / F(128))
        step = numpy.cos(F(777) * inverse)[None]
        said = "positions=777&dim=128&table=half_width&rope_theta=500000&tensor=cos"
        self.assert_found(step, "rope", said, DTYPES)

    def test_few_numbers_have_no_position(self):
        for row in ([[1, 0] * 64], [[0.5] * 128], [[0, 1] * 64] * 8, [[0.1, 0.2, 0.3, 0.4]]):
            found = self.identify(npy(numpy.array(row, F)))
            self.assertNotIn("positions", str(found.get("request")), found["summary"])
        generator = numpy.random.default_rng(5)
        for _ in range(20):
            angles = generator.uniform(0, 6.3, 64)
            row = numpy.concatenate([numpy.sin(angles), numpy.cos(angles)]).astype(F)
            self.assertEqual(self.identify(npy(row[None]))["status"], "unknown")

    def test_bases_that_are_measured_where_fast_columns_turn_too_far(self):
        said = "length=200&dim=64&layout=concat&base=2056&step=3.141592653589793"
        self.assert_found(framediff(200, 64), "sinusoidal", said, DTYPES)
        said = "dim=256&layout=concat&frequencies=tensor2tensor&base=30240"
        said += "&step=376.99111843077515"
        table = aurora(range(49), 256)
        self.assert_found(table, "sinusoidal", f"length=49&{said}", DTYPES)

    def test_features_of_any_last_frequency(self):
        """Perceiver computes those of 56 x 56 pixels for a grid of 14 x 14."""
        for size, bands, resolution in ((14, 16, 56), (12, 8, 33)):
            said = f"sizes={size},{size}&bands={bands}&max_frequency={resolution / 2:g}"
            table = perceiver(size, bands, resolution)
            self.assert_found(table, "fourier", said + "&angle=half_turns", DTYPES)

    def test_coordinates_of_the_cells_of_a_grid(self):
        said = "sizes=16,16&coordinate_type=centres&tensor=coordinates"
        self.assert_found(centres(16, 16), "axial_rope", said, DTYPES)
        said = "sizes=9,12&coordinate_type=centres&tensor=coordinates"
        self.assert_found(centres(9, 12), "axial_rope", said, DTYPES)
        cells = numpy.stack(numpy.indices((7, 9)), -1).reshape(-1, 2)
        self.assert_found(cells, "axial_rope", "sizes=7,9&tensor=coordinates", DTYPES)
        said = "sizes=7,9&first_index=3,5&tensor=coordinates"
        self.assert_found(cells + (3, 5), "axial_rope", said, DTYPES)

    def test_rotary_laws_by_the_name_of_their_scheme(self):
        angles = rotary(3000, 128, 10000 * (3000 / 2048) ** (128 / 126))
        said = "rope_type=dynamic&factor=1&original_max_position_embeddings=2048&seq_len=3000"
        self.assert_found(numpy.cos(angles), "rope", said)
        angles = rotary(300, 128)
        table = numpy.concatenate([numpy.cos(angles), numpy.sin(angles)], 1)
        said = "length=300&dim=128&cos_sin=true&tensor=cos_sin"
        self.assert_found(table, "rope", said, DTYPES, "?scheme=rope")

    def test_bases_of_few_digits_that_16_bits_or_few_rows_measure_badly(self):
        grid = numpy.stack(numpy.indices((8, 13))[::-1], -1).reshape(-1, 2, 1)
        angles = grid * 777 ** (-numpy.arange(24) / 24)
        table = numpy.concatenate([numpy.sin(angles), numpy.cos(angles)], 2).reshape(104, 96)
        said = "height=8&width=13&dim=96&layout=concat&base=777"
        self.assert_found(table, "sinusoidal_2d", said, DTYPES)
        theta = 777777 * 4 ** (32 / 30)
        angles = (2 + numpy.arange(22))[:, None] * theta ** (-numpy.arange(16) / 16)
        said = "rope_theta=777777&rope_type=ntk&factor=4&offset=2&tensor=cos"
        self.assert_found(numpy.cos(angles), "rope", said, ("f8",))

    def test_grids_of_few_cells_with_wrong_entries(self):
        at = (2 * numpy.indices((5, 13)).T.swapaxes(0, 1) + 1) / (5, 13) - 1
        angles = 2 * numpy.pi * at.reshape(65, 2, 1) * 100 ** (-numpy.arange(24) / 24)
        table = numpy.cos(angles).reshape(65, 48)
        draw = numpy.random.default_rng(7)
        table[draw.integers(65, size=5), draw.integers(48, size=5)] = 0.25
        table[2, 30] = 0.5  # in the first line
        found = self.identify_as(table, "f8", "")
        self.assertIn("coordinate_type=centres", found["request"]["url"], found["summary"])
        self.assertEqual(found["misfits"], (table != numpy.cos(angles).reshape(65, 48)).sum())
