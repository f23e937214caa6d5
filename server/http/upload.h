/* The body of a request while it arrives. */
#ifndef HTTP_UPLOAD_H
#define HTTP_UPLOAD_H

#include "api.h"
#include "http/headers.h"
#include "http/spool.h"

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The memory of all bodies that are being received; or the room on disk. */
typedef struct http_upload_budget {
    atomic_ullong used;
    uint64_t limit;
    api_memory *memory; /* in which bytes are reserved as well; NULL: in none */
    atomic_uint files;  /* that are open */
    unsigned most_files;
} http_upload_budget;

typedef struct http_upload {
    char *data;            /* from malloc: the whole body, or what follows the spool */
    size_t size, capacity; /* of `data` */
    bool spooled;          /* a long body goes to disk; set with `limit` */
    http_spool spool;
    bool unwritable;                        /* it cannot go there: as out_of_memory */
    uint64_t limit;                         /* the longest body that is accepted */
    uint64_t announced;                     /* Content-Length; 0 if the request has none */
    uint64_t discarded;                     /* bytes received and not kept */
    bool refused, too_large, out_of_memory; /* if any is set, further bytes are discarded */
    bool chunked; /* so it is uncertain where the body ends, and the connection must close */
} http_upload;

/* Read the announced length from the headers; `limit` and `refused` must be set. False: answer
 * now and do not read the body. That is so for a body that will be discarded if the client
 * waits for "100 Continue" before it sends the body, or the length is above `discard_max`. */
bool http_upload_announce(http_upload *upload, const http_headers *headers,
                          uint64_t discard_max);

/* The bytes of the body that have been received and kept. */
uint64_t http_upload_size(const http_upload *upload);

/* Whether so much of a spooled body has gathered that it should be written before more is
 * received; and write it, on a worker's thread. */
bool http_upload_is_full(const http_upload *upload);
void http_upload_write(http_upload *upload, http_upload_budget *disk, const char *directory);

/* Copy bytes of a spooled body; false if they are not there or cannot be read. */
bool http_upload_read(const http_upload *upload, uint64_t offset, void *dst, size_t size);

/* Append received bytes, or count them as discarded. */
void http_upload_take(http_upload *upload, http_upload_budget *budget, const char *data,
                      size_t size);

/* Whether the client has closed its side before it has sent the whole body. libmicrohttpd may
 * miss this: it reads until it gets less than it has room for, and if the end of the stream has
 * arrived by then, it notices that only when the connection times out. */
bool http_upload_is_truncated(const http_upload *upload, struct MHD_Connection *connection);

/* Give a spooled body's room on disk back; the body cannot be read any more. */
void http_upload_drop_spool(http_upload *upload, http_upload_budget *disk);

/* Free the data, unless http_upload.data was taken over, and return memory and room to their
 * budgets. */
void http_upload_done(http_upload *upload, http_upload_budget *budget,
                      http_upload_budget *disk);

#endif
