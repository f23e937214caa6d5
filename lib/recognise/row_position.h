/* The position of one row, from its sines and cosines at known frequencies. */
#ifndef PE_ROW_POSITION_H
#define PE_ROW_POSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PE_ROW_SIGNALS_MAX 96

/* A column: the sine or the cosine of position times frequency. */
typedef struct pe_row_signal {
    uint64_t column;
    double frequency; /* radians per position, above 0 */
    bool sine;
} pe_row_signal;

/* What a row is fitted to. */
typedef struct pe_row_law {
    pe_row_signal signals[PE_ROW_SIGNALS_MAX]; /* the slowest first */
    size_t count;
    double amplitude;
    double unit;   /* in the last place at 1, of the entries */
    double grain;  /* what they may be off by besides */
    double recipe; /* relative: what an angle may be off by; that of a frequency of 1 only by
                    * what its product's rounding does */
    bool even;     /* cosines alone: a position and its opposite have the same row */
    bool any;      /* whole positions are no likelier than others */
} pe_row_law;

typedef struct pe_row_position {
    bool found;
    double low, high; /* the position lies between */
} pe_row_position;

/* Add a column to a law, unless there is no room; slower ones come first. */
void pe_row_law_add(pe_row_law *law, uint64_t column, double frequency, bool sine);

/* Narrow down the position of a row, from slow columns, which say it roughly and without doubt,
 * to fast ones, which say it exactly but for whole turns. Of several that are left it is a
 * whole number, unless any is as likely, and the one that is nearest to 0. */
pe_row_position pe_row_position_fit(const pe_row_law *law, const double *row);

/* The number that lies between: a whole one, or a decimal of few digits. */
double pe_row_position_number(pe_row_position position);

#endif
