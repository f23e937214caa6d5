/* The file of targets that are computed before the server is ready. */
#ifndef WARM_FILE_H
#define WARM_FILE_H

#include <stddef.h>

#define WARM_FILE_MAX    ((size_t)1 << 20) /* bytes */
#define WARM_TARGETS_MAX 4096

typedef struct warm_target {
    const char *text;
    size_t line; /* from 1 */
} warm_target;

typedef struct warm_file {
    const char *path; /* the caller's */
    char *text;       /* what the targets point into */
    warm_target *targets;
    size_t count;
} warm_file;

/* Read a file with a target a line; empty lines and those that begin with # are left out. The
 * caller keeps `path` and frees the result. NULL: reterr is one line with the reason. */
warm_file *warm_file_read(const char *path, char *reterr, size_t size);
void warm_file_free(warm_file *file); /* NULL is fine */

#endif
