/* Proposing requests for tables of grids, whose axes have columns of their own. */
#ifndef PE_RECOGNISE_LATTICE_H
#define PE_RECOGNISE_LATTICE_H

#include "scheme.h"

/* The `recognise` of these schemes: see pe_scheme. */
void pe_sinusoidal_3d_recognise(pe_seen *seen, pe_proposals *proposals);
void pe_fourier_recognise(pe_seen *seen, pe_proposals *proposals);
void pe_axial_rope_recognise(pe_seen *seen, pe_proposals *proposals);

#endif
