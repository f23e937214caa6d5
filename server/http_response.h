/* Responses of libmicrohttpd for replies of the api. */
#ifndef HTTP_RESPONSE_H
#define HTTP_RESPONSE_H

#include "metrics.h"

#include <microhttpd.h>
#include <stdbool.h>

/* A response that is prepared for one connection. */
typedef struct http_response {
    struct MHD_Response *response;
    bool own; /* not kept with the reply */
} http_response;

/* Prepare a response for a reply; with `close` it ends the connection. A streamed body's bytes
 * are counted as they go. Where memory runs out the reply is dropped and `spare`, prepared
 * beforehand, takes its place. Returns which of them it is; NULL if there was no spare. */
api_reply *http_response_prepare(api_reply *reply, api_reply *spare, server_metrics *metrics,
                                 bool close, http_response *ret_prepared);

/* Queue what was prepared for a reply, and drop the caller's reference to that. */
enum MHD_Result http_response_queue(struct MHD_Connection *connection, api_reply *reply,
                                    const http_response *prepared);

#endif
