/* Applies the rules of http/guard.h to a head as libmicrohttpd has parsed it. */
#ifndef HTTP_FRAMING_H
#define HTTP_FRAMING_H

#include "http/guard.h"
#include "http/headers.h"
#include "observe/metrics.h"

#include <microhttpd.h>

/* The access handler's arguments, and the target as the client sent it. */
typedef struct http_head {
    const char *method, *url, *version, *target;
} http_head;

/* In the handler's first call: NULL if the request is admitted, else a refusal, if its head
 * breaks a rule. The headers are noted; they are not joined yet. */
api_reply *http_admit(api_service *service, struct MHD_Connection *connection,
                      const http_head *head, http_headers *headers);

/* The first rule that the fields of a head break that libmicrohttpd has read, or GUARD_FINE.
 * The headers are noted. */
guard_rule http_judge_fields(struct MHD_Connection *connection, http_headers *headers);

/* Who refuses a head with a line that ends in a bare LF, contains a NUL or is folded. It
 * depends on the version of libmicrohttpd that runs, not on the one this was built with. */
typedef enum http_line_check {
    HTTP_LINES_BY_GUARD,   /* 0.9.75 and 0.9.76: http_admit, by the addresses of the fields */
    HTTP_LINES_BY_LIBRARY, /* from 1.0 on: libmicrohttpd itself, if it is told to be strict */
    HTTP_LINES_BY_NOBODY,  /* others: http_admit only sees names and values, not the lines */
} http_line_check;
http_line_check http_framing_line_check(void);

#endif
