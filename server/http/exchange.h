/* One request: from its head to its response. */
#ifndef HTTP_EXCHANGE_H
#define HTTP_EXCHANGE_H

#include <microhttpd.h>

/* The callbacks of libmicrohttpd, in the order of its calls: for the request line, for the head
 * and each part of the body (MHD_AccessHandlerCallback), and when the request has ended. `cls`
 * is the http_shared. */
void *http_exchange_begin(void *cls, const char *target, struct MHD_Connection *connection);
enum MHD_Result http_exchange_handle(void *cls, struct MHD_Connection *connection,
                                     const char *url, const char *method, const char *version,
                                     const char *upload, size_t *upload_size, void **context);
void http_exchange_end(void *cls, struct MHD_Connection *connection, void **context,
                       enum MHD_RequestTerminationCode code);

#endif
