/* Double-double arithmetic: an unevaluated sum hi + lo with |lo| <= ulp(hi)/2, about 106 bits.
 *
 * Sums use Knuth's TwoSum, products Dekker's. Where there is a fused multiply-add, it gives the
 * same error of a product, so the bits do not depend on the instruction set. Code that includes
 * this header must be compiled without contraction and without -ffast-math. Relative errors:
 * dd_add and dd_mul below 2^-102, dd_div below 2^-101. */
#ifndef PE_DD_H
#define PE_DD_H

#include "numerics/double_bits.h"

#include <math.h>

typedef struct dd {
    double hi, lo;
} dd;

/* The double-double nearest to 2π. */
#define PE_TURN   0x1.921fb54442d18p+2 /* radians: 2π, rounded */
#define DD_LN2    ((dd){0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56})
#define DD_TWO_PI ((dd){PE_TURN, 0x1.1a62633145c07p-52})

/* a + b exactly, where |a| >= |b| or a is zero. */
static inline dd dd_quick_two_sum(double a, double b)
{
    double sum = a + b;
    return (dd){sum, b - (sum - a)};
}

/* a + b exactly. */
static inline dd dd_two_sum(double a, double b)
{
    double sum = a + b;
    double b_part = sum - a;
    return (dd){sum, (a - (sum - b_part)) + (b - b_part)};
}

#if !defined(__FMA__)
/* Split a into the sum of two 26-bit halves (Veltkamp); |a| < 2^996. */
static inline dd dd_split(double a)
{
    double scaled = 134217729.0 * a; /* 2^27 + 1 */
    double high = scaled - (scaled - a);
    return (dd){high, a - high};
}
#endif

/* a * b exactly, unless it overflows or underflows. */
static inline dd dd_two_prod(double a, double b)
{
    double product = a * b;
#if defined(__FMA__)
    return (dd){product, __builtin_fma(a, b, -product)};
#else
    dd x = dd_split(a), y = dd_split(b);
    double error = ((x.hi * y.hi - product) + x.hi * y.lo + x.lo * y.hi) + x.lo * y.lo;
    return (dd){product, error};
#endif
}

static inline dd dd_add(dd a, dd b)
{
    dd high = dd_two_sum(a.hi, b.hi);
    dd low = dd_two_sum(a.lo, b.lo);
    high = dd_quick_two_sum(high.hi, high.lo + low.hi);
    return dd_quick_two_sum(high.hi, high.lo + low.lo);
}

static inline dd dd_neg(dd a)
{
    return (dd){-a.hi, -a.lo};
}

static inline dd dd_mul(dd a, dd b)
{
    dd product = dd_two_prod(a.hi, b.hi);
    return dd_quick_two_sum(product.hi, product.lo + (a.hi * b.lo + a.lo * b.hi));
}

static inline dd dd_mul_double(dd a, double b)
{
    dd product = dd_two_prod(a.hi, b);
    return dd_quick_two_sum(product.hi, product.lo + a.lo * b);
}

/* a / b, unless an intermediate result overflows or underflows. */
static inline dd dd_div(double a, double b)
{
    double quotient = a / b;
    dd back = dd_two_prod(quotient, b);
    double rest = ((a - back.hi) - back.lo) / b;
    return dd_quick_two_sum(quotient, rest);
}

/* a / b by long division with quotients of doubles. */
static inline dd dd_quotient(dd a, dd b)
{
    double first = a.hi / b.hi;
    dd rest = dd_add(a, dd_neg(dd_mul_double(b, first)));
    double second = rest.hi / b.hi;
    rest = dd_add(rest, dd_neg(dd_mul_double(b, second)));
    dd sum = dd_quick_two_sum(first, second);
    return dd_add(sum, (dd){rest.hi / b.hi, 0});
}

/* The square root of a > 0: one Newton step from sqrt, which IEEE 754 rounds correctly. */
static inline dd dd_sqrt(dd a)
{
    double root = sqrt(a.hi);
    dd rest = dd_add(a, dd_neg(dd_two_prod(root, root)));
    return dd_quick_two_sum(root, rest.hi / (2 * root));
}

/* A double from which rounding to fewer bits gives what rounding `sum` itself would: rounded to
 * odd. sum.hi is the double nearest to the sum; of sum.lo only the sign counts. */
static inline double dd_to_odd(dd sum)
{
    uint64_t bits = pe_bits_of_double(sum.hi), inexact = sum.lo != 0;
    uint64_t towards_zero = (bits ^ pe_bits_of_double(sum.lo)) >> 63 & inexact;
    return pe_double_of_bits((bits - towards_zero) | inexact); /* truncated, then odd */
}

/* a, or a number of 55 bits that is so near that the difference can only be a rounding error:
 * such an error would decide the rounding of a number that lies on a rounding boundary. */
static inline dd dd_snap(dd a)
{
    int exponent;
    (void)frexp(a.hi, &exponent);
    double unit = ldexp(1, exponent - 55), near = unit * rint(a.lo / unit);
    return fabs(a.lo - near) < fabs(a.hi) * 0x1p-96 ? (dd){a.hi, near} : a;
}

/* a · (1 - part), for 0 <= part < 2^-20, and nearer to zero than a even where part is too small
 * to count: where a lies on a rounding boundary, the result does not. |a| is at least 2^-800.
 */
static inline dd dd_less(dd a, double part)
{
    double low = a.lo - a.hi * fmax(part, 0x1p-200);
    return dd_quick_two_sum(a.hi,
                            low == a.lo ? nextafter(low, -copysign(INFINITY, a.hi)) : low);
}

#endif
