/* Tests of progressions and of rounding, with the kernels of every instruction set: they agree
 * with the functions for one number. */
#include "kernels/lines.h"

#include "kernels/kernel.h"
#include "numerics/dtype.h"
#include "positions/positions.h"
#include "unit.h"

#include <math.h>
#include <string.h>

static const pe_dtype DTYPES[] = {PE_F32, PE_F64, PE_F16, PE_BF16};

START_TEST(sums_are_the_positions)
{
    static const double OFFSETS[] = {0, -0.1, 1e15, 0x1p-60, -12345.678};
    static const double STEPS[] = {0.1, -1e-7, 1.0 / 3, 1e9, 0, 1e-250};
    static const double ROWS[] = {0, 1000, 0x1p22, 123456789012.0};
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels);
    double got[PE_LINE_MAX];
    for (size_t i = 0; i < UNIT_COUNT(OFFSETS) * UNIT_COUNT(STEPS) * UNIT_COUNT(ROWS); i++)
        for (size_t k = 0; k < 2 * count; k++) {
            pe_positions positions = {.offset = OFFSETS[i % UNIT_COUNT(OFFSETS)],
                                      .step =
                                          STEPS[i / UNIT_COUNT(OFFSETS) % UNIT_COUNT(STEPS)]};
            double row = ROWS[i / UNIT_COUNT(OFFSETS) / UNIT_COUNT(STEPS)];
            bool odd = k % 2;
            kernels[k / 2]->lines->sums(positions.offset, positions.step, row, 100, odd, got);
            for (size_t j = 0; j < 100; j++) {
                dd position = pe_position_get(&positions, (uint64_t)row + j);
                double expected = pe_narrow_to_double(odd ? PE_F32 : PE_F64, position);
                if (got[j] != expected)
                    ck_abort_msg("%s: %a for %a", kernels[k / 2]->name, got[j], expected);
            }
        }
}
END_TEST

START_TEST(quotients_are_rounded_to_nearest_or_to_odd)
{
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels);
    uint64_t state = 9;
    double got[PE_LINE_MAX];
    for (int repeat = 0; repeat < 20000; repeat++) {
        double divisor = 1 + (double)(unit_random(&state) >> (14 + unit_random(&state) % 50));
        double row = floor(divisor * (double)(unit_random(&state) >> 11) * 0x1p-53);
        size_t numbers = divisor - row < 7 ? (size_t)(divisor - row) + 1 : 7;
        for (size_t k = 0; k < 2 * count; k++) {
            kernels[k / 2]->lines->quotients(row, divisor, numbers, k % 2, got);
            for (size_t j = 0; j < numbers; j++) {
                dd quotient = dd_div(row + (double)j, divisor);
                double expected = pe_narrow_to_double(k % 2 ? PE_F32 : PE_F64, quotient);
                if (got[j] != expected)
                    ck_abort_msg("%s: (%.17g + %zu)/%.17g is %a, not %a", kernels[k / 2]->name,
                                 row, j, divisor, got[j], expected);
            }
        }
    }
}
END_TEST

/* A random finite double that no dtype overflows, often on or near a rounding boundary. */
static double random_number(uint64_t *state)
{
    uint64_t bits = unit_random(state), kind = unit_random(state);
    double fraction = (double)(bits >> 11) * 0x1p-53, number;
    if (kind % 4 == 1)
        fraction = floor(fraction * 0x1p12) * 0x1p-12; /* few bits */
    else if (kind % 4 == 2)
        fraction = nextafter(floor(fraction * 0x1p9) * 0x1p-9, kind & 64 ? 2 : -2);
    number = ldexp(fraction, 15 - (int)(kind >> 8 & 0xffff) % (kind & 16 ? 40 : 190));
    return kind & 32 ? -number : number;
}

START_TEST(numbers_are_rounded_as_one_by_one)
{
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels);
    uint64_t state = 5;
    double numbers[PE_LINE_MAX];
    unsigned char got[sizeof numbers], expected[sizeof numbers];
    for (int repeat = 0; repeat < 300; repeat++) {
        for (size_t i = 0; i < PE_LINE_MAX; i++)
            numbers[i] = random_number(&state);
        numbers[0] = 0;
        numbers[1] = -0.0;
        numbers[2] = -1e-300;
        for (size_t d = 0; d < UNIT_COUNT(DTYPES); d++) {
            size_t bytes = PE_LINE_MAX * pe_dtype_size(DTYPES[d]);
            pe_round_row(DTYPES[d], numbers, PE_LINE_MAX, expected);
            for (size_t k = 0; k < count; k++) {
                kernels[k]->lines->round(DTYPES[d], numbers, PE_LINE_MAX, got);
                ck_assert_msg(memcmp(got, expected, bytes) == 0, "%s by %s",
                              pe_dtype_name(DTYPES[d]), kernels[k]->name);
            }
        }
    }
}
END_TEST

/* One number that is near a boundary is enough: each length and place has its turn. */
START_TEST(numbers_with_an_error_are_rounded_at_both_ends)
{
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels), uncertain = 0;
    uint64_t state = 6;
    for (int repeat = 0; repeat < 4000; repeat++) {
        const size_t length = 1 + unit_random(&state) % 40;
        const double error = ldexp(1, -30 - (int)(unit_random(&state) % 40));
        double numbers[40], low[40], high[40];
        unsigned char got[sizeof numbers], ends[2][sizeof numbers];
        for (size_t i = 0; i < length; i++) {
            numbers[i] = random_number(&state);
            low[i] = numbers[i] - error;
            high[i] = numbers[i] + error;
        }
        for (size_t d = 0; d < UNIT_COUNT(DTYPES); d++) {
            const size_t bytes = length * pe_dtype_size(DTYPES[d]);
            pe_round_row(DTYPES[d], low, length, ends[0]);
            pe_round_row(DTYPES[d], high, length, ends[1]);
            bool alike = memcmp(ends[0], ends[1], bytes) == 0;
            uncertain += !alike;
            for (size_t k = 0; k < count; k++) {
                bool said =
                    kernels[k]->lines->round_about(DTYPES[d], numbers, error, length, got);
                ck_assert_msg(said == alike && memcmp(got, ends[0], bytes) == 0,
                              "%s: %s, %zu numbers", kernels[k]->name, pe_dtype_name(DTYPES[d]),
                              length);
            }
        }
    }
    ck_assert_msg(uncertain > 1000 && uncertain < 15000, "%zu of 16000", uncertain);
}
END_TEST

START_TEST(exact_progressions_are_exact)
{
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels);
    double got[PE_LINE_MAX];
    for (size_t k = 0; k < count; k++) {
        kernels[k]->lines->exact(0x1p52 - 3, -0.5, PE_LINE_MAX, got);
        for (size_t i = 0; i < PE_LINE_MAX; i++)
            unit_assert(got[i] == 0x1p52 - 3 - (double)i / 2);
    }
}
END_TEST

START_TEST(exact_progressions_of_floats_are_rounded_once)
{
    static const float FIRST[] = {0, -0.0F, -2050, 65504 - 512, -0x1p-24F, 0.125F},
                       STEPS[] = {1, -1, 0, 0x1p-26F, 3};
    static const pe_dtype SHORT[] = {PE_F16, PE_BF16};
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels);
    for (size_t i = 0; i < count * UNIT_COUNT(FIRST) * UNIT_COUNT(STEPS) * 2; i++) {
        const pe_kernel *kernel = kernels[i % count];
        const float first = FIRST[i / count % UNIT_COUNT(FIRST)];
        const float step = STEPS[i / count / UNIT_COUNT(FIRST) % UNIT_COUNT(STEPS)];
        const pe_dtype dtype = SHORT[i / count / UNIT_COUNT(FIRST) / UNIT_COUNT(STEPS)];
        const size_t rows = step == 3 ? 169 : PE_LINE_MAX;
        double numbers[PE_LINE_MAX];
        uint16_t got[PE_LINE_MAX], expected[PE_LINE_MAX];
        for (size_t j = 0; j < rows; j++)
            numbers[j] = (double)(first + (float)j * step);
        pe_round_row(dtype, numbers, rows, expected);
        kernel->lines->exact_16(dtype, first, step, rows, got);
        ck_assert_msg(memcmp(got, expected, rows * sizeof *got) == 0, "%s by %s: %g + i*%g",
                      pe_dtype_name(dtype), kernel->name, (double)first, (double)step);
    }
}
END_TEST

Suite *lines_suite(void)
{
    const TTest *const tests[] = {sums_are_the_positions,
                                  quotients_are_rounded_to_nearest_or_to_odd,
                                  numbers_are_rounded_as_one_by_one,
                                  numbers_with_an_error_are_rounded_at_both_ends,
                                  exact_progressions_are_exact,
                                  exact_progressions_of_floats_are_rounded_once,
                                  NULL};
    return unit_suite("lines", tests);
}
