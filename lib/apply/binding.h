/* Which rows of an encoding belong to a row of an input, by the names of axes. */
#ifndef PE_APPLY_BINDING_H
#define PE_APPLY_BINDING_H

#include "apply/axes.h"

/* What becomes of a row of queries, keys and values that lie in one tensor. */
typedef enum pe_row_role { PE_ROW_QUERY, PE_ROW_KEY, PE_ROW_VALUE } pe_row_role;

/* An input as rows: indices of all its axes but that of the columns, which is the last one here
 * wherever it is in the input. Row (i, j, …) needs the row i · strides[0] + j · strides[1] + …
 * of the entries, or as many from there on as there are results. */
typedef struct pe_binding {
    size_t rank;
    uint64_t shape[PE_VIEW_RANK_MAX], strides[PE_VIEW_RANK_MAX];
    uint64_t rows, columns; /* of the input */
    uint64_t together;      /* rows whose elements alternate: 1 if the columns come last */
    uint64_t results;       /* of a row */

    /* axes of the result, each named one for itself, and as many as the input has */
    size_t axes;
    char names[PE_VIEW_RANK_MAX][PE_AXIS_NAME_SIZE];
    uint64_t extents[PE_VIEW_RANK_MAX];
    size_t answer_rank;
    uint64_t answer_shape[PE_VIEW_RANK_MAX];

    /* roles along the axis `qkv`: index (row / role_stride) % role_count */
    uint64_t role_stride, role_count, queries, turned; /* role_count 1: there is none */

    /* positions by row: index i · id_strides[0] + … of the offsets */
    uint64_t id_strides[PE_VIEW_RANK_MAX], id_step, positions; /* and how many there are */
    uint64_t axis_stride;                                      /* to that on another axis */
    const uint32_t
        *offsets; /* [ids], rows after the first one, set by the caller; NULL: none */
} pe_binding;

/* Bind an input to the entries of a request's tensor. False: a problem was added to reterr. */
bool pe_binding_make(const pe_request *request, const pe_application *rule,
                     const pe_tensor *entries, const pe_view *input,
                     const pe_apply_options *options, pe_binding *ret_binding,
                     pe_error *reterr);

/* The first row of the entries for a row of the input, by its position on an axis. */
uint64_t pe_binding_row(const pe_binding *binding, uint64_t row, size_t axis);

pe_row_role pe_binding_role(const pe_binding *binding, uint64_t row);

#endif
