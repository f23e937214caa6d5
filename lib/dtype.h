/* Rounding to element types, once. */
#ifndef PE_DTYPE_H
#define PE_DTYPE_H

#include "dd.h"
#include "posenc.h"

/* The smallest magnitude that the dtype cannot hold: it would round to infinity. */
double pe_dtype_overflow(pe_dtype dtype);

/* Round `count` doubles to the nearest element, ties to even, zeros to +0, and store them. */
void pe_round_row(pe_dtype dtype, const double *values, size_t count, void *dst);

/* Round a double-double once: nearest element, ties to even, zeros to +0. */
void pe_round_dd(pe_dtype dtype, dd value, void *dst);

/* The value of one element of a real dtype, of any alignment; exact. */
double pe_element_value(pe_dtype dtype, const void *element);

#endif
