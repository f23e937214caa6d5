/* Connections as they come and go: the door, the count, the watch over their deadlines. */
#ifndef HTTP_CONNECTIONS_H
#define HTTP_CONNECTIONS_H

#include "api.h"
#include "metrics.h"
#include "settings.h"
#include "watch.h"

#include <microhttpd.h>

typedef struct http_connections http_connections;

/* All arguments outlive it. NULL if it cannot start. */
http_connections *http_connections_new(const server_settings *settings, api_service *service,
                                       server_metrics *metrics);

/* libmicrohttpd's own limits, which are above ours: connections, and seconds of inactivity. */
unsigned http_connections_room(const server_settings *settings);
unsigned http_connections_timeout(const server_settings *settings);

/* A MHD_NotifyConnectionCallback; `cls` is the http_connections. */
void http_connections_notify(void *cls, struct MHD_Connection *connection,
                             void **socket_context, enum MHD_ConnectionNotificationCode code);

/* Let connections in from a listening socket; false if that cannot start. */
bool http_connections_open(http_connections *connections, struct MHD_Daemon *daemon,
                           int listen_fd);

/* Let nobody in any more. */
void http_connections_close(http_connections *connections);

/* Leave the daemon alone, which is about to stop. */
void http_connections_leave(http_connections *connections);

/* Connections so new that their first request may be on its way. */
size_t http_connections_young(http_connections *connections);

/* Where a connection stores its phase and the bytes of bodies that have come. */
watch_mark *http_connections_mark(struct MHD_Connection *connection);

/* When the daemon has stopped. NULL is fine. */
void http_connections_free(http_connections *connections);

#endif
