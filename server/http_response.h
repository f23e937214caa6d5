/* Responses of libmicrohttpd for replies of the api. */
#ifndef HTTP_RESPONSE_H
#define HTTP_RESPONSE_H

#include "api.h"

#include <microhttpd.h>

/* A response with the reply's fields and body, which it holds a reference to; with `close` it
 * ends the connection. NULL if memory ran out. */
struct MHD_Response *http_response_new(const api_reply *reply, bool close);
void http_response_free(void *response);

#endif
