/* Finding the tensors of the set that is given, and which of their rows entries are from. */
#ifndef PE_STORED_ROWS_H
#define PE_STORED_ROWS_H

#include "recognise/distances.h"
#include "recognise/proposal.h"
#include "trained/trained.h"

/* Find the tensor [rows, columns] of a name in seen->set. False: no set is given, or it has no
 * such tensor of reals. */
bool pe_stored_find(const pe_observation *seen, const char *name, uint64_t columns,
                    pe_trained *ret_table);

/* Find out which row of a table each distance has its entries from, those of each head from one
 * of the first columns, times a factor. `tolerance`: relative, what entries may be off by, 0
 * unless they are multiplied. No more than `rows` rows of the table are looked at. False: some
 * distance has no row, or memory ran out. `ret_rows` [count]. */
bool pe_stored_find_rows(const pe_trained *table, uint64_t rows, double factor,
                         double tolerance, const pe_distances *distances, pe_dtype dtype,
                         double *ret_rows);

/* Whether the entries of a distance are this row of a table. */
bool pe_stored_has_row(const pe_trained *table, uint64_t row, const pe_distances *distances,
                       size_t at, pe_dtype dtype);

/* Whether entries of a table from elsewhere, whose dtype has this unit, are numbers of a row,
 * but for an eighth of them. */
bool pe_stored_is_row(const pe_trained *table, uint64_t row, const double *entries,
                      double unit);

/* The largest magnitude of a table. */
double pe_stored_largest(const pe_trained *table);

/* Say of the proposals that are added next that their entries are sums of trained numbers of up
 * to this magnitude, with the weights of an interpolation at coordinates of up to so many
 * cells. */
void pe_stored_sums(pe_proposals *proposals, double largest, double cells);

#endif
