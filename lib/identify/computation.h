/* The arithmetic of libraries: positions, frequencies, products and functions, each rounded to
 * a format. */
#ifndef PE_COMPUTATION_H
#define PE_COMPUTATION_H

#include "recognise/observation.h"

/* Find the computation that gives every entry of the table. It has frequencies near those of
 * the exact tensor. Their products with the position are rounded; the sine or cosine, within
 * one float, is rounded; so is its product with a float32 amplitude, to the table's dtype. If
 * the table is a vector of frequencies, a formula has to give all of them. *ret_computation has
 * no text if none fits. `wide` is the request in f64; `low_precision`: formats of 16 bits are
 * tried, too. False: the runner ended it, memory ran out or the view cannot be read, as *reterr
 * says. */
bool pe_computation_find(pe_request *wide, size_t tensor, pe_observation *seen,
                         bool low_precision, const pe_runner *runner,
                         pe_computation *ret_computation, pe_error *reterr);

#endif
