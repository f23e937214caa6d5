/* Responses of libmicrohttpd for replies of the api. */
#ifndef HTTP_RESPONSE_H
#define HTTP_RESPONSE_H

#include "metrics.h"

#include <microhttpd.h>

/* A response with the reply's fields and body, which it holds a reference to; with `close` it
 * ends the connection. A streamed body's bytes are counted as they go. NULL if memory ran out.
 */
struct MHD_Response *http_response_new(const api_reply *reply, server_metrics *metrics,
                                       bool close);
void http_response_free(void *response);

#endif
