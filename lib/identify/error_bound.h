/* How far entries of a table may be off, and counting those that are further from the exact
 * ones.
 */
#ifndef PE_ERROR_BOUND_H
#define PE_ERROR_BOUND_H

#include "identify/exact_waves.h"

/* How far entries of a table may be off. */
typedef struct pe_error_bound {
    pe_observation *seen;
    double first_distance, angle, amplitude, roundings; /* of the pe_proposal */
    bool low_precision;                                 /* of the same */
    const pe_exact_waves *waves; /* of the request, where they are known; or NULL */
} pe_error_bound;

/* Whether `count` lines of the table, spread over the first ones, or all but a quarter of them,
 * are near those of the tensor: for turning proposals down soon. *ret_read: the view could be
 * read. */
bool pe_check_sampled_lines(pe_request *request, size_t tensor, const pe_error_bound *bound,
                            uint64_t count, bool *ret_read);

/* Find entries that are further off than float32 arithmetic would bring them, those of a table
 * in float64 that are further off than float64 arithmetic would, and whether all entries are
 * what float64 arithmetic gives, rounded once. They are compared with the tensor in f64.
 * `narrow` is the request in the table's dtype: sums of products take long in f64, so the first
 * block that has entries which float64 arithmetic does not give is the last one that is
 * compared in f64. False: the runner ended it, memory ran out or the view cannot be read, as
 * *reterr says. */
bool pe_count_misfits(pe_request *wide, pe_request *narrow, size_t tensor,
                      const pe_error_bound *bound, const pe_runner *runner, pe_misfits *ret_f32,
                      pe_misfits *ret_f64, bool *ret_is_f64, pe_error *reterr);

#endif
