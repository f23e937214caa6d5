/* Sums in double-double with an error bound. Where the bound leaves several candidates, exact
 * sums compare the entry with the midpoints between them. */
#include "numerics/weighted.h"

#include "numerics/between.h"
#include "numerics/dtype.h"
#include "numerics/exact.h"
#include "numerics/limbs.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- exact sums ---- */

#define PRODUCT_LIMBS (2 * PE_WEIGHT_LIMBS)

/* The product of the weights of both axes. */
typedef struct product {
    bool negative;
    uint64_t limb[PRODUCT_LIMBS];
} product;

static product multiply_weights(pe_weight a, pe_weight b)
{
    product result = {.negative = a.negative != b.negative};
    for (size_t i = 0; i < PE_WEIGHT_LIMBS; i++) {
        uint64_t part[PE_WEIGHT_LIMBS + 1];
        memcpy(part, b.limb, sizeof b.limb);
        part[PE_WEIGHT_LIMBS] = pe_limbs_mul_small(part, PE_WEIGHT_LIMBS, a.limb[i]);
        pe_limbs_add(result.limb + i, part, PE_WEIGHT_LIMBS + 1); /* no carry: it fits */
    }
    return result;
}

/* Add value · weight · factor · 2^-384, for |factor| <= 2. */
static void add_product(pe_exact *sum, double value, const product *weight, double factor)
{
    for (size_t half = 0; half < 2 * PRODUCT_LIMBS; half++) {
        uint32_t digits = (uint32_t)(weight->limb[half / 2] >> (half % 2 * 32));
        int place = 32 * (int)half - 64 * PRODUCT_LIMBS;
        if (digits != 0)
            pe_exact_add(sum, value,
                         ldexp(weight->negative ? -(double)digits : (double)digits, place) *
                             factor);
    }
}

/* The entry times 2 · total, in the units of `add_product`. */
typedef struct entry {
    pe_exact twice;
    product total;
} entry;

static int compare_with_midpoint(const void *number, double low, double high)
{
    const entry *x = number;
    pe_exact sum = x->twice;
    add_product(&sum, low, &x->total, -1);
    add_product(&sum, high, &x->total, -1);
    return pe_exact_sign(&sum);
}

static void round_exactly(const pe_weighted *sum, pe_dtype dtype, const void *low,
                          const void *high, void *dst)
{
    entry x = {.total = multiply_weights(pe_taps_total(sum->y), pe_taps_total(sum->x))};
    for (size_t i = 0; i < sum->y->count; i++)
        for (size_t j = 0; j < sum->x->count; j++) {
            product weight =
                multiply_weights(pe_taps_weight(sum->y, i), pe_taps_weight(sum->x, j));
            add_product(&x.twice, sum->values[i * sum->x->count + j], &weight, 2);
        }
    pe_round_bisecting(dtype, low, high, compare_with_midpoint, &x, dst);
}

/* ---- sums with an error bound ---- */

/* Between these no product overflows, nor loses bits to underflow: a weight that is not 0 is at
 * least 2^-166 on either axis. */
#define HUGE_MAGNITUDE 0x1p900
#define TINY_MAGNITUDE 0x1p-600

/* A sum of products: high + low is within `error` of it, unless `bounded` is false. */
typedef struct approximation {
    double high, low, magnitude, error;
    bool exact, bounded;
} approximation;

/* Add weight · value. */
static void accumulate_term(approximation *sum, dd weight, double value)
{
    dd term = dd_mul_double(weight, value);
    dd high = dd_two_sum(sum->high, term.hi);
    dd first = dd_two_sum(sum->low, high.lo), second = dd_two_sum(first.hi, term.lo);
    sum->high = high.hi;
    sum->low = second.hi;
    sum->exact = sum->exact && weight.lo == 0 && first.lo == 0 && second.lo == 0;
    sum->bounded = sum->bounded && fabs(value) < HUGE_MAGNITUDE && fabs(value) > TINY_MAGNITUDE;
    sum->magnitude += fabs(term.hi);
}

static approximation approximate_sum(const pe_weighted *sum)
{
    approximation result = {.exact = sum->exact, .bounded = true};
    double terms = (double)(sum->y->count * sum->x->count);
    for (size_t i = 0; i < sum->y->count; i++)
        for (size_t j = 0; j < sum->x->count; j++) {
            double value = sum->values[i * sum->x->count + j];
            if (value != 0)
                accumulate_term(&result, dd_mul(sum->y_weights[i], sum->x_weights[j]), value);
        }
    dd value = dd_two_sum(result.high, result.low);
    result.high = value.hi;
    result.low = value.lo;
    result.error = result.magnitude * (0x1p-94 + terms * terms * 0x1p-102);
    return result;
}

/* The largest double that does not round to infinity. */
static double find_largest(pe_dtype dtype)
{
    return dtype == PE_F64 ? DBL_MAX : pe_dtypes[dtype].overflow * (1 - 0x1p-30);
}

void pe_weighted_round(const pe_weighted *sum, pe_dtype dtype, void *dst)
{
    unsigned char low[sizeof(dd)], high[sizeof(dd)];
    approximation near = approximate_sum(sum);
    if (near.bounded && (near.exact || dtype == PE_DD)) {
        dd value = {near.high, near.low};
        pe_round_dd(dtype, near.exact ? value : dd_snap(value), dst);
        return;
    }
    if (dtype == PE_DD) { /* so large or small that a double has to do */
        double nearest;
        pe_weighted_round(sum, PE_F64, &nearest);
        pe_round_row(dtype, &nearest, 1, dst);
        return;
    }
    if (near.bounded) {
        dd value = {near.high, near.low};
        pe_round_dd(dtype, dd_add(value, (dd){-near.error, 0}), low);
        pe_round_dd(dtype, dd_add(value, (dd){near.error, 0}), high);
    } else {
        double bound = fmin(near.magnitude * (1 + 0x1p-40) + 0x1p-1000, find_largest(dtype));
        pe_round_row(dtype, &(double){-bound}, 1, low);
        pe_round_row(dtype, &bound, 1, high);
    }
    if (memcmp(low, high, pe_dtype_size(dtype)) == 0)
        memcpy(dst, low, pe_dtype_size(dtype));
    else
        round_exactly(sum, dtype, low, high, dst);
}
