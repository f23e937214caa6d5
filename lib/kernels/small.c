/* Sines and cosines of small angles by their Taylor series, without an anchor or a rotation.
 *
 * The error is relative, however small the angle is. In units of 2^-53: 7 of the angle (its
 * factors, and their product), 1 of the series, whose terms after the first one are below 2^-14
 * of it, and 2 of the amplitude (its own, and the product): less than the 16 of the interval.
 * Below 2^-26 a sine is taken as its angle, of which it lacks a sixth of 2^-52: less than 1. */
#include "kernels/small.h"

#include "kernels/instruction_set.h"
#include "kernels/kernel.h"

extern pe_small PE_FOR_SET(pe_small);
extern const pe_lines PE_FOR_SET(pe_lines);

#define BELOW (1 - 0x1p-49)
#define ABOVE (1 + 0x1p-49)

/* x - x³/6 + x⁵/120 - x⁷/5040; the next term is below 2^-66 of x. */
static inline double compute_sine(double x)
{
    double square = x * x;
    double inner = square * (0x1.1111111111111p-7 - square * 0x1.a01a01a01a01ap-13);
    return x + x * (square * (inner - 0x1.5555555555555p-3));
}

/* 1 - x²/2 + x⁴/24 - x⁶/720; the next term is below 2^-63. */
static inline double compute_cosine(double x)
{
    double square = x * x;
    double inner = square * (0x1.5555555555555p-5 - square * 0x1.6c16c16c16c17p-10);
    return 1 + square * (inner - 0.5);
}

/* Both ends of an entry's interval, which are rounded to f32 at once, or later. */
#define COMPUTE_ENDS(type, function)                                                           \
    for (size_t i = 0; i < angles->count; i++) {                                               \
        double x = angles->position.hi * angles->frequencies[i];                               \
        double entry = angles->amplitude.hi * function(x);                                     \
        ret_below[i] = (type)(entry * BELOW) + (type)0;                                        \
        ret_above[i] = (type)(entry * ABOVE) + (type)0;                                        \
    }
#define COMPUTE_SHORT(name, type)                                                              \
    static void name(const pe_small_angles *angles, bool cosine, type *restrict ret_below,     \
                     type *restrict ret_above)                                                 \
    {                                                                                          \
        if (cosine)                                                                            \
            COMPUTE_ENDS(type, compute_cosine)                                                 \
        else if (angles->is_tiny)                                                              \
            COMPUTE_ENDS(type, )                                                               \
        else                                                                                   \
            COMPUTE_ENDS(type, compute_sine)                                                   \
    }
COMPUTE_SHORT(compute_floats, float)
COMPUTE_SHORT(compute_doubles, double)

static void small_short(pe_dtype dtype, const pe_small_angles *angles, bool cosine,
                        void *ret_below, void *ret_above)
{
    double below[PE_KERNEL_PAIRS], above[PE_KERNEL_PAIRS];
    if (dtype == PE_F32) {
        compute_floats(angles, cosine, ret_below, ret_above);
        return;
    }
    compute_doubles(angles, cosine, below, above);
    PE_FOR_SET(pe_lines).round(dtype, below, angles->count, ret_below);
    PE_FOR_SET(pe_lines).round(dtype, above, angles->count, ret_above);
}

/* ---- f64 ----
 *
 * Below 2^-14 all terms after the first one are below 2^-29 of it, so that doubles make them
 * with an error below 2^-79 of it, and three terms suffice. */

#define LEAST_ANGLE 0x1p-900 /* the products of smaller ones may underflow */

static inline dd sine_of_dd(dd x)
{
    double square = x.hi * x.hi;
    double rest = x.hi * (square * (0x1.5555555555555p-3 - square * 0x1.1111111111111p-7));
    return dd_quick_two_sum(x.hi, x.lo - rest);
}

static inline dd cosine_of_dd(dd x)
{
    double square = x.hi * x.hi;
    return (dd){1, -(square * (0.5 - square * 0x1.5555555555555p-5))};
}

static inline __attribute__((always_inline)) void small_f64(const pe_small_angles *angles,
                                                            bool cosine,
                                                            double *restrict ret_below,
                                                            double *restrict ret_above)
{
    const dd position = angles->position, amplitude = angles->amplitude;
    const double *frequencies = angles->frequencies, *rests = angles->frequency_rests;
    for (size_t i = 0; i < angles->count; i++) {
        dd x = dd_mul(position, (dd){frequencies[i], rests[i]});
        dd entry = dd_mul(cosine ? cosine_of_dd(x) : sine_of_dd(x), amplitude);
        double error = entry.hi * 0x1p-78, above = entry.hi + (entry.lo + error) + 0.0;
        ret_below[i] = entry.hi + (entry.lo - error) + 0.0;
        bool still = position.hi == 0 || frequencies[i] == 0;
        ret_above[i] = __builtin_fabs(x.hi) >= LEAST_ANGLE || still ? above : __builtin_nan("");
    }
}

void PE_FOR_SET(pe_small)(pe_dtype dtype, const pe_small_angles *angles, bool cosine,
                          void *ret_below, void *ret_above)
{
    if (dtype != PE_F64)
        small_short(dtype, angles, cosine, ret_below, ret_above);
    else if (cosine) /* loops of constant functions */
        small_f64(angles, true, ret_below, ret_above);
    else
        small_f64(angles, false, ret_below, ret_above);
}
