/* The tensors of a request that an application takes its entries from. */
#ifndef PE_APPLY_ENTRY_TENSORS_H
#define PE_APPLY_ENTRY_TENSORS_H

#include "posenc.h"

/* The place of a tensor among those of a request; -1 if there is none. */
int pe_tensors_find_one(const pe_request *request, const char *name);

/* Find the tensors of an application, at most two; false, and a problem, if the request has
 * another form of them. */
bool pe_tensors_find(const pe_request *request, const pe_application *rule, size_t *ret_tensors,
                     pe_error *reterr);

/* Find the tensors of factors of queries that options ask for: ret_factors[0] is that of each
 * row, ret_factors[1] that of all, -1 for none. False: a problem was added to reterr. */
bool pe_tensors_find_factors(const pe_request *request, const pe_application *rule,
                             const pe_apply_options *options, int ret_factors[2],
                             pe_error *reterr);

/* Whether the input's rows are keys. */
bool pe_tensors_are_by_key(const pe_application *rule);

/* The tensor that says which rows of the entries belong to a row of the input; of indices for
 * keys with its axes exchanged. */
pe_tensor pe_tensors_bound(const pe_request *request, const pe_application *rule,
                           const size_t *tensors);

#endif
