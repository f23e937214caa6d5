/* The option `slice`: finding a matrix in a tensor. */
#include "formats/slice.h"

#include "formats/options.h"

#include <stdio.h>

static const pe_parameter SLICE = API_SLICE_ROW;

static const pe_tensor *find_tensor(const api_selection *selection)
{
    return pe_request_tensor(selection->request, selection->first);
}

api_slice api_slice_select(const api_selection *selection)
{
    const pe_tensor *tensor = find_tensor(selection);
    pe_value indices = api_option_value(selection, &SLICE);
    uint64_t columns = tensor->shape[tensor->rank - 1], index = 0;
    if (!indices.present)
        return (api_slice){0, tensor->elements / columns, columns};
    uint64_t rows = tensor->shape[tensor->rank - 2];
    for (size_t axis = 0; axis + 2 < tensor->rank; axis++)
        index = index * tensor->shape[axis] + (uint64_t)indices.items[axis];
    return (api_slice){index * rows * columns, rows, columns};
}

/* Add which indices a tensor takes: "… from 0,0 to 7,3". */
static void refuse_slice(const pe_tensor *tensor, const char *given, pe_error *error)
{
    char zeros[32] = "", last[96] = ""; /* the least and the greatest indices as text */
    size_t used = 0, leading = tensor->rank < 2 ? 0 : tensor->rank - 2;
    for (size_t axis = 0; axis < leading; axis++) {
        snprintf(zeros + 2 * axis, sizeof zeros - 2 * axis, "%s0", axis ? "," : "");
        zeros[2 * axis + 1] = '\0';
        used += (size_t)snprintf(last + used, sizeof last - used, "%s%llu", axis ? "," : "",
                                 (unsigned long long)tensor->shape[axis] - 1);
    }
    if (leading == 0)
        pe_error_add(error, PE_OUT_OF_RANGE, API_SLICE, given,
                     "left out for a tensor of rank %zu", tensor->rank);
    else
        pe_error_add(error, PE_OUT_OF_RANGE, API_SLICE, given,
                     "%s from %s to %s: the tensor has %zu axes, and that picks one matrix",
                     leading > 1 ? "an index for each leading axis,"
                                 : "an index of the leading axis,",
                     zeros, last, tensor->rank);
}

void api_slice_check(const api_selection *selection, bool needed, pe_error *error)
{
    const pe_tensor *tensor = find_tensor(selection);
    pe_value indices = api_option_value(selection, &SLICE);
    char given[PE_RANK_MAX * PE_PRINT_MAX] = "";
    size_t used = 0, leading = tensor->rank < 2 ? 0 : tensor->rank - 2;
    if (!indices.present) {
        if (needed && leading > 0)
            refuse_slice(tensor, "", error);
        return;
    }
    bool legal = indices.count == leading && leading > 0;
    for (size_t i = 0; i < indices.count; i++) {
        legal = legal && indices.items[i] < (double)tensor->shape[i];
        used += (size_t)snprintf(given + used, sizeof given - used, "%s", i ? "," : "");
        used += pe_print_number(given + used, indices.items[i]);
    }
    if (!legal)
        refuse_slice(tensor, given, error);
}
