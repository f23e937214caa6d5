/* Trying a request that may have made a table, for explaining: some rows first, and then all.
 */
#ifndef PE_EXPLANATION_TRIAL_H
#define PE_EXPLANATION_TRIAL_H

#include "foreign/comparison.h"
#include "identify/candidates.h"
#include "identify/query.h"
#include "identify/search_runner.h"

#define PE_TRIAL_LINES 9

/* What looking for proposals costs: laws are compared column by column. */
#define PE_PROPOSALS_PRICE(columns) (0x1p25 + 0x1p20 * (columns))

struct pe_trial;

/* What is explained: a table, or the result of an application. */
typedef struct pe_trial_subject {
    const char *name; /* in sentences: "table", "result" */
    /* Whether it is that of a request times a factor: every entry is within trial->tolerance.
     * A query may have the options below besides the scheme's arguments. `view` is trial->view
     * or, of a table, another view of it. Notes trial->found's entries, differing and max_abs
     * if it is, and trial->far if trial->measures. */
    bool (*fits)(struct pe_trial *trial, const char *query, const char *tensor,
                 const pe_view *view, double factor);
    /* The factor that brings the request's rows nearest to it, in some rows. */
    bool (*measure_factor)(struct pe_trial *trial, double *ret_factor);
    /* Find what is wrong with the entries that can be read off it, and say it; NULL: none can.
     */
    bool (*find_in_entries)(struct pe_trial *trial);
    const pe_parameter *options; /* arguments that may be wrong as well, such as `inverse` */
    size_t option_count;
    bool is_table; /* it has a view: a shape, rows and columns */
} pe_trial_subject;

extern const pe_trial_subject pe_table_subject; /* explanation_fit.c */

/* A request that comes near to a subject. */
typedef struct pe_nearest {
    double far; /* the trial's */
    char query[PE_IDENTITY_QUERY_MAX], tensor[32];
    size_t change_count;
    pe_change changes[PE_CHANGES_MAX];
} pe_nearest;

/* What all trials of a subject share. */
typedef struct pe_trial {
    const pe_trial_subject *subject;
    void *context; /* the subject's own */
    const pe_scheme *scheme;
    pe_dtype dtype;    /* of the exact tensor */
    pe_dtype format;   /* what the values were rounded to before they were stored in a wider
                        * dtype; else `dtype` */
    const char *query; /* that was given, and its tensor */
    char tensor[32];
    pe_view view;           /* the table, without axes of size 1; of other subjects rank 0 */
    pe_tolerance tolerance; /* bounded, if the scheme has bounds */
    const pe_limits *limits;
    pe_search_runner runner;
    pe_candidates *proposed; /* by the scheme for the table, once it has looked; from malloc */
    bool looked;
    pe_nearest nearest; /* of those that were measured */
    double left;        /* multiply-adds that may still be spent */
    bool exhausted;     /* more was asked for: something has not been tried */
    bool vague;         /* what fits is within bounds that nearly anything is within */
    bool measures;      /* `far` is asked for */
    double far; /* sum of the squares that some rows of the request tried last are off by */
    pe_explanation *found;
    pe_error *reterr;
} pe_trial;

/* Spend multiply-adds; false if too few are left. */
bool pe_trial_spend(pe_trial *trial, double price);

/* The parameter of a name, the scheme's or one of the subject's options; NULL if it has none.
 */
const pe_parameter *pe_trial_find_parameter(const pe_trial *trial, const char *name);

/* Make a request of the trial's scheme with a dtype, of a query's arguments that are no
 * options; NULL if it is refused, or if preparing it is too expensive. */
pe_request *pe_trial_make_request(pe_trial *trial, const char *query, pe_dtype dtype);

/* The value of a parameter in a request of the query, the default if it is not given. False: it
 * has none. */
bool pe_trial_read_value(pe_trial *trial, const char *name, pe_value *ret_value,
                         char ret_text[PE_PRINT_MAX]);

/* Say what was found. Returns true. */
bool pe_trial_say(pe_trial *trial, const char *kind, const char *sentence, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether the subject is the tensor of a request times a factor, as its `fits` says. Notes the
 * request and the figures in trial->found then. */
bool pe_trial_fits(pe_trial *trial, const char *query, const char *tensor, const pe_view *view,
                   double factor);

/* The same with other values of parameters: name, value, name, value, …, NULL; a
 * value "" leaves the parameter out, and a name "" is passed over. Notes the changes. */
bool pe_trial_fits_changed(pe_trial *trial, const char *const *changes);

#endif
