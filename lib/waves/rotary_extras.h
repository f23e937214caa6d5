/* What models need beside the rotary tables: factors of queries. */
#ifndef PE_ROTARY_EXTRAS_H
#define PE_ROTARY_EXTRAS_H

#include "positions/positions.h"
#include "waves/rotary.h"

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
