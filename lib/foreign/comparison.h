/* Comparing a table from elsewhere with exact elements of any source. */
#ifndef PE_FOREIGN_COMPARISON_H
#define PE_FOREIGN_COMPARISON_H

#include "posenc.h"

/* The exact elements, row-major. */
typedef struct pe_exact_side {
    void *context;
    void *losses; /* the same of entries of PE_LOSS; NULL: they have none, or none are needed */
    bool bounds;  /* or of what entries may be off, before they are rounded to the dtype */
    /* As pe_stream_read; 0 before the end: they cannot be read. */
    size_t (*read)(void *context, uint64_t offset, void *dst, size_t size);
    const char *name;
    pe_dtype dtype;
    size_t rank;
    uint64_t shape[PE_VIEW_RANK_MAX];
    const pe_request *request; /* whose computation it is, for the runner */
} pe_exact_side;

/* Check that the view has the exact shape, axes aside of size 1 or along which it is constant.
 * False: a problem was added. */
bool pe_compare_fits(const pe_view *view, const pe_exact_side *side, pe_error *reterr);

/* As pe_compare_table. */
pe_status pe_compare_sides(const pe_exact_side *side, const pe_view *view,
                           pe_tolerance tolerance, const pe_runner *runner,
                           pe_comparison *ret_comparison, pe_error *reterr);

/* Whether most entries differ, and bounds are about as large as these, so that nearly any
 * entries are within them. */
bool pe_comparison_is_vague(const pe_comparison *comparison);

#endif
