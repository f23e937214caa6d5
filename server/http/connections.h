/* Connections from accept to close: the limit on their number, and the watch over their
 * deadlines. */
#ifndef HTTP_CONNECTIONS_H
#define HTTP_CONNECTIONS_H

#include "api.h"
#include "net/deadlines.h"
#include "observe/metrics.h"
#include "settings/settings.h"

#include <microhttpd.h>

typedef struct http_connections http_connections;

/* All arguments must outlive the connections. NULL if memory or threads ran out. */
http_connections *http_connections_new(const server_settings *settings, api_service *service,
                                       server_metrics *metrics);

/* How many files of long bodies there are descriptors for, besides those of connections. */
unsigned http_connections_spools(const http_connections *connections);

/* Limits for libmicrohttpd that are above ours, so that ours act first: the number of
 * connections, and the seconds without traffic after which it closes one; 0: never. The watch
 * knows how much of a response a TCP client has read, but not that of a Unix socket. So only
 * the latter need libmicrohttpd's timeout, which takes a lock whenever something is received or
 * sent. */
unsigned http_connections_daemon_limit(const server_settings *settings);
unsigned http_connections_daemon_timeout(const http_connections *connections, int listen_fd);

/* An MHD_NotifyConnectionCallback; `cls` is the http_connections. */
void http_connections_notify(void *cls, struct MHD_Connection *connection,
                             void **socket_context, enum MHD_ConnectionNotificationCode code);

/* Accept connections from a listening socket and pass them to the daemon. Those of a Unix
 * socket get a send buffer of that many bytes. False if the accepting thread cannot be started.
 */
bool http_connections_open(http_connections *connections, struct MHD_Daemon *daemon,
                           int listen_fd, int send_buffer);

/* Stop accepting. */
void http_connections_close(http_connections *connections);

/* Before the daemon stops: stop the watch, which would still pass connections to it. */
void http_connections_leave(http_connections *connections);

/* The number of connections whose first request may still be arriving: younger than a second
 * and without a complete head. */
size_t http_connections_young(http_connections *connections);

/* The watch's mark of a connection; NULL if it is not watched. */
watch_mark *http_connections_mark(struct MHD_Connection *connection);

/* Visit the requests under way of this event thread's connections, which their marks name. */
void http_connections_visit_own(http_connections *connections,
                                void (*visit)(void *context, void *request), void *context);

/* After the daemon has stopped. NULL is fine. */
void http_connections_free(http_connections *connections);

#endif
