/* Tests of where trained numbers come from: the first seeds, or the given set alone. */
#include "recognise/origin.h"

#include "sets.h"
#include "unit.h"

static const pe_distribution NORMAL = {.initialiser = PE_NORMAL, .std = 0.02};
static const double ELEMENTS[] = {1, 2, 3, 4, 5, 6};

/* The set of one tensor [3, 2], of this dtype. */
static pe_set *stored(const char *name, pe_dtype dtype)
{
    const unit_tensor tensor = {name, dtype, 2, {3, 2}, ELEMENTS};
    pe_set *set = NULL;
    unit_store(&tensor, 1);
    UNIT_SET_LIMITS.sets->find(UNIT_SET_LIMITS.sets->context, "set", &set);
    unit_store(NULL, 0);
    return set;
}

START_TEST(seeds_are_tried_where_no_set_is_given)
{
    const pe_observation seen = {.set = NULL};
    char text[PE_ORIGIN_TEXT];
    ck_assert_uint_eq(pe_origin_count(&seen), PE_SEEDS_TRIED);
    for (size_t i = 0; i < PE_SEEDS_TRIED; i++) {
        static const char *const TEXTS[] = {"", "&seed=1", "&seed=2", "&seed=3"};
        const pe_origin origin = pe_origin_get(&seen, i);
        pe_trained table, drawn = pe_trained_drawn(i, "table", 2, &NORMAL);
        double found[2], expected[2];
        uint64_t rows;
        pe_origin_write(&origin, text);
        ck_assert_str_eq(text, TEXTS[i]);
        ck_assert(pe_origin_tensor(&origin, "table", 2, &NORMAL, &table, &rows));
        ck_assert(rows == UINT64_MAX);
        pe_trained_row(&table, 7, 0, 2, found);
        pe_trained_row(&drawn, 7, 0, 2, expected);
        ck_assert(found[0] == expected[0] && found[1] == expected[1]);
    }
}
END_TEST

START_TEST(a_given_set_is_tried_alone)
{
    const pe_observation seen = {.set = stored("table", PE_F64), .set_name = "set"};
    const pe_origin origin = pe_origin_get(&seen, 0);
    char text[PE_ORIGIN_TEXT];
    pe_trained table;
    uint64_t rows;
    double row[2];
    ck_assert_uint_eq(pe_origin_count(&seen), 1);
    pe_origin_write(&origin, text);
    ck_assert_str_eq(text, "&set=set");
    ck_assert(pe_origin_tensor(&origin, "table", 2, &NORMAL, &table, &rows));
    ck_assert_uint_eq(rows, 3);
    pe_trained_row(&table, 2, 0, 2, row);
    ck_assert(row[0] == 5 && row[1] == 6);
    ck_assert(!pe_origin_tensor(&origin, "keys", 2, &NORMAL, &table, &rows));
    ck_assert(!pe_origin_tensor(&origin, "table", 3, &NORMAL, &table, &rows));
    pe_set_unref((pe_set *)seen.set);
}
END_TEST

START_TEST(whole_numbers_are_no_trained_ones)
{
    const pe_observation seen = {.set = stored("table", PE_I32), .set_name = "set"};
    const pe_origin origin = pe_origin_get(&seen, 0);
    pe_trained table;
    uint64_t rows;
    ck_assert(!pe_origin_tensor(&origin, "table", 2, &NORMAL, &table, &rows));
    pe_set_unref((pe_set *)seen.set);
}
END_TEST

Suite *origin_suite(void)
{
    const TTest *const tests[] = {
        seeds_are_tried_where_no_set_is_given,
        a_given_set_is_tried_alone,
        whole_numbers_are_no_trained_ones,
        NULL,
    };
    return unit_suite("origin", tests);
}
