/* The arithmetic of most libraries: float32 frequencies times float32 positions. */
#ifndef PE_RECIPE_H
#define PE_RECIPE_H

#include "foreign/seen.h"

/* Find out whether float32 frequencies, near those of the exact tensor, give every entry of the
 * table: the product with the position rounded to float32, a sine or cosine within one float,
 * rounded to the table's dtype. `wide` is the request in f64. False: the runner ended it,
 * memory ran out or the view cannot be read, as *reterr says. */
bool pe_recipe_f32(pe_request *wide, size_t tensor, pe_seen *seen, const pe_runner *runner,
                   bool *ret_fits, pe_error *reterr);

#endif
