/* Which columns of a table are those of a request, whatever their order. */
#ifndef PE_COLUMN_MATCHING_H
#define PE_COLUMN_MATCHING_H

#include "recognise/observation.h"

/* Match each column of one side with the nearest of the other, [rows, columns] each, that no
 * other one has, of equal ones the first: wanted[…][c] is near given[…][ret_order[c]].
 * `least`: what entries may be apart in the mean, however small they are; `noise`: the most
 * that it is, 0 if there is none. *ret_near: nearly all have one that is near, and noise does
 * not hide which one. False: memory ran out. */
bool pe_match_entries(const double *given, const double *wanted, uint64_t rows,
                      uint64_t columns, double least, double noise, uint16_t *ret_order,
                      bool *ret_near);

/* Match each column of a matrix that a request makes with the nearest of a table, of as many,
 * that no other one has; of equal ones the first in the table. ret_order[c]: the column of the
 * table that is column c of the request. False: most have none that is near, or noise hides
 * which one is, or they cannot be computed or read. */
bool pe_match_columns(pe_request *request, size_t tensor, const pe_observation *seen,
                      double noise, uint16_t *ret_order);

#endif
