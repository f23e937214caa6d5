/* Weighted sums of rows, in loops that compilers vectorise. */
#ifndef PE_WEIGH_H
#define PE_WEIGH_H

#include <stddef.h>

/* Add weights[t] · rows[t][c] over t < taps, in this order, to sums[c], for c < count. */
typedef void pe_weigh(const double *const *rows, const double *weights, size_t taps,
                      size_t count, double *sums);

#endif
