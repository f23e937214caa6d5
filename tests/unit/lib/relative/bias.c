/* Biases and decays by the distance: rounding boundaries, stored numbers, and refusals. */
#include "sets.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Store p and a of so many heads for kerple. */
static void store(size_t heads, const double *p, const double *a)
{
    const unit_tensor tensors[] = {{"p", PE_F64, 2, {heads, 1}, p},
                                   {"a", PE_F64, 2, {heads, 1}, a}};
    unit_store(tensors, UNIT_COUNT(tensors));
}

START_TEST(powers_that_lie_on_rounding_boundaries_are_rounded_to_even)
{
    /* a·sqrt(distance) at squares: 2^24 + 1 and 2^24 + 3 halves times 1, 2, 3 … */
    static const double P[] = {0.5, 0.5, 1, 2},
                        A[] = {0x1.0000008p0, 0x1.0000018p0, 0x1.0000008p0, 0x1.0000018p0};
    store(4, P, A);
    pe_table *table = unit_set_table(
        "kerple", "length=400&query_length=1&query_offset=0&kernel=power&set=set");
    const float *bias = pe_table_data(table, 0);
    for (size_t h = 0; h < 4; h++)
        for (int root = 1; root < 20; root++) {
            int distance = root * root;
            double exact = A[h] * pow(distance, P[h]); /* no more than 53 bits */
            ck_assert_msg(bias[h * 400 + (size_t)distance] == (float)-exact, "%zu: %d", h,
                          distance);
        }
    pe_table_unref(table);
    unit_store(NULL, 0);
}
END_TEST

START_TEST(stored_numbers_below_the_least_count_as_it)
{
    static const double P[] = {-3, 0.001, 7}, A[] = {0.5, -1, 0.25};
    static const double LOG_P[] = {0.01, 0.01, 7}, POWER_P[] = {0.01, 0.01, 2};
    static const char *const KERNELS[] = {"log", "power"};
    store(3, P, A);
    for (size_t k = 0; k < 2; k++) {
        char query[100];
        snprintf(query, sizeof query, "length=3&set=set&dtype=f64&kernel=%s", KERNELS[k]);
        pe_table *table = unit_set_table("kerple", query);
        const double *p = pe_table_data(table, 1), *a = pe_table_data(table, 2);
        for (size_t h = 0; h < 3; h++) {
            ck_assert(p[h] == (k == 0 ? LOG_P : POWER_P)[h]);
            ck_assert(a[h] == (h == 1 ? 0.01 : A[h]));
        }
        pe_table_unref(table);
    }
    unit_store(NULL, 0);
}
END_TEST

START_TEST(biases_that_do_not_fit_the_dtype_are_refused)
{
    static const double P[] = {1, 2}, A[] = {1, 1}, LARGE[] = {1, 2e30};
    store(2, P, A);
    const char *fits = "length=256&kernel=power&set=set&dtype=f16";
    pe_table_unref(unit_set_table("kerple", fits)); /* 255² = 65025 */
    unit_set_refuses("kerple", "length=257&kernel=power&set=set&dtype=f16", "dtype", "f16");
    pe_table_unref(unit_set_table("kerple", "length=257&set=set&dtype=f16"));
    store(2, LARGE, A);
    unit_set_refuses("kerple", "length=2&set=set", "set", "1e+30");
    unit_store(NULL, 0);
    unit_refuses("sandwich", "length=2&heads=65536&dim=128&dtype=f16", PE_OUT_OF_RANGE, "dtype",
                 "f16");
}
END_TEST

START_TEST(factors_of_retnet_are_those_of_the_product)
{
    /* gamma^d as a product of integers: 31^d / 2^(5d) has few bits */
    pe_table *table = unit_table("retnet", "length=11&query_length=1&heads=2&dim=2&dtype=f64");
    const double *mask = pe_table_data(table, 0);
    double power[2] = {1, 1};
    for (size_t distance = 0; distance < 11; distance++) {
        for (size_t h = 0; h < 2; h++) {
            bool exact = distance <= (h == 0 ? 10 : 8);
            ck_assert_msg(!exact || mask[h * 11 + 10 - distance] == power[h], "%zu^%zu", h,
                          distance);
            power[h] *= h == 0 ? 31.0 / 32 : 63.0 / 64;
        }
    }
    pe_table_unref(table);
}
END_TEST

START_TEST(queries_before_the_threshold_of_fire_are_as_if_at_it)
{
    /* the rows of an expanded matrix up to the threshold are slices of one run of distances */
    pe_table *matrix = unit_table("fire", "length=9&heads=2&threshold=5");
    pe_table *run = unit_table("fire", "length=9&query_length=6&query_offset=0&heads=2"
                                       "&threshold=5&form=compact");
    const float *cells = pe_table_data(matrix, 0), *distances = pe_table_data(run, 0);
    for (size_t h = 0; h < 2; h++)
        for (size_t i = 0; i < 9; i++) {
            int same = memcmp(cells + (h * 9 + i) * 9, distances + h * 14 + 5 - (i < 6 ? i : 5),
                              9 * sizeof *cells);
            ck_assert_int_eq(same == 0, i < 6);
        }
    pe_table_unref(matrix);
    pe_table_unref(run);
    unit_refuses("fire", "length=9&heads=2&threshold=7.5&form=compact", PE_OUT_OF_RANGE, "form",
                 "threshold");
}
END_TEST

Suite *bias_suite(void)
{
    const TTest *const tests[] = {
        powers_that_lie_on_rounding_boundaries_are_rounded_to_even,
        stored_numbers_below_the_least_count_as_it,
        biases_that_do_not_fit_the_dtype_are_refused,
        factors_of_retnet_are_those_of_the_product,
        queries_before_the_threshold_of_fire_are_as_if_at_it,
        NULL,
    };
    return unit_suite("bias", tests);
}
