/* Tables: the tensors of one request in one block of memory, with reference counting. */
#include "locks.h"
#include "requests/request.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#define ALIGNMENT 64

struct pe_table {
    atomic_uint references;
    size_t count, capacity;
    pe_pool *pool;        /* of the block, or NULL */
    unsigned char *block; /* for each tensor: headroom, then data */
    pe_tensor tensors[PE_TENSORS_MAX];
    size_t offsets[PE_TENSORS_MAX]; /* of the data; 0: it was not chosen */
};

/* Compute where each tensor lies in the block, and return the size of the block. It cannot
 * overflow, as the request is within the limits. */
static size_t place_tensors(pe_table *table, const pe_request *request)
{
    const pe_plan *plan = &request->plan;
    size_t end = 0;
    table->count = plan->count;
    for (size_t i = 0; i < plan->count; i++) {
        table->tensors[i] = plan->tensors[i];
        if (!pe_request_is_chosen(request, i))
            continue;
        table->offsets[i] = end + PE_TABLE_HEADROOM;
        size_t bytes = (size_t)plan->tensors[i].bytes;
        end = table->offsets[i] + (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    return end;
}

/* ---- parts of a tensor, which several threads fill at once ---- */

/* How large a part is. Large parts are better: every part computes anchors of its own.
 * - One thread: up to PART_MAX.
 * - Several threads, a tensor below 16 MB, which the caches hold: PART_MIN.
 * - Several threads, a larger tensor: an eighth of it, but at least PART_DIRECT. From there on
 *   rows are written with non-temporal stores; plain ones take half as long again, since each
 *   line is read before.
 * Any part is smaller if it would take more than a few milliseconds, since the runner is asked
 * between two parts whether to go on. */
#define PART_MIN     ((uint64_t)2 << 20)
#define PART_DIRECT  ((uint64_t)8 << 20)
#define PART_MAX     ((uint64_t)64 << 20)
#define PARTS_SHARED 8

/* Parts have a multiple of this many rows, which share anchors. */
#define PART_ROWS 64

#define PART_PRICE (2 * PE_QUESTION_PRICE)

typedef struct fill_parts {
    const pe_request *request;
    const void *state;
    size_t tensor;
    uint64_t rows, part_rows; /* of the tensor, and of each part except the last one */
    size_t row_bytes;
    unsigned char *dst;
    double row_price;
    pe_pace *pace;
    pthread_t asker; /* the thread that asks: the one that computes the table */
    atomic_bool cancelled;
} fill_parts;

/* A task of a pe_runner. */
static void fill_part(void *job, size_t part)
{
    fill_parts *parts = job;
    const pe_request *request = parts->request;
    pe_window window = {parts->tensor, part * parts->part_rows, parts->part_rows};
    if (window.rows > parts->rows - window.first)
        window.rows = parts->rows - window.first;
    if (atomic_load(&parts->cancelled))
        return;
    if (pthread_equal(parts->asker, pthread_self()) &&
        !pe_pace_may_continue(parts->pace, (double)window.rows * parts->row_price)) {
        atomic_store(&parts->cancelled, true);
        return;
    }
    pe_request_fill(request, parts->state, window,
                    parts->dst + window.first * parts->row_bytes);
}

static uint64_t divide_rounding_upward(uint64_t dividend, uint64_t divisor)
{
    return (dividend + divisor - 1) / divisor;
}

static uint64_t part_bytes(uint64_t tensor_bytes, bool shared)
{
    if (!shared)
        return PART_MAX;
    if (tensor_bytes < 2 * PART_DIRECT)
        return PART_MIN;
    uint64_t bytes = tensor_bytes / PARTS_SHARED;
    return bytes < PART_DIRECT ? PART_DIRECT : bytes < PART_MAX ? bytes : PART_MAX;
}

static uint64_t rows_of_a_part(const pe_tensor *tensor, double row_price, bool shared)
{
    uint64_t most = pe_rows_of_price(row_price, PART_PRICE);
    uint64_t bytes = part_bytes(tensor->bytes, shared);
    uint64_t parts = tensor->bytes / bytes; /* rounded down: none is smaller, so that large
                                             * parts are stored past the caches */
    uint64_t rows = parts ? divide_rounding_upward(tensor->rows, parts) : tensor->rows;
    rows = rows < most ? rows : most;
    return rows > PART_ROWS ? divide_rounding_upward(rows, PART_ROWS) * PART_ROWS : rows;
}

/* Fill a tensor in parts, on several threads if the runner has them and it is large enough.
 * False: the runner cancelled it. */
static bool fill_tensor(const pe_request *request, const void *state, size_t index,
                        pe_pace *pace, unsigned char *dst)
{
    const pe_tensor *tensor = &request->plan.tensors[index];
    const pe_runner *runner = pace->runner;
    double row_price = pe_row_price(request, index);
    bool large =
        tensor->bytes >= 2 * PART_MIN || (double)tensor->rows * row_price >= 2 * PART_PRICE;
    bool shared = runner && runner->run && large;
    fill_parts parts = {.request = request,
                        .state = state,
                        .tensor = index,
                        .rows = tensor->rows,
                        .part_rows = rows_of_a_part(tensor, row_price, shared),
                        .row_bytes = (size_t)(tensor->bytes / tensor->rows),
                        .dst = dst,
                        .row_price = row_price,
                        .pace = pace,
                        .asker = pthread_self()};
    atomic_init(&parts.cancelled, false);
    uint64_t count = (tensor->rows + parts.part_rows - 1) / parts.part_rows;
    if (shared)
        runner->run(runner->context, fill_part, &parts, (size_t)count);
    else
        for (size_t part = 0; part < count; part++)
            fill_part(&parts, part);
    return !atomic_load(&parts.cancelled);
}

/* Prepare the scheme and fill the chosen tensors. */
static pe_status compute_tensors(const pe_request *request, const pe_runner *runner,
                                 pe_table *table, pe_error *reterr)
{
    void *state = NULL;
    if (pe_request_prepare(request, runner, &state, reterr) != PE_OK)
        return reterr->status;
    pe_pace pace = pe_pace_init(request, runner, reterr);
    pace.done = pe_request_preparation_price(request);
    for (size_t i = 0; i < table->count; i++)
        if (table->offsets[i] &&
            !fill_tensor(request, state, i, &pace, table->block + table->offsets[i]))
            break;
    pe_kept_free(state);
    return reterr->status;
}

pe_status pe_table_compute(const pe_request *request, const pe_runner *runner,
                           pe_table **ret_table, pe_error *reterr)
{
    pe_error_init(reterr);
    pe_table *table = calloc(1, sizeof *table);
    if (!table)
        goto fail;
    size_t size = place_tensors(table, request);
    table->pool = runner ? runner->pool : NULL;
    table->block = pe_buffer_allocate(table->pool, size, &table->capacity);
    if (!table->block)
        goto fail;
    if (pe_request_begin(request, runner, reterr))
        compute_tensors(request, runner, table, reterr);
    pe_request_end(request, runner);
    if (reterr->status != PE_OK)
        goto fail;
    atomic_init(&table->references, 1);
    *ret_table = table;
    return PE_OK;
fail:
    if (table)
        pe_buffer_release(table->pool, table->block, table->capacity);
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
    pe_buffer_release(table->pool, table->block, table->capacity);
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
    return table->offsets[index] ? table->block + table->offsets[index] : NULL;
}

unsigned char *pe_table_headroom(pe_table *table, size_t index)
{
    assert(index < table->count && table->offsets[index]);
    return table->block + table->offsets[index] - PE_TABLE_HEADROOM;
}

size_t pe_table_footprint(const pe_table *table)
{
    return sizeof *table + table->capacity;
}
