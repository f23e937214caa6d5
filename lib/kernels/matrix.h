/* Products of a matrix with a vector. The matrix is packed so that the rows of a panel are
 * multiplied at once. */
#ifndef PE_MATRIX_H
#define PE_MATRIX_H

#include <stddef.h>

/* A panel holds PE_MATRIX_LANES rows of the matrix: the first column of all of them, then the
 * second column, and so on. Zeros fill the last panel. */
#define PE_MATRIX_LANES 32

/* ret_products[r] = (((w[r][0]·x[0] + w[r][1]·x[1]) + w[r][2]·x[2]) + …). Every product and
 * every sum is rounded, in this order, so that all instruction sets give the same bits. Writes
 * PE_MATRIX_LANES products for each panel. */
typedef void pe_matrix_multiply(const double *panels, size_t panel_count, const double *x,
                                size_t columns, double *ret_products);

#endif
