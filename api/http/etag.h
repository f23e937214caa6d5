/* Strong entity tags, and what requests ask of them. */
#ifndef API_ETAG_H
#define API_ETAG_H

#include "call.h"

typedef struct api_etag {
    char text[36]; /* quoted: 128 bits of SHA-256 in hex */
} api_etag;

/* The tag of several pieces of data. It depends on the length of each piece. */
void api_etag_compute(api_etag *ret_etag, const api_segment *pieces, size_t count);

/* What the preconditions of a request come to, in their order (RFC 9110, section 13.2.2).
 * If-Modified-Since and If-Unmodified-Since are ignored, since no reply has a date. */
typedef enum api_conditions {
    API_CONDITIONS_HOLD,    /* or there are none */
    API_IF_MATCH_FAILS,     /* 412 */
    API_IF_NONE_MATCH_FAILS /* a GET has what it asks for already: 304; a change: 412 */
} api_conditions;

/* Judge If-Match and If-None-Match by the current entity tag, in its quotes; NULL: there is
 * nothing that could have one. */
api_conditions api_judge_conditions(const api_call *call, const char *tag);

/* Whether an If-Match or If-None-Match value lists a tag, which is given in its quotes, or is a
 * star. By strong comparison, which If-Match asks for, weak tags do not match. */
bool api_tag_is_listed(const char *tag, const char *list, bool strong);

#endif
