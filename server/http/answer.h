/* Answering a request whose head, or the whole of which, has been read: at once, or by a
 * worker. */
#ifndef HTTP_ANSWER_H
#define HTTP_ANSWER_H

#include "http/access.h"
#include "http/connections.h"
#include "http/headers.h"
#include "http/shared.h"
#include "http/upload.h"

#include <microhttpd.h>

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
    size_t route;     /* by api_route_find, once `judged` is set */
    api_reply *reply; /* from a worker or the judgement of the head; not yet queued */
    rejection rejected;
    char *host; /* of a target in absolute form, else NULL */
    http_upload body;
    log_line *line;      /* written when the answer has been sent; or NULL */
    uint64_t line_bytes; /* of that answer */
    bool refused;        /* in place of libmicrohttpd */
    bool head_seen;      /* the handler's first call has been made */
    bool judged;         /* the api has judged the head */
    bool awaited;        /* the api has answered API_BUSY */
    bool left;      /* the client did, while it waited; set before disconnects_remove returns */
    uint64_t price; /* of the work, as the api says; 0: unknown */
    char target[];
} http_exchange;

/* The request for the api; `spend`: the highest price of work that may begin, 0 on an event
 * thread. */
api_request http_exchange_request(http_exchange *exchange, uint64_t spend);

/* Count and log a reply to a request that libmicrohttpd itself refuses. Consumes the reply and
 * returns it as an HTTP response, from malloc; NULL if memory ran out. */
char *http_exchange_refuse(http_exchange *exchange, api_reply *reply);

/* Answer a request that has been read: at once if that is quick, else by a worker. */
enum MHD_Result http_exchange_answer(http_exchange *exchange);

/* A worker_job's `end`: gives the exchange back to its event thread, which may free it at once.
 */
void http_exchange_end_job(worker_job *job);

#endif
