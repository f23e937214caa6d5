/* Tables of a grid, half of whose channels encode the column and half the row. */
#ifndef PE_GRID_H
#define PE_GRID_H

#include "waves/wave.h"

/* The encodings of an axis are a table, [rows, dim/2], which both axes may share. Of tables
 * that would be larger than this together, parts are computed as needed. */
#define PE_GRID_TABLE_BYTES (16 << 20)

typedef struct pe_grid_axis {
    pe_wave wave;         /* row p encodes place p of the axis: [places, dim/2] */
    unsigned char *table; /* all rows of the wave, or NULL where they are too many */
    uint32_t *rows;       /* NULL, or the row of the table for each cell of the grid: then
                           * others filled the table, which has wave.positions.count rows */
} pe_grid_axis;

typedef struct pe_grid {
    size_t height, width;
    size_t extra;        /* rows of zeros before the cells */
    bool channels_first; /* [dim, height, width]; else the channels of a cell are consecutive */
    bool width_first, by_function, interleaved; /* the order of the channels */
    bool shared; /* both axes use the wave and the table of `x`, as long as the longer */
    pe_grid_axis x, y;

    /* set by pe_grid_prepare */
    size_t element_size;
    size_t quarter, step; /* frequencies of an axis; how many of them are handled at a time */
} pe_grid;

/* Set what all windows share, from the members above, and fill the tables unless they are
 * there. False if memory ran out. */
bool pe_grid_prepare(pe_grid *grid, pe_pace *pace);

/* Write rows [first, first + rows): of channels first, elements counted over all planes; else
 * extra rows and cells, counted row by row. */
void pe_grid_fill(const pe_grid *grid, uint64_t first, uint64_t rows, void *dst);

#endif
