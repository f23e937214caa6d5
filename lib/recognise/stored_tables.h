/* Proposing requests whose table is made of a stored one: rows of it, or sums of rows. */
#ifndef PE_RECOGNISE_STORED_TABLES_H
#define PE_RECOGNISE_STORED_TABLES_H

#include "recognise/observation.h"
#include "recognise/proposal.h"
#include "trained/trained.h"

/* Recognisers of these schemes where seen->set is given. A set that lacks
 * the tensor `table`, or has it with other columns, leads to no proposals. `learned`: windows,
 * with steps; `hierarchical`: the table and its basis, at any offset in the first N rows;
 * `resized`: grids of any two divisors, unless one axis is stretched much more
 * than the other, by every filter. */
void pe_recognise_stored_learned(pe_observation *seen, pe_proposals *proposals);
void pe_recognise_stored_hierarchical(pe_observation *seen, pe_proposals *proposals);
void pe_recognise_stored_resized(pe_observation *seen, pe_proposals *proposals);

/* Say of the proposals that are added next that their entries are sums of trained numbers of up
 * to this magnitude, with the weights of an interpolation at coordinates of up to so many
 * cells. */
void pe_stored_sums(pe_proposals *proposals, double largest, double cells);

/* Whether entries of a table from elsewhere, whose dtype has this unit, are numbers of a row,
 * but for an eighth of them. */
bool pe_stored_is_row(const pe_trained *table, uint64_t row, const double *entries,
                      double unit);

#endif
