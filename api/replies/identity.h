/* What identifying a table may be asked, and the answer as a JSON document. */
#ifndef API_IDENTITY_H
#define API_IDENTITY_H

#include "posenc.h"

#include <jansson.h>

typedef enum api_identify_option {
    API_IDENTIFY_SCHEME,
    API_IDENTIFY_LIMIT,
    API_IDENTIFY_SET,
    API_IDENTIFY_FILE_TENSOR,
    API_IDENTIFY_SHAPE,
    API_IDENTIFY_DTYPE,
    API_IDENTIFY_OPTIONS
} api_identify_option;

extern const pe_parameter api_identify_options[API_IDENTIFY_OPTIONS];

/* What is said of a table; `is_text`: its numbers came without a dtype. NULL or incomplete
 * without memory, which api_document_readable notices. */
json_t *api_identity_document(const pe_identity *identity, const pe_equivalents *equivalents,
                              const pe_view *table, bool is_text);

/* A request that makes the exact table of a view: scheme, tensor and url. */
json_t *api_table_request(const pe_scheme *scheme, const char *query, const char *tensor,
                          const pe_view *view);

#endif
