/* Who is let in: the rules of framing, applied to what libmicrohttpd has made of a head. */
#ifndef HTTP_GUARD_H
#define HTTP_GUARD_H

#include "metrics.h"

#include <microhttpd.h>

/* What the access handler is called with, and the target as it came. */
typedef struct http_head {
    const char *method, *url, *version, *target;
} http_head;

/* On the handler's first call: the refusal of a request whose head breaks a rule, or, where it
 * is `crowded`, of any but probes; NULL if it is let in. ret_why is
 * set where it is refused. */
api_reply *http_admit(api_service *service, struct MHD_Connection *connection,
                      const http_head *head, bool crowded, rejection *ret_why);

/* Whether the version of libmicrohttpd that runs lets http_admit see how heads came; if not, it
 * only judges what has been made of them. */
bool http_guard_sees_lines(void);

#endif
