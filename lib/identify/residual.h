/* What is left of a table when the tensor of a request is taken from it, line by line. */
#ifndef PE_RESIDUAL_H
#define PE_RESIDUAL_H

#include "posenc.h"

/* Whether what is left is noise: as strong in all columns and in all rows (its mean squares
 * there are within a factor of three, of 32 entries or more), and in no column tied to the row
 * before; infinite entries are left out. It hides no more than half of the columns, unless
 * `shown`: another tensor of the request shows them. *ret_size: its root of the mean square.
 * The view has the tensor's shape. False also without memory, or if the runner ended it. */
bool pe_residual_is_noise(pe_request *request, size_t tensor, const pe_view *view, bool shown,
                          const pe_runner *runner, double *ret_size);

/* Measure how far what is left of `request` is the change to another one, by least squares: 1
 * if that is all; in about so many lines. *ret_error: what that may be off by, as far as the
 * rest is noise. False as above.
 */
bool pe_residual_measure_change(pe_request *request, pe_request *changed, size_t tensor,
                                const pe_view *view, uint64_t lines, const pe_runner *runner,
                                double *ret_part, double *ret_error);

/* The first line with an entry that is off by more than `far`, of a table that was compared
 * with the tensor; 0 if there is none. */
uint64_t pe_residual_first_far(pe_request *request, size_t tensor, const pe_view *view,
                               const pe_comparison *compared, double far,
                               const pe_runner *runner);

#endif
