/* sin and cos of a phase in turns: reduce to a 64th of a turn, Taylor, rotate back by a table.
 */
#include "phase.h"

#include <math.h>
#include <stdbool.h>

static const dd TWO_PI = {0x1.921fb54442d18p+2, 0x1.1a62633145c07p-52};

/* sin and cos of 2πj/64 for j = 0 … 8. */
static const dd TABLE_SIN[9] = {
    {0, 0},
    {0x1.917a6bc29b42cp-4, -0x1.e2718d26ed688p-60},
    {0x1.8f8b83c69a60bp-3, -0x1.26d19b9ff8d82p-57},
    {0x1.294062ed59f06p-2, -0x1.5d28da2c4612dp-56},
    {0x1.87de2a6aea963p-2, -0x1.72cedd3d5a610p-57},
    {0x1.e2b5d3806f63bp-2, 0x1.e0d891d3c6841p-58},
    {0x1.1c73b39ae68c8p-1, 0x1.b25dd267f6600p-55},
    {0x1.44cf325091dd6p-1, 0x1.8076a2cfdc6b3p-57},
    {0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55},
};
static const dd TABLE_COS[9] = {
    {1, 0},
    {0x1.fd88da3d12526p-1, -0x1.87df6378811c7p-55},
    {0x1.f6297cff75cb0p-1, 0x1.562172a361fd3p-56},
    {0x1.e9f4156c62ddap-1, 0x1.760b1e2e3f81ep-55},
    {0x1.d906bcf328d46p-1, 0x1.457e610231ac2p-56},
    {0x1.c38b2f180bdb1p-1, -0x1.6e0b1757c8d07p-56},
    {0x1.a9b66290ea1a3p-1, 0x1.9f630e8b6dac8p-60},
    {0x1.8bc806b151741p-1, -0x1.2c5e12ed1336dp-55},
    {0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55},
};

/* Taylor coefficients of sin(x)/x and cos(x) in x², from the constant term on. For |x| <= π/64
 * the terms past the fifth weigh less than 2^-53 of the first, so a plain double serves there.
 */
#define DD_TERMS 5
#define TERMS    9
static const dd SIN_TERMS[TERMS] = {
    {1, 0},
    {-0x1.5555555555555p-3, -0x1.5555555555555p-57},
    {0x1.1111111111111p-7, 0x1.1111111111111p-63},
    {-0x1.a01a01a01a01ap-13, -0x1.a01a01a01a01ap-73},
    {0x1.71de3a556c734p-19, -0x1.c154f8ddc6c00p-73},
    {-0x1.ae64567f544e4p-26, 0},
    {0x1.6124613a86d09p-33, 0},
    {-0x1.ae7f3e733b81fp-41, 0},
    {0x1.952c77030ad4ap-49, 0},
};
static const dd COS_TERMS[TERMS] = {
    {1, 0},
    {-0x1p-1, 0},
    {0x1.5555555555555p-5, 0x1.5555555555555p-59},
    {-0x1.6c16c16c16c17p-10, 0x1.f49f49f49f49fp-65},
    {0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76},
    {-0x1.27e4fb7789f5cp-22, 0},
    {0x1.1eed8eff8d898p-29, 0},
    {-0x1.93974a8c07c9dp-37, 0},
    {0x1.ae7f3e733b81fp-45, 0},
};

static dd series(const dd terms[TERMS], dd x_squared)
{
    double tail = terms[TERMS - 1].hi;
    for (int n = TERMS - 2; n >= DD_TERMS; n--)
        tail = tail * x_squared.hi + terms[n].hi;
    dd sum = {tail, 0};
    for (int n = DD_TERMS - 1; n >= 0; n--)
        sum = dd_add(dd_mul(sum, x_squared), terms[n]);
    return sum;
}

dd pe_phase_fraction(pe_wide magnitude)
{
    int top = 3;
    while (top > 0 && magnitude.limb[top] == 0)
        top--;
    if (magnitude.limb[top] == 0)
        return (dd){0, 0};
    unsigned zeros = (unsigned)__builtin_clzll(magnitude.limb[top]);
    uint64_t limbs[3] = {0, 0, 0}; /* most significant first */
    for (int i = 0; i < 3 && top - i >= 0; i++)
        limbs[i] = magnitude.limb[top - i];
    uint64_t first = zeros ? limbs[0] << zeros | limbs[1] >> (64 - zeros) : limbs[0];
    uint64_t second = zeros ? limbs[1] << zeros | limbs[2] >> (64 - zeros) : limbs[1];
    int exponent =
        64 * (top - 4) - (int)zeros + 64; /* magnitude = 0.first second * 2^exponent */
    double high = ldexp((double)(first >> 11), exponent - 53);
    double low = ldexp((double)((first & 0x7ff) << 42 | second >> 22), exponent - 106);
    return dd_quick_two_sum(high, low);
}

dd pe_phase_radians(pe_wide frequency)
{
    return dd_mul(pe_phase_fraction(frequency), TWO_PI);
}

void pe_phase_sincos(pe_wide phase, dd *ret_sin, dd *ret_cos)
{
    /* nearest quarter turn, then the rest as sign and magnitude up to an eighth */
    const pe_wide eighth = {{0, 0, 0, 1ULL << 61}}, zero = {{0, 0, 0, 0}};
    unsigned quadrant = (unsigned)(pe_wide_add(phase, eighth).limb[3] >> 62);
    pe_wide rest = phase;
    rest.limb[3] -= (uint64_t)quadrant << 62;
    bool negative = rest.limb[3] >> 63;
    if (negative)
        rest = pe_wide_sub(zero, rest);
    /* nearest 64th within it */
    unsigned step = (unsigned)((rest.limb[3] + (1ULL << 57)) >> 58);
    rest.limb[3] -= (uint64_t)step << 58;
    bool below = rest.limb[3] >> 63;
    if (below)
        rest = pe_wide_sub(zero, rest);

    dd x = dd_mul(pe_phase_fraction(rest), TWO_PI);
    if (below)
        x = dd_neg(x);
    dd x_squared = dd_mul(x, x);
    dd sine = dd_mul(x, series(SIN_TERMS, x_squared)), cosine = series(COS_TERMS, x_squared);
    if (step > 0) {
        dd table_sin = TABLE_SIN[step], table_cos = TABLE_COS[step], small_sin = sine;
        sine = dd_add(dd_mul(table_sin, cosine), dd_mul(table_cos, small_sin));
        cosine = dd_add(dd_mul(table_cos, cosine), dd_neg(dd_mul(table_sin, small_sin)));
    }
    if (negative)
        sine = dd_neg(sine);
    switch (quadrant) {
    case 0:
        *ret_sin = sine, *ret_cos = cosine;
        break;
    case 1:
        *ret_sin = cosine, *ret_cos = dd_neg(sine);
        break;
    case 2:
        *ret_sin = dd_neg(sine), *ret_cos = dd_neg(cosine);
        break;
    default:
        *ret_sin = dd_neg(cosine), *ret_cos = sine;
        break;
    }
}
