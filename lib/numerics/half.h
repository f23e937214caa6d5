/* Numbers of 16 bits: float16 has 10 stored bits of fraction and a bias of 15, bfloat16 is the
 * upper half of a float. Inline, and free of branches, so that loops over them vectorise. */
#ifndef PE_HALF_H
#define PE_HALF_H

#include "numerics/double_bits.h"

/* What a double loses: bits of its fraction, and of its exponent's bias. */
enum { PE_F16_DROPPED = 42, PE_F16_BIAS = 1008, PE_BF16_DROPPED = 45, PE_BF16_BIAS = 896 };

/* Round a finite double that does not overflow to a 16-bit format, ties to even; zeros become
 * +0. Adding 2^52 units of the smallest subnormal number leaves numbers below the smallest
 * normal one as a count of these units in the last bits. */
static inline uint16_t pe_round_finite(double value, unsigned dropped, uint64_t bias)
{
    const double lift = pe_double_of_bits((bias + 52 + dropped - 51) << 52);
    const int64_t least = (int64_t)((bias + 1) << 52); /* vectors compare signed numbers */
    uint64_t bits = pe_bits_of_double(value), magnitude = bits & ~(1ULL << 63);
    uint64_t half = (1ULL << (dropped - 1)) - 1 + (magnitude >> dropped & 1);
    uint64_t normal = ((magnitude + half) >> dropped) - (bias << (52 - dropped));
    uint64_t small =
        pe_bits_of_double(pe_double_of_bits(magnitude) + lift) - pe_bits_of_double(lift);
    uint64_t rounded = (int64_t)magnitude < least ? small : normal;
    uint64_t sign = bits >> 48 & 0x8000;
    return (uint16_t)(rounded ? rounded | sign : 0);
}

/* The same of any double that does not overflow: infinities stay what they are, and so does
 * NaN. */
static inline uint16_t pe_round_to_half(double value, unsigned dropped, uint64_t bias)
{
    const uint64_t infinity = 0x7ffULL << 52, fraction = 52 - dropped;
    uint64_t bits = pe_bits_of_double(value), magnitude = bits & ~(1ULL << 63);
    uint64_t special = 0x7fffULL >> fraction << fraction;
    special |= (uint64_t)(magnitude > infinity) << (fraction - 1) | (bits >> 48 & 0x8000);
    return magnitude >= infinity ? (uint16_t)special : pe_round_finite(value, dropped, bias);
}

/* The value of a float16: the exponent is shifted by a product, which is exact. */
static inline float pe_float_of_f16(uint16_t half)
{
    uint32_t bits = half, rest = bits & 0x7fff, sign = (bits & 0x8000) << 16;
    uint32_t finite = pe_bits_of_float(pe_float_of_bits(rest << 13) * 0x1p112F);
    uint32_t special = 0x7f800000 | (rest & 0x3ff) << 13;
    return pe_float_of_bits(sign | (rest >= 0x7c00 ? special : finite));
}

static inline float pe_float_of_bf16(uint16_t half)
{
    return pe_float_of_bits((uint32_t)half << 16);
}

/* The bfloat16 that a float is already. */
static inline uint16_t pe_bf16_of_float(float value)
{
    return (uint16_t)(pe_bits_of_float(value) >> 16);
}

#endif
