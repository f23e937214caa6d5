/* Correctly rounded functions: double-doubles with error bounds. Where a bound leaves two
 * candidates, correct_wide.c decides. */
#include "numerics/correct.h"

#include "numerics/dd.h"
#include "numerics/nearest.h"

#include <math.h>
#include <stdbool.h>

double pe_correct_log(uint64_t numerator)
{
    int zeros = __builtin_clzll(numerator);
    double nearest = pe_nearest_log(numerator << (zeros - 10), 9 - zeros);
    return isnan(nearest) ? pe_wide_correct_log(numerator) : nearest;
}

double pe_correct_cos(uint64_t turns)
{
    double nearest = pe_nearest_cos(turns);
    return isnan(nearest) ? pe_wide_correct_cos(turns) : nearest;
}

double pe_correct_quantile(int64_t numerator)
{
    bool negative = numerator < 0;
    int64_t magnitude = negative ? -numerator : numerator;
    dd value = pe_quantile((double)magnitude * 0x1p-53);
    double error = value.hi * PE_QUANTILE_ERROR, rounded = pe_round_bounded(value, error);
    if (isnan(rounded)) {
        rounded = value.hi + (value.lo - error);
        if (pe_wide_is_quantile_above_midpoint(magnitude, rounded))
            rounded = nextafter(rounded, 2);
    }
    return negative ? -rounded : rounded;
}
