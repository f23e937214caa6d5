/* Philox, the Box-Muller transform and quantiles in loops that compilers vectorise. */
#include "kernels/draw.h"

#include "kernels/instruction_set.h"
#include "kernels/lanes.h"
#include "numerics/nearest.h"

extern pe_draw_many PE_FOR_SET(pe_draw_many);
extern pe_draw_variables PE_FOR_SET(pe_draw_normals), PE_FOR_SET(pe_draw_truncated);
extern pe_draw_variables PE_FOR_SET(pe_draw_near_normals), PE_FOR_SET(pe_draw_near_truncated);

/* Draws are made in groups, which fill the vectors of every instruction set. */
#define GROUP 8

static size_t in_whole_groups(size_t count)
{
    return (count + GROUP - 1) / GROUP * GROUP;
}

/* Philox4x32-10 of as many counters as there are lanes: x[w] holds word w in its low 32 bits.
 * The high 32 bits of the words are not used. */
static inline void run_philox(const pe_generator *generator, lanes x[4])
{
    uint32_t k0 = (uint32_t)generator->seed, k1 = (uint32_t)(generator->seed >> 32);
    for (int round = 0; round < 10; round++) {
        lanes first = lanes_multiply(x[0], fill_lanes(0xD2511F53));
        lanes second = lanes_multiply(x[2], fill_lanes(0xCD9E8D57));
        x[0] = (second >> 32) ^ x[1] ^ fill_lanes(k0);
        x[1] = second;
        x[2] = (first >> 32) ^ x[3] ^ fill_lanes(k1);
        x[3] = first;
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
}

void PE_FOR_SET(pe_draw_many)(const pe_generator *generator, uint64_t first, size_t count,
                              pe_draws *ret_draws)
{
    uint64_t numbers[LANES];
    for (size_t i = 0; i < LANES; i++)
        numbers[i] = first + i;
    lanes elements = lanes_load(numbers);
    for (size_t i = 0; i < count; i += LANES, elements += LANES) {
        lanes x[4] = {elements, elements >> 32, fill_lanes(generator->tag),
                      fill_lanes(generator->tag >> 32)};
        run_philox(generator, x);
        lanes_store(ret_draws->u + i, (x[1] << 32 | (x[0] & 0xffffffff)) >> 11);
        lanes_store(ret_draws->v + i, (x[3] << 32 | (x[2] & 0xffffffff)) >> 11);
    }
}

/* A function of significand · 2^(exponent - 53), for 2^53 <= significand < 2^54. */
typedef double logarithm(uint64_t significand, int64_t exponent);

/* log((2u + 1) · 2^-54), or NaN. */
static inline __attribute__((always_inline)) double log_of_draw(uint64_t u, logarithm *of)
{
    /* the significand of a double tells how long u is; a last bit of 1 does not change that,
     * but for u = 0 */
    uint64_t biased, odd = u | 1;
    double value = pe_double_of_integer(odd);
    memcpy(&biased, &value, sizeof biased);
    biased >>= 52;
    /* & 63: lanes behind the last draw hold any number */
    uint64_t significand = (2 * u + 1) << ((1075 - biased) & 63);
    double result = of(significand, (int64_t)biased - 1076);
    return u == 0 ? (double)NAN : result;
}

void PE_FOR_SET(pe_draw_normals)(const pe_draws *restrict draws, size_t count,
                                 double *restrict ret_normals)
{
    double radii[PE_DRAWS];
    count = in_whole_groups(count);
    for (size_t i = 0; i < count; i++)
        radii[i] = -2 * log_of_draw(draws->u[i], pe_nearest_log);
    for (size_t i = 0; i < count; i++)
        ret_normals[i] = pe_nearest_cos(draws->v[i]);
    for (size_t i = 0; i < count; i++)
        ret_normals[i] *= __builtin_sqrt(radii[i]);
}

/* a·b + c: its bits do not show where errors are bounded. */
static inline double multiply_add(double a, double b, double c)
{
#if defined(__FMA__)
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}

/* Near pe_nearest_log: the sum of its leading terms, as that in kernels/curves.c, which derives
 * a relative error below 2^-46. The first omitted term of log(1 + z) is below 2^-50 of z. */
static inline double near_log(uint64_t significand, int64_t exponent)
{
    size_t row = (size_t)(significand >> 47 & 63);
    double scale = pe_double_of_signed(exponent + (row >= PE_LOG_HALVED_FROM));
    uint64_t product = significand * pe_log_reciprocals[row]; /* of x · reciprocal = 1 + z */
    double z = pe_double_of_signed((int64_t)((product >> 32) - (1ULL << 30))) * 0x1p-30 +
               pe_double_of_signed((int64_t)(product & 0xffffffff)) * 0x1p-62;
    double sum = multiply_add(-1.0 / 8, z, 1.0 / 7);
    sum = multiply_add(sum, z, -1.0 / 6);
    sum = multiply_add(sum, z, 1.0 / 5);
    sum = multiply_add(sum, z, -1.0 / 4);
    sum = multiply_add(sum, z, 1.0 / 3);
    sum = multiply_add(sum, z, -1.0 / 2);
    sum = multiply_add(sum, z * z, z);
    return multiply_add(scale, PE_LOG_LN2.hi,
                        pe_log_table[row] + multiply_add(scale, PE_LOG_LN2.lo, sum));
}

/* Near pe_nearest_cos: within 2^-49. The terms beside the table's cosine are below 2^-4, and
 * the first omitted ones b^8/8! and b^9/9! with b <= π/64. */
static inline double near_cos(uint64_t turns)
{
    uint64_t step = (turns + (1ULL << 46)) >> 47;
    size_t j = (size_t)(step & 63);
    double b = pe_double_of_signed((int64_t)(turns - (step << 47))) * 0x1p-53 * DD_TWO_PI.hi;
    double square = b * b;
    double versine = multiply_add(multiply_add(-1.0 / 720, square, 1.0 / 24), square, -0.5);
    double sine = multiply_add(multiply_add(-1.0 / 5040, square, 1.0 / 120), square, -1.0 / 6);
    sine = multiply_add(sine * square, b, b);
    double cos = pe_sine_table[j + 16];
    return multiply_add(cos * square, versine, multiply_add(-pe_sine_table[j], sine, cos));
}

/* A radius is at most 8.66 and its relative error half of the logarithm's, 2^-47; that makes
 * 2^-43.8, and all else, with what pe_draw_normal itself rounds, is below 2^-45. */
void PE_FOR_SET(pe_draw_near_normals)(const pe_draws *restrict draws, size_t count,
                                      double *restrict ret_normals)
{
    count = in_whole_groups(count);
    for (size_t i = 0; i < count; i++)
        ret_normals[i] = -2 * log_of_draw(draws->u[i], near_log);
    for (size_t i = 0; i < count; i++)
        ret_normals[i] = near_cos(draws->v[i]) * __builtin_sqrt(ret_normals[i]);
}

/* 2u + 1 - 2^53: an odd integer, which a double holds. */
static inline double centre_draw(uint64_t u)
{
    return (pe_double_of_integer(u) - 0x1p52) * 2 + 1;
}

void PE_FOR_SET(pe_draw_truncated)(const pe_draws *restrict draws, size_t count,
                                   double *restrict ret_truncated)
{
    count = in_whole_groups(count);
    for (size_t i = 0; i < count; i++) {
        double t = centre_draw(draws->u[i]) * 0x1p-53;
        dd value = pe_quantile(fabs(t));
        ret_truncated[i] = copysign(pe_round_bounded(value, value.hi * PE_QUANTILE_ERROR), t);
    }
}

/* (-1)^n / (n! (2n + 1)) from the last n on: the first that is left out, times 2^n, is below
 * 2^-59. */
static const double INTEGRAL[] = {
    -1 / (2585201673888497664e4 * 47),
    1 / (112400072777760768e4 * 45),
    -1 / (51090942171709440e3 * 43),
    1 / (2432902008176640000.0 * 41),
    -1 / (121645100408832000.0 * 39),
    1 / (6402373705728000.0 * 37),
    -1 / (355687428096000.0 * 35),
    1 / (20922789888000.0 * 33),
    -1 / (1307674368000.0 * 31),
    1 / (87178291200.0 * 29),
    -1 / (6227020800.0 * 27),
    1 / (479001600.0 * 25),
    -1 / (39916800.0 * 23),
    1 / (3628800.0 * 21),
    -1 / (362880.0 * 19),
    1 / (40320.0 * 17),
    -1 / (5040.0 * 15),
    1 / (720.0 * 13),
    -1 / (120.0 * 11),
    1 / (24.0 * 9),
    -1 / (6.0 * 7),
    1 / (2.0 * 5),
    -1.0 / 3,
    1,
};

/* Near pe_quantile, from the same guess by the first two terms of the same series; t is in
 * (0, 1). The sum of the magnitudes of the integral's terms is below 2.4 and the integral
 * below 1.2, so what is missing is off by less than 2^-50; exp(y) is at most e^2, and the term
 * that is left out below 2^-64. */
static inline double near_quantile(double t)
{
    double x = pe_guess_quantile(t), y = 0.5 * x * x, sum = INTEGRAL[0];
    for (size_t n = 1; n < sizeof INTEGRAL / sizeof *INTEGRAL; n++)
        sum = multiply_add(sum, y, INTEGRAL[n]);
    double missing = 0x1.323fee65d1421p+0 * t - sum * x;
    double step = missing * pe_exponential_up_to_2(y);
    return x + multiply_add(0.5 * x * step, step, step);
}

void PE_FOR_SET(pe_draw_near_truncated)(const pe_draws *restrict draws, size_t count,
                                        double *restrict ret_truncated)
{
    count = in_whole_groups(count);
    for (size_t i = 0; i < count; i++) {
        double t = centre_draw(draws->u[i]) * 0x1p-53;
        ret_truncated[i] = copysign(near_quantile(fabs(t)), t);
    }
}
