/* What models need beside the rotary tables: the order of columns and of weights, and the
 * factors of queries and of scores. */
#ifndef PE_ROTARY_EXTRAS_H
#define PE_ROTARY_EXTRAS_H

#include "positions/positions.h"
#include "waves/rotary.h"

/* A permutation of the columns of `heads` heads, or of the rows of a projection [heads·dim,
 * in]. In each head the first `width` columns turn; the others keep their place. */
typedef struct pe_rotary_order {
    uint64_t dim, width;
    bool to_interleaved; /* from pairs (i, i + width/2) to pairs (2i, 2i + 1), or back */
} pe_rotary_order;

/* Write elements [first, first + count) of the permutation: element r is the column that
 * becomes column r. */
void pe_rotary_order_fill(const pe_rotary_order *order, uint64_t first, uint64_t count,
                          int32_t *dst);

/* The temperature of a query at position k, 1 + beta·ln(1 + floor((k + shift)/length)), k >= 0.
 */
typedef struct pe_temperature {
    double beta;
    int64_t length, shift;
} pe_temperature;

/* Write the temperatures of rows [first, first + count), each rounded once. */
void pe_temperature_fill(const pe_temperature *temperature, const pe_positions *positions,
                         pe_dtype dtype, uint64_t first, uint64_t count, void *dst);

#endif
