/* Tests of columns in any order: orders are found that schemes know, and which column is which
 * of a request's. */
#include "identify/column_matching.h"
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

/* How many orders a table has; the search must not fail. */
static size_t find(const unit_held *table,
                   uint16_t orders[PE_COLUMN_ORDERS][PE_IDENTITY_COLUMNS_MAX])
{
    size_t count = PE_COLUMN_ORDERS + 1;
    pe_error error;
    pe_error_init(&error);
    ck_assert(pe_column_orders_find(&table->view, NULL, orders, &count, &error));
    ck_assert_uint_eq(error.count, 0);
    return count;
}

/* Match the columns of the first tensor of a request. */
static bool match(const unit_held *table, const char *scheme, const char *query,
                  uint16_t *ret_order)
{
    pe_request *request = unit_legal_request(scheme, query);
    pe_observation seen;
    ck_assert(pe_observation_begin(&seen, &table->view));
    const bool matched = pe_match_columns(request, 0, &seen, 0, ret_order);
    pe_observation_end(&seen);
    pe_request_unref(request);
    return matched;
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

START_TEST(mixed_waves_come_in_their_usual_order)
{
    for (size_t i = 0; i < UNIT_COUNT(USUAL); i++) {
        char query[160];
        uint16_t orders[PE_COLUMN_ORDERS][PE_IDENTITY_COLUMNS_MAX];
        unit_held usual, mixed;
        if (strstr(USUAL[i][1], "offset") || strstr(USUAL[i][1], "first_position"))
            continue; /* of slow waves it is rough there */
        snprintf(query, sizeof query, "%s&dtype=f64", USUAL[i][1]);
        hold(&usual, USUAL[i][0], query);
        hold(&mixed, USUAL[i][0], query);
        mix(&mixed, i + 1);
        ck_assert_uint_ge(find(&mixed, orders), 1);
        move_columns(&mixed, orders[0]);
        ck_assert_msg(memcmp(mixed.data, usual.data, usual.size) == 0, "%s is in another order",
                      query);
        free(usual.data);
        free(mixed.data);
    }
}
END_TEST

/* Others, whose columns are told by matching alone. */
static const char *const OTHERS[][2] = {
    {"learned", "length=50&dim=16&seed=1"},
    {"binary", "length=50&width=16"},
    {"rope", "length=9000&dim=128&rope_theta=1000000"},
    {"t5", "length=60&heads=1&tensor=bucket"},
    {"mrope", "text=9,5&grids=1,8,8&dim=128"},
    {"sinusoidal", "length=2&dim=256"},
};

static void match_mixed(const char *scheme, const char *text, const char *dtype, uint64_t state)
{
    char query[160];
    uint16_t order[PE_IDENTITY_COLUMNS_MAX];
    unit_held exact, mixed;
    snprintf(query, sizeof query, "%s&dtype=%s", text, dtype);
    hold(&exact, scheme, query);
    hold(&mixed, scheme, query);
    mix(&mixed, state);
    ck_assert_msg(match(&mixed, scheme, query, order), "%s is not matched", query);
    move_columns(&mixed, order);
    ck_assert_msg(memcmp(mixed.data, exact.data, exact.size) == 0, "%s is matched otherwise",
                  query);
    free(exact.data);
    free(mixed.data);
}

START_TEST(mixed_columns_are_matched_in_every_dtype)
{
    static const char *const DTYPES[] = {"f32", "f64", "f16", "bf16"};
    for (size_t d = 0; d < UNIT_COUNT(DTYPES); d++) {
        for (size_t i = 0; i < UNIT_COUNT(USUAL); i++)
            match_mixed(USUAL[i][0], USUAL[i][1], DTYPES[d], i + 1);
        for (size_t i = 0; i < UNIT_COUNT(OTHERS); i++)
            if (strcmp(OTHERS[i][0], "t5") != 0)
                match_mixed(OTHERS[i][0], OTHERS[i][1], DTYPES[d], i + 1);
    }
}
END_TEST

START_TEST(equal_columns_are_matched_in_their_order)
{
    uint16_t order[PE_IDENTITY_COLUMNS_MAX];
    unit_held table;
    hold(&table, "rope", "length=50&dim=16&table=full");
    ck_assert(match(&table, "rope", "length=50&dim=16&table=full", order));
    for (uint16_t c = 0; c < 16; c++)
        ck_assert_uint_eq(order[c], c);
    free(table.data);
}
END_TEST

START_TEST(columns_of_another_table_are_not_matched)
{
    uint16_t order[PE_IDENTITY_COLUMNS_MAX];
    unit_held table;
    hold(&table, "sinusoidal", "length=50&dim=64");
    ck_assert(!match(&table, "sinusoidal", "length=50&dim=64&offset=7", order));
    ck_assert(!match(&table, "learned", "length=50&dim=64", order));
    free(table.data);
}
END_TEST

START_TEST(tables_without_law_have_no_order)
{
    static const char *const NONE[][2] = {
        {"sinusoidal", "length=3&dim=16"},
        {"rope", "length=4&dim=8200"}, /* too wide */
        {"learned", "length=50&dim=16&seed=1"},
    };
    uint16_t orders[PE_COLUMN_ORDERS][PE_IDENTITY_COLUMNS_MAX];
    for (size_t i = 0; i < UNIT_COUNT(NONE); i++) {
        unit_held table;
        hold(&table, NONE[i][0], NONE[i][1]);
        ck_assert_msg(find(&table, orders) == 0, "%s has an order", NONE[i][1]);
        free(table.data);
    }
}
END_TEST

START_TEST(numbers_that_are_not_finite_do_no_harm)
{
    static const float VALUES[] = {NAN, INFINITY, -INFINITY};
    static const char QUERY[] = "length=50&dim=16";
    for (size_t i = 0; i < 2 * UNIT_COUNT(VALUES); i++) {
        uint16_t orders[PE_COLUMN_ORDERS][PE_IDENTITY_COLUMNS_MAX], order[16];
        bool matched[16] = {false};
        unit_held table;
        hold(&table, "sinusoidal", QUERY);
        memcpy(table.data + (i % 2) * 20 * 16 * sizeof(float), &VALUES[i / 2], sizeof(float));
        (void)find(&table, orders);
        ck_assert(match(&table, "sinusoidal", QUERY, order));
        for (size_t c = 0; c < 16; c++)
            matched[order[c]] = true;
        for (size_t c = 0; c < 16; c++)
            ck_assert(matched[c]);
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
        uint16_t orders[PE_COLUMN_ORDERS][PE_IDENTITY_COLUMNS_MAX];
        size_t count = 0;
        pe_error error;
        pe_error_init(&error);
        unit_fail_allocations(k, 1);
        const bool good = pe_column_orders_find(&table.view, NULL, orders, &count, &error);
        failed = unit_allow_allocations().failed;
        ck_assert_msg(good == (failed == 0), "allocation %zu", k);
        ck_assert_int_eq(error.status, good ? PE_OK : PE_NO_MEMORY);
        ck_assert_uint_eq(count, good ? 3 : 0);
    }
    free(table.data);
}
END_TEST

Suite *column_matching_suite(void)
{
    const TTest *const tests[] = {
        mixed_waves_come_in_their_usual_order,
        mixed_columns_are_matched_in_every_dtype,
        equal_columns_are_matched_in_their_order,
        columns_of_another_table_are_not_matched,
        tables_without_law_have_no_order,
        numbers_that_are_not_finite_do_no_harm,
        lack_of_memory_is_told,
        NULL,
    };
    return unit_suite("column_matching", tests);
}
