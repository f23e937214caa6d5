/* The first rows of a table, as much of it as claims are evaluated on, and what is counted of
 * them. A row is a line along the last axis. */
#ifndef PE_FIRST_ROWS_H
#define PE_FIRST_ROWS_H

#include "identify/search_runner.h"

typedef struct pe_first_rows {
    pe_view view;            /* without axes of size 1; complex numbers are two columns */
    pe_view lines;           /* the same with their parts as the last axis, as it is read */
    uint64_t total;          /* rows of the table */
    uint64_t rows, columns;  /* that are held: the table, or its first rows; of a constant table
                              * all, though not as many entries are held */
    double *entries;         /* [rows, columns]; zeros have no sign */
    double mean, deviation;  /* of the entries, if all are finite */
    uint64_t not_finite;     /* how many are not */
    bool integers, constant; /* all of them are; they are one number */
    pe_search_runner *runner; /* of the search, borrowed */
} pe_first_rows;

/* Read one row, or as many as are held at most. False: memory ran out, or the view cannot be
 * read. pe_first_rows_done frees what is held, also then. */
bool pe_first_rows_read(pe_first_rows *self, const pe_view *view, pe_search_runner *runner,
                        bool one);
void pe_first_rows_done(pe_first_rows *self);

/* How many of the rows, or columns, are different; 0 if it cannot be told. */
uint64_t pe_count_different_rows(const pe_first_rows *self);
uint64_t pe_count_different_columns(const pe_first_rows *self);

/* Whether entries are the same along all diagonals of two axes, `axis` and the next one, of at
 * least four indices each, and not along `axis` as well. */
bool pe_has_diagonals(const pe_first_rows *self, size_t axis);

/* The correlation of neighbouring rows, without the mean of each column. */
double pe_correlate_rows(const pe_first_rows *self);

/* Whether entries have no structure that a simple test sees: products of entries that are up to
 * eight apart along rows, columns or diagonals are as those of independent numbers, in all and
 * within each of the rows and columns. False also if the runner ends it. */
bool pe_looks_random(const pe_first_rows *self);

#endif
