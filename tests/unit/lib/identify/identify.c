/* Tests of identifying tables: what is found has the bits of the table, and what cannot be
 * found is unknown. */
#include "held.h"
#include "sets.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Hold a copy of a tensor as a view. */
static void hold(unit_held *self, const char *scheme, const char *query, const char *tensor)
{
    pe_table *table = unit_table(scheme, query);
    size_t index = 0;
    while (strcmp(pe_table_tensor(table, index)->name, tensor) != 0)
        index++;
    unit_hold_tensor(self, table, index);
}

static pe_identity identify(unit_held *self)
{
    pe_identity identity;
    pe_error error;
    ck_assert_int_eq(
        pe_identify_table(&self->view, NULL, NULL, &UNIT_LIMITS, NULL, &identity, &error),
        PE_OK);
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
        unit_held table;
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

/* Cosines as rotary code computes them: every step in float32. */
static void hold_float32(unit_held *self, uint64_t rows, uint64_t pairs)
{
    float *data = malloc((size_t)(rows * pairs) * sizeof *data);
    for (uint64_t i = 0; i < rows * pairs; i++) {
        float exponent = (float)(2 * (i % pairs)) / (float)(2 * pairs);
        float frequency = 1 / (float)pow(10000, (double)exponent);
        data[i] = (float)cos((double)((float)(i / pairs) * frequency));
    }
    unit_hold(self, data, PE_ELEMENT_F32, 2, (const uint64_t[]){rows, pairs});
}

START_TEST(float32_arithmetic_is_named)
{
    unit_held table;
    hold_float32(&table, 600, 32);
    pe_identity identity = identify(&table);
    ck_assert_int_eq(identity.status, PE_IDENTITY_MATCH);
    ck_assert_int_eq(identity.arithmetic, PE_ARITHMETIC_F32);
    ck_assert_uint_eq(identity.misfits.count, 0);
    ck_assert_ptr_nonnull(identity.computation.text);
    free(table.data);
}
END_TEST

START_TEST(what_does_not_fit_is_told_by_row_column_and_entry)
{
    unit_held table;
    hold_float32(&table, 300, 32);
    float *data = (float *)table.data;
    for (uint64_t i = 0; i < 32; i++)
        data[7 * 32 + i] = 2;
    for (uint64_t row = 0; row < 300; row++)
        data[row * 32 + 5] = 3;
    data[200 * 32 + 11] = 4;
    pe_identity identity = identify(&table);
    const pe_misfits *misfits = &identity.misfits;
    ck_assert_int_eq(identity.status, PE_IDENTITY_NEAR);
    ck_assert_uint_eq(misfits->count, 32 + 299 + 1);
    ck_assert_uint_eq(misfits->row_count, 1);
    ck_assert_uint_eq(misfits->rows[0], 7);
    ck_assert_uint_eq(misfits->column_count, 1);
    ck_assert_uint_eq(misfits->columns[0], 5);
    ck_assert_uint_eq(misfits->entry_count, 1);
    ck_assert_uint_eq(misfits->entries[0], 200 * 32 + 11);
    free(table.data);
}
END_TEST

static void hold_column(unit_held *self, const double *entries, size_t count)
{
    double *data = malloc(count * sizeof *entries);
    memcpy(data, entries, count * sizeof *entries);
    unit_hold(self, data, PE_ELEMENT_F64, 2, (const uint64_t[]){count, 1});
}

START_TEST(what_has_no_logarithm_is_no_frequency)
{
    static const double COLUMNS[][8] = {
        {1, 0.5, -0.4, -0.9, -0.95, -0.96, -0.97, -0.98},
        {1, 0.5, 0.25, INFINITY, 0.1, 0.05, NAN, 0.01},
        {1, 0.5, 0.25, 0.125, 0x1p-1060, 0x1p-1070, -0.0, 0},
        {1e300, 1, 0.5, 0.25, 0.125, 0.1, 1e-300, 0x1p-1074},
        {1, 0.54030, -0.41614, -0.98999, -0.65364, 0.28366, 0.96017, 0.75390},
    };
    for (size_t i = 0; i < UNIT_COUNT(COLUMNS); i++)
        for (size_t count = 2; count <= 8; count++) {
            unit_held table;
            hold_column(&table, COLUMNS[i], count);
            pe_identity identity = identify(&table);
            unit_assert(identity.status != PE_IDENTITY_EXACT || i > 0 || count == 2);
            free(table.data);
        }
}
END_TEST

START_TEST(lack_of_memory_ends_a_search_and_no_answer_is_wrong)
{
    const pe_scheme *rope = pe_scheme_find("rope");
    bool failed = true;
    size_t failures = 0;
    for (size_t first = 0; failed; first += 1 + first / 16) {
        unit_held table;
        pe_identity identity;
        pe_error error;
        hold_float32(&table, 100, 8);
        unit_fail_allocations(first, 1);
        pe_status status =
            pe_identify_table(&table.view, rope, NULL, &UNIT_LIMITS, NULL, &identity, &error);
        failed = unit_allow_allocations().failed > 0;
        failures += status == PE_NO_MEMORY;
        ck_assert(status == PE_OK || status == PE_NO_MEMORY || status == PE_MALFORMED);
        if (!failed)
            ck_assert_int_eq(identity.status, PE_IDENTITY_MATCH);
        free(table.data);
    }
    ck_assert_uint_gt(failures, 3);
}
END_TEST

/* ---- sets ---- */

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

/* A runner for which no computation begins before the last one has ended. */
static bool go_on(void *context, const pe_scheme *scheme, double done)
{
    int *open = context;
    if (!scheme) /* between computations */
        return true;
    ck_assert_int_eq(*open, done > 0);
    *open = done < 1;
    return true;
}

static pe_status identify_stored(unit_held *self, const char *set, const pe_limits *limits,
                                 pe_identity *ret_identity, pe_error *reterr)
{
    int open = 0;
    const pe_runner runner = {.context = &open, .go_on = go_on};
    pe_status status =
        pe_identify_table(&self->view, NULL, set, limits, &runner, ret_identity, reterr);
    ck_assert_int_eq(open, 0);
    return status;
}

static const char *const STORED[][2] = {
    {"learned", "length=9&set=set&offset=4"},
    {"learned", "length=5&set=set&offset=1&step=3"},
    {"resized", "height=7&set=set"},
    {"resized", "height=2&width=7&set=set&mode=bilinear"},
    {"resized", "height=6&set=set&antialias=true"},
    {"hierarchical", "length=50&set=set"},
    {"hierarchical", "length=50&set=set&alpha=0.3"},
};

START_TEST(tables_of_a_stored_set_are_recognised_bit_for_bit)
{
    store_table("table");
    for (size_t i = 0; i < UNIT_COUNT(STORED); i++) {
        unit_held table;
        pe_identity identity;
        pe_error error;
        unit_hold_tensor(&table, unit_set_table(STORED[i][0], STORED[i][1]), 0);
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
static void move_entry(unit_held *self, size_t index, int units)
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
    unit_held table;
    store_table("table");
    for (int units = 4; units <= 128; units *= 32) {
        unit_hold_tensor(&table, unit_set_table("resized", "height=80&set=set"), 0);
        for (size_t i = 0; i < 30; i++) /* in two blocks of 2^16 entries */
            move_entry(&table, 2500 * i, units);
        ck_assert_int_eq(identify_stored(&table, "set", &UNIT_SET_LIMITS, &identity, &error),
                         PE_OK);
        ck_assert_int_eq(identity.status, PE_IDENTITY_NEAR);
        ck_assert_int_eq(identity.arithmetic,
                         units < 100 ? PE_ARITHMETIC_F32_LIKE : PE_ARITHMETIC_UNKNOWN);
        ck_assert_uint_eq(identity.misfits.count, units < 100 ? 0 : 30);
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
    unit_held table;
    store_table("table");
    unit_hold_tensor(&table, unit_set_table("learned", "length=9&set=set&offset=4"), 0);
    ck_assert_int_eq(identify_stored(&table, "none", &limits, &identity, &error),
                     PE_OUT_OF_RANGE);
    ck_assert_ptr_nonnull(unit_problem(&error, "set"));
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

static bool read_nothing(void *context, uint64_t offset, void *dst, size_t size)
{
    (void)context, (void)offset, (void)dst, (void)size;
    return false;
}

START_TEST(what_cannot_be_read_is_told_however_it_lies)
{
    pe_view view = {
        .read = read_nothing, .element = PE_ELEMENT_F32, .rank = 2, .shape = {64, 16}};
    pe_identity identity;
    pe_error error;
    pe_view_set_row_major(&view);
    for (int turn = 0; turn < 2; turn++, view = pe_view_transposed(&view, 0, 1)) {
        ck_assert_int_eq(
            pe_identify_table(&view, NULL, NULL, &UNIT_LIMITS, NULL, &identity, &error),
            PE_MALFORMED);
        ck_assert_ptr_nonnull(unit_problem(&error, "body"));
    }
}
END_TEST

Suite *identify_suite(void)
{
    const TTest *const tests[] = {
        tables_of_schemes_are_recognised_bit_for_bit,
        float32_arithmetic_is_named,
        what_does_not_fit_is_told_by_row_column_and_entry,
        what_has_no_logarithm_is_no_frequency,
        lack_of_memory_ends_a_search_and_no_answer_is_wrong,
        tables_of_a_stored_set_are_recognised_bit_for_bit,
        sums_may_be_off_by_their_terms_and_no_more,
        a_set_that_cannot_be_had_is_told,
        what_cannot_be_read_is_told_however_it_lies,
        NULL,
    };
    return unit_suite("identify", tests);
}
