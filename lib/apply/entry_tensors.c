/* Finding the tensors of an application among those of a request. */
#include "apply/entry_tensors.h"

#include <string.h>

int pe_tensors_find_one(const pe_request *request, const char *name)
{
    for (size_t i = 0; i < pe_request_tensor_count(request); i++)
        if (strcmp(pe_request_tensor(request, i)->name, name) == 0)
            return (int)i;
    return -1;
}

bool pe_tensors_find(const pe_request *request, const pe_application *rule, size_t *ret_tensors,
                     pe_error *reterr)
{
    for (size_t i = 0; i < 2 && rule->tensors[i]; i++) {
        int found = pe_tensors_find_one(request, rule->tensors[i]);
        if (found < 0 && rule->kind == PE_APPLY_ROTATE)
            pe_error_add(reterr, PE_OUT_OF_RANGE, "cos_sin", "true",
                         "left out: cosines and sines are applied");
        else if (found < 0)
            pe_error_add(reterr, PE_OUT_OF_RANGE, "form", "",
                         "such that there is the tensor %s: expanded", rule->tensors[i]);
        if (found < 0)
            return false;
        ret_tensors[i] = (size_t)found;
    }
    return true;
}

bool pe_tensors_find_factors(const pe_request *request, const pe_application *rule,
                             const pe_apply_options *options, int ret_factors[2],
                             pe_error *reterr)
{
    ret_factors[0] = ret_factors[1] = -1;
    if (!options->query_factors)
        return true;
    int row = pe_tensors_find_one(request, "temperature"),
        all = pe_tensors_find_one(request, "softmax_factor");
    if (row < 0 && all < 0) {
        pe_error_add(reterr, PE_OUT_OF_RANGE, "query_factors", "true",
                     "left out: the request has neither temperature nor softmax_factor");
        return false;
    }
    if (strcmp(rule->input, "key") != 0) {
        ret_factors[0] = row;
        ret_factors[1] = all;
    }
    return true;
}

bool pe_tensors_are_by_key(const pe_application *rule)
{
    return strncmp(rule->axes, "keys", 4) == 0;
}

pe_tensor pe_tensors_bound(const pe_request *request, const pe_application *rule,
                           const size_t *tensors)
{
    bool gather = rule->kind == PE_APPLY_GATHER;
    pe_tensor tensor = *pe_request_tensor(request, tensors[gather]);
    if (gather && tensor.rank == 2 && pe_tensors_are_by_key(rule)) {
        uint64_t queries = tensor.shape[0];
        tensor.shape[0] = tensor.shape[1];
        tensor.shape[1] = queries;
    }
    return tensor;
}
