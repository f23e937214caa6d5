/* What a difference of two entries may be, by a pe_tolerance. */
#ifndef PE_FOREIGN_TOLERANCE_H
#define PE_FOREIGN_TOLERANCE_H

#include "posenc.h"

#include <math.h>

/* The distance of numbers of the dtype at a value: integers are 1 apart. */
double pe_dtype_ulp(pe_dtype dtype, double value);

/* How far an entry may be off that was computed in an arithmetic, before it is rounded to
 * another dtype: by its loss of PE_LOSS and by itself, each times a number, and by one. */
typedef struct pe_entry_bound {
    double by_loss, by_entry, least;
} pe_entry_bound;

pe_entry_bound pe_bound_entries(pe_dtype arithmetic);

static inline double pe_bound_entry(const pe_entry_bound *bound, double entry, double loss)
{
    return bound->by_loss * fabs(loss) + bound->by_entry * fabs(entry) + bound->least;
}

/* Whether an error, the absolute one and that in ulps of the dtype, is above the tolerance.
 * `bound` is that of the entry where the tolerance is bounded. */
bool pe_is_outside(const pe_tolerance *tolerance, pe_dtype dtype, double error, double ulps,
                   double found, double exact, double bound);

/* Take numbers that stand for minus infinity as it: rows of `columns` entries, or a part of one
 * row. Returns how many there were. */
uint64_t pe_mask_entries(double *found, const double *exact, size_t count, uint64_t columns);

#endif
