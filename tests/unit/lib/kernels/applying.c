/* Tests of applying entries to rows: whatever a kernel decides is what exact sums give. */
#include "kernels/applying.h"

#include "apply/sum.h"
#include "kernels/kernel.h"
#include "numerics/dtype.h"
#include "unit.h"

#include <math.h>
#include <string.h>

#define COUNT 40

static const pe_dtype DTYPES[] = {PE_F32, PE_F64, PE_F16, PE_BF16};

typedef struct numbers {
    double x[COUNT], y[COUNT], one_hi[COUNT], one_lo[COUNT], other_hi[COUNT], other_lo[COUNT];
    double value[COUNT], rest[COUNT], bound[COUNT], rounded[COUNT];
} numbers;

/* A number of about 2^exponent. */
static double number_near(uint64_t *state, int exponent)
{
    double number = 1 + (double)(unit_random(state) >> 12) * 0x1p-52;
    return ldexp(unit_random(state) & 1 ? -number : number, exponent);
}

/* Numbers within 2^spread of 1, and entries below 1 in pairs. */
static void draw(numbers *all, uint64_t *state, unsigned spread)
{
    for (size_t i = 0; i < COUNT; i++) {
        int low = (int)(unit_random(state) % (2 * spread + 1)) - (int)spread;
        int high = (int)(unit_random(state) % (2 * spread + 1)) - (int)spread;
        all->x[i] = number_near(state, low);
        all->y[i] = number_near(state, high);
        all->one_hi[i] = number_near(state, -1);
        all->other_hi[i] = number_near(state, -2);
        all->one_lo[i] = number_near(state, -56);
        all->other_lo[i] = number_near(state, -57);
    }
}

/* Check what was decided of one number, whose exact sum is given. Returns whether it was. */
static bool check(double rounded, const pe_sum *sum, pe_dtype dtype)
{
    if (!isnan(rounded))
        ck_assert_double_eq(rounded, pe_sum_rounded(sum, dtype));
    return !isnan(rounded);
}

static size_t check_each(const pe_applying *kernel, numbers *all, pe_dtype dtype)
{
    const pe_entry_row entries = {all->one_hi, all->one_lo};
    const pe_sums sums = {all->value, dtype == PE_F64 ? all->rest : NULL, all->bound};
    size_t decided = 0;
    kernel->add(all->x, 0.7, entries, COUNT, sums);
    kernel->decide(dtype, sums, COUNT, all->rounded);
    for (size_t i = 0; i < COUNT; i++) {
        pe_sum sum = {.nan = false};
        pe_sum_add(&sum, all->x[i], (dd){1, 0});
        pe_sum_add(&sum, 0.7, (dd){all->one_hi[i], all->one_lo[i]});
        decided += check(all->rounded[i], &sum, dtype);
    }
    kernel->multiply(all->x, entries, COUNT, sums);
    kernel->decide(dtype, sums, COUNT, all->rounded);
    for (size_t i = 0; i < COUNT; i++) {
        pe_sum sum = {.nan = false};
        pe_sum_add(&sum, all->x[i], (dd){all->one_hi[i], all->one_lo[i]});
        decided += check(all->rounded[i], &sum, dtype);
    }
    return decided;
}

static size_t check_turns(const pe_applying *kernel, numbers *all, pe_dtype dtype)
{
    const pe_entry_row one = {all->one_hi, all->one_lo}, other = {all->other_hi, all->other_lo};
    const pe_sums sums = {all->value, dtype == PE_F64 ? all->rest : NULL, all->bound};
    size_t decided = 0;
    for (int turn = -1; turn <= 1; turn += 2) {
        kernel->rotate(all->x, all->y, turn, one, other, COUNT, sums);
        kernel->decide(dtype, sums, COUNT, all->rounded);
        for (size_t i = 0; i < COUNT; i++) {
            pe_sum sum = {.nan = false};
            pe_sum_add(&sum, all->x[i], (dd){all->one_hi[i], all->one_lo[i]});
            pe_sum_add(&sum, -turn * all->y[i], (dd){all->other_hi[i], all->other_lo[i]});
            decided += check(all->rounded[i], &sum, dtype);
        }
    }
    return decided;
}

/* Four contractions of ten numbers, and ten combinations of four. */
static size_t check_contractions(const pe_applying *kernel, numbers *all, pe_dtype dtype)
{
    const pe_entry_row entries = {all->one_hi, all->one_lo};
    const pe_sums sums = {all->value, dtype == PE_F64 ? all->rest : NULL, all->bound};
    size_t decided = 0;
    kernel->contract(all->x, entries, 10, 4, sums);
    kernel->decide(dtype, sums, 4, all->rounded);
    for (size_t j = 0; j < 4; j++) {
        pe_sum sum = {.nan = false};
        for (size_t i = 0; i < 10; i++)
            pe_sum_add(&sum, all->x[i], (dd){all->one_hi[10 * j + i], all->one_lo[10 * j + i]});
        decided += check(all->rounded[j], &sum, dtype);
    }
    kernel->combine(all->x, entries, 4, 10, sums);
    kernel->decide(dtype, sums, 10, all->rounded);
    for (size_t j = 0; j < 10; j++) {
        pe_sum sum = {.nan = false};
        for (size_t i = 0; i < 4; i++)
            pe_sum_add(&sum, all->x[i], (dd){all->one_hi[10 * i + j], all->one_lo[10 * i + j]});
        decided += check(all->rounded[j], &sum, dtype);
    }
    return decided;
}

START_TEST(what_is_decided_is_what_exact_sums_give)
{
    static const unsigned SPREADS[] = {1, 20, 150, 1020};
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels);
    static numbers all;
    uint64_t state = 3;
    for (size_t k = 0; k < count; k++)
        for (size_t s = 0; s < UNIT_COUNT(SPREADS); s++)
            for (size_t d = 0; d < UNIT_COUNT(DTYPES); d++) {
                size_t decided = 0;
                for (int round = 0; round < 20; round++) {
                    draw(&all, &state, SPREADS[s]);
                    decided += check_each(kernels[k]->applying, &all, DTYPES[d]);
                    decided += check_turns(kernels[k]->applying, &all, DTYPES[d]);
                    decided += check_contractions(kernels[k]->applying, &all, DTYPES[d]);
                }
                if (s < 3) /* nearly all of 20 · 174 */
                    ck_assert_uint_ge(decided, 20 * 174 - 3);
            }
}
END_TEST

START_TEST(every_half_is_read_and_stored)
{
    const pe_kernel *kernels[8];
    size_t count = pe_kernel_list(kernels);
    static uint16_t halves[65536], stored[65536];
    static double found[65536];
    for (size_t i = 0; i < UNIT_COUNT(halves); i++)
        halves[i] = (uint16_t)i;
    for (size_t k = 0; k < count; k++)
        for (size_t d = 2; d < 4; d++) {
            kernels[k]->applying->read(DTYPES[d], halves, UNIT_COUNT(halves), found);
            kernels[k]->applying->store(DTYPES[d], found, UNIT_COUNT(halves), stored);
            for (size_t i = 0; i < UNIT_COUNT(halves); i++) {
                double value = pe_element_value(DTYPES[d], &halves[i]);
                ck_assert(found[i] == value || (isnan(found[i]) && isnan(value)));
                if (!isnan(value))
                    ck_assert_uint_eq(stored[i], i == 0x8000 ? 0 : i);
            }
        }
}
END_TEST

START_TEST(nothing_is_decided_of_what_is_no_number)
{
    static numbers all;
    const pe_applying *kernel = pe_kernel_get()->applying;
    for (size_t d = 0; d < UNIT_COUNT(DTYPES); d++) {
        const pe_entry_row entries = {all.one_hi, all.one_lo};
        const pe_sums sums = {all.value, DTYPES[d] == PE_F64 ? all.rest : NULL, all.bound};
        for (size_t i = 0; i < COUNT; i++) {
            all.x[i] = i % 2 ? (double)INFINITY : (double)NAN;
            all.one_hi[i] = i % 3 ? 1 : 0;
        }
        kernel->multiply(all.x, entries, COUNT, sums);
        kernel->decide(DTYPES[d], sums, COUNT, all.rounded);
        for (size_t i = 0; i < COUNT; i++)
            ck_assert(isnan(all.rounded[i]));
    }
}
END_TEST

Suite *applying_suite(void)
{
    const TTest *const tests[] = {
        what_is_decided_is_what_exact_sums_give,
        every_half_is_read_and_stored,
        nothing_is_decided_of_what_is_no_number,
        NULL,
    };
    return unit_suite("applying", tests);
}
