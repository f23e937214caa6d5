/* Problem documents (RFC 9457) and the one place that maps failures to HTTP statuses. */
#ifndef API_PROBLEM_H
#define API_PROBLEM_H

#include "etag.h"

typedef enum api_code {
    API_MALFORMED,
    API_NOT_FOUND,
    API_UNKNOWN_SCHEME,
    API_UNKNOWN_SET,
    API_UNAUTHORIZED,
    API_FORBIDDEN,
    API_METHOD_NOT_ALLOWED,
    API_NOT_ACCEPTABLE,
    API_PRECONDITION_FAILED,
    API_PAYLOAD_TOO_LARGE,
    API_TARGET_TOO_LONG,
    API_UNSUPPORTED_MEDIA_TYPE,
    API_RANGE_NOT_SATISFIABLE,
    API_OUT_OF_RANGE,
    API_TOO_LARGE,
    API_NOT_IMPLEMENTED,
    API_UNAVAILABLE,
    API_OUT_OF_MEMORY,
    API_OVERDUE, /* the preparation may not go on */
    API_STORE_BROKEN,
    API_STORE_IS_FULL,
} api_code;

/* A problem document. `detail` says what to do; `error` may be NULL; `did_you_mean` may be
 * NULL. NULL without memory. */
api_reply *api_problem(api_code code, const char *detail, const char *did_you_mean,
                       const pe_error *error);

/* 412: If-Match does not name the tag of what would be served. */
api_reply *api_problem_of_if_match(const api_etag *etag);

/* 416: a range that is not within so many bytes. */
api_reply *api_problem_of_range(uint64_t whole);

/* The problem document of a failure of the library. */
api_reply *api_problem_from_error(const pe_error *error);

#endif
