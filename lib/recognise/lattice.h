/* Tables whose rows are the cells of a grid, of which every column depends on one axis alone.
 */
#ifndef PE_RECOGNISE_LATTICE_H
#define PE_RECOGNISE_LATTICE_H

#include "recognise/wave_law.h"
#include "waves/axes.h"

/* A table whose rows, after some of angle 0, are the cells of a grid. */
typedef struct pe_grid_view {
    const pe_observation *seen;
    uint64_t before, after; /* rows of angle 0 */
    uint64_t height, width;
} pe_grid_view;

/* Whether all but a few columns depend on one axis alone, in the first cells of lines 0 and y.
 */
bool pe_grid_is_separable(const pe_grid_view *grid, uint64_t y);

/* Whether the first lines of cells are those of a grid of this size. */
bool pe_grid_is_row_major(const pe_grid_view *grid);

/* Find the width of the narrowest grid whose columns depend on one axis each, as wider ones
 * have several lines of it in one. False: there is none. */
bool pe_grid_find_width(pe_grid_view *grid);

/* The rows of a frame, if a grid is one of frames: its columns begin anew then. */
uint64_t pe_grid_frame_rows(const pe_grid_view *grid);

/* The cells along each axis of a grid, from the first one on. */
typedef struct pe_grid_lines {
    size_t axes;
    uint64_t sizes[PE_AXES_MAX];
    pe_observation items[PE_AXES_MAX]; /* of an axis of one cell without rows */
} pe_grid_lines;

/* Read the lines of a matrix whose rows, after some, are cells. False: it cannot be read, or
 * memory ran out. pe_grid_lines_end frees what is held either way. */
bool pe_grid_lines_read(const pe_observation *seen, uint64_t before, size_t axes,
                        const uint64_t *sizes, pe_grid_lines *ret_lines);
void pe_grid_lines_end(pe_grid_lines *lines);

/* Read the law of the sines, or the cosines, of an axis. False: it has none that is geometric.
 */
bool pe_grid_law_read(pe_grid_lines *lines, size_t axis, pe_columns columns, bool sines,
                      pe_wave_law *ret_law);

#endif
