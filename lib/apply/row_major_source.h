/* The elements of a tensor from elsewhere in row-major order, whatever their own. */
#ifndef PE_APPLY_ROW_MAJOR_SOURCE_H
#define PE_APPLY_ROW_MAJOR_SOURCE_H

#include "posenc.h"

typedef struct pe_source {
    pe_view view;        /* row-major, maybe with swapped bytes */
    unsigned char *copy; /* of elements that lie in another order, or NULL; from malloc */
} pe_source;

/* Open a view, which must be readable as long as the source. Elements that are not row-major
 * are copied once. The parts of complex numbers become neighbours along the last axis. Fails
 * with PE_NO_MEMORY, with PE_MALFORMED for "body", and as the runner ends it. pe_source_done
 * may be called in any case. */
pe_status pe_source_open(pe_source *ret_source, const pe_view *view, const pe_request *request,
                         const pe_runner *runner, pe_error *reterr);
void pe_source_done(pe_source *source);

/* At most as many bytes does the source of a view hold. */
uint64_t pe_source_footprint(const pe_view *view);

/* Its shape: pe_source_open's view, without what reads it. */
pe_view pe_source_shape(const pe_view *view);

/* Elements [first, first + count) of a row-major view, as one axis. */
pe_view pe_source_flat(const pe_view *view, uint64_t first, uint64_t count);

/* Read `count` elements from one on, in native byte order; false: they cannot be read. */
bool pe_source_read(const pe_source *source, uint64_t first, uint64_t count, void *dst);

#endif
