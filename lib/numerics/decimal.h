/* The shortest decimal that reads back as the same binary number, for kernels/print_batch.c.
 *
 * Schubfach (Raffaello Giulietti, "The Schubfach way to render doubles", 2020) scales the
 * number and the bounds of its rounding interval by a power of ten so that the shortest
 * candidates are neighbouring integers. Powers are rounded up, products rounded to odd. */
#ifndef PE_DECIMAL_H
#define PE_DECIMAL_H

#include "numerics/limbs.h"
#include "posenc.h"

/* 10^k = power * 2^(floor(log2(10^k)) - 127), rounded up, for k in [MIN, MAX]. */
#define PE_POWER_MIN (-292)
#define PE_POWER_MAX 324
typedef struct pe_power {
    uint64_t high, low;
} pe_power;

/* What a batch writes behind a number's digits, for exponents in [MIN, MAX]: the exponent and a
 * comma ("e-07,"), or a comma alone for exponent 0. */
#define PE_SUFFIX_MIN (-324)
#define PE_SUFFIX_MAX 308

typedef struct pe_print_tables {
    pe_power powers[PE_POWER_MAX - PE_POWER_MIN + 1];
    uint64_t narrow[PE_POWER_MAX - PE_POWER_MIN + 1]; /* the powers' high halves, rounded up */
    char suffixes[PE_SUFFIX_MAX - PE_SUFFIX_MIN + 1][8];
} pe_print_tables;

/* pe_print_prepare fills the tables; every user calls it first. Later calls do nothing, and any
 * thread may call it. */
extern pe_print_tables pe_print_shared;
void pe_print_prepare(void);

typedef struct pe_binary_format {
    int fraction_bits, exponent_bits;
} pe_binary_format;

/* digits · 10^exponent */
typedef struct pe_decimal {
    uint64_t digits;
    int exponent;
} pe_decimal;

/* Logarithms in fixed point. The functions below are exact for all exponents of doubles. */
#define PE_LOG10_2        1262611 /* · 2^-22 */
#define PE_LOG10_4_THIRDS 524031  /* · 2^-22 */
#define PE_LOG2_10        1741647 /* · 2^-19 */

/* floor(log10(2^e)), or floor(log10(3/4 · 2^e)). */
static inline int pe_floor_log10_pow2(int e, bool three_quarters)
{
    return (e * PE_LOG10_2 - (three_quarters ? PE_LOG10_4_THIRDS : 0)) >> 22;
}

/* floor(log2(10^e)) */
static inline int pe_floor_log2_pow10(int e)
{
    return (e * PE_LOG2_10) >> 19;
}

/* g · n / 2^128 rounded to odd: its floor, with the last bit set unless the quotient is an
 * integer, apart from what g was rounded up by. */
static inline uint64_t pe_multiply_to_odd(pe_power g, uint64_t n)
{
    uint64_t below = (uint64_t)((pe_uint128)g.low * n >> 64);
    pe_uint128 product = (pe_uint128)g.high * n + below;
    return (uint64_t)(product >> 64) | ((uint64_t)product > 1);
}

/* The shortest decimal in the rounding interval of a finite number, given as its bits without
 * the sign; of several the closest, and 0 for 0. The code has no branch, so that a processor
 * overlaps the work on successive numbers. */
static inline pe_decimal pe_find_shortest_decimal(uint64_t bits, pe_binary_format format)
{
    uint64_t fraction = bits & ((1ULL << format.fraction_bits) - 1);
    int field = (int)(bits >> format.fraction_bits), normal = field > 0;
    bool lower_is_closer = (fraction == 0) & (field > 1);
    uint64_t significand = fraction | (uint64_t)normal << format.fraction_bits;
    int exponent =
        field + 1 - normal - (1 << (format.exponent_bits - 1)) + 1 - format.fraction_bits;

    int k = pe_floor_log10_pow2(exponent, lower_is_closer);
    int shift = exponent + pe_floor_log2_pow10(-k) + 1;
    pe_power g = pe_print_shared.powers[-k - PE_POWER_MIN];
    uint64_t quarters = 4 * significand, odd = significand & 1;
    uint64_t low = pe_multiply_to_odd(g, (quarters - 2 + lower_is_closer) << shift) + odd;
    uint64_t value = pe_multiply_to_odd(g, quarters << shift);
    uint64_t high = pe_multiply_to_odd(g, (quarters + 2) << shift) - odd;

    uint64_t whole = value / 4, tens = whole / 10;
    bool down_inside = low <= 40 * tens, up_inside = 40 * tens + 40 <= high;
    bool is_tens = (whole >= 10) & (down_inside != up_inside); /* one digit fewer suffices */
    uint64_t tens_digits = tens + up_inside;
    down_inside = low <= 4 * whole;
    up_inside = 4 * whole + 4 <= high;
    bool closer_up = value + (whole & 1) > 4 * whole + 2;
    uint64_t digits = whole + (down_inside != up_inside ? up_inside : closer_up);
    digits = is_tens ? tens_digits : digits;
    pe_decimal shortest = {significand > 0 ? digits : 0, significand > 0 ? k + is_tens : 0};
    return shortest;
}

/* How many digits a printed number has from the first to the last that is not 0. */
int pe_count_significant(const char *text);

#endif
