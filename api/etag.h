/* Strong entity tags. */
#ifndef API_ETAG_H
#define API_ETAG_H

#include "api.h"

typedef struct api_etag {
    char text[36]; /* quoted: 128 bits of SHA-256 in hex */
} api_etag;

/* The tag of some pieces of data, each with its length. */
void api_etag_of(api_etag *ret_etag, const api_segment *pieces, size_t count);

/* Whether an If-None-Match value names the tag, by the weak comparison that it asks for. */
bool api_etag_matches(const api_etag *etag, const char *if_none_match);

/* Whether an If-Match or If-None-Match value names a tag (in its quotes) or is a star. The
 * strong comparison, which If-Match asks for, takes no weak tags. */
bool api_tag_is_listed(const char *tag, const char *list, bool strong);

/* SHA-256 of data as 64 hex digits and a NUL. */
void api_sha256_hex(const void *data, size_t size, char ret_hex[65]);

/* Whether two secrets are equal, in a time that does not tell where they differ. */
bool api_secrets_match(const char *one, const char *other);

#endif
