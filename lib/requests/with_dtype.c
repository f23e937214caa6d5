/* Requests in another dtype: the values of a request, but for that one. */
#include "requests/request.h"

#include <stdlib.h>
#include <string.h>

pe_status pe_request_with_dtype(pe_request *request, pe_dtype dtype, pe_request **ret_request,
                                pe_error *reterr)
{
    const pe_scheme *scheme = request->values.scheme;
    size_t count = request->value_count, place = pe_parameter_index(&scheme->info, "dtype");
    pe_request *other = calloc(1, sizeof *other);
    pe_error_init(reterr);
    reterr->scheme = scheme;
    if (other) {
        atomic_init(&other->references, 1);
        other->base = pe_request_ref(request);
        other->items = malloc(count * sizeof *other->items);
        other->settings = calloc(1, scheme->state_size);
    }
    if (!other || !other->items || !other->settings) {
        pe_request_unref(other);
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the request");
        return PE_NO_MEMORY;
    }
    other->value_count = count;
    memcpy(other->items, request->items, count * sizeof *other->items);
    other->items[place].integer = dtype;
    other->values = (pe_values){scheme, other->items};
    pe_request_plan(other, reterr);
    if (reterr->status != PE_OK) { /* a tensor that does not exist in this dtype */
        pe_request_unref(other);
        return reterr->status;
    }
    other->chosen = request->chosen;
    *ret_request = other;
    return PE_OK;
}
