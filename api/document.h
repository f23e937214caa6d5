/* Small JSON documents by jansson. */
#ifndef API_DOCUMENT_H
#define API_DOCUMENT_H

#include "coding.h"
#include "service.h"

#include <jansson.h>

/* Make jansson tell of every allocation that fails, so that no document is served with parts
 * missing. Called once, before any document is made. */
void api_document_watch_memory(void);

/* Give `reply` the document as its body (for HEAD only the length), consuming both. NULL
 * without memory. */
api_reply *api_document_reply(api_reply *reply, json_t *document, const char *media_type,
                              bool head);

/* A document for GET that may change with the next release: in the coding that the call
 * prefers, revalidated, with an ETag. Consumes the document. */
api_reply *api_document_cacheable(const api_call *call, json_t *document);

/* The same of a JSON text, consuming it, with a Cache-Control of its own. The text may be NULL,
 * for want of memory, and then so is the reply. */
api_reply *api_body_cacheable(const api_call *call, api_body *text, const char *cache_control);

/* Give the reply a text as its body, in the coding that the call prefers, consuming both; 406
 * if none is acceptable. The text may be NULL, for want of memory, and then so is the reply. */
api_reply *api_text_reply(const api_call *call, api_reply *reply, api_body *text);

/* Consume the document and return its text, from malloc; NULL if memory ran out at any time
 * since the last document. `flags` are jansson's. */
char *api_document_text(json_t *document, size_t flags);

/* Whether jansson could not read a text for want of memory, which it does not always say:
 * `problem` must have been cleared before. */
bool api_document_lacked_memory(const json_error_t *problem);

/* Give a document up, and forget that memory ran out for it: the next one may succeed. */
void api_document_drop(json_t *document);

/* Forget what failed in this thread before: jansson may have served others. */
void api_document_begin(void);

/* Give up the document that is under way in this thread: for want of memory something that it
 * is to say is not known. */
void api_document_spoil(void);

/* A number as JSON, an integer where it is integral. */
json_t *api_document_number(double number);

#endif
