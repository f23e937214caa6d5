/* The thread that accepts connections and hands them on. libmicrohttpd could do so itself, but
 * its way to stop (MHD_quiesce_daemon) races with its event threads and ends the process. */
#ifndef ACCEPTOR_H
#define ACCEPTOR_H

#include <stdbool.h>
#include <sys/socket.h>

typedef struct acceptor acceptor;

/* What to do with connections; called on the acceptor's thread. */
typedef struct acceptor_host {
    void *context;
    bool (*has_room)(void *context); /* else the client waits in the socket's backlog */
    void (*take)(void *context, int fd, const struct sockaddr *address, socklen_t length);
} acceptor_host;

/* Accept from a listening socket, which stays the caller's. NULL: out of memory or threads. */
acceptor *acceptor_start(int listen_fd, const acceptor_host *host);

/* Refuse further connections: returns when the last one has been taken. Frees the acceptor;
 * NULL does nothing. The socket no longer listens. */
void acceptor_stop(acceptor *stopped);

#endif
