/* Correctly rounded functions of fixed-point arguments: they return the double nearest to the
 * exact value, so that anyone can reproduce random draws made with them.
 *
 * Each function first computes a double-double with an error bound below 2^-63 of the value. At
 * most about once in a thousand times the bound leaves two candidates; then 256-bit integers
 * decide. No value is a tie, since these functions are transcendental. */
#ifndef PE_CORRECT_H
#define PE_CORRECT_H

#include <stdbool.h>
#include <stdint.h>

/* log(numerator * 2^-54), for 0 < numerator < 2^54. */
double pe_correct_log(uint64_t numerator);

/* cos(2π * turns * 2^-53), for turns < 2^53. */
double pe_correct_cos(uint64_t turns);

/* The x for which Φ(x) = 1/2 + (Φ(2) - 1/2) * numerator * 2^-53, for odd |numerator| < 2^53.
 * Φ is the distribution function of the standard normal distribution. |x| < 2. */
double pe_correct_quantile(int64_t numerator);

/* ---- the same in 256-bit integers, for the undecided cases and for tests ---- */

double pe_wide_correct_log(uint64_t numerator);
double pe_wide_correct_cos(uint64_t turns); /* not for multiples of an eighth of a turn */

/* Whether the quantile lies above the midpoint of x and the next larger double; numerator > 0,
 * and x is one of the two doubles that enclose the quantile. */
bool pe_wide_is_quantile_above_midpoint(int64_t numerator, double x);

#endif
