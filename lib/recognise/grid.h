/* Recognising tables of grids. */
#ifndef PE_RECOGNISE_GRID_H
#define PE_RECOGNISE_GRID_H

#include "scheme.h"

/* Propose sinusoidal encodings of a grid for a table [cells, dim], perhaps after rows of zeros,
 * [dim, height, width] or [height, width, dim]: by presets, and by arrangements of channels
 * with usual bases. Every channel of such a table depends on one axis alone, which few other
 * tables do. */
void pe_grid_recognise(pe_seen *seen, pe_proposals *proposals, const pe_preset *presets,
                       size_t preset_count);

#endif
