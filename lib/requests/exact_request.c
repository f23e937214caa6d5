/* Requests in double-doubles: the values of another request, but for the dtype. */
#include "requests/request.h"

#include <stdlib.h>
#include <string.h>

pe_status pe_request_exact(pe_request *request, pe_request **ret_exact, pe_error *reterr)
{
    const pe_scheme *scheme = request->values.scheme;
    size_t count = request->value_count, dtype = pe_parameter_index(&scheme->info, "dtype");
    pe_request *exact = calloc(1, sizeof *exact);
    pe_error_init(reterr);
    reterr->scheme = scheme;
    if (exact)
        exact->items = malloc(count * sizeof *exact->items);
    if (!exact || !exact->items) {
        free(exact);
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for the request");
        return PE_NO_MEMORY;
    }
    atomic_init(&exact->references, 1);
    exact->base = pe_request_ref(request);
    exact->value_count = count;
    memcpy(exact->items, request->items, count * sizeof *exact->items);
    exact->items[dtype].integer = PE_DD;
    exact->values = (pe_values){scheme, exact->items};
    scheme->plan(&exact->values, &exact->plan, reterr);
    if (reterr->status != PE_OK) { /* a tensor that does not exist in this dtype */
        pe_request_unref(exact);
        return reterr->status;
    }
    for (size_t i = 0; i < exact->plan.count; i++)
        exact->bytes += exact->plan.tensors[i].bytes;
    *ret_exact = exact;
    return PE_OK;
}
