/* Tables of points: each axis of a point writes its sines and cosines to columns of its own. */
#ifndef PE_LATTICE_H
#define PE_LATTICE_H

#include "positions/points.h"
#include "waves/wave.h"

#define PE_LATTICE_AXES PE_POINT_AXES

/* The tables of all axes, [places, columns] with zeros in the columns of the others, are kept
 * unless they would be larger than this together; then parts are computed as needed. */
#define PE_LATTICE_TABLE_BYTES (16 << 20)

typedef struct pe_lattice_axis {
    size_t places;
    pe_wave wave; /* row p encodes place p: interleaved or concatenated pairs, of which an
                   * interleaved wave may drop the last columns */
    size_t sines; /* the column of the first sine; interleaved pairs follow each other */
    size_t cosines, stride; /* of concatenated ones: the column of the first cosine, and columns
                             * from a sine or cosine to the next */
    unsigned char *table;   /* set by pe_lattice_prepare: the rows of all places, or NULL */
    unsigned char *entries; /* rows of the wave, those of all places where these are kept by
                             * column, or those that `rows` points to; or NULL */
    uint32_t *rows;         /* NULL, or the row of the entries for each point */
} pe_lattice_axis;

typedef struct pe_lattice {
    size_t axis_count;
    pe_lattice_axis axes[PE_LATTICE_AXES]; /* the last one varies fastest */
    bool together;  /* point p has the place p on every axis; else the points are all
                     * combinations of places, in order */
    bool by_column; /* entries are kept instead of tables, and no rows are composed */
    size_t columns; /* of a point's row; those that no axis writes are left as they are */
    pe_dtype dtype;
    bool kept; /* set by pe_lattice_plan: the axes have tables */
} pe_lattice;

/* Plan the tables of a lattice whose other members are set, once its tensor has been added:
 * decide whether they are kept, and add what they cost. */
void pe_lattice_plan(pe_lattice *lattice, pe_plan *plan);

/* Fill the tables. False if memory ran out or the runner cancelled it. */
bool pe_lattice_prepare(pe_lattice *lattice, pe_pace *pace);

/* The row of a place in an axis's table. */
unsigned char *pe_lattice_row(const pe_lattice *lattice, size_t axis, size_t place);

/* Write the rows of points [first, first + points). */
void pe_lattice_fill(const pe_lattice *lattice, uint64_t first, uint64_t points, void *dst);

#endif
