/* Finding the rows of a table, drawn or stored, that entries are from. */
#ifndef PE_SEEDED_H
#define PE_SEEDED_H

#include "recognise/distances.h"
#include "recognise/origin.h"

/* A tensor [rows, columns] that may be drawn; a stored one may have fewer rows. */
typedef struct pe_seeded {
    const char *name;
    const pe_distribution *distribution;
    uint64_t columns, rows;
    double factor;    /* of every element */
    double tolerance; /* relative: what entries may be off by, 0 unless they are multiplied */
} pe_seeded;

/* Find out which row of the tensor each distance has its entries from, those of each head from
 * one of the first columns. The tensor is of the first origin that has a row for every
 * distance. False: there is none, or memory ran out. `ret_rows` [count]. */
bool pe_seeded_rows(const pe_observation *seen, const pe_distances *distances, pe_dtype dtype,
                    const pe_seeded *tensor, pe_origin *ret_origin, double *ret_rows);

/* Whether the entries of a distance are this row of the tensor of an origin. */
bool pe_seeded_is_row(const pe_distances *distances, size_t at, pe_dtype dtype,
                      const pe_seeded *tensor, const pe_origin *origin, uint64_t row);

#endif
