/* Ranking rotary laws of published settings by what is measured of a table.
 *
 * All laws whose settings are published ones, or decimals of few digits near measured ones, are
 * ranked. */
#include "recognise/rotary_laws.h"

#include "numerics/elementary.h"
#include "recognise/observation.h"
#include "recognise/proposal.h"
#include "recognise/rotary_types.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define THETAS_MAX  40
#define GROWTHS     8 /* published factors by which thetas grow that are no published ones */
#define TYPE_DIGITS 4 /* a type and its factor, out of so many, say as much as digits do */

const double pe_rotary_thetas[PE_ROTARY_THETAS] = {
    1e4, 5e5,   1e6,   1.5e5, 1e5, 5e6,   1e7,  8e6, 2e6,   3e6,  5e4,
    4e4, 2.5e4, 1.6e5, 6e5,   1e8, 1e9,   1e10, 2e4, 2.5e5, 1e11, 5e7,
    3e5, 2e5,   1.2e6, 3.5e6, 7e5, 1.6e6, 4e6,  1e3, 100,   10};
static const double FACTORS[] = {8,   4,   2,  16, 32, 40, 64, 10, 20,  3,   6,  5,
                                 1.5, 2.5, 12, 24, 7,  9,  48, 80, 100, 128, 256};

/* ---- what is searched ---- */

/* Measure the first frequency and the logarithm of theta by the frequencies before `end`, as
 * long as they fall geometrically. */
static bool measure_theta(pe_rotary_trial *self, size_t end)
{
    const pe_ladder *ladder = self->seen->ladder;
    const double d = (double)self->seen->count;
    size_t count = 0;
    pe_ladder_line line;
    while (count < ladder->count && ladder->rungs[count].index < (double)end)
        count++;
    if (count < 2)
        return false;
    (void)pe_ladder_fit(ladder->rungs, count, false, 0, &line);
    const bool whole = end == self->seen->count && ladder->geometric;
    self->log_theta = -d * (whole ? ladder->ratio : line.at[1]);
    self->log_error = d * (whole ? ladder->ratio_error / 2 : sqrt(line.covariance[1][1]));
    self->first = pe_exp_double(whole ? ladder->first : line.at[0]);
    self->first_error = whole ? ladder->first_error / 2 : sqrt(line.covariance[0][0]);
    return self->log_theta > 0.5 && self->log_theta < 41;
}

/* A theta, and by which measurement it was listed. */
typedef struct listed_theta {
    double theta, first, first_error, log_error;
} listed_theta;

/* Add a theta to a list without repeating it. */
static void add_theta(const pe_rotary_trial *self, double theta, listed_theta *list,
                      size_t *count)
{
    for (size_t i = 0; i < *count; i++)
        if (list[i].theta == theta)
            return;
    if (*count < THETAS_MAX)
        list[(*count)++] =
            (listed_theta){theta, self->first, self->first_error, self->log_error};
}

#define FINER  12 /* from one decimal of theta to the next one */
#define DEEPER 3  /* decimals that are listed */

/* List published thetas near the measured ones, and decimals: of as many frequencies as fall
 * geometrically of ever more digits, and of the first ones. */
static size_t list_thetas(pe_rotary_trial *self, listed_theta thetas[THETAS_MAX])
{
    size_t count = 0;
    for (size_t end = self->seen->count; end > 1; end = end > 4 ? end / 2 : end - 1) {
        if (!measure_theta(self, end))
            continue;
        double error = fmax(2 * self->log_error, 1e-9), theta = pe_exp_double(self->log_theta);
        for (size_t i = 0; i < PE_ROTARY_THETAS; i++)
            if (fabs(pe_log_double(pe_rotary_thetas[i]) - self->log_theta) <= 4 * error)
                add_theta(self, pe_rotary_thetas[i], thetas, &count);
        for (int i = 0; i < (end == self->seen->count ? DEEPER : 1); i++, error /= FINER)
            add_theta(self, pe_find_decimal(theta, fmin(error, 0.05)), thetas, &count);
    }
    return count;
}

/* Add a factor without repeating it. */
static void add_factor(pe_rotary_trial *self, double factor)
{
    for (size_t i = 0; i < self->factor_count; i++)
        if (self->factors[i] == factor)
            return;
    if (self->factor_count < PE_ROTARY_FACTORS_MAX)
        self->factors[self->factor_count++] = factor;
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
        if (self->ranking.frequencies[i] == 0)
            continue;
        double factor = self->base[i] * self->first / self->ranking.frequencies[i];
        double error = fmin(2 * (self->ranking.errors[i] + self->first_error) +
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

/* Try types that let a theta grow to the measured one. */
static void try_grown(pe_rotary_trial *self, double theta)
{
    const double d = 2 * (double)self->seen->count;
    self->theta = theta;
    self->log_growth = (self->log_theta - pe_log_double(theta)) * (d - 2) / d;
    for (size_t type = 0;
         type < PE_ROTARY_COUNT && self->log_growth >= 1e-3 && self->log_growth <= 7; type++)
        if (pe_rotary_searches[type].grown)
            pe_rotary_searches[type].grown(self);
}

/* Try thetas that a published factor, or that and 1, lets grow, and whose numbers have fewer
 * digits than the measured theta and step have within an error. */
static void try_shorter(pe_rotary_trial *self, double error)
{
    const double d = 2 * (double)self->seen->count;
    const int most = pe_count_digits(pe_find_decimal(pe_exp_double(self->log_theta), error)) +
                     pe_count_digits(self->ranking.step) -
                     (pe_rotary_is_decided(self) ? 1 : TYPE_DIGITS);
    for (size_t i = 0; i < 4 * GROWTHS && pe_rotary_spend(self->seen, PE_ROTARY_NUMBER_WORK);
         i++) {
        const bool fixed = i % 4 > 1;
        const double log = pe_log_double(FACTORS[i / 4] + (double)(i % 2));
        const double whole = self->log_theta - log * (fixed ? 1 : d / (d - 2));
        const double theta = pe_find_decimal(pe_exp_double(whole), error);
        const double divisor = fixed ? pe_exp_double(log * 2 / d) : 1;
        if (pe_count_digits(theta) + pe_count_digits(pe_rotary_choose_step(self, divisor)) <=
            most)
            try_grown(self, theta);
    }
}

static void search_grown(pe_rotary_trial *self)
{
    double error = fmax(2 * self->log_error, 1e-9);
    memcpy(self->factors, FACTORS, sizeof FACTORS);
    self->factor_count = PE_COUNT(FACTORS);
    self->growth_error = 2 * self->log_error + 1e-12;
    for (size_t t = 0; t < PE_ROTARY_THETAS; t++)
        try_grown(self, pe_rotary_thetas[t]);
    for (size_t i = 0; i < DEEPER + 2; i++, error /= FINER)
        try_shorter(self, error);
}

static void search_laws(pe_rotary_trial *self)
{
    listed_theta thetas[THETAS_MAX];
    self->ranking.predicted = self->base + self->seen->count;
    self->blend = self->ranking.predicted + self->seen->count;
    self->ranking.frequencies = self->blend + self->seen->count;
    self->ranking.errors = self->ranking.frequencies + self->seen->count;
    for (size_t i = 0; i < self->seen->ladder->count; i++) {
        const pe_rung *rung = &self->seen->ladder->rungs[i];
        self->ranking.frequencies[(size_t)rung->index] = rung->frequency;
        self->ranking.errors[(size_t)rung->index] = rung->error;
    }
    const size_t count = list_thetas(self, thetas);
    if (measure_theta(self, self->seen->count)) {
        self->ranking.step = pe_rotary_choose_step(self, 1);
        search_grown(self);
    }
    for (size_t t = 0; t < count && pe_rotary_spend(self->seen, 0); t++) {
        self->theta = thetas[t].theta;
        self->first = thetas[t].first;
        self->first_error = thetas[t].first_error;
        self->log_error = thetas[t].log_error;
        self->ranking.step = pe_rotary_choose_step(self, 1);
        pe_rotary_predict_base(self, self->theta);
        list_factors(self);
        for (size_t type = 0; type < PE_ROTARY_COUNT; type++)
            if (pe_rotary_searches[type].scaled)
                pe_rotary_searches[type].scaled(self);
    }
}

size_t pe_rotary_search(const pe_rotary_observation *seen,
                        pe_rotary_law ret_laws[PE_ROTARY_LAWS_KEPT])
{
    pe_rotary_trial self = {
        .seen = seen,
        .ranking = {.seen = seen,
                    .attention = pe_find_decimal(seen->amplitude, seen->amplitude_error),
                    .laws = ret_laws}};
    if (seen->count < 2 || !pe_rotary_spend(seen, 0))
        return 0;
    self.base = calloc(5 * seen->count, sizeof *self.base);
    self.ranking.columns =
        calloc((size_t)1 << PE_ROTARY_KNOWN_BITS, sizeof *self.ranking.columns);
    if (self.base && self.ranking.columns)
        search_laws(&self);
    free(self.ranking.columns);
    free(self.base);
    return self.ranking.kept;
}
