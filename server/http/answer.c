/* Answering: the api is asked on the event thread or by a worker, and its reply is counted,
 * logged and queued. */
#include "http/answer.h"

#include "clock.h"
#include "http/overload.h"
#include "http/response.h"

#include <stddef.h>
#include <string.h>

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

api_request http_exchange_request(http_exchange *exchange, uint64_t spend)
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

static api_progress ask_api(http_exchange *exchange, uint64_t spend, api_reply **ret_reply)
{
    const api_request request = http_exchange_request(exchange, spend);
    return api_handle(exchange->shared->service, &request, ret_reply);
}

/* ---- replies ---- */

/* A reply that turns the request away; metrics and the access log state the reason. */
static api_reply *reject_request(http_exchange *exchange, rejection reason, api_fault fault,
                                 const char *detail)
{
    exchange->rejected = reason;
    return api_fault_reply_explained(exchange->shared->service, fault, detail);
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
    return reject_request(exchange, REJECTED_STREAM_LIMIT, API_FAULT_OVERLOADED,
                          "too many streams are under way; try again");
}

static size_t find_route(const http_exchange *exchange)
{
    return exchange->judged ? exchange->route
                            : api_route_find(exchange->method, exchange->target);
}

/* Begin to send: what is reported of the request, with what its response repeats. */
static http_access begin_sending(http_exchange *exchange, trace_echo *ret_echo)
{
    http_shared *shared = exchange->shared;
    disconnects_remove(shared->disconnects, &exchange->client);
    watch_enter(exchange->mark, WATCH_SEND);
    http_headers_join(&exchange->headers, exchange->connection);
    trace_choose_echo(exchange->headers.values[HTTP_X_REQUEST_ID],
                      exchange->headers.values[HTTP_TRACEPARENT], shared->settings->access_log,
                      ret_echo);
    return (http_access){.connection = exchange->connection,
                         .method = exchange->method,
                         .target = exchange->target,
                         .headers = &exchange->headers,
                         .route = find_route(exchange),
                         .began = exchange->began};
}

static uint64_t held_bytes(const api_reply *reply)
{
    const api_body *body = api_reply_body(reply);
    return body && !api_body_is_stream(body) ? api_body_size(body) : 0;
}

/* Count a reply, and find out why the request is turned away, if it is. */
static void count_reply(http_exchange *exchange, const api_reply *reply, http_access *access)
{
    http_shared *shared = exchange->shared;
    if (exchange->left) /* whatever became of the work: for the log */
        exchange->rejected = REJECTED_CLIENT_LEFT;
    access->rejected =
        http_access_reason(reply, exchange->rejected,
                           atomic_load_explicit(&shared->draining, memory_order_relaxed));
    metrics_count_request(shared->metrics, access->route, api_reply_status(reply),
                          clock_now() - access->began);
    if (!exchange->left) /* else that has been counted */
        metrics_count_rejected(shared->metrics, access->rejected);
    metrics_count_bytes(shared->metrics, held_bytes(reply)); /* a stream counts as it is read */
}

#define LATE_LINE (256 * 1024) /* bytes of an answer that may be cut while it is sent */

/* Log a reply: at once, or when it has been sent where that may take a while. */
static void log_reply(http_exchange *exchange, const http_access *access,
                      const trace_echo *echo, const api_reply *reply, body_stream *stream)
{
    if (!exchange->shared->settings->access_log)
        return;
    log_line *line = http_access_begin_line(access, echo, reply);
    const uint64_t bytes = held_bytes(reply);
    if (stream)
        body_stream_log(stream, line, access->began);
    else if (bytes < LATE_LINE || exchange->refused)
        body_stream_end_line(line, bytes, access->began, NULL);
    else {
        exchange->line = line;
        exchange->line_bytes = bytes;
    }
}

/* Count, log and queue a reply. */
static enum MHD_Result send_reply(http_exchange *exchange, api_reply *reply)
{
    http_shared *shared = exchange->shared;
    trace_echo echo;
    http_response prepared;
    http_access access = begin_sending(exchange, &echo);
    const http_sending sending = {
        .metrics = shared->metrics,
        .fields = echo.fields,
        .close = atomic_load_explicit(&shared->draining, memory_order_relaxed) ||
                 exchange->body.chunked,
        .connection = exchange->connection,
        .rules = &shared->streams};
    reply = http_response_prepare(limit_streams(exchange, reply), shared->out_of_memory,
                                  &sending, &prepared);
    count_reply(exchange, reply, &access);
    log_reply(exchange, &access, &echo, reply, prepared.stream);
    return http_response_queue(exchange->connection, reply, &prepared);
}

char *http_exchange_refuse(http_exchange *exchange, api_reply *reply)
{
    trace_echo echo;
    exchange->refused = true;
    exchange->rejected = REJECTED_FRAMING;
    if (!exchange->head_seen) {
        exchange->began = clock_now();
        exchange->method = "-"; /* it is not known yet */
    }
    http_access access = begin_sending(exchange, &echo);
    char *response = overload_write_response(reply, echo.fields);
    count_reply(exchange, reply, &access);
    log_reply(exchange, &access, &echo, reply, NULL);
    api_reply_unref(reply);
    return response;
}

static api_reply *refuse_full_queue(http_exchange *exchange)
{
    rejection reason =
        atomic_load(&exchange->shared->stopping) ? REJECTED_DRAINING : REJECTED_QUEUE_FULL;
    return reject_request(exchange, reason, API_FAULT_OVERLOADED,
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
    api_progress progress = ask_api(exchange, spend, &exchange->reply);
    if (progress == API_LATER) {
        job->price = exchange->price;
        if (workers_have_place(exchange->shared->workers, job->price))
            return JOB_PRICED;
        exchange->reply = refuse_full_queue(exchange);
        return JOB_ENDED;
    }
    exchange->awaited = exchange->awaited || progress == API_BUSY;
    if (progress != API_DONE)
        return JOB_WAITS;
    if (!exchange->reply || !api_reply_reads_request(exchange->reply))
        http_upload_drop_spool(&exchange->body, &exchange->shared->spools);
    return JOB_ENDED;
}

void http_exchange_end_job(worker_job *job)
{
    http_exchange *exchange = (http_exchange *)job;
    MHD_resume_connection(exchange->connection);
}

static void abandon_job(worker_job *job)
{
    http_exchange *exchange = (http_exchange *)job;
    exchange->reply = refuse_full_queue(exchange);
    http_exchange_end_job(job);
}

/* The client has left: nobody needs the job any more. Runs on the thread of the disconnects. */
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
static enum MHD_Result suspend_for_worker(http_exchange *exchange, api_progress progress,
                                          uint64_t completions)
{
    http_shared *shared = exchange->shared;
    bool only_reads = strcmp(exchange->method, "GET") == 0 && !exchange->body.data;
    exchange->job = (worker_job){.completions = completions,
                                 .price = exchange->price,
                                 .key = only_reads ? exchange->target : NULL,
                                 .run = run_job,
                                 .end = http_exchange_end_job,
                                 .abandon = abandon_job};
    exchange->awaited = progress == API_BUSY;
    exchange->client.left = client_left;
    watch_enter(exchange->mark, WATCH_WORK);
    MHD_suspend_connection(exchange->connection);
    if (progress == API_BUSY)
        workers_await(shared->workers, &exchange->job);
    else if (!workers_submit(shared->workers, &exchange->job)) {
        abandon_job(&exchange->job);
        return MHD_YES;
    }
    disconnects_add(shared->disconnects,
                    &exchange->client); /* the job may have ended already */
    return MHD_YES;
}

enum MHD_Result http_exchange_answer(http_exchange *exchange)
{
    http_shared *shared = exchange->shared;
    api_reply *reply = exchange->reply;
    if (reply) {
        exchange->reply = NULL;
        return send_reply(exchange, reply);
    }
    if (exchange->body.too_large)
        return send_reply(exchange,
                          api_fault_reply(shared->service, API_FAULT_PAYLOAD_TOO_LARGE));
    if (exchange->body.out_of_memory)
        return send_reply(exchange, reject_request(exchange, REJECTED_UPLOAD_MEMORY,
                                                   API_FAULT_UNAVAILABLE, NULL));
    if (exchange->body.unwritable)
        return send_reply(
            exchange,
            reject_request(exchange, REJECTED_UPLOAD_MEMORY, API_FAULT_OVERLOADED,
                           "there is no room for the body in the server's spool-dir; try "
                           "again later, or with a shorter one"));
    uint64_t completions = workers_completions(shared->workers);
    exchange->arrived = api_moment(shared->service);
    api_progress progress = ask_api(exchange, 0, &reply);
    if (progress == API_DONE)
        return send_reply(exchange, reply);
    return suspend_for_worker(exchange, progress, completions);
}
