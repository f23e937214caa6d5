/* Reading and checking positions, and computing their phases. */
#include "positions/positions.h"

#include "requests/parameters.h"

#include <math.h>
#include <stdio.h>

dd pe_position_times(const pe_positions *positions, uint64_t row, double factor)
{
    if (positions->list)
        return (dd){positions->list[row] * factor, 0};
    dd steps = dd_two_prod((double)row, positions->step * factor);
    dd sum = dd_two_sum(positions->offset * factor, steps.hi);
    return dd_quick_two_sum(sum.hi, sum.lo + steps.lo);
}

dd pe_position_get(const pe_positions *positions, uint64_t row)
{
    return pe_position_times(positions, row, 1);
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
    double first = pe_position_get(positions, 0).hi;
    double last = pe_position_get(positions, positions->count - 1).hi;
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
        const pe_value *list = pe_value_find(values, "positions");
        positions.list = list->items;
        positions.count = list->count;
        return positions;
    }
    positions.count = (uint64_t)pe_get_integer(values, "length");
    positions.offset = pe_get_real(values, "offset");
    positions.step = pe_get_real(values, "step");
    dd last = pe_position_get(&positions, positions.count - 1);
    double excess = fabs(last.hi) - PE_POSITION_MAX;
    if (excess > 0 || (excess == 0 && last.lo * last.hi > 0)) { /* lo points away from 0 */
        char given[96], offset[PE_PRINT_MAX], step[PE_PRINT_MAX];
        snprintf(
            given, sizeof given, "%s + %llu * %s", pe_plain_number(positions.offset, offset),
            (unsigned long long)positions.count - 1, pe_plain_number(positions.step, step));
        pe_error_add(
            reterr, PE_OUT_OF_RANGE, "length", given,
            "such that the last position, offset + (length - 1) * step, is from -2^53 to "
            "2^53");
    }
    return positions;
}

static bool is_natural(double x)
{
    return x >= 0 && x == floor(x);
}

/* The parameter that makes a position negative or fractional, and its value; NULL if all
 * positions are natural numbers. */
static const char *find_unnatural(const pe_positions *positions, double *ret_value)
{
    double low, high;
    for (uint64_t i = 0; positions->list && i < positions->count; i++) {
        *ret_value = positions->list[i];
        if (!is_natural(*ret_value))
            return "positions";
    }
    if (positions->list)
        return NULL;
    *ret_value = positions->offset;
    if (!is_natural(positions->offset))
        return "offset";
    *ret_value = positions->step;
    pe_positions_range(positions, &low, &high);
    return positions->step != floor(positions->step) || low < 0 ? "step" : NULL;
}

pe_positions pe_positions_read_natural(const pe_values *values, pe_error *reterr)
{
    size_t before = reterr->count;
    pe_positions positions = pe_positions_read(values, reterr);
    if (reterr->count > before)
        return positions;
    double value;
    const char *parameter = find_unnatural(&positions, &value);
    if (parameter) {
        char given[PE_PRINT_MAX];
        pe_error_add(
            reterr, PE_OUT_OF_RANGE, parameter, pe_plain_number(value, given),
            "such that every position is one of 0, 1, 2, …, since there are no other rows");
    }
    return positions;
}
