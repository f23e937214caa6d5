/* JSON documents as bodies and as replies. */
#ifndef API_REPLIES_DOCUMENT_H
#define API_REPLIES_DOCUMENT_H

#include "replies/reply.h"
#include "json/document.h"

/* Consume the document and return its text as a body; NULL without memory. */
api_body *api_document_body(json_t *document);

/* Give a reply the document as its body, or for HEAD only the length of that, consuming both.
 * NULL without memory. */
api_reply *api_document_reply(api_reply *reply, json_t *document, const char *media_type,
                              bool head);

#endif
