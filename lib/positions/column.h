/* Tensors of one column, whose entries follow from the row's number by simple arithmetic. */
#ifndef PE_COLUMN_H
#define PE_COLUMN_H

#include "posenc.h"

typedef struct pe_column {
    pe_dtype dtype;
    bool monotone; /* entries never fall, or never rise, from row to row */

    /* Write a double for each of rows [row, row + count), count <= PE_LINE_MAX, that rounds to
     * the dtype as the entry does. */
    void (*numbers)(const struct pe_column *column, uint64_t row, size_t count,
                    double *ret_numbers);

    /* NULL, or write the elements themselves, sooner than by `numbers`. */
    void (*elements)(const struct pe_column *column, uint64_t row, size_t count, void *dst);
    const void *source; /* what both need */
} pe_column;

/* Write the entries of rows [first, first + rows). */
void pe_column_fill(const pe_column *column, uint64_t first, uint64_t rows, void *dst);

#endif
