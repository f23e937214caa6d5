/* Shortcuts to the replies of hits. The cache keeps them by a key: the bytes of the request
 * that select the representation. */
#include "representations/shortcut.h"

#include <string.h>

#define KEY_MAX 512 /* bytes; requests with longer keys have no shortcut */

static const char *find_header(const api_request *request, api_header header)
{
    return request->header ? request->header(request->context, header) : NULL;
}

/* Write the key of a request: its target, Accept and Accept-Encoding, each ended by NUL.
 * Returns the length, 0 if the key would be too long. */
static size_t write_key(const api_request *request, char dst[KEY_MAX])
{
    const char *accept = find_header(request, API_HEADER_ACCEPT);
    const char *coding = find_header(request, API_HEADER_ACCEPT_ENCODING);
    const char *const texts[] = {request->target, accept ? accept : "*/*",
                                 coding ? coding : ""};
    size_t used = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t size = strlen(texts[i]) + 1;
        if (size > KEY_MAX - used)
            return 0;
        memcpy(dst + used, texts[i], size);
        used += size;
    }
    return used;
}

/* Whether the key decides the answer: the request is a GET without preconditions, range and
 * body, and has not waited for a table. */
static bool is_decided_by_key(const api_request *request)
{
    return strcmp(request->method, "GET") == 0 && !request->body && !request->awaited &&
           !find_header(request, API_HEADER_IF_NONE_MATCH) &&
           !find_header(request, API_HEADER_IF_MATCH) &&
           !find_header(request, API_HEADER_RANGE);
}

api_reply *api_shortcut_reply(const api_service *service, const api_request *request)
{
    char key[KEY_MAX];
    pe_entry *entry;
    size_t length = is_decided_by_key(request) ? write_key(request, key) : 0;
    if (length == 0)
        return NULL;
    api_reply *reply = pe_cache_find_shortcut(service->cache, key, length, &entry);
    if (!reply)
        return NULL;
    api_reply_ref(reply);
    pe_entry_unref(entry);
    return reply;
}

void api_shortcut_add(const api_representation *representation, pe_entry *entry,
                      api_reply *reply)
{
    char key[KEY_MAX];
    if (representation->facts.stored) /* a set may be replaced at any time */
        return;
    size_t length = write_key(representation->call->request, key);
    if (length > 0)
        pe_cache_add_shortcut(representation->call->service->cache, entry, reply, key, length);
}
