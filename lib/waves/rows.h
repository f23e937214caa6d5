/* The ways to compute all rows of a chunk: one for f64, the others for f32, f16 and bf16. All
 * round correctly, so the way does not show in the bits. */
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

/* Frequencies from `small` on have small angles in all rows of a window, and the entries of
 * those from `vanishing` on are 0. Both are counted from the wave's first frequency, and are
 * the number of those that are not still if there are none. */
typedef struct pe_small_part {
    size_t small, vanishing;
} pe_small_part;

pe_small_part pe_small_part_of(const pe_wave *wave, uint64_t first, uint64_t rows);

/* Write rows of a chunk of small angles. */
void pe_rows_small(const pe_chunk *chunk, uint64_t first, uint64_t rows, unsigned char *dst);

/* Write rows of a chunk whose entries, sines alone, are all 0. */
void pe_rows_vanishing(const pe_chunk *chunk, uint64_t rows, unsigned char *dst);

#endif
