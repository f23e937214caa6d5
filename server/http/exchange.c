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
#include "http/answer.h"
#include "http/framing.h"
#include "http/guard.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of a refused body that are read and discarded. */
#define ANNOUNCED_DISCARD_MAX (16 * 1024 * 1024)  /* if it announces its length */
#define CHUNKED_DISCARD_MAX   (256 * 1024 * 1024) /* if it is chunked */

/* ---- begin and end ---- */

void *http_exchange_begin(void *cls, const char *target, struct MHD_Connection *connection)
{
    size_t size = target ? strlen(target) : 0;
    http_exchange *exchange = malloc(sizeof *exchange + size + 1);
    if (!exchange)
        return NULL;
    *exchange = (http_exchange){.shared = cls,
                                .connection = connection,
                                .mark = http_connections_mark(connection),
                                .body.spool.fd = -1};
    if (exchange->mark)
        exchange->mark->request = exchange;
    if (size > 0)
        memcpy(exchange->target, target, size);
    exchange->target[size] = '\0';
    char *query = target ? strchr((char *)(uintptr_t)target, '?') : NULL;
    if (query)
        query[1] = '\0'; /* hide the query; `target` above has it */
    metrics_count_under_way(exchange->shared->metrics, 1);
    return exchange;
}

void http_exchange_end(void *cls, struct MHD_Connection *connection, void **context,
                       enum MHD_RequestTerminationCode code)
{
    (void)cls, (void)connection;
    http_exchange *exchange = *context;
    if (!exchange)
        return;
    const bool stops = atomic_load_explicit(&exchange->shared->stopping, memory_order_relaxed);
    body_stream_end_line(exchange->line, exchange->line_bytes, exchange->began,
                         code == MHD_REQUEST_TERMINATED_COMPLETED_OK ? NULL
                         : stops                                     ? "stop"
                                                                     : "client");
    disconnects_remove(exchange->shared->disconnects, &exchange->client);
    watch_enter(exchange->mark, WATCH_HEAD);
    if (exchange->mark)
        exchange->mark->request = NULL;
    metrics_count_under_way(exchange->shared->metrics, -1);
    http_headers_done(&exchange->headers);
    api_reply_unref(exchange->reply);
    http_upload_done(&exchange->body, &exchange->shared->uploads, &exchange->shared->spools);
    free(exchange->host);
    free(exchange);
    *context = NULL;
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
    http_exchange_end_job(job);
}

static void write_body(http_exchange *exchange)
{
    if (exchange->body.chunked) {
        write_job(&exchange->job);
        return;
    }
    exchange->job =
        (worker_job){.run = write_job, .end = http_exchange_end_job, .abandon = abandon_write};
    MHD_suspend_connection(exchange->connection);
    if (!workers_submit(exchange->shared->workers, &exchange->job))
        abandon_write(&exchange->job);
}

/* ---- reading the request ---- */

static waiting_client find_client(struct MHD_Connection *connection, const char *version)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return (waiting_client){.fd = info ? info->connect_fd : -1,
                            .takes_interim = strcmp(version, MHD_HTTP_VERSION_1_1) == 0};
}

/* Complete the headers, and take the host of a target in absolute form, which replaces that of
 * the Host field (RFC 9112, section 3.2.2). False if memory ran out. */
static bool complete_headers(http_exchange *exchange)
{
    if (!http_headers_join(&exchange->headers, exchange->connection) ||
        !guard_take_host(exchange->target, &exchange->host))
        return false;
    if (exchange->host)
        exchange->headers.values[API_HEADER_HOST] = exchange->host;
    return true;
}

/* Let the api judge the head. */
static api_reply *judge_head(http_exchange *exchange)
{
    api_service *service = exchange->shared->service;
    const api_request request = http_exchange_request(exchange, 0);
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
static bool admit_request(http_exchange *exchange, const http_head *head)
{
    http_shared *shared = exchange->shared;
    http_upload *body = &exchange->body;
    exchange->reply =
        http_admit(shared->service, exchange->connection, head, &exchange->headers);
    if (exchange->reply) {
        exchange->rejected = REJECTED_FRAMING;
        return false;
    }
    exchange->reply = judge_head(exchange);
    body->refused = exchange->reply != NULL;
    return http_upload_announce(body, &exchange->headers,
                                ANNOUNCED_DISCARD_MAX + shared->settings->body_bytes);
}

/* Take a part of the body. False: close the connection without an answer. */
static bool receive_body_part(http_exchange *exchange, const char *part, size_t size)
{
    watch_receive(exchange->mark, size);
    http_upload_take(&exchange->body, &exchange->shared->uploads, part, size);
    if (exchange->body.discarded > CHUNKED_DISCARD_MAX ||
        http_upload_is_truncated(&exchange->body, exchange->connection))
        return false;
    if (http_upload_is_full(&exchange->body))
        write_body(exchange); /* from here on the exchange may be the worker's */
    return true;
}

/* A call of the handler, which began at `now`. */
static enum MHD_Result advance_exchange(http_exchange *exchange, const http_head *head,
                                        struct MHD_Connection *connection, uint64_t now,
                                        const char *upload, size_t *upload_size)
{
    if (!exchange->head_seen) {
        exchange->head_seen = true;
        exchange->began = now;
        exchange->method = head->method;
        exchange->client = find_client(connection, head->version);
        watch_enter(exchange->mark, WATCH_BODY);
        if (admit_request(exchange, head))
            return MHD_YES;
        return http_exchange_answer(
            exchange); /* closes the connection, since this is the first call */
    }
    if (*upload_size > 0) {
        size_t size = *upload_size;
        *upload_size = 0;
        return receive_body_part(exchange, upload, size) ? MHD_YES : MHD_NO;
    }
    return http_exchange_answer(exchange);
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
    enum MHD_Result result =
        advance_exchange(exchange, &head, connection, now, upload, upload_size);
    metrics_count_callback(shared->metrics, clock_now() - now);
    if (has_body)
        metrics_count_callback_work(shared->metrics, clock_work() - work);
    return result;
}
