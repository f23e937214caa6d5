/* Chunks: entries that lie next to a rounding boundary and are approximated on its wrong side,
 * and the amplitudes that the kernel can round. */
#include "waves/chunk.h"

#include "numerics/phase.h"
#include "unit.h"

#include <math.h>
#include <string.h>

/* Significant bits of the dtypes that are rounded correctly. */
static const struct {
    pe_dtype dtype;
    int bits;
} ROUNDED[] = {{PE_F32, 24}, {PE_F16, 11}, {PE_BF16, 8}};

/* ---- entries next to a boundary ---- */

#define COUNT PE_KERNEL_PAIRS

/* A row of position 1, whose entries are the sines and cosines of the frequencies. */
typedef struct planted {
    pe_wide frequencies[COUNT];
    double sines[COUNT], cosines[COUNT]; /* approximations with the amplitude */
    double expected[COUNT];              /* of the entries that are next to a boundary */
} planted;

/* The boundary half-way between two neighbours in [1/2, 1) of a dtype with that many bits. */
static double random_boundary(uint64_t *state, int bits)
{
    uint64_t lower = unit_random(state) >> (65 - bits) | 1ULL << (bits - 1);
    return ldexp((double)(2 * lower + 1), -(bits + 1));
}

/* Plant sines, or cosines, that differ from a boundary by less than 2^-50, each approximated on
 * the other side of it. Their rounded values follow from the side that the exact one is on. */
static void plant(planted *ret, int bits, bool cosine, double amplitude)
{
    uint64_t state = (uint64_t)bits;
    for (size_t i = 0; i < COUNT; i++) {
        double boundary = random_boundary(&state, bits), half = ldexp(1, -(bits + 1));
        double angle = cosine ? acos(boundary / amplitude) : asin(boundary / amplitude);
        dd exact[2];
        ret->frequencies[i] = pe_wide_mul_double(pe_wide_radian, angle);
        pe_phase_sincos(ret->frequencies[i], &exact[0], &exact[1]);
        dd entry = dd_mul(exact[cosine], (dd){amplitude, 0});
        double beyond = (entry.hi - boundary) + entry.lo; /* the boundary */
        unit_assert(beyond != 0 && fabs(beyond) < 0x1p-51 * fabs(amplitude));
        double wrong = boundary - copysign(0x1p-51 * fabs(amplitude), beyond);
        ret->sines[i] = cosine ? exact[0].hi * amplitude : wrong;
        ret->cosines[i] = cosine ? wrong : exact[1].hi * amplitude;
        ret->expected[i] = boundary + copysign(half, beyond);
    }
}

static pe_wave wave_of(planted *row, const double *position, pe_dtype dtype, double amplitude)
{
    return (pe_wave){.positions = {1, 0, 1, position},
                     .frequencies = row->frequencies,
                     .count = COUNT,
                     .layout = PE_WAVE_INTERLEAVED,
                     .columns = 2 * COUNT,
                     .row_columns = 2 * COUNT,
                     .amplitude = amplitude,
                     .dtype = dtype};
}

static double element_at(const pe_wave *wave, const unsigned char *row, size_t column)
{
    return unit_element(wave->dtype, row + column * pe_dtype_size(wave->dtype));
}

static const double ONE = 1, AMPLITUDES[] = {1, -4, 3.7};

START_TEST(entries_next_to_a_boundary_are_rounded_from_their_exact_phase)
{
    static planted planned;
    unsigned char row[2 * COUNT * sizeof(double)];
    for (size_t d = 0; d < UNIT_COUNT(ROUNDED); d++)
        for (size_t a = 0; a < UNIT_COUNT(AMPLITUDES); a++)
            for (int cosine = 0; cosine < 2; cosine++) {
                pe_dtype dtype = ROUNDED[d].dtype;
                plant(&planned, ROUNDED[d].bits, cosine, AMPLITUDES[a]);
                pe_wave wave = wave_of(&planned, &ONE, dtype, AMPLITUDES[a]);
                pe_chunk chunk = pe_chunk_init(&wave, 0, wave.count, false);
                pe_chunk_resolve(&chunk, 0, planned.sines, planned.cosines, row);
                for (size_t i = 0; i < COUNT; i++) {
                    double wrong = cosine ? planned.cosines[i] : planned.sines[i];
                    double sure = cosine ? planned.sines[i] : planned.cosines[i];
                    size_t column = 2 * i + (size_t)cosine;
                    unit_assert(unit_nearest(dtype, wrong) != planned.expected[i]);
                    unit_assert(element_at(&wave, row, column) == planned.expected[i]);
                    unit_assert(element_at(&wave, row, column ^ 1) ==
                                unit_nearest(dtype, sure));
                }
            }
}
END_TEST

START_TEST(a_row_without_its_amplitude_is_multiplied_and_rounded_alike)
{
    static planted planned;
    unsigned char row[2][2 * COUNT * sizeof(double)];
    plant(&planned, 24, false, -4);
    pe_wave wave = wave_of(&planned, &ONE, PE_F32, -4);
    pe_chunk chunk = pe_chunk_init(&wave, 0, wave.count, false);
    pe_chunk_resolve(&chunk, 0, planned.sines, planned.cosines, row[0]);
    for (size_t i = 0; i < COUNT; i++) {
        planned.sines[i] /= -4; /* exactly */
        planned.cosines[i] /= -4;
    }
    pe_chunk_write(&chunk, 0, planned.sines, planned.cosines, row[1]);
    ck_assert_int_eq(memcmp(row[0], row[1], pe_wave_row_bytes(&wave)), 0);
}
END_TEST

START_TEST(at_position_0_every_sine_is_0_and_every_cosine_the_amplitude)
{
    static const double ZERO = 0;
    static planted planned;
    unsigned char row[2 * COUNT * sizeof(double)];
    plant(&planned, 24, false, 3.7); /* approximations of something else */
    for (size_t d = 0; d < UNIT_COUNT(ROUNDED); d++) {
        pe_wave wave = wave_of(&planned, &ZERO, ROUNDED[d].dtype, 3.7);
        pe_chunk chunk = pe_chunk_init(&wave, 0, wave.count, false);
        pe_chunk_resolve(&chunk, 0, planned.sines, planned.cosines, row);
        for (size_t i = 0; i < COUNT; i++) {
            unit_assert(element_at(&wave, row, 2 * i) == 0);
            unit_assert(element_at(&wave, row, 2 * i + 1) == unit_nearest(wave.dtype, 3.7));
        }
    }
}
END_TEST

/* ---- chunks and what their kernel rounds ---- */

START_TEST(chunks_divide_the_frequencies_that_are_not_still)
{
    static const struct {
        size_t count, still, first, expected;
    } CASES[] = {
        {1, 0, 0, 1},    {64, 0, 0, 64},   {65, 0, 0, 64},  {65, 0, 64, 1},
        {97, 0, 64, 33}, {97, 10, 64, 23}, {97, 60, 0, 37},
    };
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++) {
        pe_wave wave = {.count = CASES[i].count,
                        .still = CASES[i].still,
                        .layout = PE_WAVE_SINES,
                        .amplitude = 1};
        pe_chunk chunk = pe_chunk_init(&wave, CASES[i].first, wave.count - wave.still, i % 2);
        ck_assert_uint_eq(chunk.first, CASES[i].first);
        ck_assert_uint_eq(chunk.count, CASES[i].expected);
        ck_assert_int_eq(chunk.rounding.nontemporal, i % 2);
    }
}
END_TEST

static pe_chunk chunk_with(pe_dtype dtype, double amplitude, double rest)
{
    static pe_wave wave; /* which the chunk points to */
    wave =
        (pe_wave){.count = 1, .dtype = dtype, .amplitude = amplitude, .amplitude_rest = rest};
    return pe_chunk_init(&wave, 0, wave.count, false);
}

START_TEST(the_kernel_rounds_amplitudes_whose_exponent_it_knows)
{
    static const struct {
        double amplitude;
        int exponent;    /* the least with amplitude <= 2^exponent */
        bool wide, half; /* whether the kernel rounds f32 and bf16; f16 */
    } CASES[] = {
        {1, 0, true, true},
        {0.75, 0, true, true},
        {0.5, -1, true, false},
        {1.0000001, 1, true, true},
        {8192, 13, true, true},
        {8192.001, 14, false, false},
        {1e30, 100, false, false},
        {0x1p-80, -80, true, false},
        {0x1.8p-81, -80, true, false},
        {0x1p-81, -81, false, false},
        {5e-324, -1074, false, false},
    };
    for (size_t i = 0; i < UNIT_COUNT(CASES); i++)
        for (int sign = -1; sign <= 1; sign += 2)
            for (size_t d = 0; d < UNIT_COUNT(ROUNDED); d++) {
                pe_dtype dtype = ROUNDED[d].dtype;
                pe_chunk chunk = chunk_with(dtype, sign * CASES[i].amplitude, 0);
                bool expected = dtype == PE_F16 ? CASES[i].half : CASES[i].wide;
                ck_assert_msg(chunk.is_rounded_by_kernel == expected &&
                                  chunk.rounding.exponent == CASES[i].exponent,
                              "%s, amplitude %a: 2^%d", pe_dtype_name(dtype),
                              CASES[i].amplitude, chunk.rounding.exponent);
            }
}
END_TEST

START_TEST(the_kernel_rounds_no_amplitude_0_and_no_f64)
{
    for (size_t d = 0; d < UNIT_COUNT(ROUNDED); d++)
        ck_assert(!chunk_with(ROUNDED[d].dtype, 0, 0).is_rounded_by_kernel);
    ck_assert(!chunk_with(PE_F64, 1, 0).is_rounded_by_kernel);
    ck_assert(!chunk_with(PE_F64, 1, 0x1p-60).is_rounded_by_kernel);
    ck_assert(!chunk_with(PE_F64, -1, 0).is_rounded_by_kernel);
    ck_assert(!chunk_with(PE_F64, 2, 0).is_rounded_by_kernel);
    ck_assert(!chunk_with(PE_F64, 0, 0).is_rounded_by_kernel);
}
END_TEST

Suite *chunk_suite(void)
{
    const TTest *const tests[] = {
        entries_next_to_a_boundary_are_rounded_from_their_exact_phase,
        a_row_without_its_amplitude_is_multiplied_and_rounded_alike,
        at_position_0_every_sine_is_0_and_every_cosine_the_amplitude,
        chunks_divide_the_frequencies_that_are_not_still,
        the_kernel_rounds_amplitudes_whose_exponent_it_knows,
        the_kernel_rounds_no_amplitude_0_and_no_f64,
        NULL,
    };
    return unit_suite("chunk", tests);
}
