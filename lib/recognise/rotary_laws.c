/* Ranking rotary laws of published settings by what is measured of a table.
 *
 * All laws whose settings are published ones, or decimals of few digits near measured ones, are
 * ranked. */
#include "recognise/rotary_laws.h"

#include "numerics/elementary.h"
#include "recognise/observation.h"
#include "recognise/rotary_types.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FAR        5.0 /* errors: beyond, a frequency is not of the first, unscaled ones */
#define THETAS_MAX 40

const double pe_rotary_thetas[PE_ROTARY_THETAS] = {
    1e4, 5e5,   1e6,   1.5e5, 1e5, 5e6,   1e7,  8e6, 2e6,   3e6,  5e4,
    4e4, 2.5e4, 1.6e5, 6e5,   1e8, 1e9,   1e10, 2e4, 2.5e5, 1e11, 5e7,
    3e5, 2e5,   1.2e6, 3.5e6, 7e5, 1.6e6, 4e6,  1e3, 100,   10};
static const double FACTORS[] = {8,   4,   2,  16, 32, 40, 64, 10, 20,  3,   6,  5,
                                 1.5, 2.5, 12, 24, 7,  9,  48, 80, 100, 128, 256};

/* Add a number to a list without repeating it. */
static void add_distinct(double *list, size_t *count, size_t most, double number)
{
    for (size_t i = 0; i < *count; i++)
        if (list[i] == number)
            return;
    if (*count < most)
        list[(*count)++] = number;
}

/* ---- what is searched ---- */

/* Measure the logarithm of theta by the frequencies before `end`, as long as they fall
 * geometrically. */
static bool measure_theta(pe_rotary_trial *self, size_t end)
{
    const pe_rotary_observation *seen = self->seen;
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

static size_t list_thetas(pe_rotary_trial *self, double thetas[THETAS_MAX])
{
    size_t count = 0;
    for (size_t end = self->seen->count; end > 1; end = end > 4 ? end / 2 : end - 1) {
        if (!measure_theta(self, end))
            continue;
        double error = fmax(2 * self->log_error, 1e-9), theta = pe_exp_double(self->log_theta);
        for (size_t i = 0; i < PE_ROTARY_THETAS; i++)
            if (fabs(pe_log_double(pe_rotary_thetas[i]) - self->log_theta) <= 4 * error)
                add_distinct(thetas, &count, THETAS_MAX, pe_rotary_thetas[i]);
        add_distinct(thetas, &count, THETAS_MAX, pe_find_decimal(theta, fmin(error, 0.05)));
    }
    return count;
}

static void add_factor(pe_rotary_trial *self, double factor)
{
    add_distinct(self->factors, &self->factor_count, PE_ROTARY_FACTORS_MAX, factor);
}

/* Published factors, and those that the last measured frequencies and the amplitude tell. */
static void list_factors(pe_rotary_trial *self)
{
    const pe_rotary_observation *seen = self->seen;
    size_t measured = 0;
    self->factor_count = 0;
    for (size_t i = 0; i < PE_COUNT(FACTORS); i++)
        add_factor(self, FACTORS[i]);
    for (size_t i = seen->count; i-- > 1 && measured < 3;) {
        if (seen->frequencies[i] == 0)
            continue;
        double factor = self->base[i] * seen->frequencies[0] / seen->frequencies[i];
        double error = fmin(2 * (seen->errors[i] + seen->errors[0]) +
                                self->log_error * (double)i / (double)seen->count,
                            0.01);
        measured++;
        if (factor > 1.01)
            add_factor(self, pe_find_decimal(factor, error));
    }
    if (seen->amplitude > 1.01 && seen->amplitude < 2)
        add_factor(self, pe_find_decimal(pe_exp_double(10 * (seen->amplitude - 1)),
                                         fmin(10 * seen->amplitude_error, 0.05)));
}

/* Try types that let theta grow. */
static void search_grown(pe_rotary_trial *self)
{
    const double d = 2 * (double)self->seen->count;
    memcpy(self->factors, FACTORS, sizeof FACTORS);
    self->factor_count = PE_COUNT(FACTORS);
    self->growth_error = 2 * self->log_error + 1e-12;
    for (size_t t = 0; d > 2 && t < PE_ROTARY_THETAS; t++) {
        self->theta = pe_rotary_thetas[t];
        self->log_growth = (self->log_theta - pe_log_double(pe_rotary_thetas[t])) * (d - 2) / d;
        if (self->log_growth < 1e-3 || self->log_growth > 7)
            continue;
        for (size_t type = 0; type < PE_ROTARY_COUNT; type++)
            if (pe_rotary_searches[type].grown)
                pe_rotary_searches[type].grown(self);
    }
}

#define FINER 12 /* from one decimal of theta to the next one */

/* Thetas of as many digits as all frequencies may decide, as plain laws. */
static void search_fine(pe_rotary_trial *self)
{
    const double least = 1e-10;
    if (!measure_theta(self, self->seen->count))
        return;
    const double theta = pe_exp_double(self->log_theta), most = 2 * self->log_error;
    double next = fmin(most, 0.05), before = 0;
    while (next > least) {
        const double error = next;
        next /= FINER;
        self->theta = pe_find_decimal(theta, error);
        if (self->theta == before)
            continue;
        before = self->theta;
        pe_rotary_predict_base(self, self->theta);
        pe_rotary_searches[PE_ROTARY_DEFAULT].scaled(self);
    }
}

static void search_laws(pe_rotary_trial *self)
{
    double thetas[THETAS_MAX];
    self->ranking.predicted = self->base + self->seen->count;
    self->ranking.step = pe_rotary_choose_step(self, 1);
    size_t count = list_thetas(self, thetas);
    search_fine(self);
    if (measure_theta(self, self->seen->count))
        search_grown(self);
    for (size_t t = 0; t < count && pe_rotary_may_continue(self->seen); t++) {
        self->theta = thetas[t];
        pe_rotary_predict_base(self, thetas[t]);
        list_factors(self);
        for (size_t type = 0; type < PE_ROTARY_COUNT; type++)
            if (pe_rotary_searches[type].scaled)
                pe_rotary_searches[type].scaled(self);
    }
}

size_t pe_rotary_search(const pe_rotary_observation *seen,
                        pe_rotary_law ret_laws[PE_ROTARY_LAWS_KEPT])
{
    pe_rotary_trial self = {.seen = seen, .ranking = {.seen = seen, .laws = ret_laws}};
    if (seen->count < 2 || seen->frequencies[0] == 0 || !pe_rotary_may_continue(seen))
        return 0;
    self.base = malloc(2 * seen->count * sizeof *self.base);
    self.ranking.columns =
        calloc((size_t)1 << PE_ROTARY_KNOWN_BITS, sizeof *self.ranking.columns);
    if (self.base && self.ranking.columns)
        search_laws(&self);
    free(self.ranking.columns);
    free(self.base);
    return self.ranking.kept;
}
