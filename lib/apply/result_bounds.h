/* How far results of an application may be off that a kernel computed in some arithmetic: the
 * bound of each sum of products, from the input at hand, as pe_apply_compare has it. */
#ifndef PE_APPLY_RESULT_BOUNDS_H
#define PE_APPLY_RESULT_BOUNDS_H

#include "apply/result.h"
#include "foreign/tolerance.h"

typedef struct pe_result_bounds {
    pe_apply *apply;
    const pe_runner *runner;
    pe_request *lossy;
    pe_entries losses[2]; /* of the entries, or without columns: they have none */
    pe_entry_bound entry; /* of a term, by its entry */
    double input;         /* of a term that has none, by itself */
    size_t count;         /* of numbers, at most */
    double *numbers;      /* magnitudes of the input, and its elements */
    double *bounds;       /* of results [first, first + filled) */
    uint64_t first, filled;
    pe_error *stopped; /* by the runner */
} pe_result_bounds;

/* Open the bounds of the results of an application, which must outlive them. Fails as
 * pe_stream_new; pe_result_bounds_done may be called in any case. */
pe_status pe_result_bounds_init(pe_result_bounds *ret_bounds, pe_apply *apply,
                                pe_dtype arithmetic, const pe_runner *runner, pe_error *stopped,
                                pe_error *reterr);
void pe_result_bounds_done(pe_result_bounds *bounds);

/* Read the bounds of some results from one on, as doubles: as pe_apply_read, of bytes of these.
 */
size_t pe_result_bounds_read(pe_result_bounds *bounds, uint64_t offset, void *dst, size_t size);

#endif
