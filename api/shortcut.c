#include "shortcut.h"

#include <string.h>

#define NAME_MAX_BYTES 512

static const char *header_of(const api_request *request, const char *name)
{
    return request->header ? request->header(request->context, name) : NULL;
}

/* The name of a request: its target, and what types and codings it accepts, as they were
 * written. 0 if it has none. */
static size_t name_of(const api_request *request, char *dst)
{
    const char *accept = header_of(request, "Accept");
    const char *coding = header_of(request, "Accept-Encoding");
    const char *const texts[] = {request->target, accept ? accept : "*/*",
                                 coding ? coding : ""};
    size_t used = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t length = strlen(texts[i]) + 1; /* the NUL parts them */
        if (length > NAME_MAX_BYTES - used)
            return 0;
        memcpy(dst + used, texts[i], length);
        used += length;
    }
    return used;
}

/* Whether no header asks for another answer than the reply that hits share. */
static bool is_plain(const api_request *request)
{
    return strcmp(request->method, "GET") == 0 && !request->body && !request->awaited &&
           !header_of(request, "If-None-Match") && !header_of(request, "If-Match") &&
           !header_of(request, "Range");
}

api_reply *api_shortcut_reply(const api_service *service, const api_request *request)
{
    char name[NAME_MAX_BYTES];
    pe_entry *entry;
    size_t length = is_plain(request) ? name_of(request, name) : 0;
    void *named = length ? pe_cache_look_name(service->cache, name, length, &entry) : NULL;
    if (!named)
        return NULL;
    api_reply *reply = api_reply_ref(named);
    pe_entry_unref(entry);
    return reply;
}

/* A request that refers to a stored set has no shortcut: what it names may change. */
void api_shortcut_add(const api_encoding *encoding, pe_entry *entry, api_reply *reply)
{
    char name[NAME_MAX_BYTES];
    size_t length = name_of(encoding->call->request, name);
    if (length && !pe_request_set(encoding->request))
        pe_cache_name(encoding->call->service->cache, entry, reply, name, length);
}
