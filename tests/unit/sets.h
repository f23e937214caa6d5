/* Sets for tests. */
#ifndef UNIT_SETS_H
#define UNIT_SETS_H

#include "unit.h"

/* A tensor by its values, which are rounded to the dtype. */
typedef struct unit_tensor {
    const char *name;
    pe_dtype dtype;
    size_t rank;
    uint64_t shape[PE_RANK_MAX];
    const double *elements;
} unit_tensor;

/* From now on "set=set" is a set of these tensors, for requests with UNIT_SET_LIMITS; a
 * count of 0 ends that. */
void unit_store(const unit_tensor *tensors, size_t count);
extern const pe_limits UNIT_SET_LIMITS;

/* A table of a query that may name the set, which must be legal. */
pe_table *unit_set_table(const char *scheme, const char *query);

/* Fail the test unless the query is refused, by its request or its preparation, with a problem
 * that names the parameter and whose rule contains `rule`. */
void unit_set_refuses(const char *scheme, const char *query, const char *parameter,
                      const char *rule);

#endif
