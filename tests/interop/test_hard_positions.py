"""Positions chosen to be hard: close to rounding ties, to multiples of a quarter turn, to
zero."""

import random
from fractions import Fraction

import numpy as np
from mpmath import mp

import exact
from exact_comparison import ExactTest

SIXTEENTHS = [exact.Geometric(10000.0, 2 * i, 16) for i in range(8)]
TINY = 2.0**-20  # ties of smaller values are close to everything

# distances of a double from a tie: what plain doubles get wrong, what a careful program has to
# look at twice, and what lies just beyond
BANDS = [
    (0, 2.0**-54),
    (2.0**-54, 2.0**-52),
    (2.0**-52, 2.0**-50),
    (2.0**-50, 2.0**-48),
    (2.0**-48, 2.0**-46),
]


# The nearest ties of four billion entries, of all positions below 2^28 at dim 16: each of these
# has an entry of at least 2^-12 within about 2^-53 of a tie, which plain doubles cannot decide.
NEAREST_TIES = [
    229205852,
    243223756,
    265340673,
    11679400,
    116794000,
    194280222,
    216454167,
    252836612,
    85141259,
    138780721,
    128848729,
    143608052,
    40755158,
    234772964,
    256878658,
    256854325,
    79027185,
    169547707,
    47057484,
    536479,
    23549692,
    235496920,
    43102901,
    136692171,
    216359774,
    148508479,
    180636858,
    21367804,
    213678040,
    201465100,
    197807594,
    117623523,
    106552284,
    55751928,
    37338143,
    28281130,
    265303992,
    167011805,
    48284864,
    13922324,
    139223240,
    243047627,
    22854004,
    228540040,
    173219631,
    233737690,
    23880017,
    238800170,
    72418183,
    80392676,
    178881882,
    52126884,
    226849333,
    74146599,
    251783930,
    80143568,
    92356211,
    66909232,
    69133417,
    235923376,
    78583799,
    233259296,
    95190145,
    192691423,
    160590534,
    34357995,
    89510433,
    23652217,
    236522170,
    225358186,
    49706103,
    173889982,
    151404964,
    50366204,
    77136913,
    83113504,
    247843447,
    180000765,
    25221887,
    252218870,
    232845366,
    182172931,
    151078357,
    25367441,
    253674410,
    750059,
    117448486,
    16491747,
    129143378,
    98369908,
]


def doubles(frequency, first, count, block=4096):
    """Sines and cosines of `count` positions from `first` on to about 2^-52, for searching."""

    def seeds(offset, step, number):
        scale = exact.FRACTION_BITS - 62
        return (
            np.ldexp(np.array([float(n >> scale) for n in numbers]), -62)
            for numbers in exact.walk(frequency, Fraction(offset), Fraction(step), number)
        )

    cos_low, sin_low = seeds(0, 1, block)
    cos_high, sin_high = seeds(first, block, count // block)
    for c, s in zip(cos_high, sin_high):
        yield s * cos_low + c * sin_low
        yield c * cos_low - s * sin_low


def tie_distance(values):
    """The absolute distance of doubles from the nearest tie of f32."""
    mantissa, exponent = np.frexp(np.abs(values))
    scaled = np.ldexp(mantissa, 24)
    distance = np.ldexp(np.abs(scaled - np.floor(scaled) - 0.5), exponent - 24)
    return np.where(np.abs(values) < TINY, np.inf, distance)


def in_bands(distance, limit):
    """Indices of at most `limit` values in each band."""
    near = np.flatnonzero(distance < BANDS[-1][1])
    return np.concatenate(
        [near[(distance[near] >= low) & (distance[near] < high)][:limit] for low, high in BANDS]
    )


class NearTieTest(ExactTest):
    def check_list(self, positions, dtypes=("f32",), dim=16, schemes=("sinusoidal",)):
        positions = [Fraction(position) for position in positions]
        for scheme in schemes:
            for start in range(0, len(positions), 1000):
                self.check(
                    scheme,
                    positions[start : start + 1000],
                    dtypes=dtypes,
                    dim=dim,
                )

    def search(self, first, count, limit):
        """Positions of near ties in any of 16 columns."""
        found, block = set(), 4096
        for frequency in SIXTEENTHS:
            kept = []
            for number, values in enumerate(doubles(frequency, first, count, block)):
                distance = tie_distance(values)
                near = np.flatnonzero(distance < BANDS[-1][1])
                kept.append((first + number // 2 * block + near, distance[near]))
            at, distance = (np.concatenate(parts) for parts in zip(*kept))
            found.update(at[in_bands(distance, limit)].tolist())
        return sorted(found)

    def test_the_nearest_ties_of_four_billion_entries_round_right(self):
        self.check_list(NEAREST_TIES)

    def test_the_nearest_ties_of_134_million_entries_round_right(self):
        self.check_list(self.search(0, 2**23, 40))

    def test_the_nearest_ties_of_large_positions_round_right(self):
        self.check_list(self.search(10**9, 2**22, 40))
        self.check_list(self.search(2**40, 2**22, 40))

    def test_positions_made_to_land_on_ties_round_right(self):
        """The double nearest to arcsin(tie)/w has its sine within about 2^-53 of the tie."""
        rng, mixed = random.Random(15), exact.sinusoidal_columns(16)
        for dtype in ("f32", "f16", "bf16"):
            precision, positions = exact.FORMATS[dtype].precision, []
            for number in range(200):
                tie = (2 * rng.randrange(2 ** (precision - 1), 2**precision) + 1) * 2.0 ** -(
                    precision + 1 + number % 12
                )
                column = mixed[number % 16]
                with mp.workprec(200):
                    angle = mp.asin(tie) if column.kind == "sin" else mp.acos(tie)
                    angle += 2 * mp.pi * (rng.randrange(2 ** rng.randrange(12)))
                    near = float(angle / column.frequency.mpf())
                positions += [near, -near, np.nextafter(near, np.inf).item()]
            self.check_list(positions, (dtype,))

    def test_the_nearest_ties_of_fractions_round_right(self):
        rng = np.random.default_rng(11)
        for low, high in ((0.0, 32.0), (-32.0, 0.0), (-0.01, 0.0), (-1e6, 1e6)):
            positions = rng.uniform(low, high, 2**20)
            for function in (np.sin, np.cos):
                near = in_bands(tie_distance(function(positions)), 60)
                self.check_list(
                    positions[near].tolist(), dim=2, schemes=("sinusoidal", "periodic")
                )

    def test_half_a_million_rows_of_tenths_round_right(self):
        step = Fraction(0.1)
        positions = [row * step for row in range(2**19)]
        self.check("sinusoidal", positions, step, ("f32",), dim=2)

    def test_16_bits_are_not_reached_through_f32(self):
        at, found = 0, {"f16": [], "bf16": []}
        for sine, cosine in zip(*[iter(doubles(SIXTEENTHS[1], 0, 2**20))] * 2):
            for values in (sine, cosine):
                single = values.astype(np.float32)
                twice = single.astype(np.float16) != values.astype(np.float16)
                found["f16"] += (at + np.flatnonzero(twice)).tolist()
                on_tie = (single.view(np.uint32) & 0xFFFF == 0x8000) & (single != values)
                found["bf16"] += (at + np.flatnonzero(on_tie)).tolist()
            at += len(sine)
        for dtype, positions in found.items():
            self.assertGreater(len(positions), 10)
            self.check_list(positions[:300], (dtype,))


class QuarterTurnTest(ExactTest):
    """Where a sine or cosine almost vanishes, all its bits come from argument reduction."""

    def test_integers_closest_to_quarter_turns_are_exact_in_every_column(self):
        for column in range(8):
            positions = set()
            with mp.workprec(400):
                ratio = mp.pi / 2 / SIXTEENTHS[column].mpf()
                before, last, rest = 0, 1, ratio
                while last <= 2**53:
                    whole = int(mp.floor(rest))
                    before, last = last, whole * last + before
                    rest = 1 / (rest - whole)
                    positions.update((sign * last for sign in (1, -1) if last <= 2**53))
            self.check("sinusoidal", [Fraction(p) for p in positions])

    def test_doubles_closest_to_quarter_turns_are_exact(self):
        rng, positions = random.Random(12), []
        for size in range(0, 48, 3):
            with mp.workprec(400):
                near = float(mp.pi / 2 * rng.randint(2**size, 2 ** (size + 1)))
            positions += [near, -near, np.nextafter(near, 0), np.nextafter(near, np.inf)]
        for scheme in ("sinusoidal", "periodic"):
            self.check(scheme, [Fraction(float(p)) for p in positions])


class TinyTest(ExactTest):
    """Entries that hang on what is far below the last place of a double."""

    def check_entries(self, positions, columns, options, dtype="f32"):
        positions = [float(position) for position in positions]
        table = exact.Table(
            columns, [Fraction(p) for p in positions], options.get("amplitude", 1.0)
        )
        self.compare("sinusoidal", {**options, "positions": positions}, table, dtype)

    def test_a_sine_just_below_a_tie_rounds_down(self):
        ties = {"f32": 2**24 + 3, "f16": 2**11 + 3, "bf16": 2**8 + 3}
        for dtype, tie in ties.items():
            for inverse, base, dim in (
                (1, 10000.0, 2),
                (2, 4.0, 4),
                (10, 10000.0, 8),
                (100, 10000.0, 4),
            ):
                positions = [
                    sign * inverse * tie * 2.0**-shift
                    for sign in (1, -1)
                    for shift in range(34, 130, 6)
                ]
                self.check_entries(
                    positions,
                    exact.sinusoidal_columns(dim, base),
                    {"base": base, "dim": dim},
                    dtype,
                )

    def test_an_amplitude_on_a_tie_is_pulled_down_by_a_cosine_below_1(self):
        columns = exact.sinusoidal_columns(4)
        for position in (0.0, 1e-8, 1e-20, 1e-60):
            for amplitude in (1 + 3 * 2.0**-24, 2.0**-24 - 1, 1000 + 2.0**-15):
                self.check_entries(
                    [position, -position], columns, {"dim": 4, "amplitude": amplitude}
                )

    def test_even_by_a_cosine_that_256_bits_cannot_tell_from_1(self):
        for position in (1e-80, 1e-150, 1e-300):
            self.check_entries(
                [position],
                exact.sinusoidal_columns(4),
                {"dim": 4, "amplitude": 1 + 3 * 2.0**-24},
            )

    def test_tiny_positions_times_a_small_amplitude_are_exact(self):
        rng = random.Random(13)
        for dtype in ("f32", "bf16", "f16"):
            positions = [rng.uniform(-1, 1) * 10.0 ** -rng.randint(0, 60) for _ in range(100)]
            for amplitude in (1.0, 1e-3, 1e-6, 3e-38, 1e4):
                self.check_entries(
                    positions,
                    exact.sinusoidal_columns(8),
                    {"dim": 8, "amplitude": amplitude},
                    dtype,
                )

    def test_tiny_positions_times_a_huge_amplitude_are_exact(self):
        rng = random.Random(14)
        positions = [rng.uniform(-1, 1) * 10.0 ** rng.uniform(-72, -40) for _ in range(600)]
        self.check_entries(
            positions, exact.sinusoidal_columns(4), {"dim": 4, "amplitude": 1e30}
        )
