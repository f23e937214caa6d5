/* What a difference of two entries may be, by a pe_tolerance. */
#ifndef PE_FOREIGN_TOLERANCE_H
#define PE_FOREIGN_TOLERANCE_H

#include "posenc.h"

/* The distance of numbers of the dtype at a value: integers are 1 apart. */
double pe_dtype_ulp(pe_dtype dtype, double value);

/* Whether an error, the absolute one and that in ulps of the dtype, is above the tolerance.
 * `loss` is the entry's of PE_LOSS. */
bool pe_is_outside(const pe_tolerance *tolerance, pe_dtype dtype, double error, double ulps,
                   double found, double exact, double loss);

/* Take numbers that stand for minus infinity as it: rows of `columns` entries, or a part of one
 * row. Returns how many there were. */
uint64_t pe_mask_entries(double *found, const double *exact, size_t count, uint64_t columns);

#endif
