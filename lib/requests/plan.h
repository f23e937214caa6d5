/* Checking a plan against the limits. */
#ifndef PE_PLAN_H
#define PE_PLAN_H

#include "scheme.h"

/* The bytes of all planned tensors together. If they pass a limit, a problem is added and 0 is
 * returned. */
uint64_t pe_plan_check(const pe_plan *plan, const pe_values *values, const pe_limits *limits,
                       pe_error *reterr);

#endif
