/* Requests: arguments are checked against the scheme's table and defaulted, the tensors are
 * planned, and the canonical key is written. */
#include "requests/request.h"

#include "requests/argument_reader.h"
#include "requests/plan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool allocate_values(pe_request *request, size_t count)
{
    request->value_count = count;
    request->owned = calloc(count, sizeof *request->owned);
    request->items = calloc(count, sizeof *request->items);
    request->settings = calloc(1, request->values.scheme->state_size);
    return request->owned && request->items && request->settings;
}

void pe_request_plan(pe_request *request, pe_error *reterr)
{
    pe_plan *plan = &request->plan;
    request->values.scheme->read(&request->values, request->settings, plan, reterr);
    for (size_t i = 0; request->items && i < plan->settled_count; i++) {
        const struct pe_settled *settled = &plan->settled[i];
        size_t index = pe_parameter_index(&request->values.scheme->info, settled->name);
        request->items[index] = (pe_value){
            .present = true, .integer = (int64_t)settled->real, .real = settled->real};
    }
    request->chosen = (1U << plan->count) - 1;
}

static void read_and_plan(pe_request *request, const pe_argument *arguments, size_t count,
                          const pe_limits *limits, bool *given, pe_error *reterr)
{
    pe_reading reading = {.info = &request->values.scheme->info,
                          .count = request->value_count,
                          .limits = limits,
                          .values = request->owned,
                          .given = given};
    pe_read_arguments(&reading, arguments, count, reterr);
    request->preset = reading.preset;
    if (reterr->status != PE_OK)
        return;
    for (size_t i = 0; i < request->value_count; i++)
        request->items[i] = request->owned[i].value;
    request->values.items = request->items;
    pe_request_plan(request, reterr);
    if (reterr->status == PE_OK)
        pe_plan_check(&request->plan, &request->values, limits, reterr);
}

pe_status pe_request_new(const pe_scheme *scheme, const pe_argument *arguments, size_t count,
                         const pe_limits *limits, pe_request **ret_request, pe_error *reterr)
{
    size_t values = pe_all_parameter_count(&scheme->info);
    pe_request *request = calloc(1, sizeof *request);
    bool *given = calloc(values, sizeof *given);
    pe_error_init(reterr);
    reterr->scheme = scheme;
    reterr->names = limits->names;
    if (request)
        request->values.scheme = scheme;
    if (!request || !given || !allocate_values(request, values)) {
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the request");
        goto fail;
    }
    atomic_init(&request->references, 1);
    read_and_plan(request, arguments, count, limits, given, reterr);
    if (reterr->status != PE_OK)
        goto fail;
    if (!pe_request_write_key(request)) {
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the request");
        goto fail;
    }
    free(given);
    *ret_request = request;
    return PE_OK;
fail:
    free(given);
    pe_request_unref(request);
    return reterr->status;
}

pe_request *pe_request_ref(pe_request *request)
{
    atomic_fetch_add_explicit(&request->references, 1, memory_order_relaxed);
    return request;
}

void pe_request_unref(pe_request *request)
{
    if (!request ||
        atomic_fetch_sub_explicit(&request->references, 1, memory_order_acq_rel) > 1)
        return;
    for (size_t i = 0; request->owned && i < request->value_count; i++)
        pe_owned_value_done(&request->owned[i]);
    pe_request_unref(request->base);
    free(request->owned);
    free(request->items);
    free(request->settings);
    free(request->key);
    free(request);
}

const char *pe_request_preset(const pe_request *request)
{
    return request->preset ? request->preset->name : NULL;
}

const pe_scheme *pe_request_scheme(const pe_request *request)
{
    return request->values.scheme;
}

const char *pe_request_key(const pe_request *request, size_t *ret_length)
{
    *ret_length = request->key_length;
    return request->key;
}

const pe_value *pe_request_value(const pe_request *request, size_t index)
{
    assert(index < request->value_count);
    return &request->items[index];
}

const pe_set *pe_request_set(const pe_request *request)
{
    size_t index = pe_stored_index(&request->values.scheme->info);
    if (request->base)
        return pe_request_set(request->base);
    return index < request->value_count ? request->owned[index].set : NULL;
}

size_t pe_request_tensor_count(const pe_request *request)
{
    return request->plan.count;
}

const pe_tensor *pe_request_tensor(const pe_request *request, size_t index)
{
    assert(index < request->plan.count);
    return &request->plan.tensors[index];
}

void pe_request_choose(pe_request *request, unsigned tensors)
{
    assert(tensors > 0 && tensors < 1U << request->plan.count);
    request->chosen = tensors;
}

bool pe_request_is_chosen(const pe_request *request, size_t tensor)
{
    return request->chosen >> tensor & 1;
}

uint64_t pe_request_bytes(const pe_request *request)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < request->plan.count; i++)
        bytes += pe_request_is_chosen(request, i) ? request->plan.tensors[i].bytes : 0;
    return bytes;
}

/* Of what schemes do not plan: the state of a scheme of few columns and short lists; what is
 * made of a column (a frequency of 32 bytes, its anchors), and of a number of a list. */
#define HELD_LEAST  ((uint64_t)512 << 10)
#define HELD_COLUMN 64
#define HELD_NUMBER 64

uint64_t pe_request_held(const pe_request *request)
{
    uint64_t held = HELD_LEAST + request->plan.held + request->plan.state;
    for (size_t i = 0; i < request->plan.count; i++) {
        const pe_tensor *tensor = &request->plan.tensors[i];
        uint64_t row = tensor->elements / tensor->rows, last = tensor->shape[tensor->rank - 1];
        held += HELD_COLUMN * (row < last ? row : last);
    }
    for (size_t i = 0; i < request->value_count; i++)
        held += HELD_NUMBER * (uint64_t)request->items[i].count;
    return held;
}
