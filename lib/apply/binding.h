/* Which rows of an encoding belong to a row of an input, by the names of axes. */
#ifndef PE_APPLY_BINDING_H
#define PE_APPLY_BINDING_H

#include "posenc.h"

#define PE_AXIS_NAME_SIZE 32 /* longer ones are refused */

/* An input as rows: indices of all its axes but the last one. Row (i, j, …) needs the row
 * i · strides[0] + j · strides[1] + … of the entries, or as many from there on as there are
 * results. */
typedef struct pe_binding {
    size_t rank;
    uint64_t shape[PE_VIEW_RANK_MAX], strides[PE_VIEW_RANK_MAX];
    uint64_t rows, columns;                          /* of the input */
    uint64_t results;                                /* of a row */
    bool has_result_axis;                            /* false: one result, and no axis for it */
    char names[PE_VIEW_RANK_MAX][PE_AXIS_NAME_SIZE]; /* of the result's axes, or "" */
} pe_binding;

/* Bind an input to the entries of a request's tensor. `axes`: names of all axes of the input,
 * or NULL. False: a problem was added to reterr. */
bool pe_binding_make(const pe_request *request, const pe_application *rule,
                     const pe_tensor *entries, const pe_view *input, const char *axes,
                     pe_binding *ret_binding, pe_error *reterr);

/* The first row of the entries for a row of the input. */
uint64_t pe_binding_row(const pe_binding *binding, uint64_t row);

#endif
