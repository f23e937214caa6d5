/* Positions of rows: read from parameters, checked, and turned into phases. */
#include "positions.h"

#include "params.h"

#include <math.h>
#include <stdio.h>

dd pe_position_at(const pe_positions *positions, uint64_t row)
{
    if (positions->list)
        return (dd){positions->list[row], 0};
    dd way = dd_two_prod((double)row, positions->step);
    dd sum = dd_two_sum(positions->offset, way.hi);
    return dd_quick_two_sum(sum.hi, sum.lo + way.lo);
}

pe_wide pe_position_phase(const pe_positions *positions, uint64_t row, pe_wide frequency)
{
    if (positions->list)
        return pe_wide_mul_double(frequency, positions->list[row]);
    pe_wide per_step = pe_wide_mul_double(frequency, positions->step);
    return pe_wide_add(pe_wide_mul_double(frequency, positions->offset),
                       pe_wide_mul_integer(per_step, (int64_t)row));
}

void pe_positions_range(const pe_positions *positions, double *ret_low, double *ret_high)
{
    double first = pe_position_at(positions, 0).hi;
    double last = pe_position_at(positions, positions->count - 1).hi;
    *ret_low = fmin(first, last);
    *ret_high = fmax(first, last);
    for (uint64_t row = 0; positions->list && row < positions->count; row++) {
        *ret_low = fmin(*ret_low, positions->list[row]);
        *ret_high = fmax(*ret_high, positions->list[row]);
    }
}

pe_positions pe_positions_read(const pe_values *values, pe_error *reterr)
{
    pe_positions positions = {.count = 1, .step = 1};
    if (pe_is_present(values, "positions")) {
        const pe_value *list = pe_value_of(values, "positions");
        positions.list = list->items;
        positions.count = list->count;
        return positions;
    }
    positions.count = (uint64_t)pe_integer(values, "length");
    positions.offset = pe_real(values, "offset");
    positions.step = pe_real(values, "step");
    dd last = pe_position_at(&positions, positions.count - 1);
    double excess = fabs(last.hi) - PE_POSITION_MAX;
    if (excess > 0 || (excess == 0 && last.lo * last.hi > 0)) {
        char given[64];
        snprintf(given, sizeof given, "last position %.17g", last.hi);
        pe_error_add(reterr, PE_OUT_OF_RANGE, "length", given,
                     "the last position, offset + (length - 1) * step, within -2^53 … 2^53");
    }
    return positions;
}

pe_positions pe_positions_read_natural(const pe_values *values, pe_error *reterr)
{
    size_t before = reterr->count;
    pe_positions positions = pe_positions_read(values, reterr);
    if (reterr->count > before)
        return positions;
    const char *culprit = NULL;
    double low, high, wrong = 0;
    for (uint64_t i = 0; positions.list && i < positions.count && !culprit; i++)
        if (positions.list[i] < 0 || positions.list[i] != floor(positions.list[i]))
            culprit = "positions", wrong = positions.list[i];
    if (!positions.list) {
        pe_positions_range(&positions, &low, &high);
        if (positions.offset != floor(positions.offset) || positions.offset < 0)
            culprit = "offset", wrong = positions.offset;
        else if (positions.step != floor(positions.step) || low < 0)
            culprit = "step", wrong = positions.step;
    }
    if (culprit) {
        char given[40];
        pe_plain_number(wrong, given);
        pe_error_add(reterr, PE_OUT_OF_RANGE, culprit, given,
                     "only positions 0, 1, 2, …: this scheme has no rows elsewhere");
    }
    return positions;
}
