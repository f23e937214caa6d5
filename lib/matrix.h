/* Matrices packed for products with a vector. */
#ifndef PE_MATRIX_H
#define PE_MATRIX_H

#include <stddef.h>

/* Rows are packed by panels of PE_MATRIX_LANES: a panel holds the first column of its rows,
 * then the second one, and so on. The last panel is filled up with zeros. */
#define PE_MATRIX_LANES 32

/* ret_products[r] = (((w[r][0]·x[0] + w[r][1]·x[1]) + w[r][2]·x[2]) + …), each product and sum
 * rounded, in this order: so every instruction set has the same bits. PE_MATRIX_LANES products
 * for each panel. Compiled once for each instruction set, as kernel.h says. */
typedef void pe_matrix_multiply(const double *panels, size_t panel_count, const double *x,
                                size_t columns, double *ret_products);

#endif
