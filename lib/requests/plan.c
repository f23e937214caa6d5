/* Plans: the tensors of a request, their sizes, and whether these are within the limits. */
#include "requests/plan.h"

#include "numerics/dtype.h"
#include "requests/parameters.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define ELEMENT_PRICE 2 /* where the scheme says nothing else */

void pe_plan_price(pe_plan *plan, double element_price)
{
    plan->element_prices[plan->count - 1] = element_price;
}

const pe_tensor *pe_plan_add(pe_plan *plan, const char *name, pe_dtype dtype, size_t rank,
                             const uint64_t *shape)
{
    assert(plan->count < PE_TENSORS_MAX && rank <= PE_RANK_MAX);
    pe_tensor *tensor = &plan->tensors[plan->count++];
    *tensor = (pe_tensor){.name = name, .dtype = dtype, .rank = rank, .elements = 1};
    for (size_t i = 0; i < rank; i++) {
        tensor->shape[i] = shape[i];
        if (shape[i] != 0 && tensor->elements > UINT64_MAX / 16 / shape[i])
            tensor->elements = UINT64_MAX / 16; /* saturate: this is over any limit */
        else
            tensor->elements *= shape[i];
    }
    tensor->bytes = tensor->elements * pe_dtype_size(dtype);
    pe_plan_price(plan, ELEMENT_PRICE);
    pe_plan_rows(plan, 1);
    return tensor;
}

void pe_plan_settle(pe_plan *plan, const char *name, double value)
{
    assert(plan->settled_count < PE_SETTLED_MAX);
    plan->settled[plan->settled_count++] = (struct pe_settled){name, value};
}

void pe_plan_rows(pe_plan *plan, size_t axes)
{
    pe_tensor *tensor = &plan->tensors[plan->count - 1];
    assert(axes >= 1 && axes <= tensor->rank);
    tensor->rows = 1;
    for (size_t i = 0; i < axes; i++) /* may wrap around, but only beyond the limits */
        tensor->rows *= tensor->shape[i];
}

/* The parameter to blame for a table that is too large: the one that sets the number of rows.
 */
static const char *size_parameter(const pe_values *values)
{
    const pe_scheme_info *info = &values->scheme->info;
    for (size_t i = 0; i < info->parameter_count; i++)
        if (info->parameters[i].counts_rows && values->items[i].present)
            return info->parameters[i].name;
    return info->parameters[0].name;
}

/* "3 x 4 elements" */
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

void pe_plan_check(const pe_plan *plan, const pe_values *values, const pe_limits *limits,
                   pe_error *reterr)
{
    char text[96];
    uint64_t elements = 0;
    for (size_t i = 0; i < plan->count; i++) {
        /* at most 2^60 elements each: the sum is checked before it overflows */
        elements += plan->tensors[i].elements;
        if (elements <= limits->elements)
            continue;
        describe_size(&plan->tensors[i], text, sizeof text);
        pe_error_add(reterr, PE_TOO_LARGE, size_parameter(values), text,
                     "such that all tensors together have at most %llu elements, the element "
                     "limit",
                     (unsigned long long)limits->elements);
        return;
    }
    if (plan->held > limits->table_bytes) {
        snprintf(text, sizeof text, "%llu bytes held while computing",
                 (unsigned long long)plan->held);
        pe_error_add(reterr, PE_TOO_LARGE, size_parameter(values), text,
                     "such that at most %llu bytes are held while computing, the share of the "
                     "cache that one table may take",
                     (unsigned long long)limits->table_bytes);
    }
}

void pe_plan_keep(pe_plan *plan, double entries, uint64_t most)
{
    double bytes = entries * (double)pe_dtype_size(plan->tensors[0].dtype);
    plan->state += bytes < (double)most ? (uint64_t)bytes : most;
}

void pe_check_magnitude(pe_dtype dtype, const char *parameter, double magnitude,
                        pe_error *reterr)
{
    if (magnitude < pe_dtypes[dtype].overflow)
        return;
    char number[PE_PRINT_MAX], limit[PE_PRINT_MAX];
    if (isinf(magnitude)) {
        pe_error_add(reterr, PE_OUT_OF_RANGE, parameter, "",
                     "another one: its values are beyond those of f64, the widest dtype");
        return;
    }
    pe_plain_number(magnitude, number);
    pe_plain_number(pe_dtypes[dtype].overflow, limit);
    pe_error_add(reterr, PE_OUT_OF_RANGE, "dtype", pe_dtype_name(dtype),
                 "one that holds values up to %s, unlike %s, which ends below %s; or change %s",
                 number, pe_dtype_name(dtype), limit, parameter);
}

bool pe_check_count(const pe_values *values, const char *name, size_t wanted, const char *what,
                    pe_error *reterr)
{
    char given[40];
    const pe_value *list = pe_value_find(values, name);
    if (!list->present || list->count == wanted)
        return true;
    snprintf(given, sizeof given, "%zu item%s", list->count, list->count == 1 ? "" : "s");
    pe_error_add(reterr, PE_OUT_OF_RANGE, name, given, "a list of %zu item%s, %s", wanted,
                 wanted == 1 ? "" : "s", what);
    return false;
}
