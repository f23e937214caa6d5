/* Trying a request that may have made a table, for explaining: some rows first, and then all.
 */
#ifndef PE_EXPLANATION_TRIAL_H
#define PE_EXPLANATION_TRIAL_H

#include "foreign/comparison.h"
#include "identify/query.h"
#include "identify/search_runner.h"

#define PE_TRIAL_LINES 9

/* What all trials of a table share. */
typedef struct pe_trial {
    const pe_scheme *scheme;
    pe_dtype dtype;    /* of the exact tensor */
    pe_dtype format;   /* what the values were rounded to before they were stored in a wider
                        * dtype; else `dtype` */
    const char *query; /* that was given, and its tensor */
    char tensor[32];
    pe_view view;           /* the table, without axes of size 1 */
    pe_tolerance tolerance; /* bounded, if the scheme has bounds */
    const pe_limits *limits;
    pe_search_runner runner;
    double left; /* multiply-adds that may still be spent */
    pe_explanation *found;
    pe_error *reterr;
} pe_trial;

/* Spend multiply-adds; false if too few are left. */
bool pe_trial_spend(pe_trial *trial, double price);

/* Make a request of the trial's scheme with a dtype; NULL if it is refused, or if preparing it
 * is too expensive. */
pe_request *pe_trial_make_request(pe_trial *trial, const char *query, pe_dtype dtype);

/* The value of a parameter in a request of the query, the default if it is not given. False: it
 * has none. */
bool pe_trial_read_value(pe_trial *trial, const char *name, pe_value *ret_value,
                         char ret_text[PE_PRINT_MAX]);

/* Say what was found. Returns true. */
bool pe_trial_say(pe_trial *trial, const char *kind, const char *sentence, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- explanation_fit.c ---- */

/* Whether a view is the tensor of a request times a factor: every entry is within the
 * tolerance. Notes the request and the figures in trial->found then. */
bool pe_trial_fits(pe_trial *trial, const char *query, const char *tensor, const pe_view *view,
                   double factor);

/* The same of the table with other values of parameters: name, value, name, value, …, NULL; a
 * value "" leaves the parameter out. Notes the changes. */
bool pe_trial_fits_changed(pe_trial *trial, const char *const *changes);

/* The factor that brings the exact table nearest to the one that was sent, in some lines. */
bool pe_trial_measure_factor(pe_trial *trial, double *ret_factor);

#endif
