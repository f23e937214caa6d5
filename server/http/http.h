/* The HTTP server: libmicrohttpd in front of api_handle. */
#ifndef HTTP_H
#define HTTP_H

#include "api.h"
#include "observe/metrics.h"
#include "settings/settings.h"
#include "work/workers.h"

typedef struct http_server http_server;

/* The version of libmicrohttpd that runs, such as "1.0.1". It may differ from the one that the
 * program was built with, since 0.9.75 and 1.0.1 have the same soname. */
const char *http_library_version(void);

/* Serve on a listening socket. The caller keeps all arguments alive while the server runs and
 * closes the socket afterwards; http_stop stops the workers. NULL if memory, threads or
 * descriptors are missing. */
http_server *http_start(const server_settings *settings, int listen_fd, api_service *service,
                        server_metrics *metrics, worker_set *workers, api_memory *memory);

/* From now on every response closes its connection. */
void http_drain(http_server *server);

/* Drain, break off streams, and accept no more connections. The socket stops listening, unless
 * a service manager passed it. */
void http_refuse(http_server *server);

/* After http_refuse: wait at most `seconds` for the requests under way, then stop and free the
 * server. Returns the number of requests that did not end in time. */
unsigned http_stop(http_server *server, unsigned seconds);

#endif
