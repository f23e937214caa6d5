/* The positions of all rows of a table whose frequencies are known: evenly spaced ones, or any.
 */
#ifndef PE_TABLE_POSITIONS_H
#define PE_TABLE_POSITIONS_H

#include "recognise/observation.h"
#include "recognise/row_position.h"
#include "recognise/wave_law.h"

#define PE_TABLE_POSITIONS_TEXT (PE_IDENTITY_QUERY_MAX - 512)

typedef struct pe_table_positions {
    double farthest;                     /* the largest magnitude */
    double offset, step;                 /* of even spacing; of a list 0 */
    char rows[PE_TABLE_POSITIONS_TEXT];  /* "length=4" or "positions=3,1,4" */
    char spacing[2 * PE_PRINT_MAX + 32]; /* "&offset=7&step=20" without what is the default */
} pe_table_positions;

/* Whether a column, that of the fastest wave, is the same in all rows that have been read: then
 * there are no positions to be found. */
bool pe_column_is_still(const pe_observation *seen, uint64_t column);

/* Make a law of falling or rising frequencies, radians per position: of those some, near enough
 * to each other that each one says which turn of the next it is. `sines` and `cosines` are the
 * columns of frequency 0, 1 …; count 0: there are none. */
void pe_row_law_init(pe_row_law *law, const double *frequencies, pe_columns sines,
                     pe_columns cosines, double amplitude, double unit);

/* Find the positions of a table's rows by a law, first as if its entries were exact, then as if
 * they had been computed in float32: by some rows if
 * they are evenly spaced, else by each row. False: its rows are not of the law, or their
 * positions are no answer: all the same, or too many to say. */
bool pe_table_positions_find(const pe_observation *seen, pe_row_law *law,
                             pe_table_positions *ret_positions);

#endif
