/* Rotary tables and rotation matrices: identities, parameters and refusals. */
#include "requests/parameters.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

#define ROPE "length=70&offset=-3&dim=8"
#define LISTS                                                                                  \
    "&short_factor=1,1.5,2,0.9&long_factor=4,5,6,7.25&original_max_position_embeddings=64"
#define YARN "&rope_type=yarn&factor=4&original_max_position_embeddings=64"

/* Every rope_type with a legal set of keys beside dim=8. */
static const char *const TYPES[] = {
    "",
    "&rope_type=linear&factor=2.5",
    "&rope_type=ntk&factor=3",
    "&rope_type=dynamic&factor=2&original_max_position_embeddings=64&seq_len=1000",
    YARN,
    (YARN "&attention_factor=0.5&truncate=false"),
    "&rope_type=longrope&factor=4&seq_len=65" LISTS,
    "&rope_type=llama3&original_max_position_embeddings=64",
    "&rope_type=proportional&partial_rotary_factor=0.5",
};

/* ---- identities ---- */

static pe_table *rope(const char *options)
{
    char query[600];
    snprintf(query, sizeof query, ROPE "%s", options);
    return unit_table("rope", query);
}

static void same_bits(const pe_table *a, const pe_table *b, const char *what)
{
    for (size_t t = 0; t < pe_table_tensor_count(a); t++) {
        ck_assert_uint_eq(pe_table_tensor(a, t)->bytes, pe_table_tensor(b, t)->bytes);
        ck_assert_msg(!memcmp(pe_table_data(a, t), pe_table_data(b, t),
                              (size_t)pe_table_tensor(a, t)->bytes),
                      "%s: %s differs", what, pe_table_tensor(a, t)->name);
    }
}

static void same_tables(const char *options, const char *others)
{
    pe_table *a = rope(options), *b = rope(others);
    same_bits(a, b, options);
    pe_table_unref(a);
    pe_table_unref(b);
}

START_TEST(scalings_by_1_change_nothing)
{
    static const char *const NOTHING[] = {
        "&rope_type=linear&factor=1",
        "&rope_type=ntk&factor=1",
        "&rope_type=dynamic&factor=4&original_max_position_embeddings=100&seq_len=100",
        "&rope_type=dynamic&factor=4&max_position_embeddings=100&seq_len=7",
        "&rope_type=yarn&factor=1&original_max_position_embeddings=64",
        "&rope_type=llama3&factor=1&original_max_position_embeddings=64",
        ("&rope_type=longrope&short_factor=1,1,1,1&long_factor=2,2,2,2&seq_len=64&factor=1"
         "&original_max_position_embeddings=64"),
        "&rope_type=proportional",
        "&partial_rotary_factor=1",
        "&preset=gpt_neox",
        "&preset=llama2",
        "&preset=llama3.1&rope_type=default&rope_theta=10000",
    };
    for (size_t i = 0; i < UNIT_COUNT(NOTHING); i++)
        same_tables(NOTHING[i], "");
}
END_TEST

START_TEST(different_keys_may_mean_the_same)
{
    static const char *const PAIRS[][2] = {
        {"&rope_type=proportional&factor=2.5", "&rope_type=linear&factor=2.5"},
        {"&rope_type=longrope&short_factor=3,3,3,3&long_factor=1,1,1,1&seq_len=9&factor=1"
         "&original_max_position_embeddings=9",
         "&rope_type=linear&factor=3"},
        {"&rope_type=dynamic&factor=1&original_max_position_embeddings=50&seq_len=150",
         "&rope_type=ntk&factor=3"},
        {"&rope_type=longrope&factor=4&seq_len=9" LISTS,
         "&rope_type=longrope&max_position_embeddings=256&seq_len=9" LISTS},
        {YARN, YARN "&beta_fast=32&beta_slow=1&truncate=true"},
        {YARN, YARN "&mscale=0.707"},
        {YARN, YARN "&mscale_all_dim=1"},
        {YARN, YARN "&mscale=1&mscale_all_dim=0"},
        {"&rope_type=dynamic&alpha=3", "&rope_type=ntk&factor=3"},
        {"&rope_type=dynamic&alpha=3&factor=2&seq_len=1000", "&rope_type=ntk&factor=3"},
        {"&rope_type=longrope&factor=4&seq_len=9" LISTS,
         "&rope_type=longrope&factor=4&max_position_embeddings=9&seq_len=9" LISTS},
        {YARN "&rope_theta=1.25&beta_fast=1&attention_factor=1",
         "&rope_type=linear&factor=4&rope_theta=1.25"},
    };
    for (size_t i = 0; i < UNIT_COUNT(PAIRS); i++)
        same_tables(PAIRS[i][0], PAIRS[i][1]);
}
END_TEST

START_TEST(longrope_changes_lists_beyond_the_original_length)
{
    pe_table *at = rope("&rope_type=longrope&factor=4&seq_len=64" LISTS);
    pe_table *beyond = rope("&rope_type=longrope&factor=4&seq_len=65" LISTS);
    const float *short_one = pe_table_data(at, 2), *long_one = pe_table_data(beyond, 2);
    ck_assert_double_eq((double)short_one[0], 1);
    ck_assert_double_eq((double)long_one[0], 0.25);
    pe_table_unref(at);
    pe_table_unref(beyond);
}
END_TEST

/* Column of a full table that holds frequency i for the n-th time. */
static size_t full_column(bool interleaved, size_t i, size_t n, size_t pairs)
{
    return interleaved ? 2 * i + n : i + n * pairs;
}

START_TEST(a_full_table_holds_every_value_of_the_half_one_twice)
{
    for (size_t type = 0; type < UNIT_COUNT(TYPES); type++)
        for (int layout = 0; layout < 2; layout++)
            for (int dtype = PE_F32; dtype < PE_I32; dtype++) {
                char half_query[400], full_query[500];
                snprintf(half_query, sizeof half_query, "%s&dtype=%s", TYPES[type],
                         pe_dtype_name((pe_dtype)dtype));
                snprintf(full_query, sizeof full_query, "%s&table=full&layout=%s", half_query,
                         layout ? "interleaved" : "half");
                pe_table *half = rope(half_query), *full = rope(full_query);
                size_t size = pe_dtype_size((pe_dtype)dtype);
                for (size_t at = 0; at < 2 * 2 * 70 * 4; at++) { /* tensor, copy, row, i */
                    size_t t = at % 2, n = at / 2 % 2, row = at / 4 / 4, i = at / 4 % 4;
                    const char *a = pe_table_data(half, t), *b = pe_table_data(full, t);
                    unit_assert(!memcmp(a + (4 * row + i) * size,
                                        b + (8 * row + full_column(layout, i, n, 4)) * size,
                                        size));
                }
                unit_assert(!memcmp(pe_table_data(half, 2), pe_table_data(full, 2), 4 * size));
                pe_table_unref(half);
                pe_table_unref(full);
            }
}
END_TEST

/* The fast path, the careful one and any window agree. */
START_TEST(rows_do_not_depend_on_those_around_them)
{
    for (size_t type = 0; type < UNIT_COUNT(TYPES); type++) {
        char query[400];
        pe_table *whole = rope(TYPES[type]);
        for (int row = 0; row < 70; row += 7) {
            snprintf(query, sizeof query, "length=1&offset=%d&dim=8%s", row - 3, TYPES[type]);
            pe_table *one = unit_table("rope", query);
            for (size_t t = 0; t < 2; t++)
                unit_assert(!memcmp((const char *)pe_table_data(whole, t) + row * 16,
                                    pe_table_data(one, t), 16));
            pe_table_unref(one);
        }
        pe_table_unref(whole);
    }
}
END_TEST

START_TEST(frequencies_that_are_left_out_stay_at_angle_0)
{
    pe_table *table = rope("&rope_type=proportional&partial_rotary_factor=0.7&table=full");
    const float *cosines = pe_table_data(table, 0), *sines = pe_table_data(table, 1);
    const float zero = 0, *frequencies = pe_table_data(table, 2);
    for (size_t row = 0; row < 70; row++)
        for (size_t half = 0; half < 2; half++)
            for (size_t i = 2; i < 4; i++) { /* floor(0.7 · 8 / 2) = 2 frequencies turn */
                unit_assert(cosines[8 * row + 4 * half + i] == 1);
                unit_assert(!memcmp(&sines[8 * row + 4 * half + i], &zero, sizeof zero));
            }
    unit_assert(frequencies[1] > 0 && !memcmp(&frequencies[2], &zero, sizeof zero));
    pe_table_unref(table);
}
END_TEST

/* ---- parameters ---- */

static const pe_value *value_of(const pe_request *request, const char *name)
{
    const pe_scheme_info *info = pe_scheme_describe(pe_request_scheme(request));
    return pe_request_value(request, pe_parameter_index(info, name));
}

START_TEST(a_request_states_the_keys_of_its_type_alone)
{
    pe_request *llama = unit_legal_request("rope", ROPE "&rope_type=llama3");
    ck_assert_double_eq(value_of(llama, "factor")->real, 8);
    ck_assert_double_eq(value_of(llama, "low_freq_factor")->real, 1);
    ck_assert_double_eq(value_of(llama, "high_freq_factor")->real, 4);
    ck_assert_int_eq(value_of(llama, "original_max_position_embeddings")->integer, 8192);
    ck_assert(!value_of(llama, "beta_fast")->present && !value_of(llama, "truncate")->present);
    pe_request_unref(llama);
    pe_request *yarn = unit_legal_request("rope", ROPE YARN);
    ck_assert_double_eq(value_of(yarn, "beta_fast")->real, 32);
    ck_assert_double_eq(value_of(yarn, "beta_slow")->real, 1);
    ck_assert_int_eq(value_of(yarn, "truncate")->integer, 1);
    ck_assert(!value_of(yarn, "mscale")->present && !value_of(yarn, "seq_len")->present);
    pe_request_unref(yarn);
    pe_request *plain = unit_legal_request("rope", ROPE);
    ck_assert(!value_of(plain, "factor")->present && !value_of(plain, "beta_fast")->present);
    pe_request_unref(plain);
}
END_TEST

START_TEST(a_preset_keeps_what_another_type_can_use)
{
    pe_request *request = unit_legal_request("rope", ROPE "&preset=llama3.1&rope_type=yarn");
    ck_assert_double_eq(value_of(request, "factor")->real, 8);
    ck_assert_int_eq(value_of(request, "original_max_position_embeddings")->integer, 8192);
    ck_assert_double_eq(value_of(request, "rope_theta")->real, 500000);
    ck_assert(!value_of(request, "low_freq_factor")->present);
    pe_request_unref(request);
}
END_TEST

/* ---- refusals ---- */

static void refuses(const char *options, const char *parameter, const char *rule)
{
    char query[600];
    snprintf(query, sizeof query, ROPE "%s", options);
    unit_refuses("rope", query, PE_OUT_OF_RANGE, parameter, rule);
}

/* Keys, a value, and the types that use them by their first letters, n(tk) and p(roportional).
 */
static const struct {
    const char *name, *value, *types;
} KEYS[] = {
    {"factor", "2", "lndyop"},
    {"original_max_position_embeddings", "64", "dyo"},
    {"max_position_embeddings", "64", "do"},
    {"seq_len", "64", "do"},
    {"alpha", "64", "d"},
    {"attention_factor", "1.5", "yo"},
    {"mscale", "1", "y"},
    {"mscale_all_dim", "1", "y"},
    {"beta_fast", "32", "y"},
    {"beta_slow", "1", "y"},
    {"truncate", "false", "y"},
    {"low_freq_factor", "1", "3"},
    {"high_freq_factor", "4", "3"},
    {"short_factor", "1,1,1,1", "o"},
    {"long_factor", "1,1,1,1", "o"},
};

START_TEST(keys_of_other_types_are_refused)
{
    static const struct {
        const char *name, letter;
    } NAMES[] = {{"default", '-'}, {"linear", 'l'},   {"ntk", 'n'},         {"dynamic", 'd'},
                 {"yarn", 'y'},    {"longrope", 'o'}, {"proportional", 'p'}};
    for (size_t key = 0; key < UNIT_COUNT(KEYS); key++) {
        char options[200], rule[64];
        for (size_t type = 0; type < UNIT_COUNT(NAMES); type++) {
            if (strchr(KEYS[key].types, NAMES[type].letter))
                continue;
            snprintf(options, sizeof options, "&rope_type=%s&%s=%s", NAMES[type].name,
                     KEYS[key].name, KEYS[key].value);
            snprintf(rule, sizeof rule, "left out with rope_type=%s", NAMES[type].name);
            refuses(options, KEYS[key].name, rule);
        }
        snprintf(options, sizeof options, "&%s=%s", KEYS[key].name, KEYS[key].value);
        refuses(options, KEYS[key].name, "left out with rope_type=default"); /* by default */
    }
    refuses("&rope_type=llama3&beta_fast=32", "beta_fast", "left out with rope_type=llama3");
}
END_TEST

START_TEST(missing_keys_are_named_with_the_type_that_wants_them)
{
    static const char *const MISSING[][3] = {
        {"&rope_type=linear", "factor", "with rope_type=linear"},
        {"&rope_type=ntk", "factor", "with rope_type=ntk"},
        {"&rope_type=dynamic", "factor", "with rope_type=dynamic"},
        {"&rope_type=dynamic&factor=2", "seq_len", "with rope_type=dynamic"},
        {"&rope_type=dynamic&factor=2&seq_len=9", "original_max_position_embeddings",
         "unless max_position_embeddings"},
        {"&rope_type=yarn", "factor", "with rope_type=yarn"},
        {"&rope_type=yarn&factor=2", "original_max_position_embeddings", "with rope_type=yarn"},
        {"&rope_type=longrope", "short_factor", "with rope_type=longrope"},
        {"&rope_type=longrope", "long_factor", "with rope_type=longrope"},
        {"&rope_type=longrope&factor=2" LISTS, "seq_len", "with rope_type=longrope"},
        {"&rope_type=longrope&seq_len=9" LISTS, "factor", "unless max_position_embeddings or"},
        {"&rope_type=dynamic&factor=2", "seq_len", "unless alpha"},
    };
    for (size_t i = 0; i < UNIT_COUNT(MISSING); i++)
        refuses(MISSING[i][0], MISSING[i][1], MISSING[i][2]);
    unit_misses("rope", "length=4", "dim");
}
END_TEST

START_TEST(rules_between_keys_are_named)
{
    static const char *const WRONG[][3] = {
        {"&rope_type=linear&factor=0.99", "factor", "from 1 to"},
        {"&rope_type=llama3&high_freq_factor=0.9", "high_freq_factor", "at least low_freq"},
        {"&rope_type=llama3&low_freq_factor=5", "high_freq_factor", "at least low_freq"},
        {YARN "&beta_fast=1&beta_slow=2", "beta_fast", "at least beta_slow"},
        {YARN "&rope_theta=1", "rope_theta", "above 1"},
        {YARN "&attention_factor=1&mscale=1", "mscale", "left out with attention_factor"},
        {"&rope_type=longrope&factor=2&seq_len=9&short_factor=1,1,1&long_factor=1,1,1,1"
         "&original_max_position_embeddings=64",
         "short_factor", "4 items"},
        {"&rope_type=longrope&factor=2&seq_len=9&short_factor=1,1,1,1&long_factor=1,1,1,1,1"
         "&original_max_position_embeddings=64",
         "long_factor", "4 items"},
        {"&rope_type=longrope&factor=2&seq_len=9&partial_rotary_factor=0.5" LISTS,
         "short_factor", "2 items"},
        {"&rope_type=longrope&factor=2&seq_len=9&short_factor=1,1,1,1&long_factor=1,1,1,1"
         "&original_max_position_embeddings=1",
         "original_max_position_embeddings", "at least 2"},
        {"&rope_type=dynamic&factor=2&seq_len=9&original_max_position_embeddings=9"
         "&max_position_embeddings=9",
         "max_position_embeddings", "left out with original"},
        {"&rope_type=ntk&factor=2&partial_rotary_factor=0.25", "dim", "at least 4"},
        {"&partial_rotary_factor=0", "partial_rotary_factor", "even"},
        {"&partial_rotary_factor=0.375", "partial_rotary_factor", "even"},
        {"&partial_rotary_factor=0.24", "partial_rotary_factor", "even"},
        {"&partial_rotary_factor=1.5", "partial_rotary_factor", "from 0 to 1"},
        {YARN "&attention_factor=65520&dtype=f16", "dtype", "f16, which ends below 65520"},
    };
    for (size_t i = 0; i < UNIT_COUNT(WRONG); i++)
        refuses(WRONG[i][0], WRONG[i][1], WRONG[i][2]);
    unit_refuses("rope", "length=4&dim=2&rope_type=ntk&factor=2", PE_OUT_OF_RANGE, "dim",
                 "at least 4");
    unit_refuses(
        "rope", "length=4&dim=2&rope_type=dynamic&factor=2&seq_len=2&max_position_embeddings=1",
        PE_OUT_OF_RANGE, "dim", "at least 4");
    unit_refuses("rope", "length=4&dim=7", PE_OUT_OF_RANGE, "dim", "an even integer");
    unit_refuses("rotation_matrix", "length=4&dim=7", PE_OUT_OF_RANGE, "dim",
                 "an even integer");
    unit_refuses("rotation_matrix", "length=4&dim=1026", PE_OUT_OF_RANGE, "dim", "to 1024");
}
END_TEST

/* ---- rotation matrices ---- */

static void check_matrices(bool shift, size_t dim, const char *positions)
{
    char query[200];
    const float zero = 0;
    snprintf(query, sizeof query, "%s&dim=%zu", positions, dim);
    pe_table *tables = unit_table("rope", query);
    snprintf(query, sizeof query, "%s&dim=%zu%s", positions, dim,
             shift ? "&convention=shift" : "");
    pe_table *matrices = unit_table("rotation_matrix", query);
    const float *cosines = pe_table_data(tables, 0), *sines = pe_table_data(tables, 1);
    const float *at = pe_table_data(matrices, 0);
    size_t rows = (size_t)pe_table_tensor(matrices, 0)->shape[0];
    for (size_t row = 0; row < rows; row++)
        for (size_t i = 0; i < dim; i++)
            for (size_t j = 0; j < dim; j++, at++) {
                size_t pair = row * (dim / 2) + i / 2;
                float sine = (i > j) == shift ? -sines[pair] : sines[pair];
                float expected = i / 2 != j / 2 ? 0 : i == j ? cosines[pair] : sine;
                unit_assert(memcmp(at, expected == 0 ? &zero : &expected, sizeof *at) == 0);
            }
    pe_table_unref(tables);
    pe_table_unref(matrices);
}

START_TEST(matrices_are_blocks_of_the_rotary_tables)
{
    static const char *const POSITIONS[] = {"length=70&offset=-3", "positions=0,1e9,-0.5",
                                            "length=1"};
    static const size_t DIMS[] = {2, 4, 6, 64, 130};
    for (size_t p = 0; p < UNIT_COUNT(POSITIONS); p++)
        for (size_t d = 0; d < UNIT_COUNT(DIMS); d++) {
            check_matrices(false, DIMS[d], POSITIONS[p]);
            check_matrices(true, DIMS[d], POSITIONS[p]);
        }
}
END_TEST

Suite *rope_suite(void)
{
    const TTest *const tests[] = {
        scalings_by_1_change_nothing,
        different_keys_may_mean_the_same,
        longrope_changes_lists_beyond_the_original_length,
        a_full_table_holds_every_value_of_the_half_one_twice,
        rows_do_not_depend_on_those_around_them,
        frequencies_that_are_left_out_stay_at_angle_0,
        a_request_states_the_keys_of_its_type_alone,
        a_preset_keeps_what_another_type_can_use,
        keys_of_other_types_are_refused,
        missing_keys_are_named_with_the_type_that_wants_them,
        rules_between_keys_are_named,
        matrices_are_blocks_of_the_rotary_tables,
        NULL,
    };
    return unit_suite("rope", tests);
}
