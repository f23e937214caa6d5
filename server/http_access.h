/* What is told of a request: back to its client by header, and to the access log. */
#ifndef HTTP_ACCESS_H
#define HTTP_ACCESS_H

#include "api.h"
#include "http_headers.h"
#include "log.h"
#include "metrics.h"
#include "trace.h"

#include <microhttpd.h>

/* One request; all is borrowed. */
typedef struct http_access {
    struct MHD_Connection *connection;
    const char *method, *target;
    const http_headers *headers; /* which were found */
    size_t route;
    uint64_t began; /* by http_access_now */
    rejection rejected;
} http_access;

/* The fields that a reply gets for this request alone; they point into it. */
typedef struct http_echo {
    api_field fields[3]; /* the last one has no name */
    char id[TRACE_ID_MAX + 1], parent[TRACE_PARENT + 1];
} http_echo;

/* A monotonic clock in nanoseconds. */
uint64_t http_access_now(void);

/* Why a reply refuses, if it does: for what the server found, or what the api says. Who stops
 * ends computations before their time. */
rejection http_access_reason(const api_reply *reply, rejection found, bool draining);

/* Echo the ids that came: an illegal request id is replaced, an illegal traceparent ignored.
 * Where none came there is no field, unless the request is `logged`: then it gets an id. */
void http_access_echo(const http_access *access, bool logged, http_echo *ret_echo);

/* The line of the access log, but for the bytes and the duration at its end. */
log_line *http_access_begin_line(const http_access *access, const http_echo *echo,
                                 const api_reply *reply);

#endif
