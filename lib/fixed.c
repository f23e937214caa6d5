/* Signed fixed-point reals on 64-bit limbs. */
#include "fixed.h"

#include "phase.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

#define LIMBS 5 /* of a magnitude: the fraction's four, and the whole part */
#define MOST  ((int64_t)1 << 62)

static const pe_wide NOTHING = {{0, 0, 0, 0}};

static bool is_zero(pe_wide a)
{
    return !(a.limb[0] | a.limb[1] | a.limb[2] | a.limb[3]);
}

static int compare_parts(pe_wide a, pe_wide b)
{
    for (int i = 3; i >= 0; i--)
        if (a.limb[i] != b.limb[i])
            return a.limb[i] < b.limb[i] ? -1 : 1;
    return 0;
}

pe_fixed pe_fixed_add(pe_fixed a, pe_fixed b)
{
    pe_wide part = pe_wide_add(a.part, b.part);
    bool carry = compare_parts(part, a.part) < 0;
    return (pe_fixed){a.whole + b.whole + carry, part};
}

static pe_fixed negate(pe_fixed a)
{
    /* -(whole + part) = (-whole - 1) + (1 - part) */
    return (pe_fixed){-a.whole - !is_zero(a.part), pe_wide_sub(NOTHING, a.part)};
}

pe_fixed pe_fixed_sub(pe_fixed a, pe_fixed b)
{
    return pe_fixed_add(a, negate(b));
}

int pe_fixed_compare(pe_fixed a, pe_fixed b)
{
    if (a.whole != b.whole)
        return a.whole < b.whole ? -1 : 1;
    return compare_parts(a.part, b.part);
}

pe_fixed pe_fixed_of(double x)
{
    assert(fabs(x) < (double)MOST);
    double magnitude = fabs(x), whole = floor(magnitude);
    int exponent;
    uint64_t bits = (uint64_t)ldexp(frexp(magnitude - whole, &exponent), 64);
    pe_wide part = pe_wide_shift_right((pe_wide){{0, 0, 0, bits}}, (unsigned)-exponent);
    pe_fixed fixed = {(int64_t)whole, part};
    return x < 0 ? negate(fixed) : fixed;
}

pe_fixed pe_fixed_mul_integer(pe_fixed a, int64_t k)
{
    uint64_t magnitude = k < 0 ? 0 - (uint64_t)k : (uint64_t)k, carry;
    pe_wide part = pe_wide_mul_whole(a.part, magnitude, &carry);
    pe_fixed product = {(int64_t)((uint64_t)a.whole * magnitude + carry), part};
    return k < 0 ? negate(product) : product;
}

/* ---- division ---- */

/* A magnitude as limbs, least significant first. */
static void spread(pe_fixed a, uint64_t ret_limbs[LIMBS])
{
    for (int i = 0; i < 4; i++)
        ret_limbs[i] = a.part.limb[i];
    ret_limbs[4] = (uint64_t)a.whole;
}

/* limbs = 2·limbs + bit; what leaves at the top is lost. */
static void shift_in(uint64_t *limbs, int count, uint64_t bit)
{
    for (int i = 0; i < count; i++) {
        uint64_t out = limbs[i] >> 63;
        limbs[i] = limbs[i] << 1 | bit;
        bit = out;
    }
}

/* Subtract b from a if that leaves no less than nothing; whether it did. */
static bool subtract_if_it_fits(uint64_t a[LIMBS], const uint64_t b[LIMBS])
{
    uint64_t difference[LIMBS], borrow = 0;
    for (int i = 0; i < LIMBS; i++) {
        uint64_t once = a[i] - b[i];
        difference[i] = once - borrow;
        borrow = (a[i] < b[i]) | (once < borrow);
    }
    for (int i = 0; i < LIMBS && !borrow; i++)
        a[i] = difference[i];
    return !borrow;
}

/* Long division, a bit at a time: the numerator's 320 bits, then 256 zeros behind the point. */
pe_fixed pe_fixed_div(pe_fixed a, pe_fixed b)
{
    bool negative = a.whole < 0;
    uint64_t numerator[LIMBS], divisor[LIMBS], rest[LIMBS] = {0}, quotient[2 * LIMBS] = {0};
    assert(b.whole >= 0 && (b.whole > 0 || !is_zero(b.part)));
    spread(negative ? negate(a) : a, numerator);
    spread(b, divisor);
    for (int bit = 64 * LIMBS - 1; bit >= -256; bit--) {
        uint64_t next = bit >= 0 ? numerator[bit / 64] >> (bit % 64) & 1 : 0;
        shift_in(rest, LIMBS, next); /* rest < divisor < 2^319, so nothing leaves */
        shift_in(quotient, 2 * LIMBS, subtract_if_it_fits(rest, divisor));
    }
    bool over = quotient[4] >= (uint64_t)MOST;
    for (int i = LIMBS; i < 2 * LIMBS; i++)
        over = over || quotient[i] != 0;
    pe_fixed result = {(int64_t)quotient[4],
                       {{quotient[0], quotient[1], quotient[2], quotient[3]}}};
    if (over)
        result = (pe_fixed){MOST, NOTHING};
    return negative ? negate(result) : result;
}

pe_wide pe_fixed_mul_fraction(pe_fixed a, pe_fixed b)
{
    assert(a.whole >= 0 && b.whole >= 0);
    pe_wide of_wholes =
        pe_wide_add(pe_wide_mul_integer(a.part, b.whole), pe_wide_mul_integer(b.part, a.whole));
    return pe_wide_add(of_wholes, pe_wide_mul(a.part, b.part));
}

/* ---- to and from other numbers ---- */

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
