/* JSON documents as replies. */
#include "document.h"

#include "etag.h"
#include "gzip.h"
#include "problem.h"
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

bool api_document_lacked_memory(const json_error_t *problem)
{
    enum json_error_code code = json_error_code(problem);
    return code == json_error_out_of_memory || code == json_error_unknown;
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

void api_document_drop(json_t *document)
{
    json_decref(document);
    memory_ran_out = false;
}

void api_document_begin(void)
{
    memory_ran_out = false;
}

void api_document_spoil(void)
{
    memory_ran_out = true;
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

/* A text in the coding that the call prefers, consuming it. NULL without memory; or if no
 * coding is acceptable, and then ret_refusal is the answer unless memory ran out for that. */
static api_body *code_text(const api_call *call, api_body *text, api_coding *ret_coding,
                           api_reply **ret_refusal)
{
    api_body *coded = text;
    size_t bytes;
    api_codings codings = api_accept_codings(api_call_header(call, "Accept-Encoding"));
    *ret_refusal = NULL;
    if (!api_choose_coding(codings, true, ret_coding)) {
        coded = NULL;
        *ret_refusal = api_problem(
            API_NOT_ACCEPTABLE, "Accept-Encoding admits neither identity nor gzip", NULL, NULL);
    } else if (text && *ret_coding == API_GZIP) {
        coded = api_gzip_body(text, &bytes);
    }
    if (coded != text)
        api_body_unref(text);
    return coded;
}

/* What a text says of its coding. */
static void add_coding(api_reply *reply, api_coding coding)
{
    api_reply_add(reply, "Vary", "Accept-Encoding");
    if (coding == API_GZIP)
        api_reply_add(reply, "Content-Encoding", "gzip");
}

api_reply *api_text_reply(const api_call *call, api_reply *reply, api_body *text)
{
    api_coding coding;
    api_reply *refusal;
    api_body *body = code_text(call, text, &coding, &refusal);
    add_coding(reply, coding);
    if (!refusal)
        return api_reply_with_body(reply, body, call->head);
    api_reply_unref(reply);
    return refusal;
}

api_reply *api_document_cacheable(const api_call *call, json_t *document)
{
    return api_body_cacheable(call, body_of(document), "public, no-cache");
}

api_reply *api_body_cacheable(const api_call *call, api_body *text, const char *cache_control)
{
    const char *match = api_call_header(call, "If-Match");
    const char *none_match = api_call_header(call, "If-None-Match");
    api_coding coding;
    api_reply *refusal;
    api_body *body = code_text(call, text, &coding, &refusal);
    if (!body)
        return refusal;
    const api_segment *segments;
    api_etag etag;
    api_body_segments(body, &segments);
    api_etag_of(&etag, segments, 1);
    if (match && !api_tag_is_listed(etag.text, match, true)) {
        api_body_unref(body);
        return api_problem_of_if_match(&etag);
    }
    bool matches = none_match && api_etag_matches(&etag, none_match);
    api_reply *reply = api_reply_new(matches ? 304 : 200);
    api_reply_add(reply, "ETag", "%s", etag.text);
    api_reply_add(reply, "Cache-Control", "%s", cache_control);
    add_coding(reply, coding);
    if (!matches)
        api_reply_add(reply, "Content-Type", "application/json");
    return api_reply_with_body(reply, body, call->head || matches);
}

json_t *api_document_number(double number)
{
    bool integral = number == floor(number) && fabs(number) <= 0x1p53;
    return integral ? json_integer((json_int_t)number) : json_real(number);
}
