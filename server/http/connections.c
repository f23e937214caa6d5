/* Counting and refusing connections, and a workaround for libmicrohttpd 0.9.75.
 *
 * It fetches up to 128 events at once. If it gets exactly 128, it waits for another event
 * before it serves these, for as long as the idle timeout, since the clients wait for answers
 * meanwhile. Any event ends that wait, such as a new connection. So while there are that many
 * connections, every event thread is given a dummy connection after each round of the watch. */
#include "http/connections.h"

#include "clock.h"
#include "http/overload.h"
#include "net/acceptor.h"
#include "net/systemd.h"
#include "observe/heap.h"
#include "observe/log.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define OTHER_DESCRIPTORS 24  /* files, listening socket, SQLite's …: beside connections */
#define EVENT_DESCRIPTORS 2   /* of an event thread of libmicrohttpd */
#define SPOOLS_MAX        256 /* files of long bodies */
#define SPOOLS_MIN        2
#define SHED_MIN          4   /* refused connections, where there are few descriptors */
#define EVENTS_AT_ONCE    128 /* that libmicrohttpd fetches; one of them may be its own */

struct http_connections {
    api_service *service;
    server_metrics *metrics;
    struct MHD_Daemon *daemon;
    acceptor *acceptor;
    connection_watch *watch;
    char *refusal;        /* the response to connections above the limit */
    uint64_t limit;       /* of connections */
    uint64_t spools;      /* files of long bodies */
    uint64_t refused;     /* of connections above it that are open for a moment */
    uint64_t first_dummy; /* descriptors from here on are dummies, which wake the threads */
    unsigned threads;
    unsigned timeout;   /* of libmicrohttpd, in seconds, for what the watch does not see */
    atomic_llong count; /* accepted and not yet closed */
    /* For every descriptor below first_dummy: false from accept until libmicrohttpd reports
     * the connection. */
    atomic_bool *reported;
};

/* ---- accepting and counting ---- */

/* Uncount a connection that libmicrohttpd has closed without reporting it. It reports a
 * connection when the event thread starts to serve it, but closes it silently if that thread
 * lacks memory; this shows when the descriptor is used again. */
static void uncount_lost_connection(http_connections *self, int fd)
{
    if ((uint64_t)fd < self->first_dummy && !atomic_exchange(&self->reported[fd], true))
        atomic_fetch_sub_explicit(&self->count, 1, memory_order_relaxed);
}

/* The acceptor's `has_room`. */
static bool has_room(void *context, int fd)
{
    http_connections *self = context;
    uncount_lost_connection(self, fd);
    return atomic_load_explicit(&self->count, memory_order_relaxed) < (long long)self->limit;
}

/* The shedder's `answer`. */
static char *answer(void *context, const char *method, char *target)
{
    const http_connections *self = context;
    return overload_answer(self->service, self->metrics, method, target);
}

/* The acceptor's `take`. The connection counts from here on, not from libmicrohttpd's report:
 * a burst of connections must not pass the limit. */
static void take(void *context, int fd, const struct sockaddr *address, socklen_t length)
{
    http_connections *self = context;
    atomic_fetch_add_explicit(&self->count, 1, memory_order_relaxed);
    if ((uint64_t)fd < self->first_dummy)
        atomic_store(&self->reported[fd], false);
    if (MHD_add_connection(self->daemon, fd, address, length) != MHD_YES) /* it closed fd */
        uncount_lost_connection(self, fd);
}

/* ---- waking the event threads ---- */

/* Give each event thread a dummy: an unconnected socket, which the thread notices and closes.
 * libmicrohttpd chooses the thread by the descriptor's number. */
static void wake_threads(const http_connections *self, size_t watched)
{
    const struct sockaddr no_address = {.sa_family = AF_UNSPEC};
    for (unsigned i = 0; i < self->threads && watched >= EVENTS_AT_ONCE - 1; i++) {
        int lowest = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        int fd = lowest < 0 ? -1 : fcntl(lowest, F_DUPFD_CLOEXEC, (int)(self->first_dummy + i));
        if (lowest >= 0)
            close(lowest);
        if (fd >= 0)
            MHD_add_connection(self->daemon, fd, &no_address, sizeof no_address);
    }
}

static bool is_dummy(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info && info->client_addr->sa_family == AF_UNSPEC;
}

/* ---- the watch ---- */

/* The watch's `round`. */
static void end_round(void *context, size_t watched)
{
    wake_threads(context, watched);
    heap_trim();
}

/* The watch's `late`. */
static void count_late(void *context, watch_phase phase)
{
    static const rejection REASONS[WATCH_PHASES] = {[WATCH_HEAD] = REJECTED_HEADER_DEADLINE,
                                                    [WATCH_BODY] = REJECTED_BODY_DEADLINE,
                                                    [WATCH_SEND] = REJECTED_SLOW_READER};
    metrics_count_rejected(((http_connections *)context)->metrics, REASONS[phase]);
}

void http_connections_notify(void *cls, struct MHD_Connection *connection,
                             void **socket_context, enum MHD_ConnectionNotificationCode code)
{
    http_connections *self = cls;
    if (is_dummy(connection))
        return;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        *socket_context = info ? watch_add(self->watch, info->connect_fd, clock_now()) : NULL;
        if (!*socket_context) /* no memory for the watch: libmicrohttpd's timeout must do */
            MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, self->timeout);
        if (info && (uint64_t)info->connect_fd < self->first_dummy)
            atomic_store(&self->reported[info->connect_fd], true);
        metrics_count_connection(self->metrics, 1);
        return;
    }
    watch_remove(self->watch, *socket_context); /* the socket is still open */
    *socket_context = NULL;
    metrics_count_connection(self->metrics, -1);
    atomic_fetch_sub_explicit(&self->count, 1, memory_order_relaxed);
}

watch_mark *http_connections_mark(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

void http_connections_visit_own(http_connections *connections,
                                void (*visit)(void *context, void *request), void *context)
{
    watch_visit_own(connections->watch, visit, context);
}

size_t http_connections_young(http_connections *connections)
{
    long long accepted =
        atomic_load(&connections->count); /* may include some not yet watched */
    long long watched = (long long)watch_count(connections->watch);
    size_t unwatched = accepted > watched ? (size_t)(accepted - watched) : 0;
    return watch_young(connections->watch, clock_now()) + unwatched;
}

/* ---- start and stop ---- */

/* Raise the process's limit of descriptors to `needed`, as far as the system allows; returns
 * how many there may be, at most `needed`. */
static uint64_t raise_descriptor_limit(uint64_t needed)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed)
        return needed;
    uint64_t before = limit.rlim_cur;
    limit.rlim_cur = needed < limit.rlim_max ? needed : limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : before;
}

/* Divide too few descriptors: after what the server needs for itself, an eighth of the rest is
 * for files of long bodies. Refused connections get what is left, but at most SHED_MAX and at
 * least an eighth. */
static void divide_descriptors(http_connections *self, uint64_t allowed, uint64_t own)
{
    uint64_t left = allowed > own + 2 * SHED_MIN ? allowed - own : 2 * SHED_MIN;
    uint64_t refused = left / 8 > SHED_MIN ? left / 8 : SHED_MIN;
    uint64_t spools = left / 8 < self->spools ? left / 8 : self->spools;
    self->spools = spools > SPOOLS_MIN ? spools : SPOOLS_MIN;
    left = left > self->spools + refused + SHED_MIN ? left - self->spools : refused + SHED_MIN;
    if (left > self->limit + refused)
        refused = left - self->limit;
    self->refused = refused < SHED_MAX ? refused : SHED_MAX;
    if (self->limit > left - refused)
        self->limit = left - refused;
}

/* Provide the descriptors that the connections need, or lower the limit of connections. Choose
 * the descriptors of the dummies: the first one is a multiple of the number of threads, so that
 * each thread gets one. */
static void provide_descriptors(http_connections *self)
{
    uint64_t wanted = self->limit, dummies = 2 * (uint64_t)self->threads;
    uint64_t own = OTHER_DESCRIPTORS + EVENT_DESCRIPTORS * (uint64_t)self->threads;
    self->spools = SPOOLS_MAX;
    uint64_t needed = wanted + self->spools + SHED_MAX + own + dummies;
    uint64_t allowed = raise_descriptor_limit(needed);
    self->refused = SHED_MAX;
    if (allowed < needed)
        divide_descriptors(self, allowed, own + dummies);
    if (self->limit < wanted)
        log_event(LOG_LEVEL_WARNING,
                  "max-connections is lowered: too few descriptors are allowed (ulimit -n)",
                  (const log_field[]){{.name = "allowed", .number = allowed},
                                      {.name = "needed", .number = needed},
                                      {.name = "connections", .number = self->limit},
                                      {.name = NULL}});
    uint64_t below = self->limit + self->spools + self->refused + own;
    self->first_dummy = (below + self->threads - 1) / self->threads * self->threads;
    self->reported = malloc(self->first_dummy * sizeof *self->reported);
    for (uint64_t i = 0; self->reported && i < self->first_dummy; i++)
        atomic_init(&self->reported[i], true);
}

static bool start_watch(http_connections *self, const server_settings *settings)
{
    const watch_limits limits = {.idle = settings->idle_seconds,
                                 .head = settings->header_seconds,
                                 .body = settings->body_seconds,
                                 .send = settings->send_seconds,
                                 .rate = settings->min_rate};
    const watch_host host = {.context = self, .late = count_late, .round = end_round};
    self->watch = watch_new(&limits, &host);
    return self->watch && watch_start(self->watch);
}

/* The seconds after which libmicrohttpd ends a connection: later than the watch does. */
static unsigned library_timeout(const server_settings *settings)
{
    const uint64_t deadlines[] = {settings->idle_seconds + settings->header_seconds,
                                  settings->body_seconds, settings->send_seconds};
    uint64_t longest = 0;
    for (size_t i = 0; i < sizeof deadlines / sizeof *deadlines; i++)
        longest = deadlines[i] > longest ? deadlines[i] : longest;
    return (unsigned)longest + 2;
}

http_connections *http_connections_new(const server_settings *settings, api_service *service,
                                       server_metrics *metrics)
{
    http_connections *self = calloc(1, sizeof *self);
    if (!self)
        return NULL;
    self->limit = settings->connections;
    self->threads = settings_threads(settings);
    self->timeout = library_timeout(settings);
    self->service = service;
    self->metrics = metrics;
    provide_descriptors(self);
    self->refusal = overload_refusal(service);
    if (self->reported && self->refusal && start_watch(self, settings))
        return self;
    http_connections_free(self);
    return NULL;
}

unsigned http_connections_spools(const http_connections *connections)
{
    return (unsigned)connections->spools;
}

unsigned http_connections_daemon_limit(const server_settings *settings)
{
    /* libmicrohttpd divides its limit evenly among its threads; connections may not be */
    return ((unsigned)settings->connections + 64) * settings_threads(settings);
}

unsigned http_connections_daemon_timeout(const http_connections *connections, int listen_fd)
{
    return watch_counts_sent(listen_fd) ? 0 : connections->timeout;
}

bool http_connections_open(http_connections *connections, struct MHD_Daemon *daemon,
                           int listen_fd, int send_buffer)
{
    const acceptor_host host = {.context = connections,
                                .has_room = has_room,
                                .take = take,
                                .shed = {.context = connections,
                                         .refusal = connections->refusal,
                                         .answer = answer,
                                         .room = (size_t)connections->refused},
                                .send_buffer = send_buffer,
                                .shared = systemd_has_sockets()};
    connections->daemon = daemon;
    connections->acceptor = acceptor_start(listen_fd, &host);
    return connections->acceptor != NULL;
}

void http_connections_close(http_connections *connections)
{
    acceptor_stop(connections->acceptor);
    connections->acceptor = NULL;
}

void http_connections_leave(http_connections *connections)
{
    watch_stop(connections->watch);
}

void http_connections_free(http_connections *connections)
{
    if (!connections)
        return;
    watch_free(connections->watch);
    free(connections->refusal);
    free(connections->reported);
    free(connections);
}
