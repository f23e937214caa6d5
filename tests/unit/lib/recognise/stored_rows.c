/* Tests of finding the tensors of a given set, and rows of them by entries. */
#include "recognise/stored_rows.h"

#include "sets.h"
#include "unit.h"

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

START_TEST(nothing_is_found_where_no_set_is_given)
{
    const pe_observation seen = {.set = NULL};
    pe_trained table;
    ck_assert(!pe_stored_find(&seen, "table", 2, &table));
}
END_TEST

START_TEST(a_tensor_is_found_by_its_name_and_columns)
{
    const pe_observation seen = {.set = stored("table", PE_F64), .set_name = "set"};
    pe_trained table;
    double row[2];
    ck_assert(pe_stored_find(&seen, "table", 2, &table));
    ck_assert_uint_eq(table.stored_rows, 3);
    pe_trained_row(&table, 2, 0, 2, row);
    ck_assert(row[0] == 5 && row[1] == 6);
    ck_assert(pe_stored_largest(&table) == 6);
    ck_assert(!pe_stored_find(&seen, "keys", 2, &table));
    ck_assert(!pe_stored_find(&seen, "table", 3, &table));
    pe_set_unref((pe_set *)seen.set);
}
END_TEST

START_TEST(whole_numbers_are_no_trained_ones)
{
    const pe_observation seen = {.set = stored("table", PE_I32), .set_name = "set"};
    pe_trained table;
    ck_assert(!pe_stored_find(&seen, "table", 2, &table));
    pe_set_unref((pe_set *)seen.set);
}
END_TEST

START_TEST(each_distance_has_its_row)
{
    const pe_observation seen = {.set = stored("table", PE_F64), .set_name = "set"};
    double entries[] = {10, 2, 6, 10, 12, 4, 8, 12}, rows[4]; /* twice rows 2, 0, 1, 2 */
    pe_distances distances = {.lines = 2, .count = 4, .entries = entries};
    pe_trained table;
    ck_assert(pe_stored_find(&seen, "table", 2, &table));
    ck_assert(pe_stored_find_rows(&table, 3, 2, 0, &distances, PE_F64, rows));
    ck_assert(rows[0] == 2 && rows[1] == 0 && rows[2] == 1 && rows[3] == 2);
    ck_assert(!pe_stored_find_rows(&table, 2, 2, 0, &distances, PE_F64, rows));
    ck_assert(!pe_stored_find_rows(&table, 3, 1, 0, &distances, PE_F64, rows));
    entries[5] *= 1.001;
    ck_assert(!pe_stored_find_rows(&table, 3, 2, 0, &distances, PE_F64, rows));
    ck_assert(pe_stored_find_rows(&table, 3, 2, 0.01, &distances, PE_F64, rows));
    pe_set_unref((pe_set *)seen.set);
}
END_TEST

START_TEST(entries_of_a_distance_are_a_row_in_their_dtype)
{
    const pe_observation seen = {.set = stored("table", PE_F64), .set_name = "set"};
    double entries[] = {7, 3, 8, 4};
    const pe_distances distances = {.lines = 2, .count = 2, .entries = entries};
    pe_trained table;
    ck_assert(pe_stored_find(&seen, "table", 2, &table));
    for (uint64_t row = 0; row < 4; row++)
        ck_assert_int_eq(pe_stored_has_row(&table, row, &distances, 1, PE_F64), row == 1);
    ck_assert(!pe_stored_has_row(&table, 1, &distances, 0, PE_F64));
    pe_set_unref((pe_set *)seen.set);
}
END_TEST

START_TEST(an_eighth_of_a_row_may_be_other_numbers)
{
    static const double WIDE[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    const unit_tensor tensor = {"table", PE_F64, 2, {1, 16}, WIDE};
    pe_observation seen = {.set_name = "set"};
    pe_set *set = NULL;
    pe_trained table;
    double row[16];
    unit_store(&tensor, 1);
    UNIT_SET_LIMITS.sets->find(UNIT_SET_LIMITS.sets->context, "set", &set);
    unit_store(NULL, 0);
    seen.set = set;
    ck_assert(pe_stored_find(&seen, "table", 16, &table));
    for (size_t others = 0; others < 4; others++) {
        for (size_t i = 0; i < 16; i++)
            row[i] = WIDE[i] + (i < others);
        ck_assert_int_eq(pe_stored_is_row(&table, 0, row, 0x1p-24), others <= 2);
    }
    pe_set_unref(set);
}
END_TEST

Suite *stored_rows_suite(void)
{
    const TTest *const tests[] = {
        nothing_is_found_where_no_set_is_given,
        a_tensor_is_found_by_its_name_and_columns,
        whole_numbers_are_no_trained_ones,
        each_distance_has_its_row,
        entries_of_a_distance_are_a_row_in_their_dtype,
        an_eighth_of_a_row_may_be_other_numbers,
        NULL,
    };
    return unit_suite("stored_rows", tests);
}
