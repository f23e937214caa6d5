/* Recognising tables that are drawn from a seed: the first seeds are tried. */
#ifndef PE_SEEDED_H
#define PE_SEEDED_H

#include "foreign/distances.h"
#include "foreign/proposal.h"
#include "trained/trained.h"

#define PE_SEEDS_TRIED 4
#define PE_SEED_TEXT   32

/* A tensor [rows, columns] that may be drawn. */
typedef struct pe_seeded {
    const char *name;
    const pe_recipe *recipe;
    uint64_t columns, rows;
    double tolerance; /* relative: what entries may be off by, 0 unless they are multiplied */
} pe_seeded;

/* Find out which row of the tensor each distance has its entries from, those of each head from
 * one of the first columns. The tensor is drawn from the least seed for which there is a row
 * for every distance. False: there is none, or memory ran out. `ret_rows` [count]. */
bool pe_seeded_rows(const pe_distances *distances, pe_dtype dtype, const pe_seeded *tensor,
                    uint64_t *ret_seed, double *ret_rows);

/* Whether the entries of a distance are this row of the tensor that is drawn from a seed. */
bool pe_seeded_is_row(const pe_distances *distances, size_t at, pe_dtype dtype,
                      const pe_seeded *tensor, uint64_t seed, uint64_t row);

/* Write "&seed=1", or nothing for seed 0, the default. */
void pe_seed_write(uint64_t seed, char dst[PE_SEED_TEXT]);

#endif
