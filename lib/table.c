/* Tables: the tensors of one request in one block of memory, counted by references. */
#include "buffer.h"
#include "request.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#define ALIGNMENT 64

struct pe_table {
    atomic_uint references;
    size_t count, capacity;
    unsigned char *block; /* for each tensor: headroom, then data */
    pe_tensor tensors[PE_PLAN_TENSORS];
    size_t offsets[PE_PLAN_TENSORS]; /* of the data */
};

/* Lay out the tensors; returns the size of the block. The request has met the limits. */
static size_t lay_out(pe_table *table, const pe_plan *plan)
{
    size_t end = 0;
    table->count = plan->count;
    for (size_t i = 0; i < plan->count; i++) {
        table->tensors[i] = plan->tensors[i];
        table->offsets[i] = end + PE_TABLE_HEADROOM;
        size_t bytes = (size_t)plan->tensors[i].bytes;
        end = table->offsets[i] + (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    return end;
}

pe_status pe_table_compute(const pe_request *request, pe_table **ret_table, pe_error *reterr)
{
    const pe_scheme *scheme = request->values.scheme;
    void *state = NULL;
    pe_error_init(reterr);
    pe_table *table = calloc(1, sizeof *table);
    if (!table)
        goto fail;
    size_t size = lay_out(table, &request->plan);
    table->block = pe_buffer_allocate(size, &table->capacity);
    if (!table->block)
        goto fail;
    if (scheme->prepare) {
        state = scheme->prepare(&request->values, &request->plan);
        if (!state)
            goto fail;
    }
    for (size_t i = 0; i < table->count; i++) {
        pe_window whole = {i, 0, pe_plan_rows(&request->plan, i)};
        scheme->fill(&request->values, &request->plan, state, whole,
                     table->block + table->offsets[i]);
    }
    (scheme->release ? scheme->release : free)(state);
    atomic_init(&table->references, 1);
    *ret_table = table;
    return PE_OK;
fail:
    if (table)
        pe_buffer_release(table->block, table->capacity);
    free(table);
    pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the table");
    return reterr->status;
}

pe_table *pe_table_ref(pe_table *table)
{
    atomic_fetch_add_explicit(&table->references, 1, memory_order_relaxed);
    return table;
}

void pe_table_unref(pe_table *table)
{
    if (!table || atomic_fetch_sub_explicit(&table->references, 1, memory_order_acq_rel) > 1)
        return;
    pe_buffer_release(table->block, table->capacity);
    free(table);
}

size_t pe_table_tensor_count(const pe_table *table)
{
    return table->count;
}

const pe_tensor *pe_table_tensor(const pe_table *table, size_t index)
{
    assert(index < table->count);
    return &table->tensors[index];
}

const void *pe_table_data(const pe_table *table, size_t index)
{
    assert(index < table->count);
    return table->block + table->offsets[index];
}

unsigned char *pe_table_headroom(pe_table *table, size_t index)
{
    assert(index < table->count);
    return table->block + table->offsets[index] - PE_TABLE_HEADROOM;
}

size_t pe_table_footprint(const pe_table *table)
{
    return sizeof *table + table->capacity;
}
