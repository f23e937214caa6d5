/* Correctly rounded functions: double-doubles with error bounds. Where a bound leaves two
 * candidates, correct_wide.c decides. */
#include "numerics/correct.h"

#include "numerics/dd.h"
#include "numerics/sine_table.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* Round value.hi + value.lo, which is within `error` of the exact value. Returns false if the
 * exact value may round to either of two doubles. */
static bool round_within(dd value, double error, double *ret_rounded)
{
    double low = value.hi + (value.lo - error), high = value.hi + (value.lo + error);
    *ret_rounded = low;
    return low == high;
}

/* ---- logarithm ---- */

/* Row i is for x in [1 + i/64, 1 + (i + 1)/64): 512 times an approximation of 1/x, and minus
 * the logarithm of that approximation, or of twice that approximation from row HALVED on. So
 * logarithms in the first and the last row are 0, and nothing cancels near x = 1 and x = 2. */
#define HALVED 27
static const struct {
    double reciprocal, log_high, log_low;
} LOG_TABLE[64] = {
    {512, 0, 0},
    {500, 0x1.8492528c8cabfp-6, -0x1.d192d0619fa67p-60},
    {493, 0x1.35c8bfaa1306bp-5, -0x1.50830a65543a4p-63},
    {485, 0x1.bbcebfc68f420p-5, 0x1.e5cf3a0f56f72p-60},
    {478, 0x1.1973bd1465567p-4, -0x1.7558367a6acf6p-59},
    {471, 0x1.55e10050e0384p-4, -0x1.45f9d61c68c1bp-58},
    {465, 0x1.8a6477a91dc29p-4, -0x1.fa83214904842p-59},
    {458, 0x1.c885801bc4b23p-4, 0x1.a38cb559a6706p-58},
    {452, 0x1.fe89139dbd566p-4, -0x1.ac9f4215f9393p-58},
    {446, 0x1.1aa2b7e23f72ap-3, -0x1.c6ef1d9b2ef7ep-59},
    {440, 0x1.365fcb0159016p-3, 0x1.7d411a5b944adp-58},
    {434, 0x1.527e5e4a1b58dp-3, -0x1.71a9682395bfdp-61},
    {428, 0x1.6f0128b756abcp-3, -0x1.8de59c21e166cp-57},
    {423, 0x1.871213750e994p-3, 0x1.d685f35eea2a0p-57},
    {417, 0x1.a454082e6ab05p-3, 0x1.df207dc5c34c6p-58},
    {412, 0x1.bd087383bd8adp-3, 0x1.dd355f6a516d7p-60},
    {407, 0x1.d60a17f903515p-3, -0x1.c0df841a71b7ap-57},
    {402, 0x1.ef5ade4dcffe6p-3, -0x1.08ab2ddc708a0p-58},
    {397, 0x1.047e60cde83b8p-2, -0x1.0779634061cbcp-56},
    {392, 0x1.1178e8227e47cp-2, -0x1.0e63a5f01c691p-57},
    {388, 0x1.1bf99635a6b95p-2, -0x1.12aeb84249223p-57},
    {383, 0x1.2941afb186b7cp-2, -0x1.856e61c515740p-57},
    {379, 0x1.3401e12aecba1p-2, -0x1.cd55b8a4746c0p-58},
    {374, 0x1.419b423d5e8c7p-2, 0x1.0dbb243827392p-57},
    {370, 0x1.4c9e09e172c3cp-2, -0x1.123615b147a5dp-58},
    {366, 0x1.57bf753c8d1fbp-2, -0x1.0908d15f88b63p-57},
    {362, 0x1.630030b3aac49p-2, 0x1.dc18ce51fff99p-57},
    {358, -0x1.5767717455a6cp-2, -0x1.526adb283660cp-56},
    {354, -0x1.4be5f957778a1p-2, 0x1.259b35b04813dp-57},
    {350, -0x1.404308686a7e4p-2, 0x1.0bcfb6082ce6dp-56},
    {347, -0x1.3772662bfd85bp-2, 0x1.b5629d8117de7p-59},
    {343, -0x1.2b9303ab89d25p-2, 0x1.896b5fd852ad4p-56},
    {340, -0x1.22941fbcf7966p-2, 0x1.76f5eb09628afp-56},
    {336, -0x1.1675cababa60ep-2, -0x1.ce63eab883717p-61},
    {333, -0x1.0d46b579ab74bp-2, -0x1.03ec81c3cbd92p-57},
    {329, -0x1.00e6c45ad501dp-2, 0x1.cb9568ff6feadp-57},
    {326, -0x1.ef0adcbdc5936p-3, -0x1.48637950dc20dp-57},
    {323, -0x1.dc1bca0abec7dp-3, -0x1.834c51998b6fcp-57},
    {320, -0x1.c8ff7c79a9a22p-3, 0x1.4f689f8434012p-57},
    {317, -0x1.b5b519e8fb5a4p-3, -0x1.ba27fdc19e1a0p-57},
    {314, -0x1.a23bc1fe2b563p-3, -0x1.93711b07a998cp-59},
    {311, -0x1.8e928de886d41p-3, 0x1.569d851a56770p-57},
    {308, -0x1.7ab890210d909p-3, -0x1.be36b2d6a0608p-59},
    {305, -0x1.66acd4272ad51p-3, 0x1.0900e4e1ea8b2p-58},
    {302, -0x1.526e5e3a1b438p-3, 0x1.746ff8a470d3ap-57},
    {299, -0x1.3dfc2b0ecc62ap-3, 0x1.ab3a8e7d81017p-58},
    {297, -0x1.303d718e47fd3p-3, 0x1.6b9c7d96091fap-63},
    {294, -0x1.1b72ad52f67a0p-3, -0x1.483023472cd74p-58},
    {291, -0x1.0671512ca596ep-3, -0x1.50c647eb86499p-58},
    {289, -0x1.f0a30c01162a6p-4, -0x1.85f325c5bbacdp-58},
    {286, -0x1.c5e548f5bc743p-4, -0x1.5d617ef8161b1p-60},
    {284, -0x1.a926d3a4ad563p-4, -0x1.942f48aa70ea9p-58},
    {281, -0x1.7da766d7b12cdp-4, 0x1.eeedfcdd94131p-58},
    {279, -0x1.60658a93750c4p-4, 0x1.388458ec21b6ap-58},
    {277, -0x1.42edcbea646f0p-4, -0x1.ddd4f935996c9p-59},
    {274, -0x1.16536eea37ae1p-4, 0x1.79da3e8c22cdap-60},
    {272, -0x1.f0a30c01162a6p-5, -0x1.85f325c5bbacdp-59},
    {270, -0x1.b42dd711971bfp-5, 0x1.eb9759c130499p-60},
    {267, -0x1.58a5bafc8e4d5p-5, 0x1.ce55c2b4e2b72p-59},
    {265, -0x1.1b0d98923d980p-5, 0x1.e9ae889bac481p-60},
    {263, -0x1.b9fc027af9198p-6, 0x1.0ae69229dc868p-64},
    {261, -0x1.3cea44346a575p-6, 0x1.0cb5a902b3a1cp-62},
    {259, -0x1.7dc475f810a77p-7, 0x1.16d7687d3df21p-62},
    {256, 0, 0},
};

/* ln 2; the high part has so few bits that its multiples by up to 54 are exact. */
static const dd LN2 = {0x1.62e42fefa3980p-1, 0x1.bcd5e4f1d9cc0p-47};

/* log(1 + z) - z + z²/2 for |z| < 2^-5.9; the first omitted term is about 2^-71 of z. */
static double log_tail(double z)
{
    static const double terms[] = {1.0 / 3,  -1.0 / 4, 1.0 / 5,   -1.0 / 6, 1.0 / 7,
                                   -1.0 / 8, 1.0 / 9,  -1.0 / 10, 1.0 / 11, -1.0 / 12};
    double sum = 0;
    for (int n = 9; n >= 0; n--)
        sum = sum * z + terms[n];
    return z * z * z * sum;
}

double pe_correct_log(uint64_t numerator)
{
    int zeros = __builtin_clzll(numerator), exponent = 9 - zeros;
    uint64_t significand = numerator << (zeros - 10); /* 54 bits: x = significand / 2^53 */
    size_t row = (size_t)(significand >> 47 & 63);
    if (row >= HALVED)
        exponent++;
    /* z = x · reciprocal - 1, exactly */
    uint64_t product = significand * (uint64_t)LOG_TABLE[row].reciprocal; /* below 2^63 */
    int64_t rest = (int64_t)(product - (1ULL << 62));
    double z_high = (double)rest, z_low = (double)(rest - (int64_t)z_high);
    dd z = {z_high * 0x1p-62, z_low * 0x1p-62};

    dd square = dd_two_prod(z.hi, -0.5 * z.hi);
    dd sum = dd_two_sum(exponent * LN2.hi, LOG_TABLE[row].log_high);
    dd with_z = dd_two_sum(sum.hi, z.hi);
    dd with_square = dd_two_sum(with_z.hi, square.hi);
    double low =
        exponent * LN2.lo + LOG_TABLE[row].log_low + (sum.lo + with_z.lo) + with_square.lo;
    low += (z.lo - z.hi * z.lo + square.lo) + log_tail(z.hi);
    dd value = dd_quick_two_sum(with_square.hi, low);
    double error = fabs(z.hi * z.hi * z.hi) * 0x1p-51 + fabs(value.hi) * 0x1p-96, rounded;
    return round_within(value, error, &rounded) ? rounded : pe_wide_correct_log(numerator);
}

/* ---- cosine ---- */

/* Taylor coefficients of the sine from x³ on and of the cosine from x⁴ on. The omitted terms
 * are below 2^-55 of these. */
static const double SINE_TAIL[4] = {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880};
static const double COSINE_TAIL[4] = {1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800};

static double evaluate_tail(const double terms[4], double square)
{
    return terms[0] + square * (terms[1] + square * (terms[2] + square * terms[3]));
}

double pe_correct_cos(uint64_t turns)
{
    uint64_t step = (turns + (1ULL << 46)) >> 47; /* the nearest 64th of a turn */
    size_t j = step & 63;
    double sin = pe_sine_table[j], sin_rest = pe_sine_table_rests[j];
    double cos = pe_sine_table[j + 16], cos_rest = pe_sine_table_rests[j + 16];
    double rest = (double)(int64_t)(turns - (step << 47)) * 0x1p-53;
    dd b = dd_two_prod(rest, DD_TWO_PI.hi);
    b = dd_quick_two_sum(b.hi, b.lo + rest * DD_TWO_PI.lo); /* |b| <= π/64 */

    /* cos a cos b - sin a sin b. Three of its terms need more than a double: cos a, -sin a · b
     * and -cos a · b²/2 */
    double square = b.hi * b.hi;
    double sine_tail = evaluate_tail(SINE_TAIL, square) * square * b.hi;
    double cosine_tail = evaluate_tail(COSINE_TAIL, square) * square * square;
    dd half_square = dd_two_prod(b.hi, -0.5 * b.hi);
    dd first = dd_two_prod(-sin, b.hi), second = dd_two_prod(cos, half_square.hi);
    dd sum = dd_two_sum(cos, first.hi), with_second = dd_two_sum(sum.hi, second.hi);
    double low = cos_rest - (sin * b.lo + sin_rest * b.hi) + first.lo + second.lo +
                 (sum.lo + with_second.lo) + cos * (half_square.lo - b.hi * b.lo) +
                 cos_rest * half_square.hi;
    low += cos * cosine_tail - sin * sine_tail;
    dd value = dd_quick_two_sum(with_second.hi, low);
    double error = fabs(b.hi) * (square * 0x1p-52 + 0x1p-96), rounded;
    error += fabs(cos) * 0x1p-103; /* the table's own error */
    return round_within(value, error, &rounded) ? rounded : pe_wide_correct_cos(turns);
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
    double t = (double)magnitude * 0x1p-53, rounded;
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
    if (!round_within(value, value.hi * 0x1p-67, &rounded) &&
        pe_wide_quantile_is_above(magnitude, rounded))
        rounded = nextafter(rounded, 2);
    return negative ? -rounded : rounded;
}
