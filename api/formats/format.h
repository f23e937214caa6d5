/* Formats: how tensors are represented. A format is one file in formats/ that ends in one
 * constant `const api_format api_format_NAME`, and one line in formats/formats.def. */
#ifndef API_FORMAT_H
#define API_FORMAT_H

#include "api.h"

/* What of a request a format represents, and how. */
typedef struct api_selection {
    pe_request *request;
    size_t first, count;     /* tensors [first, first + count) */
    const pe_runner *runner; /* for streams; may be NULL */
    /* Of a streamed binary body only the bytes [from, until) will be read; until is 0: all. */
    uint64_t from, until;
    size_t block_bytes; /* that a stream computes at a time; 0: as many as are fastest */
    /* The format's options; NULL: none is given. Valid only while a hook of the format runs. */
    const struct api_options *options;
} api_selection;

/* What the work of writing a format is measured in. */
typedef enum api_measure {
    API_BYTES,    /* the tensors' own bytes after a header: no work and no limit. The length is
                   * known beforehand, and ranges are served. */
    API_ELEMENTS, /* elements printed; the limit is api_host.json_elements */
    API_PIXELS,   /* pixels drawn; the limit is api_host.png_pixels */
} api_measure;

typedef struct api_format {
    const char *name, *media_type, *extension, *help;
    /* What follows the media type in Content-Type. The hook is NULL if nothing does. */
    const char *(*media_parameters)(const api_selection *selection);
    const char *schema_type; /* the JSON Schema type of the content; NULL: binary */
    /* The versions of libraries that the bytes depend on, up to NULL; NULL: there are none.
     * They are part of the entity tag. */
    const char *(*const *versions)(void);
    unsigned revision;      /* raised whenever the bytes for the same tensor change */
    bool single;            /* holds one tensor: the primary one unless another is asked for */
    bool text;              /* content codings are applied */
    bool states_parameters; /* names the preset beside the parameters */

    /* The options of the format: rows of a parameter table as a scheme has them, without
     * references to other rows. Formats that share a name share its meaning. */
    const pe_parameter *options;
    size_t option_count;

    /* Why a tensor of this dtype cannot be represented, and which formats can; NULL if it can.
     * The hook is NULL if every dtype can. */
    const char *(*refuses)(pe_dtype dtype);

    /* Add to `error` what is wrong with the options for these tensors. May be NULL. */
    void (*check)(const api_selection *selection, pe_error *error);

    /* The number of elements or pixels; NULL for API_BYTES. */
    api_measure measure;
    uint64_t (*work)(const api_selection *selection);

    /* The exact length of the content; API_LENGTH_UNKNOWN without memory. The hook is NULL if
     * the length shows only when everything has been written. */
    uint64_t (*length)(const api_selection *selection);

    /* A body of a table; ret_bytes is the memory that it holds in addition to the table. NULL
     * without memory. Calls for one table run side by side, except those of one format for
     * the same tensors, options and content coding. So a single format may write into the
     * headroom of its tensor, if it has neither options nor codings, and if no other does. */
    api_body *(*write)(const api_selection *selection, pe_table *table, size_t *ret_bytes);

    /* A body of the same bytes for tensors that are too large for a table: it computes them as
     * it is read, or, for a picture, before this function returns. NULL without memory, or if
     * the scheme cannot be prepared; reterr, which is empty before, says why then. */
    api_body *(*stream)(const api_selection *selection, pe_error *reterr);
} api_format;

#endif
