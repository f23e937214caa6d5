/* Correctly rounded functions of fixed-point arguments: the nearest double of the exact value,
 * for random draws that anyone can reproduce.
 *
 * Each is computed in a double and a rest, with a bound of the error (below 2^-63 of the
 * value). Where that does not decide the rounding, about once in a thousand times or less,
 * 256-bit integers do. No value is a tie: these functions are transcendental. */
#ifndef PE_CORRECT_H
#define PE_CORRECT_H

#include <stdbool.h>
#include <stdint.h>

/* log(numerator * 2^-54), for 0 < numerator < 2^54. */
double pe_correct_log(uint64_t numerator);

/* cos(2π * turns * 2^-53), for turns < 2^53. */
double pe_correct_cos(uint64_t turns);

/* The x for which Φ(x) = 1/2 + (Φ(2) - 1/2) * numerator * 2^-53, for odd |numerator| < 2^53;
 * Φ is the distribution function of the standard normal. |x| < 2. */
double pe_correct_quantile(int64_t numerator);

/* ---- the same in 256-bit integers: for pe_correct_…, and tests ---- */

double pe_wide_correct_log(uint64_t numerator);
double pe_wide_correct_cos(uint64_t turns); /* not for multiples of an eighth of a turn */

/* Whether the quantile lies above the midpoint of x and the next larger double, for an x that
 * is one of the doubles beside it; numerator > 0. */
bool pe_wide_quantile_is_above(int64_t numerator, double x);

#endif
