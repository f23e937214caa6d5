/* The thread that accepts connections and passes each one on, or turns it away when there is no
 * room. libmicrohttpd could accept connections itself, but it closes those above its limits
 * without a response, and MHD_quiesce_daemon, its function to stop accepting, races with its
 * event threads and can abort the process. */
#ifndef ACCEPTOR_H
#define ACCEPTOR_H

#include "net/load_shedding.h"

#include <stdbool.h>
#include <sys/socket.h>

typedef struct acceptor acceptor;

/* The acceptor calls these functions on its own thread. */
typedef struct acceptor_host {
    void *context;
    bool (*has_room)(void *context, int fd);
    void (*take)(void *context, int fd, const struct sockaddr *address, socklen_t length);
    shed_host shed;  /* for connections where there is no room; its functions, too, are called
                      * on the acceptor's thread */
    int send_buffer; /* bytes, of a connection of a Unix socket; 0: the kernel's */
    bool shared;     /* other processes accept from the socket, too */
} acceptor_host;

/* Accept from a listening socket, which the caller closes later. NULL if memory or threads ran
 * out. */
acceptor *acceptor_start(int listen_fd, const acceptor_host *host);

/* Stop accepting and free the acceptor. Connections in the backlog of a shared socket are left
 * to the other processes; otherwise they are accepted, and the socket stops listening. NULL
 * does nothing. */
void acceptor_stop(acceptor *self);

#endif
