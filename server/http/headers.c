/* Most requests need only the walk over libmicrohttpd's fields in which the guard judges them;
 * repeated fields need more. */
#include "http/headers.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NAME(identifier, name) [API_HEADER_##identifier] = (name),
static const char *const NAMES[HTTP_HEADERS_READ] = {
    [HTTP_X_REQUEST_ID] = "X-Request-Id",           [HTTP_TRACEPARENT] = "traceparent",
    [HTTP_CONTENT_LENGTH] = "Content-Length",       [HTTP_EXPECT] = "Expect",
    [HTTP_TRANSFER_ENCODING] = "Transfer-Encoding", API_REQUEST_HEADERS(NAME)};
#undef NAME

struct http_joined {
    struct http_joined *next;
    char text[];
};

typedef struct header_search {
    const char *name, *first; /* first: the value of the first line */
    size_t name_size, lines, bytes;
    char *end; /* where the second pass appends; NULL in the first */
} header_search;

static enum MHD_Result visit_header(void *cls, enum MHD_ValueKind kind, const char *name,
                                    size_t name_size, const char *value, size_t length)
{
    (void)kind;
    header_search *search = cls;
    if (name_size != search->name_size || strcasecmp(name, search->name) != 0 || !value)
        return MHD_YES;
    if (search->end) {
        if (search->lines > 0) {
            memcpy(search->end, ", ", 2);
            search->end += 2;
        }
        memcpy(search->end, value, length + 1);
        search->end += length;
    }
    if (search->lines++ == 0)
        search->first = value;
    search->bytes += length + 2;
    return MHD_YES;
}

/* Find one header. Its lines are counted and measured in a first pass; if there are several, a
 * second pass joins them. False if memory ran out. */
static bool find_header(struct MHD_Connection *connection, const char *name,
                        const char **ret_value, http_joined **joined)
{
    header_search search = {.name = name, .name_size = strlen(name)};
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, visit_header, &search);
    *ret_value = search.first;
    if (search.lines <= 1)
        return true;
    http_joined *all = malloc(sizeof *all + search.bytes + 1);
    if (!all)
        return false;
    search = (header_search){.name = name, .name_size = strlen(name), .end = all->text};
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, visit_header, &search);
    all->next = *joined;
    *joined = all;
    *ret_value = all->text;
    return true;
}

/* ---- all headers ---- */

void http_headers_note(http_headers *headers, const char *name, const char *value)
{
    for (size_t i = 0; i < HTTP_HEADERS_READ; i++)
        /* most names differ in their first letter, which is compared in lower case */
        if ((*name | 0x20) == (*NAMES[i] | 0x20) && strcasecmp(name, NAMES[i]) == 0) {
            headers->repeated = headers->repeated || headers->values[i];
            headers->values[i] = value;
            break;
        }
}

bool http_headers_join(http_headers *headers, struct MHD_Connection *connection)
{
    bool complete = true;
    for (size_t i = 0; headers->repeated && i < HTTP_HEADERS_READ; i++)
        complete = find_header(connection, NAMES[i], &headers->values[i], &headers->joined) &&
                   complete;
    headers->repeated = false;
    return complete;
}

void http_headers_done(http_headers *headers)
{
    for (http_joined *next, *joined = headers->joined; joined; joined = next) {
        next = joined->next;
        free(joined);
    }
}
