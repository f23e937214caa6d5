/* Rotary tables of the cells of a grid of up to four axes.
 *
 * Each axis has a table of its own, [cells along it, columns], with zeros in the columns of the
 * other axes: a row of the result is the bitwise or of one row of each. */
#ifndef PE_AXIAL_H
#define PE_AXIAL_H

#include "waves/axes.h"

/* The tables of all axes are kept if they take at most this together. Otherwise rows are
 * computed as they are needed. */
#define PE_AXIAL_TABLE_BYTES (16 << 20)
#define PE_AXIAL_BYTE_PRICE  2 /* of computing a byte of them */

/* The coordinate of cell k of an axis is that of row k of `cells`, times
 * numerator/denominator. */
typedef struct pe_coordinates {
    pe_positions cells;
    double numerator, denominator; /* integers */
    pe_positions turned;           /* what is multiplied by the axis's frequencies */
} pe_coordinates;

typedef struct pe_axial {
    const pe_axes *axes;         /* ready; borrowed */
    uint64_t sizes[PE_AXES_MAX]; /* cells along each axis, the outermost first */
    pe_coordinates coordinates[PE_AXES_MAX];
    uint64_t prefix, suffix; /* rows of angle 0 before and after the others */
    uint64_t cells;          /* rows of the grid, which come `repeats` times */
    uint64_t repeats;
    uint64_t merge; /* cells of the last two axes come in squares of this side; 1: row by row */
    bool zipped;    /* cell k has coordinate k of every axis; all sizes are alike */
    bool kept;      /* the tables are */
    bool located;   /* the coordinates are asked for */

    /* set by pe_axial_prepare */
    size_t stride;                         /* bytes of a row of the tables, a multiple of 64 */
    unsigned char *still[2];               /* sines, cosines */
    unsigned char *tables[2][PE_AXES_MAX]; /* NULL where they are too large */
    unsigned char *points[PE_AXES_MAX];    /* coordinates, as elements; or NULL */
} pe_axial;

/* The bytes that the tables take. */
double pe_axial_bytes(size_t row_bytes, const uint64_t *sizes, size_t count);

/* Set what all windows share, from the members above. False if memory ran out or the runner
 * cancelled it. */
bool pe_axial_prepare(pe_axial *axial, pe_pace *pace);

/* Write rows [first, first + rows) of the cosines or sines. */
void pe_axial_fill(const pe_axial *axial, bool cosine, uint64_t first, uint64_t rows,
                   void *dst);

/* Write rows [first, first + rows) of the coordinates, [rows, axes]; 0 where the row has angle
 * 0. Needs axial->located. */
void pe_axial_fill_coordinates(const pe_axial *axial, uint64_t first, uint64_t rows, void *dst);

#endif
