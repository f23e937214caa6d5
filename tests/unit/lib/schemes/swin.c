/* Biases in a window: stored tables, tables of other windows, and what is refused. */
#include "sets.h"

#include <string.h>

#define ROWS 28 /* 5 * 5 offsets of a window of 3 x 3 tokens, and 3 rows for a class token */

/* Store a table [rows, 2] whose entries are 100 * head + row. */
static void store(uint64_t rows)
{
    static double table[2 * ROWS];
    for (size_t i = 0; i < 2 * rows; i++)
        table[i] = (double)(100 * (i % 2) + i / 2);
    unit_store(&(unit_tensor){"table", PE_F32, 2, {rows, 2}, table}, 1);
}

/* Check that every bias is the stored entry that the index names, for windows of the table's
 * own size. */
static void check_gathered(const char *query, size_t tokens)
{
    pe_table *table = unit_set_table("swin", query);
    const float *bias = pe_table_data(table, 0);
    const int32_t *index = pe_table_data(table, 1);
    ck_assert_uint_eq(pe_table_tensor(table, 0)->elements, 2 * tokens * tokens);
    for (size_t i = 0; i < 2 * tokens * tokens; i++) {
        size_t head = i / (tokens * tokens);
        unit_assert(bias[i] == (float)(100 * (int)head + index[i % (tokens * tokens)]));
    }
    pe_table_unref(table);
}

START_TEST(biases_are_the_rows_that_the_index_names)
{
    store(25);
    check_gathered("height=3&set=set", 9);
    store(28);
    check_gathered("height=3&set=set&class_token=true", 10);
    store(21);
    check_gathered("height=2&width=4&set=set", 8);
    store(24);
    check_gathered("height=4&width=2&class_token=true&set=set", 9);
    unit_store(NULL, 0);
}
END_TEST

START_TEST(the_index_is_query_minus_key)
{
    static const int32_t WINDOW[16] = {4, 3, 1, 0, 5, 4, 2, 1, 7, 6, 4, 3, 8, 7, 5, 4};
    pe_table *table = unit_table("swin", "height=2&heads=1");
    ck_assert_int_eq(memcmp(pe_table_data(table, 1), WINDOW, sizeof WINDOW), 0);
    pe_table_unref(table);
    static const int32_t PAIR[9] = {5, 3, 3, 4, 1, 0, 4, 2, 1};
    table = unit_table("swin", "height=1&width=2&heads=1&class_token=true");
    ck_assert_int_eq(memcmp(pe_table_data(table, 1), PAIR, sizeof PAIR), 0);
    pe_table_unref(table);
}
END_TEST

START_TEST(a_table_of_another_window_is_interpolated)
{
    /* 3 x 3 offsets of 2 x 2 tokens on 5 x 5: at 0, 0.4, 1, 1.6 and 2, numbers 3y + x */
    static const double AT[] = {0, 0.4, 1, 1.6, 2};
    store(12);
    pe_table *table =
        unit_set_table("swin", "height=3&class_token=true&mode=bilinear&set=set&dtype=f64");
    const double *bias = pe_table_data(table, 0);
    const int32_t *index = pe_table_data(table, 1);
    for (size_t i = 0; i < 200; i++) {
        int32_t row = index[i % 100];
        double expected = row < 25 ? 3 * AT[row / 5] + AT[row % 5] : 9 + row - 25;
        expected += i < 100 ? 0 : 100;
        unit_assert(bias[i] - expected < 1e-13 && expected - bias[i] < 1e-13);
    }
    pe_table_unref(table);
    unit_store(NULL, 0);
}
END_TEST

START_TEST(refuses_a_table_of_no_window)
{
    store(24);
    unit_set_refuses("swin", "height=3&set=set", "set", "(2*source_height-1)");
    store(16); /* an even side */
    unit_set_refuses("swin", "height=3&set=set", "set", "(2*source_height-1)");
    store(25);
    unit_set_refuses("swin", "height=3&set=set&class_token=true", "set", "+ 3");
    unit_set_refuses("swin", "height=3&set=set&source_height=2", "set", "rows");
    unit_set_refuses("swin", "height=3&set=set&heads=3", "heads", "2");
    store(3);
    unit_set_refuses("swin", "height=3&set=set&class_token=true", "set", "+ 3");
    unit_store(NULL, 0);
    unit_refuses("swin", "height=3&heads=2&source_width=2", PE_OUT_OF_RANGE, "source_height",
                 "given with source_width");
    unit_refuses("swin", "height=16385&heads=2", PE_OUT_OF_RANGE, "height", "16384");
    unit_misses("swin", "heads=2", "height");
    unit_misses("swin", "height=2", "heads");
}
END_TEST

Suite *swin_suite(void)
{
    const TTest *const tests[] = {
        biases_are_the_rows_that_the_index_names, the_index_is_query_minus_key,
        a_table_of_another_window_is_interpolated, refuses_a_table_of_no_window, NULL};
    return unit_suite("swin", tests);
}
