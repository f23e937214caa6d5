/* Logarithms by a table and the series of artanh; exponentials by Taylor's series. */
#include "numerics/elementary.h"

#include "numerics/expect.h"
#include "numerics/log_table.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* ---- logarithms ---- */

/* 1/3, 1/5, 1/7 and 1/9. For |s| < 2^-5.9 the terms of artanh from s^11/11 on are below 2^-60
 * of s, so that doubles serve for them. */
static const dd ODD_INVERSES[] = {
    {0x1.5555555555555p-2, 0x1.5555555555555p-56},
    {0x1.999999999999ap-3, -0x1.999999999999ap-57},
    {0x1.2492492492492p-3, 0x1.2492492492492p-57},
    {0x1.c71c71c71c71cp-4, 0x1.c71c71c71c71cp-58},
};

/* ln(1 + z) = 2·artanh(s), s = z/(2 + z), for |z| <= 1/32. The first omitted term is below
 * 2^-115 of the sum. */
static dd log1p_of_small(dd z)
{
    if (z.hi == 0)
        return z;
    dd s = dd_quotient(z, dd_add((dd){2, 0}, z)), square = dd_mul(s, s);
    double tail = 0;
    for (int n = 19; n >= 11; n -= 2)
        tail = tail * square.hi + 1.0 / n;
    dd sum = {tail, 0};
    for (int i = 3; i >= 0; i--)
        sum = dd_add(dd_mul(sum, square), ODD_INVERSES[i]);
    sum = dd_add(dd_mul(dd_mul(sum, square), s), s);
    return (dd){2 * sum.hi, 2 * sum.lo};
}

/* ln x = exponent · ln 2 + rest, with |rest| < 0.41; nothing cancels in that sum. */
typedef struct split_log {
    int exponent;
    dd rest;
} split_log;

static split_log split_logarithm(dd x)
{
    int exponent;
    if (!PE_EXPECTED(x.hi >= DBL_MIN && x.hi <= DBL_MAX)) /* it chooses a row of tables */
        return (split_log){0, {NAN, NAN}};
    double significand = 2 * frexp(x.hi, &exponent), low = ldexp(x.lo, 1 - exponent);
    size_t row = (size_t)((significand - 1) * 64);
    double reciprocal = (double)pe_log_reciprocals[row] * (1.0 / 512);
    bool halved = row >= PE_LOG_HALVED_FROM;
    /* z = x · reciprocal - 1; the product of the high parts is exact, and so is its sum with -1
     */
    dd product = dd_two_prod(significand, reciprocal);
    dd z = dd_two_sum(product.hi - 1, product.lo);
    z = dd_add(z, dd_two_prod(low, reciprocal));
    dd of_table = {pe_log_table[row], pe_log_table_rests[row]};
    return (split_log){exponent - 1 + halved, dd_add(of_table, log1p_of_small(z))};
}

dd pe_log(dd x)
{
    split_log log = split_logarithm(x);
    return log.exponent == 0 ? log.rest : dd_add(dd_mul_double(DD_LN2, log.exponent), log.rest);
}

dd pe_log1p(dd x)
{
    if (!PE_EXPECTED(x.hi >= -0x1p-5))
        return (dd){NAN, NAN};
    if (x.hi <= 0x1p-5)
        return log1p_of_small(x);
    return pe_log(dd_add((dd){1, 0}, x));
}

/* ---- exponentials ---- */

/* 1/2! … 1/5!. For |x| < 2^-7 the terms from x^6/6! on are below 2^-51 of x. */
static const dd FACTORIALS[] = {
    {0.5, 0},
    {0x1.5555555555555p-3, 0x1.5555555555555p-57},
    {0x1.5555555555555p-5, 0x1.5555555555555p-59},
    {0x1.1111111111111p-7, 0x1.1111111111111p-63},
};

/* e^x - 1 for |x| < 2^-7. */
static dd expm1_of_small(dd x)
{
    static const double TAIL[] = {1.0 / 720,     1.0 / 5040,     1.0 / 40320,    1.0 / 362880,
                                  1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600};
    double tail = 0;
    for (int i = 6; i >= 0; i--)
        tail = tail * x.hi + TAIL[i];
    dd sum = {tail, 0};
    for (int i = 3; i >= 0; i--)
        sum = dd_add(dd_mul(sum, x), FACTORIALS[i]);
    return dd_add(dd_mul(dd_mul(sum, x), x), x);
}

#define HALVINGS 6

/* e^x for |x| < 0.4: from (e^(x/64) - 1) by squarings, (1 + y)² - 1 = 2y + y². */
static dd exp_of_moderate(dd x)
{
    dd y = expm1_of_small((dd){x.hi * (1.0 / 64), x.lo * (1.0 / 64)});
    for (int i = 0; i < HALVINGS; i++)
        y = dd_add((dd){2 * y.hi, 2 * y.lo}, dd_mul(y, y));
    return dd_add((dd){1, 0}, y);
}

pe_scaled pe_exp(dd x)
{
    if (!PE_EXPECTED(fabs(x.hi) < 0x1p29)) /* it becomes an integer */
        return (pe_scaled){{NAN, NAN}, 0};
    double exponent = rint(x.hi * 0x1.71547652b82fep+0); /* by ln 2 */
    dd rest = dd_add(x, dd_neg(dd_mul_double(DD_LN2, exponent)));
    return (pe_scaled){exp_of_moderate(rest), (int)exponent};
}

/* 2^(p·e) · exp(p·rest), where ln x = e·ln 2 + rest: the whole part of p·e becomes the
 * exponent, so that its size costs no bits. */
pe_scaled pe_power(double x, double p)
{
    if (!PE_EXPECTED(x >= DBL_MIN && x <= DBL_MAX && fabs(p) <= 0x1p20))
        return (pe_scaled){{NAN, NAN}, 0};
    split_log log = split_logarithm((dd){x, 0});
    dd shift = dd_two_prod(p, log.exponent); /* exactly */
    double whole = rint(shift.hi);
    dd fraction = dd_two_sum(shift.hi - whole, shift.lo);
    pe_scaled power = pe_exp(dd_add(dd_mul(DD_LN2, fraction), dd_mul_double(log.rest, p)));
    power.exponent += (int)whole;
    return power;
}

dd pe_apply_exponent(pe_scaled number)
{
    return (dd){ldexp(number.value.hi, number.exponent),
                ldexp(number.value.lo, number.exponent)};
}

double pe_power_double(double x, double p)
{
    if (x >= DBL_MIN && x <= DBL_MAX && fabs(p) <= 0x1p20)
        return pe_apply_exponent(pe_power(x, p)).hi;
    return pow(x, p);
}
