/* Which columns of a row a rotation turns together. */
#ifndef PE_APPLY_ROTATED_COLUMNS_H
#define PE_APPLY_ROTATED_COLUMNS_H

#include "posenc.h"

/* The pairs of a request's rotation, and the columns of each: the halves of pair p are
 * columns[p] and columns[pairs + p] of the input, and columns[2 · pairs + p] and
 * columns[3 · pairs + p] of the result. */
typedef struct pe_turned {
    size_t pairs;
    uint32_t *columns; /* from malloc */
    bool full;         /* the tables have a column for each of a row, not for each pair */
} pe_turned;

/* Find the pairs of columns from `first` on; `cosines` is the table. False without memory. */
bool pe_turned_init(pe_turned *ret_turned, const pe_request *request, const pe_tensor *cosines,
                    const pe_apply_options *options, size_t first);

#endif
