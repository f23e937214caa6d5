/* Exact sums of products, with IEEE's infinities and NaN. */
#include "apply/sum.h"

#include "numerics/dtype.h"

#include <math.h>

static void add_infinity(pe_sum *sum, bool negative)
{
    sum->minus |= negative;
    sum->plus |= !negative;
}

#define SHORT_BITS 80

/* Whether an entry is a number of 80 bits: those are exact. Quotients that are dyadic numbers
 * have fewer in all tables of usual sizes; the bits of another quotient up to the 106th are as
 * good as random, and its last 26 are not all 0. */
static bool is_short(dd entry)
{
    int exponent;
    (void)frexp(entry.hi, &exponent);
    double unit = ldexp(1, exponent - SHORT_BITS);
    return unit * rint(entry.lo / unit) == entry.lo;
}

bool pe_sum_add_infinite(pe_sum *sum, double number, double entry)
{
    if (isfinite(number) && isfinite(entry))
        return false;
    if (isnan(number * entry))
        sum->nan = true;
    else
        add_infinity(sum, (signbit(number) != 0) != (signbit(entry) != 0));
    return true;
}

void pe_sum_add(pe_sum *sum, double number, dd entry)
{
    if (pe_sum_add_infinite(sum, number, entry.hi))
        return;
    pe_exact_add(&sum->finite, number, entry.hi);
    pe_exact_add(&sum->finite, number, entry.lo);
    if (sum->unsure > 0 && !is_short(entry))
        sum->margin += fabs(number * entry.hi) * sum->unsure;
}

/* Round a sum and a number that is added to it. */
static double round_moved(pe_exact sum, double added, pe_dtype dtype)
{
    unsigned char element[sizeof(double)];
    int exponent;
    pe_exact_add(&sum, added, 1);
    if (pe_exact_sign(&sum) == 0)
        return 0;
    dd value = pe_exact_scaled(&sum, &exponent);
    double number = pe_double_for_scaled(dtype, value, exponent);
    if (fabs(number) >= pe_dtypes[dtype].overflow)
        return copysign((double)INFINITY, number);
    pe_round_row(dtype, &number, 1, element);
    return pe_element_value(dtype, element);
}

/* Whether the last bit of an element is 0. */
static bool is_even(double number, pe_dtype dtype)
{
    unsigned char element[sizeof(double)];
    pe_round_row(dtype, &number, 1, element);
    return element[0] % 2 == 0; /* little-endian */
}

double pe_sum_rounded(const pe_sum *sum, pe_dtype dtype)
{
    if (sum->nan || (sum->plus && sum->minus))
        return (double)NAN;
    if (sum->plus || sum->minus)
        return sum->plus ? (double)INFINITY : -(double)INFINITY;
    double rounded = round_moved(sum->finite, 0, dtype);
    if (sum->margin == 0 || !(sum->margin < fabs(rounded) * 0x1p-60))
        return rounded;
    double low = round_moved(sum->finite, -sum->margin, dtype);
    double high = round_moved(sum->finite, sum->margin, dtype);
    if (low == high || isinf(low) || isinf(high))
        return rounded;
    return is_even(low, dtype) ? low : high;
}
