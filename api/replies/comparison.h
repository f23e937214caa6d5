/* What a comparison may be asked, and the comparison as a JSON document. */
#ifndef API_COMPARISON_H
#define API_COMPARISON_H

#include "http/arguments.h"
#include "replies/reply.h"

#include <jansson.h>

/* API_COMPARE_TOLERANCE and what follows are options of /v1/apply as well; others go above.
 * Those from API_COMPARE_READ on share their names with parameters of schemes, and are taken
 * before the others are read: api_take_any_mask. */
typedef enum api_compare_option {
    API_COMPARE_FILE_TENSOR,
    API_COMPARE_TOLERANCE,
    API_COMPARE_ULPS,
    API_COMPARE_RTOL,
    API_COMPARE_READ,
    API_COMPARE_MASK = API_COMPARE_READ,
    API_COMPARE_OPTIONS
} api_compare_option;

/* What a request may give beside the parameters of the scheme and `tensor`. */
extern const pe_parameter api_compare_options[API_COMPARE_OPTIONS];

/* What is judged. */
typedef struct api_judgement {
    bool judged; /* a tolerance is given */
    pe_tolerance tolerance;
} api_judgement;

/* Take mask=any out of the arguments; false if it is not there. */
bool api_take_any_mask(api_arguments *arguments);

/* Read the tolerances of options whose rows begin with that of API_COMPARE_TOLERANCE at `row`.
 */
api_judgement api_read_judgement(const pe_options *options, size_t row, bool any_mask);

/* Refuse a tolerance that is the bound of an arithmetic where none is known of the scheme;
 * `row` is that of API_COMPARE_TOLERANCE. */
void api_check_arithmetic(const pe_options *options, size_t row, const pe_scheme *scheme,
                          pe_error *reterr);

/* The exact table of a comparison. */
typedef struct api_compared {
    pe_dtype dtype;
    size_t rank;
    uint64_t shape[PE_VIEW_RANK_MAX], elements;
} api_compared;

api_compared api_compared_init(const pe_tensor *tensor);

/* The index of an element, given its number in row-major order. */
json_t *api_comparison_index(const api_compared *tensor, uint64_t place);

/* What was found along one axis: its parts, in order. */
json_t *api_comparison_axis(const pe_comparison *comparison, size_t axis);

/* What a comparison with this table found. NULL or incomplete without memory, which
 * api_document_text notices. */
json_t *api_comparison_document(const pe_comparison *comparison, const api_compared *tensor);

/* What was compared with what. */
typedef struct api_compared_names {
    const char *scheme, *tensor;
    const char *url;                  /* of the exact tensor; NULL: it has none */
    const char *format, *file_tensor; /* of the file; its tensor may have no name, NULL */
    pe_element element;
} api_compared_names;

/* What was compared, what was found, and another member `name`, which may be NULL and is
 * consumed: `by` or `explanation`. */
json_t *api_comparison_describe(const api_compared_names *names,
                                const pe_comparison *comparison, const api_compared *tensor,
                                bool judged, const char *name, json_t *member);

/* The answer, which consumes the document: it is 409 where larger errors than those that are
 * accepted were found. */
api_reply *api_comparison_answer(json_t *document);

#endif
