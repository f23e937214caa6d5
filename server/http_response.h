/* Responses of libmicrohttpd for replies of the api. */
#ifndef HTTP_RESPONSE_H
#define HTTP_RESPONSE_H

#include "metrics.h"

#include <microhttpd.h>

/* Queue a reply as a response, and drop the caller's reference to it; with `close` it ends the
 * connection. A streamed body's bytes are counted as they go. MHD_NO, which closes the
 * connection, if memory ran out. */
enum MHD_Result http_response_queue(struct MHD_Connection *connection, api_reply *reply,
                                    server_metrics *metrics, bool close);

#endif
