/* Rows composed of rows of several tables, each of which has zeros in the columns of the
 * others: the bitwise or of one row of each. So an entry is computed once for each place of an
 * axis, however many rows have it. */
#ifndef PE_COMPOSED_H
#define PE_COMPOSED_H

#include "kernels/kernel.h"

#define PE_COMPOSED_STAGE 4096 /* bytes that are collected before they go past the caches */

typedef struct pe_composer {
    size_t row_bytes;
    const pe_kernel *kernel;
    bool nontemporal;
    unsigned char *dst;
    size_t used; /* bytes of the stage */
    alignas(64) unsigned char stage[PE_COMPOSED_STAGE];
} pe_composer;

/* Bytes from row to row of the tables. */
static inline size_t pe_composed_stride(size_t row_bytes)
{
    return (row_bytes + 63) / 64 * 64;
}

/* Begin at `dst`, a window of `rows` rows. */
void pe_composer_init(pe_composer *ret_composer, size_t row_bytes, uint64_t rows, void *dst);

/* Write `count` rows behind those before: each is composed of rows[0] … rows[tables - 2] and
 * the next row of a table from rows[tables - 1] on. */
void pe_composer_add(pe_composer *composer, const unsigned char *const *rows, size_t tables,
                     uint64_t count);

/* Write what is still staged. Must be called after the last row. */
void pe_composer_done(pe_composer *composer);

#endif
