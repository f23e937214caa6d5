/* Anchors in AVX-512 intrinsics, eight at a time. Only kernel.c includes this file. They use
 * the same operations in the same order as the plain C of kernel.c, so they have the same bits.
 */
#ifndef PE_KERNEL_AVX512_ANCHOR_H
#define PE_KERNEL_AVX512_ANCHOR_H

#include "kernels/kernel.h"
#include "numerics/sine_table.h"

#if defined(__AVX512BW__) && defined(__AVX512DQ__)
#include <immintrin.h>

#define INLINED static inline __attribute__((always_inline))

#define SIGN_BIT (1ULL << 63)

/* square·inner + term without fusing: one step of Horner's rule. */
INLINED __m512d multiply_add(__m512d square, __m512d inner, double term)
{
    return _mm512_add_pd(_mm512_set1_pd(term), _mm512_mul_pd(square, inner));
}

/* Look up entry start + j % 16 of a table, for eight j. */
INLINED __m512d gather_sines(const double *table, size_t start, __m512i j)
{
    return _mm512_permutex2var_pd(_mm512_loadu_pd(table + start), j,
                                  _mm512_loadu_pd(table + start + 8));
}

/* Compute x = 2π·rest/2^64 from two halves of 32 bits, as kernel.c does. */
INLINED __m512d compute_radians(__m512i rest, double turn)
{
    __m512i low = _mm512_srai_epi64(_mm512_slli_epi64(rest, 32), 32);
    __m512i high = _mm512_srai_epi64(_mm512_sub_epi64(rest, low), 32);
    return _mm512_add_pd(
        _mm512_mul_pd(_mm512_cvtepi64_pd(high), _mm512_set1_pd(turn * 0x1p-32)),
        _mm512_mul_pd(_mm512_cvtepi64_pd(low), _mm512_set1_pd(turn * 0x1p-64)));
}

/* Negate where bit 5 of the step is set. */
INLINED __m512d negate_past_half(__m512d value, __m512i step)
{
    __m512i sign =
        _mm512_and_si512(_mm512_slli_epi64(step, 58), _mm512_set1_epi64((long long)SIGN_BIT));
    return _mm512_castsi512_pd(_mm512_xor_si512(_mm512_castpd_si512(value), sign));
}

/* Compute eight anchors. */
INLINED void anchor_octet(__m512i phase, double turn, __m512d *ret_sin, __m512d *ret_cos)
{
    const __m512i half = _mm512_set1_epi64(1LL << 57), quarter = _mm512_set1_epi64(16);
    __m512i step = _mm512_srli_epi64(_mm512_add_epi64(phase, half), 58);
    __m512d x = compute_radians(_mm512_sub_epi64(phase, _mm512_slli_epi64(step, 58)), turn);
    __m512d square = _mm512_mul_pd(x, x);
    __m512d inner =
        multiply_add(square, _mm512_set1_pd(0x1.71de3a556c734p-19), -0x1.a01a01a01a01ap-13);
    inner = multiply_add(square, inner, 0x1.1111111111111p-7);
    inner = multiply_add(square, inner, -0x1.5555555555555p-3);
    __m512d sine = _mm512_add_pd(x, _mm512_mul_pd(_mm512_mul_pd(x, square), inner));
    inner = multiply_add(square, _mm512_set1_pd(0x1.a01a01a01a01ap-16), -0x1.6c16c16c16c17p-10);
    inner = multiply_add(square, inner, 0x1.5555555555555p-5);
    __m512d versine = _mm512_mul_pd(square, multiply_add(square, inner, -0.5));
    /* look up the first quarter turn: by symmetry the rest of the table repeats it */
    __m512d s = gather_sines(pe_sine_table, 0, step), c = gather_sines(pe_sine_table, 16, step);
    __m512d s_rest = gather_sines(pe_sine_table_rests, 0, step);
    __m512d c_rest = gather_sines(pe_sine_table_rests, 16, step);
    __m512d to_sin = _mm512_add_pd(_mm512_mul_pd(s, versine), _mm512_mul_pd(c, sine));
    __m512d to_cos = _mm512_sub_pd(_mm512_mul_pd(c, versine), _mm512_mul_pd(s, sine));
    to_sin = _mm512_add_pd(s, _mm512_add_pd(s_rest, to_sin));
    to_cos = _mm512_add_pd(c, _mm512_add_pd(c_rest, to_cos));
    __mmask8 odd = _mm512_test_epi64_mask(step, quarter);
    __m512d sin = _mm512_mask_blend_pd(odd, to_sin, to_cos); /* odd quarters swap both */
    __m512d cos = _mm512_mask_blend_pd(odd, to_cos, to_sin);
    *ret_sin = negate_past_half(sin, step);
    *ret_cos = negate_past_half(cos, _mm512_add_epi64(step, quarter));
}

/* Compute `count` anchors. Only the last, incomplete vector uses masked stores: the processor
 * cannot forward these to later loads before they have left the store buffer. */
static inline void anchor_wide(const uint64_t *phases, size_t count, double *ret_sin,
                               double *ret_cos, double turn)
{
    size_t i = 0;
    __m512d sin, cos;
    for (; i + 8 <= count; i += 8) {
        anchor_octet(_mm512_loadu_si512(phases + i), turn, &sin, &cos);
        _mm512_storeu_pd(ret_sin + i, sin);
        _mm512_storeu_pd(ret_cos + i, cos);
    }
    if (i < count) {
        __mmask8 lanes = (__mmask8)(0xffU >> (8 - (count - i)));
        anchor_octet(_mm512_maskz_loadu_epi64(lanes, phases + i), turn, &sin, &cos);
        _mm512_mask_storeu_pd(ret_sin + i, lanes, sin);
        _mm512_mask_storeu_pd(ret_cos + i, lanes, cos);
    }
}

#undef INLINED

#endif
#endif
