/* Wide fixed-point fractions: frequencies and phases, counted in turns.
 *
 * A phase in turns, k·w/(2π), is needed only modulo 1, and integer arithmetic modulo 2^256 is
 * arithmetic modulo one turn: argument reduction costs nothing and loses nothing. A frequency
 * is a 256-bit fraction of a turn per position; its error of a few 2^-256 times a position of
 * at most 2^53 leaves phases exact to about 2^-200 turns. All integers, so the same bits
 * everywhere. */
#ifndef PE_WIDE_H
#define PE_WIDE_H

#include <stdint.h>

/* value = sum of limb[i] * 2^(64 (i - 4)); limb[3] is the most significant. In [0, 1). */
typedef struct pe_wide {
    uint64_t limb[4];
} pe_wide;

pe_wide pe_wide_add(pe_wide a, pe_wide b); /* modulo 1 */
pe_wide pe_wide_sub(pe_wide a, pe_wide b); /* modulo 1 */

/* a * b, truncated: at most 4 * 2^-256 too small. */
pe_wide pe_wide_mul(pe_wide a, pe_wide b);

/* a * k modulo 1, exactly; a negative k turns backwards. */
pe_wide pe_wide_mul_integer(pe_wide a, int64_t k);

/* a * x modulo 1 for a finite double of magnitude below 2^63; exact for integers, else
 * truncated towards zero at 2^-256. */
pe_wide pe_wide_mul_double(pe_wide a, double x);

/* a * m as a fraction and an integer part, exactly. */
pe_wide pe_wide_mul_whole(pe_wide a, uint64_t m, uint64_t *ret_integer);

/* a / x for x >= 1/2, truncated; the quotient must be below 1. */
pe_wide pe_wide_div_double(pe_wide a, double x);
/* a / divisor, truncated. */
pe_wide pe_wide_div_small(pe_wide a, uint64_t divisor);

/* 2^-n of a fraction. */
pe_wide pe_wide_shift_right(pe_wide a, unsigned n);

/* log2(2 significand) for a significand in [1/2, 1): in [0, 1), to about 2^-253. */
pe_wide pe_wide_log2(pe_wide significand);

/* ret_ratio = base^(-numerator/denominator), for 1 < base <= 2^63 and
 * 0 < numerator/denominator <= 4, to about 2^-240. The result must be below 1. */
pe_wide pe_wide_power(double base, uint64_t numerator, uint64_t denominator);

/* The same for the base whose log2 is integer + fraction; its product with
 * numerator/denominator must be at least 2^-256. */
pe_wide pe_wide_power_of_log2(uint64_t integer, pe_wide fraction, uint64_t numerator,
                              uint64_t denominator);

/* 1/(2π): one radian in turns; and ln 2. */
extern const pe_wide PE_WIDE_RADIAN, PE_WIDE_LN2;

#endif
