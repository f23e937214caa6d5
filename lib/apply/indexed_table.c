/* Gathering rows of a table, each multiplied by the input's row. */
#include "apply/indexed_table.h"

#include "kernels/kernel.h"

#include <math.h>
#include <stdlib.h>

/* Read row `query` of the indices into their places by distance. */
static void read_row(pe_indexed *self, pe_stream *stream, uint64_t query, uint64_t keys)
{
    uint64_t size = keys * sizeof(int32_t);
    void *to = self->rows + (self->queries - 1 - query);
    (void)pe_stream_read_fully(stream, query * size, to, (size_t)size);
}

pe_status pe_indexed_init(pe_indexed *ret_indexed, pe_request *exact, size_t tensor,
                          bool by_key, const pe_runner *runner, pe_error *reterr)
{
    const pe_tensor *shape = pe_request_tensor(exact, tensor);
    uint64_t queries = shape->shape[0], keys = shape->shape[1];
    pe_stream *stream;
    *ret_indexed = (pe_indexed){.queries = queries, .by_key = by_key};
    ret_indexed->rows = calloc((size_t)(queries + keys - 1), sizeof *ret_indexed->rows);
    pe_error_init(reterr);
    if (!ret_indexed->rows) {
        pe_error_add(reterr, PE_NO_MEMORY, "", "", "memory for indices");
        return PE_NO_MEMORY;
    }
    if (pe_stream_new(exact, tensor, (size_t)1 << 16, runner, &stream, reterr) != PE_OK)
        return reterr->status;
    for (uint64_t query = queries - 1;; query -= query < keys ? query : keys) {
        read_row(ret_indexed, stream, query, keys); /* the distances from -query on */
        if (query == 0)
            break;
    }
    pe_stream_free(stream);
    return PE_OK;
}

void pe_indexed_done(pe_indexed *indexed)
{
    free(indexed->rows);
    *indexed = (pe_indexed){.rows = NULL};
}

uint64_t pe_indexed_row(const pe_indexed *indexed, uint64_t row, uint64_t result)
{
    if (!indexed->rows)
        return row + result;
    uint64_t query = indexed->by_key ? result : row, key = indexed->by_key ? row : result;
    return (uint64_t)indexed->rows[key + indexed->queries - 1 - query];
}

void pe_row_indexed(const pe_row_rule *rule, pe_row_room *room, const double *numbers,
                    const pe_indexed *indexed, uint64_t row, uint64_t first, size_t count,
                    pe_entries *table, double *ret_rounded)
{
    const pe_applying *kernel = pe_kernel_get()->applying;
    bool wide = rule->dtype == PE_F64;
    for (size_t k = 0; k < count; k++)
        kernel->contract(numbers,
                         pe_entries_rows(table, pe_indexed_row(indexed, row, first + k)),
                         rule->columns, 1,
                         (pe_sums){room->sums.value + k, wide ? room->sums.rest + k : NULL,
                                   room->sums.bound + k});
    kernel->decide(rule->dtype,
                   (pe_sums){room->sums.value, wide ? room->sums.rest : NULL, room->sums.bound},
                   count, ret_rounded);
    for (size_t k = 0; k < count; k++) {
        const uint64_t at = pe_indexed_row(indexed, row, first + k);
        if (isnan(ret_rounded[k]) &&
            !pe_row_settle_infinite(rule, numbers, pe_entries_rows(table, at), 1,
                                    &ret_rounded[k]))
            ret_rounded[k] = pe_row_settle(rule, numbers, pe_entries_exact(table, at), 1);
    }
}
