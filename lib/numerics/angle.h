/* Angles in radians, given as doubles, and their phases in turns. */
#ifndef PE_ANGLE_H
#define PE_ANGLE_H

#include "numerics/phase.h"

/* A finite angle in turns, modulo 1. The error is below 2^-200; up to one radian it is below
 * 2^-255. */
pe_wide pe_angle_turns(double radians);

/* The same for the angle a * b, which is not rounded to a double; |b| <= 2^53. */
pe_wide pe_angle_turns_of_product(double a, double b);

/* angle + phase in radians. Where they nearly cancel and the phase is not tiny, returns 0: the
 * caller's sum in turns has more correct bits then. */
dd pe_angle_sum(dd angle, double phase);

/* sin and cos of an angle in radians, 2^-800 < |x| < 2^-20, with relative errors below 2^-100.
 * The sine is always nearer to zero than x, and the cosine below 1. */
void pe_angle_small_sincos(dd x, dd *ret_sin, dd *ret_cos);

#endif
