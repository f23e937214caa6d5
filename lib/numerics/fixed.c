/* Signed fixed-point reals on 64-bit limbs. */
#include "numerics/fixed.h"

#include "numerics/limbs.h"
#include "numerics/phase.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define LIMBS        5 /* limbs of a magnitude: four of the fraction, one of the whole part */
#define QUOTIENT_MAX ((int64_t)1 << 62)

static const pe_fixed ZERO;

pe_fixed pe_fixed_add(pe_fixed a, pe_fixed b)
{
    int64_t carry = (int64_t)pe_limbs_add(a.part.limb, b.part.limb, 4);
    return (pe_fixed){a.whole + b.whole + carry, a.part};
}

pe_fixed pe_fixed_sub(pe_fixed a, pe_fixed b)
{
    int64_t borrow = (int64_t)pe_limbs_sub(a.part.limb, b.part.limb, 4);
    return (pe_fixed){a.whole - b.whole - borrow, a.part};
}

static pe_fixed negate_fixed(pe_fixed a)
{
    return pe_fixed_sub(ZERO, a);
}

int pe_fixed_compare(pe_fixed a, pe_fixed b)
{
    if (a.whole != b.whole)
        return a.whole < b.whole ? -1 : 1;
    return pe_limbs_compare(a.part.limb, b.part.limb, 4);
}

pe_fixed pe_fixed_from_double(double x)
{
    assert(fabs(x) < 0x1p62);
    double magnitude = fabs(x), whole = floor(magnitude);
    int exponent;
    uint64_t bits = (uint64_t)ldexp(frexp(magnitude - whole, &exponent), 64);
    pe_wide part = pe_wide_shift_right((pe_wide){{0, 0, 0, bits}}, (unsigned)-exponent);
    pe_fixed fixed = {(int64_t)whole, part};
    return x < 0 ? negate_fixed(fixed) : fixed;
}

pe_fixed pe_fixed_mul_integer(pe_fixed a, int64_t k)
{
    uint64_t magnitude = k < 0 ? 0 - (uint64_t)k : (uint64_t)k, carry;
    pe_wide part = pe_wide_mul_with_carry(a.part, magnitude, &carry);
    pe_fixed product = {(int64_t)((uint64_t)a.whole * magnitude + carry), part};
    return k < 0 ? negate_fixed(product) : product;
}

/* ---- division ---- */

/* Write a >= 0 as limbs, least significant first. */
static void to_limbs(pe_fixed a, uint64_t ret_limbs[LIMBS])
{
    for (int i = 0; i < 4; i++)
        ret_limbs[i] = a.part.limb[i];
    ret_limbs[4] = (uint64_t)a.whole;
}

/* limbs = 2·limbs + bit, without a carry out of the top limb. */
static void append_bit(uint64_t *limbs, int count, uint64_t bit)
{
    for (int i = 0; i < count; i++) {
        uint64_t carry = limbs[i] >> 63;
        limbs[i] = limbs[i] << 1 | bit;
        bit = carry;
    }
}

/* Long division, bit by bit: the numerator's 320 bits, then 256 zeros behind the point. */
static void divide_limbs(const uint64_t numerator[LIMBS], const uint64_t divisor[LIMBS],
                         uint64_t ret_quotient[2 * LIMBS])
{
    uint64_t rest[LIMBS] = {0};
    for (int bit = 64 * LIMBS - 1; bit >= -256; bit--) {
        uint64_t next = bit >= 0 ? numerator[bit / 64] >> (bit % 64) & 1 : 0;
        append_bit(rest, LIMBS, next); /* rest < divisor < 2^319, so no bit is lost */
        bool fits = pe_limbs_compare(rest, divisor, LIMBS) >= 0;
        if (fits)
            pe_limbs_sub(rest, divisor, LIMBS);
        append_bit(ret_quotient, 2 * LIMBS, fits);
    }
}

pe_fixed pe_fixed_div(pe_fixed a, pe_fixed b)
{
    bool negative = a.whole < 0;
    uint64_t numerator[LIMBS], divisor[LIMBS], quotient[2 * LIMBS] = {0};
    assert(pe_fixed_compare(b, ZERO) > 0);
    to_limbs(negative ? negate_fixed(a) : a, numerator);
    to_limbs(b, divisor);
    if (pe_limbs_are_zero(divisor, 4)) { /* a whole number */
        memcpy(quotient, numerator, sizeof numerator);
        pe_limbs_div_small(quotient, LIMBS, divisor[4]);
    } else {
        divide_limbs(numerator, divisor, quotient);
    }
    bool over =
        quotient[4] >= (uint64_t)QUOTIENT_MAX || !pe_limbs_are_zero(quotient + LIMBS, LIMBS);
    pe_fixed result = {(int64_t)quotient[4],
                       {{quotient[0], quotient[1], quotient[2], quotient[3]}}};
    if (over)
        result = (pe_fixed){.whole = QUOTIENT_MAX};
    return negative ? negate_fixed(result) : result;
}

pe_wide pe_fixed_mul_fraction(pe_fixed a, pe_fixed b)
{
    assert(a.whole >= 0 && b.whole >= 0);
    pe_wide mixed =
        pe_wide_add(pe_wide_mul_integer(a.part, b.whole), pe_wide_mul_integer(b.part, a.whole));
    return pe_wide_add(mixed, pe_wide_mul(a.part, b.part));
}

pe_fixed pe_fixed_mul_wide(pe_fixed a, pe_wide b)
{
    uint64_t whole;
    assert(a.whole >= 0);
    pe_wide part = pe_wide_mul_with_carry(b, (uint64_t)a.whole, &whole);
    return pe_fixed_add((pe_fixed){(int64_t)whole, part},
                        (pe_fixed){.part = pe_wide_mul(a.part, b)});
}

/* ---- logarithm and conversion ---- */

pe_fixed pe_fixed_log2(double x)
{
    int exponent;
    pe_wide significand = {{0, 0, 0, (uint64_t)ldexp(frexp(x, &exponent), 64)}};
    return (pe_fixed){exponent - 1, pe_wide_log2(significand)};
}

dd pe_fixed_to_dd(pe_fixed a)
{
    assert(a.whole >= 0);
    double high = (double)(a.whole >> 32) * 0x1p32, low = (double)(a.whole & 0xffffffff);
    return dd_add(dd_two_sum(high, low), pe_phase_fraction(a.part));
}

/* ---- rounding ---- */

/* The leading 53 bits of |a|, the bit behind them, and whether any bit behind that is set. */
typedef struct digits {
    uint64_t significand;
    int exponent;
    bool half, rest, negative;
} digits;

static digits count_digits(pe_fixed a)
{
    bool negative = a.whole < 0;
    pe_fixed size = negative ? negate_fixed(a) : a;
    uint64_t limbs[LIMBS];
    memcpy(limbs, size.part.limb, sizeof size.part.limb);
    limbs[LIMBS - 1] = (uint64_t)size.whole;
    pe_leading leading = pe_limbs_leading(limbs, LIMBS);
    return (digits){.significand = leading.high >> 11,
                    .exponent = leading.length - 53 - 256,
                    .half = leading.high >> 10 & 1,
                    .rest = (leading.high & 0x3ff) || leading.low || leading.cut_off,
                    .negative = negative};
}

static double convert_to_double(digits x)
{
    double size = ldexp((double)x.significand, x.exponent);
    return x.negative ? -size : size;
}

double pe_fixed_nearest(pe_fixed a)
{
    digits x = count_digits(a);
    x.significand += x.half && (x.rest || x.significand % 2 == 1);
    return convert_to_double(x);
}

double pe_fixed_to_odd(pe_fixed a)
{
    digits x = count_digits(a);
    x.significand |= x.half || x.rest;
    return convert_to_double(x);
}
