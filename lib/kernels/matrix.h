/* Products of a matrix with a vector. The matrix is packed so that the rows of a panel are
 * multiplied at once. */
#ifndef PE_MATRIX_H
#define PE_MATRIX_H

#include <stddef.h>
#include <stdint.h>

/* A panel holds PE_MATRIX_LANES rows of the matrix: the first column of all of them, then the
 * second column, and so on. Zeros fill the last panel. */
#define PE_MATRIX_LANES 32

/* ret_products[r] = (((w[r][a]·x[a] + w[r][b]·x[b]) + w[r][c]·x[c]) + …) over the columns a,
 * b, c … that `used` lists in ascending order. Every product and every sum is rounded, in this
 * order, so that all instruction sets give the same bits. Columns whose x is 0 may be left out:
 * that saves reading them, and finite weights give the same bits. Writes PE_MATRIX_LANES
 * products for each panel. */
typedef void pe_matrix_multiply(const double *panels, size_t panel_count, size_t columns,
                                const double *x, const uint32_t *used, size_t used_count,
                                double *ret_products);

#endif
