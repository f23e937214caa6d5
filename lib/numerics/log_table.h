/* Logarithms of approximate reciprocals of numbers in [1, 2). The logarithm of a number is the
 * entry of its reciprocal plus that of the product of both, which is nearly 1. */
#ifndef PE_LOG_TABLE_H
#define PE_LOG_TABLE_H

#include <stdint.h>

/* Row i is for x in [1 + i/64, 1 + (i + 1)/64): 512 times an approximation of 1/x, and minus
 * the logarithm of that approximation, or of twice that approximation from row
 * PE_LOG_HALVED_FROM on, as the sum of two doubles. So logarithms in the first and the last row
 * are 0, and nothing cancels near x = 1 and x = 2. */
#define PE_LOG_HALVED_FROM 27
extern const uint64_t pe_log_reciprocals[64];
extern const double pe_log_table[64], pe_log_table_rests[64];

/* ln 2; the high part has so few bits that its multiples by up to 54 are exact. */
#define PE_LOG_LN2 ((dd){0x1.62e42fefa3980p-1, 0x1.bcd5e4f1d9cc0p-47})

#endif
