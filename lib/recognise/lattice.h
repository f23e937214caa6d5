/* Tables whose rows are the cells of a grid, of which every column depends on one axis alone.
 */
#ifndef PE_RECOGNISE_LATTICE_H
#define PE_RECOGNISE_LATTICE_H

#include "recognise/observation.h"

/* A table whose rows, after some of angle 0, are the cells of a grid. */
typedef struct pe_grid_view {
    const pe_observation *seen;
    uint64_t before, after; /* rows of angle 0 */
    uint64_t height, width;
} pe_grid_view;

/* An entry of a cell among the rows that have been read; NaN elsewhere. */
double pe_grid_cell(const pe_grid_view *grid, uint64_t y, uint64_t x, uint64_t column);

/* Whether every column depends on one axis alone, in the first cells of lines 0 and y. */
bool pe_grid_is_separable(const pe_grid_view *grid, uint64_t y);

/* Find the width of the narrowest grid whose columns depend on one axis each, as wider ones
 * have several lines of it in one. False: there is none. */
bool pe_grid_find_width(pe_grid_view *grid);

/* The rows of a frame, if a grid is one of frames: its columns begin anew then. */
uint64_t pe_grid_frame_rows(const pe_grid_view *grid);

#endif
