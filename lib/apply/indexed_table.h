/* Indices into a table by the distance of query and key. */
#ifndef PE_APPLY_INDEXED_TABLE_H
#define PE_APPLY_INDEXED_TABLE_H

#include "apply/entries.h"
#include "apply/rows.h"

/* Rows of a table for queries and keys: that of query i and key j is
 * rows[j - i + queries - 1]. */
typedef struct pe_indexed {
    int32_t *rows; /* [queries + keys - 1], from malloc; NULL: consecutive rows, the first of
                    * which is that of the input */
    uint64_t queries;
    bool by_key; /* the input's rows are keys and the results queries, not the reverse */
} pe_indexed;

/* Read a request's tensor of indices, [queries, keys], which depend on the distance alone.
 * Fails as pe_stream_new. pe_indexed_done may be called in any case. */
pe_status pe_indexed_init(pe_indexed *ret_indexed, pe_request *exact, size_t tensor,
                          bool by_key, const pe_runner *runner, pe_error *reterr);
void pe_indexed_done(pe_indexed *indexed);

/* The row of the table for a row of the input and a result. */
uint64_t pe_indexed_row(const pe_indexed *indexed, uint64_t row, uint64_t result);

/* Write results [first, first + count) of row `row`: numbers · table[index]. */
void pe_row_indexed(const pe_row_rule *rule, pe_row_room *room, const double *numbers,
                    const pe_indexed *indexed, uint64_t row, uint64_t first, size_t count,
                    pe_entries *table, double *ret_rounded);

#endif
