/* A number of a request beneath noise, by all entries of the table. */
#ifndef PE_REFINED_NUMBER_H
#define PE_REFINED_NUMBER_H

#include "identify/judged_request.h"

/* Refine the real number of a proposal by least squares, and write the query with the decimal
 * of the fewest digits that noise leaves. *ret_told: it leaves no other of so many digits.
 * False: the proposal is no request for the table, or is far from it. */
bool pe_refine_number(const pe_judge *judge, const pe_scheme *scheme,
                      const pe_proposal *proposal, const pe_parameter *row,
                      char dst[PE_IDENTITY_QUERY_MAX], bool *ret_told);

#endif
