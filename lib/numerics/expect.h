/* Preconditions of numerics. A caller that breaks one has a fault, but a server that computes
 * for others must survive it: the function then returns NaN and reads nothing. Programs that
 * test, and every build with a sanitizer, end instead. */
#ifndef PE_EXPECT_H
#define PE_EXPECT_H

#include <stdbool.h>

/* Whether a broken precondition ends the process. Set before threads start. */
extern bool pe_expect_strictly;

/* Note a broken precondition. Returns false. */
bool pe_unexpected(const char *precondition, const char *file, int line);

/* Whether a precondition holds. */
#define PE_EXPECTED(condition) ((condition) || pe_unexpected(#condition, __FILE__, __LINE__))

#endif
