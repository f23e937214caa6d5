/* Vectors of doubles, floats and integers in gcc's vector types: conversions, sums and orders
 * of their parts. Only kernel_vector.h includes this file. */
#ifndef PE_KERNEL_VECTOR_TYPES_H
#define PE_KERNEL_VECTOR_TYPES_H

#include "kernels/kernel_round.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define INLINED static inline __attribute__((always_inline))

#if defined(__AVX2__)
#define WIDTH 4
#else
#define WIDTH 2 /* SSE2, NEON */
#endif

/* Vectors of WIDTH doubles, and of as many bytes. */
typedef double doubles __attribute__((vector_size(8 * WIDTH)));
typedef float floats __attribute__((vector_size(8 * WIDTH)));
#if defined(__SSE2__)
typedef __m128 few_floats; /* WIDTH of them, and zeros */
#else
typedef float few_floats __attribute__((vector_size(4 * WIDTH)));
#endif
typedef uint64_t longs __attribute__((vector_size(8 * WIDTH)));
typedef uint32_t words __attribute__((vector_size(8 * WIDTH)));
typedef uint16_t shorts __attribute__((vector_size(8 * WIDTH)));
typedef int16_t signed_shorts __attribute__((vector_size(8 * WIDTH)));

INLINED doubles load_doubles(const double *from)
{
    doubles loaded;
    memcpy(&loaded, from, sizeof loaded);
    return loaded;
}

/* Conversion; the lanes of a, then those of b; the lanes of a and b by turns. */
#if WIDTH == 4
INLINED few_floats to_few_floats(doubles a)
{
    return _mm256_cvtpd_ps((__m256d)a);
}

INLINED floats join_floats(few_floats a, few_floats b)
{
    return (floats)_mm256_insertf128_ps(_mm256_castps128_ps256(a), b, 1);
}

INLINED floats interleave_floats(few_floats a, few_floats b)
{
    return join_floats(_mm_unpacklo_ps(a, b), _mm_unpackhi_ps(a, b));
}
#elif defined(__SSE2__)
INLINED few_floats to_few_floats(doubles a)
{
    return _mm_cvtpd_ps((__m128d)a);
}

INLINED floats join_floats(few_floats a, few_floats b)
{
    return (floats)_mm_movelh_ps(a, b);
}

INLINED floats interleave_floats(few_floats a, few_floats b)
{
    return (floats)_mm_unpacklo_ps(a, b);
}
#else
INLINED few_floats to_few_floats(doubles a)
{
    return __builtin_convertvector(a, few_floats);
}

INLINED floats join_floats(few_floats a, few_floats b)
{
    return __builtin_shufflevector(a, b, 0, 1, 2, 3);
}

INLINED floats interleave_floats(few_floats a, few_floats b)
{
    return __builtin_shufflevector(a, b, 0, 2, 1, 3);
}
#endif

/* sum ± a·b. Whether that is rounded once or twice does not show: an entry is rounded correctly
 * or reported as doubtful. */
INLINED doubles add_product(doubles sum, doubles a, doubles b)
{
#if WIDTH == 4 && defined(__FMA__)
    return (doubles)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)sum);
#else
    return sum + a * b;
#endif
}

INLINED doubles subtract_product(doubles sum, doubles a, doubles b)
{
#if WIDTH == 4 && defined(__FMA__)
    return (doubles)_mm256_fnmadd_pd((__m256d)a, (__m256d)b, (__m256d)sum);
#else
    return sum - a * b;
#endif
}

/* Doubles as floats of whole units, of which `units` are 1.5·2^52: those of a and b in the
 * first half, then those in the second half. */
INLINED words to_fixed_floats(doubles a, doubles b, doubles units)
{
    const doubles x = a + units, y = b + units;
#if WIDTH == 4
    const __m256 lower = _mm256_shuffle_ps((__m256)x, (__m256)y, 0x88);
    return (words)_mm256_cvtepi32_ps((__m256i)lower);
#elif defined(__SSE2__)
    return (words)_mm_cvtepi32_ps((__m128i)_mm_shuffle_ps((__m128)x, (__m128)y, 0x88));
#else
    typedef int32_t integers __attribute__((vector_size(8 * WIDTH)));
    const integers lower = __builtin_shufflevector((integers)x, (integers)y, 0, 2, 4, 6);
    return (words) __builtin_convertvector(lower, floats);
#endif
}

/* The lower half of each word of a with the upper half of the same one of b. */
INLINED shorts merge_halves(words a, words b)
{
#if WIDTH == 4
    return (shorts)_mm256_blend_epi16((__m256i)a, (__m256i)b, 0xaa);
#else
    return __builtin_shufflevector((shorts)a, (shorts)b, 0, 9, 2, 11, 4, 13, 6, 15);
#endif
}

/* Put the entries of a unit in the order of the columns: those of two vectors, and of the other
 * two, come by turns. */
INLINED shorts put_in_order(shorts merged, arrangement arranged)
{
#if WIDTH == 4
    if (arranged == PAIRS)
        return (shorts)_mm256_permute4x64_epi64((__m256i)merged, 0xd8);
    const __m256i by_turns =
        _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15, 0, 1, 4, 5, 8, 9,
                         12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
    const __m256i by_halves = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const __m256i apart = _mm256_shuffle_epi8((__m256i)merged, by_turns);
    return (shorts)_mm256_permutevar8x32_epi32(apart, by_halves);
#else
    return arranged == PAIRS ? merged
                             : __builtin_shufflevector(merged, merged, 0, 2, 4, 6, 1, 3, 5, 7);
#endif
}

#endif
