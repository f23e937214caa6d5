/* Sums of products of numbers with entries of an encoding, rounded once: for results that a
 * bound does not decide. */
#ifndef PE_APPLY_SUM_H
#define PE_APPLY_SUM_H

#include "numerics/exact.h"
#include "posenc.h"

#include <stdbool.h>

/* How far entries with a rest may be off, relatively. */
#define PE_ENTRY_ERROR 0x1p-92

/* A sum on its way. {0} is the empty sum. */
typedef struct pe_sum {
    pe_exact finite;
    bool nan, plus, minus; /* terms that are NaN, and infinite ones of either sign */
    double unsure;         /* how far entries with a rest may be off, relatively: set by the
                            * caller; a sum that is as near to half way is half way */
    double margin;         /* what that makes of the sum */
} pe_sum;

/* Add number · entry. An entry of at most 80 bits is exact.
 * Infinities and NaN are as IEEE 754 has them: 0 times infinity is NaN. */
void pe_sum_add(pe_sum *sum, double number, dd entry);

/* Add number · entry if one of them is infinite or NaN; else return false. One such product
 * decides the sum, so none of the finite ones need be added. */
bool pe_sum_add_infinite(pe_sum *sum, double number, double entry);

/* The sum, rounded to the dtype: NaN, an infinity or a number that the dtype has. */
double pe_sum_rounded(const pe_sum *sum, pe_dtype dtype);

#endif
