/* Bodies in the gzip coding, by zlib at its fastest. */
#ifndef API_GZIP_H
#define API_GZIP_H

#include "api.h"

/* A body of segments as gzip; ret_bytes is the memory it holds. NULL without memory. */
api_body *api_gzip_body(const api_body *plain, size_t *ret_bytes);

/* A streamed body as a stream of gzip, the same bytes as in one piece. Takes over the caller's
 * reference, also where it fails: NULL without memory, or if `plain` is. */
api_body *api_gzip_stream(api_body *plain);

#endif
