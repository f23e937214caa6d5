/* JSON documents as bodies and as replies. */
#ifndef API_REPLIES_DOCUMENT_H
#define API_REPLIES_DOCUMENT_H

#include "replies/reply.h"
#include "json/document.h"

/* Consume the document and return its text as a body, also for people to read; NULL without
 * memory. */
api_body *api_document_body(json_t *document);
api_body *api_document_readable_body(json_t *document);

/* Give a reply the document as its body, or for HEAD only the length of that, consuming both.
 * NULL without memory. */
api_reply *api_document_reply(api_reply *reply, json_t *document, const char *media_type,
                              bool head);

/* The head of a reply that belongs to one request, and no cache keeps. NULL without memory. */
api_reply *api_passing_reply(unsigned status, const char *media_type);

/* The same with a document that people read as well, which is consumed. */
api_reply *api_passing_document(unsigned status, json_t *document);

#endif
