/* Small JSON documents by jansson. */
#ifndef API_DOCUMENT_H
#define API_DOCUMENT_H

#include "api.h"

#include <jansson.h>

/* Make jansson tell of every allocation that fails, so that no document is served with parts
 * missing. Called once, before any document is made. */
void api_document_watch_memory(void);

/* Give `reply` the document as its body (for HEAD only the length), consuming both. NULL
 * without memory. */
api_reply *api_document_reply(api_reply *reply, json_t *document, const char *media_type,
                              bool head);

/* A document for GET that may change with the next release: revalidated, with an ETag. `given`
 * is the request's If-None-Match, or NULL. */
api_reply *api_document_cacheable(json_t *document, const char *given, bool head);

/* The same of any body, with a Cache-Control of its own; the type is application/json. */
api_reply *api_body_cacheable(api_body *body, const char *cache_control, const char *given,
                              bool head);

/* Consume the document and return its text, from malloc; NULL if memory ran out at any time
 * since the last document. `flags` are jansson's. */
char *api_document_text(json_t *document, size_t flags);

/* A number as JSON, an integer where it is integral. */
json_t *api_document_number(double number);

#endif
