/* Rotary tables of grids: what they share with rope, and refusals. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

/* ---- the columns of one axis are those of rope ---- */

static const unsigned char *row_of(const pe_table *table, size_t tensor, uint64_t row,
                                   size_t *ret_bytes)
{
    const pe_tensor *shape = pe_table_tensor(table, tensor);
    *ret_bytes = (size_t)(shape->bytes / shape->shape[0]);
    return (const unsigned char *)pe_table_data(table, tensor) + row * *ret_bytes;
}

/* Check that every row of a grid of two axes has the columns of two rows of rope. */
static void check_two_axes(const char *query, const char *rope_query, uint64_t height,
                           uint64_t width)
{
    pe_table *grid = unit_table("axial_rope", query), *rope = unit_table("rope", rope_query);
    for (size_t t = 0; t < 2; t++)
        for (uint64_t row = 0; row < height * width; row++) {
            size_t all, part;
            const unsigned char *cell = row_of(grid, t, row, &all);
            const unsigned char *y = row_of(rope, t, row / width, &part);
            const unsigned char *x = row_of(rope, t, row % width, &part);
            if (all != 2 * part || memcmp(cell, y, part) || memcmp(cell + part, x, part))
                ck_abort_msg("%s: row %d", query, (int)row);
        }
    pe_table_unref(grid);
    pe_table_unref(rope);
}

START_TEST(each_axis_turns_its_columns_as_rope_does)
{
    check_two_axes("sizes=7,9&dim=20", "length=9&dim=10", 7, 9);
    check_two_axes("sizes=7,9&dim=300&dtype=f64", "length=9&dim=150&dtype=f64", 7, 9);
    check_two_axes("sizes=5,3&dim=20&layout=interleaved&table=full&dtype=f16",
                   "length=5&dim=10&layout=interleaved&table=full&dtype=f16", 5, 3);
    check_two_axes("sizes=4,5&dim=20&layout=half_by_axis&table=full&dtype=bf16",
                   "length=5&dim=10&table=full&dtype=bf16", 4, 5);
    check_two_axes("sizes=2,3&dim=5000", "length=3&dim=2500", 2, 3); /* rows of many pieces */
}
END_TEST

START_TEST(tables_of_axes_that_are_not_kept_have_the_same_bits)
{
    /* 40000 cells times 256 bytes of both functions are more than 16 MB */
    check_two_axes("sizes=2,40000&dim=128", "length=40000&dim=64", 2, 40000);
    check_two_axes("sizes=40000,2&dim=128", "length=40000&dim=64", 40000, 2);
    check_two_axes("sizes=3,20000&dim=64&layout=interleaved&table=full&dtype=f64",
                   "length=20000&dim=32&layout=interleaved&table=full&dtype=f64", 3, 20000);
    check_two_axes("sizes=1,70000&dim=40&dtype=f64", "length=70000&dim=20&dtype=f64", 1, 70000);
}
END_TEST

/* ---- the order of the rows ---- */

/* Check that a table has the rows of another one, in the order that `order` says. */
static void check_order(const char *query, const char *other, const size_t *order, size_t count)
{
    pe_table *table = unit_table("axial_rope", query), *from = unit_table("axial_rope", other);
    static const size_t TENSORS[] = {0, 1, 3}; /* cos, sin, coordinates */
    for (size_t i = 0; i < UNIT_COUNT(TENSORS); i++)
        for (size_t row = 0; row < count; row++) {
            size_t bytes, others;
            const unsigned char *own = row_of(table, TENSORS[i], row, &bytes);
            const unsigned char *its = row_of(from, TENSORS[i], order[row], &others);
            ck_assert_uint_eq(bytes, others);
            ck_assert_msg(!memcmp(own, its, bytes), "%s: row %zu", query, row);
        }
    ck_assert_uint_eq(pe_table_tensor(table, 0)->shape[0], count);
    pe_table_unref(table);
    pe_table_unref(from);
}

START_TEST(rows_come_in_the_order_that_is_asked_for)
{
    static const size_t BLOCKS[] = {0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15};
    static const size_t DIAGONAL[] = {0, 5, 10, 15};
    static const size_t TWICE[] = {0, 1, 2, 3, 0, 1, 2, 3};
    check_order("sizes=4,4&dim=8&row_order=merge_blocks", "sizes=4,4&dim=8", BLOCKS, 16);
    check_order("sizes=1,4,4&dim=12&row_order=merge_blocks", "sizes=1,4,4&dim=12", BLOCKS, 16);
    check_order("sizes=4,4&dim=8&row_order=zipped", "sizes=4,4&dim=8", DIAGONAL, 4);
    check_order("sizes=2,2&dim=8&repeats=2", "sizes=2,2&dim=8", TWICE, 8);
    check_order("sizes=4,4&dim=8&row_order=merge_blocks&merge_size=1", "sizes=4,4&dim=8",
                (size_t[]){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, 16);
}
END_TEST

START_TEST(what_is_not_kept_comes_in_the_same_order)
{
    size_t order[64];
    for (size_t i = 0; i < 64; i++) /* squares of 2 by 2 of 2 rows of 32 cells */
        order[i] = i / 4 * 2 + i % 2 + i / 2 % 2 * 32;
    /* rows of 131072 columns: the tables of 34 cells would take 35 MB */
    check_order("sizes=2,32&dim=262144&row_order=merge_blocks", "sizes=2,32&dim=262144", order,
                64);
}
END_TEST

START_TEST(prefix_and_suffix_do_not_turn)
{
    pe_table *table = unit_table("axial_rope", "sizes=2,2&dim=8&prefix=2&suffix=1");
    const float *cosines = pe_table_data(table, 0), *sines = pe_table_data(table, 1);
    const float *coordinates = pe_table_data(table, 3);
    ck_assert_uint_eq(pe_table_tensor(table, 0)->shape[0], 7);
    for (size_t i = 0; i < 4; i++)
        for (size_t row = 0; row < 7; row += row == 1 ? 5 : 1) {
            ck_assert_double_eq((double)cosines[row * 4 + i], 1);
            ck_assert_double_eq((double)sines[row * 4 + i], 0);
            ck_assert_double_eq((double)coordinates[row * 2 + i % 2], 0);
        }
    ck_assert_double_lt((double)cosines[5 * 4], 1);
    pe_table_unref(table);
}
END_TEST

START_TEST(columns_that_are_left_do_not_turn)
{
    pe_table *table = unit_table("axial_rope", "sizes=3,3&dim=12&widths=4,4&table=full");
    const float *cosines = pe_table_data(table, 0);
    const int32_t *axis = pe_table_data(table, 4);
    static const int32_t AXES[] = {0, 0, 1, 1, -1, -1};
    ck_assert_int_eq(memcmp(axis, AXES, sizeof AXES), 0);
    for (size_t i = 0; i < 12; i++)
        ck_assert_int_eq((double)cosines[8 * 12 + i] == 1, AXES[i % 6] < 0);
    pe_table_unref(table);
}
END_TEST

/* ---- rules between parameters ---- */

START_TEST(refuses_what_has_no_meaning)
{
    static const char *const WRONG[][3] = {
        {"sizes=1,1,1,1,1&dim=10", "sizes", "1 to 4"},
        {"sizes=2,2&dim=6", "dim", "multiple of 4"},
        {"sizes=2,2,2&dim=4&split=rounded_down", "dim", "at least 6"},
        {"sizes=2,2,2&dim=48&split=eighth_first", "dim",
         "multiple of 16, and dim * 7/8 one of"},
        {"sizes=4&dim=16&split=eighth_first", "split", "single axis"},
        {"sizes=2,2&dim=8&widths=4", "widths", "2 items"},
        {"sizes=2,2&dim=8&widths=4,6", "widths", "to dim = 8"},
        {"sizes=2,2&dim=8&widths=3,5", "widths", "even"},
        {"sizes=2,2&dim=8&widths=0,0", "widths", "from 2"},
        {"sizes=2,2&dim=8&widths=4,2&ladder=split", "ladder", "equally many"},
        {"sizes=2,2&dim=8&widths=4,2&arrangement=alternating", "arrangement", "equally many"},
        {"sizes=2,2&dim=8&layout=half_by_axis", "layout", "table=full"},
        {"sizes=2,2&dim=8&layout=half_by_axis&table=full&arrangement=alternating", "layout",
         "alternating"},
        {"sizes=2,2&dim=8&reference_sizes=3", "reference_sizes", "2 items"},
        {"sizes=2,2&dim=8&first_index=1,2,3", "first_index", "2 items, or one for all axes"},
        {"sizes=2,2&dim=8&coordinate_type=listed&coordinates=1,2,3", "coordinates", "4 items"},
        {"sizes=2,2&dim=8&coordinate_type=listed", "coordinates",
         "with coordinate_type=listed"},
        {"sizes=2,2&dim=8&coordinate_type=centres&first_index=1", "first_index", "left out"},
        {"sizes=2,2&dim=8&normalize=max", "normalize", "left out"},
        {"sizes=2,3&dim=8&row_order=zipped", "row_order", "alike"},
        {"sizes=4&dim=8&row_order=merge_blocks", "row_order", "single axis"},
        {"sizes=4,3&dim=8&row_order=merge_blocks", "merge_size", "divisor"},
        {"sizes=4,4&dim=8&merge_size=2", "merge_size", "left out"},
        {"sizes=4,4&dim=8&widths=4,4&split=equal", "split", "left out"},
    };
    for (size_t i = 0; i < UNIT_COUNT(WRONG); i++)
        unit_refuses("axial_rope", WRONG[i][0], PE_OUT_OF_RANGE, WRONG[i][1], WRONG[i][2]);
}
END_TEST

START_TEST(sizes_are_limited_before_they_overflow)
{
    unit_refuses("axial_rope",
                 "sizes=16777216,16777216,16777216,16777216&dim=1048576&repeats=65536"
                 "&split=rounded_down",
                 PE_TOO_LARGE, "sizes", "element limit");
}
END_TEST

Suite *axial_rope_suite(void)
{
    const TTest *const tests[] = {
        each_axis_turns_its_columns_as_rope_does,
        tables_of_axes_that_are_not_kept_have_the_same_bits,
        rows_come_in_the_order_that_is_asked_for,
        what_is_not_kept_comes_in_the_same_order,
        prefix_and_suffix_do_not_turn,
        columns_that_are_left_do_not_turn,
        refuses_what_has_no_meaning,
        sizes_are_limited_before_they_overflow,
        NULL,
    };
    return unit_suite("axial_rope", tests);
}
