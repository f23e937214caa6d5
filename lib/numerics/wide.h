/* Wide fixed-point fractions: frequencies and phases in turns.
 *
 * A phase in turns, k·w/(2π), is needed only modulo 1, and integer arithmetic modulo 2^256 is
 * arithmetic modulo one turn: argument reduction is free and exact. A frequency is a 256-bit
 * fraction of a turn per position. Its error of a few 2^-256, times a position of at most 2^53,
 * leaves phases exact to about 2^-200 turns. All arithmetic is in integers and gives the same
 * bits everywhere. */
#ifndef PE_WIDE_H
#define PE_WIDE_H

#include <stdint.h>

/* The sum of limb[i] * 2^(64 (i - 4)), in [0, 1); limb[3] is the most significant. */
typedef struct pe_wide {
    uint64_t limb[4];
} pe_wide;

pe_wide pe_wide_add(pe_wide a, pe_wide b); /* modulo 1 */
pe_wide pe_wide_sub(pe_wide a, pe_wide b); /* modulo 1 */
pe_wide pe_wide_negate(pe_wide a);         /* -a modulo 1: 1 - a, or 0 */

/* a * b, too small by at most 4 * 2^-256. */
pe_wide pe_wide_mul(pe_wide a, pe_wide b);

/* a * k modulo 1, exactly. */
pe_wide pe_wide_mul_integer(pe_wide a, int64_t k);

/* The same of the leading 128 bits of a, to as many: off by less than |k| * 2^-128. */
pe_wide pe_wide_mul_leading(pe_wide a, int64_t k);

/* a * x modulo 1, for -2^63 <= x < 2^63: exact for an integer x, else bits below 2^-256 are cut
 * off. */
pe_wide pe_wide_mul_double(pe_wide a, double x);

/* a * m, exactly: returns the fraction, and the integer part in *ret_integer. */
pe_wide pe_wide_mul_with_carry(pe_wide a, uint64_t m, uint64_t *ret_integer);

/* a / x for x >= 1/2, rounded down; the quotient must be below 1. */
pe_wide pe_wide_div_double(pe_wide a, double x);

/* a / divisor, rounded down. */
pe_wide pe_wide_div_small(pe_wide a, uint64_t divisor);

/* a * 2^-n, rounded down. */
pe_wide pe_wide_shift_right(pe_wide a, unsigned n);

/* log2(2 significand) for a significand in [1/2, 1). The result is in [0, 1), with an error of
 * about 2^-253. */
pe_wide pe_wide_log2(pe_wide significand);

/* base^(-numerator/denominator), for 1 < base <= 2^63 and 0 < numerator/denominator <= 4, with
 * an error of about 2^-240. The result must be below 1. */
pe_wide pe_wide_power(double base, uint64_t numerator, uint64_t denominator);

/* The same for the base whose log2 is integer + fraction. The product of log2 and
 * numerator/denominator must be at least 2^-256 and below 2^64. */
pe_wide pe_wide_power_of_log2(uint64_t integer, pe_wide fraction, uint64_t numerator,
                              uint64_t denominator);

/* One radian in turns, 1/(2π), and ln 2. */
extern const pe_wide pe_wide_radian, pe_wide_ln2;

#endif
