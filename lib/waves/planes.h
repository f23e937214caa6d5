/* Tables of a grid, channels first: a plane [height, width] for each channel, which encodes the
 * row or the column of a cell. */
#ifndef PE_PLANES_H
#define PE_PLANES_H

#include "waves/lattice.h"

/* Write elements [first, first + count), counted over all planes, of a lattice that has two
 * axes, that of the rows and that of the columns. */
void pe_planes_fill(const pe_lattice *lattice, uint64_t first, uint64_t count, void *dst);

#endif
