/* A request inside libmicrohttpd. Its behaviour, as of 0.9.75, shapes this file:
 *
 *  - A response that is queued in the handler's first call closes the connection. So the
 *    first call only judges the head, and a later call answers.
 *  - A slow answer would delay every other connection of the event thread. So the connection
 *    is suspended and a worker answers. Suspended connections have no timeout; the workers'
 *    queue is bounded instead.
 *  - The query is parsed into the connection's memory pool. If the pool is full, the request
 *    is neither answered nor ended. So the query is hidden from libmicrohttpd.
 *  - If a connection is closed while its body is unread, the client gets a reset and may lose
 *    the response. So a body over the limit is read and discarded, unless it announces a
 *    length that is far over the limit.
 *  - Of a chunked body, the handler may be called again in spite of a suspension, until what
 *    has been received is used up. So what gathers of a long one is written at once, to the
 *    page cache, and of others by a worker.
 *  - Where a chunked body ends may be read in two ways (0.9.75 takes a bare LF for a line
 *    end), and the handler does not see its framing. So such a request is the last of its
 *    connection. */
#include "http/exchange.h"

#include "clock.h"
#include "http/access.h"
#include "http/connections.h"
#include "http/framing.h"
#include "http/headers.h"
#include "http/response.h"
#include "http/shared.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a refused body that are read and discarded. */
#define ANNOUNCED_DISCARD_MAX (16 * 1024 * 1024)  /* if it announces its length */
#define CHUNKED_DISCARD_MAX   (256 * 1024 * 1024) /* if it is chunked */

typedef struct http_exchange {
    worker_job job; /* first: a job is cast to its exchange */
    waiting_client client;
    http_shared *shared;
    struct MHD_Connection *connection;
    watch_mark *mark;
    uint64_t began;   /* when the head was complete, by clock_now */
    uint64_t arrived; /* an api_moment */
    const char *method;
    http_headers headers;
    size_t route;     /* an api_route_of, once `judged` is set */
    api_reply *reply; /* from a worker or the judgement of the head; not yet queued */
    rejection rejected;
    char *host; /* of a target in absolute form, else NULL */
    http_upload body;
    bool crowded;   /* too many other requests are under way */
    bool head_seen; /* the handler's first call has been made */
    bool judged;    /* the api has judged the head */
    bool awaited;   /* the api has answered API_BUSY */
    bool left;      /* the client did, while it waited; set before departures_remove returns */
    uint64_t price; /* of the work, as the api says; 0: unknown */
    char target[];
} http_exchange;

/* ---- begin and end ---- */

void *http_exchange_begin(void *cls, const char *target, struct MHD_Connection *connection)
{
    size_t size = target ? strlen(target) : 0;
    http_exchange *exchange = malloc(sizeof *exchange + size + 1);
    if (!exchange)
        return NULL;
    *exchange = (http_exchange){
        .shared = cls, .mark = http_connections_mark(connection), .body.spool.fd = -1};
    if (size > 0)
        memcpy(exchange->target, target, size);
    exchange->target[size] = '\0';
    char *query = target ? strchr((char *)(uintptr_t)target, '?') : NULL;
    if (query)
        query[1] = '\0'; /* hide the query; `target` above has it */
    exchange->crowded = metrics_count_under_way(exchange->shared->metrics, 1) >
                        exchange->shared->settings->requests;
    return exchange;
}

void http_exchange_end(void *cls, struct MHD_Connection *connection, void **context,
                       enum MHD_RequestTerminationCode code)
{
    (void)cls, (void)connection, (void)code;
    http_exchange *exchange = *context;
    if (!exchange)
        return;
    departures_remove(exchange->shared->departures, &exchange->client);
    watch_enter(exchange->mark, WATCH_HEAD);
    metrics_count_under_way(exchange->shared->metrics, -1);
    http_headers_done(&exchange->headers);
    api_reply_unref(exchange->reply);
    http_upload_done(&exchange->body, &exchange->shared->uploads, &exchange->shared->spools);
    free(exchange->host);
    free(exchange);
    *context = NULL;
}

/* ---- asking the api ---- */

/* An api_request's `header`. */
static const char *known_header(void *context, api_header header)
{
    return ((const http_exchange *)context)->headers.values[header];
}

/* An api_request's `take_body`. The memory counts in the upload budget until the request ends.
 */
static char *take_body(void *context)
{
    http_exchange *exchange = context;
    char *data = exchange->body.data;
    exchange->body.data = NULL;
    return data;
}

/* An api_request's `read_body`. */
static bool read_body(void *context, uint64_t offset, void *dst, size_t size)
{
    return http_upload_read(&((const http_exchange *)context)->body, offset, dst, size);
}

/* The request for the api; `spend`: the highest price of work that may begin, 0 on an event
 * thread. */
static api_request request_of(http_exchange *exchange, uint64_t spend)
{
    return (api_request){
        .method = exchange->method,
        .target = exchange->target,
        .header = known_header,
        .context = exchange,
        .body = exchange->body.spool.size > 0 ? NULL : exchange->body.data,
        .body_size = (size_t)http_upload_size(&exchange->body),
        .read_body = read_body,
        .take_body = take_body,
        .quick = spend == 0,
        .spend = spend,
        .awaited = exchange->awaited,
        .arrived = exchange->arrived,
        .ret_price = &exchange->price,
    };
}

static api_progress ask(http_exchange *exchange, uint64_t spend, api_reply **ret_reply)
{
    const api_request request = request_of(exchange, spend);
    return api_handle(exchange->shared->service, &request, ret_reply);
}

/* ---- replies ---- */

/* A reply that turns the request away; metrics and the access log state the reason. */
static api_reply *reject(http_exchange *exchange, rejection reason, api_fault fault,
                         const char *detail)
{
    exchange->rejected = reason;
    return api_fault_reply_with(exchange->shared->service, fault, detail);
}

/* Return the reply, or a refusal in its place if it is a stream above the limit of streams. */
static api_reply *limit_streams(http_exchange *exchange, api_reply *reply)
{
    http_shared *shared = exchange->shared;
    api_body *body = api_reply_body(reply);
    if (!body || !api_body_is_stream(body) ||
        metrics_count_stream(shared->metrics, 0) < shared->settings->streams)
        return reply;
    api_reply_unref(reply);
    return reject(exchange, REJECTED_STREAM_LIMIT, API_FAULT_OVERLOADED,
                  "too many streams are under way; try again");
}

static size_t route_of(const http_exchange *exchange)
{
    return exchange->judged ? exchange->route
                            : api_route_of(exchange->method, exchange->target);
}

/* Count, log and queue a reply. */
static enum MHD_Result finish(http_exchange *exchange, api_reply *reply)
{
    http_shared *shared = exchange->shared;
    bool logged = shared->settings->access_log;
    bool draining = atomic_load_explicit(&shared->draining, memory_order_relaxed);
    http_echo echo;
    http_response prepared;
    departures_remove(shared->departures, &exchange->client);
    watch_enter(exchange->mark, WATCH_SEND);
    http_headers_join(&exchange->headers, exchange->connection);
    http_access access = {.connection = exchange->connection,
                          .method = exchange->method,
                          .target = exchange->target,
                          .headers = &exchange->headers,
                          .route = route_of(exchange),
                          .began = exchange->began};
    http_access_echo(&access, logged, &echo);
    const http_sending sending = {.metrics = shared->metrics,
                                  .fields = echo.fields,
                                  .close = draining || exchange->body.chunked,
                                  .connection = exchange->connection,
                                  .rules = &shared->streams};
    reply = http_response_prepare(limit_streams(exchange, reply), shared->out_of_memory,
                                  &sending, &prepared);
    if (exchange->left) /* whatever became of the work: for the log */
        exchange->rejected = REJECTED_CLIENT_LEFT;
    access.rejected = http_access_reason(reply, exchange->rejected, draining);
    api_body *body = api_reply_body(reply);
    metrics_count_request(shared->metrics, access.route, api_reply_status(reply),
                          clock_now() - access.began);
    if (!exchange->left) /* else that has been counted */
        metrics_count_rejected(shared->metrics, access.rejected);
    if (body && !api_body_is_stream(body)) /* a stream counts its bytes as it is read */
        metrics_count_bytes(shared->metrics, api_body_size(body));
    if (logged)
        http_response_log(&prepared, reply, http_access_begin_line(&access, &echo, reply),
                          access.began);
    return http_response_queue(exchange->connection, reply, &prepared);
}

static api_reply *refuse_full(http_exchange *exchange)
{
    rejection reason =
        atomic_load(&exchange->shared->stopping) ? REJECTED_DRAINING : REJECTED_QUEUE_FULL;
    return reject(exchange, reason, API_FAULT_OVERLOADED,
                  "too many computations are waiting; try again");
}

/* ---- slow answers: the connection is suspended, a worker answers and resumes it ---- */

/* Answer. The price of a job may not be known: it has waited, and the result of the other job
 * may not help; or its body has not been parsed. If more than it was queued for turns out to be
 * needed, it is queued by that. */
static job_progress run_job(worker_job *job)
{
    http_exchange *exchange = (http_exchange *)job;
    bool dear = !job->waited && job->price >= WORKERS_CHEAP;
    uint64_t spend = dear ? job->price : WORKERS_CHEAP - 1;
    api_progress progress = ask(exchange, spend, &exchange->reply);
    if (progress == API_LATER) {
        job->price = exchange->price;
        if (workers_have_place(exchange->shared->workers, job->price))
            return JOB_PRICED;
        exchange->reply = refuse_full(exchange);
        return JOB_ENDED;
    }
    exchange->awaited = exchange->awaited || progress == API_BUSY;
    if (progress != API_DONE)
        return JOB_WAITS;
    if (!exchange->reply || !api_reply_reads_request(exchange->reply))
        http_upload_drop_spool(&exchange->body, &exchange->shared->spools);
    return JOB_ENDED;
}

/* Give the exchange back to its event thread, which may free it at once. */
static void end_job(worker_job *job)
{
    http_exchange *exchange = (http_exchange *)job;
    MHD_resume_connection(exchange->connection);
}

static void abandon_job(worker_job *job)
{
    http_exchange *exchange = (http_exchange *)job;
    exchange->reply = refuse_full(exchange);
    end_job(job);
}

/* The client has left: nobody needs the job any more. Runs on the thread of the departures. */
static void client_left(waiting_client *client)
{
    http_exchange *exchange =
        (http_exchange *)((char *)client - offsetof(http_exchange, client));
    exchange->left = workers_cancel(exchange->shared->workers, &exchange->job);
    if (exchange->left)
        metrics_count_rejected(exchange->shared->metrics, REJECTED_CLIENT_LEFT);
}

/* Suspend the connection and let a worker answer. `completions` was read before the api
 * answered `progress`. */
static enum MHD_Result hand_over(http_exchange *exchange, api_progress progress,
                                 uint64_t completions)
{
    http_shared *shared = exchange->shared;
    bool only_reads = strcmp(exchange->method, "GET") == 0 && !exchange->body.data;
    exchange->job = (worker_job){.completions = completions,
                                 .price = exchange->price,
                                 .key = only_reads ? exchange->target : NULL,
                                 .run = run_job,
                                 .end = end_job,
                                 .abandon = abandon_job};
    exchange->awaited = progress == API_BUSY;
    watch_enter(exchange->mark, WATCH_WORK);
    MHD_suspend_connection(exchange->connection);
    if (progress == API_BUSY)
        workers_await(shared->workers, &exchange->job);
    else if (!workers_submit(shared->workers, &exchange->job)) {
        abandon_job(&exchange->job);
        return MHD_YES;
    }
    departures_add(shared->departures, &exchange->client); /* the job may have ended already */
    return MHD_YES;
}

/* Answer a request that has been read: at once if that is quick, else by a worker. */
static enum MHD_Result answer(http_exchange *exchange)
{
    http_shared *shared = exchange->shared;
    api_reply *reply = exchange->reply;
    if (reply) {
        exchange->reply = NULL;
        return finish(exchange, reply);
    }
    if (exchange->body.too_large)
        return finish(exchange, api_fault_reply(shared->service, API_FAULT_PAYLOAD_TOO_LARGE));
    if (exchange->body.out_of_memory)
        return finish(exchange,
                      reject(exchange, REJECTED_UPLOAD_MEMORY, API_FAULT_UNAVAILABLE, NULL));
    if (exchange->body.unwritable)
        return finish(exchange,
                      reject(exchange, REJECTED_UPLOAD_MEMORY, API_FAULT_OVERLOADED,
                             "there is no room for the body in the server's spool-dir; try "
                             "again later, or with a shorter one"));
    uint64_t completions = workers_completions(shared->workers);
    exchange->arrived = api_moment(shared->service);
    api_progress progress = ask(exchange, 0, &reply);
    if (progress == API_DONE)
        return finish(exchange, reply);
    return hand_over(exchange, progress, completions);
}

/* ---- long bodies: a worker writes what has gathered, meanwhile no more is received ---- */

static job_progress write_job(worker_job *job)
{
    http_exchange *exchange = (http_exchange *)job;
    http_shared *shared = exchange->shared;
    http_upload_write(&exchange->body, &shared->spools, shared->spool_directory);
    return JOB_ENDED;
}

static void abandon_write(worker_job *job)
{
    ((http_exchange *)job)->body.unwritable = true;
    end_job(job);
}

static void write_body(http_exchange *exchange)
{
    if (exchange->body.chunked) {
        write_job(&exchange->job);
        return;
    }
    exchange->job = (worker_job){.run = write_job, .end = end_job, .abandon = abandon_write};
    MHD_suspend_connection(exchange->connection);
    if (!workers_submit(exchange->shared->workers, &exchange->job))
        abandon_write(&exchange->job);
}

/* ---- reading the request ---- */

static waiting_client client_of(struct MHD_Connection *connection, const char *version)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return (waiting_client){.fd = info ? info->connect_fd : -1,
                            .takes_interim = strcmp(version, MHD_HTTP_VERSION_1_1) == 0,
                            .left = client_left};
}

/* Complete the headers, and take the host of a target in absolute form, which replaces that of
 * the Host field (RFC 9112, section 3.2.2). False if memory ran out. */
static bool complete_headers(http_exchange *exchange)
{
    if (!http_headers_join(&exchange->headers, exchange->connection) ||
        !http_take_host(exchange->target, &exchange->host))
        return false;
    if (exchange->host)
        exchange->headers.values[API_HEADER_HOST] = exchange->host;
    return true;
}

/* Let the api judge the head. */
static api_reply *judge(http_exchange *exchange)
{
    api_service *service = exchange->shared->service;
    const api_request request = request_of(exchange, 0);
    api_head head;
    if (!complete_headers(exchange))
        return api_reply_ref(exchange->shared->out_of_memory);
    api_reply *refusal = api_judge_head(service, &request, &head);
    exchange->judged = true;
    exchange->route = head.route;
    exchange->body.limit = head.body_limit;
    exchange->body.spooled = head.spooled;
    return refusal;
}

/* Judge the head: first its framing, since the length of the body depends on that. False: the
 * answer must not wait for the body. */
static bool admit(http_exchange *exchange, const http_head *head)
{
    http_shared *shared = exchange->shared;
    http_upload *body = &exchange->body;
    exchange->reply = http_admit(shared->service, exchange->connection, head, exchange->crowded,
                                 &exchange->headers, &exchange->rejected);
    if (exchange->reply)
        return false;
    exchange->reply = judge(exchange);
    body->refused = exchange->reply != NULL;
    return http_upload_announce(body, &exchange->headers,
                                ANNOUNCED_DISCARD_MAX + shared->settings->body_bytes);
}

/* Take a part of the body. False: close the connection without an answer. */
static bool take_part(http_exchange *exchange, const char *part, size_t size)
{
    watch_receive(exchange->mark, size);
    http_upload_take(&exchange->body, &exchange->shared->uploads, part, size);
    if (exchange->body.discarded > CHUNKED_DISCARD_MAX ||
        http_upload_is_cut_off(&exchange->body, exchange->connection))
        return false;
    if (http_upload_is_full(&exchange->body))
        write_body(exchange); /* from here on the exchange may be the worker's */
    return true;
}

/* A call of the handler, which began at `now`. */
static enum MHD_Result handle(http_exchange *exchange, const http_head *head,
                              struct MHD_Connection *connection, uint64_t now,
                              const char *upload, size_t *upload_size)
{
    if (!exchange->head_seen) {
        exchange->head_seen = true;
        exchange->connection = connection;
        exchange->began = now;
        exchange->method = head->method;
        exchange->client = client_of(connection, head->version);
        watch_enter(exchange->mark, WATCH_BODY);
        if (admit(exchange, head))
            return MHD_YES;
        return answer(exchange); /* closes the connection, since this is the first call */
    }
    if (*upload_size > 0) {
        size_t size = *upload_size;
        *upload_size = 0;
        return take_part(exchange, upload, size) ? MHD_YES : MHD_NO;
    }
    return answer(exchange);
}

enum MHD_Result http_exchange_handle(void *cls, struct MHD_Connection *connection,
                                     const char *url, const char *method, const char *version,
                                     const char *upload, size_t *upload_size, void **context)
{
    http_exchange *exchange = *context;
    http_shared *shared = cls;
    if (!exchange)
        return http_answer_starved(shared, connection, method, url);
    uint64_t now = clock_now();
    const http_head head = {
        .method = method, .url = url, .version = version, .target = exchange->target};
    bool has_body = strcmp(method, "GET") != 0; /* small answers to GETs bear no system call */
    uint64_t work = has_body ? clock_work() : 0;
    enum MHD_Result result = handle(exchange, &head, connection, now, upload, upload_size);
    metrics_count_callback(shared->metrics, clock_now() - now);
    if (has_body)
        metrics_count_callback_work(shared->metrics, clock_work() - work);
    return result;
}
