/* Headers of a request. */
#ifndef HTTP_HEADERS_H
#define HTTP_HEADERS_H

#include <microhttpd.h>
#include <stdbool.h>

/* Headers that came in several lines, joined. */
typedef struct http_joined http_joined;
void http_joined_free(http_joined *joined);

/* The values of some headers by name, NULL where absent, found in one walk through all headers.
 * Several lines of one name are one list (RFC 9110, section 5.2), which is added to `joined`
 * and lives as long as that. False if memory ran out. */
bool http_find_headers(struct MHD_Connection *connection, const char *const *names,
                       size_t count, const char **ret_values, http_joined **joined);

#endif
