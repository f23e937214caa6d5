/* Hierarchical positions: the prefix, the formula, stored tables, refusals. */
#include "kernels/kernel.h"
#include "sets.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double TABLE[6] = {0.5, -2, 3, 1e-3, 7, 1e5};

START_TEST(the_first_rows_are_the_table_bit_for_bit)
{
    for (int dtype = PE_F32; dtype < PE_I32; dtype++) {
        char query[200];
        snprintf(query, sizeof query, "length=7&dim=300&seed=5&dtype=%s",
                 pe_dtype_name((pe_dtype)dtype));
        pe_table *learned = unit_table("learned", query);
        strcat(query, "&base_length=7&alpha=0.123");
        pe_table *got = unit_table("hierarchical", query);
        ck_assert_int_eq(memcmp(pe_table_data(learned, 0), pe_table_data(got, 0),
                                (size_t)pe_table_tensor(learned, 0)->bytes),
                         0);
        pe_table_unref(learned);
        pe_table_unref(got);
    }
}
END_TEST

START_TEST(rows_are_sums_of_the_basis)
{
    const double alpha = 0.4;
    pe_table *table = unit_table("hierarchical", "length=36&base_length=6&dim=5&dtype=f64");
    const double *rows = pe_table_data(table, 0), *basis = pe_table_data(table, 1);
    for (size_t k = 0; k < 36; k++)
        for (size_t c = 0; c < 5; c++) {
            double u = basis[k / 6 * 5 + c], w = basis[k % 6 * 5 + c];
            ck_assert(fabs(alpha * u + (1 - alpha) * w - rows[k * 5 + c]) < 1e-16);
        }
    pe_table_unref(table);
}
END_TEST

START_TEST(a_stored_table_is_extrapolated)
{
    const unit_tensor tensor = {"table", PE_F64, 2, {3, 2}, TABLE};
    unit_store(&tensor, 1);
    pe_table *table = unit_set_table("hierarchical", "length=9&set=set&alpha=0.25&dtype=f64");
    ck_assert_uint_eq(pe_table_tensor(table, 1)->shape[0], 3);
    const double *rows = pe_table_data(table, 0), *basis = pe_table_data(table, 1);
    ck_assert_int_eq(memcmp(rows, TABLE, sizeof TABLE), 0);
    ck_assert(fabs(rows[6] - 4.0 / 3) < 1e-15 && fabs(rows[12] - 8.0 / 3) < 1e-15);
    ck_assert(basis[0] == 0.5 && fabs(basis[2] - 11.5 / 3) < 1e-15);
    pe_table_unref(table);
    unit_store(NULL, 0);
}
END_TEST

/* Sums about as far off as they may be, which is much for the small elements. */
static pe_kernel far_off;
static const double LARGEST = 1e12, ALPHA = 0.25;

static void weigh_far_off(const double *const *rows, const double *weights, size_t taps,
                          size_t count, bool add, double *sums)
{
    const double error = 0x1p-50 * LARGEST / (1 - ALPHA);
    pe_kernel_use(NULL);
    pe_kernel_get()->weigh(rows, weights, taps, count, add, sums);
    for (size_t i = 0; i < count; i++)
        sums[i] += (i % 2 ? 0.9 : -0.9) * error;
    pe_kernel_use(&far_off);
}

START_TEST(sums_that_are_near_do_not_show)
{
    const double elements[6] = {0.5, -2, 3, 1e-3, 0, LARGEST};
    const unit_tensor tensor = {"table", PE_F64, 2, {3, 2}, elements};
    unit_store(&tensor, 1);
    pe_table *exact = unit_set_table("hierarchical", "length=9&set=set&alpha=0.25&dtype=f64");
    far_off = *pe_kernel_get();
    far_off.weigh = weigh_far_off;
    pe_kernel_use(&far_off);
    pe_table *near = unit_set_table("hierarchical", "length=9&set=set&alpha=0.25");
    pe_kernel_use(NULL);
    for (size_t t = 0; t < 2; t++) {
        const double *expected = pe_table_data(exact, t);
        const float *got = pe_table_data(near, t);
        for (size_t i = 0; i < pe_table_tensor(exact, t)->elements; i++)
            ck_assert_msg(got[i] == (float)expected[i], "%zu: %a for %a", i, (double)got[i],
                          expected[i]);
    }
    pe_table_unref(exact);
    pe_table_unref(near);
    unit_store(NULL, 0);
}
END_TEST

START_TEST(a_table_too_large_to_keep_gives_the_same_bits)
{
    /* 1100 · 1000 elements are drawn row by row, 1000 · 1000 at once */
    pe_table *large =
        unit_table("hierarchical", "length=3&offset=900&base_length=1100&dim=1000");
    pe_table *small =
        unit_table("hierarchical", "length=3&offset=900&base_length=1000&dim=1000");
    ck_assert_int_eq(memcmp(pe_table_data(large, 0), pe_table_data(small, 0), 12000), 0);
    ck_assert_int_eq(memcmp(pe_table_data(large, 1), pe_table_data(small, 1), 4000000), 0);
    pe_table_unref(large);
    pe_table_unref(small);
}
END_TEST

START_TEST(refuses_what_cannot_be_extrapolated)
{
    static const char *const ALPHAS[] = {"0", "0.5", "1", "-0.1", "1.5"};
    for (size_t i = 0; i < UNIT_COUNT(ALPHAS); i++) {
        char query[100];
        snprintf(query, sizeof query, "length=2&base_length=4&dim=4&alpha=%s", ALPHAS[i]);
        unit_refuses("hierarchical", query, PE_OUT_OF_RANGE, "alpha", "above 0 and below 1");
    }
    unit_refuses("hierarchical", "length=17&base_length=4&dim=4", PE_OUT_OF_RANGE, "length",
                 "below 16");
    unit_refuses("hierarchical", "positions=1,16&base_length=4&dim=4", PE_OUT_OF_RANGE,
                 "positions", "square");
    unit_misses("hierarchical", "length=2&dim=4", "base_length");
    unit_misses("hierarchical", "length=2&base_length=4", "dim");
    unit_refuses("hierarchical", "length=2&base_length=4&dim=4&alpha=0.9999999&dtype=f16",
                 PE_OUT_OF_RANGE, "dtype", "alpha");
    const unit_tensor tensor = {"table", PE_F64, 2, {3, 2}, TABLE};
    unit_store(&tensor, 1);
    unit_set_refuses("hierarchical", "length=2&set=set&dtype=f16", "dtype", "set");
    unit_set_refuses("hierarchical", "length=10&set=set", "length", "below 9");
    const unit_tensor flat = {"table", PE_F64, 1, {6}, TABLE};
    unit_store(&flat, 1);
    unit_set_refuses("hierarchical", "length=2&set=set", "set", "table [N, dim]");
    unit_store(NULL, 0);
}
END_TEST

Suite *hierarchical_suite(void)
{
    const TTest *const tests[] = {the_first_rows_are_the_table_bit_for_bit,
                                  rows_are_sums_of_the_basis,
                                  a_stored_table_is_extrapolated,
                                  sums_that_are_near_do_not_show,
                                  a_table_too_large_to_keep_gives_the_same_bits,
                                  refuses_what_cannot_be_extrapolated,
                                  NULL};
    return unit_suite("hierarchical", tests);
}
