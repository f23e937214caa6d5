/* A chunk: up to 64 consecutive frequencies of a wave, as many as a kernel call takes. The
 * table is filled chunk by chunk, all rows of one chunk before the next. */
#ifndef PE_CHUNK_H
#define PE_CHUNK_H

#include "kernels/kernel.h"
#include "waves/wave.h"

typedef struct pe_chunk {
    const pe_wave *wave;
    const pe_kernel *kernel;
    size_t first, count; /* frequencies [first, first + count) of the wave */
    pe_rounding rounding;
    bool is_rounded_by_kernel; /* pe_chunk_rotate can round entries that include the amplitude;
                                * false for f64 */
} pe_chunk;

/* The chunk that begins at frequency `first`, without frequencies from `end` on. `nontemporal`:
 * rows are stored past the caches. */
pe_chunk pe_chunk_init(const pe_wave *wave, size_t first, size_t end, bool nontemporal);

/* Rotate a by each of b as the kernel does, round, and write the chunk's columns: row r ahead
 * at ahead + r·row_bytes, row r behind at behind - r·row_bytes, or no rows behind if that is
 * NULL. Needs is_rounded_by_kernel. Returns the rows that pe_chunk_resolve must write again. */
pe_unsettled pe_chunk_rotate(const pe_chunk *chunk, pe_sincos a, const pe_sincos *b,
                             size_t rows, unsigned char *ahead, unsigned char *behind);

/* The same for f64, with anchors in double-double; what they give is known to within `error`.
 * Returns the rows that pe_chunk_resolve_f64 must write again. */
pe_unsettled pe_chunk_rotate_f64(const pe_chunk *chunk, const pe_anchors_f64 *a,
                                 const pe_anchors_f64 *b, size_t rows, unsigned char *ahead,
                                 unsigned char *behind, double error);

/* Write a row of f64 from sines and cosines that include the amplitude and are within `error`;
 * entries that this leaves uncertain are computed again, each from its own phase. */
void pe_chunk_resolve_f64(const pe_chunk *chunk, uint64_t row_number, const dd *sines,
                          const dd *cosines, double error, unsigned char *row);

/* Write a row from sines and cosines that include the amplitude and have an error below 2^-50
 * of it. Entries whose rounding is uncertain are computed again, each from its own exact phase.
 */
void pe_chunk_resolve(const pe_chunk *chunk, uint64_t row_number, const double *sines,
                      const double *cosines, unsigned char *row);

/* Multiply sines and cosines by the amplitude, which may be any number, and write the row. */
void pe_chunk_write(const pe_chunk *chunk, uint64_t row_number, const double *sines,
                    const double *cosines, unsigned char *row);

/* Round the sine and the cosine of a frequency from their own exact phase; either may be NULL.
 */
void pe_round_exactly(const pe_wave *wave, uint64_t row, size_t frequency, void *ret_sine,
                      void *ret_cosine);

/* The same for one of both. */
void pe_round_function(const pe_wave *wave, uint64_t row, size_t frequency, bool cosine,
                       void *dst);

#endif
