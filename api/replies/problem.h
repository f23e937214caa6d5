/* Problem documents (RFC 9457), and the one place that maps failures to HTTP statuses. */
#ifndef API_PROBLEM_H
#define API_PROBLEM_H

#include "bytes/text.h"
#include "http/etag.h"
#include "store.h"

#include <jansson.h>

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
    API_OVERDUE, /* the computation took too long: all was done in vain */
    API_ENDING,  /* the computation was ended because the server stops: another one can do it */
    API_STORE_BROKEN,
    API_STORE_AWAY, /* the storage cannot be reached */
    API_STORE_IS_FULL,
} api_code;

/* A problem document. `detail` is a sentence that says what is wrong and what to do.
 * `did_you_mean`, a name that the client may have meant, and `error`, whose problems are
 * listed, may be NULL. Returns NULL if memory ran out, as do all functions here. */
api_reply *api_problem(api_code code, const char *detail, const char *did_you_mean,
                       const pe_error *error);

/* The status of an answer to a GET by its preconditions and the entity tag of what it would
 * send: 200, 304, or 412 with the problem in ret_problem. */
unsigned api_status_by_conditions(const api_call *call, const char *tag,
                                  api_reply **ret_problem);

/* 416: the range does not begin within the `whole` bytes of the representation. */
api_reply *api_problem_of_range(uint64_t whole);

/* 404: no scheme has the name. The nearest name is suggested. */
api_reply *api_problem_of_scheme(const char *name);

/* Add that no scheme has the name, with the nearest one. */
void api_error_add_scheme(pe_error *error, const char *name);

/* 503: the server stops, and has ended a computation that another one can do. */
api_reply *api_problem_of_end(void);

/* 503: the store cannot be used, which is API_STORE_FAILED or API_STORE_UNAVAILABLE. */
api_reply *api_problem_of_store(api_store_status status);

/* The problem document of a failure of the library. */
api_reply *api_problem_from_error(const pe_error *error);

/* The same with the member `explanation`, which is consumed and may be NULL. */
api_reply *api_problem_explained(const pe_error *error, json_t *explanation);

/* ---- problems of several requests that came as one ---- */

/* What is wrong with all of them; begins as zeros. */
typedef struct api_joint_problem {
    json_t *errors;
    api_text detail;
    pe_error worst; /* without problems: the gravest status, and how many errors were dropped */
    size_t requests;
} api_joint_problem;

/* Add what is wrong with request `index`, named `name` unless that is NULL; a negative index
 * stands for what they have in common. */
void api_joint_problem_add(api_joint_problem *joint, int index, const char *name,
                           const pe_error *error);

/* The problem document. Each of its errors names its request. */
api_reply *api_joint_problem_reply(const api_joint_problem *joint);

void api_joint_problem_done(api_joint_problem *joint);

#endif
