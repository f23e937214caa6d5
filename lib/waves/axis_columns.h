/* Which axis turns which pair of columns, and at which frequency. */
#ifndef PE_AXIS_COLUMNS_H
#define PE_AXIS_COLUMNS_H

#include "waves/axes.h"

typedef struct pe_axis_columns {
    uint64_t widths[PE_AXES_MAX]; /* columns of each axis, even numbers */
    bool reversed;                /* the last axis has the first columns */
    bool alternating; /* the axes take one pair each in turn; all have equally many */
    bool split; /* one ladder for all columns, of which the axes take one frequency each in
                 * turn, beginning with the one that has the first columns; all have equally
                 * many. Else each axis has a ladder for its own columns */
    double theta;
} pe_axis_columns;

/* Set axes->axis_of_pair, from -1. */
void pe_axis_columns_assign(const pe_axis_columns *columns, pe_axes *axes);

/* Set the frequency of each pair, 0 for those of no axis: `first` times
 * theta^(-2i/w), where i counts the frequencies of a ladder of w columns. False if memory ran
 * out.
 */
bool pe_axis_columns_ladders(const pe_axis_columns *columns, const pe_axes *axes, pe_wide first,
                             pe_wide *ret_frequencies, pe_pace *pace);

#endif
