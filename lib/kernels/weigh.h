/* Weighted sums of rows, in loops that compilers vectorise. */
#ifndef PE_WEIGH_H
#define PE_WEIGH_H

#include <stdbool.h>
#include <stddef.h>

/* Set sums[c] to the sum of weights[t] · rows[t][c] over t < taps, for c < count; `add`: add it
 * to sums[c]. The rows may be alike, but not overlap the sums. */
typedef void pe_weigh(const double *const *rows, const double *weights, size_t taps,
                      size_t count, bool add, double *sums);

#endif
