#include "exponent.h"

#include <math.h>

#define HALVINGS 6

dd pe_exp2(dd x)
{
    static const dd LN2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
    double whole = nearbyint(x.hi);
    dd part = dd_add(x, (dd){-whole, 0});
    if (part.hi == 0)
        return (dd){ldexp(1, (int)whole), 0};
    dd y = dd_mul(part, LN2); /* |y| < 0.35; its series at y / 64 */
    y = (dd){ldexp(y.hi, -HALVINGS), ldexp(y.lo, -HALVINGS)};
    dd less_one = {0, 0}; /* e^y - 1, by Horner: y (1 + y/2 (1 + y/3 (…))) */
    for (int n = 14; n >= 1; n--) {
        dd next = dd_add((dd){1, 0}, less_one);
        less_one = dd_mul(dd_mul(y, dd_div(1, n)), next);
    }
    for (int i = 0; i < HALVINGS; i++) /* (1 + e)^2 - 1 = e (2 + e) */
        less_one = dd_mul(less_one, dd_add((dd){2, 0}, less_one));
    dd power = dd_add((dd){1, 0}, less_one);
    return (dd){ldexp(power.hi, (int)whole), ldexp(power.lo, (int)whole)};
}
