/* Rounding numbers that are known to lie in intervals. */
#ifndef PE_INTERVALS_H
#define PE_INTERVALS_H

#include "kernels/lines.h"

/* Compute number `index` exactly and write it, rounded once. */
typedef void pe_settle(const void *context, size_t index, void *dst);

/* Round `count` <= PE_LINE_MAX numbers, each between low[i] and high[i], which are finite:
 * where both ends round alike the number does, too; the others are settled. Not for i32. */
void pe_round_intervals(pe_dtype dtype, const double *low, const double *high, size_t count,
                        pe_settle *settle, const void *context, void *dst);

/* The same where each is within `error` of numbers[i]. */
void pe_round_about(pe_dtype dtype, const double *numbers, double error, size_t count,
                    pe_settle *settle, const void *context, void *dst);

#endif
