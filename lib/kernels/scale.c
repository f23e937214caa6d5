/* Products in double-double, in loops that compilers vectorise. */
#include "kernels/scale.h"

#include "kernels/instruction_set.h"

extern pe_scale PE_FOR_SET(pe_scale);

void PE_FOR_SET(pe_scale)(dd factor, const double *restrict numbers, size_t count, bool nearest,
                          double *restrict ret_products)
{
    if (nearest)
        for (size_t i = 0; i < count; i++)
            ret_products[i] = dd_mul_double(factor, numbers[i]).hi;
    else
        for (size_t i = 0; i < count; i++)
            ret_products[i] = dd_to_odd(dd_mul_double(factor, numbers[i]));
}
