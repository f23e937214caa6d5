/* A file as it becomes when columns of some of its tensors change places. */
#ifndef API_CONVERTED_H
#define API_CONVERTED_H

#include "bytes/body.h"
#include "files/table_file.h"

/* A part of a file: heads, one after the other, of `width` entries each. An entry is what lies
 * together at one index of the axis: of a weight a row, of a table one number. */
typedef struct api_heads {
    uint64_t begin, end;    /* bytes of the file */
    uint64_t entry;         /* bytes of an entry */
    uint64_t width;         /* entries of a head */
    uint64_t first, turned; /* entries of a head that are paired; an even number */
    uint64_t period;        /* of so many heads … */
    uint64_t still, stills; /* … these stay as they are: values */
} api_heads;

/* What is converted. */
typedef struct api_conversion {
    pe_pairing from, to;
    size_t count;
    api_heads *parts; /* from malloc, in the order of their bytes, without overlaps */
} api_conversion;

/* The file after the conversion, whose parts the body takes over: it is as long, and what lies
 * in no part is as it was. The request must hold its body until this one has been read. NULL
 * without memory. */
api_body *api_body_converted(const api_request *request, const api_conversion *conversion);

#endif
