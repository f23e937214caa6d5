/* Logarithms and cosines that are the nearest doubles of the exact values, or NaN where a
 * double-double does not decide which one is the nearest: at most about once in a thousand
 * times.
 *
 * They have no branches, no library functions and only conversions of integers that every
 * instruction set has, so that compilers vectorise loops of them. The bits are the same
 * everywhere. */
#ifndef PE_NEAREST_H
#define PE_NEAREST_H

#include "numerics/dd.h"
#include "numerics/log_table.h"
#include "numerics/sine_table.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* Round value.hi + value.lo, which is within `error` of the exact value. NaN if the exact value
 * may round to either of two doubles. */
static inline double pe_round_bounded(dd value, double error)
{
    double low = value.hi + (value.lo - error), high = value.hi + (value.lo + error);
    return low == high ? low : (double)NAN;
}

/* ---- conversions ---- */

/* An integer below 2^53, exactly: its halves are added to powers of two that have their place
 * in the last bits. */
static inline double pe_double_of_integer(uint64_t integer)
{
    double high = pe_double_of_bits(0x4530000000000000 | integer >> 32) - 0x1p84;
    double low = pe_double_of_bits(0x4330000000000000 | (integer & 0xffffffff)) - 0x1p52;
    return high + low;
}

/* An integer in [-2^51, 2^51), exactly. */
static inline double pe_double_of_signed(int64_t integer)
{
    return pe_double_of_bits((uint64_t)integer + 0x4338000000000000) - 0x1.8p52;
}

/* ---- logarithm ---- */

/* log(1 + z) - z + z²/2 for |z| < 2^-5.9; the first omitted term is about 2^-71 of z. */
static inline double pe_nearest_log_tail(double z)
{
    double sum = -1.0 / 12;
    sum = sum * z + 1.0 / 11;
    sum = sum * z + -1.0 / 10;
    sum = sum * z + 1.0 / 9;
    sum = sum * z + -1.0 / 8;
    sum = sum * z + 1.0 / 7;
    sum = sum * z + -1.0 / 6;
    sum = sum * z + 1.0 / 5;
    sum = sum * z + -1.0 / 4;
    sum = sum * z + 1.0 / 3;
    return z * z * z * sum;
}

/* log(significand · 2^(exponent - 53)), for 2^53 <= significand < 2^54. */
static inline double pe_nearest_log(uint64_t significand, int64_t exponent)
{
    size_t row = (size_t)(significand >> 47 & 63);
    exponent += row >= PE_LOG_HALVED_FROM;
    /* z = x · reciprocal - 1, exactly */
    uint64_t product = significand * pe_log_reciprocals[row]; /* below 2^63 */
    int64_t rest = (int64_t)(product - (1ULL << 62));         /* below 2^57 in magnitude */
    uint64_t upper = (product >> 32) - (1ULL << 30);
    dd z = dd_quick_two_sum(pe_double_of_signed((int64_t)upper) * 0x1p-30,
                            pe_double_of_signed(rest & 0xffffffff) * 0x1p-62);
    double scale = pe_double_of_signed(exponent);

    dd square = dd_two_prod(z.hi, -0.5 * z.hi);
    dd sum = dd_two_sum(scale * PE_LOG_LN2.hi, pe_log_table[row]);
    dd with_z = dd_two_sum(sum.hi, z.hi);
    dd with_square = dd_two_sum(with_z.hi, square.hi);
    double low =
        scale * PE_LOG_LN2.lo + pe_log_table_rests[row] + (sum.lo + with_z.lo) + with_square.lo;
    low += (z.lo - z.hi * z.lo + square.lo) + pe_nearest_log_tail(z.hi);
    dd value = dd_quick_two_sum(with_square.hi, low);
    double error = fabs(z.hi * z.hi * z.hi) * 0x1p-51 + fabs(value.hi) * 0x1p-96;
    return pe_round_bounded(value, error);
}

/* ---- cosine ---- */

/* Taylor polynomials of the sine from x³ on and of the cosine from x⁴ on. The omitted terms are
 * below 2^-55 of these. */
static inline double pe_nearest_sine_tail(double square)
{
    return -1.0 / 6 + square * (1.0 / 120 + square * (-1.0 / 5040 + square * (1.0 / 362880)));
}

static inline double pe_nearest_cosine_tail(double square)
{
    return 1.0 / 24 +
           square * (-1.0 / 720 + square * (1.0 / 40320 + square * (-1.0 / 3628800)));
}

/* cos(2π · turns · 2^-53), for turns < 2^53. */
static inline double pe_nearest_cos(uint64_t turns)
{
    uint64_t step = (turns + (1ULL << 46)) >> 47; /* the nearest 64th of a turn */
    size_t j = (size_t)(step & 63);
    double sin = pe_sine_table[j], sin_rest = pe_sine_table_rests[j];
    double cos = pe_sine_table[j + 16], cos_rest = pe_sine_table_rests[j + 16];
    double rest = pe_double_of_signed((int64_t)(turns - (step << 47))) * 0x1p-53;
    dd b = dd_two_prod(rest, DD_TWO_PI.hi);
    b = dd_quick_two_sum(b.hi, b.lo + rest * DD_TWO_PI.lo); /* |b| <= π/64 */

    /* cos a cos b - sin a sin b. Three of its terms need more than a double: cos a, -sin a · b
     * and -cos a · b²/2 */
    double square = b.hi * b.hi;
    double sine_tail = pe_nearest_sine_tail(square) * square * b.hi;
    double cosine_tail = pe_nearest_cosine_tail(square) * square * square;
    dd half_square = dd_two_prod(b.hi, -0.5 * b.hi);
    dd first = dd_two_prod(-sin, b.hi), second = dd_two_prod(cos, half_square.hi);
    dd sum = dd_two_sum(cos, first.hi), with_second = dd_two_sum(sum.hi, second.hi);
    double low = cos_rest - (sin * b.lo + sin_rest * b.hi) + first.lo + second.lo +
                 (sum.lo + with_second.lo) + cos * (half_square.lo - b.hi * b.lo) +
                 cos_rest * half_square.hi;
    low += cos * cosine_tail - sin * sine_tail;
    dd value = dd_quick_two_sum(with_second.hi, low);
    double error = fabs(b.hi) * (square * 0x1p-52 + 0x1p-96);
    error += fabs(cos) * 0x1p-103; /* the table's own error */
    return pe_round_bounded(value, error);
}

#endif
