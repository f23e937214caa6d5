/* Tests of sines or cosines alone: runs of elements in rows, frequencies of zero, and
 * amplitudes with more bits than a double. */
#include "waves/columns.h"
#include "numerics/dtype.h"
#include "numerics/phase.h"
#include "unit.h"
#include "waves/fill.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 3, FIRST = 5, ALL = FIRST + PE_KERNEL_PAIRS + 2 };

/* The index of the run's element that a column holds; PE_KERNEL_PAIRS or more if it holds none.
 */
static size_t element_at(const pe_run *run, size_t column)
{
    size_t frequency = column;
    if (run->copies == PE_WAVE_IN_PAIRS)
        frequency = column / 2;
    else if (run->copies == PE_WAVE_IN_HALVES)
        frequency = column % run->all;
    bool inside = frequency >= run->first && frequency < run->first + run->count;
    return inside ? frequency - run->first : PE_KERNEL_PAIRS;
}

/* Write a run and check every element of the rows, also those around the run. */
static void check_run(pe_run run, const unsigned char *elements)
{
    size_t columns = run.copies == PE_WAVE_ONCE ? run.all : 2 * run.all;
    run.row_bytes = columns * run.size;
    unsigned char *rows = malloc(ROWS * run.row_bytes), blank[8];
    memset(rows, 0xaa, ROWS * run.row_bytes);
    memset(blank, 0xaa, sizeof blank);
    pe_run_write(&run, elements, ROWS, rows);
    if (run.nontemporal)
        run.nontemporal->fence();
    for (size_t row = 0; row < ROWS; row++)
        for (size_t column = 0; column < columns; column++) {
            size_t i = element_at(&run, column);
            const unsigned char *expected =
                i < PE_KERNEL_PAIRS ? elements + (row * run.count + i) * run.size : blank;
            unit_assert(
                !memcmp(rows + row * run.row_bytes + column * run.size, expected, run.size));
        }
    free(rows);
}

START_TEST(runs_stand_in_their_columns_and_nowhere_else)
{
    static const size_t SIZES[] = {2, 4, 8};
    unsigned char elements[ROWS * PE_KERNEL_PAIRS * 8];
    uint64_t state = 1;
    for (size_t i = 0; i < sizeof elements; i++)
        elements[i] = (unsigned char)unit_random(&state);
    for (size_t s = 0; s < UNIT_COUNT(SIZES); s++)
        for (size_t count = 1; count <= PE_KERNEL_PAIRS; count++)
            for (int copies = PE_WAVE_ONCE; copies <= PE_WAVE_IN_PAIRS; copies++)
                for (int nontemporal = 0; nontemporal < 2; nontemporal++)
                    check_run((pe_run){.first = FIRST,
                                       .count = count,
                                       .all = ALL,
                                       .size = SIZES[s],
                                       .copies = (pe_wave_copies)copies,
                                       .nontemporal = nontemporal ? pe_kernel_get() : NULL},
                              elements);
}
END_TEST

/* Tables from 8 MB on are written with non-temporal stores, a window of one row is not. */
START_TEST(streamed_tables_have_the_bits_of_their_rows)
{
    static const char *const OPTIONS[] = {"&dim=256", "&dim=160&table=full&dtype=f64",
                                          "&dim=160&table=full&layout=interleaved"};
    for (size_t i = 0; i < UNIT_COUNT(OPTIONS); i++) {
        char query[200];
        snprintf(query, sizeof query, "length=20000%s", OPTIONS[i]);
        pe_table *whole = unit_table("rope", query);
        size_t bytes = (size_t)pe_table_tensor(whole, 0)->bytes, row_bytes = bytes / 20000;
        ck_assert_uint_ge(bytes, 8 << 20);
        for (size_t row = 0; row < 20000; row += 1234) {
            snprintf(query, sizeof query, "length=1&offset=%zu%s", row, OPTIONS[i]);
            pe_table *one = unit_table("rope", query);
            for (size_t t = 0; t < 2; t++)
                unit_assert(!memcmp((const char *)pe_table_data(whole, t) + row * row_bytes,
                                    pe_table_data(one, t), row_bytes));
            pe_table_unref(one);
        }
        pe_table_unref(whole);
    }
}
END_TEST

/* ---- waves ---- */

/* Compare every entry with the one computed from its own exact phase and rounded once; f64 may
 * differ by 2^-51, relative to the amplitude. */
static void check_rows(const pe_wave *wave, const unsigned char *table)
{
    size_t size = pe_dtype_size(wave->dtype);
    dd amplitude = {wave->amplitude, wave->amplitude_rest};
    for (uint64_t row = 0; row < wave->positions.count; row++)
        for (size_t column = 0; column < wave->columns; column++, table += size) {
            unsigned char expected[8];
            dd parts[2];
            size_t f = wave->copies == PE_WAVE_IN_PAIRS ? column / 2 : column % wave->count;
            pe_phase_sincos(pe_position_phase(&wave->positions, row, wave->frequencies[f]),
                            &parts[0], &parts[1]);
            dd entry = dd_mul(parts[wave->layout == PE_WAVE_COSINES], amplitude);
            double error = (unit_element(wave->dtype, table) - entry.hi) - entry.lo;
            pe_round_dd(wave->dtype, entry, expected);
            if (wave->dtype == PE_F64)
                unit_assert(fabs(error) <= 0x1p-51 * fabs(amplitude.hi));
            else
                unit_assert(!memcmp(table, expected, size));
        }
}

/* Check waves of sines and of cosines, with all placements. The last `still` frequencies are 0.
 */
static void check_alone(pe_positions positions, size_t count, size_t still, dd amplitude)
{
    pe_wide *frequencies = pe_wave_geometric(count, 100, 1, count);
    memset(frequencies + count - still, 0, still * sizeof *frequencies);
    for (int copies = PE_WAVE_ONCE; copies <= PE_WAVE_IN_PAIRS; copies++)
        for (int layout = PE_WAVE_SINES; layout <= PE_WAVE_COSINES; layout++) {
            size_t columns = copies == PE_WAVE_ONCE ? count : 2 * count;
            for (int dtype = PE_F32; dtype < PE_I32; dtype++) {
                pe_wave wave = {.positions = positions,
                                .frequencies = frequencies,
                                .count = count,
                                .layout = (pe_wave_layout)layout,
                                .copies = (pe_wave_copies)copies,
                                .still = still,
                                .columns = columns,
                                .row_columns = columns,
                                .amplitude = amplitude.hi,
                                .amplitude_rest = amplitude.lo,
                                .dtype = (pe_dtype)dtype};
                unsigned char *table = malloc((size_t)positions.count * columns * 8);
                pe_wave_fill(&wave, 0, positions.count, table);
                check_rows(&wave, table);
                free(table);
            }
        }
    free(frequencies);
}

START_TEST(one_function_alone_may_stand_twice)
{
    static const size_t COUNTS[] = {1, 3, 16, 63, 64, 65, 130};
    for (size_t i = 0; i < UNIT_COUNT(COUNTS); i++)
        check_alone((pe_positions){37, -17, 1, NULL}, COUNTS[i], 0, (dd){1, 0});
    check_alone((pe_positions){200, 1e9, 0.3, NULL}, 20, 0, (dd){1, 0});
}
END_TEST

START_TEST(frequencies_of_zero_turn_nothing)
{
    static const size_t STILL[] = {1, 6, 69, 70};
    for (size_t i = 0; i < UNIT_COUNT(STILL); i++)
        check_alone((pe_positions){20, -3, 1.25, NULL}, 70, STILL[i], (dd){1, 0});
    check_alone((pe_positions){20, -3, 1.25, NULL}, 7, 3, (dd){1.1, 0x1p-56});
}
END_TEST

/* 1 + 2^-24 + 2^-90 rounds up where its leading double is half-way between two floats, and
 * 1 - 2^-60 is not 1. */
START_TEST(amplitudes_may_have_more_bits_than_a_double)
{
    static const dd AMPLITUDES[] = {
        {1 + 0x1p-24, 0x1p-90}, {1 + 0x1p-24, -0x1p-90}, {1, -0x1p-60}, {1.3, 0x1.7p-55}};
    for (size_t i = 0; i < UNIT_COUNT(AMPLITUDES); i++)
        check_alone((pe_positions){150, -70, 1, NULL}, 10, 0, AMPLITUDES[i]);
}
END_TEST

/* At a frequency of 1/3 and a position of three times a middle between two floats, the sine
 * lies below that middle by less than a double-double of the angle can express. */
START_TEST(tiny_angles_of_a_rational_frequency_round_towards_zero)
{
    enum { COUNT = 300 };
    static const double DIVISORS[] = {2, 3, 7, 40};
    for (size_t d = 0; d < UNIT_COUNT(DIVISORS); d++) {
        double list[COUNT];
        float rows[COUNT];
        uint64_t state = d;
        for (size_t i = 0; i < COUNT;
             i++) /* a middle has 25 bits: times a divisor it is exact */
            list[i] =
                DIVISORS[d] * ldexp((double)(2 * (unit_random(&state) >> 41 | 1 << 23) + 1),
                                    -50 - (int)(i % 70));
        pe_wide frequency = pe_wide_div_double(pe_wide_radian, DIVISORS[d]);
        pe_wave wave = {.positions = {COUNT, 0, 1, list},
                        .frequencies = &frequency,
                        .count = 1,
                        .layout = PE_WAVE_SINES,
                        .columns = 1,
                        .row_columns = 1,
                        .amplitude = 1,
                        .dtype = PE_F32};
        pe_wave_fill(&wave, 0, COUNT, rows);
        for (size_t i = 0; i < COUNT; i++) {
            double angle = list[i] / DIVISORS[d];
            if (angle < 0x1p-20)
                ck_assert_double_eq((double)rows[i], unit_nearest(PE_F32, nextafter(angle, 0)));
        }
    }
}
END_TEST

Suite *columns_suite(void)
{
    const TTest *const tests[] = {
        runs_stand_in_their_columns_and_nowhere_else,
        streamed_tables_have_the_bits_of_their_rows,
        one_function_alone_may_stand_twice,
        frequencies_of_zero_turn_nothing,
        amplitudes_may_have_more_bits_than_a_double,
        tiny_angles_of_a_rational_frequency_round_towards_zero,
        NULL,
    };
    return unit_suite("columns", tests);
}
