/* Preconditions of numerics. A caller that breaks one has a fault, but a server that computes
 * for others must survive it: the function then returns NaN and reads nothing. Programs that
 * test, and every build with AddressSanitizer, end instead. */
#ifndef PE_EXPECT_H
#define PE_EXPECT_H

#include <assert.h>
#include <stdbool.h>

/* Whether a broken precondition ends the process. Set before threads start. */
extern bool pe_expect_strictly;

/* Whether a precondition holds. */
#define PE_EXPECTED(condition)                                                                 \
    ((condition) || (assert(!pe_expect_strictly && #condition), false))

#endif
