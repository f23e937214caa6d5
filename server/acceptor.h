/* The thread that accepts connections and hands them on, or turns them away. libmicrohttpd
 * could accept itself, but its way to stop (MHD_quiesce_daemon) races with its event threads
 * and ends the process, and above its limits it closes without a word. */
#ifndef ACCEPTOR_H
#define ACCEPTOR_H

#include <stdbool.h>
#include <sys/socket.h>

typedef struct acceptor acceptor;

/* What to do with connections; called on the acceptor's thread. */
typedef struct acceptor_host {
    void *context;
    bool (*has_room)(void *context, int fd);
    void (*take)(void *context, int fd, const struct sockaddr *address, socklen_t length);
    const char *refusal; /* the whole answer where there is no room */
    bool shared;         /* others accept from the socket, too, and may have who comes last */
} acceptor_host;

/* Accept from a listening socket, which stays the caller's. NULL: out of memory or threads. */
acceptor *acceptor_start(int listen_fd, const acceptor_host *host);

/* Accept no more. Unless it is shared, whoever had connected is taken and the socket listens no
 * longer. Frees the acceptor; NULL does nothing. */
void acceptor_stop(acceptor *stopped);

#endif
