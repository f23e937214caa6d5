/* What the waves of some columns say together: whether their frequencies fall geometrically,
 * and the position of row 0. */
#ifndef PE_WAVE_LADDER_H
#define PE_WAVE_LADDER_H

#include "recognise/observation.h"

/* Columns first, first + stride, … of a table. */
typedef struct pe_columns {
    uint64_t first, stride, count;
} pe_columns;

/* The wave of a column. A frequency of more than half a turn a row looks slower, and as if time
 * went backwards; its neighbours tell the right one. */
typedef struct pe_rung {
    double index;              /* of the column among those of the ladder */
    double frequency, error;   /* radians per row; relative: what it may be off by */
    double log;                /* of the frequency */
    double phase, phase_error; /* of a cosine, in radians, in the row `middle` */
} pe_rung;

/* What is known of a ladder: the logarithm of the frequency of column 0, what it changes by
 * from column to column, and the position of the row `middle`, with their covariances. */
typedef struct pe_ladder_line {
    double at[3], covariance[3][3];
} pe_ladder_line;

typedef struct pe_ladder {
    struct pe_ladder *next; /* that was read of the same table */
    pe_columns columns;
    bool sines;   /* it was read as one of sines */
    size_t count; /* of waves that have been found */
    double middle;
    bool geometric;                  /* log frequency = first + index * ratio */
    double first, ratio;             /* logarithms */
    double first_error, ratio_error; /* of these */
    bool placed, backwards; /* all are cosines, or sines, of position * frequency; positions
                             * fall from row to row */
    double offset;          /* the position of row 0 then, in rows, as if they rose */
    pe_rung rungs[];        /* [count], in the order of columns */
} pe_ladder;

/* Fit a line through the logarithms of frequencies in their order, or from the last one on, of
 * which `allowed` may lie elsewhere. Returns how many were used before one more does. */
size_t pe_ladder_fit(const pe_rung *rungs, size_t count, bool from_last, size_t allowed,
                     pe_ladder_line *ret_line);

/* Read a ladder of cosines or of sines, once: the observation keeps it, of a wide table
 * until another one is read. NULL: no column is a wave, or memory ran out. */
const pe_ladder *pe_ladder_read(pe_observation *seen, pe_columns columns, bool sines);

#endif
