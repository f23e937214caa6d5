/* Replies whose body is a text in the content coding that the request prefers, some of them
 * with a validator for conditional requests. */
#ifndef API_CACHEABLE_H
#define API_CACHEABLE_H

#include "bytes/body.h"
#include "call.h"
#include "http/coding.h"
#include "http/etag.h"

/* The reply to a GET with a JSON text, which is consumed: it has an ETag. NULL without memory,
 * or if the text is NULL. */
api_reply *api_body_cacheable(const api_call *call, api_body *text, const char *cache_control);

/* Give a reply a text as its body, consuming both. Returns a 406 instead if no content coding
 * is acceptable. NULL without memory, or if the text is NULL. */
api_reply *api_text_reply(const api_call *call, api_reply *reply, api_body *text);

/* ---- the parts of these ---- */

/* Choose the content coding of a text. False if none is acceptable: ret_refusal is the 406
 * then, NULL without memory. */
bool api_choose_text_coding(const api_call *call, api_coding *ret_coding,
                            api_reply **ret_refusal);

/* A JSON text in one content coding, with its entity tag. */
typedef struct api_coded_text {
    api_body *body; /* of one segment */
    api_coding coding;
    api_etag etag; /* hashes the body */
} api_coded_text;

/* Takes over the reference to the body, which is in this coding already and nobody shares. */
void api_coded_text_init(api_coded_text *ret_text, api_body *body, api_coding coding);

/* The reply to a GET without conditions: 200 and the text. NULL without memory. */
api_reply *api_coded_text_whole(const api_coded_text *text, const char *cache_control);

/* The reply to any GET or HEAD: 200, 304 or 412. NULL without memory. */
api_reply *api_coded_text_reply(const api_call *call, const api_coded_text *text,
                                const char *cache_control);

#endif
