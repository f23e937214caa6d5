/* The arithmetic of libraries: positions, frequencies, products and functions, each rounded to
 * a format. */
#ifndef PE_RECIPE_H
#define PE_RECIPE_H

#include "recognise/seen.h"

/* Find a recipe whose frequencies, near those of the exact tensor, give every entry of the
 * table: the product with the position, rounded; a sine or cosine within one float, rounded;
 * times a float32 amplitude, rounded to the table's dtype. Or, of a vector of frequencies, a
 * formula that gives all of them. *ret_computation says which; without a text, none. `wide` is
 * the request in f64; `coarse`: formats of 16 bits are tried, too. False: the runner ended it,
 * memory ran out or the view cannot be read, as *reterr says. */
bool pe_recipe_find(pe_request *wide, size_t tensor, pe_seen *seen, bool coarse,
                    const pe_runner *runner, pe_computation *ret_computation, pe_error *reterr);

#endif
