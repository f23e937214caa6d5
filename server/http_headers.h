/* Headers of a request. */
#ifndef HTTP_HEADERS_H
#define HTTP_HEADERS_H

#include <microhttpd.h>

/* Headers that came in several lines, joined. */
typedef struct http_joined http_joined;
void http_joined_free(http_joined *joined);

/* A header's value, NULL if absent; several lines of one name are one list (RFC 9110,
 * section 5.2), which is added to `joined` and lives as long as that. */
const char *http_find_header(struct MHD_Connection *connection, const char *name,
                             http_joined **joined);

#endif
