/* libmicrohttpd's responses for the replies of the api. */
#ifndef HTTP_RESPONSE_H
#define HTTP_RESPONSE_H

#include "http/body_stream.h"
#include "observe/log.h"
#include "observe/metrics.h"

#include <microhttpd.h>
#include <stdbool.h>

/* Memory of a prepared response with its fields, as measured with libmicrohttpd 0.9.75. */
#define HTTP_RESPONSE_BYTES 2848

/* How one reply is sent. */
typedef struct http_sending {
    server_metrics *metrics;
    const api_field *fields; /* for this request only; the last one has no name. May be NULL */
    bool close;              /* close the connection after the response */
    /* of a reply that may be streamed: */
    struct MHD_Connection *connection;
    const stream_rules *rules;
} http_sending;

/* A response that is ready to be queued on one connection. */
typedef struct http_response {
    struct MHD_Response *response;
    struct body_stream *stream; /* its body, if that is streamed; else NULL */
    bool own;                   /* for one request; otherwise the reply keeps the response */
} http_response;

/* Prepare a response for a reply, and return the reply. If memory runs out, drop the reference
 * to the reply and return a reference to `spare` instead, a reply with a prepared response, or
 * NULL if there is no spare. The bytes of a streamed body are counted as they are sent. */
api_reply *http_response_prepare(api_reply *reply, api_reply *spare,
                                 const http_sending *sending, http_response *ret_prepared);

/* Queue the prepared response, and drop the caller's reference to the reply. */
enum MHD_Result http_response_queue(struct MHD_Connection *connection, api_reply *reply,
                                    const http_response *prepared);

#endif
