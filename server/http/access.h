/* What the server reports about a request: ids to its client, a line to the access log. */
#ifndef HTTP_ACCESS_H
#define HTTP_ACCESS_H

#include "api.h"
#include "http/headers.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "observe/trace.h"

#include <microhttpd.h>

/* One request. All pointers are borrowed. */
typedef struct http_access {
    struct MHD_Connection *connection;
    const char *method, *target;
    const http_headers *headers; /* after http_headers_join */
    size_t route;                /* by api_route_find */
    uint64_t began;              /* when the head was complete, by clock_now */
    rejection rejected;
} http_access;

/* Why the request is turned away: the reason that the server found, else the one that the reply
 * states. While draining, a computation that was stopped at its deadline counts as
 * REJECTED_DRAINING. */
rejection http_access_reason(const api_reply *reply, rejection found, bool draining);

/* Begin the line of the access log, without its last two fields, bytes and duration. */
log_line *http_access_begin_line(const http_access *access, const trace_echo *echo,
                                 const api_reply *reply);

#endif
