/* Sines and cosines of phases, in double-double. */
#ifndef PE_PHASE_H
#define PE_PHASE_H

#include "dd.h"
#include "wide.h"

/* ret_sin, ret_cos = sin and cos of 2π·phase, each within 2^-100 of its own magnitude: small
 * values keep their relative precision. Multiples of a quarter turn are exact. */
void pe_phase_sincos(pe_wide phase, dd *ret_sin, dd *ret_cos);

/* A fraction as a double-double: its leading 106 bits. */
dd pe_phase_fraction(pe_wide magnitude);

/* A frequency in radians per position, within 2^-103 of its magnitude. */
dd pe_phase_radians(pe_wide frequency);

#endif
