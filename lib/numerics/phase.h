/* Sines and cosines of phases, in double-double. */
#ifndef PE_PHASE_H
#define PE_PHASE_H

#include "numerics/dd.h"
#include "numerics/wide.h"

/* sin and cos of 2π·phase, with relative errors below 2^-100, however small they are.
 * Multiples of a quarter turn are exact. */
void pe_phase_sincos(pe_wide phase, dd *ret_sin, dd *ret_cos);

/* The multiple of a quarter turn that a phase is within `margin` of; else the phase itself. */
pe_wide pe_phase_snap(pe_wide phase, pe_wide margin);

/* The leading 106 bits of a fraction. */
dd pe_phase_fraction(pe_wide magnitude);

/* A frequency in radians per position, with a relative error below 2^-103. */
dd pe_phase_radians(pe_wide frequency);

#endif
