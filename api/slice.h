/* A matrix out of a tensor, for forms that show no more axes than two. */
#ifndef API_SLICE_H
#define API_SLICE_H

#include "formats.h"

#define API_SLICE "slice"

/* The row of the option, for the tables of formats that take it. */
#define API_SLICE_ROW                                                                          \
    {                                                                                          \
        .name = API_SLICE, .type = PE_INTEGER_LIST, .minimum = 0, .maximum = 0x1p53,           \
        .help = "indices of the leading axes, so that the last two remain: one of a tensor "   \
                "of rank 3, two of rank 4"                                                     \
    }

typedef struct api_slice {
    uint64_t first; /* element of the tensor */
    uint64_t rows, columns;
} api_slice;

/* The matrix of the selection's first tensor: all of it without a slice, where the leading axes
 * run together; a vector is one row. */
api_slice api_slice_of(const api_selection *selection);

/* Refuse indices that the tensor does not have; where it is `needed`, also that none are given
 * for a tensor of more axes than two. */
void api_slice_check(const api_selection *selection, bool needed, pe_error *error);

#endif
