/* The door: at the limit there is an answer, not silence.
 *
 * libmicrohttpd 0.9.75 fetches up to 128 events at once, and where it got exactly 128 it waits
 * for more before it serves these: that may be as long as the idle timeout, for the clients
 * wait as well. What ends the wait is any event, such as a new connection; so where there may
 * be that many events, each event thread is given one a few times a second. */
#include "http_connections.h"

#include "acceptor.h"
#include "heap.h"
#include "log.h"
#include "shed.h"
#include "systemd.h"
#include "text.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define DESCRIPTORS    64  /* beside those of connections */
#define EVENTS_AT_ONCE 128 /* of libmicrohttpd; one of them may be its own */

struct http_connections {
    server_metrics *metrics;
    struct MHD_Daemon *daemon;
    acceptor *acceptor;
    connection_watch *watch;
    char *refusal;
    uint64_t limit;  /* of connections */
    uint64_t wakers; /* descriptors from here on are for waking threads */
    unsigned threads;
    atomic_llong count; /* taken and not yet closed */
    atomic_bool
        *begun; /* by descriptor, below `wakers`: libmicrohttpd has told of it, or need not
                 */
};

/* ---- coming and going ---- */

/* libmicrohttpd tells of a connection when its thread begins with it; one for which that thread
 * had no memory is closed without a word. Then its descriptor comes again. */
static void forget_lost(http_connections *self, int fd)
{
    if ((uint64_t)fd < self->wakers && !atomic_exchange(&self->begun[fd], true))
        atomic_fetch_sub_explicit(&self->count, 1, memory_order_relaxed);
}

static bool has_room(void *context, int fd)
{
    http_connections *self = context;
    forget_lost(self, fd);
    bool room =
        atomic_load_explicit(&self->count, memory_order_relaxed) < (long long)self->limit;
    if (!room)
        metrics_count_rejected(self->metrics, REJECTED_CONNECTION_LIMIT);
    return room;
}

/* Counted here, and not when libmicrohttpd has noticed it: a burst must not pass the limit. */
static void take(void *context, int fd, const struct sockaddr *address, socklen_t length)
{
    http_connections *self = context;
    atomic_fetch_add_explicit(&self->count, 1, memory_order_relaxed);
    if ((uint64_t)fd < self->wakers)
        atomic_store(&self->begun[fd], false);
    if (MHD_add_connection(self->daemon, fd, address, length) != MHD_YES) /* has closed it */
        forget_lost(self, fd);
}

/* ---- waking the event threads ---- */

/* A socket that is not connected, which is noticed and closed. By its number libmicrohttpd
 * chooses the thread. */
static void wake_threads(const http_connections *self, size_t watched)
{
    const struct sockaddr nobody = {.sa_family = AF_UNSPEC};
    for (unsigned i = 0; i < self->threads && watched >= EVENTS_AT_ONCE - 1; i++) {
        int lowest = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        int fd = lowest < 0 ? -1 : fcntl(lowest, F_DUPFD_CLOEXEC, (int)(self->wakers + i));
        if (lowest >= 0)
            close(lowest);
        if (fd >= 0)
            MHD_add_connection(self->daemon, fd, &nobody, sizeof nobody);
    }
}

/* After each round of the watch. */
static void tend(void *context, size_t watched)
{
    wake_threads(context, watched);
    heap_trim();
}

static bool is_nobody(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info && info->client_addr->sa_family == AF_UNSPEC;
}

/* ---- what the event threads say ---- */

void http_connections_notify(void *cls, struct MHD_Connection *connection,
                             void **socket_context, enum MHD_ConnectionNotificationCode code)
{
    http_connections *self = cls;
    if (is_nobody(connection))
        return;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        *socket_context = info ? watch_add(self->watch, info->connect_fd) : NULL;
        if (info && (uint64_t)info->connect_fd < self->wakers)
            atomic_store(&self->begun[info->connect_fd], true);
        metrics_count_connection(self->metrics, 1);
        return;
    }
    watch_remove(self->watch, *socket_context); /* the socket is still open */
    *socket_context = NULL;
    metrics_count_connection(self->metrics, -1);
    atomic_fetch_sub_explicit(&self->count, 1, memory_order_relaxed);
}

static void count_late(void *context, watch_phase phase)
{
    static const rejection of[WATCH_PHASES] = {[WATCH_HEAD] = REJECTED_HEADER_DEADLINE,
                                               [WATCH_BODY] = REJECTED_BODY_DEADLINE,
                                               [WATCH_SEND] = REJECTED_SLOW_READER};
    metrics_count_rejected(((http_connections *)context)->metrics, of[phase]);
}

watch_mark *http_connections_mark(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

size_t http_connections_young(http_connections *connections)
{
    long long taken = atomic_load(&connections->count); /* not all may be watched yet */
    long long watched = (long long)watch_count(connections->watch);
    return watch_young(connections->watch) + (size_t)(taken > watched ? taken - watched : 0);
}

/* ---- life ---- */

/* An answer as text, from malloc; NULL without memory. */
static char *write_reply(api_reply *reply)
{
    const api_field *fields;
    const api_segment *body;
    api_text text = {0};
    size_t count = api_reply_fields(reply, &fields);
    if (!api_reply_body(reply))
        return NULL;
    api_text_add(&text, "HTTP/1.1 %u Service Unavailable\r\nConnection: close\r\n",
                 api_reply_status(reply));
    for (size_t i = 0; i < count; i++)
        api_text_add(&text, "%s: %s\r\n", fields[i].name, fields[i].value);
    api_text_add(&text, "Content-Length: %llu\r\n\r\n",
                 (unsigned long long)api_body_size(api_reply_body(reply)));
    count = api_body_segments(api_reply_body(reply), &body);
    for (size_t i = 0; i < count; i++)
        api_text_put(&text, body[i].data, body[i].size);
    return api_text_take(&text);
}

/* Allow this process the descriptors it needs, or as many connections as it may have
 * descriptors for. */
static void provide_descriptors(http_connections *self)
{
    struct rlimit limit;
    uint64_t others = SHED_MAX + DESCRIPTORS, all = self->limit + others + 2 * self->threads;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < all) {
        limit.rlim_cur = all < limit.rlim_max ? all : limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < all) {
            uint64_t missing = all - limit.rlim_cur;
            self->limit = missing < self->limit ? self->limit - missing : 1;
            log_event(LOG_WARNING, "too few descriptors are allowed for max-connections",
                      (const log_field[]){{"allowed", NULL, limit.rlim_cur},
                                          {"needed", NULL, all},
                                          {"connections", NULL, self->limit},
                                          {NULL, NULL, 0}});
        }
    }
    self->wakers = (self->limit + others + self->threads - 1) / self->threads * self->threads;
    self->begun = malloc(self->wakers * sizeof *self->begun);
    for (uint64_t i = 0; self->begun && i < self->wakers; i++)
        atomic_init(&self->begun[i], true);
}

http_connections *http_connections_new(const server_settings *settings, api_service *service,
                                       server_metrics *metrics)
{
    http_connections *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    const watch_limits limits = {settings->idle_seconds, settings->header_seconds,
                                 settings->body_seconds, settings->send_seconds,
                                 settings->min_rate};
    const watch_host host = {made, count_late, tend};
    api_reply *refusal = api_fault_reply_with(service, API_FAULT_OVERLOADED,
                                              "too many connections are open; try again");
    made->limit = settings->connections;
    made->threads = settings_threads(settings);
    provide_descriptors(made);
    made->metrics = metrics;
    made->refusal = write_reply(refusal);
    api_reply_unref(refusal);
    made->watch = watch_start(&limits, &host);
    if (made->begun && made->refusal && made->watch)
        return made;
    http_connections_free(made);
    return NULL;
}

/* It divides its limit among its threads. */
unsigned http_connections_room(const server_settings *settings)
{
    return ((unsigned)settings->connections + 64) * settings_threads(settings);
}

unsigned http_connections_timeout(const server_settings *settings)
{
    const uint64_t ours[] = {settings->idle_seconds + settings->header_seconds,
                             settings->body_seconds, settings->send_seconds};
    uint64_t most = 0;
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        most = ours[i] > most ? ours[i] : most;
    return (unsigned)most + 2;
}

bool http_connections_open(http_connections *connections, struct MHD_Daemon *daemon,
                           int listen_fd)
{
    const acceptor_host host = {connections, has_room, take, connections->refusal,
                                systemd_has_sockets()};
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
    free(connections->begun);
    free(connections);
}
