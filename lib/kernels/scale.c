/* Products, in loops that compilers vectorise. */
#include "kernels/scale.h"

#include "kernels/instruction_set.h"

extern pe_scale PE_FOR_SET(pe_scale);
extern pe_bracket PE_FOR_SET(pe_bracket);

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

void PE_FOR_SET(pe_bracket)(const double *restrict first, const double *restrict second,
                            const double *restrict third, size_t count, double error,
                            double *restrict ret_below, double *restrict ret_above)
{
    for (size_t i = 0; i < count; i++) {
        double both = first[i] * second[i], product = both * third[i];
        double slack = __builtin_fabs(both) * error;
        ret_below[i] = product - slack;
        ret_above[i] = product + slack;
    }
}
