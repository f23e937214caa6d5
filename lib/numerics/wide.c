/* Wide fixed-point fractions: sums, products, quotients, logarithms and powers. */
#include "numerics/wide.h"

#include "numerics/limbs.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* 256 bits of 1/(2π) and of ln 2, truncated. */
const pe_wide pe_wide_radian = {
    {0x7f9458eaf7aef158, 0x36d8a5664f10e410, 0x7f09d5f47d4d3770, 0x28be60db9391054a}};
const pe_wide pe_wide_ln2 = {
    {0x8a0d175b8baafa2b, 0x40f343267298b62d, 0xc9e3b39803f2f6af, 0xb17217f7d1cf79ab}};

pe_wide pe_wide_add(pe_wide a, pe_wide b)
{
    pe_limbs_add(a.limb, b.limb, 4);
    return a;
}

pe_wide pe_wide_sub(pe_wide a, pe_wide b)
{
    pe_limbs_sub(a.limb, b.limb, 4);
    return a;
}

pe_wide pe_wide_negate(pe_wide a)
{
    return pe_wide_sub((pe_wide){{0}}, a);
}

/* Compute *to + a * m + carry, which fits in 128 bits: store the low half in *to and return the
 * high half. */
static inline uint64_t add_product(uint64_t *to, uint64_t a, uint64_t m, uint64_t carry)
{
    pe_uint128 sum = (pe_uint128)a * m + *to + carry;
    *to = (uint64_t)sum;
    return (uint64_t)(sum >> 64);
}

/* to[0 … 4] = to[0 … 3] + a * m. */
static inline void add_row(uint64_t *to, const pe_wide *a, uint64_t m)
{
    uint64_t carry = add_product(&to[0], a->limb[0], m, 0);
    carry = add_product(&to[1], a->limb[1], m, carry);
    carry = add_product(&to[2], a->limb[2], m, carry);
    to[4] = add_product(&to[3], a->limb[3], m, carry);
}

/* All 512 bits of a * b, least significant limb first. */
static inline void multiply_full(pe_wide a, pe_wide b, uint64_t ret_product[8])
{
    ret_product[0] = ret_product[1] = ret_product[2] = ret_product[3] = 0;
    add_row(ret_product, &a, b.limb[0]); /* unrolled: frequencies spend their time here */
    add_row(ret_product + 1, &a, b.limb[1]);
    add_row(ret_product + 2, &a, b.limb[2]);
    add_row(ret_product + 3, &a, b.limb[3]);
}

pe_wide pe_wide_mul(pe_wide a, pe_wide b)
{
    uint64_t product[8];
    multiply_full(a, b, product);
    return (pe_wide){{product[4], product[5], product[6], product[7]}};
}

pe_wide pe_wide_mul_with_carry(pe_wide a, uint64_t m, uint64_t *ret_integer)
{
    *ret_integer = pe_limbs_mul_small(a.limb, 4, m);
    return a;
}

pe_wide pe_wide_mul_integer(pe_wide a, int64_t k)
{
    uint64_t magnitude = k < 0 ? 0 - (uint64_t)k : (uint64_t)k, integer;
    pe_wide product = pe_wide_mul_with_carry(a, magnitude, &integer);
    return k < 0 ? pe_wide_negate(product) : product;
}

pe_wide pe_wide_mul_leading(pe_wide a, int64_t k)
{
    const pe_uint128 leading = (pe_uint128)a.limb[3] << 64 | a.limb[2];
    pe_uint128 product = leading * (uint64_t)k; /* modulo 2^128 */
    if (k < 0)                                  /* and (uint64_t)k is 2^64 too large */
        product -= leading << 64;
    return (pe_wide){{0, 0, (uint64_t)product, (uint64_t)(product >> 64)}};
}

/* (integer + a) * 2^-n modulo 1. */
static pe_wide shift_right_extended(pe_wide a, uint64_t integer, unsigned n)
{
    uint64_t limbs[9] = {a.limb[0], a.limb[1], a.limb[2], a.limb[3], integer, 0, 0, 0, 0};
    unsigned skip = n / 64, bits = n % 64;
    if (skip > 4)
        return (pe_wide){{0, 0, 0, 0}};
    for (unsigned i = 0; i < 4; i++)
        a.limb[i] = pe_funnel_right(limbs[i + skip + 1], limbs[i + skip], bits);
    return a;
}

pe_wide pe_wide_shift_right(pe_wide a, unsigned n)
{
    return shift_right_extended(a, 0, n);
}

pe_wide pe_wide_mul_double(pe_wide a, double x)
{
    if (x == floor(x))
        return pe_wide_mul_integer(a, (int64_t)x);
    int exponent;
    double fraction = frexp(fabs(x), &exponent); /* not an integer, so exponent <= 53 */
    uint64_t significand = (uint64_t)ldexp(fraction, 53), integer;
    pe_wide product = pe_wide_mul_with_carry(a, significand, &integer);
    product = shift_right_extended(product, integer, (unsigned)(53 - exponent));
    return x < 0 ? pe_wide_negate(product) : product;
}

pe_wide pe_wide_div_small(pe_wide a, uint64_t divisor)
{
    pe_limbs_div_small(a.limb, 4, divisor);
    return a;
}

pe_wide pe_wide_div_double(pe_wide a, double x)
{
    int exponent;
    uint64_t divisor = (uint64_t)ldexp(frexp(x, &exponent), 64);
    uint64_t limbs[5] = {0, a.limb[0], a.limb[1], a.limb[2], a.limb[3]}; /* a * 2^64 */
    assert(x >= 0.5);
    pe_limbs_div_small(limbs, 5, divisor);
    pe_wide fraction = {{limbs[0], limbs[1], limbs[2], limbs[3]}};
    return shift_right_extended(fraction, limbs[4], (unsigned)exponent);
}

/* Each squaring gives one bit of the logarithm. An error at bit n weighs 2^-n in the result, so
 * that truncation adds up to an error of about 2^-253. */
pe_wide pe_wide_log2(pe_wide significand)
{
    pe_wide half = significand; /* of a power in [1, 2) */
    pe_wide result = {{0, 0, 0, 0}};
    for (int bit = 255; bit >= 0; bit--) {
        uint64_t quarter[8]; /* of the power's square, in [1/4, 1) */
        multiply_full(half, half, quarter);
        bool reached_two = quarter[7] >> 63;
        if (reached_two)
            result.limb[bit / 64] |= 1ULL << (bit % 64);
        for (int i = 0; i < 4; i++) /* halve the square if it reached 2 */
            half.limb[i] = pe_funnel_left(quarter[i + 4], quarter[i + 3], reached_two ? 0 : 1);
    }
    return result;
}

/* 2^-f for 0 < f < 1: the Taylor series of exp at -f·ln2/256, then eight squarings. */
static pe_wide compute_power_of_half(pe_wide f)
{
    pe_wide x = pe_wide_shift_right(pe_wide_mul(f, pe_wide_ln2), 8);
    pe_wide sum = x, term = x; /* 1 - exp(-x) = x - x²/2 + x³/6 … */
    for (uint64_t n = 2; !pe_limbs_are_zero(term.limb, 4); n++) {
        term = pe_wide_div_small(pe_wide_mul(term, x), n);
        sum = n % 2 == 0 ? pe_wide_sub(sum, term) : pe_wide_add(sum, term);
    }
    for (int i = 0; i < 8; i++) { /* 1 - (1 - s)² = 2s - s² */
        pe_wide square = pe_wide_mul(sum, sum);
        sum = pe_wide_sub(pe_wide_add(sum, sum), square);
    }
    return pe_wide_negate(sum); /* 1 - sum, below 1 since f > 0 */
}

pe_wide pe_wide_power_of_log2(uint64_t integer, pe_wide fraction, uint64_t numerator,
                              uint64_t denominator)
{
    /* (integer + fraction) * numerator / denominator, on one number of 384 bits */
    uint64_t log2[6];
    memcpy(log2, fraction.limb, sizeof fraction.limb);
    log2[4] = integer;
    log2[5] = pe_limbs_mul_small(log2, 5, numerator);
    pe_limbs_div_small(log2, 6, denominator);
    assert(log2[5] == 0 && !pe_limbs_are_zero(log2, 5));
    memcpy(fraction.limb, log2, sizeof fraction.limb);
    integer = log2[4];
    if (pe_limbs_are_zero(log2, 4)) /* 2^-integer, as half of 2^-(integer - 1) */
        return pe_wide_shift_right((pe_wide){{0, 0, 0, 1ULL << 63}}, (unsigned)integer - 1);
    return pe_wide_shift_right(compute_power_of_half(fraction), (unsigned)integer);
}

pe_wide pe_wide_power(double base, uint64_t numerator, uint64_t denominator)
{
    assert(base > 1 && numerator > 0 && denominator > 0 && numerator / denominator <= 4);
    int exponent;
    pe_wide significand = {{0, 0, 0, (uint64_t)ldexp(frexp(base, &exponent), 64)}};
    return pe_wide_power_of_log2((uint64_t)(exponent - 1), pe_wide_log2(significand), numerator,
                                 denominator);
}
