/* The HTTP server: libmicrohttpd in front of api_handle. */
#ifndef HTTP_H
#define HTTP_H

#include "api.h"
#include "metrics.h"
#include "settings.h"
#include "workers.h"

typedef struct http_server http_server;

/* Serve on a listening socket, which stays the caller's to close. All arguments outlive the
 * server; http_stop stops the workers. NULL if the server cannot start. */
http_server *http_start(const server_settings *settings, int listen_fd, api_service *service,
                        server_metrics *metrics, worker_set *workers);

/* From now on every answer closes its connection. */
void http_drain(http_server *server);

/* Drain, and accept no more connections: the socket no longer listens, unless it was handed
 * over. */
void http_refuse(http_server *server);

/* After http_refuse: wait at most `seconds` for the requests under way, and stop. Returns the
 * number of requests that were cut off. */
unsigned http_stop(http_server *server, unsigned seconds);

#endif
