/* sin and cos of a phase in turns: Taylor series of the distance to the nearest 64th of a turn,
 * then angle addition with the table of sines. */
#include "numerics/phase.h"

#include "numerics/limbs.h"
#include "numerics/sine_table.h"

#include <math.h>
#include <stdbool.h>

/* Taylor coefficients of sin(x)/x and cos(x) in x², from the constant term on. For |x| <= π/64
 * the terms after the fifth are below 2^-53 of the first, so doubles serve for these. */
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

static dd evaluate_series(const dd terms[TERMS], dd x_squared)
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
    pe_leading leading = pe_limbs_leading(magnitude.limb, 4);
    int exponent = leading.length - 256; /* magnitude = 0.high low * 2^exponent */
    uint64_t first = leading.high >> 11; /* 53 bits each */
    uint64_t second = (leading.high & 0x7ff) << 42 | leading.low >> 22;
    double high = ldexp((double)first, exponent - 53);
    double low = ldexp((double)second, exponent - 106);
    return dd_quick_two_sum(high, low);
}

dd pe_phase_radians(pe_wide frequency)
{
    return dd_mul(pe_phase_fraction(frequency), DD_TWO_PI);
}

pe_wide pe_phase_snap(pe_wide phase, pe_wide margin)
{
    const pe_wide eighth = {{0, 0, 0, 1ULL << 61}};
    pe_wide nearest = pe_wide_add(phase, eighth);
    nearest = (pe_wide){{0, 0, 0, nearest.limb[3] >> 62 << 62}};
    const pe_wide above = pe_wide_add(pe_wide_sub(phase, nearest), margin);
    const pe_wide width = pe_wide_add(margin, margin);
    return pe_limbs_compare(above.limb, width.limb, 4) < 0 ? nearest : phase;
}

void pe_phase_sincos(pe_wide phase, dd *ret_sin, dd *ret_cos)
{
    /* the nearest quarter turn; the rest as a sign and a magnitude of at most an eighth */
    const pe_wide eighth = {{0, 0, 0, 1ULL << 61}};
    unsigned quadrant = (unsigned)(pe_wide_add(phase, eighth).limb[3] >> 62);
    pe_wide rest = phase;
    rest.limb[3] -= (uint64_t)quadrant << 62;
    bool negative = rest.limb[3] >> 63;
    if (negative)
        rest = pe_wide_negate(rest);
    /* the nearest 64th of a turn within the rest, again with a sign and a magnitude */
    unsigned step = (unsigned)((rest.limb[3] + (1ULL << 57)) >> 58);
    rest.limb[3] -= (uint64_t)step << 58;
    bool below = rest.limb[3] >> 63;
    if (below)
        rest = pe_wide_negate(rest);

    dd x = dd_mul(pe_phase_fraction(rest), DD_TWO_PI);
    if (below)
        x = dd_neg(x);
    dd x_squared = dd_mul(x, x);
    dd sine = dd_mul(x, evaluate_series(SIN_TERMS, x_squared)),
       cosine = evaluate_series(COS_TERMS, x_squared);
    if (step > 0) {
        dd table_sin = {pe_sine_table[step], pe_sine_table_rests[step]};
        dd table_cos = {pe_sine_table[step + 16], pe_sine_table_rests[step + 16]};
        dd small_sin = sine;
        sine = dd_add(dd_mul(table_sin, cosine), dd_mul(table_cos, small_sin));
        cosine = dd_add(dd_mul(table_cos, cosine), dd_neg(dd_mul(table_sin, small_sin)));
    }
    if (negative)
        sine = dd_neg(sine);
    /* each quarter turn makes the sine the cosine, and the cosine the negated sine */
    const dd by_quadrant[4] = {sine, cosine, dd_neg(sine), dd_neg(cosine)};
    *ret_sin = by_quadrant[quadrant];
    *ret_cos = by_quadrant[(quadrant + 1) % 4];
}
