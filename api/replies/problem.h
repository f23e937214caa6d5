/* Problem documents (RFC 9457), and the one place that maps failures to HTTP statuses. */
#ifndef API_PROBLEM_H
#define API_PROBLEM_H

#include "http/etag.h"

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
    API_OVERDUE, /* the computation took too long, or the server stops */
    API_STORE_BROKEN,
    API_STORE_IS_FULL,
} api_code;

/* A problem document. `detail` is a sentence that says what is wrong and what to do.
 * `did_you_mean`, a name that the client may have meant, and `error`, whose problems are
 * listed, may be NULL. Returns NULL if memory ran out, as do all functions here. */
api_reply *api_problem(api_code code, const char *detail, const char *did_you_mean,
                       const pe_error *error);

/* 412: If-Match does not name the entity tag of the representation. */
api_reply *api_problem_of_if_match(const api_etag *etag);

/* 416: the range does not begin within the `whole` bytes of the representation. */
api_reply *api_problem_of_range(uint64_t whole);

/* 404: no scheme has the name. The nearest name is suggested. */
api_reply *api_problem_of_scheme(const char *name);

/* The problem document of a failure of the library. */
api_reply *api_problem_from_error(const pe_error *error);

#endif
