/* Byte ranges (RFC 9110, section 14). */
#ifndef API_RANGES_H
#define API_RANGES_H

#include "http/etag.h"

typedef enum api_range {
    API_RANGE_NONE, /* to be ignored: send the whole */
    API_RANGE_PART,
    API_RANGE_UNSATISFIABLE, /* no byte of the range lies within the whole */
} api_range;

/* Read which of `whole` bytes (at least one) a Range value asks for. A value that is malformed
 * or in another unit is ignored. Several ranges are ignored too, which a server may do: readers
 * of tensors do not ask for them, and each would need a header of its own in the body. */
api_range api_read_range(const char *range, uint64_t whole, uint64_t *ret_first,
                         uint64_t *ret_size);

/* Whether an If-Range value is the tag, by strong comparison. A date never matches, since no
 * reply has a Last-Modified field. */
bool api_if_range_holds(const char *if_range, const api_etag *etag);

#endif
