/* What is seen of a table from elsewhere: measured once, when a scheme first asks, and shared
 * by all recognisers. Measurements only lead to
 * proposals; what a table is, is decided by comparing every entry. */
#ifndef PE_OBSERVATION_H
#define PE_OBSERVATION_H

#include "scheme.h"

/* A column of numbers x[row] = amplitude * cos(frequency * row + phase). */
typedef struct pe_observed_wave {
    bool found;
    double frequency; /* radians per row, 0 < frequency < π; else the other members are unset */
    double phase;     /* radians, from -π to π */
    double amplitude; /* above 0, finite */
    double turns;     /* the angle that it was seen to make, in radians */
} pe_observed_wave;

/* Columns whose frequencies fall geometrically from `first` on. */
typedef struct pe_observed_geometry {
    double first;                    /* the frequency of column 0, radians per row */
    double ratio;                    /* of a column's frequency to the one before, below 1 */
    double first_error, ratio_error; /* relative: what they may be off by */
} pe_observed_geometry;

/* The position of row 0 that some columns say, which was asked for. */
typedef struct pe_observed_offset {
    uint64_t first, stride, count; /* of the columns; count 0: none */
    bool sines, found;
    double offset;
} pe_observed_offset;

#define PE_OBSERVED_OFFSETS 32 /* that are kept */

typedef struct pe_observation {
    pe_view view;            /* without axes of size 1 */
    uint64_t rows, columns;  /* of a matrix; of a vector rows and 1; of others 0 */
    pe_view flat;            /* the same elements as a matrix of lines along the last axis; of a
                              * table of more than two axes that is not packed, rank 0 */
    size_t sampled;          /* rows [0, sampled) that have been read */
    double *sample;          /* [sampled, columns] */
    pe_observed_wave *waves; /* [columns]; NULL until they have been asked for */
    pe_observed_offset offsets[PE_OBSERVED_OFFSETS]; /* in turn; of these waves */
    size_t offset_count;
    const pe_set *set; /* schemes with trained numbers propose requests with this set, borrowed;
                          NULL: none */
    const char *set_name;
    double *work; /* entries that rotary laws may still be compared with; NULL: any number */
    const pe_runner *runner; /* of computations for the search, borrowed; NULL: none */
} pe_observation;

/* How many of a matrix's rows are read. */
uint64_t pe_observation_rows(uint64_t rows, uint64_t columns);

/* Read the first rows of a view. False: it cannot be read, or memory ran out. */
bool pe_observation_begin(pe_observation *seen, const pe_view *view);
void pe_observation_end(pe_observation *seen);

/* Observe a vector as one row; false: it is too long for one or cannot be read, or memory ran
 * out. The caller ends it. */
bool pe_observation_begin_row(const pe_observation *seen, pe_observation *ret_row);

/* The unit in the last place at 1 of the table's dtype, or of the digits that its numbers were
 * rounded to; of integers 0. */
double pe_observation_unit(const pe_view *view);

/* An entry of the sample. */
double pe_observation_entry(const pe_observation *seen, uint64_t row, uint64_t column);

/* Whether two numbers are the same but for the grain of the table. */
bool pe_observation_is_same(const pe_observation *seen, double one, double other);

/* The waves of all columns of a matrix; NULL if memory ran out. */
const pe_observed_wave *pe_observation_waves(pe_observation *seen);

/* Doubles in memory, [rows, columns], as a table. */
pe_view pe_observation_view_doubles(double *entries, uint64_t rows, uint64_t columns);

/* What the frequency of a wave may be off by, relative. A wave that makes but a part of a turn
 * says little. */
double pe_observation_wave_error(const pe_observation *seen, const pe_observed_wave *wave);

/* How many of so many waves may be bad. */
size_t pe_observation_bad_waves(size_t count);

/* Fit a geometric law to the waves of `count` columns from `first` on, `stride` apart: False if
 * fewer than two of them are waves, or they follow no such law. */
bool pe_observation_fit_geometry(pe_observation *seen, uint64_t first, uint64_t stride,
                                 uint64_t count, pe_observed_geometry *ret_geometry);

/* The position of row 0, in rows, where the waves of these columns are all cosines (or sines)
 * of their angles: the q for which every phase is frequency * q modulo a turn. False: there is
 * none. */
bool pe_observation_find_offset(pe_observation *seen, uint64_t first, uint64_t stride,
                                uint64_t count, bool sines, double *ret_offset);

/* The decimal of the fewest digits within a relative distance of a number. */
double pe_find_decimal(double number, double relative);

#endif
