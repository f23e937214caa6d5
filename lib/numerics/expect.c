/* Broken preconditions. */
#include "numerics/expect.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef __has_feature
#define HAS_SANITIZER __has_feature(address_sanitizer)
#elif defined __SANITIZE_ADDRESS__
#define HAS_SANITIZER true
#else
#define HAS_SANITIZER false
#endif

bool pe_expect_strictly = HAS_SANITIZER;

bool pe_unexpected(const char *precondition, const char *file, int line)
{
    if (!pe_expect_strictly)
        return false;
    fprintf(stderr, "%s:%d: a caller broke the precondition %s\n", file, line, precondition);
    abort();
}
