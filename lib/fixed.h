/* Signed fixed-point reals of 64 bits before the point and 256 behind it: for the logarithms
 * and ratios that a request computes once, so that frequencies made with them keep all their
 * bits. All integers, so the same bits everywhere. */
#ifndef PE_FIXED_H
#define PE_FIXED_H

#include "dd.h"
#include "wide.h"

/* whole + part, where part is in [0, 1): floor and fraction. */
typedef struct pe_fixed {
    int64_t whole;
    pe_wide part;
} pe_fixed;

/* A double of magnitude below 2^62, towards zero at 2^-256. */
pe_fixed pe_fixed_of(double x);

pe_fixed pe_fixed_add(pe_fixed a, pe_fixed b);
pe_fixed pe_fixed_sub(pe_fixed a, pe_fixed b);

/* Negative, zero or positive as a is less than, equal to or more than b. */
int pe_fixed_compare(pe_fixed a, pe_fixed b);

/* a * k, which must be within ±2^63; exact. */
pe_fixed pe_fixed_mul_integer(pe_fixed a, int64_t k);

/* a / b for b > 0, towards zero; what is not within ±2^62 becomes that. */
pe_fixed pe_fixed_div(pe_fixed a, pe_fixed b);

/* The fraction of a * b for a, b >= 0; an error of a's or b's last places times the other. */
pe_wide pe_fixed_mul_fraction(pe_fixed a, pe_fixed b);

/* log2(x) of a normal double x > 0, to about 2^-253. */
pe_fixed pe_fixed_log2(double x);

/* To double-double, within 2^-101 of a's magnitude. a >= 0. */
dd pe_fixed_to_dd(pe_fixed a);

#endif
