/* Deadlines of connections: for the head of a request, for its body, for taking the answer.
 *
 * libmicrohttpd's timeout counts inactivity: who sends or takes a byte now and then keeps a
 * connection for ever. Here a thread looks at every connection a few times a second. What the
 * event threads do for it is a store at each change of phase: when that was, the thread finds
 * out by itself, to one of its rounds. */
#ifndef WATCH_H
#define WATCH_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef enum watch_phase {
    WATCH_HEAD, /* between requests, and until a head is whole */
    WATCH_BODY,
    WATCH_WORK, /* ours: no deadline */
    WATCH_SEND,
} watch_phase;
#define WATCH_PHASES 4 /* a power of 2 */

typedef struct watch_limits {
    uint64_t idle, head; /* seconds: of silence between requests; for a head */
    uint64_t body, send; /* seconds beyond what the bytes take at `rate` */
    uint64_t rate;       /* bytes a second; 0: none is too slow */
} watch_limits;

/* What one connection stores; only the thread that serves it does. */
typedef struct watch_mark {
    atomic_uint state;      /* a count of changes, then the phase */
    atomic_size_t received; /* bytes of bodies */
} watch_mark;

/* NULL is fine, here and below. */
static inline void watch_enter(watch_mark *mark, watch_phase phase)
{
    if (!mark)
        return;
    unsigned state = atomic_load_explicit(&mark->state, memory_order_relaxed);
    state = (state / WATCH_PHASES + 1) * WATCH_PHASES + phase;
    atomic_store_explicit(&mark->state, state, memory_order_relaxed);
}

static inline void watch_receive(watch_mark *mark, size_t size)
{
    if (!mark)
        return;
    size_t received = atomic_load_explicit(&mark->received, memory_order_relaxed) + size;
    atomic_store_explicit(&mark->received, received, memory_order_relaxed);
}

typedef struct connection_watch connection_watch;

/* Called on the watch's thread. */
typedef struct watch_host {
    void *context;
    void (*late)(void *context, watch_phase phase); /* a connection misses its deadline */
    void (*round)(void *context, size_t watched);   /* after each round */
} watch_host;

/* NULL if memory or threads ran out. */
connection_watch *watch_start(const watch_limits *limits, const watch_host *host);

/* Watch a socket, which stays open until watch_remove has returned: a connection that is late
 * or silent is shut down both ways, for its owner to close. NULL if memory ran out. */
watch_mark *watch_add(connection_watch *watch, int fd);
void watch_remove(connection_watch *watch, watch_mark *mark);

/* Connections that are watched; those of them that are not older than a second and have not
 * sent a whole head yet. */
size_t watch_count(connection_watch *watch);
size_t watch_young(connection_watch *watch);

/* Look no more, and call the host no more; connections may still be added and removed. For one
 * thread, more than once if it likes. */
void watch_stop(connection_watch *watch);

/* All connections have been removed. NULL is fine. */
void watch_free(connection_watch *watch);

#endif
