/* Learned tables: seeded, stored, and both. */
#include "kernels/kernel.h"
#include "sets.h"

#include <math.h>
#include <string.h>

static pe_kernel far_off; /* the usual one, but for what it draws */

static const double TABLE[12] = {0.5, -2, 3, 1e-3, 0, -0.0, 7, 8, 9, 1e5, 11, -12};

static void store(pe_dtype dtype)
{
    const unit_tensor tensor = {"table", dtype, 2, {4, 3}, TABLE};
    unit_store(&tensor, 1);
}

START_TEST(rows_of_a_stored_table_are_its_own_bits)
{
    static const pe_dtype DTYPES[] = {PE_F64, PE_F32};
    for (size_t d = 0; d < UNIT_COUNT(DTYPES); d++) {
        store(DTYPES[d]);
        pe_table *table = unit_set_table("learned", "length=4&set=set&dtype=f64");
        ck_assert_uint_eq(pe_table_tensor(table, 0)->shape[1], 3);
        const double *got = pe_table_data(table, 0);
        for (size_t i = 0; i < 12; i++) {
            double expected = DTYPES[d] == PE_F32 ? (double)(float)TABLE[i] : TABLE[i];
            ck_assert(got[i] == expected && signbit(got[i]) == (expected < 0));
        }
        pe_table_unref(table);
        table = unit_set_table("learned", "positions=3,0,3&set=set&dim=3&base_length=4");
        const float *rows = pe_table_data(table, 0);
        ck_assert(rows[2] == -12 && rows[3] == 0.5F && rows[8] == -12);
        pe_table_unref(table);
    }
    unit_store(NULL, 0);
}
END_TEST

START_TEST(rows_beyond_a_stored_table_are_those_of_seed_0)
{
    store(PE_F64);
    pe_table *mixed =
        unit_set_table("learned", "length=10&set=set&extend=random&init=uniform&std=2");
    pe_table *seeded = unit_table("learned", "length=10&dim=3&init=uniform&std=2");
    const float *got = pe_table_data(mixed, 0), *expected = pe_table_data(seeded, 0);
    ck_assert(got[9] == 1e5F && got[11] == -12);
    ck_assert_int_eq(memcmp(got + 12, expected + 12, 18 * sizeof *got), 0);
    pe_table_unref(mixed);
    pe_table_unref(seeded);
    unit_store(NULL, 0);
}
END_TEST

START_TEST(rows_before_base_length_do_not_change_when_it_is_extended)
{
    ck_assert(unit_begin_alike("learned", "length=10&dim=5&base_length=10&seed=3",
                               "length=30&dim=5&base_length=10&seed=3&extend=random", 200));
}
END_TEST

START_TEST(rows_for_padding_come_before_position_0)
{
    store(PE_F64);
    pe_table *table = unit_set_table("learned", "length=2&set=set&row_offset=2&padding_row=3");
    const float *got = pe_table_data(table, 0);
    ck_assert(got[0] == 7 && got[2] == 9 && got[3] == 0 && got[5] == 0);
    pe_table_unref(table);
    unit_set_refuses("learned", "length=3&set=set&row_offset=2", "length",
                     "below 2, the number of rows of the table from row_offset on");
    unit_set_refuses("learned", "length=1&set=set&row_offset=4", "length", "below 0");
    /* 1e5 is no f16; a row that is zero does not count */
    unit_set_refuses("learned", "length=1&set=set&row_offset=3&dtype=f16", "dtype", "set");
    pe_table_unref(
        unit_set_table("learned", "length=1&set=set&row_offset=3&dtype=f16&padding_row=3"));
    pe_table_unref(unit_set_table(
        "learned", "positions=1,0&set=set&row_offset=2&dtype=f16&padding_row=3"));
    unit_store(NULL, 0);
    unit_refuses("learned", "length=2&dim=4&row_offset=-1", PE_OUT_OF_RANGE, "row_offset",
                 "from 0");
}
END_TEST

START_TEST(seeds_make_tables_of_their_own)
{
    ck_assert(unit_begin_alike("learned", "length=4&dim=4", "length=4&dim=4&seed=0", 64));
    ck_assert(!unit_begin_alike("learned", "length=4&dim=4", "length=4&dim=4&seed=1", 64));
}
END_TEST

START_TEST(initialisers_have_their_scale)
{
    static const struct {
        const char *query;
        double variance;
    } SCALES[] = {
        {"&std=3", 9},
        {"&init=uniform&std=3", 9},
        {"&init=trunc_normal&std=1", 0.7737413},
        {"&init=xavier_uniform&base_length=500", 2.0 / 600},
        {"&init=xavier_normal&base_length=500", 2.0 / 600},
        {"&init=zeros", 0},
    };
    for (size_t i = 0; i < UNIT_COUNT(SCALES); i++) {
        char query[200] = "length=500&dim=100&dtype=f64";
        strcat(query, SCALES[i].query);
        pe_table *table = unit_table("learned", query);
        const double *values = pe_table_data(table, 0);
        double sum = 0, squares = 0;
        for (size_t e = 0; e < 50000; e++) {
            sum += values[e];
            squares += values[e] * values[e];
        }
        ck_assert(fabs(sum / 50000) <= 0.025 * sqrt(SCALES[i].variance));
        ck_assert(fabs(squares / 50000 - SCALES[i].variance) <= 0.035 * SCALES[i].variance);
        pe_table_unref(table);
    }
}
END_TEST

START_TEST(refuses_what_the_table_does_not_have)
{
    unit_refuses("learned", "length=11&dim=4&base_length=10", PE_OUT_OF_RANGE, "length",
                 "below 10");
    unit_refuses("learned", "positions=3,10&dim=4&base_length=10", PE_OUT_OF_RANGE, "positions",
                 "extend=random");
    unit_refuses("learned", "length=2&offset=-1&dim=4", PE_OUT_OF_RANGE, "offset", "0, 1, 2");
    unit_refuses("learned", "length=2&step=0.5&dim=4", PE_OUT_OF_RANGE, "step", "0, 1, 2");
    unit_refuses("learned", "length=2&dim=4&init=xavier_normal", PE_OUT_OF_RANGE, "base_length",
                 "xavier_normal");
    unit_refuses("learned", "length=2&dim=4&std=8000&dtype=f16", PE_OUT_OF_RANGE, "dtype",
                 "std");
    unit_refuses("learned", "length=2&offset=9007199254740000&dim=4096", PE_OUT_OF_RANGE,
                 "length", "below 2^64");
    unit_refuses("learned", "length=2&dim=4&seed=-1", PE_OUT_OF_RANGE, "seed", "from 0");
    unit_refuses("learned", "length=2&dim=4&seed=0.5", PE_MALFORMED, "seed", "integer");
    unit_misses("learned", "length=2", "dim");
    unit_refuses("learned", "length=2&set=none", PE_OUT_OF_RANGE, "set", "a set");
}
END_TEST

START_TEST(refuses_a_set_that_does_not_fit)
{
    const unit_tensor wrong[] = {{"table", PE_F64, 1, {12}, TABLE},
                                 {"weights", PE_F64, 2, {4, 3}, TABLE},
                                 {"table", PE_I32, 2, {4, 3}, TABLE},
                                 {"table", PE_F64, 2, {0, 3}, TABLE}};
    for (size_t i = 0; i < UNIT_COUNT(wrong); i++) {
        unit_store(&wrong[i], 1);
        unit_set_refuses("learned", "length=1&set=set", "set", "table");
    }
    store(PE_F64);
    unit_set_refuses("learned", "length=5&set=set", "length", "below 4");
    unit_set_refuses("learned", "length=1&set=set&dim=4", "dim", "3");
    unit_set_refuses("learned", "length=1&set=set&base_length=5", "base_length", "4");
    unit_set_refuses("learned", "length=1&set=set&seed=1", "seed", "left out with set");
    unit_set_refuses("learned", "length=4&set=set&dtype=f16", "dtype", "set");
    unit_set_refuses("learned", "positions=3,0&set=set&dtype=f16", "dtype", "f16, which ends");
    pe_table_unref(unit_set_table("learned", "length=3&set=set&dtype=f16"));
    pe_table_unref(unit_set_table("learned", "length=4&offset=2&step=0&set=set"));
    unit_store(NULL, 0);
}
END_TEST

/* Variables as far off as they may be. */
static void move(double *variables, size_t count, double error)
{
    for (size_t i = 0; i < count; i++)
        variables[i] += (i % 2 ? 0.9 : -0.9) * error;
    pe_kernel_use(&far_off);
}

static void draw_normals_far_off(const pe_draws *draws, size_t count, double *ret_normals)
{
    pe_kernel_use(NULL);
    pe_kernel_get()->near_normals(draws, count, ret_normals);
    move(ret_normals, count, PE_NEAR_NORMAL);
}

static void draw_truncated_far_off(const pe_draws *draws, size_t count, double *ret_truncated)
{
    pe_kernel_use(NULL);
    pe_kernel_get()->near_truncated(draws, count, ret_truncated);
    move(ret_truncated, count, PE_NEAR_TRUNCATED);
}

START_TEST(variables_that_are_near_do_not_show)
{
    static const char *const QUERIES[] = {
        "length=2048&dim=1024&std=1", "length=1024&dim=1024&std=0.02&dtype=f16",
        "length=1024&dim=1024&dtype=bf16", "length=8192&dim=1024&init=trunc_normal&std=1",
        "length=512&dim=1024&init=xavier_normal&base_length=512"};
    for (size_t i = 0; i < UNIT_COUNT(QUERIES); i++) {
        pe_table *exact = unit_table("learned", QUERIES[i]);
        far_off = *pe_kernel_get();
        far_off.near_normals = draw_normals_far_off;
        far_off.near_truncated = draw_truncated_far_off;
        pe_kernel_use(&far_off);
        pe_table *near = unit_table("learned", QUERIES[i]);
        pe_kernel_use(NULL);
        ck_assert_msg(memcmp(pe_table_data(exact, 0), pe_table_data(near, 0),
                             (size_t)pe_table_tensor(exact, 0)->bytes) == 0,
                      "%s", QUERIES[i]);
        pe_table_unref(exact);
        pe_table_unref(near);
    }
}
END_TEST

Suite *learned_suite(void)
{
    const TTest *const tests[] = {rows_of_a_stored_table_are_its_own_bits,
                                  rows_beyond_a_stored_table_are_those_of_seed_0,
                                  rows_before_base_length_do_not_change_when_it_is_extended,
                                  rows_for_padding_come_before_position_0,
                                  seeds_make_tables_of_their_own,
                                  initialisers_have_their_scale,
                                  refuses_what_the_table_does_not_have,
                                  refuses_a_set_that_does_not_fit,
                                  variables_that_are_near_do_not_show,
                                  NULL};
    return unit_suite("learned", tests);
}
