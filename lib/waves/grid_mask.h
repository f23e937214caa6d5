/* Grids of which only some cells are valid: positions count the valid ones. */
#ifndef PE_GRID_MASK_H
#define PE_GRID_MASK_H

#include "waves/axis.h"
#include "waves/lattice.h"

#define PE_GRID_MASK_CELLS (1 << 20) /* the most cells of a grid with a mask */

/* The most bytes that the tables of both axes may take, with rows of `row_bytes`. Normalized
 * axes have a table for each count of valid cells in a row or column. */
double pe_grid_mask_bytes(double height, double width, bool normalized, double row_bytes);

/* Set the rows and the entries of both axes, of rows and of columns, by their rules. The cells,
 * row by row, are `runs[0]` valid ones, `runs[1]` others, and so on; the runs have as many
 * cells as the grid. A cell's position on an axis is that of the last of as many cells as there
 * are valid ones in its row or column up to itself, and an axis has as many cells as there are
 * valid ones in all of that row or column. The waves of the lattice, whose points are together,
 * have all members but positions and frequencies. False if memory ran out. */
bool pe_grid_mask(pe_lattice *lattice, const double *runs, size_t count, const pe_axis *rules,
                  pe_pace *pace);

#endif
