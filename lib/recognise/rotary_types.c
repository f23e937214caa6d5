#include "recognise/rotary_types.h"

#include "numerics/elementary.h"
#include "recognise/observation.h"
#include "recognise/proposal.h"

#include <math.h>
#include <string.h>

#define FAR_OFF     5.0 /* errors: beyond, a factor is not the measured one */
#define LEAST_THETA 1.5 /* of blends */
#define RATIO_MAX                                                                              \
    64 /* of a length to the original one, a whole number or a half: others say                \
        * nothing of a theta that grows */
#define FEW_DIGITS                                                                             \
    3 /* of a factor by which theta grows, or more than of a length: with more, theta says it  \
       * itself */

static const double LENGTHS[] = {8192,   4096,  32768, 2048,   16384,   65536, 131072, 1024,
                                 262144, 40960, 512,   524288, 1048576, 4000,  20480,  10240,
                                 12288,  6144,  24576, 3072,   256,     128};
static const double PARTS[] = {0.25, 0.5, 0.75}; /* of the width that turns */
static const double TURNS[][2] = {{32, 1},  {1, 1},  {64, 1}, {16, 1}, {32, 2},
                                  {128, 1}, {48, 1}, {32, 4}, {24, 1}, {8, 1}};
static const double BANDS[][2] = {{1, 4}, {1, 1}, {1, 8}, {2, 4}, {1, 2}, {2, 8}, {1, 16}};

void pe_rotary_predict_base(pe_rotary_trial *self, double theta)
{
    const double ratio = pe_exp_double(-pe_log_double(theta) / (double)self->seen->count);
    double power = 1; /* off by 2^-52 a step, which is nothing beside what is measured */
    for (size_t i = 0; i < self->seen->count; i++) {
        self->base[i] = power;
        power *= ratio;
    }
}

double pe_rotary_choose_step(const pe_rotary_trial *self, double factor)
{
    return pe_find_decimal(self->first * factor, fmax(2 * self->first_error, 1e-6));
}

/* Start a law: the others of its settings are 0. */
static pe_rotary begin_law(const pe_rotary_trial *self, pe_rotary_type type)
{
    return (pe_rotary){.type = type, .width = 2 * self->seen->count, .theta = self->theta};
}

/* ---- frequencies that are kept, divided or still ---- */

static void try_plain(pe_rotary_trial *self)
{
    pe_rotary rotary = begin_law(self, PE_ROTARY_DEFAULT);
    memcpy(self->ranking.predicted, self->base, self->seen->count * sizeof *self->base);
    pe_rotary_consider(&self->ranking, &rotary, self->ranking.step);
}

/* Consider a law that divides all frequencies, of which the last ones may be still. */
static void consider_divided(pe_rotary_trial *self, pe_rotary *rotary, double factor)
{
    const size_t all = self->seen->count;
    rotary->factor = factor;
    for (size_t i = 0; i < all; i++)
        self->ranking.predicted[i] = i < all - rotary->still ? self->base[i] / factor : 0;
    pe_rotary_consider(&self->ranking, rotary, pe_rotary_choose_step(self, factor));
}

/* The factor by which positions have the fewest digits: another one says the same law. */
static double choose_factor(const pe_rotary_trial *self)
{
    double best = 1;
    int fewest = pe_count_digits(self->ranking.step) - (self->ranking.step == 1);
    for (size_t f = 0; f <= self->factor_count; f++) {
        const double factor =
            f < self->factor_count ? self->factors[f] : pe_find_decimal(1 / self->first, 1e-6);
        const double step = pe_rotary_choose_step(self, factor);
        const int digits = pe_count_digits(step) - (step == 1) + pe_count_digits(factor);
        if (factor <= 1 || digits >= fewest)
            continue;
        best = factor;
        fewest = digits;
    }
    return best;
}

static void try_linear(pe_rotary_trial *self)
{
    pe_rotary rotary = begin_law(self, PE_ROTARY_LINEAR);
    const double factor = choose_factor(self);
    if (factor > 1)
        consider_divided(self, &rotary, factor);
}

static void try_proportional(pe_rotary_trial *self)
{
    pe_rotary rotary = begin_law(self, PE_ROTARY_PROPORTIONAL);
    for (size_t i = 0; i < PE_COUNT(PARTS); i++) { /* slow cosines seem still, too */
        rotary.still = rotary.width / 2 - (size_t)(PARTS[i] * (double)rotary.width / 2);
        if (rotary.still < self->seen->still)
            consider_divided(self, &rotary, choose_factor(self));
    }
    rotary.still = self->seen->still;
    if (rotary.still > 0)
        consider_divided(self, &rotary, choose_factor(self));
}

/* ---- frequencies of which the last are divided more ---- */

/* Which part of 1 - 1/factor is taken off the frequencies by which the factor is told best, and
 * what one over the factor is then: infinite error without such a frequency. */
static double measure_inverse(const pe_rotary_trial *self, double *ret_error)
{
    const pe_rotary_observation *seen = self->seen;
    double inverse = 0;
    *ret_error = INFINITY;
    for (size_t i = 1; i < seen->count; i++) {
        const double own = self->ranking.errors[i] + self->first_error +
                           self->log_error * (double)i / (double)seen->count;
        if (self->ranking.frequencies[i] == 0 || !(own < *ret_error * self->blend[i]))
            continue;
        const double part = 1 - self->ranking.frequencies[i] / (self->base[i] * self->first);
        inverse = 1 - part / self->blend[i];
        *ret_error = own / self->blend[i];
    }
    return inverse;
}

/* Whether measured frequencies may be those of theta of which some are divided: few are higher,
 * and some are lower or not measured. */
static bool may_be_blended(const pe_rotary_trial *self)
{
    size_t measured = 0, higher = 0, lower = 0;
    for (size_t i = 1; i < self->seen->count && self->theta > LEAST_THETA; i++) {
        const double expected = self->base[i] * self->first,
                     found = self->ranking.frequencies[i];
        const double error = self->ranking.errors[i] + self->first_error +
                             self->log_error * (double)i / (double)self->seen->count;
        measured += found > 0;
        higher += found > (1 + FAR_OFF * error) * expected;
        lower += found < (1 - FAR_OFF * error) * expected;
    }
    return lower > 0 && 4 * higher <= measured;
}

/* Consider the factors of a law that divides frequencies in part, as far as the blend says, if
 * it changes them. */
static void consider_blend(pe_rotary_trial *self, pe_rotary *rotary, double factor)
{
    const size_t count = self->seen->count;
    double error;
    if (!pe_rotary_spend(self->seen, (double)count))
        return;
    const double inverse = measure_inverse(self, &error);
    for (size_t f = 0; f < (factor > 0 ? 1 : self->factor_count); f++) {
        rotary->factor = factor > 0 ? factor : self->factors[f];
        if (fabs(1 / rotary->factor - inverse) > FAR_OFF * error)
            continue;
        for (size_t i = 0; i < count; i++)
            self->ranking.predicted[i] =
                self->base[i] * (1 - self->blend[i] * (1 - 1 / rotary->factor));
        if (self->blend[count - 1] > 0)
            pe_rotary_consider(&self->ranking, rotary, self->ranking.step);
    }
}

/* How much of a frequency is divided by a factor, where it is so in part: 0 to 1. */
static double measure_part(const pe_rotary_trial *self, double factor, size_t i)
{
    const double part = self->ranking.frequencies[i] / (self->base[i] * self->first);
    return (1 - part) / (1 - 1 / factor);
}

/* The frequency of which most nearly a half is divided; count if there is none. */
static size_t find_blended(const pe_rotary_trial *self, double factor)
{
    const double least = 0.02;
    size_t nearest = self->seen->count;
    double far = 0.5 - least;
    for (size_t i = 1; i < self->seen->count; i++)
        if (fabs(measure_part(self, factor, i) - 0.5) < far) {
            far = fabs(measure_part(self, factor, i) - 0.5);
            nearest = i;
        }
    return nearest;
}

static void consider_yarn(pe_rotary_trial *self, pe_rotary *rotary, double low, double high,
                          double factor)
{
    const double last = 2 * (double)self->seen->count - 1;
    low = rotary->truncate ? floor(low) : low;
    high = rotary->truncate ? ceil(high) : high;
    low = fmax(low, 0);
    high = fmin(high, last);
    high += low == high ? 0.001 : 0;
    if (low > high)
        return;
    for (size_t i = 0; i < self->seen->count; i++)
        self->blend[i] = fmin(fmax(((double)i - low) / (high - low), 0), 1);
    consider_blend(self, rotary, factor);
}

/* Consider the original length with which the ramp blends the frequency at `at` as measured,
 * its ends being moved by `away`. */
static void consider_yarn_length(pe_rotary_trial *self, pe_rotary *rotary, size_t at,
                                 double away)
{
    if (!pe_rotary_spend(self->seen, PE_ROTARY_NUMBER_WORK))
        return;
    const double indices = (double)self->seen->count / pe_log_double(self->theta);
    const double width = indices * pe_log_double(rotary->beta_fast / rotary->beta_slow);
    const double part = measure_part(self, rotary->factor, at);
    const double low = (double)at - part * (width + rotary->truncate) + away;
    const double length = PE_TURN * rotary->beta_fast * pe_exp_double(low / indices);
    rotary->original =
        (int64_t)rint(pe_find_decimal(length, rotary->truncate ? 0.05 / indices : 1e-3));
    const double whole = (double)rotary->original / PE_TURN;
    if (whole > 1 && whole < 0x1p40)
        consider_yarn(self, rotary, indices * pe_log_double(whole / rotary->beta_fast),
                      indices * pe_log_double(whole / rotary->beta_slow), rotary->factor);
}

/* Consider original lengths that a blended frequency tells, more of them where the ends of the
 * ramp are truncated to whole numbers. */
static void try_yarn_lengths(pe_rotary_trial *self, pe_rotary *rotary)
{
    for (size_t f = 0; f < self->factor_count; f++) {
        const size_t at = find_blended(self, rotary->factor = self->factors[f]);
        for (size_t t = 0; at < self->seen->count && t < PE_COUNT(TURNS); t++) {
            rotary->beta_fast = TURNS[t][0];
            rotary->beta_slow = TURNS[t][1];
            rotary->truncate = true;
            for (int away = -2; away <= 2; away++)
                consider_yarn_length(self, rotary, at, 0.3 * away);
            rotary->truncate = false;
            consider_yarn_length(self, rotary, at, 0);
        }
    }
}

static void try_yarn(pe_rotary_trial *self)
{
    pe_rotary rotary = begin_law(self, PE_ROTARY_YARN);
    const double indices = (double)self->seen->count / pe_log_double(self->theta);
    if (!may_be_blended(self))
        return;
    for (size_t t = 0; t < 2 * PE_COUNT(TURNS); t++)
        for (size_t l = 0; l < PE_COUNT(LENGTHS); l++) {
            const double *turns = TURNS[t / 2];
            double low = indices * pe_log_double(LENGTHS[l] / (PE_TURN * turns[0]));
            double high = indices * pe_log_double(LENGTHS[l] / (PE_TURN * turns[1]));
            rotary.original = (int64_t)LENGTHS[l];
            rotary.beta_fast = turns[0];
            rotary.beta_slow = turns[1];
            rotary.truncate = t % 2 == 0;
            consider_yarn(self, &rotary, low, high, 0);
        }
    try_yarn_lengths(self, &rotary);
}

static void consider_llama3(pe_rotary_trial *self, pe_rotary *rotary, double factor)
{
    const double low = rotary->low_freq_factor, high = rotary->high_freq_factor;
    for (size_t i = 0; i < self->seen->count; i++) {
        const double turns = self->base[i] * (double)rotary->original / PE_TURN;
        self->blend[i] = turns >= high ? 0 : turns <= low ? 1 : (high - turns) / (high - low);
    }
    consider_blend(self, rotary, factor);
}

/* Consider bands of few digits: with more, another length says the same. */
static void consider_band(pe_rotary_trial *self, pe_rotary *rotary, double low, double high)
{
    if (!pe_rotary_spend(self->seen, 2 * PE_ROTARY_NUMBER_WORK))
        return;
    rotary->low_freq_factor = pe_find_decimal(low, 1e-3);
    rotary->high_freq_factor = pe_find_decimal(high, 1e-3);
    if (low > 0 && high > low && pe_count_digits(rotary->low_freq_factor) < FEW_DIGITS &&
        pe_count_digits(rotary->high_freq_factor) < FEW_DIGITS)
        consider_llama3(self, rotary, rotary->factor);
}

/* Consider original lengths that a blended frequency tells, or with a published one the end of
 * a band. */
static void try_llama3_blended(pe_rotary_trial *self, pe_rotary *rotary)
{
    for (size_t f = 0; f < self->factor_count; f++) {
        const size_t at = find_blended(self, rotary->factor = self->factors[f]);
        if (at == self->seen->count)
            continue;
        const double part = measure_part(self, rotary->factor, at), base = self->base[at];
        for (size_t b = 0; b < PE_COUNT(BANDS); b++) {
            const double *ends = BANDS[b], turns = ends[1] - part * (ends[1] - ends[0]);
            rotary->original = (int64_t)rint(pe_find_decimal(PE_TURN * turns / base, 1e-3));
            consider_band(self, rotary, ends[0], ends[1]);
        }
        for (size_t l = 0; l < PE_COUNT(LENGTHS); l++) {
            const double *ends = BANDS[0], turns = LENGTHS[l] / PE_TURN * base;
            rotary->original = (int64_t)LENGTHS[l];
            consider_band(self, rotary, (turns - (1 - part) * ends[1]) / part, ends[1]);
            consider_band(self, rotary, ends[0], (turns - part * ends[0]) / (1 - part));
        }
    }
}

static void try_llama3(pe_rotary_trial *self)
{
    pe_rotary rotary = begin_law(self, PE_ROTARY_LLAMA3);
    if (!may_be_blended(self))
        return;
    for (size_t b = 0; b < PE_COUNT(BANDS); b++)
        for (size_t l = 0; l < PE_COUNT(LENGTHS); l++) {
            rotary.original = (int64_t)LENGTHS[l];
            rotary.low_freq_factor = BANDS[b][0];
            rotary.high_freq_factor = BANDS[b][1];
            consider_llama3(self, &rotary, 0);
        }
    try_llama3_blended(self, &rotary);
}

/* ---- a theta that has grown ---- */

static void consider_grown(pe_rotary_trial *self, pe_rotary *rotary, double growth)
{
    const double d = (double)rotary->width;
    pe_rotary_predict_base(self, pe_exp_double(pe_log_double(rotary->theta) +
                                               pe_log_double(growth) * d / (d - 2)));
    memcpy(self->ranking.predicted, self->base, self->seen->count * sizeof *self->base);
    pe_rotary_consider(&self->ranking, rotary, self->ranking.step);
}

bool pe_rotary_is_decided(const pe_rotary_trial *self)
{
    return self->seen->unit < 0x1p-40;
}

/* Consider theta times growth, and all frequencies divided by growth^(2/d). */
static void consider_fixed(pe_rotary_trial *self, pe_rotary *rotary, double growth)
{
    const double divisor = pe_power_double(growth, 2 / (double)rotary->width);
    pe_rotary_predict_base(self, rotary->theta * growth);
    for (size_t i = 0; i < self->seen->count; i++)
        self->ranking.predicted[i] = self->base[i] / divisor;
    pe_rotary_consider(&self->ranking, rotary, pe_rotary_choose_step(self, divisor));
}

/* Consider laws whose factors are near a measured one. */
static void try_growth(pe_rotary_trial *self, pe_rotary_type type, double log,
                       void (*consider)(pe_rotary_trial *, pe_rotary *, double))
{
    const double error = self->growth_error;
    pe_rotary rotary = begin_law(self, type);
    rotary.factor = pe_find_decimal(pe_exp_double(log), fmax(error, 1e-9));
    if (pe_rotary_is_decided(self) || pe_count_digits(rotary.factor) <= FEW_DIGITS)
        consider(self, &rotary, rotary.factor);
    for (size_t f = 0; f < self->factor_count; f++) {
        rotary.factor = self->factors[f];
        if (fabs(pe_log_double(rotary.factor) - log) <= 4 * error)
            consider(self, &rotary, rotary.factor);
    }
}

static void try_ntk(pe_rotary_trial *self)
{
    try_growth(self, PE_ROTARY_NTK, self->log_growth, consider_grown);
}

static void try_ntk_fixed(pe_rotary_trial *self)
{
    const double d = 2 * (double)self->seen->count;
    try_growth(self, PE_ROTARY_NTK_FIXED, self->log_growth * d / (d - 2), consider_fixed);
}

/* Consider growing with a length by 1 + f·(s-L)/L, if the length says something. */
static void consider_dynamic(pe_rotary_trial *self, double factor, double original,
                             double length, bool plain)
{
    pe_rotary rotary = begin_law(self, PE_ROTARY_DYNAMIC);
    const double ratio = length / original;
    rotary.factor = factor;
    rotary.original = (int64_t)original;
    rotary.seq_len = (int64_t)length;
    if (plain || pe_rotary_is_decided(self) || pe_count_digits(length) < FEW_DIGITS ||
        (ratio <= RATIO_MAX && 2 * ratio == rint(2 * ratio)))
        consider_grown(self, &rotary, 1 + factor * (ratio - 1));
}

/* Growths of dynamic laws near a measured one: with all rows, with thousands, with others. */
static void try_dynamic(pe_rotary_trial *self)
{
    const pe_rotary_observation *seen = self->seen;
    const double growth = pe_exp_double(self->log_growth), error = 2 * self->growth_error;
    const double rows = seen->row_count > 0 ? seen->rows[seen->row_count - 1] + 1 : 0;
    for (size_t i = 0; i < 3; i++)
        for (size_t f = 0; f <= 10; f++)
            for (size_t l = 0; l < 14; l++) {
                /* factor 1: theta grows with the length alone */
                const double factor = f < 10 ? self->factors[f] : 1, original = LENGTHS[l];
                const double whole = rint(original * (1 + (growth - 1) / factor));
                const double lengths[] = {rint(seen->ladder->offset) + rows,
                                          1024 * rint(whole / 1024), whole};
                if (lengths[i] > original &&
                    fabs(lengths[i] - whole) <= original * growth * error / factor + 0.5)
                    consider_dynamic(self, factor, original, lengths[i], i == 0);
            }
}

/* ---- all types ---- */

#define SEARCH(type, name, completes, scales, attends, rules, ...)                             \
    [PE_ROTARY_##type] = __VA_ARGS__,
const pe_rotary_search_by pe_rotary_searches[] = {PE_ROTARY_TYPES(SEARCH)};
