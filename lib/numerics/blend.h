/* Extrapolation between vectors; each entry is rounded once, from its exact value. */
#ifndef PE_BLEND_H
#define PE_BLEND_H

#include "numerics/dd.h"
#include "posenc.h"

/* An entry is a + (b - p)·α/(1 - α), for a double α in (0, 1). */
typedef struct pe_blend {
    double alpha;
    dd ratio; /* α/(1 - α), with a relative error below 2^-98 */
    pe_dtype dtype;
} pe_blend;

pe_blend pe_blend_init(double alpha, pe_dtype dtype);

/* An upper bound of the magnitude of entries whose a, b and p have at most this magnitude; it
 * exceeds the least such bound by a factor of at most 1 + 2^-39. */
double pe_blend_magnitude(const pe_blend *blend, double magnitude);

#define PE_BLEND_ENTRIES 256 /* the largest count of pe_blend_row */

/* Write `count` entries of the dtype, each the nearest element, ties to even. None may round
 * to infinity. */
void pe_blend_row(const pe_blend *blend, const double *a, const double *b, const double *p,
                  size_t count, void *dst);

#endif
