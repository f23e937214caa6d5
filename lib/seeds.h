/* Seeds: exact sines and cosines of the two parts of a position, for a chunk of frequencies.
 *
 * A position k is 64·hi + lo with 0 <= lo < 64. Phases of both parts are exact modulo 2^128
 * turns, so they depend on the position alone, however they were reached. */
#ifndef PE_SEEDS_H
#define PE_SEEDS_H

#include "chunk.h"

#define PE_SEED_SLOTS 256 /* lo seeds kept: all of a step that is a multiple of 1/4 */

/* Phases of a chunk's frequencies at one position: the leading 128 bits. */
typedef struct pe_phases {
    double position; /* NaN: none */
    uint64_t high[PE_KERNEL_PAIRS], low[PE_KERNEL_PAIRS];
} pe_phases;

typedef struct pe_lo_seeds {
    pe_seeds seeds;
    double position; /* NaN: none */
} pe_lo_seeds;

/* What is known of a chunk's seeds. Some 270 KB, made to stay in the L2 cache. */
typedef struct pe_seeder {
    const pe_chunk *chunk;
    pe_phases one, block; /* the frequencies themselves, and 64 times them */
    pe_phases hi_phases, lo_phases;
    double hi_position; /* NaN: none */
    pe_seeds hi;
    pe_lo_seeds lo[PE_SEED_SLOTS];
} pe_seeder;

/* A position as 64·hi + lo + tail, where |tail| is below the last place of lo. */
typedef struct pe_split {
    double hi, lo, tail;
} pe_split;

pe_split pe_split_position(dd position);

/* The split of a row's position, given that of the row before. */
pe_split pe_next_split(const pe_positions *positions, uint64_t row, pe_split before);

void pe_seeder_init(pe_seeder *seeder, const pe_chunk *chunk);

/* The seeds of 64·hi; the result lives until the next call. */
pe_sincos pe_hi_seeds(pe_seeder *seeder, double hi);

/* The seeds of lo + tail at a row; the result lives until another lo takes its slot. */
pe_sincos pe_lo_seeds_at(pe_seeder *seeder, pe_split at, uint64_t row);
size_t pe_seed_slot(pe_split at);

#endif
