/* The order that the columns of a table of sines and cosines are brought into, so that schemes
 * know them again. */
#ifndef PE_COLUMN_ORDER_H
#define PE_COLUMN_ORDER_H

#include "recognise/observation.h"

/* Find the usual order of a matrix of waves along its rows, or along one axis each of the grid
 * that its rows are: axis by axis, of each sines and cosines in turn, by falling frequency, or
 * the only kind by falling frequency. Frequencies are below half a turn a cell. order[c] is the
 * column that comes to place c; *ret_count is the number of columns, or 0 if there is no such
 * order, or the columns are in it; *ret_pairs: sines and cosines alternate along the rows.
 * `waves` are those of the columns as an observation has them; NULL: they are fitted. False:
 * memory ran out or the view cannot be read, as *reterr says. */
bool pe_column_order_find(const pe_view *view, const pe_observed_wave *waves,
                          uint16_t order[PE_IDENTITY_COLUMNS_MAX], uint64_t *ret_count,
                          bool *ret_pairs, pe_error *reterr);

#endif
