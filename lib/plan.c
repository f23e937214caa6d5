/* Plans: the tensors of a request, their sizes, and whether these are within the limits. */
#include "plan.h"

#include "dtype.h"
#include "params.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

void pe_plan_add(pe_plan *plan, const char *name, pe_dtype dtype, size_t rank,
                 const uint64_t *shape)
{
    assert(plan->count < PE_PLAN_TENSORS && rank <= PE_RANK_MAX);
    pe_tensor *tensor = &plan->tensors[plan->count++];
    *tensor = (pe_tensor){.name = name, .dtype = dtype, .rank = rank, .elements = 1};
    for (size_t i = 0; i < rank; i++) {
        tensor->shape[i] = shape[i];
        if (shape[i] != 0 && tensor->elements > UINT64_MAX / 16 / shape[i])
            tensor->elements = UINT64_MAX / 16; /* saturate: over any limit */
        else
            tensor->elements *= shape[i];
    }
    tensor->bytes = tensor->elements * pe_dtype_size(dtype);
    pe_plan_rows(plan, 1);
}

void pe_plan_rows(pe_plan *plan, size_t axes)
{
    pe_tensor *tensor = &plan->tensors[plan->count - 1];
    assert(axes >= 1 && axes <= tensor->rank);
    tensor->rows = 1;
    for (size_t i = 0; i < axes; i++) /* a tensor over the limits is not computed */
        tensor->rows *= tensor->shape[i];
}

/* Name what is too large by the parameter that sets the number of rows. */
static const char *size_parameter(const pe_values *values)
{
    static const char *const NAMES[] = {"length", "positions", "height"};
    for (size_t i = 0; i < PE_COUNT(NAMES); i++)
        if (pe_parameter_index(&values->scheme->info, NAMES[i]) <
                pe_all_parameter_count(&values->scheme->info) &&
            pe_is_present(values, NAMES[i]))
            return NAMES[i];
    return "dim";
}

static void describe_size(const pe_tensor *tensor, char *dst, size_t size)
{
    dst[0] = '\0';
    for (size_t i = 0; i < tensor->rank; i++) {
        char number[PE_PRINT_MAX];
        pe_plain_number((double)tensor->shape[i], number);
        strncat(dst, i ? " x " : "", size - strlen(dst) - 1);
        strncat(dst, number, size - strlen(dst) - 1);
    }
    strncat(dst, " elements", size - strlen(dst) - 1);
}

uint64_t pe_plan_check(const pe_plan *plan, const pe_values *values, const pe_limits *limits,
                       pe_error *reterr)
{
    uint64_t elements = 0, bytes = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const pe_tensor *tensor = &plan->tensors[i];
        elements += tensor->elements;
        bytes += tensor->bytes;
        /* each is at most 2^60 · 8: check before the next could overflow */
        bool held = !values->scheme->streamable && bytes > limits->table_bytes;
        if (elements > limits->elements || held) {
            char given[96];
            describe_size(tensor, given, sizeof given);
            const char *name = size_parameter(values);
            if (elements > limits->elements)
                pe_error_add(reterr, PE_TOO_LARGE, name, given,
                             "at most %llu elements in all (the element limit)",
                             (unsigned long long)limits->elements);
            else
                pe_error_add(reterr, PE_TOO_LARGE, name, given,
                             "at most %llu bytes in all (the share of the cache that one table "
                             "may take)",
                             (unsigned long long)limits->table_bytes);
            return 0;
        }
    }
    if (plan->held > limits->table_bytes) {
        char given[96];
        snprintf(given, sizeof given, "%llu bytes to be held while computing",
                 (unsigned long long)plan->held);
        pe_error_add(reterr, PE_TOO_LARGE, size_parameter(values), given,
                     "at most %llu bytes (the share of the cache that one table may take)",
                     (unsigned long long)limits->table_bytes);
        return 0;
    }
    return bytes;
}

void pe_check_magnitude(const pe_values *values, const char *parameter, double magnitude,
                        pe_error *reterr)
{
    pe_dtype dtype = pe_requested_dtype(values);
    if (magnitude < pe_dtype_overflow(dtype))
        return;
    char given[96], number[PE_PRINT_MAX], limit[PE_PRINT_MAX];
    pe_plain_number(magnitude, number);
    pe_plain_number(pe_dtype_overflow(dtype), limit);
    snprintf(given, sizeof given, "%s with values up to %s", pe_dtype_name(dtype), number);
    pe_error_add(reterr, PE_OUT_OF_RANGE, "dtype", given,
                 "a dtype that holds the values: %s ends below %s; change dtype or %s",
                 pe_dtype_name(dtype), limit, parameter);
}
