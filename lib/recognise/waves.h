/* Proposing requests for tables of waves other than the sinusoidal and rotary ones. */
#ifndef PE_RECOGNISE_WAVES_H
#define PE_RECOGNISE_WAVES_H

#include "scheme.h"

/* The `recognise` of these schemes: see pe_scheme. */
void pe_periodic_recognise(pe_seen *seen, pe_proposals *proposals);
void pe_rotation_matrix_recognise(pe_seen *seen, pe_proposals *proposals);
void pe_xpos_recognise(pe_seen *seen, pe_proposals *proposals);

#endif
