/* Correctly rounded functions: double-doubles with error bounds. Where a bound leaves two
 * candidates, correct_wide.c decides. */
#include "numerics/correct.h"

#include "numerics/dd.h"
#include "numerics/nearest.h"

#include <math.h>
#include <stdbool.h>

double pe_correct_log(uint64_t numerator)
{
    int zeros = __builtin_clzll(numerator);
    double nearest = pe_nearest_log(numerator << (zeros - 10), 9 - zeros);
    return isnan(nearest) ? pe_wide_correct_log(numerator) : nearest;
}

double pe_correct_cos(uint64_t turns)
{
    double nearest = pe_nearest_cos(turns);
    return isnan(nearest) ? pe_wide_correct_cos(turns) : nearest;
}

/* ---- quantile of the normal distribution within two standard deviations ---- */

/* With D(x) = ∫ exp(-s²/2) ds from 0 to x = x · Σ (-y)^n / (n! (2n + 1)), y = x²/2, the
 * quantile solves D(x) = D(2) t. D(2): */
static const dd D_OF_2 = {0x1.323fee65d1421p+0, 0x1.075860cf7c0c1p-54};

/* x/t as a quotient of polynomials in t², within 2^-23; coefficients from the constant on. */
static const double GUESS_ABOVE[5] = {0x1.323fef72b3330p+0, -0x1.525d6a288e6efp+1,
                                      0x1.f60c70d19258dp+0, -0x1.0fa5b43e7bea7p-1,
                                      0x1.061123579d85bp-5};
static const double GUESS_BELOW[5] = {1, -0x1.39601fbe3d408p+1, 0x1.0d48c31260a7cp+1,
                                      -0x1.73f52726cd26bp-1, 0x1.420ea655b212fp-4};

static double polynomial(const double coefficients[5], double x)
{
    double sum = coefficients[4];
    for (int i = 3; i >= 0; i--)
        sum = sum * x + coefficients[i];
    return sum;
}

/* (-1)^n / (n! (2n + 1)): in double-double up to SERIES_DD. For y <= 2 the terms from there on
 * are below 2^-21, so that doubles serve. */
#define SERIES_DD 12
#define SERIES    30
static const double SERIES_TAIL[SERIES - SERIES_DD] = {
    0x1.6f448e13e85e1p-34,  -0x1.a289ee7e40f74p-38, 0x1.bd577e658d020p-42,
    -0x1.bc6250fb14231p-46, 0x1.a173a167fba4dp-50,  -0x1.7271cbe5863ecp-54,
    0x1.377c2110f2083p-58,  -0x1.f1b4073b34a68p-63, 0x1.7abd72258fb6ep-67,
    -0x1.13246abce1bddp-71, 0x1.7e6b81382cd42p-76,  -0x1.fd6bebd65107ap-81,
    0x1.45c0a838efe59p-85,  -0x1.909c9de3a31c5p-90, 0x1.da7460554e5dbp-95,
    -0x1.0eef30fa10d2cp-99, 0x1.2ac65385f79acp-104, -0x1.3e81bb5701ac5p-109,
};
static const dd SERIES_HEAD[SERIES_DD] = {
    {0x1p+0, 0},
    {-0x1.5555555555555p-2, -0x1.5555555555555p-56},
    {0x1.999999999999ap-4, -0x1.999999999999ap-58},
    {-0x1.8618618618618p-6, -0x1.8618618618618p-60},
    {0x1.2f684bda12f68p-8, 0x1.2f684bda12f68p-62},
    {-0x1.8d3018d3018d3p-11, -0x1.8d3018d3018d3p-71},
    {0x1.c01c01c01c01cp-14, 0x1.c01c01c01c01cp-74},
    {-0x1.bbd779334ef0bp-17, 0x1.4e65f77088199p-71},
    {0x1.87a00187a0018p-20, 0x1.e80061e80061fp-74},
    {-0x1.3777c55568ccdp-23, -0x1.aaabe22270001p-79},
    {0x1.c2e3054870b38p-27, -0x1.d5bceb1cfc09cp-81},
    {-0x1.2b67310aa9f3ap-30, -0x1.0a97d2e29d0a6p-85},
};

/* D(x)/x at y = x²/2 <= 2, within 2^-73. */
static dd integral_ratio(double y)
{
    double tail = 0;
    for (int n = SERIES - SERIES_DD - 1; n >= 0; n--)
        tail = tail * y + SERIES_TAIL[n];
    dd sum = {tail, 0};
    for (int n = SERIES_DD - 1; n >= 0; n--)
        sum = dd_add(dd_mul_double(sum, y), SERIES_HEAD[n]);
    return sum;
}

/* exp(y) for 0 <= y <= 2, with a relative error below 2^-48. */
static double exponential(double y)
{
    double x = y / 16, sum = 1;
    for (int n = 12; n >= 1; n--)
        sum = 1 + x * sum / n;
    for (int i = 0; i < 4; i++)
        sum *= sum;
    return sum;
}

double pe_correct_quantile(int64_t numerator)
{
    bool negative = numerator < 0;
    int64_t magnitude = negative ? -numerator : numerator;
    double t = (double)magnitude * 0x1p-53;
    double guess = t * polynomial(GUESS_ABOVE, t * t) / polynomial(GUESS_BELOW, t * t);
    double x = (double)(float)guess; /* of 24 bits, so that y is exact */
    double y = 0.5 * x * x;
    dd wanted = dd_mul_double(D_OF_2, t), reached = dd_mul_double(integral_ratio(y), x);
    dd missing = dd_add(wanted, dd_neg(reached)); /* below 2^-22 of x */
    /* D(x) is what is reached. Where D is `missing` more, its inverse is x + s + x s²/2 +
     * (1 + 2x²) s³/6 with s = missing·exp(y), by Taylor: the derivatives of the inverse are
     * exp(y), x exp(2y) and (1 + 2x²) exp(3y). */
    double step = missing.hi * exponential(y);
    double cubic = step * step * step * (1 + 2 * x * x) / 6;
    dd value = dd_two_sum(x, step);
    value = dd_quick_two_sum(value.hi, value.lo + (0.5 * x * step * step + cubic));
    double error = value.hi * 0x1p-67, rounded = pe_round_bounded(value, error);
    if (isnan(rounded)) {
        rounded = value.hi + (value.lo - error);
        if (pe_wide_is_quantile_above_midpoint(magnitude, rounded))
            rounded = nextafter(rounded, 2);
    }
    return negative ? -rounded : rounded;
}
