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

/* ---- parts: what several threads fill at a time ---- */

#define PART_MIN                                                                               \
    ((uint64_t)2 << 20) /* bytes; a tensor of fewer than two of these is one part */
#define PART_MAX  ((uint64_t)8 << 20) /* from here on rows are worth storing past the caches */
#define PARTS     8                   /* in between, a few for each thread */
#define PART_ROWS 64                  /* a multiple of this many rows shares its seeds */

typedef struct fill_parts {
    const pe_request *request;
    const void *state;
    pe_window tensor; /* the whole of it */
    uint64_t rows;    /* of a part; the last one may have fewer */
    size_t row_bytes;
    unsigned char *dst;
} fill_parts;

static void fill_part(void *of, size_t i)
{
    const fill_parts *parts = of;
    const pe_request *request = parts->request;
    pe_window window = {parts->tensor.tensor, i * parts->rows, parts->rows};
    if (window.rows > parts->tensor.rows - window.first)
        window.rows = parts->tensor.rows - window.first;
    request->values.scheme->fill(&request->values, &request->plan, parts->state, window,
                                 parts->dst + window.first * parts->row_bytes);
}

static void fill_tensor(const pe_request *request, const pe_runner *runner, const void *state,
                        size_t tensor, unsigned char *dst)
{
    const pe_tensor *shape = &request->plan.tensors[tensor];
    uint64_t rows = shape->rows, row_bytes = shape->bytes / rows;
    fill_parts parts = {request, state, {tensor, 0, rows}, rows, (size_t)row_bytes, dst};
    bool split = runner && runner->run && shape->bytes >= 2 * PART_MIN;
    if (split) {
        uint64_t bytes = shape->bytes / PARTS;
        bytes = bytes < PART_MIN ? PART_MIN : bytes > PART_MAX ? PART_MAX : bytes;
        parts.rows = bytes / row_bytes + 1;
        if (parts.rows > PART_ROWS)
            parts.rows = (parts.rows + PART_ROWS - 1) / PART_ROWS * PART_ROWS;
    }
    size_t count = (size_t)((rows + parts.rows - 1) / parts.rows);
    if (split)
        runner->run(runner->context, fill_part, &parts, count);
    else
        fill_part(&parts, 0);
}

pe_status pe_table_compute(const pe_request *request, const pe_runner *runner,
                           pe_table **ret_table, pe_error *reterr)
{
    void *state = NULL;
    pe_error_init(reterr);
    pe_table *table = calloc(1, sizeof *table);
    if (!table)
        goto fail;
    size_t size = lay_out(table, &request->plan);
    table->block = pe_buffer_allocate(size, &table->capacity);
    if (!table->block || pe_request_prepare(request, runner, &state, reterr) != PE_OK)
        goto fail;
    for (size_t i = 0; i < table->count; i++)
        fill_tensor(request, runner, state, i, table->block + table->offsets[i]);
    pe_request_release(request, state);
    atomic_init(&table->references, 1);
    *ret_table = table;
    return PE_OK;
fail:
    if (table)
        pe_buffer_release(table->block, table->capacity);
    free(table);
    if (reterr->status == PE_OK)
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
