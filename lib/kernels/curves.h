/* Logarithms and exponentials of many numbers, near the exact ones: inner loops of entries that
 * are rounded to a short dtype. */
#ifndef PE_CURVES_H
#define PE_CURVES_H

#include <stddef.h>

#define PE_CURVE_EXPONENT_MAX 700 /* the largest magnitude of an exponent */

typedef struct pe_curves {
    /* ln x for each x of at least 1, within 2^-46 of itself. */
    void (*logarithms)(const double *numbers, size_t count, double *ret_logarithms);

    /* e^x for each |x| <= PE_CURVE_EXPONENT_MAX, within (|x| + 4)·2^-51 of itself. */
    void (*exponentials)(const double *numbers, size_t count, double *ret_exponentials);
} pe_curves;

#endif
