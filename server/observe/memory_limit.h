/* How much memory this process may take. */
#ifndef MEMORY_LIMIT_H
#define MEMORY_LIMIT_H

#include <stdint.h>

/* The least of what the machine has and of the limits of the control groups (v1 or v2) that the
 * process is in; UINT64_MAX if nothing is known. */
uint64_t memory_limit_of_system(void);

/* The least of `limit` and of the limits below a mounted hierarchy: those of `file` in the
 * folder `path`, which begins with a slash, and in all folders above it. For tests. */
uint64_t memory_limit_of_group(const char *root, const char *path, const char *file,
                               uint64_t limit);

#endif
