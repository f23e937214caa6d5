/* Exact sums of products of doubles of any magnitude, as integers in units of 2^-2148. */
#ifndef PE_EXACT_H
#define PE_EXACT_H

#include "numerics/dd.h"

#include <stdint.h>

#define PE_EXACT_LIMBS 67 /* 4288 bits: a product is below 2^2048 and takes 4196 of them */

/* A sum in two's complement, least significant limb first. {{0}} is the empty sum. */
typedef struct pe_exact {
    uint64_t limb[PE_EXACT_LIMBS];
} pe_exact;

/* Add a * b, for finite a and b. */
void pe_exact_add(pe_exact *sum, double a, double b);

/* The sign of the sum: -1, 0 or 1. */
int pe_exact_sign(const pe_exact *sum);

/* The sum to 106 bits; if it has more, the last one is set, so that the double-double lies on
 * no rounding boundary that the sum does not lie on. The low part must not underflow. */
dd pe_exact_value(const pe_exact *sum);

/* The same times 2^-exponent, from 1/2 to 1 in magnitude: without underflow or overflow. */
dd pe_exact_scaled(const pe_exact *sum, int *ret_exponent);

#endif
