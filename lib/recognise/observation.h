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
    double spread;    /* the mean of what entries are off by, of the amplitude */
    double turns;     /* the angle that it was seen to make, in radians */
} pe_observed_wave;

typedef struct pe_observation {
    pe_view view;            /* without axes of size 1 */
    uint64_t rows, columns;  /* of a matrix; of a vector rows and 1; of others 0 */
    pe_view flat;            /* the same elements as a matrix of lines along the last axis; of a
                              * table of more than two axes that is not packed, rank 0 */
    size_t sampled;          /* rows [0, sampled) that have been read */
    double *sample;          /* [sampled, columns] */
    pe_observed_wave *waves; /* [columns]; NULL until they have been asked for */
    struct pe_ladder *ladders; /* that have been read of them, a list */
    const pe_set *set; /* schemes with trained numbers propose requests with this set, borrowed;
                          NULL: none */
    const char *set_name;
    double *work; /* entries that rotary laws may still be compared with; NULL: any number */
    const pe_runner *runner; /* of computations for the search, borrowed; NULL: none */
} pe_observation;

/* How many of a matrix's rows are read. */
uint64_t pe_observation_rows(uint64_t rows, uint64_t columns);

/* Read the first rows of a view. False: it cannot be read, or memory ran out; nothing is held.
 */
bool pe_observation_begin(pe_observation *seen, const pe_view *view);
void pe_observation_end(pe_observation *seen);

/* Free the ladders that have been read. */
void pe_observation_forget_ladders(pe_observation *seen);

/* Observe a vector as one row; false: it is too long for one or cannot be read, or memory ran
 * out; nothing is held then. Else the caller ends it. */
bool pe_observation_begin_row(const pe_observation *seen, pe_observation *ret_row);

/* The unit in the last place at 1 of the table's dtype, or of the digits that its numbers were
 * rounded to; of integers 0. */
double pe_observation_unit(const pe_view *view);

/* An entry of the sample. */
double pe_observation_entry(const pe_observation *seen, uint64_t row, uint64_t column);

/* Whether two numbers are the same but for the grain of the table. */
bool pe_observation_is_same(const pe_observation *seen, double one, double other);

/* Whether all entries of the sample, if there is one, are one number. */
bool pe_observation_is_constant(const pe_observation *seen);

/* The waves of all columns of a matrix; NULL if memory ran out. */
const pe_observed_wave *pe_observation_waves(pe_observation *seen);

/* Doubles in memory, [rows, columns], as a table. */
pe_view pe_observation_view_doubles(double *entries, uint64_t rows, uint64_t columns);

/* What the frequency of a wave may be off by, relative. A wave that makes but a part of a turn
 * says little. */
double pe_observation_wave_error(const pe_observation *seen, const pe_observed_wave *wave);

/* The decimal of the fewest digits within a relative distance of a number. */
double pe_find_decimal(double number, double relative);

#endif
