/* Logarithms, cosines and quantiles that are the nearest doubles of the exact values, or NaN
 * where a double-double does not decide which one is the nearest: at most about once in a
 * thousand times.
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

/* ---- quantile of the normal distribution within two standard deviations ---- */

/* x/t as a quotient of polynomials in t², within 2^-23. */
static inline double pe_guess_quantile(double t)
{
    double square = t * t, above = 0x1.061123579d85bp-5, below = 0x1.420ea655b212fp-4;
    above = above * square + -0x1.0fa5b43e7bea7p-1;
    above = above * square + 0x1.f60c70d19258dp+0;
    above = above * square + -0x1.525d6a288e6efp+1;
    above = above * square + 0x1.323fef72b3330p+0;
    below = below * square + -0x1.73f52726cd26bp-1;
    below = below * square + 0x1.0d48c31260a7cp+1;
    below = below * square + -0x1.39601fbe3d408p+1;
    below = below * square + 1;
    return t * above / below;
}

/* sum·y + hi + lo, for a product that is less than hi. */
static inline dd pe_next_term(dd sum, double y, double hi, double lo)
{
    dd product = dd_two_prod(sum.hi, y), high = dd_quick_two_sum(hi, product.hi);
    return (dd){high.hi, high.lo + (product.lo + sum.lo * y + lo)};
}

/* Σ (-y)^n / (n! (2n + 1)) for 0 <= y <= 2, within 2^-72. The terms from n = 12 on are below
 * 2^-21, so that doubles serve; those before are in double-double. */
static inline dd pe_integral_ratio(double y)
{
    double tail = -0x1.3e81bb5701ac5p-109;
    tail = tail * y + 0x1.2ac65385f79acp-104;
    tail = tail * y + -0x1.0eef30fa10d2cp-99;
    tail = tail * y + 0x1.da7460554e5dbp-95;
    tail = tail * y + -0x1.909c9de3a31c5p-90;
    tail = tail * y + 0x1.45c0a838efe59p-85;
    tail = tail * y + -0x1.fd6bebd65107ap-81;
    tail = tail * y + 0x1.7e6b81382cd42p-76;
    tail = tail * y + -0x1.13246abce1bddp-71;
    tail = tail * y + 0x1.7abd72258fb6ep-67;
    tail = tail * y + -0x1.f1b4073b34a68p-63;
    tail = tail * y + 0x1.377c2110f2083p-58;
    tail = tail * y + -0x1.7271cbe5863ecp-54;
    tail = tail * y + 0x1.a173a167fba4dp-50;
    tail = tail * y + -0x1.bc6250fb14231p-46;
    tail = tail * y + 0x1.bd577e658d020p-42;
    tail = tail * y + -0x1.a289ee7e40f74p-38;
    tail = tail * y + 0x1.6f448e13e85e1p-34;
    dd sum = {tail, 0};
    sum = pe_next_term(sum, y, -0x1.2b67310aa9f3ap-30, -0x1.0a97d2e29d0a6p-85);
    sum = pe_next_term(sum, y, 0x1.c2e3054870b38p-27, -0x1.d5bceb1cfc09cp-81);
    sum = pe_next_term(sum, y, -0x1.3777c55568ccdp-23, -0x1.aaabe22270001p-79);
    sum = pe_next_term(sum, y, 0x1.87a00187a0018p-20, 0x1.e80061e80061fp-74);
    sum = pe_next_term(sum, y, -0x1.bbd779334ef0bp-17, 0x1.4e65f77088199p-71);
    sum = pe_next_term(sum, y, 0x1.c01c01c01c01cp-14, 0x1.c01c01c01c01cp-74);
    sum = pe_next_term(sum, y, -0x1.8d3018d3018d3p-11, -0x1.8d3018d3018d3p-71);
    sum = pe_next_term(sum, y, 0x1.2f684bda12f68p-8, 0x1.2f684bda12f68p-62);
    sum = pe_next_term(sum, y, -0x1.8618618618618p-6, -0x1.8618618618618p-60);
    sum = pe_next_term(sum, y, 0x1.999999999999ap-4, -0x1.999999999999ap-58);
    sum = pe_next_term(sum, y, -0x1.5555555555555p-2, -0x1.5555555555555p-56);
    return pe_next_term(sum, y, 1, 0);
}

/* e^y for 0 <= y <= 2, within 2^-47 of itself: the 16th power of that of y/16. */
static inline double pe_exponential_up_to_2(double y)
{
    double x = y * 0x1p-4, sum = 1.0 / 39916800;
    sum = sum * x + 1.0 / 3628800;
    sum = sum * x + 1.0 / 362880;
    sum = sum * x + 1.0 / 40320;
    sum = sum * x + 1.0 / 5040;
    sum = sum * x + 1.0 / 720;
    sum = sum * x + 1.0 / 120;
    sum = sum * x + 1.0 / 24;
    sum = sum * x + 1.0 / 6;
    sum = sum * x + 0.5;
    sum = sum * x + 1;
    sum = sum * x + 1;
    sum *= sum;
    sum *= sum;
    sum *= sum;
    return sum * sum;
}

#define PE_QUANTILE_ERROR 0x1p-67 /* of a quantile in double-double, relative */

/* The x for which D(x) = D(2) t with D(x) = ∫ exp(-s²/2) ds from 0 to x, for an odd multiple t
 * of 2^-53 below 1. D(x) is x · Σ (-y)^n / (n! (2n + 1)), y = x²/2. */
static inline dd pe_quantile(double t)
{
    const dd d_of_2 = {0x1.323fee65d1421p+0, 0x1.075860cf7c0c1p-54};
    double x = (double)(float)pe_guess_quantile(t); /* of 24 bits, so that y is exact */
    double y = 0.5 * x * x;
    dd wanted = dd_mul_double(d_of_2, t), reached = dd_mul_double(pe_integral_ratio(y), x);
    double missing = (wanted.hi - reached.hi) + (wanted.lo - reached.lo); /* < 2^-22 of x */
    /* D(x) is what is reached. Where D is `missing` more, its inverse is x + s + x s²/2 +
     * (1 + 2x²) s³/6 with s = missing·exp(y), by Taylor: the derivatives of the inverse are
     * exp(y), x exp(2y) and (1 + 2x²) exp(3y). */
    double step = missing * pe_exponential_up_to_2(y);
    double cubic = step * step * step * (1 + 2 * x * x) * (1.0 / 6);
    dd value = dd_two_sum(x, step);
    return dd_quick_two_sum(value.hi, value.lo + (0.5 * x * step * step + cubic));
}

#endif
