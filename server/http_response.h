/* Responses of libmicrohttpd for replies of the api. */
#ifndef HTTP_RESPONSE_H
#define HTTP_RESPONSE_H

#include "log.h"
#include "metrics.h"

#include <microhttpd.h>

/* How one reply is sent. */
typedef struct http_sending {
    server_metrics *metrics;
    const api_field *fields; /* for this request alone; the last one has no name */
    bool close;              /* the connection ends with it */
    log_line *line;          /* of the access log, to be ended; or NULL */
    uint64_t began;          /* by http_access_now: what the line counts from */
} http_sending;

/* Queue a reply as a response, and drop the caller's reference to it. A streamed body's bytes
 * are counted as they go, and its line is written when it has ended. MHD_NO, which closes the
 * connection, if memory ran out. */
enum MHD_Result http_response_queue(struct MHD_Connection *connection, api_reply *reply,
                                    const http_sending *sending);

#endif
