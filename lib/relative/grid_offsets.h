/* Matrices of queries and keys that are cells of a grid, whose entries depend on the offset of
 * rows and that of columns alone.
 *
 * Along a row of the grid, entries depend on the distance of columns alone. So the entries of
 * the distances -(width-1) … width-1, key minus query, are kept as a line for each offset of
 * rows, and a run of keys along a row is a slice of a line. */
#ifndef PE_GRID_OFFSETS_H
#define PE_GRID_OFFSETS_H

#include "kernels/copier.h"
#include "scheme.h"

#include <stdbool.h>
#include <stddef.h>

/* The sides of a window of tokens: the rows of two parameters, and what any such size is. */
#define PE_WINDOW_MAX  16384 /* numbers of offsets are i32 */
#define PE_WINDOW_SIZE .type = PE_INTEGER, .minimum = 1, .maximum = PE_WINDOW_MAX
#define PE_WINDOW_PARAMETERS                                                                   \
    {.name = "height",                                                                         \
     PE_WINDOW_SIZE,                                                                           \
     .required = true,                                                                         \
     .unit = "cells",                                                                          \
     .counts_rows = true,                                                                      \
     .help = "rows of tokens in the window"},                                                  \
    {                                                                                          \
        .name = "width", PE_WINDOW_SIZE, .default_of = "height", .unit = "cells",              \
        .counts_rows = true, .help = "columns of tokens in the window"                         \
    }

typedef struct pe_offsets {
    size_t element_size, height, width;
    bool symmetric;   /* lines are for |row offset|; else for key minus query + height - 1 */
    bool class_token; /* one token is before the cells, with entries of its own */

    /* set by pe_offsets_take */
    unsigned char *lines; /* [planes, lines, 2*width-1] */
    unsigned char *class_entries;
} pe_offsets;

/* Rows of a table that are for the class token: class to token, token to class, class to class.
 */
#define PE_CLASS_ROWS 3

/* Take the lines from a table that has, one row of the grid after the other, the offsets query
 * minus key, [(2*height-1) * (2*width-1), planes]; for symmetric lines the absolute offsets,
 * [height * width, planes]. Behind these are the rows for a class token, if there is one.
 * False: memory ran out, or the runner cancelled it. */
bool pe_offsets_take(pe_offsets *offsets, const void *table, size_t planes, pe_pace *pace);

/* The price of that, for lines of `entries`. */
double pe_offsets_price(uint64_t entries, uint64_t planes);

/* The same from a table of one plane, of which each row is its own number, as i32. */
bool pe_offsets_take_numbers(pe_offsets *offsets, pe_pace *pace);

/* Fill a window of a matrix [planes, queries, keys], whose first query is key `offset`. */
void pe_offsets_fill(const pe_offsets *offsets, uint64_t queries, int64_t offset,
                     pe_window window, void *dst);

#endif
