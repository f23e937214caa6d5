/* How the entries of a projection are heads, and which of their columns are paired. */
#ifndef API_FILES_HEADS_H
#define API_FILES_HEADS_H

#include "files/convert_selection.h"

typedef enum api_role { API_ROLE_QUERY, API_ROLE_KEY, API_ROLE_QKV } api_role;

/* A tensor that is converted. */
typedef struct api_projection {
    const char *name; /* NULL: the array of an npy file */
    api_role role;
    size_t rank, axis;
    uint64_t extent, entry; /* of the axis: how many entries it has, and their bytes */
    uint64_t begin, end;    /* bytes of the file */
    bool is_kernel;         /* of JAX: heads lie along the last axis … */
    size_t split_rank;      /* … from this rank on in two, heads and columns; 0: never */
    uint64_t columns;       /* of a head, where the shape says so; 0: it does not */
    bool is_norm;           /* weights of a norm of queries or keys: of one head, or of all */
    bool is_latent;         /* of MLA: a latent, and behind it the rotary columns of all keys */
} api_projection;

/* The columns that all heads have, and the tensor that says so; NULL: the request does. */
typedef struct api_head_width {
    uint64_t columns;
    const char *name;
} api_head_width;

/* Find the width of the heads of all projections. False: a problem was added. */
bool api_heads_measure(const api_convert_request *asked, const api_projection *projections,
                       size_t count, api_head_width *ret_width, pe_error *reterr);

/* Find the heads of a projection. False: a problem was added. */
bool api_heads_split(const api_convert_request *asked, const api_head_width *width,
                     const api_projection *projection, api_heads *ret_part, pe_error *reterr);

#endif
