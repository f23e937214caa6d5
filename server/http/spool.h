/* A long body on disk, in a file without a name: nothing is left of it when it is closed or the
 * process ends. Only worker threads write one. */
#ifndef HTTP_SPOOL_H
#define HTTP_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct http_spool {
    int fd;        /* -1: there is no file yet */
    uint64_t size; /* bytes that are in it */
} http_spool;

/* Append bytes, creating the file in `directory` if there is none. False: the directory or its
 * disk does not take them, which is logged. */
bool http_spool_write(http_spool *spool, const char *directory, const void *data, size_t size);

/* Copy `size` bytes from `offset` on, which must lie in the file. */
bool http_spool_read(const http_spool *spool, uint64_t offset, void *dst, size_t size);

/* Give the file's room back. */
void http_spool_close(http_spool *spool);

#endif
