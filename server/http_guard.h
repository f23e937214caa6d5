/* The rules of framing, applied to what libmicrohttpd has made of a head. */
#ifndef HTTP_GUARD_H
#define HTTP_GUARD_H

#include "guard.h"

#include <microhttpd.h>

/* What the access handler is called with, and the target as it came. */
typedef struct http_head {
    const char *method, *url, *version, *target;
} http_head;

/* The first rule that a request's head breaks, or GUARD_FINE; on the handler's first call. */
guard_rule http_guard(struct MHD_Connection *connection, const http_head *head);

/* Whether the version of libmicrohttpd that runs lets http_guard see how heads came; if not, it
 * only judges what has been made of them. */
bool http_guard_sees_lines(void);

#endif
