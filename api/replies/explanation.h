/* What is wrong with a table, as JSON. */
#ifndef API_EXPLANATION_H
#define API_EXPLANATION_H

#include "api.h"

#include <jansson.h>

/* The explanation of a table: what is wrong in a sentence, the parameters to change, the
 * request that fits, and the figures after the change. NULL or incomplete without memory, which
 * api_document_text notices. */
json_t *api_explanation_document(const pe_explanation *explanation, const pe_scheme *scheme,
                                 const pe_view *view);

#endif
