#include "shortcut.h"

#include <string.h>

#define NAME_MAX_BYTES 512

/* The name of a request: its target and what it accepts. 0 if it has none. */
static size_t name_of(const api_request *request, char *dst)
{
    const char *accept = request->header ? request->header(request->context, "Accept") : NULL;
    size_t length = strlen(request->target), rest = accept ? strlen(accept) : 0;
    if (length + rest + 1 > NAME_MAX_BYTES)
        return 0;
    memcpy(dst, request->target, length);
    dst[length] = '\0';
    memcpy(dst + length + 1, accept ? accept : "", rest);
    return length + 1 + rest;
}

api_reply *api_shortcut_reply(const api_service *service, const api_request *request)
{
    char name[NAME_MAX_BYTES];
    pe_entry *entry;
    bool plain = strcmp(request->method, "GET") == 0 && !request->body && !request->awaited &&
                 !(request->header && request->header(request->context, "If-None-Match"));
    size_t length = plain ? name_of(request, name) : 0;
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
