/* Tests of the usual order of columns: it is found again after they have been mixed, and tables
 * of other kinds have none. */
#include "identify/column_order.h"

#include "held.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Hold the first tensor of a request. */
static void hold(unit_held *self, const char *scheme, const char *query)
{
    unit_hold_tensor(self, unit_table(scheme, query), 0);
}

/* Bring the columns of a matrix into an order. */
static void move_columns(unit_held *self, const uint16_t *order)
{
    const size_t columns = (size_t)self->view.shape[1];
    const size_t element = pe_element_size(self->view.element);
    unsigned char *row = malloc(columns * element);
    ck_assert(row != NULL);
    for (size_t at = 0; at < self->size; at += columns * element) {
        memcpy(row, self->data + at, columns * element);
        for (size_t c = 0; c < columns; c++)
            memcpy(self->data + at + c * element, row + order[c] * element, element);
    }
    free(row);
}

static void mix(unit_held *self, uint64_t state)
{
    uint16_t order[PE_IDENTITY_COLUMNS_MAX];
    for (size_t c = 0; c < self->view.shape[1]; c++)
        order[c] = (uint16_t)c;
    for (size_t c = self->view.shape[1] - 1; c > 0; c--) {
        const size_t other = unit_random(&state) % (c + 1);
        const uint16_t kept = order[c];
        order[c] = order[other];
        order[other] = kept;
    }
    move_columns(self, order);
}

/* How many columns have an order; the search must not fail. */
static uint64_t find(const unit_held *table, uint16_t *order)
{
    uint64_t count = 1;
    bool pairs;
    pe_error error;
    pe_error_init(&error);
    ck_assert(pe_column_order_find(&table->view, NULL, order, &count, &pairs, &error));
    ck_assert_uint_eq(error.count, 0);
    return count;
}

static const char *const USUAL[][2] = {
    {"sinusoidal", "length=50&dim=16"},
    {"sinusoidal", "length=300&dim=128&base=500000&amplitude=3"},
    {"sinusoidal", "length=9000&dim=64"},
    {"sinusoidal", "length=12&dim=64&step=0.5"},
    {"rope", "length=200&dim=64"},
    {"rope", "length=400&dim=64&table=full&layout=interleaved"},
    {"rope", "length=1024&dim=128&preset=llama3.1"},
    {"rope", "length=5000&dim=128&rope_theta=1000000"},
    {"periodic", "length=100&dim=16"},
    {"sinusoidal", "length=50&dim=16&offset=1"},
    {"rope", "length=90&dim=64&table=full&layout=interleaved&offset=2&step=0.5"},
    {"sinusoidal_2d", "height=9&width=12&dim=64&shape=nc"},
    {"sinusoidal_2d", "height=9&width=12&dim=64&shape=nc&first_position=1&normalize=cells"},
    {"sinusoidal_3d", "depth=3&height=7&width=9&dim=96&shape=nc&axis_order=width_height_depth"},
};

START_TEST(mixed_columns_are_brought_back_in_every_dtype)
{
    static const char *const DTYPES[] = {"f32", "f64", "f16", "bf16"};
    for (size_t i = 0; i < UNIT_COUNT(USUAL); i++)
        for (size_t d = 0; d < UNIT_COUNT(DTYPES); d++) {
            char query[160];
            uint16_t order[PE_IDENTITY_COLUMNS_MAX];
            unit_held usual, mixed;
            snprintf(query, sizeof query, "%s&dtype=%s", USUAL[i][1], DTYPES[d]);
            hold(&usual, USUAL[i][0], query);
            hold(&mixed, USUAL[i][0], query);
            mix(&mixed, i + 1);
            ck_assert_msg(find(&mixed, order) == mixed.view.shape[1], "%s has no order", query);
            move_columns(&mixed, order);
            ck_assert_msg(memcmp(mixed.data, usual.data, usual.size) == 0,
                          "%s is in another order", query);
            free(usual.data);
            free(mixed.data);
        }
}
END_TEST

START_TEST(tables_in_their_order_have_none)
{
    for (size_t i = 0; i < UNIT_COUNT(USUAL); i++) {
        uint16_t order[PE_IDENTITY_COLUMNS_MAX];
        unit_held usual;
        hold(&usual, USUAL[i][0], USUAL[i][1]);
        ck_assert_msg(find(&usual, order) == 0, "%s has an order", USUAL[i][1]);
        free(usual.data);
    }
}
END_TEST

START_TEST(tables_that_are_no_waves_have_none)
{
    static const char *const OTHERS[][2] = {
        {"sinusoidal", "length=3&dim=16"},
        {"rope", "length=4&dim=8200"}, /* too wide */
        {"learned", "length=50&dim=16&seed=1"},
        {"binary", "length=50&width=16"},
    };
    uint16_t order[PE_IDENTITY_COLUMNS_MAX];
    unit_held table;
    for (size_t i = 0; i < UNIT_COUNT(OTHERS); i++) {
        hold(&table, OTHERS[i][0], OTHERS[i][1]);
        if (table.view.shape[1] <= PE_IDENTITY_COLUMNS_MAX)
            mix(&table, i);
        ck_assert_msg(find(&table, order) == 0, "%s has an order", OTHERS[i][1]);
        free(table.data);
    }
    hold(&table, "sinusoidal", "length=50&dim=16"); /* more of one kind */
    mix(&table, 1);
    table.view = pe_view_part(&table.view, 1, 0, 11);
    ck_assert_uint_eq(find(&table, order), 0);
    free(table.data);
}
END_TEST

START_TEST(numbers_that_are_not_finite_have_none)
{
    static const float VALUES[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 2 * UNIT_COUNT(VALUES); i++) {
        uint16_t order[PE_IDENTITY_COLUMNS_MAX];
        unit_held table;
        hold(&table, "sinusoidal", "length=50&dim=16");
        mix(&table, 1);
        memcpy(table.data + (i % 2) * 20 * 16 * sizeof(float), &VALUES[i / 2], sizeof(float));
        ck_assert_uint_eq(find(&table, order), 0);
        free(table.data);
    }
}
END_TEST

START_TEST(lack_of_memory_is_told)
{
    unit_held table;
    hold(&table, "sinusoidal", "length=5000&dim=16");
    mix(&table, 1);
    for (size_t k = 0, failed = 1; failed > 0; k++) {
        uint16_t order[PE_IDENTITY_COLUMNS_MAX];
        uint64_t count = 0;
        bool pairs;
        pe_error error;
        pe_error_init(&error);
        unit_fail_allocations(k, 1);
        const bool good =
            pe_column_order_find(&table.view, NULL, order, &count, &pairs, &error);
        failed = unit_allow_allocations().failed;
        ck_assert_msg(good == (failed == 0), "allocation %zu", k);
        ck_assert_int_eq(error.status, good ? PE_OK : PE_NO_MEMORY);
        ck_assert_uint_eq(count, good ? 16 : 0);
    }
    free(table.data);
}
END_TEST

START_TEST(a_table_that_cannot_be_read_is_told)
{
    uint16_t order[PE_IDENTITY_COLUMNS_MAX];
    uint64_t count;
    bool pairs;
    pe_error error;
    unit_held table;
    hold(&table, "sinusoidal", "length=5000&dim=16");
    mix(&table, 1);
    table.size -= 4;
    pe_error_init(&error);
    ck_assert(!pe_column_order_find(&table.view, NULL, order, &count, &pairs, &error));
    ck_assert_int_eq(error.status, PE_MALFORMED);
    free(table.data);
}
END_TEST

Suite *column_order_suite(void)
{
    const TTest *const tests[] = {
        mixed_columns_are_brought_back_in_every_dtype,
        tables_in_their_order_have_none,
        tables_that_are_no_waves_have_none,
        numbers_that_are_not_finite_have_none,
        lack_of_memory_is_told,
        a_table_that_cannot_be_read_is_told,
        NULL,
    };
    return unit_suite("column_order", tests);
}
