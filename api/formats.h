/* Representations of tensors. A format is one file in formats/ that ends in one constant
 * `const api_format api_format_NAME`, and one line in formats/formats.def. */
#ifndef API_FORMATS_H
#define API_FORMATS_H

#include "api.h"

/* Which tensors of a request to represent. */
typedef struct api_selection {
    pe_request *request;
    size_t first, count; /* tensors [first, first + count) */
    const pe_runner *runner;
    uint64_t from, until; /* of a streamed binary body only these bytes will be read; 0: all */
} api_selection;

typedef struct api_format {
    const char *name, *media_type, *extension, *help;
    unsigned revision; /* raised whenever the bytes for the same tensor change */
    bool single;       /* holds one tensor: the primary one unless another is asked for */
    bool limited;      /* text under the host's limit of JSON elements; the others are binary */

    /* NULL, or why a tensor of this dtype cannot be represented and what can. */
    const char *(*refuses)(pe_dtype dtype);

    /* The exact length, or API_LENGTH_UNKNOWN where only writing tells. */
    uint64_t (*length)(const api_selection *selection);

    /* The body; ret_bytes is the memory it holds beyond the table. NULL without memory. May
     * write into the table's headroom: calls for one table are serialised, but for text, which
     * only reads. */
    api_body *(*write)(const api_selection *selection, pe_table *table, size_t *ret_bytes);

    /* For tables too large to hold: a body of the same bytes that computes its tensors as it is
     * read. NULL without memory. */
    api_body *(*stream)(const api_selection *selection);
} api_format;

size_t api_format_count(void);
const api_format *
api_format_at(size_t index); /* 0 is what is served where nothing is asked for */
const api_format *api_format_find(const char *name);

/* The names as an array, for choices. */
const char *const *api_format_names(void);

#endif
