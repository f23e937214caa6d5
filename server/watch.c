/* The watch: lists of connections, and a thread that goes round them. */
#include "watch.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#define SECOND UINT64_C(1000000000)
#define ROUND  (SECOND / 5)
#define SHARDS 16 /* so that a round holds up few who come and go */

typedef struct watched {
    watch_mark mark; /* first: a mark is cast to its connection */
    struct watched *next, **at;
    int fd;
    bool ended;
    bool begun;     /* of HEAD: the first bytes of it have come */
    bool measured;  /* `base` is set */
    unsigned seen;  /* the mark's state at the last round */
    uint64_t since; /* when that began, or the head */
    uint64_t until; /* what has moved suffices */
    uint64_t base;  /* bytes moved at the last round */
} watched;

typedef struct watch_shard {
    pthread_mutex_t lock;
    watched *first;
} watch_shard;

struct connection_watch {
    watch_limits limits;
    watch_shard shards[SHARDS];
    atomic_size_t count;
    watch_host host;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* the first connection, or the end */
    bool asleep, stopping;
    pthread_t thread;
};

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

/* ---- one connection ---- */

typedef enum verdict { FINE, SILENT, LATE } verdict;

/* Bytes that have come in, or that the client's side has confirmed; false where the kernel does
 * not say, as for Unix sockets. */
static bool measure(int fd, bool sent, uint64_t *ret_bytes)
{
    struct tcp_info info;
    socklen_t size = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
        size < offsetof(struct tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received)
        return false;
    *ret_bytes = sent ? info.tcpi_bytes_acked : info.tcpi_bytes_received;
    return true;
}

/* Between requests there is silence first, and the head's time runs from its first byte. */
static verdict judge_head(watched *at, const watch_limits *limits, uint64_t time)
{
    uint64_t bytes = 0, waited = time - at->since;
    bool first = at->seen / WATCH_PHASES == 0;
    if (first || at->begun)
        return waited > limits->head * SECOND ? LATE : FINE;
    if (!measure(at->fd, false, &bytes))
        return waited > (limits->idle + limits->head) * SECOND ? LATE : FINE;
    if (at->measured && bytes != at->base) {
        at->begun = true;
        at->since = time;
        return FINE;
    }
    at->base = bytes;
    at->measured = true;
    return waited > limits->idle * SECOND ? SILENT : FINE;
}

/* Every byte buys its time at the least rate; at most `seconds` lie in store, as at first. */
static bool misses_rate(watched *at, uint64_t bytes, uint64_t seconds, uint64_t rate,
                        uint64_t time)
{
    uint64_t most = time + seconds * SECOND;
    uint64_t moved = at->measured ? bytes - at->base : seconds * rate;
    if (moved >= seconds * rate)
        at->until = most; /* also without a rate */
    else
        at->until += moved * SECOND / rate;
    if (at->until > most)
        at->until = most;
    at->base = bytes;
    at->measured = true;
    return time > at->until;
}

static verdict judge(watched *at, const watch_limits *limits, uint64_t time)
{
    unsigned state = atomic_load_explicit(&at->mark.state, memory_order_relaxed);
    uint64_t bytes = 0;
    if (state != at->seen) {
        at->seen = state;
        at->since = time;
        at->begun = at->measured = false;
    }
    switch ((watch_phase)(state % WATCH_PHASES)) {
    case WATCH_HEAD:
        return judge_head(at, limits, time);
    case WATCH_BODY:
        bytes = atomic_load_explicit(&at->mark.received, memory_order_relaxed);
        return misses_rate(at, bytes, limits->body, limits->rate, time) ? LATE : FINE;
    case WATCH_WORK:
        break;
    case WATCH_SEND:
        if (!measure(at->fd, true, &bytes))
            break; /* libmicrohttpd's timeout is left */
        return misses_rate(at, bytes, limits->send, limits->rate, time) ? LATE : FINE;
    }
    return FINE;
}

/* Shut down; of who is late, what waits to be sent is dropped. */
static void end_connection(connection_watch *watch, watched *ended, verdict why)
{
    const struct linger at_once = {.l_onoff = 1};
    ended->ended = true;
    if (why == LATE) {
        watch->host.late(watch->host.context, ended->seen % WATCH_PHASES);
        setsockopt(ended->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }
    shutdown(ended->fd, SHUT_RDWR);
}

/* ---- all of them ---- */

static void go_round(connection_watch *watch)
{
    for (size_t i = 0; i < SHARDS; i++) {
        watch_shard *shard = &watch->shards[i];
        uint64_t time = now();
        pthread_mutex_lock(&shard->lock);
        for (watched *at = shard->first; at; at = at->next) {
            verdict found = at->ended ? FINE : judge(at, &watch->limits, time);
            if (found != FINE)
                end_connection(watch, at, found);
        }
        pthread_mutex_unlock(&shard->lock);
    }
    watch->host.round(watch->host.context, atomic_load(&watch->count));
}

static void *keep_watch(void *context)
{
    connection_watch *watch = context;
    bool rested = true; /* there has been a round since the last one has gone */
    pthread_mutex_lock(&watch->lock);
    while (!watch->stopping) {
        bool nobody = atomic_load(&watch->count) == 0;
        watch->asleep = nobody && rested;
        rested = nobody;
        if (watch->asleep) {
            pthread_cond_wait(&watch->changed, &watch->lock);
            continue;
        }
        uint64_t next = now() + ROUND;
        const struct timespec until = {.tv_sec = (time_t)(next / SECOND),
                                       .tv_nsec = (long)(next % SECOND)};
        if (pthread_cond_timedwait(&watch->changed, &watch->lock, &until) != ETIMEDOUT)
            continue;
        pthread_mutex_unlock(&watch->lock);
        go_round(watch);
        pthread_mutex_lock(&watch->lock);
    }
    pthread_mutex_unlock(&watch->lock);
    return NULL;
}

static void init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

static void free_watch(connection_watch *watch)
{
    for (size_t i = 0; i < SHARDS; i++)
        pthread_mutex_destroy(&watch->shards[i].lock);
    pthread_mutex_destroy(&watch->lock);
    pthread_cond_destroy(&watch->changed);
    free(watch);
}

connection_watch *watch_start(const watch_limits *limits, const watch_host *host)
{
    connection_watch *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->limits = *limits;
    made->host = *host;
    for (size_t i = 0; i < SHARDS; i++)
        pthread_mutex_init(&made->shards[i].lock, NULL);
    pthread_mutex_init(&made->lock, NULL);
    init_condition(&made->changed);
    if (pthread_create(&made->thread, NULL, keep_watch, made) == 0)
        return made;
    free_watch(made);
    return NULL;
}

static watch_shard *shard_of(connection_watch *watch, int fd)
{
    return &watch->shards[(unsigned)fd % SHARDS];
}

/* The first one wakes the thread, which may sleep. */
static void count_one(connection_watch *watch)
{
    if (atomic_fetch_add(&watch->count, 1) > 0)
        return;
    pthread_mutex_lock(&watch->lock);
    if (watch->asleep)
        pthread_cond_signal(&watch->changed);
    pthread_mutex_unlock(&watch->lock);
}

watch_mark *watch_add(connection_watch *watch, int fd)
{
    watched *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    watch_shard *shard = shard_of(watch, fd);
    made->fd = fd;
    made->since = now();
    pthread_mutex_lock(&shard->lock);
    made->next = shard->first;
    made->at = &shard->first;
    if (made->next)
        made->next->at = &made->next;
    shard->first = made;
    pthread_mutex_unlock(&shard->lock);
    count_one(watch);
    return &made->mark;
}

void watch_remove(connection_watch *watch, watch_mark *mark)
{
    watched *removed = (watched *)mark;
    if (!removed)
        return;
    watch_shard *shard = shard_of(watch, removed->fd);
    pthread_mutex_lock(&shard->lock);
    *removed->at = removed->next;
    if (removed->next)
        removed->next->at = removed->at;
    pthread_mutex_unlock(&shard->lock);
    atomic_fetch_sub(&watch->count, 1);
    free(removed);
}

size_t watch_count(connection_watch *watch)
{
    return atomic_load(&watch->count);
}

size_t watch_young(connection_watch *watch)
{
    size_t count = 0;
    uint64_t time = now();
    for (size_t i = 0; i < SHARDS; i++) {
        pthread_mutex_lock(&watch->shards[i].lock);
        for (const watched *at = watch->shards[i].first; at; at = at->next)
            count += atomic_load_explicit(&at->mark.state, memory_order_relaxed) == 0 &&
                     time - at->since < SECOND;
        pthread_mutex_unlock(&watch->shards[i].lock);
    }
    return count;
}

void watch_stop(connection_watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    bool stopped = watch->stopping;
    watch->stopping = true;
    pthread_cond_signal(&watch->changed);
    pthread_mutex_unlock(&watch->lock);
    if (!stopped)
        pthread_join(watch->thread, NULL);
}

void watch_free(connection_watch *watch)
{
    if (!watch)
        return;
    watch_stop(watch);
    free_watch(watch);
}
