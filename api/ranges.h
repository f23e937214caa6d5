/* Byte ranges (RFC 9110, section 14). */
#ifndef API_RANGES_H
#define API_RANGES_H

#include "etag.h"

typedef enum api_range {
    API_RANGE_NONE, /* answer the whole */
    API_RANGE_PART,
    API_RANGE_UNSATISFIABLE, /* nothing of it lies within the whole */
} api_range;

/* What a Range value asks for of `whole` bytes (at least one). A value that is malformed or of
 * another unit is as none; so are several ranges, which a server may answer whole: no reader of
 * tensors asks for them, and each would need a head of its own in the body. */
api_range api_read_range(const char *range, uint64_t whole, uint64_t *ret_first,
                         uint64_t *ret_size);

/* Whether an If-Range value is the tag, by the strong comparison. Dates never are: no reply has
 * one. */
bool api_if_range_holds(const char *if_range, const api_etag *etag);

#endif
