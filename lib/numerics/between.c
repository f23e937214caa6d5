/* Bisection in the order of all elements of a dtype. */
#include "numerics/between.h"

#include "numerics/dtype.h"

#include <string.h>

/* Where an element stands in the order of all values: 0 for zero, ±1 for the smallest
 * magnitudes, and so on. */
static int64_t find_rank(pe_dtype dtype, const void *element)
{
    size_t size = pe_dtype_size(dtype);
    uint64_t bits = 0, sign = 1ULL << (8 * size - 1);
    memcpy(&bits, element, size);
    return (bits & sign) ? -(int64_t)(bits & ~sign) : (int64_t)bits;
}

/* Store the element of a rank and return its value. */
static double element_of_rank(pe_dtype dtype, int64_t rank, void *ret_element)
{
    size_t size = pe_dtype_size(dtype);
    uint64_t bits = (uint64_t)(rank < 0 ? -rank : rank);
    if (rank < 0)
        bits |= 1ULL << (8 * size - 1);
    memcpy(ret_element, &bits, size);
    return pe_element_value(dtype, ret_element);
}

void pe_round_bisecting(pe_dtype dtype, const void *low_element, const void *high_element,
                        pe_compare_midpoint *compare, const void *number, void *dst)
{
    unsigned char element[8];
    int64_t low = find_rank(dtype, low_element), high = find_rank(dtype, high_element);
    while (low < high) {
        int64_t middle = (low >> 1) + (high >> 1) + (low & high & 1); /* rounded down */
        double below = element_of_rank(dtype, middle, element);
        double above = element_of_rank(dtype, middle + 1, element);
        int sign = compare(number, below, above);
        if (sign == 0)
            low = high = middle % 2 == 0 ? middle : middle + 1; /* a tie goes to even */
        else if (sign > 0)
            low = middle + 1;
        else
            high = middle;
    }
    element_of_rank(dtype, low, dst);
}
