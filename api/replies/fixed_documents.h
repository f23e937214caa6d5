/* Documents that never change while the process runs: each is built and compressed once, by the
 * first request for it, and kept with the service. Together they take less than 1 MB. */
#ifndef API_FIXED_DOCUMENTS_H
#define API_FIXED_DOCUMENTS_H

#include "call.h"

#include <jansson.h>

/* The documents; those of the schemes follow, in the order of the registry. */
enum { API_FIXED_OPENAPI, API_FIXED_MODELS, API_FIXED_SCHEMES, API_FIXED_SCHEME };

typedef struct api_fixed_documents api_fixed_documents;

/* All documents, none built yet. NULL if memory ran out. */
api_fixed_documents *api_fixed_documents_new(void);
void api_fixed_documents_free(api_fixed_documents *documents);

/* Builds a document; what it holds must depend on nothing that changes. */
typedef json_t *api_document_builder(const api_call *call);

/* Answer with document `index` in the coding that the request prefers; it has an ETag, and
 * caches must revalidate it. If it is not there yet, a quick request is told API_LATER, and
 * another one builds it; whoever comes meanwhile is told API_BUSY. NULL without memory, or
 * after api_not_yet; a document that lacked memory is built by the next request. Any thread. */
api_reply *api_reply_fixed(const api_call *call, size_t index, api_document_builder *build);

#endif
