/* What rope gives beside its tables: one cache, and factors of scores and queries. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#define YARN "&rope_type=yarn&factor=4&original_max_position_embeddings=64"

static size_t find(const pe_table *table, const char *name)
{
    size_t t = 0;
    while (t < pe_table_tensor_count(table) &&
           strcmp(pe_table_tensor(table, t)->name, name) != 0)
        t++;
    ck_assert_msg(t < pe_table_tensor_count(table), "there is no tensor %s", name);
    return t;
}

START_TEST(tables_have_nothing_that_is_not_asked_for)
{
    static const char *const OPTIONS[] = {"", "&preset=deepseek_v3", "&preset=llama4_scout",
                                          "&cos_sin=false", "&preset=ministral3"};
    for (size_t i = 0; i < UNIT_COUNT(OPTIONS); i++) {
        char query[100];
        snprintf(query, sizeof query, "length=4&dim=8%s", OPTIONS[i]);
        pe_table *table = unit_table("rope", query);
        ck_assert_uint_eq(pe_table_tensor_count(table), 3);
        ck_assert_str_eq(pe_table_tensor(table, 2)->name, "inv_freq");
        pe_table_unref(table);
    }
}
END_TEST

/* Check that the rows of cos_sin are those of cos beside those of sin. */
static void check_cache(const char *options)
{
    char query[300];
    snprintf(query, sizeof query, "%s&cos_sin=true", options);
    pe_table *apart = unit_table("rope", options), *cache = unit_table("rope", query);
    const pe_tensor *shape = pe_table_tensor(apart, 0), *both = pe_table_tensor(cache, 0);
    size_t row_bytes = (size_t)(shape->bytes / shape->shape[0]);
    ck_assert_str_eq(both->name, "cos_sin");
    ck_assert_uint_eq(pe_table_tensor_count(cache), 2);
    ck_assert_uint_eq(both->shape[1], 2 * shape->shape[1]);
    for (size_t row = 0; row < shape->shape[0]; row++)
        for (size_t part = 0; part < 2; part++)
            ck_assert_msg(
                !memcmp((const char *)pe_table_data(cache, 0) + (2 * row + part) * row_bytes,
                        (const char *)pe_table_data(apart, part) + row * row_bytes, row_bytes),
                "%s: row %zu", options, row);
    pe_table_unref(apart);
    pe_table_unref(cache);
}

START_TEST(a_cache_holds_cosines_beside_sines)
{
    static const char *const OPTIONS[] = {
        "length=70&offset=-3&dim=8",
        "length=9&dim=140&offset=1e9",
        ("length=40&dim=16&step=0.1" YARN),
        "length=30&dim=16&rope_type=proportional&partial_rotary_factor=0.5",
        "positions=0,1e9,-0.5,0.000001&dim=66&layout=interleaved",
        "length=6&dim=32&partial_rotary_factor=0.25&rope_theta=1e18",
    };
    for (size_t i = 0; i < UNIT_COUNT(OPTIONS); i++)
        for (int dtype = PE_F32; dtype < PE_I32; dtype++) {
            char options[200];
            snprintf(options, sizeof options, "%s&dtype=%s", OPTIONS[i],
                     pe_dtype_name((pe_dtype)dtype));
            check_cache(options);
        }
}
END_TEST

/* ---- refusals ---- */

START_TEST(extras_that_make_no_sense_are_refused)
{
    static const char *const WRONG[][3] = {
        {"&cos_sin=true&table=full", "table", "half_width"},
        {"&softmax_factor=true", "softmax_factor", "left out with rope_type=default"},
        {"&temperature_beta=1", "temperature_beta", "left out without temperature"},
        {"&temperature_length=9", "temperature_length", "left out without temperature"},
        {"&temperature=llama4&temperature_length=0", "temperature_length", "from 1"},
        {"&temperature=llama4&offset=-2", "offset", "no position is negative"},
    };
    for (size_t i = 0; i < UNIT_COUNT(WRONG); i++) {
        char query[200];
        snprintf(query, sizeof query, "length=4&dim=8%s", WRONG[i][0]);
        unit_refuses("rope", query, PE_OUT_OF_RANGE, WRONG[i][1], WRONG[i][2]);
    }
    unit_refuses("rope", "positions=4,-1&dim=2&temperature=ministral3", PE_OUT_OF_RANGE,
                 "positions", "no position is negative");
}
END_TEST

START_TEST(temperatures_step_where_a_length_is_full)
{
    pe_table *table = unit_table("rope", "positions=8190,8191,16382,16383&dim=2"
                                         "&temperature=llama4&temperature_beta=1&dtype=f64");
    const double *values = pe_table_data(table, find(table, "temperature"));
    ck_assert(values[0] == 1 && values[1] == values[2] && values[2] < values[3]);
    ck_assert(values[1] == 1 + 0x1.62e42fefa39efp-1); /* ln 2 */
    pe_table_unref(table);
}
END_TEST

Suite *rotary_extras_suite(void)
{
    const TTest *const tests[] = {
        tables_have_nothing_that_is_not_asked_for,
        a_cache_holds_cosines_beside_sines,
        extras_that_make_no_sense_are_refused,
        temperatures_step_where_a_length_is_full,
        NULL,
    };
    return unit_suite("rotary_extras", tests);
}
