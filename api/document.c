/* JSON documents as replies. */
#include "document.h"

#include "etag.h"
#include "reply.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether an allocation of jansson's has failed in this thread since it last finished a
 * document: its functions pass over a missing part in silence. */
static _Thread_local bool memory_ran_out;

static void *allocate(size_t size)
{
    void *block = malloc(size);
    memory_ran_out = memory_ran_out || !block;
    return block;
}

void api_document_watch_memory(void)
{
    json_set_alloc_funcs(allocate, free);
}

char *api_document_text(json_t *document, size_t flags)
{
    char *text = document ? json_dumps(document, flags | JSON_REAL_PRECISION(15)) : NULL;
    json_decref(document);
    if (memory_ran_out) {
        free(text);
        text = NULL;
    }
    memory_ran_out = false;
    return text;
}

/* Consume the document and return its text as a body. */
static api_body *body_of(json_t *document)
{
    char *text = api_document_text(document, JSON_INDENT(1));
    return text ? api_body_from_text(text, strlen(text)) : NULL;
}

api_reply *api_document_reply(api_reply *reply, json_t *document, const char *media_type,
                              bool head)
{
    api_reply_add(reply, "Content-Type", "%s", media_type);
    return api_reply_with_body(reply, body_of(document), head);
}

api_reply *api_document_cacheable(json_t *document, const char *given, bool head)
{
    return api_body_cacheable(body_of(document), "public, no-cache", given, head);
}

api_reply *api_body_cacheable(api_body *body, const char *cache_control, const char *given,
                              bool head)
{
    if (!body)
        return NULL;
    const api_segment *segments;
    api_etag etag;
    api_body_segments(body, &segments);
    api_etag_of(&etag, segments, 1);
    bool matches = given && api_etag_matches(&etag, given);
    api_reply *reply = api_reply_new(matches ? 304 : 200);
    api_reply_add(reply, "ETag", "%s", etag.text);
    api_reply_add(reply, "Cache-Control", "%s", cache_control);
    if (matches) {
        api_reply_set_length(reply, api_body_size(body));
        api_body_unref(body);
        return reply;
    }
    api_reply_add(reply, "Content-Type", "application/json");
    return api_reply_with_body(reply, body, head);
}

json_t *api_document_number(double number)
{
    bool integral = number == floor(number) && fabs(number) <= 0x1p53;
    return integral ? json_integer((json_int_t)number) : json_real(number);
}
