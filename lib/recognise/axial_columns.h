/* How the axes of a grid may turn the columns of a rotary table. */
#ifndef PE_RECOGNISE_AXIAL_COLUMNS_H
#define PE_RECOGNISE_AXIAL_COLUMNS_H

#include "recognise/observation.h"
#include "recognise/wave_law.h"
#include "waves/axial_request.h"

#define PE_AXIAL_TEXT 160

/* An arrangement of columns; `request.widths` are those of the axes. */
typedef struct pe_axial_columns {
    pe_axial_request request; /* axes, pairs and widths */
    bool full;
    int layout;                 /* PE_LAYOUT_…, of a full table */
    bool reversed, alternating; /* the order of the axes; pairs in turn */
    bool split_ladder;          /* one ladder of frequencies for all axes */
    char text[PE_AXIAL_TEXT];   /* the arguments that say all this */
} pe_axial_columns;

typedef void pe_axial_columns_use(void *context, const pe_axial_columns *columns);

/* Hand over each arrangement that has the axis of every column; -1: it does not change, and may
 * be any one's. */
void pe_axial_columns_try(const pe_observation *seen, const int32_t *axis_of_column,
                          size_t axes, pe_axial_columns_use *use, void *context);

/* The columns of the first entry of an axis's pairs. */
pe_columns pe_axial_columns_select(const pe_axial_columns *columns, size_t axis);

/* Which frequency of a ladder that all axes share is the first one of an axis, as a part of
 * that ladder. */
double pe_axial_columns_start(const pe_axial_columns *columns, size_t axis);

#endif
