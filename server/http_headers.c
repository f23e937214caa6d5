/* Finding headers among libmicrohttpd's. */
#include "http_headers.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct http_joined {
    struct http_joined *next;
    char text[];
};

void http_joined_free(http_joined *joined)
{
    for (http_joined *next; joined; joined = next) {
        next = joined->next;
        free(joined);
    }
}

typedef struct header_search {
    const char *name, *first;
    size_t name_size, lines, bytes;
    char *at; /* where to append, on the second pass */
} header_search;

static enum MHD_Result visit_header(void *cls, enum MHD_ValueKind kind, const char *name,
                                    size_t name_size, const char *value, size_t length)
{
    (void)kind;
    header_search *search = cls;
    if (name_size != search->name_size || strcasecmp(name, search->name) != 0 || !value)
        return MHD_YES;
    if (search->at) {
        if (search->lines > 0) {
            memcpy(search->at, ", ", 2);
            search->at += 2;
        }
        memcpy(search->at, value, length + 1);
        search->at += length;
    }
    if (search->lines++ == 0)
        search->first = value;
    search->bytes += length + 2;
    return MHD_YES;
}

const char *http_find_header(struct MHD_Connection *connection, const char *name,
                             http_joined **joined)
{
    header_search search = {.name = name, .name_size = strlen(name)};
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, visit_header, &search);
    if (search.lines <= 1)
        return search.first;
    http_joined *all = malloc(sizeof *all + search.bytes + 1);
    if (!all)
        return NULL;
    search = (header_search){.name = name, .name_size = strlen(name), .at = all->text};
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, visit_header, &search);
    all->next = *joined;
    *joined = all;
    return all->text;
}
