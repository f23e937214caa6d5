/* Sums over a rectangle of a table, with the weights of two axes; each is rounded once, from
 * its exact value. */
#ifndef PE_WEIGHTED_H
#define PE_WEIGHTED_H

#include "numerics/resample.h"
#include "posenc.h"

/* The sum over i and j of values[i·x->count + j] · y_weight_i · x_weight_j. */
typedef struct pe_weighted {
    const pe_taps *y, *x;
    const dd *y_weights, *x_weights; /* as pe_taps_weights writes them */
    bool exact;                      /* whether it returned true for both */
    const double *values;            /* finite */
} pe_weighted;

/* Write the nearest element, ties to even, zeros as +0. It may not round to infinity. */
void pe_weighted_round(const pe_weighted *sum, pe_dtype dtype, void *dst);

#endif
