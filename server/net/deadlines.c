/* The watched connections in lists, and a thread that checks them in rounds. */
#include "net/deadlines.h"

#include "clock.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

#define ROUND  (CLOCK_SECOND / 5) /* from the end of a round to the beginning of the next */
#define SHARDS 16 /* lists, each with a lock: adding and removing rarely wait for a round */

typedef struct watched_connection {
    watch_mark mark;                         /* first: a mark is cast to its connection */
    struct watched_connection *next, **link; /* *link points to this connection */
    int fd;
    pthread_t owner;      /* the thread that added it */
    bool ended;           /* shut down: its owner will remove it */
    bool head_begun;      /* in WATCH_HEAD: bytes of the next head have arrived */
    bool measured;        /* `bytes` is set for this phase */
    unsigned last_state;  /* mark.state at the last round */
    uint64_t phase_began; /* when the phase began, or the head */
    uint64_t deadline;    /* in WATCH_BODY and WATCH_SEND: the bytes so far earn this time */
    uint64_t bytes;       /* received or sent until the last round */
} watched_connection;

typedef struct watch_shard {
    pthread_mutex_t lock;
    watched_connection *first;
} watch_shard;

struct connection_watch {
    watch_limits limits;
    watch_shard shards[SHARDS];
    atomic_size_t count;
    watch_host host;
    pthread_mutex_t lock;   /* guards the members below */
    pthread_cond_t changed; /* a first connection was added, or `stopping` was set */
    bool asleep, stopping, started;
    pthread_t thread;
};

/* ---- one connection ---- */

typedef enum verdict { IN_TIME, IDLE, LATE } verdict;

/* The time since `start`. A connection that is added while a round begins may have started
 * after the round did. */
static uint64_t elapsed_time(uint64_t start, uint64_t now)
{
    return now > start ? now - start : 0;
}

/* The bytes received so far or, with `sent`, the bytes sent that the client's kernel has
 * acknowledged. False if this kernel does not know, as for Unix sockets. */
static bool count_bytes(int fd, bool sent, uint64_t *ret_bytes)
{
    struct tcp_info info;
    socklen_t size = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
        size < offsetof(struct tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received)
        return false;
    *ret_bytes = sent ? info.tcpi_bytes_acked : info.tcpi_bytes_received;
    return true;
}

bool watch_counts_sent(int fd)
{
    uint64_t bytes;
    return count_bytes(fd, true, &bytes);
}

/* The first head of a connection has its time from the connection's start. Any later head has
 * it from its first byte; before that byte the connection may be idle. */
static verdict judge_head(watched_connection *connection, const watch_limits *limits,
                          uint64_t now)
{
    uint64_t bytes = 0, waited = elapsed_time(connection->phase_began, now);
    bool is_first_head = connection->last_state / WATCH_PHASES == 0;
    if (is_first_head || connection->head_begun)
        return waited > limits->head * CLOCK_SECOND ? LATE : IN_TIME;
    if (!count_bytes(connection->fd, false, &bytes))
        return waited > (limits->idle + limits->head) * CLOCK_SECOND ? LATE : IN_TIME;
    if (connection->measured && bytes != connection->bytes) {
        connection->head_begun = true;
        connection->phase_began = now;
        return IN_TIME;
    }
    connection->bytes = bytes;
    connection->measured = true;
    return waited > limits->idle * CLOCK_SECOND ? IDLE : IN_TIME;
}

/* Whether a transfer is too slow. A token bucket: a connection begins with `seconds` of time,
 * every byte earns 1/rate seconds more, and it never has more than `seconds` left. Without a
 * rate the time never runs out. */
static bool misses_rate(watched_connection *connection, uint64_t bytes, uint64_t seconds,
                        uint64_t rate, uint64_t now)
{
    uint64_t latest = now + seconds * CLOCK_SECOND;
    uint64_t moved = connection->measured ? bytes - connection->bytes : seconds * rate;
    if (moved >= seconds * rate) /* always, if the rate is 0 */
        connection->deadline = latest;
    else
        connection->deadline += moved * CLOCK_SECOND / rate;
    if (connection->deadline > latest)
        connection->deadline = latest;
    connection->bytes = bytes;
    connection->measured = true;
    return now > connection->deadline;
}

static verdict judge_connection(watched_connection *connection, const watch_limits *limits,
                                uint64_t now)
{
    unsigned state = atomic_load_explicit(&connection->mark.state, memory_order_relaxed);
    uint64_t bytes = 0;
    if (state != connection->last_state) {
        connection->last_state = state;
        connection->phase_began = now;
        connection->head_begun = connection->measured = false;
    }
    switch ((watch_phase)(state % WATCH_PHASES)) {
    case WATCH_HEAD:
        return judge_head(connection, limits, now);
    case WATCH_BODY:
        bytes = atomic_load_explicit(&connection->mark.received, memory_order_relaxed);
        return misses_rate(connection, bytes, limits->body, limits->rate, now) ? LATE : IN_TIME;
    case WATCH_WORK:
        break;
    case WATCH_SEND:
        if (!count_bytes(connection->fd, true, &bytes))
            break; /* libmicrohttpd's timeout remains */
        return misses_rate(connection, bytes, limits->send, limits->rate, now) ? LATE : IN_TIME;
    }
    return IN_TIME;
}

/* Shut a connection down. A late one is also reset when its owner closes it: unsent data is
 * dropped. */
static void end_connection(connection_watch *watch, watched_connection *connection, verdict why)
{
    const struct linger no_linger = {.l_onoff = 1};
    connection->ended = true;
    if (why == LATE) {
        watch->host.late(watch->host.context, connection->last_state % WATCH_PHASES);
        setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &no_linger, sizeof no_linger);
    }
    shutdown(connection->fd, SHUT_RDWR);
}

/* ---- all connections ---- */

size_t watch_round(connection_watch *watch, uint64_t now)
{
    for (size_t i = 0; i < SHARDS; i++) {
        watch_shard *shard = &watch->shards[i];
        pthread_mutex_lock(&shard->lock);
        for (watched_connection *connection = shard->first; connection;
             connection = connection->next) {
            verdict result =
                connection->ended ? IN_TIME : judge_connection(connection, &watch->limits, now);
            if (result != IN_TIME)
                end_connection(watch, connection, result);
        }
        pthread_mutex_unlock(&shard->lock);
    }
    size_t watched = atomic_load(&watch->count);
    watch->host.round(watch->host.context, watched);
    return watched;
}

/* The thread: a round every fifth of a second while there are connections, and one more after
 * the last of them was removed; then it sleeps until another one is added. */
static void *make_rounds(void *context)
{
    connection_watch *watch = context;
    size_t watched = 0; /* at the last round */
    pthread_mutex_lock(&watch->lock);
    while (!watch->stopping) {
        watch->asleep = watched == 0 && atomic_load(&watch->count) == 0;
        if (watch->asleep) {
            pthread_cond_wait(&watch->changed, &watch->lock);
            continue;
        }
        uint64_t next = clock_now() + ROUND;
        const struct timespec until = {.tv_sec = (time_t)(next / CLOCK_SECOND),
                                       .tv_nsec = (long)(next % CLOCK_SECOND)};
        if (pthread_cond_timedwait(&watch->changed, &watch->lock, &until) != ETIMEDOUT)
            continue;
        pthread_mutex_unlock(&watch->lock);
        watched = watch_round(watch, clock_now());
        pthread_mutex_lock(&watch->lock);
    }
    pthread_mutex_unlock(&watch->lock);
    return NULL;
}

/* A condition whose timed waits use the monotonic clock. */
static void init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

connection_watch *watch_new(const watch_limits *limits, const watch_host *host)
{
    connection_watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return NULL;
    watch->limits = *limits;
    watch->host = *host;
    for (size_t i = 0; i < SHARDS; i++)
        pthread_mutex_init(&watch->shards[i].lock, NULL);
    pthread_mutex_init(&watch->lock, NULL);
    init_condition(&watch->changed);
    return watch;
}

bool watch_start(connection_watch *watch)
{
    watch->started = pthread_create(&watch->thread, NULL, make_rounds, watch) == 0;
    return watch->started;
}

static watch_shard *find_shard(connection_watch *watch, int fd)
{
    return &watch->shards[(unsigned)fd % SHARDS];
}

/* Count a new connection. The first one wakes the thread if it sleeps. */
static void count_connection(connection_watch *watch)
{
    if (atomic_fetch_add(&watch->count, 1) > 0)
        return;
    pthread_mutex_lock(&watch->lock);
    if (watch->asleep)
        pthread_cond_signal(&watch->changed);
    pthread_mutex_unlock(&watch->lock);
}

watch_mark *watch_add(connection_watch *watch, int fd, uint64_t now)
{
    watched_connection *connection = calloc(1, sizeof *connection);
    if (!connection)
        return NULL;
    watch_shard *shard = find_shard(watch, fd);
    connection->fd = fd;
    connection->phase_began = now;
    connection->owner = pthread_self();
    pthread_mutex_lock(&shard->lock);
    connection->next = shard->first;
    connection->link = &shard->first;
    if (connection->next)
        connection->next->link = &connection->next;
    shard->first = connection;
    pthread_mutex_unlock(&shard->lock);
    count_connection(watch);
    return &connection->mark;
}

void watch_remove(connection_watch *watch, watch_mark *mark)
{
    watched_connection *connection = (watched_connection *)mark;
    if (!connection)
        return;
    watch_shard *shard = find_shard(watch, connection->fd);
    pthread_mutex_lock(&shard->lock);
    *connection->link = connection->next;
    if (connection->next)
        connection->next->link = connection->link;
    pthread_mutex_unlock(&shard->lock);
    atomic_fetch_sub(&watch->count, 1);
    free(connection);
}

size_t watch_count(connection_watch *watch)
{
    return atomic_load(&watch->count);
}

/* Whether no head has been complete, in the first second of the connection. */
static bool is_young(const watched_connection *connection, uint64_t now)
{
    return atomic_load_explicit(&connection->mark.state, memory_order_relaxed) == 0 &&
           elapsed_time(connection->phase_began, now) < CLOCK_SECOND;
}

size_t watch_young(connection_watch *watch, uint64_t now)
{
    size_t count = 0;
    for (size_t i = 0; i < SHARDS; i++) {
        watch_shard *shard = &watch->shards[i];
        pthread_mutex_lock(&shard->lock);
        for (const watched_connection *connection = shard->first; connection;
             connection = connection->next)
            count += is_young(connection, now);
        pthread_mutex_unlock(&shard->lock);
    }
    return count;
}

void watch_visit_own(connection_watch *watch, void (*visit)(void *context, void *request),
                     void *context)
{
    for (size_t i = 0; i < SHARDS; i++) {
        watch_shard *shard = &watch->shards[i];
        pthread_mutex_lock(&shard->lock);
        for (const watched_connection *connection = shard->first; connection;
             connection = connection->next)
            if (pthread_equal(connection->owner, pthread_self()) && connection->mark.request)
                visit(context, connection->mark.request);
        pthread_mutex_unlock(&shard->lock);
    }
}

void watch_stop(connection_watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    bool running = watch->started && !watch->stopping;
    watch->stopping = true;
    pthread_cond_signal(&watch->changed);
    pthread_mutex_unlock(&watch->lock);
    if (running)
        pthread_join(watch->thread, NULL);
}

void watch_free(connection_watch *watch)
{
    if (!watch)
        return;
    watch_stop(watch);
    for (size_t i = 0; i < SHARDS; i++)
        pthread_mutex_destroy(&watch->shards[i].lock);
    pthread_mutex_destroy(&watch->lock);
    pthread_cond_destroy(&watch->changed);
    free(watch);
}
