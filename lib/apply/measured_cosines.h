/* The cosines by which another kernel has turned the pairs of an input. */
#ifndef PE_APPLY_MEASURED_COSINES_H
#define PE_APPLY_MEASURED_COSINES_H

#include "apply/result.h"

typedef struct pe_measured_cosines {
    double *sums;  /* from malloc: [rows, columns] of the cosines' tensor, products, squares */
    void *entries; /* from malloc: in the dtype of the result */
    pe_view view;  /* of the entries, in the tensor's shape */
} pe_measured_cosines;

#define PE_MEASURED_MAX 0x1p21 /* entries */

/* Whether an application is a rotation whose cosines can be measured: each row has one position
 * and no factor of its own, and there are at most PE_MEASURED_MAX of them. */
bool pe_cosines_are_measurable(const pe_apply *apply);

/* Measure them: a pair (x, y) that became (x', y') was turned by an angle whose cosine is
 * (x x' + y y') / (x² + y²), of sums over all rows of one position. False: memory ran out, the
 * tensors cannot be read, or some position has no row that tells. pe_measured_cosines_done in
 * any case. */
bool pe_cosines_measure(pe_apply *apply, const pe_view *result,
                        pe_measured_cosines *ret_measured);
void pe_measured_cosines_done(pe_measured_cosines *measured);

/* At most as many bytes does measuring take. */
uint64_t pe_cosines_footprint(const pe_apply *apply);

#endif
