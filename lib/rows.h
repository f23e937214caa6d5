/* The two ways of making all rows of a chunk. They agree on every bit: f32, f16 and bf16 are
 * rounded correctly, and f64 is made by the first way alone. */
#ifndef PE_ROWS_H
#define PE_ROWS_H

#include "chunk.h"

/* Rows at any positions, each from the seeds of the two parts of its position. */
void pe_rows_by_position(const pe_chunk *chunk, uint64_t first, uint64_t rows,
                         unsigned char *dst);

/* Rows that stand at equal distances, two or more, by turning back and forth from the middle of
 * blocks; for dtypes other than f64 and where pe_chunk_rounding holds. */
void pe_rows_by_distance(const pe_chunk *chunk, uint64_t first, uint64_t rows,
                         unsigned char *dst);

#endif
