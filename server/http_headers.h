/* Headers of a request. */
#ifndef HTTP_HEADERS_H
#define HTTP_HEADERS_H

#include <microhttpd.h>
#include <stdbool.h>

/* Headers that came in several lines, joined. */
typedef struct http_joined http_joined;

/* What is read of a request's headers: by the api, and the last two for the access log. */
#define HTTP_HEADERS_READ 13
typedef enum http_header_read {
    HTTP_X_REQUEST_ID = 11,
    HTTP_TRACEPARENT,
} http_header_read;

/* One request's; zeros to begin with. */
typedef struct http_headers {
    const char *values[HTTP_HEADERS_READ]; /* NULL where absent */
    http_joined *joined;
    bool found;
} http_headers;

/* Find all of them in one walk, unless that was done. Several lines of one name are one list
 * (RFC 9110, section 5.2), which lives as long as `joined`. False if memory ran out for one. */
bool http_headers_find(http_headers *headers, struct MHD_Connection *connection);

/* The value of one of them by its name, once they were found. */
const char *http_headers_value(const http_headers *headers, const char *name);

void http_headers_done(http_headers *headers);

#endif
