/* Tests of waves against their definition: an entry is computed from its own exact phase and
 * rounded once. */
#include "near.h"
#include "numerics/dtype.h"
#include "numerics/phase.h"
#include "unit.h"
#include "waves/fill.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether an element of f32, f16 or bf16 is the reference rounded once, or an element of f64 is
 * within 2^-51 of it, relative to the amplitude. */
static bool is_right(pe_dtype dtype, const void *element, dd reference, double amplitude)
{
    unsigned char expected[8];
    double got = unit_element(dtype, element);
    if (dtype == PE_F64)
        return fabs((got - reference.hi) - reference.lo) <= 0x1p-51 * fabs(amplitude);
    pe_round_dd(dtype, reference, expected);
    return memcmp(element, expected, pe_dtype_size(dtype)) == 0;
}

/* Check a row of sines and cosines in turn. */
static void check_row(const pe_wave *wave, uint64_t row, const unsigned char *elements)
{
    dd position = pe_position_get(&wave->positions, row), parts[2];
    size_t size = pe_dtype_size(wave->dtype);
    for (size_t c = 0; c < wave->row_columns; c++) {
        if (c % 2 == 0)
            pe_phase_sincos(pe_position_phase(&wave->positions, row, wave->frequencies[c / 2]),
                            &parts[0], &parts[1]);
        dd reference = dd_mul(parts[c % 2], (dd){wave->amplitude, wave->amplitude_rest});
        if (!is_right(wave->dtype, elements + c * size, reference, wave->amplitude))
            ck_abort_msg("%s at position %.17g, column %zu: %a is not %a + %a",
                         pe_dtype_name(wave->dtype), position.hi, c,
                         unit_element(wave->dtype, elements + c * size), reference.hi,
                         reference.lo);
    }
}

/* Fill all rows in every dtype and check every entry, and that nothing after them is written.
 */
static void check_wave(pe_wave wave)
{
    static const pe_dtype DTYPES[] = {PE_F32, PE_F64, PE_F16, PE_BF16};
    for (size_t d = 0; d < UNIT_COUNT(DTYPES); d++) {
        wave.dtype = DTYPES[d];
        size_t row_bytes = wave.row_columns * pe_dtype_size(wave.dtype);
        size_t bytes = (size_t)wave.positions.count * row_bytes;
        unsigned char *table = malloc(bytes + 1);
        memset(table, 0xaa, bytes + 1);
        pe_wave_fill(&wave, 0, wave.positions.count, table);
        for (uint64_t row = 0; row < wave.positions.count; row++)
            check_row(&wave, row, table + row * row_bytes);
        ck_assert_uint_eq(table[bytes], 0xaa);
        free(table);
    }
}

/* Check the interleaved wave of `pairs` frequencies 10000^(-i/pairs) at the given positions. */
static void check_positions(pe_positions positions, size_t pairs, double amplitude)
{
    pe_pace pace = {.kept = NULL};
    pe_wave wave = {.positions = positions,
                    .frequencies = pe_wave_geometric(&pace, pairs, 10000, 1, pairs),
                    .count = pairs,
                    .layout = PE_WAVE_INTERLEAVED,
                    .columns = 2 * pairs,
                    .row_columns = 2 * pairs,
                    .amplitude = amplitude};
    check_wave(wave);
    pe_kept_free(pace.kept);
}

/* Spans of rows. Those of steps below the last place of a position: of four rows 63.25 +
 * r·2^-49, three lie between two doubles, whose nearest is the position of the fourth. Below
 * zero, the distance to the next lower multiple of 64 has more bits than the position has. */
static const pe_positions SPANS[] = {
    {400, 0, 1, NULL},
    {400, -200, 1, NULL},
    {400, 1e6, 1, NULL},
    {400, 0x1p40, 1, NULL},
    {400, -0x1p47, 1, NULL},
    {200, 0, 0.25, NULL},
    {200, 1e6, 0.1, NULL},
    {100, 1e12, 1e-3, NULL},
    {100, 12345.678, -7.3, NULL},
    {100, 100, 1e9, NULL},
    {100, 1e-5, 1e-7, NULL},
    {100, 0, 0x1p-30, NULL},
    {100, 0.5, 0, NULL},
    {80, 63.25, 0x1p-49, NULL},
    {80, 63.25, -0x1p-49, NULL},
    {80, 1000.75, 0x1p-48, NULL},
    {200, -20, 0.1, NULL},
    {200, -64.3, 0.7, NULL},
    {200, -1e-9, -1e-9, NULL},
    {100, -1e-300, -1e-18, NULL},
};

START_TEST(rows_of_any_offset_and_step_round_once)
{
    for (size_t i = 0; i < UNIT_COUNT(SPANS); i++)
        check_positions(SPANS[i], i % 4 ? 20 : 70, 1); /* within a chunk, and in two */
}
END_TEST

START_TEST(random_positions_round_once)
{
    enum { COUNT = 400 };
    static const double SCALES[] = {0x1p-53, 0x1p-49, 0x1p-43, 0x1p-33, 0x1p-20, 1};
    for (size_t scale = 0; scale < UNIT_COUNT(SCALES); scale++) {
        uint64_t state = scale;
        double list[COUNT];
        for (size_t i = 0; i < COUNT; i++)
            list[i] = ((double)(unit_random(&state) >> 17)) * SCALES[scale]; /* below 2^47 */
        check_positions((pe_positions){COUNT, 0, 1, list}, 10, 1);
    }
}
END_TEST

/* Numerators of the continued fractions of π and π/2. Their sines or cosines are tiny, so the
 * result of an angle addition has few correct bits. */
static const double NEAR_MULTIPLES[] = {
    333,           344,           355,           51819,          52174,
    103993,        104348,        208341,        260515,         312689,
    573204,        833719,        1146408,       4272943,        4846147,
    5419351,       37362253,      42781604,      80143857,       122925461,
    165707065,     245850922,     411557987,     534483448,      1068966896,
    2549491779,    3083975227,    6167950454,    14885392687,    17969367914,
    21053343141,   881156436695,  902209779836,  1783366216531,  2685575996367,
    3587785776203, 5371151992734, 8958937768937, 65398140378926, 74357078147863,
};

START_TEST(positions_close_to_quarter_turns_round_once)
{
    static const double AMPLITUDES[] = {1, -3.7, 60000, 1e-6};
    pe_positions positions = {UNIT_COUNT(NEAR_MULTIPLES), 0, 1, NEAR_MULTIPLES};
    for (size_t i = 0; i < UNIT_COUNT(AMPLITUDES); i++)
        check_positions(positions, 1, AMPLITUDES[i]);
}
END_TEST

/* Positions whose sine is as near to the middle between two floats as doubles allow: the result
 * of the angle addition lies on either side of the middle. */
START_TEST(sines_half_way_between_two_floats_round_once)
{
    enum { COUNT = 1200 };
    const double turn = 6.283185307179586;
    double list[COUNT];
    uint64_t state = 9;
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t random = unit_random(&state);
        double middle = (double)(2 * ((random >> 41) | 1 << 23) + 1) * 0x1p-25; /* above 1/2 */
        double position = asin(middle) + turn * (double)(random % 10);
        if (random & 1 << 10)
            position = nextafter(position, 0);
        list[i] = random & 1 << 11 ? position : -position;
    }
    check_positions((pe_positions){COUNT, 0, 1, list}, 1, 1);
}
END_TEST

/* The same for rows that are computed from their distances, and with amplitudes. The first of
 * three rows is the near tie. */
START_TEST(rows_at_equal_distances_that_begin_half_way_between_two_floats_round_once)
{
    static const double AMPLITUDES[] = {1, 0.25, -3.7};
    uint64_t state = 10;
    for (size_t i = 0; i < 300; i++) {
        double amplitude = AMPLITUDES[i % UNIT_COUNT(AMPLITUDES)];
        double middle = (double)(2 * ((unit_random(&state) >> 41) | 1 << 23) + 1) * 0x1p-25;
        double entry = amplitude == 0.25 ? middle / 4 : middle;
        double position = asin(entry / fabs(amplitude));
        for (int side = 0; side < 3; side++) {
            check_positions((pe_positions){3, position, 1, NULL}, 1, amplitude);
            position = nextafter(position, side);
        }
    }
}
END_TEST

/* One column of sines. */
static pe_wave sines(pe_wide *frequency, pe_positions positions, pe_dtype dtype)
{
    return (pe_wave){.positions = positions,
                     .frequencies = frequency,
                     .count = 1,
                     .layout = PE_WAVE_SINES,
                     .columns = 1,
                     .row_columns = 1,
                     .amplitude = 1,
                     .dtype = dtype};
}

/* As sin x < x, a tiny position half-way between two elements rounds to the lower one, although
 * the difference is far below the last place of 2π. */
START_TEST(tiny_positions_between_two_elements_round_towards_zero)
{
    enum { COUNT = 200 };
    static const pe_dtype DTYPES[] = {PE_F32, PE_BF16};
    static const unsigned PLACES[] = {24, 8}; /* bits of an element; a middle has one more */
    pe_wide frequency = pe_wide_radian;
    for (size_t d = 0; d < UNIT_COUNT(DTYPES); d++) {
        double list[COUNT];
        uint64_t state = d;
        unsigned char rows[COUNT * 4];
        for (size_t i = 0; i < COUNT; i++) {
            uint64_t random = unit_random(&state) >> (64 - PLACES[d]);
            double middle = ldexp((double)(2 * random + 1), -100 - (int)(i % 20));
            list[i] = i % 2 ? -middle : middle;
        }
        const pe_wave wave = sines(&frequency, (pe_positions){COUNT, 0, 1, list}, DTYPES[d]);
        pe_wave_fill(&wave, 0, COUNT, rows);
        for (size_t i = 0; i < COUNT; i++)
            ck_assert_double_eq(unit_element(DTYPES[d], rows + i * pe_dtype_size(DTYPES[d])),
                                unit_nearest(DTYPES[d], nextafter(list[i], 0)));
    }
}
END_TEST

START_TEST(amplitudes_are_rounded_with_the_entry)
{
    static const double AMPLITUDES[] = {0.5, -2, 3.7, 60000, 1e-30, 1e-44, 0, 0.1, 1e-7};
    for (size_t i = 0; i < UNIT_COUNT(AMPLITUDES); i++)
        check_positions((pe_positions){150, -70, 1, NULL}, 10, AMPLITUDES[i]);
}
END_TEST

START_TEST(geometric_frequencies_begin_with_a_radian_and_fall_to_220_bits)
{
    /* 10^18^(-524287/524288)/2π by mpmath, cut to 256 bits */
    const pe_wide last = {{0x707796dd8d63f858, 0x9393d1e94e1d44e3, 0xefa5bb1e803cb09c, 0x2}};
    pe_pace pace = {.kept = NULL};
    pe_wide *frequencies = pe_wave_geometric(&pace, 524288, 1e18, 2, 1048576);
    unit_wide_is_near(frequencies[524287], last, (1ULL << 36) - 1, "the last");
    ck_assert_int_eq(memcmp(&frequencies[0], &pe_wide_radian, sizeof pe_wide_radian), 0);
    pe_kept_free(pace.kept);
}
END_TEST

/* An integer as a double, ties towards zero. */
static double rounded_down_on_ties(uint64_t integer)
{
    unsigned cut = integer >> 53 ? 11 - (unsigned)__builtin_clzll(integer) : 0;
    uint64_t rest = integer & ((1ULL << cut) - 1);
    return ldexp((double)((integer >> cut) + (2 * rest > 1ULL << cut)), (int)cut);
}

/* At frequency 1, three steps lie half way between doubles; their sine is a little smaller. */
START_TEST(the_sine_of_an_angle_half_way_between_doubles_is_rounded_down)
{
    static const int EXPONENTS[] = {-40, -100, -800, -1000};
    const uint64_t significand = (1ULL << 52) + 13;
    pe_wide frequency = pe_wide_radian;
    for (size_t i = 0; i < UNIT_COUNT(EXPONENTS); i++) {
        double entries[7], step = ldexp((double)significand, EXPONENTS[i] - 52);
        const pe_wave wave =
            sines(&frequency, (pe_positions){.count = 7, .step = step}, PE_F64);
        pe_wave_fill(&wave, 0, 7, entries);
        for (uint64_t row = 1; row < 7; row++)
            ck_assert_double_eq(ldexp(entries[row], 52 - EXPONENTS[i]),
                                rounded_down_on_ties(row * significand));
    }
}
END_TEST

Suite *wave_suite(void)
{
    const TTest *const tests[] = {
        rows_of_any_offset_and_step_round_once,
        random_positions_round_once,
        positions_close_to_quarter_turns_round_once,
        sines_half_way_between_two_floats_round_once,
        rows_at_equal_distances_that_begin_half_way_between_two_floats_round_once,
        tiny_positions_between_two_elements_round_towards_zero,
        amplitudes_are_rounded_with_the_entry,
        geometric_frequencies_begin_with_a_radian_and_fall_to_220_bits,
        the_sine_of_an_angle_half_way_between_doubles_is_rounded_down,
        NULL,
    };
    return unit_suite("wave", tests);
}
