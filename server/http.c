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

#include "http_access.h"
#include "http_connections.h"
#include "http_guard.h"
#include "http_headers.h"
#include "http_response.h"
#include "http_upload.h"
#include "log.h"

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
    http_connections *connections;
    const server_settings *settings;
    api_service *service;
    server_metrics *metrics;
    worker_set *workers;
    http_upload_budget uploads;
    api_reply *out_of_memory; /* with its response */
    atomic_bool draining, stopping;
};

/* One request while libmicrohttpd handles it. */
typedef struct http_exchange {
    worker_job job; /* first: a job is cast to its exchange */
    http_server *server;
    struct MHD_Connection *connection;
    watch_mark *mark;
    uint64_t began; /* when the head was whole */
    const char *method;
    http_headers headers; /* found before the connection rests */
    api_reply *reply;     /* made by a worker or from the head, not yet queued */
    rejection rejected;
    char *target;
    http_upload body;
    bool crowded; /* too many others are under way */
    bool seen, awaited;
} http_exchange;

/* ---- requests ---- */

/* libmicrohttpd calls this first, with the target as it came. */
static void *begin_exchange(void *cls, const char *target, struct MHD_Connection *connection)
{
    http_exchange *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->server = cls;
    made->mark = http_connections_mark(connection);
    made->target = strdup(target ? target : "");
    if (!made->target) {
        free(made);
        return NULL;
    }
    char *query = target ? strchr((char *)(uintptr_t)target, '?') : NULL;
    if (query)
        query[1] = '\0'; /* we parse it ourselves */
    made->crowded =
        metrics_count_under_way(made->server->metrics, 1) > made->server->settings->requests;
    return made;
}

static void end_exchange(void *cls, struct MHD_Connection *connection, void **context,
                         enum MHD_RequestTerminationCode code)
{
    (void)cls, (void)connection, (void)code;
    http_exchange *ended = *context;
    if (!ended)
        return;
    watch_enter(ended->mark, WATCH_HEAD);
    metrics_count_under_way(ended->server->metrics, -1);
    http_headers_done(&ended->headers);
    api_reply_unref(ended->reply);
    http_upload_done(&ended->body, &ended->server->uploads);
    free(ended->target);
    free(ended);
    *context = NULL;
}

static const char *known_header(void *context, const char *name)
{
    return http_headers_value(&((const http_exchange *)context)->headers, name);
}

static char *take_body(void *context)
{
    http_exchange *exchange = context;
    char *data = exchange->body.data; /* still counted, until the request ends */
    exchange->body.data = NULL;
    return data;
}

/* ---- replies ---- */

/* A reply that says why: counted and logged as such. */
static api_reply *reject(http_exchange *exchange, rejection why, api_fault fault,
                         const char *detail)
{
    exchange->rejected = why;
    return api_fault_reply_with(exchange->server->service, fault, detail);
}

/* The reply, or where it is a stream too many, a refusal in its place. */
static api_reply *within_streams(http_exchange *exchange, api_reply *reply)
{
    http_server *server = exchange->server;
    api_body *body = api_reply_body(reply);
    if (!body || !api_body_is_stream(body) ||
        metrics_count_stream(server->metrics, 0) < server->settings->streams)
        return reply;
    api_reply_unref(reply);
    return reject(exchange, REJECTED_STREAM_LIMIT, API_FAULT_OVERLOADED,
                  "too many streams are under way; try again");
}

/* Count, log and queue a reply. */
static enum MHD_Result finish(http_exchange *exchange, api_reply *reply)
{
    http_server *server = exchange->server;
    bool logged = server->settings->access_log;
    bool last = atomic_load_explicit(&server->draining, memory_order_relaxed);
    http_echo echo;
    http_response prepared;
    watch_enter(exchange->mark, WATCH_SEND);
    http_headers_find(&exchange->headers, exchange->connection);
    http_access access = {.connection = exchange->connection,
                          .method = exchange->method,
                          .target = exchange->target,
                          .headers = &exchange->headers,
                          .route = api_route_of(exchange->method, exchange->target),
                          .began = exchange->began};
    http_access_echo(&access, logged, &echo);
    const http_sending sending = {server->metrics, echo.fields, last};
    reply = http_response_prepare(within_streams(exchange, reply), server->out_of_memory,
                                  &sending, &prepared);
    access.rejected = http_access_reason(reply, exchange->rejected, last);
    api_body *body = api_reply_body(reply);
    metrics_count_request(server->metrics, access.route, api_reply_status(reply),
                          http_access_now() - access.began);
    metrics_count_rejected(server->metrics, access.rejected);
    if (body && !api_body_is_stream(body)) /* a stream's are counted as they go */
        metrics_count_bytes(server->metrics, api_body_size(body));
    if (logged)
        http_response_log(&prepared, reply, http_access_begin_line(&access, &echo, reply),
                          access.began);
    return http_response_queue(exchange->connection, reply, &prepared);
}

/* Answer without an exchange, for which there was no memory; the connection closes. */
static enum MHD_Result finish_starved(http_server *server, struct MHD_Connection *connection,
                                      const char *method, const char *url)
{
    http_response prepared;
    const http_sending sending = {.metrics = server->metrics};
    api_reply *reply =
        http_response_prepare(api_reply_ref(server->out_of_memory), NULL, &sending, &prepared);
    metrics_count_request(server->metrics, api_route_of(method, url), api_reply_status(reply),
                          0);
    metrics_count_rejected(server->metrics, http_access_reason(reply, REJECTED_NOT, false));
    return http_response_queue(connection, reply, &prepared);
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
    rejection why =
        atomic_load(&exchange->server->stopping) ? REJECTED_DRAINING : REJECTED_QUEUE_FULL;
    exchange->reply = reject(exchange, why, API_FAULT_OVERLOADED,
                             "too many computations are waiting; try again");
    end_job(job);
}

static enum MHD_Result hand_over(http_exchange *exchange, api_progress progress, uint64_t seen)
{
    worker_set *workers = exchange->server->workers;
    bool reads = strcmp(exchange->method, "GET") == 0 && !exchange->body.data;
    exchange->job = (worker_job){.seen = seen,
                                 .key = reads ? exchange->target : NULL,
                                 .run = run_job,
                                 .end = end_job,
                                 .abandon = abandon_job};
    exchange->awaited = progress == API_BUSY;
    watch_enter(exchange->mark, WATCH_WORK);
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
        return finish(exchange,
                      reject(exchange, REJECTED_UPLOAD_MEMORY, API_FAULT_UNAVAILABLE, NULL));
    uint64_t seen = workers_landings(server->workers);
    api_progress progress = ask(exchange, true, &reply);
    if (progress == API_DONE)
        return finish(exchange, reply);
    return hand_over(exchange, progress, seen);
}

/* Judge the head: its framing first, since what it says of a body is to be relied on. False:
 * the answer must not wait for the body. */
static bool admit(http_exchange *exchange, const http_head *head)
{
    http_server *server = exchange->server;
    http_upload *body = &exchange->body;
    exchange->reply = http_admit(server->service, exchange->connection, head, exchange->crowded,
                                 &exchange->rejected);
    if (exchange->reply)
        return false;
    const api_request request = request_of(exchange, true);
    if (http_headers_find(&exchange->headers, exchange->connection))
        exchange->reply = api_judge_head(server->service, &request, &body->limit);
    else
        exchange->reply = api_reply_ref(server->out_of_memory);
    body->refused = exchange->reply != NULL;
    return http_upload_announce(body, exchange->connection,
                                DROPPED_MAX + server->settings->body_bytes);
}

static enum MHD_Result handle(void *cls, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **context)
{
    http_exchange *exchange = *context;
    if (!exchange) /* begin_exchange had no memory */
        return finish_starved(cls, connection, method, url);
    if (!exchange->seen) {
        exchange->seen = true;
        exchange->connection = connection;
        exchange->began = http_access_now();
        exchange->method = method;
        watch_enter(exchange->mark, WATCH_BODY);
        const http_head head = {method, url, version, exchange->target};
        return admit(exchange, &head) ? MHD_YES : answer(exchange); /* and closes, unread */
    }
    if (*upload_size > 0) {
        watch_receive(exchange->mark, *upload_size);
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

static struct MHD_Daemon *start_daemon(http_server *server)
{
    const server_settings *settings = server->settings;
    unsigned threads = settings_threads(settings);
    struct MHD_OptionItem pool[] = {
        {threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, (intptr_t)threads, NULL},
        {MHD_OPTION_END, 0, NULL}};
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET, 0,
        NULL, NULL, handle, server, MHD_OPTION_THREAD_STACK_SIZE, (size_t)WORKERS_STACK,
        MHD_OPTION_CONNECTION_LIMIT, http_connections_room(settings),
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)settings->target_bytes + HEADER_ROOM,
        MHD_OPTION_CONNECTION_TIMEOUT, http_connections_timeout(settings),
        MHD_OPTION_URI_LOG_CALLBACK, begin_exchange, server, MHD_OPTION_NOTIFY_COMPLETED,
        end_exchange, server, MHD_OPTION_NOTIFY_CONNECTION, http_connections_notify,
        server->connections, MHD_OPTION_ARRAY, pool, MHD_OPTION_END);
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
    if (!http_guard_sees_lines())
        log_event(LOG_WARNING,
                  "this libmicrohttpd is not 0.9.75: bare LF, NUL and folded lines in a head "
                  "are not seen",
                  NULL);
    http_response prepared;
    const http_sending sending = {.metrics = metrics};
    server->out_of_memory = http_response_prepare(
        api_fault_reply(service, API_FAULT_UNAVAILABLE), NULL, &sending, &prepared);
    if (server->out_of_memory)
        server->connections = http_connections_new(settings, service, metrics);
    if (server->connections)
        server->daemon = start_daemon(server);
    if (server->daemon && http_connections_open(server->connections, server->daemon, listen_fd))
        return server;
    if (server->daemon)
        MHD_stop_daemon(server->daemon);
    http_connections_free(server->connections);
    api_reply_unref(server->out_of_memory);
    free(server);
    return NULL;
}

void http_drain(http_server *server)
{
    atomic_store(&server->draining, true);
}

void http_refuse(http_server *server)
{
    http_drain(server);
    http_connections_close(server->connections);
}

/* Requests that are being answered, or are on their way to us over a new connection. */
static bool is_busy(http_server *server)
{
    return metrics_count_under_way(server->metrics, 0) > 0 ||
           http_connections_young(server->connections) > 0;
}

/* Wait until nobody is busy, for at most so many hundredths of a second. */
static void await_end(http_server *server, unsigned moments)
{
    const struct timespec moment = {.tv_nsec = 10 * 1000 * 1000};
    for (unsigned i = 0; i < moments && is_busy(server); i++)
        nanosleep(&moment, NULL);
}

unsigned http_stop(http_server *server, unsigned seconds)
{
    await_end(server, 100 * seconds);
    unsigned cut_off = (unsigned)metrics_count_under_way(server->metrics, 0);
    atomic_store(&server->stopping, true);
    workers_stop(server->workers); /* no connection may rest when the daemon stops */
    if (cut_off > 0)
        await_end(server, 20); /* so that those who waited for a worker are told */
    http_connections_leave(server->connections);
    MHD_stop_daemon(server->daemon);
    http_connections_free(server->connections);
    api_reply_unref(server->out_of_memory);
    free(server);
    return cut_off;
}
