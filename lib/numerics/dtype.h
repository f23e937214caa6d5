/* Rounding to element types; every number is rounded once. */
#ifndef PE_DTYPE_H
#define PE_DTYPE_H

#include "numerics/dd.h"
#include "posenc.h"

/* What a dtype is; digits, units and exponents are those of reals up to PE_BF16. */
typedef struct pe_dtype_facts {
    const char *name;
    size_t size;
    int digits;         /* significant bits, with the hidden one; 0: none */
    double unit;        /* of the last place of 1 */
    int least_exponent; /* of the least normal number */
    double overflow;    /* the smallest magnitude that would round to infinity */
    pe_element element;
} pe_dtype_facts;

/* The name of the element type that another word stands for, as in "float32", "torch.half" or
 * "np.int64"; NULL if it is none. */
const char *pe_dtype_from_word(const char *word);

extern const pe_dtype_facts pe_dtypes[PE_LOSS + 1];

/* Whether doubles nearly always say how a real number is rounded to the dtype. */
static inline bool pe_dtype_is_short(pe_dtype dtype)
{
    return dtype == PE_F32 || dtype == PE_F16 || dtype == PE_BF16;
}

/* Round `count` doubles to the nearest element, ties to even, zeros to +0, and store them. */
void pe_round_row(pe_dtype dtype, const double *values, size_t count, void *dst);

/* A double that rounds to the dtype as the double-double does. */
double pe_narrow_to_double(pe_dtype dtype, dd value);

/* Round a double-double once: nearest element, ties to even, zeros to +0. */
void pe_round_dd(pe_dtype dtype, dd value, void *dst);

/* The exact value of one element of a real dtype, at any alignment. */
double pe_element_value(pe_dtype dtype, const void *element);

/* A number rounded to the nearest element, ties to even. */
double pe_round_number(double number, pe_dtype dtype);

/* A double that rounds to the dtype as value · 2^exponent does, also where that is no normal
 * double. */
double pe_double_for_scaled(pe_dtype dtype, dd value, int exponent);

/* Round value · 2^exponent to the dtype once. */
void pe_round_scaled(pe_dtype dtype, dd value, int exponent, void *dst);

#endif
