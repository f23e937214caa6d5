/* Positions that differ by row: a tensor of integers from elsewhere. */
#ifndef PE_APPLY_POSITION_IDS_H
#define PE_APPLY_POSITION_IDS_H

#include "posenc.h"

/* The extents of the input's axes that positions may have, and how many axes of their own come
 * before these. */
typedef struct pe_id_axes {
    uint64_t length, batch;
    size_t count;
} pe_id_axes;

typedef struct pe_id_strides {
    uint64_t length, batch, axis;
} pe_id_strides;

/* Check that positions [batch, length], [1, length], [length] or, of length 1, [batch] fit the
 * input, each with axes of its own if there are such, and find their strides. False: a problem
 * was added to reterr. */
bool pe_ids_fit(const pe_view *ids, const pe_id_axes *axes, pe_id_strides *ret_strides,
                pe_error *reterr);

/* Read them as rows after that of the position `first`: an array from malloc. Fails with
 * PE_NO_MEMORY, with PE_OUT_OF_RANGE for "position_ids", and as the runner ends it. */
pe_status pe_ids_read(const pe_view *ids, int64_t first, uint64_t rows,
                      const pe_request *request, const pe_runner *runner,
                      uint32_t **ret_offsets, pe_error *reterr);

#endif
