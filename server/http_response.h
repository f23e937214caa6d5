/* Responses of libmicrohttpd for replies of the api. */
#ifndef HTTP_RESPONSE_H
#define HTTP_RESPONSE_H

#include "log.h"
#include "metrics.h"

#include <microhttpd.h>
#include <stdbool.h>

/* How one reply is sent. */
typedef struct http_sending {
    server_metrics *metrics;
    const api_field *fields; /* for this request alone; the last one has no name. Or NULL */
    bool close;              /* the connection ends with it */
} http_sending;

/* A response that is prepared for one connection. */
typedef struct http_response {
    struct MHD_Response *response;
    struct body_stream *stream; /* its body, if that is one */
    bool own;                   /* not kept with the reply */
} http_response;

/* Prepare a response for a reply. A streamed body's bytes are counted as they go. Where memory
 * runs out the reply is dropped and `spare`, prepared beforehand, takes its place. Returns
 * which of them it is; NULL if there was no spare. */
api_reply *http_response_prepare(api_reply *reply, api_reply *spare,
                                 const http_sending *sending, http_response *ret_prepared);

/* End the access log's line (or NULL), with the bytes sent and the time since `began`, by
 * http_access_now: that of a stream when it has ended. */
void http_response_log(const http_response *prepared, const api_reply *reply, log_line *line,
                       uint64_t began);

/* Queue what was prepared for a reply, and drop the caller's reference to that. */
enum MHD_Result http_response_queue(struct MHD_Connection *connection, api_reply *reply,
                                    const http_response *prepared);

#endif
