/* A streamed body while it is sent. */
#ifndef HTTP_BODY_STREAM_H
#define HTTP_BODY_STREAM_H

#include "api.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "work/workers.h"

#include <microhttpd.h>
#include <stdatomic.h>

/* What holds for all streams of a server. */
typedef struct stream_rules {
    worker_set *workers;
    uint64_t time_limit; /* nanoseconds that a stream may compute; the client's time is free */
    atomic_bool ended;   /* all streams are broken off */
} stream_rules;

typedef struct body_stream body_stream;

/* A response that computes the body while the client reads it, and the stream, which the
 * response owns. A body of unknown size is sent in chunks, or to an HTTP/1.0 client until the
 * connection closes. Where a read may take long, a worker makes it. NULL if memory ran out. */
struct MHD_Response *body_stream_response(api_body *body, server_metrics *metrics,
                                          const stream_rules *rules,
                                          struct MHD_Connection *connection,
                                          body_stream **ret_stream);

/* Let the stream end the line of the access log of a request that began at `began`; the line
 * may be NULL. */
void body_stream_log(body_stream *stream, log_line *line, uint64_t began);

/* Write the line of the access log, which may be NULL; `cut` is what cut the answer off, or
 * NULL. */
void body_stream_end_line(log_line *line, uint64_t bytes, uint64_t began, const char *cut);

#endif
