/* Representations of tensors. A format is one file in formats/ that ends in one constant
 * `const api_format api_format_NAME`, and one line in formats/formats.def. */
#ifndef API_FORMATS_H
#define API_FORMATS_H

#include "api.h"

/* Which tensors of a request to represent, and how. */
typedef struct api_selection {
    pe_request *request;
    size_t first, count; /* tensors [first, first + count) */
    const pe_runner *runner;
    uint64_t from, until; /* of a streamed binary body only these bytes will be read; 0: all */
    const struct api_options *options; /* while `write` or `stream` are called; NULL: none */
} api_selection;

/* What a format's work is measured in: there is a limit for each in api_host. */
typedef enum api_measure {
    API_BYTES,    /* the tensors' own, with something before them: without work or limit, of
                   * known length, in parts as well */
    API_ELEMENTS, /* printed */
    API_PIXELS,   /* drawn */
} api_measure;

typedef struct api_format {
    const char *name, *media_type, *extension, *help;
    const char *media_parameters;         /* what Content-Type says behind the type; or NULL */
    const char *schema_type;              /* its JSON Schema type; NULL: bytes */
    const char *(*const *versions)(void); /* of libraries that may change the bytes, up to NULL;
                                           * or NULL */
    unsigned revision; /* raised whenever the bytes for the same tensor change */
    bool single;       /* holds one tensor: the primary one unless another is asked for */
    bool text;         /* may be compressed */

    /* What a request may ask of this form: rows as a scheme's, without references to others.
     * A name that several formats have means the same with each. */
    const pe_parameter *options;
    size_t option_count;

    /* NULL, or why a tensor of this dtype cannot be represented and what can. */
    const char *(*refuses)(pe_dtype dtype);

    /* What is wrong with the options for these tensors; or NULL. */
    void (*check)(const api_selection *selection, pe_error *error);

    /* How many elements or pixels; NULL for API_BYTES. */
    api_measure measure;
    uint64_t (*work)(const api_selection *selection);

    /* The exact length, or API_LENGTH_UNKNOWN without memory; NULL where only writing tells. */
    uint64_t (*length)(const api_selection *selection);

    /* The body; ret_bytes is the memory it holds beyond the table. NULL without memory. May
     * write into the table's headroom: calls for one table are serialised, but for text, which
     * only reads. */
    api_body *(*write)(const api_selection *selection, pe_table *table, size_t *ret_bytes);

    /* For tables too large to hold: a body of the same bytes that computes its tensors as it is
     * read, or, where there is work to a limit, before. NULL without memory. */
    api_body *(*stream)(const api_selection *selection);
} api_format;

/* The value of an option that is in some format's table, after defaulting. */
pe_value api_option(const api_selection *selection, const char *name);

size_t api_format_count(void);
const api_format *
api_format_at(size_t index); /* 0 is what is served where nothing is asked for */
const api_format *api_format_find(const char *name);

/* The names as an array, for choices. */
const char *const *api_format_names(void);

#endif
