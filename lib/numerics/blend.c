/* Blending in double-double with an error bound. Where the bound leaves several candidates,
 * exact sums compare the entry with the midpoints between them. */
#include "numerics/blend.h"

#include "numerics/between.h"
#include "numerics/dtype.h"
#include "numerics/exact.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

pe_blend pe_blend_init(double alpha, pe_dtype dtype)
{
    dd complement = dd_two_sum(1, -alpha); /* exactly */
    double quotient = alpha / complement.hi;
    dd rest = dd_add((dd){alpha, 0}, dd_neg(dd_mul_double(complement, quotient)));
    return (pe_blend){
        .alpha = alpha,
        .ratio = dd_quick_two_sum(quotient, rest.hi / complement.hi),
        .dtype = dtype,
    };
}

double pe_blend_magnitude(const pe_blend *blend, double magnitude)
{
    return (magnitude + 2 * magnitude * blend->ratio.hi) * (1 + 0x1p-40);
}

/* ---- exact rounding ---- */

/* What one entry is computed from. */
typedef struct entry {
    double alpha, a, b, p;
} entry;

/* Whether the entry lies above the midpoint of low and high (1), below it (-1) or on it (0).
 * As α < 1, the difference may be multiplied by 2 (1 - α). That gives
 * (1 - α)(2a - low - high) + 2α (b - p): products of two doubles, which are summed exactly. */
static int compare_with_midpoint(const void *number, double low, double high)
{
    const entry *x = number;
    pe_exact sum = {{0}};
    pe_exact_add(&sum, x->a, 2);
    pe_exact_add(&sum, x->a, -2 * x->alpha);
    pe_exact_add(&sum, x->b, 2 * x->alpha);
    pe_exact_add(&sum, x->p, -2 * x->alpha);
    pe_exact_add(&sum, low, -1);
    pe_exact_add(&sum, low, x->alpha);
    pe_exact_add(&sum, high, -1);
    pe_exact_add(&sum, high, x->alpha);
    return pe_exact_sign(&sum);
}

/* ---- rounding with an error bound ---- */

/* Between these dd_two_prod neither overflows nor loses bits to underflow. */
#define HUGE_MAGNITUDE 0x1p900
#define TINY_MAGNITUDE 0x1p-900

/* Compute doubles that enclose the entry: for f64 as close as the error bound allows, else
 * 2^-51 of the value to either side, which are seldom rounded to different elements. */
static void enclose_entry(const pe_blend *blend, const entry *x, double *ret_low,
                          double *ret_high)
{
    dd difference = dd_two_sum(x->b, -x->p);
    double largest = fmax(fmax(fabs(x->a), fabs(x->b)), fabs(x->p));
    double product = fabs(difference.hi * blend->ratio.hi);
    if (difference.hi == 0 && difference.lo == 0) {
        *ret_low = *ret_high = x->a;
        return;
    }
    if (!(largest < HUGE_MAGNITUDE && product < HUGE_MAGNITUDE && product > TINY_MAGNITUDE)) {
        double bound = pe_blend_magnitude(blend, largest);
        *ret_low = -bound;
        *ret_high = bound;
        return;
    }
    dd value = dd_add((dd){x->a, 0}, dd_mul(difference, blend->ratio));
    double error = (fabs(x->a) + product) * 0x1p-95;
    if (blend->dtype == PE_F64) {
        *ret_low = value.hi + (value.lo - error);
        *ret_high = value.hi + (value.lo + error);
    } else {
        double margin = fabs(value.hi) * 0x1p-51 + error;
        *ret_low = value.hi - margin;
        *ret_high = value.hi + margin;
    }
}

/* Write an entry as a double-double, or where it is very large or small the nearest double. */
static void write_pair(const pe_blend *blend, double a, double b, double p, void *dst)
{
    dd difference = dd_two_sum(b, -p);
    double largest = fmax(fmax(fabs(a), fabs(b)), fabs(p)), nearest;
    double product = fabs(difference.hi * blend->ratio.hi);
    bool is_nothing = difference.hi == 0 && difference.lo == 0;
    if (is_nothing ||
        (largest < HUGE_MAGNITUDE && product < HUGE_MAGNITUDE && product > TINY_MAGNITUDE)) {
        pe_round_dd(PE_DD, dd_snap(dd_add((dd){a, 0}, dd_mul(difference, blend->ratio))), dst);
        return;
    }
    const pe_blend wide = {blend->alpha, blend->ratio, PE_F64};
    pe_blend_row(&wide, &a, &b, &p, 1, &nearest);
    pe_round_row(PE_DD, &nearest, 1, dst);
}

void pe_blend_row(const pe_blend *blend, const double *a, const double *b, const double *p,
                  size_t count, void *dst)
{
    double low[PE_BLEND_ENTRIES], high[PE_BLEND_ENTRIES];
    unsigned char upper[PE_BLEND_ENTRIES * sizeof(double)], *lower = dst;
    size_t size = pe_dtype_size(blend->dtype);
    assert(count <= PE_BLEND_ENTRIES);
    for (size_t i = 0; blend->dtype == PE_DD && i < count; i++)
        write_pair(blend, a[i], b[i], p[i], lower + i * sizeof(dd));
    if (blend->dtype == PE_DD)
        return;
    for (size_t i = 0; i < count; i++)
        enclose_entry(blend, &(entry){blend->alpha, a[i], b[i], p[i]}, &low[i], &high[i]);
    pe_round_row(blend->dtype, low, count, dst);
    pe_round_row(blend->dtype, high, count, upper);
    if (memcmp(lower, upper, count * size) == 0)
        return;
    for (size_t i = 0; i < count; i++, lower += size)
        if (memcmp(lower, upper + i * size, size) != 0)
            pe_round_bisecting(blend->dtype, lower, upper + i * size, compare_with_midpoint,
                               &(entry){blend->alpha, a[i], b[i], p[i]}, lower);
}
