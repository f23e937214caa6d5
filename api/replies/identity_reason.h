/* Saying what holds of a table that no request was found for. */
#ifndef API_IDENTITY_REASON_H
#define API_IDENTITY_REASON_H

#include "bytes/text.h"

#include <jansson.h>
#include <posenc.h>

/* Add a sentence for each claim, behind blanks, and what to try. */
void api_reason_add(const pe_identity *identity, const pe_view *view, api_text *text);

/* The same as `text`, and each claim with its kind, text and numbers. */
json_t *api_reason_document(const pe_identity *identity, const pe_view *view);

#endif
