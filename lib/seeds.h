/* Seeds: exact sines and cosines of the two parts of a position, for a chunk of frequencies.
 *
 * A position k is 64·hi + lo with 0 <= lo < 64. Phases of both parts are exact modulo 2^128
 * turns, so they depend on the position alone, however they were reached. */
#ifndef PE_SEEDS_H
#define PE_SEEDS_H

#include "kernel.h"
#include "wave.h"

#define PE_SEED_SLOTS 256 /* lo seeds kept: all of a step that is a multiple of 1/4 */

/* Phases of a chunk's frequencies at one position: the leading 128 bits. */
typedef struct pe_phases {
    double position; /* NaN: none */
    uint64_t high[PE_KERNEL_PAIRS], low[PE_KERNEL_PAIRS];
} pe_phases;

typedef struct pe_seeds {
    _Alignas(64) double sin[PE_KERNEL_PAIRS]; /* vectors that do not straddle cache lines */
    double cos[PE_KERNEL_PAIRS];
    double position; /* NaN: none */
} pe_seeds;

/* A chunk of frequencies on its way through the rows. Some 270 KB, made to stay in the L2
 * cache. */
typedef struct pe_chunk {
    const pe_wave *wave;
    const pe_kernel *kernel;
    size_t first, count; /* frequencies [first, first + count) of the wave */
    bool streamed;
    pe_phases one, block; /* the frequencies themselves, and 64 times them */
    pe_phases hi_phases, lo_phases;
    pe_seeds hi, lo[PE_SEED_SLOTS];
} pe_chunk;

/* A position as 64·hi + lo + tail, where |tail| is below the last place of lo. */
typedef struct pe_split {
    double hi, lo, tail;
} pe_split;

pe_split pe_split_position(dd position);

/* The split of a row's position, given that of the row before. */
pe_split pe_next_split(const pe_positions *positions, uint64_t row, pe_split before);

/* Begin with the frequencies from `first` on. */
void pe_chunk_begin(pe_chunk *chunk, const pe_wave *wave, size_t first, bool streamed);

/* The seeds of 64·hi; the result lives until the next call. */
pe_sincos pe_hi_seeds(pe_chunk *chunk, double hi);

/* The seeds of lo + tail at a row; the result lives until another lo takes its slot. */
pe_sincos pe_lo_seeds(pe_chunk *chunk, pe_split at, uint64_t row);
size_t pe_seed_slot(pe_split at);

#endif
