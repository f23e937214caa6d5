/* Logarithms, exponentials and powers in double-double, for entries that are one of these times
 * something else. Relative errors are below 2^-98, unless said otherwise. All arithmetic is
 * sums, products and quotients, so the bits are the same everywhere.
 *
 * What a function expects of its arguments is checked (expect.h): else it returns NaN.
 *
 * Some values are numbers of few bits, such as 4^(1/2) or exp(0), and lie on rounding
 * boundaries: round after dd_snap. */
#ifndef PE_ELEMENTARY_H
#define PE_ELEMENTARY_H

#include "numerics/dd.h"
#include "posenc.h"

/* ln x, for a normal x > 0. */
dd pe_log(dd x);

/* ln(1 + x), for x >= -1/32. */
dd pe_log1p(dd x);

/* value · 2^exponent: a number that may be beyond the range of doubles. */
typedef struct pe_scaled {
    dd value;
    int exponent;
} pe_scaled;

/* e^x for |x| < 2^29; the value is in [0.7, 1.42]. An error of x, and 2^-104 of |x|, is added
 * to the relative error. */
pe_scaled pe_exp(dd x);

/* x^p for a normal x > 0 and |p| <= 2^20. The relative error is below 2^-98 for |p| <= 4, and
 * grows as |p|. */
pe_scaled pe_power(double x, double p);

/* The number as a double-double, which must be in its range. */
dd pe_apply_exponent(pe_scaled number);

/* ---- the same from double to double, as pe_power_double ---- */

static inline double pe_log_double(double x)
{
    return pe_log((dd){x, 0}).hi;
}

/* Of any x, as recognition takes them from tables of others: 0 and infinity beyond +-700, NaN
 * of NaN. */
static inline double pe_exp_double(double x)
{
    if (fabs(x) <= 700)
        return pe_apply_exponent(pe_exp((dd){x, 0})).hi;
    return x > 0 ? INFINITY : x < 0 ? 0 : x;
}

#endif
