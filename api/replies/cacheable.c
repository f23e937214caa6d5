/* Texts as replies: content codings, validators and preconditions. */
#include "replies/cacheable.h"

#include "bytes/gzip.h"
#include "replies/problem.h"
#include "replies/reply.h"

bool api_choose_text_coding(const api_call *call, api_coding *ret_coding,
                            api_reply **ret_refusal)
{
    api_codings codings = api_accept_codings(api_call_header(call, API_HEADER_ACCEPT_ENCODING));
    if (api_choose_coding(codings, true, ret_coding))
        return true;
    *ret_refusal = api_problem(API_NOT_ACCEPTABLE,
                               "Accept-Encoding must admit identity or gzip", NULL, NULL);
    return false;
}

/* Consume a text and return it in the content coding that the request prefers. NULL without
 * memory, or if no coding is acceptable; then ret_refusal is the 406, unless that lacked memory
 * too. */
static api_body *code_text(const api_call *call, api_body *text, api_coding *ret_coding,
                           api_reply **ret_refusal)
{
    api_body *coded = text;
    size_t bytes;
    *ret_refusal = NULL;
    if (!api_choose_text_coding(call, ret_coding, ret_refusal))
        coded = NULL;
    else if (text && *ret_coding == API_GZIP)
        coded = api_gzip_body(text, &bytes);
    if (coded != text)
        api_body_unref(text);
    return coded;
}

/* Add the fields about the content coding of a text. */
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

api_reply *api_body_cacheable(const api_call *call, api_body *text, const char *cache_control)
{
    api_coding coding;
    api_reply *refusal;
    api_coded_text coded;
    api_body *body = code_text(call, text, &coding, &refusal);
    if (!body)
        return refusal;
    api_coded_text_init(&coded, body, coding);
    api_reply *reply = api_coded_text_reply(call, &coded, cache_control);
    api_body_unref(body);
    return reply;
}

/* ---- texts in one content coding ---- */

void api_coded_text_init(api_coded_text *ret_text, api_body *body, api_coding coding)
{
    const api_segment *segments;
    api_body_segments(body, &segments);
    ret_text->body = body;
    ret_text->coding = coding;
    api_etag_compute(&ret_text->etag, segments, 1);
}

/* A new reply with all fields but those of the body. */
static api_reply *new_reply(const api_coded_text *text, unsigned status,
                            const char *cache_control)
{
    api_reply *reply = api_reply_new(status);
    api_reply_add(reply, "ETag", "%s", text->etag.text);
    api_reply_add(reply, "Cache-Control", "%s", cache_control);
    add_coding(reply, text->coding);
    if (status == 200)
        api_reply_add(reply, "Content-Type", "application/json");
    return reply;
}

api_reply *api_coded_text_whole(const api_coded_text *text, const char *cache_control)
{
    return api_reply_with_body(new_reply(text, 200, cache_control), api_body_ref(text->body),
                               false);
}

api_reply *api_coded_text_reply(const api_call *call, const api_coded_text *text,
                                const char *cache_control)
{
    api_reply *problem;
    const unsigned status = api_status_by_conditions(call, text->etag.text, &problem);
    return status == 412
               ? problem
               : api_reply_with_body(new_reply(text, status, cache_control),
                                     api_body_ref(text->body), call->head || status == 304);
}
