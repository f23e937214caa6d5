/* Rotation in plain C, and the tests of entries that are rounded to f32, f16 and bf16. Only
 * kernel.c includes this file.
 *
 * An entry's error is below 2^-50 (rows_by_distance.c derives it). In a shorter dtype that
 * changes the rounded value only where a rounding boundary lies as near. Two tests find such
 * entries. The first test is a few integer operations on every entry; it also reports entries
 * that are harmless, among them all small ones. The second test is exact and looks only at the
 * rows that the first one reports. */
#ifndef PE_KERNEL_ROUND_H
#define PE_KERNEL_ROUND_H

#include "kernels/kernel.h"
#include "numerics/double_bits.h"

#include <string.h>

/* Where the entries of a row are stored. */
typedef enum arrangement {
    PAIRS, /* a sine and its cosine by turns */
    APART, /* sines and cosines in two places */
    ALONE, /* sines alone */
} arrangement;

/* How a call stores its rows: constants after inlining. */
typedef struct rotation_mode {
    pe_dtype dtype;
    arrangement arranged;
    bool nontemporal; /* non-temporal stores */
} rotation_mode;

/* 2^exponent, for normal numbers. */
static inline double power_of_two(int exponent)
{
    return pe_double_of_bits((uint64_t)(1023 + exponent) << 52);
}

/* Compute the sines and cosines of a + b, or of a - b if `back`. */
static inline __attribute__((always_inline)) void turn(pe_sincos a, pe_sincos b, bool back,
                                                       size_t count, double *restrict sines,
                                                       double *restrict cosines)
{
    if (back)
        for (size_t i = 0; i < count; i++) {
            sines[i] = a.sin[i] * b.cos[i] - a.cos[i] * b.sin[i];
            cosines[i] = a.cos[i] * b.cos[i] + a.sin[i] * b.sin[i];
        }
    else
        for (size_t i = 0; i < count; i++) {
            sines[i] = a.sin[i] * b.cos[i] + a.cos[i] * b.sin[i];
            cosines[i] = a.cos[i] * b.cos[i] - a.sin[i] * b.sin[i];
        }
}

/* ---- the first test ----
 *
 * It reports every entry below 2^(exponent - SMALL_BITS). For all others 2^-50 is at most
 * F32_MARGIN units in the last place of a double. A double is half-way between two f32 where
 * the 29 bits that f32 drops are 100…0, so the test compares these bits with that pattern.
 *
 * f16 and bf16 are rounded from f32. Rounding to f32 first is monotonic, and the double's error
 * is below half of f32's last place; so the result is right unless the f32 itself is half-way
 * between two values of the dtype. */
#define SMALL_BITS   13
#define F32_DROPPED  29
#define F32_MARGIN   (1U << (SMALL_BITS + 52 - PE_CERTAIN_BITS))
#define F32_HALF     (1U << (F32_DROPPED - 1))
#define TIE_ADD      (F32_MARGIN - F32_HALF) /* clears the bits of TIE_TEST near a boundary */
#define TIE_TEST     ((2 * F32_HALF - 1) & ~(2 * F32_MARGIN - 1))
#define F16_DROPPED  13 /* of an f32 */
#define BF16_DROPPED 16

/* In f16 and bf16 entries are small below 2^(exponent - these). For f16 that is 2^-14, its
 * smallest normal number, where the exponent is 0. */
#define F16_SMALL_BITS  14
#define BF16_SMALL_BITS 20

/* ---- the second test ---- */

/* Test entries, and round and store those of f16 and bf16 again. Returns whether one is
 * uncertain. */
typedef bool second_test(const double *entries, size_t count, int exponent, void *to);

/* Whether an entry rounds differently at the two ends of its error interval. The interval has
 * twice the error of one rotation on each side, because the stored entries may come from
 * another order of operations than the ones that are tested here. */
static bool second_f32(const double *entries, size_t count, int exponent, void *to)
{
    (void)to;
    double slack = power_of_two(exponent - PE_CERTAIN_BITS + 1);
    uint32_t differences = 0;
    for (size_t i = 0; i < count; i++)
        differences |= pe_bits_of_float((float)(entries[i] - slack)) ^
                       pe_bits_of_float((float)(entries[i] + slack));
    return differences != 0;
}

/* What the second test found in the entries of f16 or bf16. */
typedef struct findings {
    bool near;  /* one is near a rounding boundary, if it is not small */
    bool small; /* one is below 2^(exponent - small_bits) */
} findings;

/* Round doubles to a dtype that drops `dropped` of their bits and whose exponent bias is `bias`
 * less. Entries that are neither near a rounding boundary nor small are rounded right. */
static inline __attribute__((always_inline)) findings
second_16(const double *restrict entries, size_t count, int exponent, unsigned dropped,
          uint64_t bias, unsigned small_bits, uint16_t *restrict to)
{
    const uint64_t margin = 1ULL << (small_bits + 52 - PE_CERTAIN_BITS);
    const uint64_t least = (uint64_t)(1023 + exponent - (int)small_bits) << 52;
    uint64_t near = 0, small = 0; /* sign bits */
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = pe_bits_of_double(entries[i]), magnitude = bits & 0x7fffffffffffffff;
        uint64_t lifted = magnitude + (1ULL << (dropped - 1));
        near |= ((lifted + margin) & ((1ULL << dropped) - 1)) - 2 * margin;
        small |= magnitude - least;
        to[i] = (uint16_t)((bits >> 48 & 0x8000) |
                           ((lifted >> dropped) - (bias << (52 - dropped))));
    }
    return (findings){.near = near >> 63, .small = small >> 63};
}

/* Round the entries below the smallest normal number of f16, 2^-14: to multiples of 2^-24, as
 * the sum with 2^28 does. Returns whether one is uncertain, as those are that may be 0. */
static bool round_subnormal(const double *entries, size_t count, int exponent, uint16_t *to)
{
    const double slack = power_of_two(exponent - PE_CERTAIN_BITS + 1);
    bool uncertain = false;
    for (size_t i = 0; i < count; i++) {
        double magnitude = __builtin_fabs(entries[i]);
        if (magnitude >= 0x1p-14)
            continue;
        uint64_t below = pe_bits_of_double(magnitude - slack + 0x1p28);
        uncertain |=
            below != pe_bits_of_double(magnitude + slack + 0x1p28) || (uint16_t)below == 0;
        to[i] = (uint16_t)((pe_bits_of_double(entries[i]) >> 48 & 0x8000) | (uint16_t)below);
    }
    return uncertain;
}

static bool second_f16(const double *entries, size_t count, int exponent, void *to)
{
    findings found = second_16(entries, count, exponent, 42, 1008, 14, to);
    if (found.small && exponent == 0) /* small are just those that are not normal */
        found.small = round_subnormal(entries, count, exponent, to);
    return found.near || found.small;
}

static bool second_bf16(const double *entries, size_t count, int exponent, void *to)
{
    findings found = second_16(entries, count, exponent, 45, 896, 24, to);
    return found.near || found.small;
}

#endif
