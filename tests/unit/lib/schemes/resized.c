/* Tables on other grids: sets, ties, magnitudes, and what is refused. */
#include "requests/parameters.h"
#include "sets.h"

#include <math.h>
#include <string.h>

/* The only column of a table [rows, 1] that resizing a stored one gives. */
static void check_column(const unit_tensor *table, const char *query, const double *expected,
                         size_t count)
{
    unit_store(table, 1);
    pe_table *got = unit_set_table("resized", query);
    const pe_tensor *tensor = pe_table_tensor(got, 0);
    const unsigned char *data = pe_table_data(got, 0);
    ck_assert_uint_eq(tensor->elements, count);
    for (size_t i = 0; i < count; i++) {
        double entry = unit_element(tensor->dtype, data + i * pe_dtype_size(tensor->dtype));
        ck_assert_msg(entry == expected[i] && signbit(entry) == (expected[i] < 0),
                      "%s: entry %zu is %a, should be %a", query, i, entry, expected[i]);
    }
    pe_table_unref(got);
    unit_store(NULL, 0);
}

START_TEST(a_line_is_interpolated_as_by_hand)
{
    static const double LINE[] = {16, 0, 32, 64};
    const unit_tensor table = {"table", PE_F32, 2, {4, 1}, LINE};
    check_column(&table, "set=set&source_height=1&height=1&width=8&mode=bilinear&dtype=f64",
                 (const double[]){16, 12, 4, 8, 24, 40, 56, 64}, 8);
    check_column(&table, "set=set&source_height=1&height=1&width=2&mode=bilinear",
                 (const double[]){8, 48}, 2);
    check_column(&table,
                 "set=set&source_height=1&height=1&width=7&mode=bilinear&"
                 "align_corners=true",
                 (const double[]){16, 8, 0, 16, 32, 48, 64}, 7);
    check_column(&table, "set=set&source_height=1&height=1&width=6&mode=nearest",
                 (const double[]){16, 16, 0, 32, 32, 64}, 6);
    /* in the middle of two cells: -3/32, 19/32, 19/32, -3/32 */
    check_column(&table, "set=set&source_height=1&height=1&width=2&dtype=f64",
                 (const double[]){(16 * 19 - 3 * 16 - 3 * 32) / 32.0,
                                  (32 * 19 + 64 * 19 - 3 * 64) / 32.0},
                 2);
    /* triangles of twice the width: 1/4, 3/4, 3/4, 1/4, without what is outside */
    check_column(&table,
                 "set=set&source_height=1&height=1&width=2&mode=bilinear&antialias=true&"
                 "dtype=f64",
                 (const double[]){(16 * 3 + 32) / 7.0, (32 * 3 + 64 * 3) / 7.0}, 2);
}
END_TEST

START_TEST(a_table_without_a_grid_is_square)
{
    static const double TABLE[] = {-5, 1, 2, 3, 4};
    const unit_tensor table = {"table", PE_F32, 2, {5, 1}, TABLE};
    const double quarters[] = {-5, 1, 1.5, 2, 2, 2.5, 3, 3, 3.5, 4};
    check_column(&table, "set=set&prefix_tokens=1&height=3&mode=bilinear&align_corners=true",
                 quarters, 10);
    check_column(&table,
                 "set=set&prefix_tokens=1&height=1&width=3&source_height=1&"
                 "mode=nearest",
                 (const double[]){-5, 1, 2, 3}, 4);
}
END_TEST

/* Halves of the cells a and b, as 2·middle. */
static void check_half(pe_dtype stored, const char *dtype, double a, double b, double expected)
{
    char query[100] = "set=set&source_height=1&height=1&width=1&mode=bilinear&dtype=";
    const double line[] = {a, b};
    const unit_tensor table = {"table", stored, 2, {2, 1}, line};
    strcat(query, dtype);
    check_column(&table, query, &expected, 1);
}

START_TEST(ties_go_to_even)
{
    check_half(PE_F32, "f32", 1, 1 + 0x1p-23, 1);
    check_half(PE_F32, "f32", 1 + 0x1p-23, 1 + 0x1p-22, 1 + 0x1p-22);
    check_half(PE_F32, "f16", 1, 1 + 0x1p-10, 1);
    check_half(PE_F32, "bf16", -1, -1 - 0x1p-7, -1);
    check_half(PE_F64, "f64", 1, 1 + 0x1p-52, 1);
    check_half(PE_F64, "f64", 1 + 0x1p-52, 1 + 0x1p-51, 1 + 0x1p-51);
    check_half(PE_F64, "f32", 1, 1 + 0x1p-23 + 0x1p-52, 1 + 0x1p-23);
    check_half(PE_F64, "f32", 1 - 0x1p-53, 1 + 0x1p-23, 1);
    /* half the smallest element, and a cell too small for products of doubles */
    check_half(PE_F64, "f64", 0x1p-1074, 0, 0);
    check_half(PE_F64, "f64", 0x1p-1073, 0x1p-1074, 0x1p-1073);
    check_half(PE_F64, "f64", 2, 0x1p-1074, 1);
    check_half(PE_F64, "f64", 1 + 0x1p-52, 1 - 0x1p-53, 1);
    check_half(PE_F64, "f32", 2 + 0x1p-22, 0x1p-1074, 1 + 0x1p-23);
    check_half(PE_F32, "f32", 3, -3, 0);
}
END_TEST

START_TEST(a_tie_that_a_tiny_cell_decides_is_none)
{
    check_half(PE_F64, "f32", 2 + 0x1p-23, 0, 1);
    check_half(PE_F64, "f32", 2 + 0x1p-23, -0x1p-1000, 1);
    check_half(PE_F64, "f32", 2 + 0x1p-23, 0x1p-1000, 1 + 0x1p-23);
    check_half(PE_F64, "f32", 2 + 3 * 0x1p-23, 0x1p-1074, 1 + 0x1p-22);
    check_half(PE_F64, "f32", 2 + 3 * 0x1p-23, -0x1p-1074, 1 + 0x1p-23);
}
END_TEST

START_TEST(the_largest_numbers_do_not_overflow_on_the_way)
{
    check_half(PE_F64, "f64", 0x1.8p1023, 0x1.8p1023, 0x1.8p1023);
    check_half(PE_F64, "f64", 0x1p1023, -0x1p1023, 0);
    check_half(PE_F32, "f32", 0x1.fp127, 0x1.ep127, 0x1.e8p127);
    const double line[] = {50000, 50000, -50000, 50000};
    unit_store(&(unit_tensor){"table", PE_F32, 2, {4, 1}, line}, 1);
    unit_set_refuses("resized", "set=set&source_height=1&height=1&width=2&dtype=f16", "dtype",
                     "set");
    pe_table_unref(unit_set_table(
        "resized", "set=set&source_height=1&height=1&width=2&mode=bilinear&dtype=f16"));
    unit_store(NULL, 0);
}
END_TEST

START_TEST(a_grid_too_large_to_keep_is_read_where_it_is_needed)
{
    /* the corners, the middles of the edges and the middle of 2049 x 2049 cells */
    const char *whole = "height=3&source_height=2049&dim=1&seed=7&prefix_tokens=1&"
                        "align_corners=true&mode=";
    const char *rows = "dim=1&seed=7&positions=0,1,1025,2049,2098177,2099201,2100225,4196353,"
                       "4197377,4198401";
    pe_table *expected = unit_table("learned", rows);
    for (int mode = 0; mode < 2; mode++) {
        char query[120];
        strcpy(query, whole);
        strcat(query, mode ? "bicubic" : "bilinear");
        pe_table *got = unit_table("resized", query);
        ck_assert_int_eq(memcmp(pe_table_data(got, 0), pe_table_data(expected, 0), 40), 0);
        pe_table_unref(got);
    }
    pe_table_unref(expected);
}
END_TEST

START_TEST(refuses_grids_that_do_not_fit)
{
    unit_misses("resized", "height=3&dim=4", "source_height");
    unit_misses("resized", "source_height=3&dim=4", "height");
    unit_refuses("resized", "height=3&scale_factor=2&source_height=3&dim=4", PE_OUT_OF_RANGE,
                 "height", "scale_factor");
    unit_refuses("resized", "scale_factor=0.1&source_height=3&dim=4", PE_OUT_OF_RANGE,
                 "scale_factor", "1 to 131072");
}
END_TEST

START_TEST(refuses_options_that_exclude_each_other)
{
#define GRID "height=3&source_height=2&dim=4&"
    unit_refuses("resized", GRID "antialias=true&align_corners=true", PE_OUT_OF_RANGE,
                 "antialias", "align_corners");
    unit_refuses("resized", GRID "antialias=true&scale_offset=0.1", PE_OUT_OF_RANGE,
                 "scale_offset", "antialias");
    unit_refuses("resized", GRID "align_corners=true&scale_offset=0.1", PE_OUT_OF_RANGE,
                 "scale_offset", "align_corners");
    unit_refuses("resized", GRID "mode=nearest&antialias=true", PE_OUT_OF_RANGE, "antialias",
                 "mode=nearest");
    unit_refuses("resized", GRID "scale_offset=1", PE_OUT_OF_RANGE, "scale_offset", "below 1");
    unit_refuses("resized", "scale_factor=2&source_height=2&dim=4&scale_offset=0.1",
                 PE_OUT_OF_RANGE, "scale_offset", "scale_factor");
    unit_refuses("resized", "scale_factor=2&source_height=2&dim=4&antialias=true",
                 PE_OUT_OF_RANGE, "scale_factor", "antialias");
    unit_refuses("resized", "height=1&source_height=16&dim=1&antialias=true", PE_OUT_OF_RANGE,
                 "height", "1/15");
}
END_TEST

START_TEST(refuses_a_set_that_is_no_grid)
{
    static const double TABLE[12] = {0};
    unit_store(&(unit_tensor){"table", PE_F32, 2, {6, 2}, TABLE}, 1);
    unit_set_refuses("resized", "height=3&set=set", "set", "square");
    unit_set_refuses("resized", "height=3&set=set&prefix_tokens=6", "set", "square");
    unit_set_refuses("resized", "height=3&set=set&source_height=4", "set",
                     "source_height * source_width");
    unit_set_refuses("resized", "height=3&set=set&source_height=3&source_width=3", "set",
                     "source_height * source_width");
    unit_set_refuses("resized", "height=3&set=set&source_width=3&dim=3", "dim", "2");
    pe_table_unref(unit_set_table("resized", "height=3&set=set&source_width=3"));
    pe_table_unref(unit_set_table("resized", "height=3&set=set&prefix_tokens=2"));
    unit_store(NULL, 0);
}
END_TEST

/* The source of a target that is a line is a line, also where its rows are a square number. */
START_TEST(a_line_is_a_line)
{
    static const double LINE[] = {16, 0, 32, 64};
    static const double STRETCHED[] = {16, 12, 4, 8, 24, 40, 56, 64};
    const unit_tensor table = {"table", PE_F32, 2, {4, 1}, LINE};
    check_column(&table, "set=set&height=1&width=8&mode=bilinear&dtype=f64", STRETCHED, 8);
    check_column(&table, "set=set&height=8&width=1&mode=bilinear&dtype=f64", STRETCHED, 8);
    check_column(&table, "set=set&length=8&mode=bilinear&dtype=f64", STRETCHED, 8);
    unit_store(&table, 1);
    pe_table_unref(unit_set_table("resized", "length=1&set=set"));
    unit_set_refuses("resized", "length=8&height=4&set=set", "height", "left out");
    unit_set_refuses("resized", "length=8&width=8&set=set", "width", "left out");
    unit_set_refuses("resized", "length=8&scale_factor=2&set=set", "length", "left out");
    unit_set_refuses("resized", "width=8&set=set", "height", "unless length");
    unit_set_refuses("resized", "height=1&set=set", "source_height", "a line");
    unit_set_refuses("resized", "scale_factor=2&set=set", "source_height", "a line");
    unit_store(NULL, 0);
    pe_request *request =
        unit_legal_request("resized", "height=8&width=1&source_height=4&dim=1");
    const pe_scheme_info *info = pe_scheme_describe(pe_request_scheme(request));
    size_t index = pe_parameter_index(info, "source_width");
    ck_assert_int_eq(pe_request_value(request, index)->integer, 1);
    pe_request_unref(request);
}
END_TEST

Suite *resized_suite(void)
{
    const TTest *const tests[] = {a_line_is_interpolated_as_by_hand,
                                  a_line_is_a_line,
                                  a_table_without_a_grid_is_square,
                                  ties_go_to_even,
                                  a_tie_that_a_tiny_cell_decides_is_none,
                                  the_largest_numbers_do_not_overflow_on_the_way,
                                  a_grid_too_large_to_keep_is_read_where_it_is_needed,
                                  refuses_grids_that_do_not_fit,
                                  refuses_options_that_exclude_each_other,
                                  refuses_a_set_that_is_no_grid,
                                  NULL};
    return unit_suite("resized", tests);
}
