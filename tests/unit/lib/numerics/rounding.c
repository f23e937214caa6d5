/* No entry is misrounded: compares the entries of tables with sines and cosines of their exact
 * phases, in double-double. `make slow` sets ROUNDING_ENTRIES to compare a hundred million
 * entries; the default is three million. */
#include "numerics/dtype.h"
#include "numerics/phase.h"
#include "unit.h"
#include "waves/fill.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIM  64
#define ROWS 256

typedef struct rounding_tally {
    uint64_t compared, wrong, distribution_wrong;
} rounding_tally;

/* Compare rows [offset, offset + ROWS) of the default sinusoidal table. */
static void compare(pe_dtype dtype, double offset, rounding_tally *tally)
{
    pe_wide frequencies[DIM / 2];
    pe_wave wave = {
        .positions = {.count = ROWS, .offset = offset, .step = 1},
        .frequencies = frequencies,
        .count = DIM / 2,
        .layout = PE_WAVE_INTERLEAVED,
        .columns = DIM,
        .row_columns = DIM,
        .amplitude = 1,
        .dtype = dtype,
    };
    static _Alignas(64) unsigned char table[ROWS * DIM * sizeof(double)];
    size_t size = pe_dtype_size(dtype);
    pe_wave_geometric_ladder(pe_wide_radian, DIM / 2, 10000, 2, DIM, frequencies);
    pe_wave_fill(&wave, 0, ROWS, table);
    for (size_t r = 0; r < ROWS; r++)
        for (size_t i = 0; i < DIM / 2; i++) {
            dd parts[2];
            double position = offset + (double)r;
            pe_wide phase = pe_wide_mul_integer(wave.frequencies[i], (int64_t)position);
            pe_phase_sincos(phase, &parts[0], &parts[1]);
            double angle = position * pow(10000, -2.0 * (double)i / DIM);
            double recipe[2] = {sin(angle), cos(angle)};
            for (size_t part = 0; part < 2; part++) {
                unsigned char exact[8], usual[8];
                const unsigned char *got = table + ((r * DIM) + 2 * i + part) * size;
                pe_round_dd(dtype, parts[part], exact);
                pe_round_row(dtype, &recipe[part], 1, usual);
                tally->compared++;
                tally->wrong += memcmp(got, exact, size) != 0;
                tally->distribution_wrong += memcmp(usual, exact, size) != 0;
            }
        }
}

START_TEST(no_entry_is_misrounded)
{
    static const double centres[] = {0, 1e4, 1e6, 1e9, 0x1p40, -1e9, 0x1p53 - 0x1p22};
    static const pe_dtype dtypes[] = {PE_F32, PE_F16, PE_BF16};
    const char *wanted = getenv("ROUNDING_ENTRIES");
    uint64_t entries = wanted ? strtoull(wanted, NULL, 10) : 3000000;
    for (size_t d = 0; d < 3; d++) {
        rounding_tally tally = {0, 0, 0};
        for (uint64_t block = 0; tally.compared < entries / 3; block++)
            compare(dtypes[d], centres[block % 7] + (double)(block / 7 * ROWS) * 3, &tally);
        printf("%s: %llu entries compared, %llu misrounded; the double recipe misrounds %llu\n",
               pe_dtype_name(dtypes[d]), (unsigned long long)tally.compared,
               (unsigned long long)tally.wrong, (unsigned long long)tally.distribution_wrong);
        fflush(stdout);
        ck_assert_uint_eq(tally.wrong, 0);
    }
}
END_TEST

Suite *rounding_suite(void)
{
    const TTest *const tests[] = {no_entry_is_misrounded, NULL};
    return unit_suite("rounding", tests);
}
