/* Weighted sums of rows, in loops that compilers vectorise. */
#ifndef PE_WEIGH_H
#define PE_WEIGH_H

#include <stddef.h>

/* Add the sum of weights[t] · rows[t][c] over t < taps to sums[c], for c < count. The rows may
 * be alike, but not overlap the sums. */
typedef void pe_weigh(const double *const *rows, const double *weights, size_t taps,
                      size_t count, double *sums);

#endif
