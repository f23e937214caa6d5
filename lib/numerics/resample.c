/* Positions as fractions, weights as quotients of integers. */
#include "numerics/resample.h"

#include "numerics/limbs.h"

#include <assert.h>
#include <math.h>

/* ---- ratios ---- */

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static pe_uint128 compute_numerator(const pe_resample *axis)
{
    return (pe_uint128)axis->ratio_high << 64 | axis->ratio_low;
}

/* Set the ratio to numerator/divisor in lowest terms. */
static void set_ratio(pe_resample *axis, pe_uint128 numerator, uint64_t divisor)
{
    uint64_t common = common_divisor(divisor, (uint64_t)(numerator % divisor));
    numerator /= common;
    axis->ratio_high = (uint64_t)(numerator >> 64);
    axis->ratio_low = (uint64_t)numerator;
    axis->divisor = divisor / common;
}

pe_resample pe_resample_to_size(pe_filter filter, bool align_corners, bool antialias,
                                uint64_t source, uint64_t target)
{
    pe_resample axis = {.filter = filter,
                        .align_corners = align_corners,
                        .antialias = antialias,
                        .source = source,
                        .target = target};
    assert(source > 0 && source <= PE_RESAMPLE_MAX && target > 0 && target <= PE_RESAMPLE_MAX);
    assert(!antialias || source <= PE_RESAMPLE_SHRINK * target);
    if (!align_corners)
        set_ratio(&axis, source, target);
    else if (target > 1)
        set_ratio(&axis, source - 1, target - 1);
    else
        set_ratio(&axis, 0, 1);
    return axis;
}

pe_resample pe_resample_by_factor(pe_filter filter, uint64_t source, uint64_t target,
                                  uint64_t numerator, double factor)
{
    int exponent;
    pe_resample axis = {.filter = filter, .source = source, .target = target};
    assert(factor >= 0x1p-10 && factor <= 0x1p18 && numerator <= PE_RESAMPLE_MAX);
    uint64_t significand = (uint64_t)ldexp(frexp(factor, &exponent), 53);
    unsigned zeros = (unsigned)__builtin_ctzll(significand);
    significand >>= zeros;
    int shift = 53 - exponent - (int)zeros; /* factor = significand · 2^-shift */
    if (shift >= 0)
        set_ratio(&axis, (pe_uint128)numerator << shift, significand);
    else
        set_ratio(&axis, numerator, significand << -shift);
    return axis;
}

/* ---- taps ---- */

/* The taps around position / divisor, counted from the middle of source cell 0. */
static pe_taps find_taps(const pe_resample *axis, pe_uint128 position, uint64_t divisor,
                         bool before)
{
    pe_taps taps = {.filter = axis->filter};
    int64_t cell = (int64_t)(position / divisor);
    uint64_t part = (uint64_t)(position % divisor);
    if (before) { /* the position is -position / divisor */
        cell = -cell - (part > 0);
        part = part > 0 ? divisor - part : 0;
    }
    uint64_t common = common_divisor(divisor, part);
    taps.unit = taps.step = (int64_t)(divisor / common);
    taps.start = (int64_t)(part / common);
    taps.first = cell;
    taps.count = 2;
    if (axis->filter == PE_CUBIC) {
        taps.first--;
        taps.count = 4;
        taps.start += taps.unit;
    }
    return taps;
}

/* One source cell alone. */
static pe_taps make_single_tap(uint64_t cell)
{
    return (pe_taps){.first = (int64_t)cell, .count = 1, .unit = 1, .filter = PE_LINEAR};
}

/* The taps of a filter that is widened by the ratio where it shrinks. */
static pe_taps wide_taps(const pe_resample *axis, uint64_t index)
{
    int64_t ratio = (int64_t)axis->ratio_low, divisor = (int64_t)axis->divisor;
    int64_t widest = ratio > divisor ? ratio : divisor;
    int64_t centre = (2 * (int64_t)index + 1) * ratio; /* in halves of 1/divisor */
    int64_t support = (axis->filter == PE_CUBIC ? 4 : 2) * widest;
    int64_t first = centre - support + divisor,
            end = (centre + support + divisor) / (2 * divisor);
    first = first < 0 ? 0 : first / (2 * divisor);
    if (end > (int64_t)axis->source)
        end = (int64_t)axis->source;
    assert(end > first && end - first < PE_RESAMPLE_TAPS);
    return (pe_taps){.first = first,
                     .count = (size_t)(end - first),
                     .step = 2 * divisor,
                     .start = centre - (2 * first + 1) * divisor,
                     .unit = 2 * widest,
                     .filter = axis->filter,
                     .antialias = true};
}

pe_taps pe_resample_find_taps(const pe_resample *axis, uint64_t index)
{
    pe_uint128 numerator = compute_numerator(axis);
    uint64_t divisor = axis->divisor;
    if (axis->filter == PE_NEAREST) {
        uint64_t cell = (uint64_t)(index * numerator / divisor);
        return make_single_tap(cell < axis->source ? cell : axis->source - 1);
    }
    if (axis->antialias)
        return wide_taps(axis, index);
    if (axis->align_corners)
        return find_taps(axis, index * numerator, divisor, false);
    if (axis->filter == PE_LINEAR && axis->source == axis->target)
        return make_single_tap(index);
    pe_uint128 centre = (2 * index + 1) * numerator;
    if (centre >= divisor)
        return find_taps(axis, centre - divisor, 2 * divisor, false);
    if (axis->filter == PE_LINEAR) /* nothing is read before the first cell */
        return make_single_tap(0);
    return find_taps(axis, divisor - centre, 2 * divisor, true);
}

uint64_t pe_resample_cell(const pe_resample *axis, const pe_taps *taps, size_t tap)
{
    int64_t cell = taps->first + (int64_t)tap, last = (int64_t)axis->source - 1;
    return (uint64_t)(cell < 0 ? 0 : cell < last ? cell : last);
}

/* ---- weights ---- */

/* The product of a limb and two limbs. */
static pe_weight compute_product(uint64_t a, pe_uint128 b, bool negative)
{
    pe_weight weight = {negative, {(uint64_t)b, (uint64_t)(b >> 64), 0}};
    weight.limb[2] = pe_limbs_mul_small(weight.limb, 2, a);
    return weight;
}

/* Times the unit, for linear; Keys 1981, equation 4, with a = -sharpness/4, times 4·unit³. Both
 * branches are written as products, so that no difference of large numbers is needed. */
pe_weight pe_taps_weight(const pe_taps *taps, size_t tap)
{
    int64_t distance = (int64_t)tap * taps->step - taps->start;
    uint64_t u = (uint64_t)(distance < 0 ? -distance : distance), v = (uint64_t)taps->unit;
    uint64_t sharpness = taps->antialias ? 2 : 3;
    if (taps->filter != PE_CUBIC)
        return compute_product(u < v ? v - u : 0, 1, false);
    if (u <= v)
        return compute_product(
            v - u, 4 * (pe_uint128)v * (v + u) - (8 - sharpness) * (pe_uint128)u * u, false);
    if (u >= 2 * v)
        return (pe_weight){0};
    return compute_product(u - v, sharpness * (pe_uint128)(2 * v - u) * (2 * v - u), true);
}

pe_weight pe_taps_total(const pe_taps *taps)
{
    pe_weight total = {0}; /* in two's complement on the way; positive in the end */
    for (size_t t = 0; t < taps->count; t++) {
        pe_weight weight = pe_taps_weight(taps, t);
        if (weight.negative)
            pe_limbs_sub(total.limb, weight.limb, PE_WEIGHT_LIMBS);
        else
            pe_limbs_add(total.limb, weight.limb, PE_WEIGHT_LIMBS);
    }
    return total;
}

/* The magnitude, with a relative error below 2^-100; exact below 2^53. */
static dd compute_magnitude(const pe_weight *weight)
{
    dd sum = {0, 0};
    for (size_t i = PE_WEIGHT_LIMBS; i-- > 0;) {
        double upper = (double)(weight->limb[i] >> 32),
               lower = (double)(uint32_t)weight->limb[i];
        sum = dd_add(sum, (dd){ldexp(upper, 64 * (int)i + 32), 0});
        sum = dd_add(sum, (dd){ldexp(lower, 64 * (int)i), 0});
    }
    return sum;
}

bool pe_taps_weights(const pe_taps *taps, dd *ret_weights)
{
    pe_weight whole = pe_taps_total(taps);
    dd total = compute_magnitude(&whole);
    int exponent;
    bool exact = total.lo == 0 && frexp(total.hi, &exponent) == 0.5;
    for (size_t t = 0; t < taps->count; t++) {
        pe_weight weight = pe_taps_weight(taps, t);
        dd magnitude = compute_magnitude(&weight);
        exact = exact && magnitude.hi < 0x1p53;
        ret_weights[t] = dd_quotient(magnitude, total);
        if (weight.negative)
            ret_weights[t] = dd_neg(ret_weights[t]);
    }
    return exact;
}
