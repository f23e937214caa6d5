/* Sums over the columns of pairs of rows: the inner loop of similarity matrices. */
#ifndef PE_PAIRS_H
#define PE_PAIRS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum pe_pair_kind {
    PE_PAIR_PRODUCTS,   /* Σ a b */
    PE_PAIR_SQUARES,    /* Σ (a - b)² */
    PE_PAIR_MAGNITUDES, /* Σ |a - b| */
} pe_pair_kind;

#define PE_PANEL     8 /* rows side by side */
#define PE_PAIR_ROWS 4 /* rows that one call compares */

/* sums[r·stride + j] = the sum over `columns` of row r, whose columns are rows[r][c·PE_PANEL],
 * with row j of `panels` ([count][columns][PE_PANEL]), for all r < PE_PAIR_ROWS and
 * j < count·PE_PANEL. Added up in ascending order of the columns. Compiled once for each
 * instruction set, as kernel.h says. */
typedef void pe_pairs(pe_pair_kind kind, const double *const rows[PE_PAIR_ROWS],
                      const double *panels, size_t columns, size_t count, double *sums,
                      size_t stride);

#endif
