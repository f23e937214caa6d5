/* The option `slice`: it picks a matrix of a tensor, for formats that show two axes. */
#ifndef API_SLICE_H
#define API_SLICE_H

#include "formats/format.h"

#define API_SLICE "slice"

/* The row of the option, for the option tables of formats. */
#define API_SLICE_ROW                                                                          \
    {                                                                                          \
        .name = API_SLICE, .type = PE_INTEGER_LIST, .minimum = 0, .maximum = 0x1p53,           \
        .list_length = PE_RANK_MAX - 2,                                                        \
        .help = "indices of the leading axes, so that the last two remain: one of a tensor "   \
                "of rank 3, two of rank 4"                                                     \
    }

typedef struct api_slice {
    uint64_t first; /* index of its first element in the tensor */
    uint64_t rows, columns;
} api_slice;

/* The matrix that is picked of the selection's first tensor. Without the option it is the whole
 * tensor, with all axes but the last as rows; a vector is one row. */
api_slice api_slice_select(const api_selection *selection);

/* Add to `error` if the indices do not fit the selection's first tensor. If the option is
 * `needed`, also if it is missing for a tensor of more than two axes. */
void api_slice_check(const api_selection *selection, bool needed, pe_error *error);

#endif
