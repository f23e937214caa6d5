/* Which columns of a row a rotation turns together. */
#ifndef PE_APPLY_COLUMNS_H
#define PE_APPLY_COLUMNS_H

#include "posenc.h"

/* The pairs of a request's rotation, and the columns of each: the first half of pair p is
 * columns[p], the second columns[pairs + p]. */
typedef struct pe_turned {
    size_t pairs;
    uint32_t *columns; /* from malloc */
    bool full;         /* the tables have a column for each of a row, not for each pair */
} pe_turned;

/* Find the pairs; `cosines` is the table. False without memory. */
bool pe_turned_init(pe_turned *ret_turned, const pe_request *request, const pe_tensor *cosines);

#endif
