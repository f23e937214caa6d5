/* Proposing the coordinates of the cells of a grid. */
#ifndef PE_AXIAL_COORDINATES_H
#define PE_AXIAL_COORDINATES_H

#include "recognise/proposal.h"

/* Propose requests of axial_rope for a table [cells, axes] of coordinates, row by row. */
void pe_propose_coordinates(const pe_observation *seen, pe_proposals *proposals);

#endif
