/* Checking a plan against the limits. */
#ifndef PE_PLAN_H
#define PE_PLAN_H

#include "scheme.h"

/* Add a problem if all planned tensors together pass a limit. */
void pe_plan_check(const pe_plan *plan, const pe_values *values, const pe_limits *limits,
                   pe_error *reterr);

#endif
