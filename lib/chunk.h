/* Up to 64 frequencies of a wave on their way through its rows: where their entries go, and the
 * entries that rounding is not certain of. */
#ifndef PE_CHUNK_H
#define PE_CHUNK_H

#include "kernel.h"
#include "wave.h"

typedef struct pe_chunk {
    const pe_wave *wave;
    const pe_kernel *kernel;
    size_t first, count; /* frequencies [first, first + count) of the wave */
    bool streamed;       /* rows go past the caches */
} pe_chunk;

/* Seeds of the chunk's frequencies at one angle each. */
typedef struct pe_seeds {
    _Alignas(64) double sin[PE_KERNEL_PAIRS]; /* vectors that do not straddle cache lines */
    double cos[PE_KERNEL_PAIRS];
} pe_seeds;

static inline pe_sincos pe_sincos_of(const pe_seeds *seeds)
{
    return (pe_sincos){seeds->sin, seeds->cos};
}

pe_chunk pe_chunk_at(const pe_wave *wave, size_t first, bool streamed);

/* Bytes of a row of the table. */
size_t pe_row_bytes(const pe_wave *wave);

/* Whether the kernel can take the wave's amplitude with its entries, and then how it rounds. */
bool pe_chunk_rounding(const pe_chunk *chunk, pe_rounding *ret_rounding);

/* Rotate a by each of b, as the kernel does, into the chunk's columns: row r ahead at ahead +
 * r·row_bytes, row r behind at behind - r·row_bytes, or no such rows if that is NULL. Returns
 * the rows that pe_chunk_resolve must write again. */
pe_doubts pe_chunk_rotate(const pe_chunk *chunk, pe_sincos a, const pe_sincos *b, size_t rows,
                          unsigned char *ahead, unsigned char *behind, pe_rounding rounding);

/* Write a row from sines and cosines that include the amplitude and are within 2^-50 of it;
 * entries that this leaves uncertain are made anew, each from its own phase. */
void pe_chunk_resolve(const pe_chunk *chunk, uint64_t row_number, const double *sines,
                      const double *cosines, unsigned char *row);

/* Write a row from sines and cosines without the amplitude, whatever that is. */
void pe_chunk_write(const pe_chunk *chunk, uint64_t row_number, const double *sines,
                    const double *cosines, unsigned char *row);

#endif
