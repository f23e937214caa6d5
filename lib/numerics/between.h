/* Rounding a number that can only be compared with others, such as an exact sum. */
#ifndef PE_BETWEEN_H
#define PE_BETWEEN_H

#include "posenc.h"

/* Whether a number lies above the midpoint of low and high (1), below it (-1) or on it (0). */
typedef int pe_compare_midpoint(const void *number, double low, double high);

/* Store in *dst the element nearest to `number`, ties to even, by bisection between two finite
 * elements that enclose it. `dst` may be one of these. */
void pe_round_bisecting(pe_dtype dtype, const void *low_element, const void *high_element,
                        pe_compare_midpoint *compare, const void *number, void *dst);

#endif
