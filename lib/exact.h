/* Exact sums of products of doubles, of any magnitude: an integer that counts units of 2^-2148.
 */
#ifndef PE_EXACT_H
#define PE_EXACT_H

#include <stdint.h>

#define PE_EXACT_LIMBS 52 /* 3328 bits; products are below 2^1026, so they take 3174 */

/* A sum of products, in two's complement, least significant limb first; begins as {{0}}. */
typedef struct pe_exact {
    uint64_t limb[PE_EXACT_LIMBS];
} pe_exact;

/* Add a * b, which are finite and |b| <= 4. */
void pe_exact_add(pe_exact *sum, double a, double b);

/* -1, 0 or 1. */
int pe_exact_sign(const pe_exact *sum);

#endif
