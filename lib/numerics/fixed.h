/* Signed fixed-point reals with 64 bits before the point and 256 behind it. A request computes
 * logarithms and ratios with them once, so that the frequencies that depend on these keep all
 * their bits. All arithmetic is in integers and gives the same bits everywhere. */
#ifndef PE_FIXED_H
#define PE_FIXED_H

#include "numerics/dd.h"
#include "numerics/wide.h"

/* whole + part: the floor, and the fraction in [0, 1). */
typedef struct pe_fixed {
    int64_t whole;
    pe_wide part;
} pe_fixed;

/* x, for |x| < 2^62; bits below 2^-256 are cut off. */
pe_fixed pe_fixed_from_double(double x);

pe_fixed pe_fixed_add(pe_fixed a, pe_fixed b);
pe_fixed pe_fixed_sub(pe_fixed a, pe_fixed b);

/* -1, 0 or 1 as a is less than, equal to or greater than b. */
int pe_fixed_compare(pe_fixed a, pe_fixed b);

/* a * k, exactly; the product must lie within ±2^63. */
pe_fixed pe_fixed_mul_integer(pe_fixed a, int64_t k);

/* a / b for b > 0, rounded towards zero. Quotients beyond ±2^62 become ±2^62. */
pe_fixed pe_fixed_div(pe_fixed a, pe_fixed b);

/* The fraction of a * b for a, b >= 0. The error is a few 2^-256, and an error of one factor
 * is multiplied by the other. */
pe_wide pe_fixed_mul_fraction(pe_fixed a, pe_fixed b);

/* a * b for a >= 0, with an error of a few 2^-256. */
pe_fixed pe_fixed_mul_wide(pe_fixed a, pe_wide b);

/* log2(x) of a normal double x > 0, with an error of about 2^-253. */
pe_fixed pe_fixed_log2(double x);

/* a >= 0 as a double-double, with a relative error below 2^-101. */
dd pe_fixed_to_dd(pe_fixed a);

/* The double nearest to a, 0 or at least 2^-256; or rounded to odd (dd_to_odd), so that
 * rounding it to a shorter dtype rounds a. */
double pe_fixed_nearest(pe_fixed a);
double pe_fixed_to_odd(pe_fixed a);

#endif
