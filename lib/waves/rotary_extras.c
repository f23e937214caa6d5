/* Permutations of columns, and temperatures of queries. */
#include "waves/rotary_extras.h"

#include "numerics/dtype.h"
#include "numerics/elementary.h"

#include <math.h>

void pe_rotary_order_fill(const pe_rotary_order *order, uint64_t first, uint64_t count,
                          int32_t *dst)
{
    uint64_t half = order->width / 2;
    for (uint64_t r = first; r < first + count; r++) {
        uint64_t column = r % order->dim, from = column;
        if (column < order->width && order->to_interleaved)
            from = column / 2 + column % 2 * half;
        else if (column < order->width)
            from = column < half ? 2 * column : 2 * (column - half) + 1;
        *dst++ = (int32_t)(r - column + from);
    }
}

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
