#include "recognise/origin.h"

#include <stdio.h>

size_t pe_origin_count(const pe_observation *seen)
{
    return seen->set ? 1 : PE_SEEDS_TRIED;
}

pe_origin pe_origin_get(const pe_observation *seen, size_t index)
{
    return (pe_origin){.seed = index, .set = seen->set, .set_name = seen->set_name};
}

bool pe_origin_tensor(const pe_origin *origin, const char *name, uint64_t columns,
                      const pe_distribution *distribution, pe_trained *ret_trained,
                      uint64_t *ret_rows)
{
    *ret_trained = pe_trained_drawn(origin->seed, name, columns, distribution);
    *ret_rows = UINT64_MAX;
    if (!origin->set)
        return true;
    const pe_set_tensor *stored = pe_set_tensor_find(origin->set, name);
    if (!stored || stored->tensor.rank != 2 || stored->tensor.dtype == PE_I32 ||
        stored->tensor.shape[0] == 0 || stored->tensor.shape[1] != columns)
        return false;
    ret_trained->stored = stored;
    *ret_rows = ret_trained->stored_rows = stored->tensor.shape[0];
    return true;
}

void pe_origin_write(const pe_origin *origin, char dst[PE_ORIGIN_TEXT])
{
    dst[0] = '\0';
    if (origin->set)
        snprintf(dst, PE_ORIGIN_TEXT, "&set=%s", origin->set_name);
    else if (origin->seed > 0)
        snprintf(dst, PE_ORIGIN_TEXT, "&seed=%llu", (unsigned long long)origin->seed);
}
