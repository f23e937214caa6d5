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

/* The exact table of a comparison. */
typedef struct api_compared {
    pe_dtype dtype;
    size_t rank;
    uint64_t shape[PE_VIEW_RANK_MAX], elements;
} api_compared;

api_compared api_compared_of(const pe_tensor *tensor);

/* The index of an element, given its number in row-major order. */
json_t *api_comparison_index(const api_compared *tensor, uint64_t place);

/* What was found along one axis: its parts, in order. */
json_t *api_comparison_axis(const pe_comparison *comparison, size_t axis);

/* What a comparison with this table found. NULL or incomplete without memory, which
 * api_document_text notices. */
json_t *api_comparison_document(const pe_comparison *comparison, const api_compared *tensor);

#endif
