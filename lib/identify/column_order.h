/* Orders that the columns of a table are brought into, so that schemes know them again. They
 * are rough: recognisers tell a law by most columns, and which column is which is told by that
 * (column_matching.h). */
#ifndef PE_COLUMN_ORDER_H
#define PE_COLUMN_ORDER_H

#include "recognise/observation.h"

#define PE_COLUMN_ORDERS 3

/* Find orders of a matrix. Of sines and cosines along its rows, or along one axis each of the
 * grid that its rows are: axis by axis, by falling frequency, sines and cosines in turn; and,
 * of one axis, first the cosines, and with both exchanged, as where positions fall. Of waves of
 * one kind axis by axis, by falling frequency. Of other tables, of which each row rises or
 * falls but for few entries, and of those that begin with 0 or their largest number alone: by
 * the entries of the first rows, falling and rising. ret_orders[i][c] is the column that comes
 * to place c. `waves` are those of the columns as an observation has them; NULL: they are
 * fitted. False: memory ran out or the view cannot be read, as *reterr says. */
bool pe_column_orders_find(const pe_view *view, const pe_observed_wave *waves,
                           uint16_t ret_orders[PE_COLUMN_ORDERS][PE_IDENTITY_COLUMNS_MAX],
                           size_t *ret_count, pe_error *reterr);

#endif
