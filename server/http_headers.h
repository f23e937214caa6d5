/* Headers of a request. */
#ifndef HTTP_HEADERS_H
#define HTTP_HEADERS_H

#include <microhttpd.h>
#include <stdbool.h>

/* Headers that came in several lines, joined. */
typedef struct http_joined http_joined;
void http_joined_free(http_joined *joined);

#define HTTP_HEADERS 11 /* that the api reads */

/* Their values, NULL where absent, found in one walk through all headers of a request. Several
 * lines of one name are one list (RFC 9110, section 5.2), which is added to `joined` and lives
 * as long as that. False if memory ran out. */
bool http_find_headers(struct MHD_Connection *connection, const char *ret_values[HTTP_HEADERS],
                       http_joined **joined);

/* The value of one of them. */
const char *http_header_of(const char *const values[HTTP_HEADERS], const char *name);

#endif
