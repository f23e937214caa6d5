/* The body of a request as it arrives. */
#ifndef HTTP_UPLOAD_H
#define HTTP_UPLOAD_H

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory of all bodies that are under way. */
typedef struct http_upload_budget {
    atomic_ullong used;
    uint64_t limit;
} http_upload_budget;

typedef struct http_upload {
    char *data; /* from malloc */
    size_t size, capacity;
    uint64_t limit;     /* how long it may be */
    uint64_t announced; /* how long it is said to be, 0 if that is unknown */
    uint64_t dropped;
    bool refused, too_large, out_of_memory; /* any: what comes is dropped */
} http_upload;

/* Note what the head says of the body, when `limit` and `refused` are set. False: what is to be
 * dropped waits for our consent to be sent, or is longer than `droppable`, and must not be
 * waited for. */
bool http_upload_announce(http_upload *upload, struct MHD_Connection *connection,
                          uint64_t droppable);

/* Append what has come, or count it as dropped. */
void http_upload_take(http_upload *upload, http_upload_budget *budget, const char *data,
                      size_t size);

/* Whether the client has closed its side before it has sent what it announced. libmicrohttpd
 * does not look: it reads a socket until less comes than it has room for, and an end that was
 * there by then it learns of only when the connection's time is over. */
bool http_upload_is_cut_off(const http_upload *upload, struct MHD_Connection *connection);

/* Free the data, if it has not been handed over, and return what it took of the budget. */
void http_upload_done(http_upload *upload, http_upload_budget *budget);

#endif
