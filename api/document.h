/* Small JSON documents by jansson. */
#ifndef API_DOCUMENT_H
#define API_DOCUMENT_H

#include "api.h"

#include <jansson.h>

/* Give `reply` the document as its body (for HEAD only the length), consuming both. NULL without
 * memory. */
api_reply *api_document_reply(api_reply *reply, json_t *document, const char *media_type,
                              bool head);

/* A document for GET that may change with the next release: revalidated, with an ETag. `given` is
 * the request's If-None-Match, or NULL. */
api_reply *api_document_cacheable(json_t *document, const char *given, bool head);

/* A number as JSON, an integer where it is integral. */
json_t *api_document_number(double number);

#endif
