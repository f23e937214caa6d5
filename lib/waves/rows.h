/* Three ways to compute all rows of a chunk: two for f32, f16 and bf16, one for f64. All round
 * correctly, so the way does not show in the bits. */
#ifndef PE_ROWS_H
#define PE_ROWS_H

#include "waves/chunk.h"

/* Write rows at any positions, each from the seeds of the two parts of its position. Not for
 * f64. */
void pe_rows_by_position(const pe_chunk *chunk, uint64_t first, uint64_t rows,
                         unsigned char *dst);

/* Write two or more rows at equal distances: rotate from the middle of a block of rows, forward
 * and backward. Not for f64; needs chunk->is_rounded_by_kernel. */
void pe_rows_by_distance(const pe_chunk *chunk, uint64_t first, uint64_t rows,
                         unsigned char *dst);

/* Rows of f64 entries, at any positions. */
void pe_rows_f64(const pe_chunk *chunk, uint64_t first, uint64_t rows, unsigned char *dst);

#endif
