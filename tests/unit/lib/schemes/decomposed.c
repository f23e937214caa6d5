/* Decomposed relative positions from stored tables, and what is refused. */
#include "sets.h"

static const double TABLE[12] = {10, 11, 20, 21, 30, 31, 40, 41, 50, 51, 60, 61};

static void store(uint64_t height_rows, uint64_t width_rows, uint64_t width_columns)
{
    const unit_tensor tensors[] = {
        {"rel_pos_h", PE_F32, 2, {height_rows, 2}, TABLE},
        {"rel_pos_w", PE_F64, 2, {width_rows, width_columns}, TABLE},
    };
    unit_store(tensors, 2);
}

START_TEST(vectors_are_those_of_query_minus_key)
{
    store(3, 5, 2);
    pe_table *table = unit_set_table("decomposed", "height=2&width=3&set=set");
    const float *rel_h = pe_table_data(table, 0), *rel_w = pe_table_data(table, 1);
    ck_assert(rel_h[0] == 20 && rel_h[2] == 10 && rel_h[5] == 31 && rel_h[6] == 20);
    ck_assert(rel_w[0] == 30 && rel_w[4] == 10 && rel_w[12] == 50 && rel_w[17] == 31);
    pe_table_unref(table);
    unit_store(NULL, 0);
}
END_TEST

START_TEST(tables_of_other_sizes_are_interpolated)
{
    store(1, 3, 2); /* 3 rows become 5: at 0, 0.4, 1, 1.6 and 2 */
    pe_table *table = unit_set_table("decomposed", "height=3&set=set&dtype=f64");
    const double *rel_h = pe_table_data(table, 0), *rel_w = pe_table_data(table, 1);
    for (size_t i = 0; i < 18; i++)
        ck_assert(rel_h[i] == (double)(10 + i % 2));
    ck_assert(rel_w[0] == 20 && rel_w[2] == 14 && rel_w[4] == 10 && rel_w[6] == 26);
    pe_table_unref(table);
    unit_store(NULL, 0);
}
END_TEST

START_TEST(refuses_tables_that_do_not_fit)
{
    store(3, 3, 1);
    unit_set_refuses("decomposed", "height=2&set=set", "set", "[n, 2]");
    unit_store(&(unit_tensor){"rel_pos_h", PE_F32, 2, {3, 2}, TABLE}, 1);
    unit_set_refuses("decomposed", "height=2&set=set", "set", "rel_pos_w");
    store(3, 3, 2);
    unit_set_refuses("decomposed", "height=2&set=set&source_width=2", "source_width",
                     "left out with set");
    static const double line[131073];
    unit_store((const unit_tensor[]){{"rel_pos_h", PE_F32, 2, {131073, 1}, line},
                                     {"rel_pos_w", PE_F32, 2, {3, 1}, line}},
               2);
    unit_set_refuses("decomposed", "height=2&set=set", "set", "131072");
    unit_store(NULL, 0);
    unit_refuses("decomposed", "height=65537&dim=2", PE_OUT_OF_RANGE, "height", "65536");
    unit_misses("decomposed", "dim=2", "height");
}
END_TEST

Suite *decomposed_suite(void)
{
    const TTest *const tests[] = {vectors_are_those_of_query_minus_key,
                                  tables_of_other_sizes_are_interpolated,
                                  refuses_tables_that_do_not_fit, NULL};
    return unit_suite("decomposed", tests);
}
