/* Deadlines of connections: for the head of a request, for its body, and for the client to read
 * the response.
 *
 * libmicrohttpd's own timeout ends a connection only if nothing at all is sent or received: a
 * client that moves one byte now and then keeps its connection for ever. Here a thread checks
 * every connection five times a second. Event threads only store the phase of a connection when
 * it changes; the watch finds the change at its next round and takes the time of that round as
 * the start of the phase. Times are those of clock_now. */
#ifndef DEADLINES_H
#define DEADLINES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum watch_phase {
    WATCH_HEAD, /* between requests, and while a head is incomplete */
    WATCH_BODY, /* while a body arrives */
    WATCH_WORK, /* while the server works: no deadline */
    WATCH_SEND, /* while the client reads the response */
} watch_phase;
#define WATCH_PHASES 4 /* a power of 2 */

typedef struct watch_limits {
    uint64_t idle; /* seconds between two requests without a byte */
    uint64_t head; /* seconds from a head's first byte to its last */
    uint64_t body; /* seconds for a body, added to the time that its bytes take at `rate` */
    uint64_t send; /* the same for a response */
    uint64_t rate; /* bytes a second; 0: no client is too slow */
} watch_limits;

/* What the event thread of a connection tells the watch. No other thread writes to the mark. */
typedef struct watch_mark {
    atomic_uint state;      /* WATCH_PHASES times the number of changes, plus the phase */
    atomic_size_t received; /* bytes of request bodies */
    void *request;          /* what is under way, for watch_visit_own; NULL: nothing */
} watch_mark;

/* Begin a phase. The mark may be NULL, here and below: such a connection is not watched. */
static inline void watch_enter(watch_mark *mark, watch_phase phase)
{
    if (!mark)
        return;
    unsigned state = atomic_load_explicit(&mark->state, memory_order_relaxed);
    state = (state / WATCH_PHASES + 1) * WATCH_PHASES + phase;
    atomic_store_explicit(&mark->state, state, memory_order_relaxed);
}

static inline watch_phase watch_find_phase(watch_mark *mark)
{
    return mark ? atomic_load_explicit(&mark->state, memory_order_relaxed) % WATCH_PHASES
                : WATCH_HEAD;
}

/* Count bytes of a request's body. */
static inline void watch_receive(watch_mark *mark, size_t size)
{
    if (!mark)
        return;
    size_t received = atomic_load_explicit(&mark->received, memory_order_relaxed) + size;
    atomic_store_explicit(&mark->received, received, memory_order_relaxed);
}

typedef struct connection_watch connection_watch;

/* The watch calls these functions during a round. */
typedef struct watch_host {
    void *context;
    void (*late)(void *context, watch_phase phase); /* a connection missed this deadline */
    void (*round)(void *context, size_t watched);   /* a round has ended */
} watch_host;

/* NULL if memory ran out. */
connection_watch *watch_new(const watch_limits *limits, const watch_host *host);

/* Start the thread that makes the rounds. False if no thread can be started. */
bool watch_start(connection_watch *watch);

/* Watch a socket. The caller must keep it open until watch_remove has returned. When a
 * connection misses a deadline or stays idle, the watch shuts it down in both directions, and
 * the owner closes it. NULL if memory ran out. */
watch_mark *watch_add(connection_watch *watch, int fd, uint64_t now);
void watch_remove(connection_watch *watch, watch_mark *mark);

/* Whether the watch knows how much of a response the clients of a listening socket have read.
 * Otherwise it has no deadline for WATCH_SEND. */
bool watch_counts_sent(int fd);

/* Check every connection once; returns how many are watched. The thread calls this, and tests
 * do, with times of their own. */
size_t watch_round(connection_watch *watch, uint64_t now);

/* The number of watched connections, and of those among them that were added less than a second
 * ago and have not sent a complete head. */
size_t watch_count(connection_watch *watch);
size_t watch_young(connection_watch *watch, uint64_t now);

/* Visit the requests under way of the connections that this thread has added. */
void watch_visit_own(connection_watch *watch, void (*visit)(void *context, void *request),
                     void *context);

/* End the thread, after which the host is no longer called. Connections may still be added and
 * removed. May be called again, by the same thread. */
void watch_stop(connection_watch *watch);

/* Stop and free a watch from which all connections have been removed. NULL is fine. */
void watch_free(connection_watch *watch);

#endif
