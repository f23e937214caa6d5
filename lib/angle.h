/* Angles given as doubles in radians, turned into exact phases. */
#ifndef PE_ANGLE_H
#define PE_ANGLE_H

#include "phase.h"

/* A finite angle in turns, modulo 1, within 2^-200 (and within 2^-255 up to one radian). */
pe_wide pe_angle_turns(double radians);

/* The same of a product, which need not be a double; |b| <= 2^53. */
pe_wide pe_angle_turns_of_product(double a, double b);

/* way + phase in radians. 0 where they nearly cancel, though the phase is not tiny: what is
 * left has more bits as turns. */
dd pe_angle_sum(dd way, double phase);

/* sin and cos of an angle in radians, 0 < |x| < 2^-20, each within 2^-100 of its magnitude, and
 * on the right side of x and 1. */
void pe_angle_small_sincos(dd x, dd *ret_sin, dd *ret_cos);

#endif
