/* Products of many numbers with one factor, and of many numbers with each other. */
#ifndef PE_SCALE_H
#define PE_SCALE_H

#include "numerics/dd.h"

#include <stdbool.h>
#include <stddef.h>

/* Products of a factor and numbers, without overflow or underflow. `nearest`: each is the
 * double nearest to the product; else it is rounded to odd (dd_to_odd), so that rounding it to
 * a shorter dtype rounds the product. */
typedef void pe_scale(dd factor, const double *numbers, size_t count, bool nearest,
                      double *ret_products);

/* The ends of intervals around products: with a = first[i] · second[i], a·third[i] ± |a|·error.
 */
typedef void pe_bracket(const double *first, const double *second, const double *third,
                        size_t count, double error, double *ret_below, double *ret_above);

#endif
