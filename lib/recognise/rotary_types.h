/* The laws of each rope_type that identification tries on a table. */
#ifndef PE_ROTARY_TRIALS_H
#define PE_ROTARY_TRIALS_H

#include "recognise/rotary_rank.h"

#define PE_ROTARY_FACTORS_MAX 40
#define PE_ROTARY_NUMBER_WORK 64 /* entries whose comparing takes as long as a decimal */

/* What laws are tried on, and the settings that are tried. */
typedef struct pe_rotary_trial {
    pe_rotary_ranking ranking;
    const pe_rotary_observation *seen;
    double *base;  /* [count]: theta^(-2i/d), or what a theta that has grown gives */
    double *blend; /* [count]: which parts of them a law divides */
    double theta;
    double factors[PE_ROTARY_FACTORS_MAX];
    size_t factor_count;
    double first, first_error;       /* measured, of the first frequency */
    double log_theta, log_error;     /* the same of the first ones */
    double log_growth, growth_error; /* of a theta that has grown */
} pe_rotary_trial;

typedef void pe_rotary_try(pe_rotary_trial *trial);

/* Tries the laws of a theta, or of one that has grown; or NULL. */
typedef struct pe_rotary_search_by {
    pe_rotary_try *scaled, *grown;
} pe_rotary_search_by;

extern const pe_rotary_search_by pe_rotary_searches[PE_ROTARY_COUNT];

/* Predict the unscaled frequencies of a theta. */
void pe_rotary_predict_base(pe_rotary_trial *self, double theta);

/* The step between positions, if frequencies have been divided by a factor: a decimal near the
 * first one. */
double pe_rotary_choose_step(const pe_rotary_trial *self, double factor);

/* Whether entries have so many digits that they decide the numbers of a law: there are not so
 * many laws as float64 tables. */
bool pe_rotary_is_decided(const pe_rotary_trial *self);

#endif
