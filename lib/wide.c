/* Wide fixed-point fractions on 64-bit limbs: sums, products, and powers for frequencies. */
#include "wide.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

__extension__ typedef unsigned __int128 uint128;

/* 256 bits of 1/(2π) and of ln 2, truncated. */
const pe_wide PE_WIDE_RADIAN = {
    {0x7f9458eaf7aef158, 0x36d8a5664f10e410, 0x7f09d5f47d4d3770, 0x28be60db9391054a}};
const pe_wide PE_WIDE_LN2 = {
    {0x8a0d175b8baafa2b, 0x40f343267298b62d, 0xc9e3b39803f2f6af, 0xb17217f7d1cf79ab}};

pe_wide pe_wide_add(pe_wide a, pe_wide b)
{
    uint128 carry = 0;
    for (int i = 0; i < 4; i++) {
        carry += (uint128)a.limb[i] + b.limb[i];
        a.limb[i] = (uint64_t)carry;
        carry >>= 64;
    }
    return a;
}

static pe_wide negate(pe_wide a)
{
    pe_wide one_ulp = {{1, 0, 0, 0}};
    for (int i = 0; i < 4; i++)
        a.limb[i] = ~a.limb[i];
    return pe_wide_add(a, one_ulp);
}

pe_wide pe_wide_sub(pe_wide a, pe_wide b)
{
    return pe_wide_add(a, negate(b));
}

/* *to + a * m + carry, which fits 128 bits: the low half to *to, and the high one returned. */
static inline uint64_t add_product(uint64_t *to, uint64_t a, uint64_t m, uint64_t carry)
{
    uint128 sum = (uint128)a * m + *to + carry;
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
    add_row(ret_product, &a, b.limb[0]); /* straight: it is the inner loop of frequencies */
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

pe_wide pe_wide_mul_whole(pe_wide a, uint64_t m, uint64_t *ret_integer)
{
    uint64_t carry = 0;
    for (int i = 0; i < 4; i++) {
        uint128 sum = (uint128)a.limb[i] * m + carry;
        a.limb[i] = (uint64_t)sum;
        carry = (uint64_t)(sum >> 64);
    }
    *ret_integer = carry;
    return a;
}

pe_wide pe_wide_mul_integer(pe_wide a, int64_t k)
{
    uint64_t magnitude = k < 0 ? 0 - (uint64_t)k : (uint64_t)k, integer;
    pe_wide product = pe_wide_mul_whole(a, magnitude, &integer);
    return k < 0 ? negate(product) : product;
}

/* (integer + a) * 2^-n modulo 1. */
static pe_wide shift_right_with(pe_wide a, uint64_t integer, unsigned n)
{
    uint64_t limbs[9] = {a.limb[0], a.limb[1], a.limb[2], a.limb[3], integer, 0, 0, 0, 0};
    unsigned skip = n / 64, bits = n % 64;
    if (skip > 4)
        return (pe_wide){{0, 0, 0, 0}};
    for (unsigned i = 0; i < 4; i++) {
        uint64_t low = limbs[i + skip], high = limbs[i + skip + 1];
        a.limb[i] = bits == 0 ? low : low >> bits | high << (64 - bits);
    }
    return a;
}

pe_wide pe_wide_shift_right(pe_wide a, unsigned n)
{
    return shift_right_with(a, 0, n);
}

pe_wide pe_wide_mul_double(pe_wide a, double x)
{
    if (x == floor(x))
        return pe_wide_mul_integer(a, (int64_t)x);
    int exponent;
    double fraction = frexp(fabs(x), &exponent); /* not an integer, so exponent <= 53 */
    uint64_t significand = (uint64_t)ldexp(fraction, 53), integer;
    pe_wide product = pe_wide_mul_whole(a, significand, &integer);
    product = shift_right_with(product, integer, (unsigned)(53 - exponent));
    return x < 0 ? negate(product) : product;
}

pe_wide pe_wide_div_small(pe_wide a, uint64_t divisor)
{
    uint64_t rest = 0;
    for (int i = 3; i >= 0; i--) {
        uint128 part = (uint128)rest << 64 | a.limb[i];
        a.limb[i] = (uint64_t)(part / divisor);
        rest = (uint64_t)(part % divisor);
    }
    return a;
}

/* Digits of 64 bits, most significant first; the last one lies below a's own last place. */
pe_wide pe_wide_div_double(pe_wide a, double x)
{
    int exponent;
    uint64_t divisor = (uint64_t)ldexp(frexp(x, &exponent), 64), rest = 0, digits[5];
    assert(x >= 0.5);
    for (int i = 4; i >= 0; i--) {
        uint128 part = (uint128)rest << 64 | (i > 0 ? a.limb[i - 1] : 0);
        digits[i] = (uint64_t)(part / divisor);
        rest = (uint64_t)(part % divisor);
    }
    pe_wide fraction = {{digits[0], digits[1], digits[2], digits[3]}};
    return shift_right_with(fraction, digits[4], (unsigned)exponent);
}

/* A bit per squaring. An error made at bit n weighs 2^-n in the result, so truncation costs
 * about 2^-253 in all. */
pe_wide pe_wide_log2(pe_wide significand)
{
    pe_wide power = significand; /* halved */
    pe_wide result = {{0, 0, 0, 0}};
    for (int bit = 255; bit >= 0; bit--) {
        uint64_t square[8]; /* of the power, quartered: in [1/4, 1) */
        multiply_full(power, power, square);
        unsigned carry_out = (unsigned)(square[7] >> 63); /* the square reached 2 */
        if (carry_out)
            result.limb[bit / 64] |= 1ULL << (bit % 64);
        unsigned shift = carry_out ? 0 : 1;
        for (int i = 0; i < 4; i++)
            power.limb[i] = shift ? square[i + 4] << 1 | square[i + 3] >> 63 : square[i + 4];
    }
    return result;
}

static bool is_zero(pe_wide a)
{
    return (a.limb[0] | a.limb[1] | a.limb[2] | a.limb[3]) == 0;
}

/* 2^-f for 0 <= f < 1: Taylor's series of exp at f·ln2/256, then eight squarings. */
static pe_wide exponential(pe_wide f)
{
    pe_wide x = pe_wide_shift_right(pe_wide_mul(f, PE_WIDE_LN2), 8);
    pe_wide sum = x, term = x; /* 1 - exp(-x) = x - x²/2 + x³/6 … */
    for (uint64_t n = 2; !is_zero(term); n++) {
        term = pe_wide_div_small(pe_wide_mul(term, x), n);
        sum = n % 2 == 0 ? pe_wide_sub(sum, term) : pe_wide_add(sum, term);
    }
    for (int i = 0; i < 8; i++) { /* 1 - (1 - s)² = 2s - s² */
        pe_wide square = pe_wide_mul(sum, sum);
        sum = pe_wide_sub(pe_wide_add(sum, sum), square);
    }
    return negate(sum); /* 1 - sum; f > 0 keeps it below 1 */
}

pe_wide pe_wide_power_of_log2(uint64_t integer, pe_wide fraction, uint64_t numerator,
                              uint64_t denominator)
{
    uint64_t carry, high;
    /* times numerator/denominator, on integer:fraction as one 320-bit number */
    fraction = pe_wide_mul_whole(fraction, numerator, &carry);
    uint128 product = (uint128)integer * numerator + carry;
    integer = (uint64_t)(product / denominator);
    high = (uint64_t)(product % denominator);
    for (int i = 3; i >= 0; i--) {
        uint128 part = (uint128)high << 64 | fraction.limb[i];
        fraction.limb[i] = (uint64_t)(part / denominator);
        high = (uint64_t)(part % denominator);
    }
    assert(integer > 0 || !is_zero(fraction));
    if (is_zero(fraction)) /* a whole power of two: 2^-integer, as half of 2^-(integer - 1) */
        return pe_wide_shift_right((pe_wide){{0, 0, 0, 1ULL << 63}}, (unsigned)integer - 1);
    return pe_wide_shift_right(exponential(fraction), (unsigned)integer);
}

pe_wide pe_wide_power(double base, uint64_t numerator, uint64_t denominator)
{
    assert(base > 1 && numerator > 0 && denominator > 0 && numerator / denominator <= 4);
    int exponent;
    pe_wide significand = {{0, 0, 0, (uint64_t)ldexp(frexp(base, &exponent), 64)}};
    return pe_wide_power_of_log2((uint64_t)(exponent - 1), pe_wide_log2(significand), numerator,
                                 denominator);
}
