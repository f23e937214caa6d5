/* Philox, the Box-Muller transform and quantiles in loops that compilers vectorise. */
#include "kernels/draw.h"

#include "kernels/instruction_set.h"
#include "kernels/lanes.h"
#include "numerics/nearest.h"

extern pe_draw_many PE_FOR_SET(pe_draw_many);
extern pe_draw_variables PE_FOR_SET(pe_draw_normals), PE_FOR_SET(pe_draw_truncated);

/* Draws are made in groups, which fill the vectors of every instruction set. */
#define GROUP 8

static size_t in_whole_groups(size_t count)
{
    return (count + GROUP - 1) / GROUP * GROUP;
}

/* Philox4x32-10 of as many counters as there are lanes: x[w] holds word w in its low 32 bits.
 * The high 32 bits of the words are not used. */
static inline void philox(const pe_generator *generator, lanes x[4])
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
        philox(generator, x);
        lanes_store(ret_draws->u + i, (x[1] << 32 | (x[0] & 0xffffffff)) >> 11);
        lanes_store(ret_draws->v + i, (x[3] << 32 | (x[2] & 0xffffffff)) >> 11);
    }
}

/* log((2u + 1) · 2^-54), or NaN. */
static inline double log_of_draw(uint64_t u)
{
    /* the significand of a double tells how long u is; a last bit of 1 does not change that,
     * but for u = 0 */
    uint64_t biased, odd = u | 1;
    double value = pe_double_of_integer(odd);
    memcpy(&biased, &value, sizeof biased);
    biased >>= 52;
    /* & 63: lanes behind the last draw hold any number */
    uint64_t significand = (2 * u + 1) << ((1075 - biased) & 63);
    double nearest = pe_nearest_log(significand, (int64_t)biased - 1076);
    return u == 0 ? (double)NAN : nearest;
}

void PE_FOR_SET(pe_draw_normals)(const pe_draws *restrict draws, size_t count,
                                 double *restrict ret_normals)
{
    double radii[PE_DRAWS];
    count = in_whole_groups(count);
    for (size_t i = 0; i < count; i++)
        radii[i] = -2 * log_of_draw(draws->u[i]);
    for (size_t i = 0; i < count; i++)
        ret_normals[i] = pe_nearest_cos(draws->v[i]);
    for (size_t i = 0; i < count; i++)
        ret_normals[i] *= __builtin_sqrt(radii[i]);
}

/* 2u + 1 - 2^53: an odd integer, which a double holds. */
static inline double centre(uint64_t u)
{
    return (pe_double_of_integer(u) - 0x1p52) * 2 + 1;
}

void PE_FOR_SET(pe_draw_truncated)(const pe_draws *restrict draws, size_t count,
                                   double *restrict ret_truncated)
{
    count = in_whole_groups(count);
    for (size_t i = 0; i < count; i++) {
        double t = centre(draws->u[i]) * 0x1p-53;
        dd value = pe_quantile(fabs(t));
        ret_truncated[i] = copysign(pe_round_bounded(value, value.hi * PE_QUANTILE_ERROR), t);
    }
}
