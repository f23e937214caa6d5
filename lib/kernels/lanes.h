/* Vectors of 64-bit integers, as wide as the instruction set has them; a single integer where
 * it has none that are fast. The same source gives the same bits at every width. */
#ifndef PE_LANES_H
#define PE_LANES_H

#include "numerics/limbs.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#if defined(__AVX512BW__)
#define LANES 8
#elif defined(__AVX2__)
#define LANES 4
#else
#define LANES 1
#endif

#if LANES > 1
typedef uint64_t lanes __attribute__((vector_size(8 * LANES)));
typedef uint32_t lanes_of_32 __attribute__((vector_size(8 * LANES)));
typedef uint16_t lanes_of_16 __attribute__((vector_size(8 * LANES)));
#else
typedef uint64_t lanes, lanes_of_32, lanes_of_16; /* no product overflows its 32 or 16 bits */
#endif

/* The value in every lane. */
static inline lanes fill_lanes(uint64_t value)
{
    return (lanes){0} + value;
}

static inline lanes lanes_load(const uint64_t *from)
{
    lanes loaded;
    memcpy(&loaded, from, sizeof loaded);
    return loaded;
}

static inline void lanes_store(uint64_t *to, lanes stored)
{
    memcpy(to, &stored, sizeof stored);
}

/* The 64-bit products of the low 32 bits. */
static inline lanes lanes_multiply(lanes a, lanes b)
{
#if LANES == 8
    return (lanes)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif LANES == 4
    return (lanes)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#else
    return (a & 0xffffffff) * (b & 0xffffffff);
#endif
}

/* floor(a · b / 2^32) for b below 2^32. */
static inline lanes lanes_multiply_wide(lanes a, lanes b)
{
#if LANES > 1
    return lanes_multiply(a >> 32, b) + (lanes_multiply(a, b) >> 32);
#else
    return (lanes)((pe_uint128)a * b >> 32);
#endif
}

/* Multiply each lane (below 2^32), or each of its 32-bit or 16-bit parts, by a factor. No
 * product may overflow its lane or part. */
static inline lanes lanes_times(lanes a, uint32_t factor)
{
    return lanes_multiply(a, fill_lanes(factor));
}

static inline lanes lanes_times_32(lanes a, uint32_t factor)
{
    return (lanes)((lanes_of_32)a * factor);
}

static inline lanes lanes_times_16(lanes a, uint16_t factor)
{
    return (lanes)((lanes_of_16)a * factor);
}

/* 1 where a < b, for numbers that differ by less than 2^63. */
static inline lanes lanes_less(lanes a, lanes b)
{
    return (a - b) >> 63;
}

/* a where flag is 1, b where it is 0. */
static inline lanes lanes_choose(lanes flag, lanes a, lanes b)
{
    return b ^ ((a ^ b) & -flag);
}

/* Store one byte for each lane: bit i is set if byte i of the lane is not 0. All bytes must be
 * below 128. */
static inline void lanes_store_nonzero(uint8_t *to, lanes bytes)
{
#if LANES == 8
    uint64_t mask = _mm512_test_epi8_mask((__m512i)bytes, (__m512i)bytes);
    memcpy(to, &mask, sizeof mask);
#elif LANES == 4
    __m256i zero = _mm256_cmpeq_epi8((__m256i)bytes, _mm256_setzero_si256());
    uint32_t mask = ~(uint32_t)_mm256_movemask_epi8(zero);
    memcpy(to, &mask, sizeof mask);
#else
    uint64_t high_bits = (bytes + 0x7f7f7f7f7f7f7f7f) & 0x8080808080808080;
    *to = (uint8_t)(high_bits * 0x2040810204081 >> 56);
#endif
}

#endif
