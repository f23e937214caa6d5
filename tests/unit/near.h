/* Fixed-point numbers beside those expected. */
#ifndef UNIT_NEAR_H
#define UNIT_NEAR_H

#include "numerics/fixed.h"
#include "numerics/wide.h"

/* Fail the test unless two fractions of a turn differ by at most `units` times 2^-256, either
 * way round. The failure says which case it is, as the format does, and both numbers. */
void unit_wide_is_near(pe_wide got, pe_wide expected, uint64_t units, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same for numbers with a whole part, which do not wrap. */
void unit_fixed_is_near(pe_fixed got, pe_fixed expected, uint64_t units, const char *format,
                        ...) __attribute__((format(printf, 4, 5)));

#endif
