#include "http/own_pages.h"

#include "clock.h"
#include "http/framing.h"
#include "http/guard.h"
#include "http/overload.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define DRAINED ((size_t)256 * 1024) /* bytes of a refused body that are read and dropped */

/* ---- which request it is ---- */

/* The requests of this thread that may be the one that is refused. */
typedef struct suspects {
    http_exchange *whole_head;  /* its head is complete, and the handler has not seen it */
    http_exchange *with_chunks; /* one of those that send chunks */
    size_t chunked;             /* how many these are */
} suspects;

static void visit_exchange(void *context, void *request)
{
    suspects *found = context;
    http_exchange *exchange = request;
    if (exchange->refused)
        return;
    if (!exchange->head_seen) {
        if (MHD_get_connection_info(exchange->connection,
                                    MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE))
            found->whole_head = exchange;
    } else if (exchange->body.chunked && watch_find_phase(exchange->mark) == WATCH_BODY) {
        found->with_chunks = exchange;
        found->chunked++;
    }
}

/* ---- what is answered ---- */

/* What is wrong with a head that libmicrohttpd refuses. */
static api_reply *refuse_head(http_exchange *exchange)
{
    api_service *service = exchange->shared->service;
    const guard_rule rule = http_judge_fields(exchange->connection, &exchange->headers);
    return rule == GUARD_FINE ? api_fault_reply_explained(service, API_FAULT_MALFORMED,
                                                          "the head cannot be read")
                              : guard_refuse(service, rule);
}

static api_reply *refuse_chunks(const http_exchange *exchange)
{
    return api_fault_reply_explained(
        exchange->shared->service, API_FAULT_MALFORMED,
        "a chunk of the body must be its size in hexadecimal digits, perhaps an extension of "
        "some kilobytes, CR LF, its bytes, and CR LF");
}

/* Send a response, and let nothing follow it. What the client has sent is read, since a socket
 * that is closed before that resets the connection, and the answer may be lost. */
static void send_last(struct MHD_Connection *connection, const char *response)
{
    char dropped[4096];
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (!info)
        return;
    (void)send(info->connect_fd, response, strlen(response), MSG_NOSIGNAL | MSG_DONTWAIT);
    shutdown(info->connect_fd, SHUT_WR);
    for (size_t read = 0; read < DRAINED; read += sizeof dropped)
        if (recv(info->connect_fd, dropped, sizeof dropped, MSG_DONTWAIT) <= 0)
            break;
}

void own_pages_log(void *cls, const char *format, va_list arguments)
{
    suspects found = {.chunked = 0};
    if (!strstr(format, "HTTP response code is %u"))
        return; /* a line of another kind */
    const unsigned status = va_arg(arguments, unsigned);
    const char *page = va_arg(arguments, const char *);
    http_connections_visit_own(((const own_pages *)cls)->connections, visit_exchange, &found);
    const bool of_chunks = !found.whole_head && found.chunked == 1 &&
                           (status == MHD_HTTP_INTERNAL_SERVER_ERROR || strstr(page, "chunk"));
    http_exchange *exchange = of_chunks ? found.with_chunks : found.whole_head;
    if (!exchange)
        return;
    /* libmicrohttpd 1.0.1 gives this status to the extension of a chunk, too */
    const bool is_too_large =
        status == MHD_HTTP_CONTENT_TOO_LARGE && !strstr(page, "chunk size line");
    api_reply *reply =
        is_too_large ? api_fault_reply(exchange->shared->service, API_FAULT_PAYLOAD_TOO_LARGE)
        : of_chunks  ? refuse_chunks(exchange)
                     : refuse_head(exchange);
    char *response = http_exchange_refuse(exchange, reply);
    if (response)
        send_last(exchange->connection, response);
    free(response);
}
