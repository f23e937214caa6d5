/* Products of many numbers with one factor. */
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

#endif
