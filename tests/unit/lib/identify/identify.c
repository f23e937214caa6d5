/* Tests of identifying tables: what is found has the bits of the table, and what cannot be
 * found is unknown. */
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
    ck_assert_int_eq(pe_identify(&self->view, NULL, &UNIT_LIMITS, NULL, &identity, &error),
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

Suite *identify_suite(void)
{
    const TTest *const tests[] = {
        tables_of_schemes_are_recognised_bit_for_bit,
        NULL,
    };
    return unit_suite("identify", tests);
}
