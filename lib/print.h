/* What printing single numbers (print.c) and batches (print_batch.c) share: Schubfach.
 *
 * Schubfach (Raffaello Giulietti, "The Schubfach way to render doubles", 2020) scales the
 * number and the bounds of its rounding interval by a power of ten so that the shortest
 * candidates are neighbouring integers. Powers are rounded up, products rounded to odd. */
#ifndef PE_PRINT_H
#define PE_PRINT_H

#include "posenc.h"

__extension__ typedef unsigned __int128 pe_uint128;

/* 10^k = power * 2^(floor(log2(10^k)) - 127), rounded up, for k in [MIN, MAX]. */
#define PE_POWER_MIN (-292)
#define PE_POWER_MAX 324
typedef struct pe_power {
    uint64_t high, low;
} pe_power;

/* What follows the digits of a number in a batch: "e-07," and so on for exponents in [MIN,
 * MAX], but for 0 the comma alone. */
#define PE_SUFFIX_MIN (-324)
#define PE_SUFFIX_MAX 308

typedef struct pe_print_tables {
    pe_power powers[PE_POWER_MAX - PE_POWER_MIN + 1];
    uint64_t narrow[PE_POWER_MAX - PE_POWER_MIN + 1]; /* the high halves, rounded up */
    char suffixes[PE_SUFFIX_MAX - PE_SUFFIX_MIN + 1][8];
} pe_print_tables;

/* Made by pe_print_prepare, which every use comes after. */
extern pe_print_tables pe_print_shared;
void pe_print_prepare(void);

/* Print 1 … PE_PRINT_BATCH elements, a comma after each. `dst` has room for PE_PRINT_MAX bytes
 * for each, all of which may be written to. Returns the length. For each dtype; NULL for i32.
 */
#define PE_PRINT_BATCH 64
typedef size_t pe_print_batch(char *dst, const void *elements, size_t count);
typedef pe_print_batch *pe_print_batches[PE_DTYPE_COUNT];

typedef struct pe_binary_format {
    int fraction_bits, exponent_bits;
} pe_binary_format;

typedef struct pe_decimal {
    uint64_t digits;
    int exponent;
} pe_decimal;

/* floor(log10(2^e)) and floor(log10(3/4 · 2^e)); floor(log2(10^e)): exact in the range used. */
#define PE_LOG10_2        1262611 /* · 2^-22 */
#define PE_LOG10_4_THIRDS 524031
#define PE_LOG2_10        1741647 /* · 2^-19 */
static inline int pe_floor_log10_pow2(int e, bool three_quarters)
{
    return (e * PE_LOG10_2 - (three_quarters ? PE_LOG10_4_THIRDS : 0)) >> 22;
}

static inline int pe_floor_log2_pow10(int e)
{
    return (e * PE_LOG2_10) >> 19;
}

/* floor(g · n / 2^128), with the last bit set if anything was cut off. */
static inline uint64_t pe_multiply_to_odd(pe_power g, uint64_t n)
{
    uint64_t below = (uint64_t)((pe_uint128)g.low * n >> 64);
    pe_uint128 product = (pe_uint128)g.high * n + below;
    return (uint64_t)(product >> 64) | ((uint64_t)product > 1);
}

/* The shortest decimal in the rounding interval of a finite number without its sign, and of
 * these the closest; 0 for 0. Without a branch, so that a series of numbers flows. */
static inline pe_decimal pe_shortest(uint64_t bits, pe_binary_format format)
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
    bool is_tens = (whole >= 10) & (down_inside != up_inside); /* one digit less will do */
    uint64_t of_tens = tens + up_inside;
    down_inside = low <= 4 * whole;
    up_inside = 4 * whole + 4 <= high;
    bool closer_up = value + (whole & 1) > 4 * whole + 2;
    uint64_t digits = whole + (down_inside != up_inside ? up_inside : closer_up);
    digits = is_tens ? of_tens : digits;
    pe_decimal shortest = {significand > 0 ? digits : 0, significand > 0 ? k + is_tens : 0};
    return shortest;
}

#endif
