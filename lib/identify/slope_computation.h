/* The float32 arithmetic of biases that are a slope of each head times a distance. */
#ifndef PE_SLOPE_COMPUTATION_H
#define PE_SLOPE_COMPUTATION_H

#include "recognise/observation.h"

/* Find out whether every entry is the product of a float32 slope and a whole distance, rounded
 * to float32 and to the table's dtype. The slopes are either all within a float of the powers
 * of a base that was rounded to float32 (transformers' build_alibi_tensor), or all within a
 * float of the exact ones; that of a head with one or two entries is that float itself. `wide`
 * is the request in f64; without a tensor `slopes` nothing fits. False: the runner ended it,
 * memory ran out or the view cannot be read, as *reterr says. */
bool pe_slope_computation(pe_request *wide, size_t tensor, pe_observation *seen,
                          const pe_runner *runner, bool *ret_fits, pe_error *reterr);

#endif
