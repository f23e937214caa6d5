/* Whether broken preconditions end the process. */
#include "numerics/expect.h"

#ifdef __has_feature
#define HAS_SANITIZER __has_feature(address_sanitizer)
#elif defined __SANITIZE_ADDRESS__
#define HAS_SANITIZER true
#else
#define HAS_SANITIZER false
#endif

bool pe_expect_strictly = HAS_SANITIZER;
