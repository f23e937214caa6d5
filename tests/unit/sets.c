/* One set at a time. */
#include "sets.h"

#include <stdlib.h>
#include <string.h>

static pe_set *stored;

static pe_status find(void *context, const char *name, pe_set **ret_set)
{
    (void)context;
    if (stored && strcmp(name, "set") == 0)
        *ret_set = pe_set_ref(stored);
    return PE_OK;
}

static const pe_sets SETS = {NULL, find};
const pe_limits UNIT_SET_LIMITS = {1ULL << 36, 1ULL << 30, 1 << 20, &SETS, NULL};

/* Narrow a double to an element: f64, f32, i32, and bf16 where it holds the value. */
static void put(pe_dtype dtype, double value, unsigned char *dst)
{
    float single = (float)value;
    int32_t integer = (int32_t)(dtype == PE_I32 ? value : 0);
    unsigned char bytes[4];
    memcpy(bytes, &single, sizeof bytes);
    switch (dtype) {
    case PE_F64:
        memcpy(dst, &value, sizeof value);
        return;
    case PE_F32:
        memcpy(dst, &single, sizeof single);
        return;
    case PE_BF16:
        memcpy(dst, bytes + 2, 2);
        return;
    case PE_I32:
        memcpy(dst, &integer, sizeof integer);
        return;
    case PE_F16:
    case PE_DTYPE_COUNT:
    case PE_DD:
    case PE_LOSS:
        break;
    }
    ck_abort_msg("no such elements here");
}

void unit_store(const unit_tensor *tensors, size_t count)
{
    static const char digest[] =
        "00000000000000000000000000000000000000000000000000000000000000ff";
    pe_set_tensor made[8];
    size_t bytes = 0, at = 0;
    pe_set_unref(stored);
    stored = NULL;
    if (count == 0)
        return;
    unit_assert(count <= UNIT_COUNT(made));
    for (size_t t = 0; t < count; t++) {
        pe_tensor shape = {.name = tensors[t].name,
                           .dtype = tensors[t].dtype,
                           .rank = tensors[t].rank,
                           .elements = 1};
        for (size_t axis = 0; axis < shape.rank; axis++)
            shape.elements *= shape.shape[axis] = tensors[t].shape[axis];
        shape.bytes = shape.elements * pe_dtype_size(shape.dtype);
        made[t] = (pe_set_tensor){shape, NULL};
        bytes += (size_t)shape.bytes;
    }
    unsigned char *memory = malloc(bytes + 1);
    for (size_t t = 0; t < count; t++) {
        made[t].data = memory + at;
        size_t size = pe_dtype_size(tensors[t].dtype);
        for (uint64_t i = 0; i < made[t].tensor.elements; i++, at += size)
            put(tensors[t].dtype, tensors[t].elements[i], memory + at);
    }
    stored = pe_set_new(digest, made, count, memory);
}

static pe_status ask(const char *scheme, const char *query, pe_table **ret_table,
                     pe_error *reterr)
{
    pe_request *request;
    pe_status status = unit_request(scheme, query, &UNIT_SET_LIMITS, &request, reterr);
    if (status != PE_OK)
        return status;
    status = pe_table_compute(request, NULL, ret_table, reterr);
    pe_request_unref(request);
    return status;
}

pe_table *unit_set_table(const char *scheme, const char *query)
{
    pe_table *table;
    pe_error error;
    pe_status status = ask(scheme, query, &table, &error);
    ck_assert_msg(status == PE_OK, "%s?%s: %s: %s", scheme, query, error.problems[0].parameter,
                  error.problems[0].allowed);
    return table;
}

void unit_set_refuses(const char *scheme, const char *query, const char *parameter,
                      const char *rule)
{
    pe_table *table;
    pe_error error;
    pe_status status = ask(scheme, query, &table, &error);
    ck_assert_msg(status != PE_OK, "%s?%s is legal", scheme, query);
    const pe_problem *problem = unit_problem(&error, parameter);
    ck_assert_msg(problem != NULL, "%s?%s: no problem names %s, but %s", scheme, query,
                  parameter, error.problems[0].parameter);
    ck_assert_msg(strstr(problem->allowed, rule) != NULL, "%s?%s: %s", scheme, query,
                  problem->allowed);
}
