/* Comparing results of an application with a tensor from elsewhere, or some of them. */
#ifndef PE_APPLY_RESULT_COMPARISON_H
#define PE_APPLY_RESULT_COMPARISON_H

#include "apply/result.h"

/* Open a tensor from elsewhere in the shape in which a result is compared, if it has that.
 * Fails as pe_source_open. */
pe_status pe_compared_open(const pe_apply *apply, const pe_view *view, const pe_runner *runner,
                           pe_source *ret_source, pe_error *reterr);

/* Results [first, first + count) of all, times a factor; count 0: all of them. */
typedef struct pe_result_part {
    uint64_t first, count;
    double factor;
} pe_result_part;

/* As pe_apply_compare, of a part and of the view of pe_compared_open. */
pe_status pe_apply_compare_part(pe_apply *apply, const pe_view *view, pe_result_part part,
                                pe_tolerance tolerance, const pe_runner *runner,
                                pe_comparison *ret_comparison, pe_error *reterr);

#endif
