/* Rotary frequencies: geometric ones, which the rotary type then scales; and the rules of each
 * type.
 *
 * All arithmetic is fixed-point. w/f is a long division; ramps and thresholds use logarithms of
 * 256 bits. A theta that grows by f^(d/(d-2)) becomes a second factor of the ratio between
 * neighbouring frequencies,
 *
 *     (theta f^(d/(d-2)))^(-2i/d) = (theta^(-2/d) f^(-2/(d-2)))^i. */
#include "waves/rotary.h"

#include "numerics/fixed.h"
#include "waves/rotary_request.h"
#include "waves/wave.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const pe_wide NOTHING = {{0, 0, 0, 0}}, HALF = {{0, 0, 0, 1ULL << 63}};

/* ---- theta ---- */

/* log2 of the growth (f·s/L) - (f-1) = 1 + f·(s-L)/L of dynamic's factor, for s > L. */
static pe_fixed dynamic_growth(const pe_rotary *rotary)
{
    int factor_exponent, excess_exponent, original_exponent;
    double factor = frexp(rotary->factor, &factor_exponent);
    double excess = frexp((double)(rotary->seq_len - rotary->original), &excess_exponent);
    double original = 2 * frexp((double)rotary->original, &original_exponent);
    /* f·(s-L)/L = quotient·2^exponent with the quotient in (1/8, 1) */
    pe_wide quotient = {{0, 0, 0, (uint64_t)ldexp(factor, 64)}};
    quotient = pe_wide_div_double(pe_wide_mul_double(quotient, excess), original);
    int exponent = factor_exponent + excess_exponent - original_exponent + 1;
    /* 1 + quotient·2^exponent = sum·2^scale, with a scale that keeps the sum below 1 */
    int scale = exponent > 0 ? exponent + 1 : 1;
    pe_wide sum = pe_wide_add(pe_wide_shift_right(HALF, (unsigned)(scale - 1)),
                              pe_wide_shift_right(quotient, (unsigned)(scale - exponent)));
    for (; sum.limb[3] >> 63 == 0; scale--)
        sum = pe_wide_add(sum, sum);
    return (pe_fixed){scale - 1, pe_wide_log2(sum)};
}

/* Multiply frequency first by ratio, and each one after it by one power more. */
static void multiply_by_powers(pe_wide *frequencies, size_t first, size_t count, pe_wide ratio)
{
    pe_wide power = ratio;
    for (size_t i = first; i < count; i++) {
        frequencies[i] = pe_wide_mul(frequencies[i], power);
        power = pe_wide_mul(power, ratio);
    }
}

/* ntk and dynamic: let theta grow. */
static void scale_theta(const pe_rotary *rotary, pe_wide *frequencies)
{
    size_t count = rotary->width / 2;
    pe_fixed growth = {0, NOTHING};
    if (rotary->type == PE_ROTARY_NTK)
        growth = pe_fixed_log2(rotary->factor);
    else if (rotary->alpha > 0)
        growth = pe_fixed_log2(rotary->alpha);
    else if (rotary->seq_len > rotary->original)
        growth = dynamic_growth(rotary);
    if (pe_fixed_compare(growth, (pe_fixed){0, NOTHING}) > 0)
        multiply_by_powers(
            frequencies, 1, count,
            pe_wide_power_of_log2((uint64_t)growth.whole, growth.part, 2, rotary->width - 2));
}

/* ntk_fixed: (theta f)^(-2i/d) / f^(2/d) = theta^(-2i/d) f^(-2(i+1)/d). */
static void divide_by_powers(const pe_rotary *rotary, pe_wide *frequencies)
{
    const pe_fixed growth = pe_fixed_log2(rotary->factor);
    if (pe_fixed_compare(growth, (pe_fixed){0, NOTHING}) > 0)
        multiply_by_powers(
            frequencies, 0, rotary->width / 2,
            pe_wide_power_of_log2((uint64_t)growth.whole, growth.part, 2, rotary->width));
}

/* ---- division, and blends of divided and original frequencies ---- */

/* linear: divide by the factor. */
static void divide_by_factor(const pe_rotary *rotary, pe_wide *frequencies)
{
    for (size_t i = 0; i < rotary->width / 2; i++)
        frequencies[i] = pe_wide_div_double(frequencies[i], rotary->factor);
}

/* longrope: divide each frequency by its own divisor. */
static void divide_each(const pe_rotary *rotary, pe_wide *frequencies)
{
    const double *divisors =
        rotary->seq_len > rotary->original ? rotary->long_factor : rotary->short_factor;
    for (size_t i = 0; i < rotary->width / 2; i++)
        frequencies[i] = pe_wide_div_double(frequencies[i], divisors[i]);
}

/* part·w/f + (1-part)·w. */
static pe_wide blend_frequency(pe_wide frequency, double factor, pe_wide part)
{
    pe_wide divided = pe_wide_div_double(frequency, factor);
    return pe_wide_sub(frequency, pe_wide_mul(part, pe_wide_sub(frequency, divided)));
}

/* yarn's cd(r) = d·ln(L/(2πr))/(2·ln theta): the index of the frequency that makes r turns over
 * L positions. */
static pe_fixed index_of_turns(const pe_rotary *rotary, double turns)
{
    /* pe_wide_log2 of 4/(2π), which is in [1/2, 1), is log2(8/(2π)): 3 more than log2(1/(2π))
     */
    pe_wide radian = pe_wide_mul_integer(pe_wide_radian, 4);
    pe_fixed log = {-3, pe_wide_log2(radian)};
    log = pe_fixed_add(log, pe_fixed_log2((double)rotary->original));
    log = pe_fixed_sub(log, pe_fixed_log2(turns));
    return pe_fixed_div(pe_fixed_mul_integer(log, (int64_t)rotary->width),
                        pe_fixed_mul_integer(pe_fixed_log2(rotary->theta), 2));
}

/* The indices between which yarn blends. As in Hugging Face's code *ret_low is at least 0 and
 * *ret_high at most d-1, and neither is bounded on its other side: so low > high where every
 * frequency turns often over L, as with a small theta, or where none turns once. */
static void bounds_of_blend(const pe_rotary *rotary, pe_fixed *ret_low, pe_fixed *ret_high)
{
    static const pe_fixed one = {1, {{0, 0, 0, 0}}};
    pe_fixed low = index_of_turns(rotary, rotary->beta_fast);
    pe_fixed high = index_of_turns(rotary, rotary->beta_slow);
    pe_fixed last = {(int64_t)rotary->width - 1, NOTHING};
    if (rotary->truncate) {
        low.part = NOTHING;
        high.whole += memcmp(&high.part, &NOTHING, sizeof NOTHING) != 0;
        high.part = NOTHING;
    }
    if (low.whole < 0)
        low = (pe_fixed){0, NOTHING};
    if (pe_fixed_compare(high, last) > 0)
        high = last;
    if (pe_fixed_compare(low, high) == 0)
        high = pe_fixed_add(high, pe_fixed_div(one, (pe_fixed){1000, NOTHING}));
    *ret_low = low;
    *ret_high = high;
}

/* yarn: keep low indices, divide high ones, and blend between them. Hugging Face's ramp falls
 * where low > high: it is 1 for every index if high is the last column, 0 if it is below 0. */
static void blend_by_index(const pe_rotary *rotary, pe_wide *frequencies)
{
    static const pe_fixed one = {1, {{0, 0, 0, 0}}};
    pe_fixed low, high;
    bounds_of_blend(rotary, &low, &high);
    if (pe_fixed_compare(low, high) > 0) {
        if (high.whole >= 0)
            divide_by_factor(rotary, frequencies);
        return;
    }
    pe_fixed slope = pe_fixed_div(one, pe_fixed_sub(high, low));
    for (size_t i = 0; i < rotary->width / 2; i++) {
        pe_fixed index = {(int64_t)i, NOTHING};
        if (pe_fixed_compare(index, high) >= 0)
            frequencies[i] = pe_wide_div_double(frequencies[i], rotary->factor);
        else if (pe_fixed_compare(index, low) > 0)
            frequencies[i] =
                blend_frequency(frequencies[i], rotary->factor,
                                pe_fixed_mul_fraction(pe_fixed_sub(index, low), slope));
    }
}

/* llama3: keep frequencies that make many turns over L positions, w·L/(2π), divide those that
 * make few, and blend between them. */
static void blend_by_wavelength(const pe_rotary *rotary, pe_wide *frequencies)
{
    pe_fixed low = pe_fixed_from_double(rotary->low_freq_factor);
    pe_fixed high = pe_fixed_from_double(rotary->high_freq_factor);
    pe_fixed slope = {0, NOTHING}; /* not used by a hard step, high = low */
    if (pe_fixed_compare(high, low) > 0)
        slope = pe_fixed_div((pe_fixed){1, NOTHING}, pe_fixed_sub(high, low));
    for (size_t i = 0; i < rotary->width / 2; i++) {
        pe_fixed turns = pe_fixed_mul_integer((pe_fixed){0, frequencies[i]}, rotary->original);
        if (pe_fixed_compare(turns, high) >= 0)
            continue;
        pe_wide divided = pe_wide_div_double(frequencies[i], rotary->factor);
        if (pe_fixed_compare(turns, low) > 0) /* 1 - s, s = (turns - low)/(high - low) */
            divided = blend_frequency(frequencies[i], rotary->factor,
                                      pe_fixed_mul_fraction(pe_fixed_sub(high, turns), slope));
        frequencies[i] = divided;
    }
}

/* proportional: set the last frequencies to 0 and divide the others. */
static void zero_the_last(const pe_rotary *rotary, pe_wide *frequencies)
{
    size_t count = rotary->width / 2;
    memset(frequencies + count - rotary->still, 0, rotary->still * sizeof *frequencies);
    divide_by_factor(rotary, frequencies);
}

/* ---- attention factors ---- */

static dd natural_logarithm(double x)
{
    return dd_mul(pe_fixed_to_dd(pe_fixed_log2(x)), DD_LN2);
}

/* ms(m) = 0.1·m·ln f + 1. */
static dd magnitude_scale(double factor, double m)
{
    dd tenth = dd_quotient(dd_mul_double(natural_logarithm(factor), m), (dd){10, 0});
    return dd_add((dd){1, 0}, tenth);
}

static dd yarn_attention(const pe_rotary *rotary)
{
    if (rotary->mscale == 0 || rotary->mscale_all_dim == 0)
        return magnitude_scale(rotary->factor, 1);
    return dd_quotient(magnitude_scale(rotary->factor, rotary->mscale),
                       magnitude_scale(rotary->factor, rotary->mscale_all_dim));
}

/* sqrt(1 + ln f/ln L), 1 where f <= 1. */
static dd longrope_attention(const pe_rotary *rotary)
{
    pe_fixed original = pe_fixed_log2((double)rotary->original), factor;
    if (rotary->factor > 0)
        factor = pe_fixed_log2(rotary->factor);
    else
        factor = pe_fixed_sub(pe_fixed_log2((double)rotary->longest), original);
    if (pe_fixed_compare(factor, (pe_fixed){0, NOTHING}) <= 0)
        return (dd){1, 0};
    dd ratio = dd_quotient(pe_fixed_to_dd(factor), pe_fixed_to_dd(original));
    return dd_sqrt(dd_add((dd){1, 0}, ratio));
}

/* ---- completing what has been read ---- */

static void take_longest(const pe_values *values, pe_rotary *rotary)
{
    (void)values;
    if (rotary->original == 0)
        rotary->original = rotary->longest;
}

/* proportional: all columns, of which the last do not move. */
static void keep_the_last(const pe_values *values, pe_rotary *rotary)
{
    size_t moving = rotary->width / 2;
    rotary->width = (size_t)pe_get_integer(values, "dim");
    rotary->still = rotary->width / 2 - moving;
}

/* ---- rules between parameters ---- */

static void check_growth(const pe_values *values, const pe_rotary *rotary, pe_error *reterr)
{
    if (rotary->width == 2)
        pe_refuse_value(
            values, "dim", reterr,
            "such that at least 4 columns turn with rope_type=ntk or dynamic, whose exponent "
            "is dim/(dim-2)");
}

static void check_dynamic(const pe_values *values, const pe_rotary *rotary, pe_error *reterr)
{
    bool both = pe_is_present(values, "original_max_position_embeddings") &&
                pe_is_present(values, "max_position_embeddings");
    check_growth(values, rotary, reterr);
    if (pe_is_present(values, "alpha"))
        return;
    if (!pe_is_present(values, "factor"))
        pe_refuse_value(values, "factor", reterr,
                        "given with rope_type=dynamic, unless alpha is given");
    if (!pe_is_present(values, "seq_len"))
        pe_refuse_value(values, "seq_len", reterr,
                        "given with rope_type=dynamic, unless alpha is given");
    if (both)
        pe_refuse_value(
            values, "max_position_embeddings", reterr,
            "left out with original_max_position_embeddings, which means the same with "
            "rope_type=dynamic");
    else if (rotary->original == 0)
        pe_refuse_value(
            values, "original_max_position_embeddings", reterr,
            "given with rope_type=dynamic, unless max_position_embeddings or alpha is given");
}

static void check_yarn(const pe_values *values, const pe_rotary *rotary, pe_error *reterr)
{
    if (rotary->beta_fast < rotary->beta_slow)
        pe_refuse_value(values, "beta_fast", reterr, "at least beta_slow");
    if (rotary->theta == 1)
        pe_refuse_value(values, "rope_theta", reterr,
                        "above 1 with rope_type=yarn, which divides by its logarithm");
}

static void check_longrope(const pe_values *values, const pe_rotary *rotary, pe_error *reterr)
{
    bool attention = pe_is_present(values, "attention_factor");
    bool factor =
        rotary->factor > 1 || (rotary->factor == 0 && rotary->longest > rotary->original);
    pe_check_count(values, "short_factor", rotary->width / 2, "one for each frequency", reterr);
    pe_check_count(values, "long_factor", rotary->width / 2, "one for each frequency", reterr);
    if (!attention && rotary->factor == 0 && rotary->longest == 0)
        pe_refuse_value(values, "factor", reterr,
                        "given with rope_type=longrope, unless max_position_embeddings or "
                        "attention_factor is given");
    if (!attention && factor && rotary->original == 1)
        pe_refuse_value(values, "original_max_position_embeddings", reterr,
                        "at least 2 with rope_type=longrope, which divides by its logarithm");
}

static void check_llama3(const pe_values *values, const pe_rotary *rotary, pe_error *reterr)
{
    if (rotary->high_freq_factor < rotary->low_freq_factor)
        pe_refuse_value(values, "high_freq_factor", reterr, "at least low_freq_factor");
}

/* ---- all types ---- */

#define PART(type, name, completes, scales, attends, rules, ...)                               \
    [PE_ROTARY_##type] = {completes, scales, attends, rules},
const pe_rotary_part pe_rotary_parts[] = {PE_ROTARY_TYPES(PART)};

static void check_width(const pe_values *values, const pe_rotary *rotary, pe_error *reterr)
{
    if (rotary->type == PE_ROTARY_PROPORTIONAL)
        return;
    if (rotary->width < 2 || rotary->width % 2 != 0)
        pe_refuse_value(
            values, "partial_rotary_factor", reterr,
            "such that dim * partial_rotary_factor, rounded down, is an even number of "
            "columns, at least 2");
}

void pe_rotary_check(const pe_values *values, const pe_rotary *rotary, pe_error *reterr)
{
    check_width(values, rotary, reterr);
    if (pe_rotary_parts[rotary->type].check)
        pe_rotary_parts[rotary->type].check(values, rotary, reterr);
    if (pe_is_present(values, "attention_factor"))
        pe_check_magnitude(pe_requested_dtype(values), "attention_factor", rotary->attention,
                           reterr);
}

void pe_rotary_write_frequencies(const pe_rotary *rotary, pe_wide *ret_frequencies)
{
    pe_wave_geometric_ladder(pe_wide_radian, rotary->width / 2, rotary->theta, 2, rotary->width,
                             ret_frequencies);
    if (pe_rotary_parts[rotary->type].scale)
        pe_rotary_parts[rotary->type].scale(rotary, ret_frequencies);
}

pe_wide *pe_rotary_frequencies(const pe_rotary *rotary)
{
    pe_wide *frequencies = malloc(rotary->width / 2 * sizeof *frequencies);
    if (frequencies)
        pe_rotary_write_frequencies(rotary, frequencies);
    return frequencies;
}

dd pe_rotary_attention(const pe_rotary *rotary)
{
    if (rotary->attention > 0)
        return (dd){rotary->attention, 0};
    return pe_rotary_parts[rotary->type].attention
               ? pe_rotary_parts[rotary->type].attention(rotary)
               : (dd){1, 0};
}

dd pe_rotary_softmax_factor(const pe_rotary *rotary)
{
    dd scale = magnitude_scale(rotary->factor, rotary->mscale_all_dim);
    return dd_mul(scale, scale);
}
