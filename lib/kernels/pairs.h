/* Sums over the columns of two rows: the inner loop of similarity matrices. */
#ifndef PE_PAIRS_H
#define PE_PAIRS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum pe_pair_kind {
    PE_PAIR_PRODUCTS,   /* Σ a b */
    PE_PAIR_SQUARES,    /* Σ (a - b)² */
    PE_PAIR_MAGNITUDES, /* Σ |a - b| */
} pe_pair_kind;

#define PE_PANEL     8 /* rows of the table in one panel */
#define PE_PAIR_ROWS 4 /* rows that one call compares with the panels */

/* Compare PE_PAIR_ROWS rows with all rows of `count` panels: sums[r·stride + j] is the sum over
 * `columns` columns of row r with row j of the panels, for r < PE_PAIR_ROWS and
 * j < count·PE_PANEL. Column c of row r is rows[r][c·PE_PANEL]; `panels` is
 * [count][columns][PE_PANEL]. Columns are added up in ascending order. */
typedef void pe_pairs(pe_pair_kind kind, const double *const rows[PE_PAIR_ROWS],
                      const double *panels, size_t columns, size_t count, double *sums,
                      size_t stride);

#endif
