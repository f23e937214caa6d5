/* Exact sums: each product is an integer of 106 bits, shifted to its place and added. */
#include "numerics/exact.h"

#include "numerics/limbs.h"

#include <math.h>
#include <stdbool.h>

/* The significand in |x| = significand · 2^exponent, for an exponent of at least -1074. */
static uint64_t find_significand(double x, int *ret_exponent)
{
    int exponent;
    double fraction = frexp(fabs(x), &exponent);
    *ret_exponent = exponent - 53 < -1074 ? -1074 : exponent - 53;
    return (uint64_t)ldexp(fraction, exponent - *ret_exponent);
}

void pe_exact_add(pe_exact *sum, double a, double b)
{
    int a_exponent, b_exponent;
    if (a == 0 || b == 0)
        return;
    pe_uint128 product =
        (pe_uint128)find_significand(a, &a_exponent) * find_significand(b, &b_exponent);
    uint64_t low = (uint64_t)product, high = (uint64_t)(product >> 64);
    unsigned place = (unsigned)(a_exponent + b_exponent + 2148), shift = place % 64;
    const uint64_t shifted[3] = {low << shift, pe_funnel_left(high, low, shift),
                                 pe_funnel_left(0, high, shift)};
    uint64_t *limb = sum->limb + place / 64, *end = sum->limb + PE_EXACT_LIMBS;
    if ((a < 0) != (b < 0)) {
        uint64_t borrow = pe_limbs_sub(limb, shifted, 3);
        for (limb += 3; borrow && limb < end; limb++)
            borrow = (*limb)-- == 0;
    } else {
        uint64_t carry = pe_limbs_add(limb, shifted, 3);
        for (limb += 3; carry && limb < end; limb++)
            carry = ++*limb == 0;
    }
}

int pe_exact_sign(const pe_exact *sum)
{
    if (sum->limb[PE_EXACT_LIMBS - 1] >> 63)
        return -1;
    return pe_limbs_are_zero(sum->limb, PE_EXACT_LIMBS) ? 0 : 1;
}

dd pe_exact_scaled(const pe_exact *sum, int *ret_exponent)
{
    pe_exact magnitude = *sum;
    bool negative = pe_exact_sign(sum) < 0;
    if (negative) {
        magnitude = (pe_exact){{0}};
        pe_limbs_sub(magnitude.limb, sum->limb, PE_EXACT_LIMBS);
    }
    pe_leading leading = pe_limbs_leading(magnitude.limb, PE_EXACT_LIMBS);
    uint64_t first = leading.high >> 11; /* 53 bits each */
    uint64_t second = (leading.high & 0x7ff) << 42 | leading.low >> 22;
    second |= leading.cut_off || (leading.low & 0x3fffff) != 0;
    dd value = dd_quick_two_sum((double)first * 0x1p-53, (double)second * 0x1p-106);
    *ret_exponent = leading.length - 2148; /* magnitude = 0.high low * 2^exponent */
    return negative ? dd_neg(value) : value;
}

dd pe_exact_value(const pe_exact *sum)
{
    int exponent;
    dd value = pe_exact_scaled(sum, &exponent);
    return (dd){ldexp(value.hi, exponent), ldexp(value.lo, exponent)};
}
