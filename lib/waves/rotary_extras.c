/* Temperatures of queries. */
#include "waves/rotary_extras.h"

#include "numerics/dtype.h"
#include "numerics/elementary.h"

#include <math.h>

/* The floor of a position of a row, which is at least 0. */
static int64_t floor_of_position(const pe_positions *positions, uint64_t row)
{
    dd position = pe_position_get(positions, row);
    double whole = floor(position.hi);
    return (int64_t)whole - (whole == position.hi && position.lo < 0);
}

void pe_temperature_fill(const pe_temperature *temperature, const pe_positions *positions,
                         pe_dtype dtype, uint64_t first, uint64_t count, void *dst)
{
    unsigned char *to = dst;
    for (uint64_t row = first; row < first + count; row++, to += pe_dtype_size(dtype)) {
        int64_t whole = floor_of_position(positions, row) + temperature->shift;
        dd log = pe_log((dd){1 + (double)(whole / temperature->length), 0});
        pe_round_dd(dtype, dd_add((dd){1, 0}, dd_mul_double(log, temperature->beta)), to);
    }
}
