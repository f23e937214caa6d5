/* Strong entity tags. */
#ifndef API_ETAG_H
#define API_ETAG_H

#include "api.h"

typedef struct api_etag {
    char text[36]; /* quoted: 128 bits of SHA-256 in hex */
} api_etag;

/* The tag of several pieces of data. It depends on the length of each piece. */
void api_etag_of(api_etag *ret_etag, const api_segment *pieces, size_t count);

/* Whether an If-None-Match value names the tag, by weak comparison (RFC 9110, section 8.8.3.2).
 */
bool api_etag_matches(const api_etag *etag, const char *if_none_match);

/* Whether an If-Match or If-None-Match value lists a tag, which is given in its quotes, or is a
 * star. By strong comparison, which If-Match asks for, weak tags do not match. */
bool api_tag_is_listed(const char *tag, const char *list, bool strong);

#endif
