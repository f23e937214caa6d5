/* Small JSON documents by jansson. */
#ifndef API_DOCUMENT_H
#define API_DOCUMENT_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

/* jansson's functions ignore a NULL that another one has returned when memory ran out, so that
 * a document could be served with parts missing. This makes jansson allocate through functions
 * that note a failure, per thread, for api_document_text. Called once, before any document is
 * made. */
void api_document_watch_memory(void);

/* Consume the document and return its text, from malloc. NULL if an allocation has failed in
 * this thread since the last document was finished. `flags` are jansson's. */
char *api_document_text(json_t *document, size_t flags);

/* Whether jansson failed to read a text because memory ran out. jansson does not always set the
 * code of `problem` then, so the caller must clear it before. */
bool api_document_lacked_memory(const json_error_t *problem);

/* Free a document that will not be finished, and forget allocations that failed for it. */
void api_document_drop(json_t *document);

/* Forget allocations that have failed in this thread: they were for something else. */
void api_document_begin(void);

/* Whether an allocation has failed in this thread since the last document was finished. */
bool api_document_failed(void);

/* Consume the document and return its text, from malloc, for a person to read: what fits stands
 * on one line of 100 columns, and lists of numbers fill lines. NULL as api_document_text. */
char *api_document_readable(json_t *document);

/* Make the document fail that this thread works on: something that belongs into it could not be
 * found out without memory. */
void api_document_spoil(void);

/* How many bytes of a text are a byte order mark, which some editors write before it. */
size_t api_document_mark(const char *text, size_t size);

/* A JSON number: an integer if the value is integral. */
json_t *api_document_number(double number);

/* An array of extents. */
json_t *api_document_shape(const uint64_t *shape, size_t rank);

#endif
