/* Rotation, and rounding of its results to f32, f16 and bf16, in plain C. Only kernel.c
 * includes this file.
 *
 * An entry's error is below 2^-50 (rows_by_distance.c derives it). In a shorter dtype that
 * changes the rounded value only where a rounding boundary lies as near. Two tests find such
 * entries. The first test is a few integer operations on every entry; it also reports entries
 * that are harmless, among them all small ones. The second test is exact and looks only at the
 * rows that the first one reports. */
#ifndef PE_KERNEL_ROUND_H
#define PE_KERNEL_ROUND_H

#include "kernels/kernel.h"

#include <string.h>

static inline uint64_t bits64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline uint32_t bits32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* 2^exponent, for normal numbers. */
static inline double power_of_two(int exponent)
{
    uint64_t bits = (uint64_t)(1023 + exponent) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
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

/* Round and store one row of sines and cosines. Returns whether an entry is uncertain. */
typedef bool round_row(const double *sines, const double *cosines, size_t count, int exponent,
                       void *to_sines, void *to_cosines);

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
#define F16_DROPPED  13 /* of an f32 */
#define BF16_DROPPED 16

/* Bits of the largest f32 that counts as small. */
static inline uint32_t small_f32(int exponent)
{
    return (uint32_t)(127 + exponent - SMALL_BITS) << 23;
}

/* Test one entry. `rounded` is the value as f32; the result's sign bit is set if the entry is
 * doubtful. */
static inline uint32_t doubt_f32(double value, uint32_t rounded, uint32_t small)
{
    uint32_t dropped = ((uint32_t)bits64(value) - F32_HALF + F32_MARGIN) & (2 * F32_HALF - 1);
    return (dropped - 2 * F32_MARGIN) | ((rounded & 0x7fffffff) - small - 1);
}

static inline __attribute__((always_inline)) bool
first_f32(const double *restrict sines, const double *restrict cosines, size_t count,
          uint32_t small, float *restrict to_sines, float *restrict to_cosines)
{
    uint32_t doubt = 0;
    size_t step = to_cosines ? 1 : 2;
    float *second = to_cosines ? to_cosines : to_sines + 1;
    for (size_t i = 0; i < count; i++) {
        float sine = (float)sines[i], cosine = (float)cosines[i];
        doubt |= doubt_f32(sines[i], bits32(sine), small);
        doubt |= doubt_f32(cosines[i], bits32(cosine), small);
        to_sines[step * i] = sine;
        second[step * i] = cosine;
    }
    return doubt >> 31;
}

/* Round a double to f32 and add half a unit of a dtype that has `dropped` bits less; cut_16
 * then drops these. Sets the sign bit of *doubt if the f32 is half-way between two values of
 * the dtype, or small. */
static inline uint32_t lift_16(double value, unsigned dropped, uint32_t small, uint32_t *doubt)
{
    uint32_t bits = bits32((float)value), lifted = bits + (1U << (dropped - 1));
    *doubt |= ((lifted & ((1U << dropped) - 1)) - 1) | ((bits & 0x7fffffff) - small - 1);
    return lifted;
}

/* Drop the bits that f16 or bf16 does not have. */
static inline uint16_t cut_16(uint32_t lifted, unsigned dropped)
{
    if (dropped == BF16_DROPPED)
        return (uint16_t)(lifted >> BF16_DROPPED);
    return (uint16_t)((lifted >> 16 & 0x8000) |
                      (((lifted & 0x7fffffff) >> F16_DROPPED) - (112 << 10)));
}

static inline __attribute__((always_inline)) bool
first_16(const double *restrict sines, const double *restrict cosines, size_t count,
         unsigned dropped, uint32_t small, uint16_t *restrict to_sines,
         uint16_t *restrict to_cosines)
{
    uint32_t doubt = 0;
    size_t step = to_cosines ? 1 : 2;
    uint16_t *second = to_cosines ? to_cosines : to_sines + 1;
    for (size_t i = 0; i < count; i++) {
        uint32_t sine = lift_16(sines[i], dropped, small, &doubt);
        uint32_t cosine = lift_16(cosines[i], dropped, small, &doubt);
        to_sines[step * i] = cut_16(sine, dropped);
        second[step * i] = cut_16(cosine, dropped);
    }
    return doubt >> 31;
}

/* ---- the second test ---- */

/* Whether an entry rounds differently at the two ends of its error interval. The interval has
 * twice the error of one rotation on each side, because the stored entries may come from
 * another order of operations than the ones that are tested here. */
static inline bool second_f32(const double *sines, const double *cosines, size_t count,
                              int exponent, void *to_sines, void *to_cosines)
{
    (void)to_sines, (void)to_cosines;
    double reach = power_of_two(exponent - PE_CERTAIN_BITS + 1);
    uint32_t differences = 0;
    for (size_t i = 0; i < count; i++) {
        differences |= bits32((float)(sines[i] - reach)) ^ bits32((float)(sines[i] + reach));
        differences |=
            bits32((float)(cosines[i] - reach)) ^ bits32((float)(cosines[i] + reach));
    }
    return differences != 0;
}

/* Round a double to a dtype that drops `dropped` of its bits and whose exponent bias is `bias`
 * less. Sets *uncertain if the entry is near a rounding boundary or below
 * 2^(exponent - small_bits); for all others the result is right. */
static inline uint16_t round_16(double value, unsigned dropped, uint64_t bias, int exponent,
                                unsigned small_bits, bool *uncertain)
{
    uint64_t bits = bits64(value), magnitude = bits & 0x7fffffffffffffff;
    uint64_t lifted = magnitude + (1ULL << (dropped - 1));
    uint64_t margin = 1ULL << (small_bits + 52 - PE_CERTAIN_BITS);
    uint64_t least = (uint64_t)(1023 + exponent - (int)small_bits) << 52;
    *uncertain |= ((lifted + margin) & ((1ULL << dropped) - 1)) < 2 * margin;
    *uncertain |= magnitude < least;
    return (uint16_t)((bits >> 48 & 0x8000) | ((lifted >> dropped) - (bias << (52 - dropped))));
}

/* Round a row again, straight from the doubles. Returns whether an entry is uncertain. */
static inline __attribute__((always_inline)) bool
second_16(const double *sines, const double *cosines, size_t count, int exponent,
          unsigned dropped, uint64_t bias, unsigned small_bits, uint16_t *to_sines,
          uint16_t *to_cosines)
{
    bool uncertain = false;
    size_t step = to_cosines ? 1 : 2;
    uint16_t *second = to_cosines ? to_cosines : to_sines + 1;
    for (size_t i = 0; i < count; i++) {
        to_sines[step * i] =
            round_16(sines[i], dropped, bias, exponent, small_bits, &uncertain);
        second[step * i] =
            round_16(cosines[i], dropped, bias, exponent, small_bits, &uncertain);
    }
    return uncertain;
}

static inline bool second_f16(const double *sines, const double *cosines, size_t count,
                              int exponent, void *to_sines, void *to_cosines)
{
    /* small are entries below the smallest normal number, 2^-14; callers pass exponent >= 0 */
    return second_16(sines, cosines, count, exponent, 42, 1008, 14, to_sines, to_cosines);
}

static inline bool second_bf16(const double *sines, const double *cosines, size_t count,
                               int exponent, void *to_sines, void *to_cosines)
{
    return second_16(sines, cosines, count, exponent, 45, 896, 24, to_sines, to_cosines);
}

/* ---- both tests: round and store a row, and tell whether an entry is uncertain ---- */

static inline bool round_f32(const double *sines, const double *cosines, size_t count,
                             int exponent, void *to_sines, void *to_cosines)
{
    uint32_t small = small_f32(exponent);
    bool doubtful = to_cosines ? first_f32(sines, cosines, count, small, to_sines, to_cosines)
                               : first_f32(sines, cosines, count, small, to_sines, NULL);
    return doubtful && second_f32(sines, cosines, count, exponent, to_sines, to_cosines);
}

/* The same for a dtype of 16 bits. */
static inline __attribute__((always_inline)) bool
round_and_test_16(const double *sines, const double *cosines, size_t count, int exponent,
                  unsigned dropped, round_row *second, void *to_sines, void *to_cosines)
{
    uint32_t small = small_f32(exponent);
    bool doubtful = to_cosines
                        ? first_16(sines, cosines, count, dropped, small, to_sines, to_cosines)
                        : first_16(sines, cosines, count, dropped, small, to_sines, NULL);
    return doubtful && second(sines, cosines, count, exponent, to_sines, to_cosines);
}

static inline bool round_f16(const double *sines, const double *cosines, size_t count,
                             int exponent, void *to_sines, void *to_cosines)
{
    return round_and_test_16(sines, cosines, count, exponent, F16_DROPPED, second_f16, to_sines,
                             to_cosines);
}

static inline bool round_bf16(const double *sines, const double *cosines, size_t count,
                              int exponent, void *to_sines, void *to_cosines)
{
    return round_and_test_16(sines, cosines, count, exponent, BF16_DROPPED, second_bf16,
                             to_sines, to_cosines);
}

/* Doubles are stored as they come: seeds, and rows that the caller rounds. Rows of f64 that are
 * rounded correctly come from kernel_f64.h. */
static inline bool round_f64(const double *sines, const double *cosines, size_t count,
                             int exponent, void *to_sines, void *to_cosines)
{
    double *restrict sine = to_sines, *restrict cosine = to_cosines;
    (void)exponent;
    if (cosine)
        for (size_t i = 0; i < count; i++) {
            sine[i] = sines[i] + 0.0; /* no negative zero */
            cosine[i] = cosines[i] + 0.0;
        }
    else
        for (size_t i = 0; i < count; i++) {
            sine[2 * i] = sines[i] + 0.0;
            sine[2 * i + 1] = cosines[i] + 0.0;
        }
    return false;
}

#endif
