/* What a comparison may be asked, and the comparison as a JSON document. */
#ifndef API_COMPARISON_H
#define API_COMPARISON_H

#include "posenc.h"

#include <jansson.h>

typedef enum api_compare_option {
    API_COMPARE_FILE_TENSOR,
    API_COMPARE_TOLERANCE,
    API_COMPARE_ULPS,
    API_COMPARE_OPTIONS
} api_compare_option;

/* What a request may give beside the parameters of the scheme and `tensor`. */
extern const pe_parameter api_compare_options[API_COMPARE_OPTIONS];

/* What a comparison with this tensor found. NULL or incomplete without memory, which
 * api_document_text notices. */
json_t *api_comparison_document(const pe_comparison *comparison, const pe_tensor *tensor);

#endif
