/* Bodies in the content coding gzip, by zlib at its fastest level. */
#ifndef API_GZIP_H
#define API_GZIP_H

#include "api.h"

/* Compress a body of segments; ret_bytes is the memory that the result holds. NULL without
 * memory. */
api_body *api_gzip_body(const api_body *plain, size_t *ret_bytes);

/* A stream that compresses a streamed body as it is read, to the same bytes as api_gzip_body.
 * Takes over the caller's reference to `plain`, on failure too. NULL without memory, or if
 * `plain` is NULL. */
api_body *api_gzip_stream(api_body *plain);

#endif
