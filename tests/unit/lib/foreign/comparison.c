/* Tests of comparisons: every difference is found, counted and named. */
#include "held.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A copy of a table, which a test damages. */
typedef struct copy {
    pe_request *request;
    unit_held held;
} copy;

static void begin(copy *self, const char *scheme, const char *query, size_t tensor)
{
    self->request = unit_legal_request(scheme, query);
    unit_hold_tensor(&self->held, unit_table(scheme, query), tensor);
}

static void end(copy *self)
{
    pe_request_unref(self->request);
    free(self->held.data);
}

static pe_comparison compared(copy *self, size_t tensor, pe_tolerance tolerance)
{
    pe_comparison result;
    pe_error error;
    ck_assert_int_eq(pe_compare_table(self->request, tensor, &self->held.view, tolerance, NULL,
                                      &result, &error),
                     PE_OK);
    return result;
}

static const pe_tolerance NONE = {.absolute = 0};

START_TEST(a_table_is_equal_to_itself_in_every_order_and_type)
{
    static const char *const QUERIES[][2] = {
        {"sinusoidal", "length=3000&dim=66"},
        {"sinusoidal", "length=70&dim=10&dtype=f64"},
        {"rope", "length=50&dim=8&dtype=bf16"},
        {"alibi", "heads=4&length=300&query_length=200&dtype=f16"},
        {"alibi", "heads=2&length=700"},
        {"binary", "length=9&width=5"},
        {"integer", "length=1"},
    };
    for (size_t i = 0; i < UNIT_COUNT(QUERIES); i++) {
        copy table;
        begin(&table, QUERIES[i][0], QUERIES[i][1], 0);
        pe_comparison result = compared(&table, 0, NONE);
        ck_assert_uint_eq(result.entries, pe_request_tensor(table.request, 0)->elements);
        ck_assert_uint_eq(result.differing, 0);
        ck_assert_uint_eq(result.bins[0], result.entries);
        ck_assert_uint_eq(result.column_count + result.row_count, 0);
        end(&table);
    }
}
END_TEST

START_TEST(fortran_order_and_axes_of_one_change_nothing)
{
    copy table;
    begin(&table, "sinusoidal", "length=40&dim=6", 0);
    unsigned char *turned = malloc(table.held.size);
    for (size_t row = 0; row < 40; row++)
        for (size_t column = 0; column < 6; column++)
            memcpy(turned + 4 * (column * 40 + row), table.held.data + 4 * (row * 6 + column),
                   4);
    free(table.held.data);
    table.held.data = turned;
    table.held.view.rank = 3;
    const uint64_t shape[] = {1, 40, 6}, strides[] = {240, 1, 40};
    memcpy(table.held.view.shape, shape, sizeof shape);
    memcpy(table.held.view.strides, strides, sizeof strides);
    ck_assert_uint_eq(compared(&table, 0, NONE).differing, 0);
    end(&table);
}
END_TEST

START_TEST(differences_are_counted_and_named)
{
    copy table;
    begin(&table, "sinusoidal", "length=1000&dim=8", 0);
    float *data = (float *)(void *)table.held.data;
    float next = nextafterf(data[8 * 500 + 3], 2);
    double exact = (double)data[8 * 700 + 2];
    data[8 * 500 + 3] = next;
    data[8 * 700 + 2] += 0.5f;
    data[8 * 700 + 7] = NAN;
    pe_comparison result = compared(&table, 0, NONE);
    ck_assert_uint_eq(result.differing, 3);
    ck_assert_uint_eq(result.outside, 3);
    ck_assert_uint_eq(result.not_finite, 1);
    ck_assert_uint_eq(result.first_not_finite, 8 * 700 + 7);
    ck_assert_uint_eq(result.absolute.place, 8 * 700 + 2);
    ck_assert_double_eq(result.absolute.found, (double)data[8 * 700 + 2]);
    ck_assert_double_eq(result.absolute.exact, exact);
    ck_assert_double_eq(result.one, result.absolute.error * 0x1p24);
    ck_assert_uint_eq(result.bins[0], 7997);
    ck_assert_uint_eq(result.bins[2], 1); /* one ulp */
    ck_assert_uint_eq(result.bins[PE_COMPARE_BINS - 1], 1);
    ck_assert_uint_eq(result.row_count, 2);
    ck_assert_uint_eq(result.rows[0].row, 500);
    ck_assert_uint_eq(result.rows[1].row, 700);
    ck_assert_uint_eq(result.rows[1].differing, 2);
    ck_assert_uint_eq(result.rows[1].columns[1], 7);
    ck_assert_uint_eq(result.column_count, 3);
    ck_assert_uint_eq(result.columns[0].first, 7);
    ck_assert_uint_eq(result.columns[1].first, 2);
    ck_assert_uint_eq(result.columns[2].first, 3);
    uint64_t rows = 0, differing = 0;
    for (size_t i = 0; i < result.block_count; i++) {
        ck_assert_uint_eq(result.blocks[i].first, rows);
        rows += result.blocks[i].count;
        differing += result.blocks[i].differing;
    }
    ck_assert_uint_eq(rows, 1000);
    ck_assert_uint_eq(differing, 3);
    end(&table);
}
END_TEST

START_TEST(what_is_within_a_tolerance_is_not_outside)
{
    copy table;
    begin(&table, "sinusoidal", "length=10&dim=8", 0);
    float *data = (float *)(void *)table.held.data;
    data[9] = nextafterf(data[9], 2);
    data[13] += 0x1p-10f;
    ck_assert_uint_eq(compared(&table, 0, (pe_tolerance){.ulps = 1}).outside, 1);
    ck_assert_uint_eq(compared(&table, 0, (pe_tolerance){.absolute = 0x1p-9}).outside, 0);
    ck_assert_uint_eq(compared(&table, 0, NONE).outside, 2);
    end(&table);
}
END_TEST

START_TEST(another_shape_and_a_short_body_are_refused)
{
    copy table;
    pe_comparison result;
    pe_error error;
    begin(&table, "sinusoidal", "length=10&dim=8", 0);
    table.held.view.shape[0] = 9;
    ck_assert_int_eq(
        pe_compare_table(table.request, 0, &table.held.view, NONE, NULL, &result, &error),
        PE_OUT_OF_RANGE);
    ck_assert_str_eq(unit_problem(&error, "shape")->given, "[9, 8]");
    table.held.view.shape[0] = 10;
    table.held.size -= 4;
    ck_assert_int_eq(
        pe_compare_table(table.request, 0, &table.held.view, NONE, NULL, &result, &error),
        PE_MALFORMED);
    ck_assert(unit_error_names(&error, "body"));
    end(&table);
}
END_TEST

Suite *comparison_suite(void)
{
    const TTest *const tests[] = {
        a_table_is_equal_to_itself_in_every_order_and_type,
        fortran_order_and_axes_of_one_change_nothing,
        differences_are_counted_and_named,
        what_is_within_a_tolerance_is_not_outside,
        another_shape_and_a_short_body_are_refused,
        NULL,
    };
    return unit_suite("comparison", tests);
}
