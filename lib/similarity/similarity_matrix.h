/* Metrics between the rows of a table of doubles.
 *
 * The rows are kept in panels of eight, column by column, so that a kernel adds up eight sums
 * at once. Each sum runs over the columns in ascending order on every processor; so entry (i,
 * j) of a matrix has the bits of entry (j, i). */
#ifndef PE_SIMILARITY_MATRIX_H
#define PE_SIMILARITY_MATRIX_H

#include "scheme.h"

typedef enum pe_metric { PE_L2, PE_L1, PE_DOT, PE_COSINE, PE_PEARSON } pe_metric;

typedef struct pe_similarity_matrix {
    size_t n, d; /* rows and columns of the table */
    pe_metric metric;
    double *panels; /* [panel][d][PE_PANEL] */
    double *norms;  /* of each row; NaN for a row without a direction */
} pe_similarity_matrix;

/* Allocate the table [n, d]. False if memory ran out. */
bool pe_similarity_init(pe_similarity_matrix *matrix, size_t n, size_t d, pe_metric metric,
                        pe_pace *pace);

/* The bytes of a table [n, d]. */
uint64_t pe_similarity_bytes(uint64_t n, uint64_t d);

/* Set rows [first, first + count) of the table; rows[r·d + c] is column c of row first + r. */
void pe_similarity_set_rows(pe_similarity_matrix *matrix, size_t first, size_t count,
                            const double *rows);

/* Normalise rows as the metric needs it, and compute their norms: each row once. */
void pe_similarity_normalise(pe_similarity_matrix *matrix, size_t first, size_t count);

/* A bound that no magnitude of the metric exceeds, but for rounding errors. */
double pe_similarity_bound(const pe_similarity_matrix *matrix);

/* Receives the metric of one of the compared rows with rows [column, column + count) of the
 * table. `index` counts the compared rows. */
typedef void pe_take_metrics(void *context, size_t index, size_t column, size_t count,
                             const double *metrics);

/* Compare rows[0] … rows[count - 1] of the table, or rows first, first + 1, … if `rows` is
 * NULL, with every row of the table. */
void pe_similarity_compare(const pe_similarity_matrix *matrix, const double *rows, size_t first,
                           size_t count, pe_take_metrics *take, void *context);

#endif
