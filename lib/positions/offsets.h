/* Matrices of queries and keys that are cells of a grid, whose entries depend on the offset of
 * rows and that of columns alone.
 *
 * Along a row of the grid, entries depend on the distance of columns alone. So the entries of
 * the distances -(width-1) … width-1, key minus query, are kept as a line for each offset of
 * rows, and a run of keys along a row is a slice of a line. */
#ifndef PE_OFFSETS_H
#define PE_OFFSETS_H

#include "tables/copier.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct pe_offsets {
    size_t element_size, height, width;
    bool symmetric; /* lines are for |row offset|; else for key minus query + height - 1 */
    unsigned char *lines; /* [planes, lines, 2*width-1], from malloc */
} pe_offsets;

/* The number of lines of a plane. */
size_t pe_offsets_lines(const pe_offsets *offsets);

/* Copy `count` entries of a plane and a query from `key` on; cells are counted row by row. */
void pe_offsets_copy(const pe_offsets *offsets, size_t plane, size_t query, size_t key,
                     size_t count, pe_copier *copier);

#endif
