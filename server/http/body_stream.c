/* Quick streams are computed by the event thread as libmicrohttpd asks for bytes. Of a slow one
 * a worker computes the next bytes into a buffer, while the connection is suspended; then the
 * event thread sends them. A worker's turn takes some milliseconds, and its price is what the
 * last one took, so that the queue treats streams as it treats other work of that length. */
#include "http/body_stream.h"

#include "clock.h"

#include <stdlib.h>
#include <string.h>

/* A slow stream holds these bytes and a buffer of libmicrohttpd's of the same size. */
#define AHEAD_BYTES (API_READ_MAX / 2)
#define TURN_TIME   (4 * CLOCK_SECOND / 1000) /* after which a worker's turn ends */

/* What a turn costs at most in the queue while it takes less than 32 ms: cheap, as otherwise
 * streams would stand still behind dear tables. */
#define CHEAP_TURN (4 * WORKERS_CHEAP)

struct body_stream {
    worker_job job; /* first: a job is cast to its stream */
    api_body *body;
    server_metrics *metrics;
    const stream_rules *rules;
    struct MHD_Connection *connection;
    log_line *line;        /* written when the stream ends; or NULL */
    uint64_t began, bytes; /* bytes: sent so far */
    uint64_t used, turn;   /* CPU time of computing, and of the last turn, in nanoseconds */
    bool broken;           /* no more is computed */
    bool whole;            /* the reader has come to the end */
    /* of a slow one: */
    char *ahead; /* bytes [position, position + held) of the body; NULL: it is quick */
    uint64_t position;
    size_t held;
    bool complete; /* the body has no more */
};

void body_stream_end_line(log_line *line, uint64_t bytes, uint64_t began, const char *cut)
{
    if (!line)
        return;
    log_text(line, "cut", cut);
    log_number(line, "bytes", bytes);
    log_seconds(line, "duration", clock_now() - began);
    log_end(line);
}

void body_stream_log(body_stream *stream, log_line *line, uint64_t began)
{
    stream->line = line;
    stream->began = began;
}

/* Whether the stream has to be broken off. */
static bool has_ended(const body_stream *stream)
{
    return stream->broken || stream->used >= stream->rules->time_limit ||
           atomic_load_explicit(&stream->rules->ended, memory_order_relaxed);
}

/* ---- slow streams ---- */

/* Compute the next bytes: a worker's turn. */
static job_progress compute_ahead(worker_job *job)
{
    body_stream *stream = (body_stream *)job;
    const uint64_t began = clock_work(), before = stream->used;
    size_t size = 1;
    stream->turn = 0;
    while (size > 0 && stream->held < AHEAD_BYTES && stream->turn < TURN_TIME &&
           !has_ended(stream)) {
        size = api_body_read(stream->body, stream->position + stream->held,
                             stream->ahead + stream->held, AHEAD_BYTES - stream->held);
        stream->held += size;
        stream->turn = clock_work() - began;
        stream->used = before + stream->turn;
    }
    stream->complete = size == 0;
    return JOB_ENDED;
}

static void resume_connection(worker_job *job)
{
    MHD_resume_connection(((body_stream *)job)->connection);
}

/* The workers stop. */
static void break_stream(worker_job *job)
{
    ((body_stream *)job)->broken = true;
    resume_connection(job);
}

/* The price of a turn of so many nanoseconds, in multiply-adds of 0.4 ns. */
static uint64_t estimate_price(uint64_t time)
{
    const uint64_t price = time / 2 * 5;
    return price < CHEAP_TURN && price >= WORKERS_CHEAP ? WORKERS_CHEAP - 1 : price;
}

/* Suspend the connection and let a worker compute the next bytes. */
static ssize_t await_bytes(body_stream *stream)
{
    stream->job = (worker_job){.price = estimate_price(stream->turn),
                               .run = compute_ahead,
                               .end = resume_connection,
                               .abandon = break_stream};
    MHD_suspend_connection(stream->connection);
    if (!workers_continue(stream->rules->workers, &stream->job))
        break_stream(&stream->job);
    return 0; /* the stream may be the worker's from here on */
}

/* Take bytes that have been computed. */
static size_t copy_computed_bytes(body_stream *stream, uint64_t position, char *buffer,
                                  size_t room)
{
    const size_t taken = (size_t)(position - stream->position), left = stream->held - taken;
    const size_t size = left < room ? left : room;
    memcpy(buffer, stream->ahead + taken, size);
    return size;
}

/* ---- a libmicrohttpd's reader ---- */

static ssize_t read_slow(body_stream *stream, uint64_t position, char *buffer, size_t room)
{
    const size_t size = copy_computed_bytes(stream, position, buffer, room);
    if (size > 0)
        return (ssize_t)size;
    if (stream->complete)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (has_ended(stream))
        return MHD_CONTENT_READER_END_WITH_ERROR;
    stream->position = position;
    stream->held = 0;
    return await_bytes(stream);
}

static ssize_t read_quick(body_stream *stream, uint64_t position, char *buffer, size_t room)
{
    if (has_ended(stream))
        return MHD_CONTENT_READER_END_WITH_ERROR;
    const uint64_t began = clock_work();
    const size_t size = api_body_read(stream->body, position, buffer, room);
    stream->used += clock_work() - began;
    return size > 0 ? (ssize_t)size : MHD_CONTENT_READER_END_OF_STREAM;
}

static ssize_t read_stream(void *cls, uint64_t position, char *buffer, size_t room)
{
    body_stream *stream = cls;
    server_metrics *metrics = stream->metrics;
    const uint64_t began = clock_now(), work = clock_work();
    const ssize_t size =
        (stream->ahead ? read_slow : read_quick)(stream, position, buffer, room);
    if (size == MHD_CONTENT_READER_END_OF_STREAM)
        stream->whole = true;
    if (size > 0) { /* else the stream may be a worker's by now */
        metrics_count_bytes(metrics, (uint64_t)size);
        stream->bytes += (uint64_t)size;
    }
    metrics_count_callback(metrics, clock_now() - began);
    metrics_count_callback_work(metrics, clock_work() - work);
    return size;
}

/* ---- the end of a stream ---- */

static void release(body_stream *stream)
{
    api_body_unref(stream->body);
    metrics_count_stream(stream->metrics, -1);
    free(stream->ahead);
    free(stream);
}

static void release_by_worker(worker_job *job)
{
    release((body_stream *)job);
}

static job_progress do_nothing(worker_job *job)
{
    (void)job;
    return JOB_ENDED;
}

/* What has cut the answer off; NULL: it is whole. */
static const char *find_cut(const body_stream *stream)
{
    if (stream->whole || stream->bytes == api_body_size(stream->body))
        return NULL;
    if (stream->broken || atomic_load_explicit(&stream->rules->ended, memory_order_relaxed))
        return "stop";
    return has_ended(stream) ? "compute-seconds" : "client";
}

/* A libmicrohttpd's callback. What a worker frees is that thread's from here on. */
static void free_stream(void *cls)
{
    body_stream *stream = cls;
    server_metrics *metrics = stream->metrics;
    const uint64_t began = clock_now(), work = clock_work();
    body_stream_end_line(stream->line, stream->bytes, stream->began, find_cut(stream));
    stream->job =
        (worker_job){.run = do_nothing, .end = release_by_worker, .abandon = release_by_worker};
    if (!api_body_is_large(stream->body) ||
        !workers_continue(stream->rules->workers, &stream->job))
        release(stream);
    metrics_count_callback(metrics, clock_now() - began);
    metrics_count_callback_work(metrics, clock_work() - work);
}

/* The api's length as libmicrohttpd's. */
static uint64_t mhd_size(uint64_t length)
{
    return length == API_LENGTH_UNKNOWN ? MHD_SIZE_UNKNOWN : length;
}

struct MHD_Response *body_stream_response(api_body *body, server_metrics *metrics,
                                          const stream_rules *rules,
                                          struct MHD_Connection *connection,
                                          body_stream **ret_stream)
{
    const bool slow = api_body_is_slow(body);
    body_stream *stream = malloc(sizeof *stream);
    if (!stream)
        return NULL;
    *stream = (body_stream){.body = api_body_ref(body),
                            .metrics = metrics,
                            .rules = rules,
                            .connection = connection,
                            .ahead = slow ? malloc(AHEAD_BYTES) : NULL};
    metrics_count_stream(metrics, 1);
    struct MHD_Response *response = NULL;
    if (stream->ahead || !slow)
        response = MHD_create_response_from_callback(mhd_size(api_body_size(body)),
                                                     slow ? AHEAD_BYTES : API_READ_MAX,
                                                     read_stream, stream, free_stream);
    if (!response)
        release(stream);
    *ret_stream = response ? stream : NULL;
    return response;
}
