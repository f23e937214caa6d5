/* Arithmetic progressions and rounding, in loops that the compiler vectorises. */
#include "kernels/lines.h"

#include "kernels/instruction_set.h"
#include "numerics/dd.h"
#include "numerics/half.h"

#include <stdint.h>

extern const pe_lines PE_FOR_SET(pe_lines);

/* ---- progressions ---- */

static void exact(double first, double step, size_t count, double *restrict ret_numbers)
{
    for (int i = 0; i < (int)count; i++)
        ret_numbers[i] = first + (double)i * step;
}

static inline __attribute__((always_inline)) void compute_sums(double offset, double step,
                                                               double row, size_t count,
                                                               bool odd,
                                                               double *restrict ret_numbers)
{
    for (int i = 0; i < (int)count; i++) {
        dd steps = dd_two_prod(row + (double)i, step);
        dd sum = dd_two_sum(offset, steps.hi);
        sum = dd_quick_two_sum(sum.hi, sum.lo + steps.lo);
        ret_numbers[i] = odd ? dd_to_odd(sum) : sum.hi;
    }
}

static void sums(double offset, double step, double row, size_t count, bool odd,
                 double *ret_numbers)
{
    if (odd)
        compute_sums(offset, step, row, count, true, ret_numbers);
    else
        compute_sums(offset, step, row, count, false, ret_numbers);
}

/* a/b rounded to nearest. With y = 1/b rounded, a·y is within 1.5 units in the last place of
 * the quotient. The rest of that is an integer of at most 52 bits times a power of two, so it
 * is exact, and rest·y corrects the quotient to within 2^-52 units. No quotient of integers
 * below 2^50 is as near to the middle between two doubles: one that is not such a middle is at
 * least 2^-51 units away from it, and a middle has too many bits. A division takes as long as
 * several of these. */
static inline double compute_quotient(double a, double b, double y)
{
#if defined(__FMA__)
    double near = a * y;
    return __builtin_fma(__builtin_fma(-near, b, a), y, near);
#else
    (void)y;
    return a / b;
#endif
}

/* a - quotient·b, which is exact. */
static inline double compute_rest(double a, double b, double quotient)
{
#if defined(__FMA__)
    return __builtin_fma(-quotient, b, a);
#else
    dd back = dd_two_prod(quotient, b);
    return (a - back.hi) - back.lo;
#endif
}

static inline __attribute__((always_inline)) void
compute_quotients(double row, double divisor, size_t count, bool odd,
                  double *restrict ret_numbers)
{
    const double inverse = 1 / divisor;
    for (int i = 0; i < (int)count; i++) {
        double dividend = row + (double)i;
        double quotient = compute_quotient(dividend, divisor, inverse);
        ret_numbers[i] =
            odd ? dd_to_odd((dd){quotient, compute_rest(dividend, divisor, quotient)})
                : quotient;
    }
}

static void quotients(double row, double divisor, size_t count, bool odd, double *ret_numbers)
{
    if (odd)
        compute_quotients(row, divisor, count, true, ret_numbers);
    else
        compute_quotients(row, divisor, count, false, ret_numbers);
}

/* ---- rounding ---- */

static void round_f16(const double *restrict numbers, size_t count, uint16_t *restrict dst)
{
    for (size_t i = 0; i < count; i++)
        dst[i] = pe_round_finite(numbers[i], PE_F16_DROPPED, PE_F16_BIAS);
}

static void round_bf16(const double *restrict numbers, size_t count, uint16_t *restrict dst)
{
    for (size_t i = 0; i < count; i++)
        dst[i] = pe_round_finite(numbers[i], PE_BF16_DROPPED, PE_BF16_BIAS);
}

static void round_f32(const double *restrict numbers, size_t count, float *restrict dst)
{
    for (size_t i = 0; i < count; i++)
        dst[i] = (float)numbers[i] + 0.0F;
}

static void round_f64(const double *restrict numbers, size_t count, double *restrict dst)
{
    for (size_t i = 0; i < count; i++)
        dst[i] = numbers[i] + 0.0;
}

static void round_numbers(pe_dtype dtype, const double *numbers, size_t count, void *dst)
{
    if (dtype == PE_F32)
        round_f32(numbers, count, dst);
    else if (dtype == PE_F64)
        round_f64(numbers, count, dst);
    else if (dtype == PE_F16)
        round_f16(numbers, count, dst);
    else
        round_bf16(numbers, count, dst);
}

const pe_lines PE_FOR_SET(pe_lines) = {
    .exact = exact,
    .sums = sums,
    .quotients = quotients,
    .round = round_numbers,
};
