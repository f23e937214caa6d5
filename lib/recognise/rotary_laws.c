/* Ranking rotary laws of published settings by what is measured of a table.
 *
 * All laws whose settings are published ones, or decimals of few digits near measured ones, are
 * ranked. */
#include "recognise/rotary_laws.h"

#include "numerics/elementary.h"
#include "recognise/rotary_rank.h"
#include "recognise/seen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FAR         5.0 /* errors: beyond, a frequency is not of the first, unscaled ones */
#define THETAS_MAX  40
#define FACTORS_MAX 40

static const double THETAS[] = {1e4,   5e5,   1e6, 1.5e5, 1e5,   5e6,   1e7, 8e6,
                                2e6,   3e6,   5e4, 4e4,   2.5e4, 1.6e5, 6e5, 1e8,
                                1e9,   1e10,  2e4, 2.5e5, 1e11,  5e7,   3e5, 2e5,
                                1.2e6, 3.5e6, 7e5, 1.6e6, 4e6,   1e3,   100, 10};
static const double FACTORS[] = {8,   4,   2,  16, 32, 40, 64, 10, 20,  3,   6,  5,
                                 1.5, 2.5, 12, 24, 7,  9,  48, 80, 100, 128, 256};
static const double LENGTHS[] = {8192,   4096,  32768, 2048,   16384,   65536, 131072, 1024,
                                 262144, 40960, 512,   524288, 1048576, 4000,  20480,  10240,
                                 12288,  6144,  24576, 3072,   256,     128};
static const double TURNS[][2] = {{32, 1},  {1, 1},  {64, 1}, {16, 1}, {32, 2},
                                  {128, 1}, {48, 1}, {32, 4}, {24, 1}, {8, 1}};
static const double BANDS[][2] = {{1, 4}, {1, 1}, {1, 8}, {2, 4}, {1, 2}, {2, 8}, {1, 16}};

typedef struct search {
    pe_rotary_ranking ranking;
    const pe_rotary_seen *seen;
    double *base;                /* [count]: theta^(-2i/d) */
    double log_theta, log_error; /* of the first frequencies, the logarithm and its error */
} search;

/* Add a number to a list without repeating it. */
static void add(double *list, size_t *count, size_t most, double number)
{
    for (size_t i = 0; i < *count; i++)
        if (list[i] == number)
            return;
    if (*count < most)
        list[(*count)++] = number;
}

/* ---- the laws ---- */

static void predict_base(search *self, double theta)
{
    const double ratio = pe_exp_double(-pe_log_double(theta) / (double)self->seen->count);
    double power = 1; /* off by 2^-52 a step, which is nothing beside what is measured */
    for (size_t i = 0; i < self->seen->count; i++) {
        self->base[i] = power;
        power *= ratio;
    }
}

/* The step: a decimal near the first frequency, which may have been divided. */
static double step_of(const search *self, double factor)
{
    double error = fmax(1e-12, 2 * self->seen->errors[0]);
    return pe_rotary_decimal(self->seen->frequencies[0] * factor, fmax(error, 1e-6));
}

/* Consider a law that divides the last frequencies more than the others, if it changes them. */
static void consider_scaled(search *self, const pe_rotary *rotary, double cost)
{
    const size_t last = self->seen->count - 1;
    if (self->ranking.predicted[last] != self->base[last])
        pe_rotary_consider(&self->ranking, rotary, self->ranking.step, cost);
}

static void consider_yarn(search *self, pe_rotary *rotary, double low, double high, double cost)
{
    const double last = 2 * (double)self->seen->count - 1, part = 1 - 1 / rotary->factor;
    low = rotary->truncate ? floor(low) : low;
    high = rotary->truncate ? ceil(high) : high;
    low = fmax(low, 0);
    high = fmin(high, last);
    high += low == high ? 0.001 : 0;
    if (low > high)
        return;
    for (size_t i = 0; i < self->seen->count; i++) {
        double ramp = fmin(fmax(((double)i - low) / (high - low), 0), 1);
        self->ranking.predicted[i] = self->base[i] * (1 - ramp * part);
    }
    consider_scaled(self, rotary, cost);
}

/* All yarn laws of a theta. */
static void search_yarn(search *self, double theta, const double *factors, size_t count)
{
    const double indices = (double)self->seen->count / pe_log_double(theta);
    for (size_t l = 0; l < PE_COUNT(LENGTHS); l++)
        for (size_t t = 0; t < 2 * PE_COUNT(TURNS); t++) {
            const double *turns = TURNS[t / 2];
            double low = indices * pe_log_double(LENGTHS[l] / (PE_TURN * turns[0]));
            double high = indices * pe_log_double(LENGTHS[l] / (PE_TURN * turns[1]));
            pe_rotary rotary = {.type = PE_ROTARY_YARN,
                                .width = 2 * self->seen->count,
                                .theta = theta,
                                .original = (int64_t)LENGTHS[l],
                                .beta_fast = turns[0],
                                .beta_slow = turns[1],
                                .truncate = t % 2 == 0};
            for (size_t f = 0; f < count; f++) {
                rotary.factor = factors[f];
                consider_yarn(self, &rotary, low, high,
                              PE_ROTARY_DIGIT * (3 + (double)(l + t + f) / 8));
            }
        }
}

static void consider_llama3(search *self, pe_rotary *rotary, double cost)
{
    const double low = rotary->low_freq_factor, high = rotary->high_freq_factor;
    for (size_t i = 0; i < self->seen->count; i++) {
        double turns = self->base[i] * (double)rotary->original / PE_TURN;
        double kept = turns >= high ? 1 : turns <= low ? 0 : (turns - low) / (high - low);
        self->ranking.predicted[i] = self->base[i] * (kept + (1 - kept) / rotary->factor);
    }
    consider_scaled(self, rotary, cost);
}

/* All llama3 laws of a theta. */
static void search_llama3(search *self, double theta, const double *factors, size_t count)
{
    for (size_t l = 0; l < PE_COUNT(LENGTHS); l++)
        for (size_t b = 0; b < PE_COUNT(BANDS); b++) {
            pe_rotary rotary = {.type = PE_ROTARY_LLAMA3,
                                .width = 2 * self->seen->count,
                                .theta = theta,
                                .original = (int64_t)LENGTHS[l],
                                .low_freq_factor = BANDS[b][0],
                                .high_freq_factor = BANDS[b][1]};
            for (size_t f = 0; f < count; f++) {
                rotary.factor = factors[f];
                consider_llama3(self, &rotary, PE_ROTARY_DIGIT * (3 + (double)(l + b + f) / 8));
            }
        }
}

/* The frequencies of a theta, all divided by the same factor or not at all, and the last ones
 * perhaps 0. */
static void search_divided(search *self, double theta, const double *factors, size_t count)
{
    const size_t all = self->seen->count;
    pe_rotary rotary = {
        .type = PE_ROTARY_DEFAULT, .width = 2 * all, .theta = theta, .factor = 1};
    memcpy(self->ranking.predicted, self->base, all * sizeof *self->base);
    double cost = PE_ROTARY_DIGIT * pe_rotary_digits(theta);
    pe_rotary_consider(&self->ranking, &rotary, self->ranking.step, cost);
    rotary.type = PE_ROTARY_LINEAR;
    for (size_t f = 0; f <= count; f++) {
        rotary.factor =
            f < count ? factors[f] : pe_rotary_decimal(1 / self->seen->frequencies[0], 1e-6);
        for (size_t i = 0; i < all; i++)
            self->ranking.predicted[i] = self->base[i] / rotary.factor;
        if (rotary.factor > 1)
            pe_rotary_consider(&self->ranking, &rotary, step_of(self, rotary.factor),
                               cost +
                                   PE_ROTARY_DIGIT * (0.5 + pe_rotary_digits(rotary.factor)));
    }
    rotary.type = PE_ROTARY_PROPORTIONAL;
    rotary.still = self->seen->still;
    for (size_t f = 0; rotary.still > 0 && f <= count; f++) {
        rotary.factor = f > 0 ? factors[f - 1] : 1;
        for (size_t i = 0; i < all; i++)
            self->ranking.predicted[i] =
                i < all - rotary.still ? self->base[i] / rotary.factor : 0;
        pe_rotary_consider(&self->ranking, &rotary, step_of(self, rotary.factor),
                           cost + PE_ROTARY_DIGIT * (1 + pe_rotary_digits(rotary.factor)));
    }
}

/* ---- a theta that has grown ---- */

static void consider_grown(search *self, pe_rotary *rotary, double growth, double cost)
{
    const double d = (double)rotary->width;
    predict_base(self, pe_exp_double(pe_log_double(rotary->theta) +
                                     pe_log_double(growth) * d / (d - 2)));
    memcpy(self->ranking.predicted, self->base, self->seen->count * sizeof *self->base);
    pe_rotary_consider(&self->ranking, rotary, self->ranking.step, cost);
}

/* Growths of dynamic laws near a measured one: 1 + f·(s-L)/L. */
static void search_dynamic(search *self, double theta, double growth, double error)
{
    const pe_rotary_seen *seen = self->seen;
    double rows = seen->row_count > 0 ? seen->rows[seen->row_count - 1] + 1 : 0;
    for (size_t f = 0; f < 10; f++)
        for (size_t l = 0; l < 14; l++) {
            double factor = FACTORS[f], length = LENGTHS[l];
            double whole = rint(length * (1 + (growth - 1) / factor));
            double off = length * growth * error / factor;
            double lengths[] = {rint(seen->offset) + rows, 1024 * rint(whole / 1024), whole};
            for (size_t i = 0; i < PE_COUNT(lengths); i++) {
                pe_rotary rotary = {.type = PE_ROTARY_DYNAMIC,
                                    .width = 2 * seen->count,
                                    .theta = theta,
                                    .factor = factor,
                                    .original = (int64_t)length,
                                    .seq_len = (int64_t)lengths[i]};
                if (lengths[i] > length && fabs(lengths[i] - whole) <= off + 0.5)
                    consider_grown(self, &rotary, 1 + factor * (lengths[i] - length) / length,
                                   PE_ROTARY_DIGIT *
                                       (4 + (double)(2 * i) + (double)(f + l) / 8));
            }
        }
}

static void search_grown(search *self)
{
    const double d = 2 * (double)self->seen->count;
    for (size_t t = 0; d > 2 && t < PE_COUNT(THETAS); t++) {
        double log = (self->log_theta - pe_log_double(THETAS[t])) * (d - 2) / d;
        double error = 2 * self->log_error + 1e-12;
        pe_rotary rotary = {
            .type = PE_ROTARY_NTK, .width = 2 * self->seen->count, .theta = THETAS[t]};
        if (log < 1e-3 || log > 7)
            continue;
        double growth = pe_exp_double(log);
        rotary.factor = pe_rotary_decimal(growth, fmax(error, 1e-9));
        consider_grown(self, &rotary, rotary.factor,
                       PE_ROTARY_DIGIT * (1 + pe_rotary_digits(rotary.factor) + (double)t / 8));
        for (size_t f = 0; f < PE_COUNT(FACTORS); f++) {
            rotary.factor = FACTORS[f];
            if (fabs(pe_log_double(FACTORS[f]) - log) <= 4 * error)
                consider_grown(self, &rotary, rotary.factor,
                               PE_ROTARY_DIGIT * (1 + (double)(f + t) / 8));
        }
        search_dynamic(self, THETAS[t], growth, 2 * error);
    }
}

/* ---- what is searched ---- */

/* Measure the logarithm of theta by the frequencies before `end`, as long as they fall
 * geometrically. */
static bool measure_theta(search *self, size_t end)
{
    const pe_rotary_seen *seen = self->seen;
    double weights = 0, sum = 0, d = (double)seen->count;
    double first = seen->frequencies[0] > 0 ? pe_log_double(seen->frequencies[0]) : 0;
    for (size_t i = 1; i < end && seen->frequencies[0] > 0; i++) {
        if (seen->frequencies[i] == 0)
            continue;
        double log = (first - pe_log_double(seen->frequencies[i])) * d / (double)i;
        double error = (seen->errors[i] + seen->errors[0]) * d / (double)i;
        if (weights > 0 && fabs(log - sum / weights) > FAR * (error + sqrt(1 / weights)))
            break;
        weights += 1 / (error * error);
        sum += log / (error * error);
    }
    self->log_theta = weights > 0 ? sum / weights : 0;
    self->log_error = weights > 0 ? sqrt(1 / weights) : 0;
    return weights > 0 && self->log_theta > 0.5 && self->log_theta < 41;
}

static size_t list_thetas(search *self, double thetas[THETAS_MAX])
{
    size_t count = 0;
    for (size_t end = self->seen->count; end > 1; end = end > 4 ? end / 2 : end - 1) {
        if (!measure_theta(self, end))
            continue;
        double error = fmax(2 * self->log_error, 1e-9), theta = pe_exp_double(self->log_theta);
        for (size_t i = 0; i < PE_COUNT(THETAS); i++)
            if (fabs(pe_log_double(THETAS[i]) - self->log_theta) <= 4 * error)
                add(thetas, &count, THETAS_MAX, THETAS[i]);
        add(thetas, &count, THETAS_MAX, pe_rotary_decimal(theta, fmin(error, 0.05)));
    }
    return count;
}

/* Published factors, and those that the last measured frequencies and the amplitude tell. */
static size_t list_factors(const search *self, double factors[FACTORS_MAX])
{
    const pe_rotary_seen *seen = self->seen;
    size_t count = 0, measured = 0;
    for (size_t i = 0; i < PE_COUNT(FACTORS); i++)
        add(factors, &count, FACTORS_MAX, FACTORS[i]);
    for (size_t i = seen->count; i-- > 1 && measured < 3;) {
        if (seen->frequencies[i] == 0)
            continue;
        double factor = self->base[i] * seen->frequencies[0] / seen->frequencies[i];
        double error = fmin(2 * (seen->errors[i] + seen->errors[0]) +
                                self->log_error * (double)i / (double)seen->count,
                            0.01);
        measured++;
        if (factor > 1.01)
            add(factors, &count, FACTORS_MAX, pe_rotary_decimal(factor, error));
    }
    if (seen->amplitude > 1.01 && seen->amplitude < 2)
        add(factors, &count, FACTORS_MAX,
            pe_rotary_decimal(pe_exp_double(10 * (seen->amplitude - 1)),
                              fmin(10 * seen->amplitude_error, 0.05)));
    return count;
}

static void search_all(search *self)
{
    double thetas[THETAS_MAX], factors[FACTORS_MAX];
    self->ranking.predicted = self->base + self->seen->count;
    self->ranking.step = step_of(self, 1);
    size_t count = list_thetas(self, thetas);
    if (measure_theta(self, self->seen->count))
        search_grown(self);
    for (size_t t = 0; t < count; t++) {
        predict_base(self, thetas[t]);
        size_t factor_count = list_factors(self, factors);
        search_divided(self, thetas[t], factors, factor_count);
        if (thetas[t] > 1.5) {
            search_yarn(self, thetas[t], factors, factor_count);
            search_llama3(self, thetas[t], factors, factor_count);
        }
    }
}

size_t pe_rotary_search(const pe_rotary_seen *seen, pe_rotary_law ret_laws[PE_ROTARY_LAWS_KEPT])
{
    search self = {.seen = seen, .ranking = {.seen = seen, .laws = ret_laws}};
    if (seen->count < 2 || seen->frequencies[0] == 0)
        return 0;
    self.base = malloc(2 * seen->count * sizeof *self.base);
    self.ranking.columns =
        calloc((size_t)1 << PE_ROTARY_KNOWN_BITS, sizeof *self.ranking.columns);
    if (self.base && self.ranking.columns)
        search_all(&self);
    free(self.ranking.columns);
    free(self.base);
    return self.ranking.kept;
}
