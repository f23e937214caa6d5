/* Load shedding: connections above the limit. Each one may send the first line of a request,
 * for which there is little room and little time; then it is sent a response and stays open
 * until the client has closed it or a time limit has passed. Closing the socket at once while
 * input is unread would send a reset, which can destroy the response before the client has read
 * it. Nothing here blocks. Times are those of clock_now. */
#ifndef LOAD_SHEDDING_H
#define LOAD_SHEDDING_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

#define SHED_MAX 256 /* the most connections that stay open */

typedef struct shedder shedder;

typedef struct shed_host {
    void *context;
    const char *refusal; /* the complete HTTP response that turns a client away */
    /* The complete HTTP response to a request, from malloc; NULL: the refusal. `method` and
     * `target` are NULL if no request line has come; `target` may be changed. */
    char *(*answer)(void *context, const char *method, char *target);
    size_t room; /* connections that stay open, 4 to SHED_MAX; one more closes the oldest
                  * quarter */
} shed_host;

/* NULL if memory ran out. */
shedder *shed_new(const shed_host *host);

/* Take a connection. The shedder owns the descriptor from now on. */
void shed_take(shedder *shed, int fd, uint64_t now);

/* Write one poll entry per open connection to `ret_polls`, which has room for SHED_MAX; returns
 * how many. */
nfds_t shed_polls(const shedder *shed, struct pollfd *ret_polls);

/* After poll, with the entries of shed_polls: read request lines, send responses, discard other
 * input, and close the connections whose client has closed, has sent too much or has had its
 * time. */
void shed_tend(shedder *shed, const struct pollfd *polls, uint64_t now);

/* Answers those who wait and closes all connections. NULL is fine. */
void shed_free(shedder *shed);

#endif
