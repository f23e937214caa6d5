/* Argument reduction of large angles with enough bits of 1/(2π) (Payne and Hanek 1983). */
#include "numerics/angle.h"

#include "numerics/limbs.h"

#include <math.h>
#include <stdbool.h>

/* 1/(2π), most significant limb first: 1344 bits serve the largest double. */
static const uint64_t INVERSE[21] = {
    0x28be60db9391054a, 0x7f09d5f47d4d3770, 0x36d8a5664f10e410, 0x7f9458eaf7aef158,
    0x6dc91b8e909374b8, 0x01924bba82746487, 0x3f877ac72c4a69cf, 0xba208d7d4baed121,
    0x3a671c09ad17df90, 0x4e64758e60d4ce7d, 0x272117e2ef7e4a0e, 0xc7fe25fff7816603,
    0xfbcbc462d6829b47, 0xdb4d9fb3c9f2c26d, 0xd3d18fd9a797fa8b, 0x5d49eeb1faf97c5e,
    0xcf41ce7de294a4ba, 0x9afed7ec47e35742, 0x1580cc11bf1edaea, 0xfc33ef0826bd0d87,
    0x6a78e45857b986c2,
};

/* The angle fraction · 2^exponent in turns, for |fraction| <= 1 and exponents up to 1078. */
static pe_wide scaled_turns(double fraction, int exponent)
{
    int fraction_exponent;
    fraction = frexp(fraction, &fraction_exponent);
    exponent += fraction_exponent;
    if (exponent <= 53)
        return pe_wide_mul_double(pe_wide_radian, ldexp(fraction, exponent));
    /* scaled = 2^(exponent - 53)/(2π) modulo 1, to be multiplied by an integer of 53 bits */
    unsigned skip = (unsigned)(exponent - 53) / 64, shift = (unsigned)(exponent - 53) % 64;
    pe_wide scaled;
    for (unsigned i = 0; i < 4; i++)
        scaled.limb[3 - i] = pe_funnel_left(INVERSE[skip + i], INVERSE[skip + i + 1], shift);
    return pe_wide_mul_integer(scaled, (int64_t)ldexp(fraction, 53));
}

pe_wide pe_angle_turns(double radians)
{
    return pe_angle_turns_of_product(radians, 1);
}

pe_wide pe_angle_turns_of_product(double a, double b)
{
    int a_exponent, b_exponent;
    dd product = dd_two_prod(frexp(a, &a_exponent), frexp(b, &b_exponent)); /* exactly */
    int exponent = a_exponent + b_exponent;
    pe_wide turns = scaled_turns(product.hi, exponent);
    return product.lo == 0 ? turns : pe_wide_add(turns, scaled_turns(product.lo, exponent));
}

dd pe_angle_sum(dd angle, double phase)
{
    dd sum = dd_add(angle, (dd){phase, 0});
    bool cancel = fabs(sum.hi) < 0x1p-10 * fabs(phase) && fabs(phase) > 0x1p-60;
    return cancel ? (dd){0, 0} : sum;
}

void pe_angle_small_sincos(dd x, dd *ret_sin, dd *ret_cos)
{
    double square = x.hi * x.hi;
    *ret_sin = dd_less(x, square / 6 * (1 - square / 20));
    /* 1 times an amplitude may lie on a rounding boundary, where the sign of the low part
     * decides: it must not vanish */
    *ret_cos = (dd){1, -fmax(square / 2 * (1 - square / 12), 0x1p-200)};
}
