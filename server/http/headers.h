/* The header fields of a request that posenc reads. */
#ifndef HTTP_HEADERS_H
#define HTTP_HEADERS_H

#include "api.h"

#include <microhttpd.h>
#include <stdbool.h>

/* The joined value of a header that was sent in several lines. */
typedef struct http_joined http_joined;

/* The headers that are remembered of a request: those that the api reads (an api_header), two
 * for the access log, and three about the body. */
typedef enum http_header_read {
    HTTP_X_REQUEST_ID = API_HEADER_COUNT,
    HTTP_TRACEPARENT,
    HTTP_CONTENT_LENGTH,
    HTTP_EXPECT,
    HTTP_TRANSFER_ENCODING,
    HTTP_HEADERS_READ /* how many they are */
} http_header_read;

/* The headers of one request; initially all zero. */
typedef struct http_headers {
    const char *values[HTTP_HEADERS_READ]; /* NULL where absent */
    http_joined *joined;
    bool repeated; /* a name has come twice, and http_headers_join has not been called since */
} http_headers;

/* Remember a field line, if it is one of these headers. Called for every line of a head. */
void http_headers_note(http_headers *headers, const char *name, const char *value);

/* After all lines: join several lines of one name to one list (RFC 9110, section 5.2), which
 * http_headers_done frees. False if memory ran out. */
bool http_headers_join(http_headers *headers, struct MHD_Connection *connection);

void http_headers_done(http_headers *headers);

#endif
