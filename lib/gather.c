#include "gather.h"

#include "dtype.h"

#include <stdlib.h>
#include <string.h>

const pe_recipe PE_RELATIVE_RECIPE = {.initialiser = PE_NORMAL, .std = 0.02};

uint64_t pe_gather_bytes(const pe_values *values, uint64_t rows, uint64_t heads)
{
    return rows * heads * pe_dtype_size(pe_requested_dtype(values));
}

bool pe_gather_init(pe_gather *ret_gather, const pe_values *values, const char *name,
                    size_t rows, size_t heads, const pe_recipe *recipe, dd factor,
                    pe_error *reterr)
{
    pe_dtype dtype = pe_requested_dtype(values);
    pe_trained trained = pe_trained_of(values, name, heads, recipe);
    pe_trained_check_magnitude(values, &trained, recipe, rows, factor.hi, reterr);
    if (reterr->status != PE_OK)
        return false;
    size_t size = pe_dtype_size(dtype);
    unsigned char *table = malloc(rows * heads * size), *at = table;
    if (!table)
        return false;
    *ret_gather = (pe_gather){.dtype = dtype, .rows = rows, .heads = heads, .table = table};
    if (factor.hi == 1 && factor.lo == 0) {
        pe_trained_fill(&trained, dtype, 0, rows, table);
        return true;
    }
    for (size_t row = 0; row < rows; row++)
        for (size_t h = 0; h < heads; h++, at += size) {
            double element;
            pe_trained_row(&trained, row, h, 1, &element);
            pe_round_dd(dtype, dd_mul_double(factor, element), at);
        }
    return true;
}

void pe_gather_done(pe_gather *gather)
{
    free(gather->table);
    gather->table = NULL;
}

void pe_gather_write(const void *of, size_t head, int64_t first, uint64_t count, void *dst)
{
    const pe_gather *gather = of;
    size_t size = pe_dtype_size(gather->dtype);
    unsigned char *to = dst;
    for (uint64_t t = 0; t < count; t++, to += size) {
        size_t row = gather->row_of(gather, first + (int64_t)t);
        memcpy(to, gather->table + (row * gather->heads + head) * size, size);
    }
}

void pe_gather_write_rows(const void *of, size_t head, int64_t first, uint64_t count, void *dst)
{
    (void)head;
    const pe_gather *gather = of;
    int32_t *to = dst;
    for (uint64_t t = 0; t < count; t++)
        to[t] = (int32_t)gather->row_of(gather, first + (int64_t)t);
}
