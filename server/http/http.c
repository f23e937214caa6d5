/* Starting and stopping libmicrohttpd (0.9.75). Only files in this folder include its header.
 *
 * It clears the memory pool of a connection for every request, which takes a large part of the
 * time of a small cached response; and if a head does not fit into the pool, libmicrohttpd
 * answers 414 or 431 with a page of its own. So the pool has room for the longest target and
 * its fields, and no more. */
#include "http/http.h"

#include "clock.h"
#include "http/connections.h"
#include "http/exchange.h"
#include "http/framing.h"
#include "http/own_pages.h"
#include "http/shared.h"
#include "net/listen.h"
#include "observe/log.h"

#include <stdlib.h>
#include <time.h>

#define FIELDS_ROOM ((size_t)12 << 10) /* bytes of the pool beside the target */

struct http_server {
    struct MHD_Daemon *daemon;
    http_connections *connections;
    own_pages pages;
    http_shared shared;
};

const char *http_library_version(void)
{
    return MHD_get_version();
}

static struct MHD_Daemon *start_daemon(http_server *server, int listen_fd)
{
    const server_settings *settings = server->shared.settings;
    unsigned threads = settings_threads(settings);
    struct MHD_OptionItem options[3] = {{.option = MHD_OPTION_END}}, *option = options;
    /* CLIENT_DISCIPLINE_LVL 1, by the older name, which the header of 0.9.75 has as well */
    if (http_framing_line_check() == HTTP_LINES_BY_LIBRARY)
        *option++ = (struct MHD_OptionItem){MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL};
    if (threads > 1)
        *option++ = (struct MHD_OptionItem){MHD_OPTION_THREAD_POOL_SIZE, threads, NULL};
    *option = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
    server->pages.connections = server->connections;
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET |
            MHD_USE_ERROR_LOG,
        0, NULL, NULL, http_exchange_handle, &server->shared, MHD_OPTION_EXTERNAL_LOGGER,
        own_pages_log, &server->pages, MHD_OPTION_THREAD_STACK_SIZE, (size_t)WORKERS_STACK,
        MHD_OPTION_CONNECTION_LIMIT, http_connections_daemon_limit(settings),
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)settings->target_bytes + FIELDS_ROOM,
        MHD_OPTION_CONNECTION_TIMEOUT,
        http_connections_daemon_timeout(server->connections, listen_fd),
        MHD_OPTION_URI_LOG_CALLBACK, http_exchange_begin, &server->shared,
        MHD_OPTION_NOTIFY_COMPLETED, http_exchange_end, &server->shared,
        MHD_OPTION_NOTIFY_CONNECTION, http_connections_notify, server->connections,
        MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

static void free_server(http_server *server)
{
    if (server->daemon)
        MHD_stop_daemon(server->daemon);
    http_connections_free(server->connections);
    disconnects_free(server->shared.disconnects);
    api_reply_unref(server->shared.out_of_memory);
    free(server);
}

http_server *http_start(const server_settings *settings, int listen_fd, api_service *service,
                        server_metrics *metrics, worker_set *workers, api_memory *memory)
{
    http_server *server = calloc(1, sizeof *server);
    if (!server)
        return NULL;
    server->shared.settings = settings;
    server->shared.service = service;
    server->shared.metrics = metrics;
    server->shared.workers = workers;
    server->shared.streams = (stream_rules){
        .workers = workers, .time_limit = settings->compute_seconds * CLOCK_SECOND};
    server->shared.uploads.limit = 2 * (settings->upload_bytes + settings->body_bytes);
    server->shared.uploads.memory = memory;
    server->shared.spools.limit = 2 * settings->table_body_bytes;
    server->shared.spool_directory = settings_spool_directory(settings);
    if (http_framing_line_check() == HTTP_LINES_BY_NOBODY)
        log_event(
            LOG_LEVEL_WARNING,
            "libmicrohttpd is neither 0.9.75, 0.9.76 nor 1.0 or later: requests with bare "
            "LF, NUL or folded lines in their heads are not refused",
            NULL);
    server->shared.disconnects = disconnects_start();
    if (server->shared.disconnects && http_shared_prepare(&server->shared))
        server->connections = http_connections_new(settings, service, metrics);
    if (server->connections) {
        server->shared.spools.most_files = http_connections_spools(server->connections);
        server->daemon = start_daemon(server, listen_fd);
    }
    if (server->daemon && http_connections_open(server->connections, server->daemon, listen_fd,
                                                listen_send_buffer(listen_fd)))
        return server;
    free_server(server);
    return NULL;
}

void http_drain(http_server *server)
{
    atomic_store(&server->shared.draining, true);
}

void http_refuse(http_server *server)
{
    http_drain(server);
    atomic_store(&server->shared.streams.ended, true);
    http_connections_close(server->connections);
}

/* Whether requests are under way, or may be arriving on new connections. */
static bool is_busy(http_server *server)
{
    return metrics_count_under_way(server->shared.metrics, 0) > 0 ||
           http_connections_young(server->connections) > 0;
}

/* Wait until the server is idle, for at most this many hundredths of a second. */
static void await_idle(http_server *server, unsigned hundredths)
{
    const struct timespec hundredth = {.tv_nsec = 10 * 1000 * 1000};
    for (unsigned i = 0; i < hundredths && is_busy(server); i++)
        nanosleep(&hundredth, NULL);
}

unsigned http_stop(http_server *server, unsigned seconds)
{
    await_idle(server, 100 * seconds);
    unsigned cut_off = (unsigned)metrics_count_under_way(server->shared.metrics, 0);
    atomic_store(&server->shared.stopping, true);
    workers_stop(server->shared.workers); /* no connection may be suspended from here on */
    disconnects_stop(server->shared.disconnects);
    if (cut_off > 0)
        await_idle(server, 20); /* time to send the 503 of abandoned jobs */
    http_connections_leave(server->connections);
    free_server(server);
    return cut_off;
}
