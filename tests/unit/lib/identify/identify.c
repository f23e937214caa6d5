/* Tests of identifying tables: what is found has the bits of the table, and what cannot be
 * found is unknown. */
#include "sets.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct held {
    unsigned char *data;
    size_t size;
    pe_view view;
} held;

static bool read_held(void *context, uint64_t offset, void *dst, size_t size)
{
    const held *self = context;
    if (offset > self->size || size > self->size - offset)
        return false;
    memcpy(dst, self->data + offset, size);
    return true;
}

/* Hold a copy of a tensor as a view. */
static void hold(held *self, const char *scheme, const char *query, const char *tensor)
{
    static const pe_element ELEMENTS[] = {[PE_F32] = PE_ELEMENT_F32,
                                          [PE_F64] = PE_ELEMENT_F64,
                                          [PE_F16] = PE_ELEMENT_F16,
                                          [PE_BF16] = PE_ELEMENT_BF16,
                                          [PE_I32] = PE_ELEMENT_I32};
    pe_table *table = unit_table(scheme, query);
    size_t index = 0;
    while (strcmp(pe_table_tensor(table, index)->name, tensor) != 0)
        index++;
    const pe_tensor *shape = pe_table_tensor(table, index);
    self->size = (size_t)shape->bytes;
    self->data = malloc(self->size);
    memcpy(self->data, pe_table_data(table, index), self->size);
    self->view = (pe_view){.read = read_held,
                           .context = self,
                           .element = ELEMENTS[shape->dtype],
                           .rank = shape->rank};
    memcpy(self->view.shape, shape->shape, shape->rank * sizeof *shape->shape);
    pe_view_set_row_major(&self->view);
    pe_table_unref(table);
}

static pe_identity identify(held *self)
{
    pe_identity identity;
    pe_error error;
    ck_assert_int_eq(
        pe_identify(&self->view, NULL, NULL, &UNIT_LIMITS, NULL, &identity, &error), PE_OK);
    return identity;
}

static const char *const EXACT[][3] = {
    {"integer", "length=7&offset=-3&step=0.5", "encoding"},
    {"normalized", "length=11", "encoding"},
    {"binary", "length=9&width=6&offset=5", "encoding"},
    {"binary", "length=9&width=6&order=lsb", "encoding"},
    {"sinusoidal", "length=50&dim=16", "encoding"},
    {"sinusoidal", "length=50&dim=16&offset=1000", "encoding"},
    {"sinusoidal", "length=64&dim=64&layout=concat&frequencies=tensor2tensor&offset=2",
     "encoding"},
    {"sinusoidal", "length=300&dim=128&base=500000&step=0.5&dtype=f16", "encoding"},
    {"sinusoidal", "length=300&dim=32&layout=concat_cos_first&dtype=bf16", "encoding"},
    {"sinusoidal", "length=100&dim=64&amplitude=8&dtype=f64", "encoding"},
    {"sinusoidal", "length=100&dim=64&zero_first_row=true&layout=concat", "encoding"},
    {"rope", "length=200&dim=64", "cos"},
    {"rope", "length=200&dim=64", "sin"},
    {"rope", "length=200&dim=64", "inv_freq"},
    {"rope", "length=128&dim=128&table=full&offset=70000", "cos"},
    {"rope", "length=128&dim=32&table=full&layout=interleaved", "sin"},
    {"rope", "length=1024&dim=128&preset=llama3.1&table=full", "cos"},
    {"rope", "length=256&dim=64&rope_theta=1000000&dtype=bf16", "cos"},
};

START_TEST(tables_of_schemes_are_recognised_bit_for_bit)
{
    for (size_t i = 0; i < UNIT_COUNT(EXACT); i++) {
        held table;
        hold(&table, EXACT[i][0], EXACT[i][1], EXACT[i][2]);
        pe_identity identity = identify(&table);
        if (identity.status != PE_IDENTITY_EXACT)
            ck_abort_msg("%s?%s is %d, %s?%s", EXACT[i][0], EXACT[i][1], identity.status,
                         identity.scheme ? pe_scheme_describe(identity.scheme)->name : "none",
                         identity.query);
        ck_assert_uint_eq(identity.comparison.differing, 0);
        free(table.data);
    }
}
END_TEST

/* ---- stored sets ---- */

#define CELLS   16
#define COLUMNS 12

/* Store a table [CELLS, COLUMNS] of numbers without a law. */
static void store_table(const char *name)
{
    double elements[CELLS * COLUMNS];
    uint64_t state = 3;
    for (size_t i = 0; i < UNIT_COUNT(elements); i++)
        elements[i] = (double)(unit_random(&state) >> 48) * 0x1p-22 - 0x1p-7;
    const unit_tensor tensor = {name, PE_F32, 2, {CELLS, COLUMNS}, elements};
    unit_store(&tensor, 1);
}

/* Hold a copy of the encoding of a query that may name the set. */
static void hold_stored(held *self, const char *scheme, const char *query)
{
    pe_table *table = unit_set_table(scheme, query);
    const pe_tensor *shape = pe_table_tensor(table, 0);
    self->size = (size_t)shape->bytes;
    self->data = malloc(self->size);
    memcpy(self->data, pe_table_data(table, 0), self->size);
    self->view = (pe_view){
        .read = read_held, .context = self, .element = PE_ELEMENT_F32, .rank = shape->rank};
    memcpy(self->view.shape, shape->shape, shape->rank * sizeof *shape->shape);
    pe_view_set_row_major(&self->view);
    pe_table_unref(table);
}

/* A runner for which no computation begins before the last one has ended. */
static bool go_on(void *context, const pe_scheme *scheme, double done)
{
    int *open = context;
    (void)scheme;
    ck_assert_int_eq(*open, done > 0);
    *open = done < 1;
    return true;
}

static pe_status identify_stored(held *self, const char *set, const pe_limits *limits,
                                 pe_identity *ret_identity, pe_error *reterr)
{
    int open = 0;
    const pe_runner runner = {.context = &open, .go_on = go_on};
    pe_status status =
        pe_identify(&self->view, NULL, set, limits, &runner, ret_identity, reterr);
    ck_assert_int_eq(open, 0);
    return status;
}

static const char *const STORED[][2] = {
    {"learned", "length=9&parameters=set&offset=4"},
    {"learned", "length=5&parameters=set&offset=1&step=3"},
    {"resized", "height=7&parameters=set"},
    {"resized", "height=2&width=7&parameters=set&mode=bilinear"},
    {"resized", "height=6&parameters=set&antialias=true"},
    {"hierarchical", "length=50&parameters=set"},
    {"hierarchical", "length=50&parameters=set&alpha=0.3"},
};

START_TEST(tables_of_a_stored_set_are_recognised_bit_for_bit)
{
    store_table("table");
    for (size_t i = 0; i < UNIT_COUNT(STORED); i++) {
        held table;
        pe_identity identity;
        pe_error error;
        hold_stored(&table, STORED[i][0], STORED[i][1]);
        ck_assert_int_eq(identify_stored(&table, "set", &UNIT_SET_LIMITS, &identity, &error),
                         PE_OK);
        ck_assert_int_eq(identity.status, PE_IDENTITY_EXACT);
        ck_assert_str_eq(identity.query, STORED[i][1]);
        ck_assert_int_eq(identify(&table).status, PE_IDENTITY_UNKNOWN);
        free(table.data);
    }
    unit_store(NULL, 0);
}
END_TEST

/* Move an entry by some units of float32 at 1/8, as if terms had that size. */
static void move_entry(held *self, size_t index, int units)
{
    float entry;
    memcpy(&entry, self->data + index * sizeof entry, sizeof entry);
    entry += (float)units * 0x1p-26F;
    memcpy(self->data + index * sizeof entry, &entry, sizeof entry);
}

START_TEST(sums_may_be_off_by_their_terms_and_no_more)
{
    pe_identity identity;
    pe_error error;
    held table;
    store_table("table");
    for (int units = 4; units <= 128; units *= 32) {
        hold_stored(&table, "resized", "height=80&parameters=set");
        for (size_t i = 0; i < 30; i++) /* in two blocks of 2^16 entries */
            move_entry(&table, 2500 * i, units);
        ck_assert_int_eq(identify_stored(&table, "set", &UNIT_SET_LIMITS, &identity, &error),
                         PE_OK);
        ck_assert_int_eq(identity.status, PE_IDENTITY_NEAR);
        ck_assert_int_eq(identity.arithmetic,
                         units < 100 ? PE_ARITHMETIC_F32_LIKE : PE_ARITHMETIC_UNKNOWN);
        ck_assert_uint_eq(identity.misfits, units < 100 ? 0 : 30);
        free(table.data);
    }
    unit_store(NULL, 0);
}
END_TEST

static pe_status find_nothing(void *context, const char *name, pe_set **ret_set)
{
    (void)context, (void)name, (void)ret_set;
    return PE_NO_MEMORY;
}

START_TEST(a_set_that_cannot_be_had_is_told)
{
    const pe_sets failing = {NULL, find_nothing};
    pe_limits limits = UNIT_SET_LIMITS;
    pe_identity identity;
    pe_error error;
    held table;
    store_table("table");
    hold_stored(&table, "learned", "length=9&parameters=set&offset=4");
    ck_assert_int_eq(identify_stored(&table, "none", &limits, &identity, &error),
                     PE_OUT_OF_RANGE);
    ck_assert_ptr_nonnull(unit_problem(&error, "parameters"));
    ck_assert_int_eq(identify_stored(&table, "set", &UNIT_LIMITS, &identity, &error),
                     PE_OUT_OF_RANGE);
    limits.sets = &failing;
    ck_assert_int_eq(identify_stored(&table, "set", &limits, &identity, &error), PE_NO_MEMORY);
    store_table("weights");
    ck_assert_int_eq(identify_stored(&table, "set", &UNIT_SET_LIMITS, &identity, &error),
                     PE_OK);
    ck_assert_int_eq(identity.status, PE_IDENTITY_UNKNOWN);
    free(table.data);
    unit_store(NULL, 0);
}
END_TEST

Suite *identify_suite(void)
{
    const TTest *const tests[] = {
        tables_of_schemes_are_recognised_bit_for_bit,
        tables_of_a_stored_set_are_recognised_bit_for_bit,
        sums_may_be_off_by_their_terms_and_no_more,
        a_set_that_cannot_be_had_is_told,
        NULL,
    };
    return unit_suite("identify", tests);
}
