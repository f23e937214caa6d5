/* Formulas of schemes in MPFR, as the papers have them, and random queries for them. */
#ifndef MPFR_FORMULAS_H
#define MPFR_FORMULAS_H

#include "posenc.h"

#include <mpfr.h>

/* Bits: positions are exact, angles have 250 correct ones after the point. */
#define PRECISION 320

/* A random query and its numbers. */
typedef struct random_query {
    char query[512];
    pe_dtype dtype;
    double offset, step, amplitude, base;
    unsigned long dim, heads, width;
    size_t count;        /* of the frequencies */
    mpfr_t *frequencies; /* radians per position */
    mpfr_t factor;       /* of the entries; only with frequencies */
} random_query;

/* A row of a tensor, counted over all axes but the last, and a column. */
typedef struct entry_place {
    const pe_table *table;
    size_t tensor;
    uint64_t row, column;
} entry_place;

typedef struct scheme_formula {
    const char *scheme, *what;
    double share; /* of all entries */
    /* Add what the formula needs to the query, beside dtype, and set the numbers. */
    void (*draw)(random_query *drawn);
    bool (*covers)(const char *tensor);
    /* The exact entry. */
    void (*entry)(const random_query *drawn, entry_place at, mpfr_t ret_exact);
} scheme_formula;

extern const scheme_formula formulas[];
extern const size_t formula_count;

/* Set the seed of all draws. */
void draw_from(uint64_t seed);

/* A random request; NULL if it is refused, since random numbers do not keep every rule. The
 * caller releases both. */
pe_request *draw(const scheme_formula *formula, random_query *ret_drawn);
void drawn_done(random_query *drawn);

#endif
