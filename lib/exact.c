/* Exact sums: each product is a 106-bit integer, shifted to its place. */
#include "exact.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

__extension__ typedef unsigned __int128 uint128;

/* |x| = significand · 2^exponent, with an exponent of at least -1074. */
static uint64_t significand_of(double x, int *ret_exponent)
{
    int exponent;
    double fraction = frexp(fabs(x), &exponent);
    *ret_exponent = exponent - 53 < -1074 ? -1074 : exponent - 53;
    return (uint64_t)ldexp(fraction, exponent - *ret_exponent);
}

void pe_exact_add(pe_exact *sum, double a, double b)
{
    int a_exponent, b_exponent;
    assert(fabs(a) <= 0x1.fffffffffffffp+1023 && fabs(b) <= 4);
    if (a == 0 || b == 0)
        return;
    uint128 product = (uint128)significand_of(a, &a_exponent) * significand_of(b, &b_exponent);
    unsigned place = (unsigned)(a_exponent + b_exponent + 2148);
    unsigned limb = place / 64, shift = place % 64;
    uint64_t low = (uint64_t)product, high = (uint64_t)(product >> 64);
    const uint64_t parts[3] = {low << shift, shift ? high << shift | low >> (64 - shift) : high,
                               shift ? high >> (64 - shift) : 0};
    bool negative = (a < 0) != (b < 0);
    uint64_t carry = 0;
    for (unsigned i = 0; limb + i < PE_EXACT_LIMBS; i++) {
        uint64_t part = i < 3 ? parts[i] : 0, before = sum->limb[limb + i];
        if (i >= 3 && carry == 0)
            break;
        uint128 wide =
            negative ? (uint128)before - part - carry : (uint128)before + part + carry;
        sum->limb[limb + i] = (uint64_t)wide;
        carry = (uint64_t)(wide >> 64) & 1; /* or the borrow: all ones above */
    }
}

int pe_exact_sign(const pe_exact *sum)
{
    if (sum->limb[PE_EXACT_LIMBS - 1] >> 63)
        return -1;
    for (unsigned i = 0; i < PE_EXACT_LIMBS; i++)
        if (sum->limb[i])
            return 1;
    return 0;
}
