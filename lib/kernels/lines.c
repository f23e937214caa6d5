/* Arithmetic progressions and rounding, in loops that the compiler vectorises. */
#include "kernels/lines.h"

#include "kernels/instruction_set.h"
#include "numerics/dd.h"
#include "numerics/half.h"

#include <stdint.h>
#include <string.h>
#if defined(__AVX2__) && defined(__F16C__)
#define HAS_F16C
#include <immintrin.h>
#endif

extern const pe_lines PE_FOR_SET(pe_lines);

/* ---- progressions ---- */

static void exact(double first, double step, size_t count, double *restrict ret_numbers)
{
    for (int i = 0; i < (int)count; i++)
        ret_numbers[i] = first + (double)i * step;
}

#if defined(HAS_F16C)
/* -0 becomes +0. */
static inline __m256i clear_zeros(__m256i halves)
{
    const __m256i negative = _mm256_set1_epi16(INT16_MIN);
    return _mm256_andnot_si256(_mm256_cmpeq_epi16(halves, negative), halves);
}

static inline __m256i round_floats(__m256 a, __m256 b)
{
    const __m128i low = _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT);
    const __m128i high = _mm256_cvtps_ph(b, _MM_FROUND_TO_NEAREST_INT);
    return clear_zeros(_mm256_set_m128i(high, low));
}

/* Write the first numbers, sixteen at a time. Returns how many. */
static size_t exact_f16_wide(float first, float step, size_t count, uint16_t *dst)
{
    const __m256 indices = _mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256 steps = _mm256_mul_ps(indices, _mm256_set1_ps(step));
    __m256 low = _mm256_add_ps(_mm256_set1_ps(first), steps);
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const __m256 high = _mm256_add_ps(low, _mm256_set1_ps(8 * step));
        _mm256_storeu_si256((__m256i *)(void *)(dst + i), round_floats(low, high));
        low = _mm256_add_ps(_mm256_set1_ps(first + (float)(i + 16) * step), steps);
    }
    return i;
}
#else
static size_t exact_f16_wide(float first, float step, size_t count, uint16_t *dst)
{
    (void)first, (void)step, (void)count, (void)dst;
    return 0;
}
#endif

static void exact_16(pe_dtype dtype, float first, float step, size_t count,
                     uint16_t *restrict dst)
{
    if (dtype == PE_F16) {
        for (size_t i = exact_f16_wide(first, step, count, dst); i < count; i++)
            dst[i] =
                pe_round_finite((double)(first + (float)i * step), PE_F16_DROPPED, PE_F16_BIAS);
        return;
    }
    for (int i = 0; i < (int)count; i++) {
        uint32_t bits = pe_bits_of_float(first + (float)i * step + 0.0F);
        dst[i] = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    }
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

#if defined(HAS_F16C)
/* Four doubles rounded to odd at the 24 bits of a float: the float rounds as they do. What is
 * too small for a float is 0 in f16. */
static inline __m128 round_to_odd_floats(const double *numbers)
{
    const __m256i dropped = _mm256_set1_epi64x((1 << 29) - 1);
    const __m256i bits = _mm256_loadu_si256((const __m256i *)(const void *)numbers);
    const __m256i carry = _mm256_add_epi64(_mm256_and_si256(bits, dropped), dropped);
    const __m256i odd = _mm256_andnot_si256(dropped, _mm256_or_si256(bits, carry));
    return _mm256_cvtpd_ps(_mm256_castsi256_pd(odd));
}

/* Round the first numbers, sixteen at a time. Returns how many. */
static size_t round_f16_wide(const double *numbers, size_t count, uint16_t *dst)
{
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        __m128 parts[4];
        for (size_t p = 0; p < 4; p++)
            parts[p] = round_to_odd_floats(numbers + i + 4 * p);
        const __m256 low = _mm256_set_m128(parts[1], parts[0]);
        const __m256 high = _mm256_set_m128(parts[3], parts[2]);
        _mm256_storeu_si256((__m256i *)(void *)(dst + i), round_floats(low, high));
    }
    return i;
}
#else
static size_t round_f16_wide(const double *numbers, size_t count, uint16_t *dst)
{
    (void)numbers, (void)count, (void)dst;
    return 0;
}
#endif

static void round_f16(const double *restrict numbers, size_t count, uint16_t *restrict dst)
{
    for (size_t i = round_f16_wide(numbers, count, dst); i < count; i++)
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

static bool round_f32_about(const double *restrict numbers, double error, size_t count,
                            float *restrict dst)
{
    uint32_t differences = 0;
    for (size_t i = 0; i < count; i++) {
        float low = (float)(numbers[i] - error) + 0.0F;
        float high = (float)(numbers[i] + error) + 0.0F;
        dst[i] = low;
        differences |= pe_bits_of_float(low) ^ pe_bits_of_float(high);
    }
    return differences == 0;
}

static bool round_about(pe_dtype dtype, const double *numbers, double error, size_t count,
                        void *dst)
{
    double ends[PE_LINE_MAX];
    unsigned char above[sizeof ends];
    if (dtype == PE_F32)
        return round_f32_about(numbers, error, count, dst);
    ends[0] = 0; /* the compiler does not know that there is a number */
    for (size_t i = 0; i < count; i++)
        ends[i] = numbers[i] - error;
    round_numbers(dtype, ends, count, dst);
    for (size_t i = 0; i < count; i++)
        ends[i] = numbers[i] + error;
    round_numbers(dtype, ends, count, above);
    return memcmp(dst, above, count * pe_dtype_size(dtype)) == 0;
}

const pe_lines PE_FOR_SET(pe_lines) = {
    .exact = exact,
    .exact_16 = exact_16,
    .sums = sums,
    .quotients = quotients,
    .round = round_numbers,
    .round_about = round_about,
};
