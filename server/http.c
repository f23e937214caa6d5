/* libmicrohttpd (0.9.75) around the api; with http_response.c the only code that knows it. What
 * it really does shapes this file:
 *
 *  - A response queued on the handler's first call closes the connection; so the first call
 * only looks, and the answer follows on a later call.
 *  - What takes long would hold up every connection of an event thread: such a connection is
 * suspended and a worker answers. Suspended connections do not time out, so the queue is
 * bounded.
 *  - It parses the query into the connection's memory, and where that is full the request is
 * never answered nor ended; so the query is hidden from it.
 *  - It clears the whole of that memory for each request, which is much of a small hit's time;
 * and where it is full it answers 414 or 431 with a page of its own. So it is as large as the
 * longest target with its headers, and no larger.
 *  - Closing with a body unread resets the connection, and the client may never see the answer;
 * so a body over the limit is read and dropped, unless it is announced as larger still. */
#include "http.h"

#include "acceptor.h"
#include "http_headers.h"
#include "http_response.h"
#include "http_upload.h"
#include "log.h"

#include <assert.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define UNANNOUNCED_MAX (256 * 1024 * 1024) /* of a chunked body, which announces no length */
#define DROPPED_MAX     (16 * 1024 * 1024)
#define HEADER_ROOM     ((size_t)12 << 10) /* beside the target: for all fields */

struct http_server {
    struct MHD_Daemon *daemon;
    acceptor *acceptor;
    const server_settings *settings;
    api_service *service;
    server_metrics *metrics;
    worker_set *workers;
    http_upload_budget uploads;
    atomic_bool draining;
    atomic_uint under_way;
    atomic_llong connections;
};

/* What the api reads. */
static const char *const HEADERS[] = {"Accept",        "Authorization", "Content-Range",
                                      "Content-Type",  "Host",          "If-Match",
                                      "If-None-Match", "Origin"};
#define HEADER_COUNT (sizeof HEADERS / sizeof *HEADERS)

/* One request while libmicrohttpd handles it. */
typedef struct http_exchange {
    worker_job job; /* first: a job is cast to its exchange */
    http_server *server;
    struct MHD_Connection *connection;
    const char *method;
    const char *headers[HEADER_COUNT];
    api_reply *reply; /* made by a worker or from the head, not yet queued */
    char *target;
    http_upload body;
    bool seen, awaited, looked; /* looked: for the headers, before the connection rests */
    http_joined *joined;
} http_exchange;

/* ---- requests ---- */

/* libmicrohttpd calls this first, with the target as it came. */
static void *begin_exchange(void *cls, const char *target, struct MHD_Connection *connection)
{
    (void)connection;
    http_exchange *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->server = cls;
    made->target = strdup(target ? target : "");
    if (!made->target) {
        free(made);
        return NULL;
    }
    char *query = target ? strchr((char *)(uintptr_t)target, '?') : NULL;
    if (query)
        query[1] = '\0'; /* we parse it ourselves */
    atomic_fetch_add(&made->server->under_way, 1);
    return made;
}

static void end_exchange(void *cls, struct MHD_Connection *connection, void **context,
                         enum MHD_RequestTerminationCode code)
{
    (void)cls, (void)connection, (void)code;
    http_exchange *ended = *context;
    if (!ended)
        return;
    atomic_fetch_sub(&ended->server->under_way, 1);
    http_joined_free(ended->joined);
    api_reply_unref(ended->reply);
    http_upload_done(&ended->body, &ended->server->uploads);
    free(ended->target);
    free(ended);
    *context = NULL;
}

static void count_connection(void *cls, struct MHD_Connection *connection,
                             void **socket_context, enum MHD_ConnectionNotificationCode code)
{
    (void)connection, (void)socket_context;
    http_server *server = cls;
    int change = code == MHD_CONNECTION_NOTIFY_STARTED ? 1 : -1;
    atomic_fetch_add_explicit(&server->connections, change, memory_order_relaxed);
    metrics_count_connection(server->metrics, change);
}

static bool has_room(void *context)
{
    const http_server *server = context;
    return atomic_load_explicit(&server->connections, memory_order_relaxed) <
           (long long)server->settings->connections;
}

static void take_connection(void *context, int fd, const struct sockaddr *address,
                            socklen_t length)
{
    const http_server *server = context;
    MHD_add_connection(server->daemon, fd, address, length); /* closes it where it fails */
}

static const char *known_header(void *context, const char *name)
{
    http_exchange *exchange = context;
    if (!exchange->looked)
        http_find_headers(exchange->connection, HEADERS, HEADER_COUNT, exchange->headers,
                          &exchange->joined);
    exchange->looked = true;
    for (size_t i = 0; i < HEADER_COUNT; i++)
        if (strcmp(HEADERS[i], name) == 0)
            return exchange->headers[i];
    assert(false && "a header of HEADERS");
    return NULL;
}

static char *take_body(void *context)
{
    http_exchange *exchange = context;
    char *data = exchange->body.data; /* still counted, until the request ends */
    exchange->body.data = NULL;
    return data;
}

/* ---- replies ---- */

/* Queue a reply and drop the caller's reference to it. */
static enum MHD_Result queue_reply(http_server *server, struct MHD_Connection *connection,
                                   api_reply *reply)
{
    enum MHD_Result result = MHD_NO; /* closes the connection */
    struct MHD_Response *response;
    unsigned status = api_reply_status(reply);
    if (atomic_load_explicit(&server->draining, memory_order_relaxed)) {
        response = http_response_new(reply, server->metrics, true);
        if (response) {
            result = MHD_queue_response(connection, status, response);
            MHD_destroy_response(response);
        }
    } else {
        response = api_reply_transport(reply);
        if (!response && (response = http_response_new(reply, server->metrics, false)))
            response = api_reply_set_transport(reply, response, http_response_free);
        if (response)
            result = MHD_queue_response(connection, status, response);
    }
    api_reply_unref(reply);
    return result;
}

/* `bytes` of the body; API_LENGTH_UNKNOWN where they will only show. */
static void log_access(const http_exchange *exchange, const char *method,
                       const api_reply *reply, uint64_t bytes)
{
    log_event(LOG_INFO, "request",
              (const log_field[]){{"method", method, 0},
                                  {"target", exchange->target, 0},
                                  {"status", NULL, api_reply_status(reply)},
                                  {bytes == API_LENGTH_UNKNOWN ? NULL : "bytes", NULL, bytes},
                                  {NULL, NULL, 0}});
}

/* Count, log and queue a reply. */
static enum MHD_Result finish(http_exchange *exchange, api_reply *reply)
{
    http_server *server = exchange->server;
    api_body *body = api_reply_body(reply);
    uint64_t bytes = body ? api_body_size(body) : 0;
    metrics_count_request(server->metrics, api_route_label(exchange->target),
                          api_reply_status(reply));
    if (body && !api_body_is_stream(body)) /* a stream's are counted as they go */
        metrics_count_bytes(server->metrics, bytes);
    if (server->settings->access_log)
        log_access(exchange, exchange->method, reply, bytes);
    return queue_reply(server, exchange->connection, reply);
}

static api_request request_of(http_exchange *exchange, bool quick)
{
    return (api_request){
        .method = exchange->method,
        .target = exchange->target,
        .header = known_header,
        .context = exchange,
        .body = exchange->body.data,
        .body_size = exchange->body.size,
        .take_body = take_body,
        .quick = quick,
        .awaited = exchange->awaited,
    };
}

static api_progress ask(http_exchange *exchange, bool quick, api_reply **ret_reply)
{
    const api_request request = request_of(exchange, quick);
    return api_handle(exchange->server->service, &request, ret_reply);
}

/* ---- work off the event threads: the connection rests, a worker answers and wakes it ---- */

static bool run_job(worker_job *job)
{
    http_exchange *exchange = (http_exchange *)job;
    bool done = ask(exchange, false, &exchange->reply) == API_DONE;
    exchange->awaited = exchange->awaited || !done;
    return done;
}

/* The exchange is the event thread's again, which may free it at once. */
static void end_job(worker_job *job)
{
    http_exchange *exchange = (http_exchange *)job;
    MHD_resume_connection(exchange->connection);
}

static void abandon_job(worker_job *job)
{
    http_exchange *exchange = (http_exchange *)job;
    exchange->reply = api_fault_reply(exchange->server->service, API_FAULT_OVERLOADED);
    end_job(job);
}

static enum MHD_Result hand_over(http_exchange *exchange, api_progress progress, uint64_t seen)
{
    worker_set *workers = exchange->server->workers;
    bool reads = strcmp(exchange->method, "GET") == 0 && !exchange->body.data;
    known_header(exchange, HEADERS[0]);
    exchange->job = (worker_job){.seen = seen,
                                 .key = reads ? exchange->target : NULL,
                                 .run = run_job,
                                 .end = end_job,
                                 .abandon = abandon_job};
    exchange->awaited = progress == API_BUSY;
    MHD_suspend_connection(exchange->connection);
    if (progress == API_BUSY)
        workers_await(workers, &exchange->job);
    else if (!workers_submit(workers, &exchange->job))
        abandon_job(&exchange->job);
    return MHD_YES;
}

static enum MHD_Result answer(http_exchange *exchange)
{
    http_server *server = exchange->server;
    api_reply *reply = exchange->reply;
    if (reply) {
        exchange->reply = NULL;
        return finish(exchange, reply);
    }
    if (exchange->body.too_large)
        return finish(exchange, api_fault_reply(server->service, API_FAULT_PAYLOAD_TOO_LARGE));
    if (exchange->body.out_of_memory)
        return finish(exchange, api_fault_reply(server->service, API_FAULT_UNAVAILABLE));
    uint64_t seen = workers_landings(server->workers);
    api_progress progress = ask(exchange, true, &reply);
    if (progress == API_DONE)
        return finish(exchange, reply);
    return hand_over(exchange, progress, seen);
}

/* Look at the head: what it says of the body, and whether it is refused already. False: the
 * answer must not wait for the body, which waits for our consent or is too large to be read and
 * dropped. */
static bool admit_body(http_exchange *exchange)
{
    http_server *server = exchange->server;
    http_upload *body = &exchange->body;
    const char *length = MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND,
                                                     MHD_HTTP_HEADER_CONTENT_LENGTH);
    bool waits = MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND,
                                             MHD_HTTP_HEADER_EXPECT) != NULL;
    const api_request head = request_of(exchange, true);
    exchange->reply = api_judge_head(server->service, &head, &body->limit);
    body->announced = length ? strtoull(length, NULL, 10) : 0;
    body->refused = exchange->reply != NULL;
    body->too_large = body->announced > body->limit;
    if (!body->refused && !body->too_large)
        return true;
    return !waits && body->announced <= DROPPED_MAX + server->settings->body_bytes;
}

static enum MHD_Result handle(void *cls, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **context)
{
    (void)cls, (void)url, (void)version;
    http_exchange *exchange = *context;
    if (!exchange)
        return MHD_NO; /* begin_exchange had no memory */
    if (!exchange->seen) {
        exchange->seen = true;
        exchange->connection = connection;
        exchange->method = method;
        return admit_body(exchange) ? MHD_YES : answer(exchange); /* and closes, unread */
    }
    if (*upload_size > 0) {
        http_upload_take(&exchange->body, &exchange->server->uploads, upload, *upload_size);
        *upload_size = 0;
        return exchange->body.dropped > UNANNOUNCED_MAX ||
                       http_upload_is_cut_off(&exchange->body, connection)
                   ? MHD_NO
                   : MHD_YES;
    }
    return answer(exchange);
}

/* ---- life ---- */

/* libmicrohttpd's own limit, which it divides among its threads: above ours, which the acceptor
 * keeps, by what a burst may bring before it is counted. */
static unsigned connection_room(const server_settings *settings)
{
    return ((unsigned)settings->connections + 64) * settings_threads(settings);
}

http_server *http_start(const server_settings *settings, int listen_fd, api_service *service,
                        server_metrics *metrics, worker_set *workers)
{
    http_server *server = calloc(1, sizeof *server);
    if (!server)
        return NULL;
    server->settings = settings;
    server->service = service;
    server->metrics = metrics;
    server->workers = workers;
    server->uploads.limit = 2 * (settings->upload_bytes + settings->body_bytes);
    unsigned threads = settings_threads(settings);
    struct MHD_OptionItem pool[] = {
        {threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, (intptr_t)threads, NULL},
        {MHD_OPTION_END, 0, NULL}};
    server->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET, 0,
        NULL, NULL, handle, server, MHD_OPTION_THREAD_STACK_SIZE, (size_t)WORKERS_STACK,
        MHD_OPTION_CONNECTION_LIMIT, connection_room(settings),
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)settings->target_bytes + HEADER_ROOM,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)settings->idle_seconds,
        MHD_OPTION_URI_LOG_CALLBACK, begin_exchange, server, MHD_OPTION_NOTIFY_COMPLETED,
        end_exchange, server, MHD_OPTION_NOTIFY_CONNECTION, count_connection, server,
        MHD_OPTION_ARRAY, pool, MHD_OPTION_END);
    const acceptor_host host = {server, has_room, take_connection};
    if (server->daemon)
        server->acceptor = acceptor_start(listen_fd, &host);
    if (!server->acceptor) {
        if (server->daemon)
            MHD_stop_daemon(server->daemon);
        free(server);
        return NULL;
    }
    return server;
}

void http_drain(http_server *server)
{
    atomic_store(&server->draining, true);
}

void http_refuse(http_server *server)
{
    http_drain(server);
    acceptor_stop(server->acceptor);
}

unsigned http_stop(http_server *server, unsigned seconds)
{
    const struct timespec moment = {.tv_nsec = 10 * 1000 * 1000};
    for (unsigned i = 0; i < 100 * seconds && atomic_load(&server->under_way) > 0; i++)
        nanosleep(&moment, NULL);
    unsigned cut_off = atomic_load(&server->under_way);
    workers_stop(server->workers); /* no connection may rest when the daemon stops */
    MHD_stop_daemon(server->daemon);
    free(server);
    return cut_off;
}
