/* Extrapolating between vectors, each entry rounded once from its exact real value. */
#ifndef PE_BLEND_H
#define PE_BLEND_H

#include "dd.h"
#include "posenc.h"

/* Entries a + (b - p)·α/(1 - α), for a double α in (0, 1). */
typedef struct pe_blend {
    double alpha;
    dd ratio; /* α/(1 - α), within 2^-98 of itself */
    pe_dtype dtype;
} pe_blend;

pe_blend pe_blend_of(double alpha, pe_dtype dtype);

/* A bound of entries made of doubles up to `magnitude`, a little above the least one. */
double pe_blend_magnitude(const pe_blend *blend, double magnitude);

#define PE_BLEND_ENTRIES 256 /* the most entries of one call */

/* Write `count` entries, the nearest elements, ties to even; they must fit the dtype. */
void pe_blend_row(const pe_blend *blend, const double *a, const double *b, const double *p,
                  size_t count, void *dst);

#endif
