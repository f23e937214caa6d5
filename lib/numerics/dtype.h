/* Rounding to element types; every number is rounded once. */
#ifndef PE_DTYPE_H
#define PE_DTYPE_H

#include "numerics/dd.h"
#include "posenc.h"

/* The smallest magnitude that would round to infinity. */
double pe_dtype_overflow(pe_dtype dtype);

/* Round `count` doubles to the nearest element, ties to even, zeros to +0, and store them. */
void pe_round_row(pe_dtype dtype, const double *values, size_t count, void *dst);

/* A double that rounds to the dtype as the double-double does. */
double pe_double_for(pe_dtype dtype, dd value);

/* Round a double-double once: nearest element, ties to even, zeros to +0. */
void pe_round_dd(pe_dtype dtype, dd value, void *dst);

/* The exact value of one element of a real dtype, at any alignment. */
double pe_element_value(pe_dtype dtype, const void *element);

/* A number rounded to the nearest element, ties to even. */
double pe_rounded_to(double number, pe_dtype dtype);

/* A double that rounds to the dtype as value · 2^exponent does, also where that is no normal
 * double. */
double pe_double_for_scaled(pe_dtype dtype, dd value, int exponent);

/* Round value · 2^exponent to the dtype once. */
void pe_round_scaled(pe_dtype dtype, dd value, int exponent, void *dst);

#endif
