/* Seeds: exact sines and cosines of a chunk's frequencies, from which angle addition starts.
 *
 * They are computed from phases that are exact modulo one turn, cut to 128 bits. */
#ifndef PE_SEEDS_H
#define PE_SEEDS_H

#include "waves/chunk.h"

/* The leading 128 bits of the phases of a chunk's frequencies, in turns. */
typedef struct pe_phases {
    uint64_t high[PE_KERNEL_PAIRS], low[PE_KERNEL_PAIRS];
} pe_phases;

/* The sines and cosines of one phase for each of a chunk's frequencies. */
typedef struct pe_seeds {
    _Alignas(64) double sin[PE_KERNEL_PAIRS]; /* no vector straddles two cache lines */
    double cos[PE_KERNEL_PAIRS];
} pe_seeds;

static inline pe_sincos pe_sincos_of(const pe_seeds *seeds)
{
    return (pe_sincos){seeds->sin, seeds->cos};
}

/* Compute the seeds of phases. */
void pe_seeds_compute(const pe_chunk *chunk, const pe_phases *phases, pe_seeds *ret_seeds);

/* Add a step to phases, modulo one turn. */
void pe_phases_advance(const pe_chunk *chunk, pe_phases *phases, const pe_phases *step);

/* ---- seeds of the two parts of a position ---- */

/* A position as 64·hi + lo + tail with integer hi and 0 <= lo < 64; |tail| is below the last
 * place of lo. The split depends on the position alone. */
typedef struct pe_split {
    double hi, lo, tail;
} pe_split;

pe_split pe_split_position(dd position);

/* The split of a row's position, given the split of the row before. */
pe_split pe_next_split(const pe_positions *positions, uint64_t row, pe_split before);

/* Phases and seeds with their position, NaN before the first ones are computed. */
typedef struct pe_phases_at {
    pe_phases phases;
    double position;
} pe_phases_at;

typedef struct pe_seeds_at {
    pe_seeds seeds;
    double position;
} pe_seeds_at;

#define PE_SEED_SLOTS 256 /* slots for lo seeds: one for each multiple of 1/4 below 64 */

/* The seeds of a chunk that were computed last. Some 270 KB, which stay in the L2 cache. */
typedef struct pe_seeder {
    const pe_chunk *chunk;
    pe_phases one, block; /* phases of position 1 and of position 64 */
    pe_phases_at hi_phases, lo_phases;
    pe_seeds_at hi;
    pe_seeds_at lo[PE_SEED_SLOTS];
} pe_seeder;

void pe_seeder_init(pe_seeder *seeder, const pe_chunk *chunk);

/* The seeds of position 64·hi. The result is valid until the next call. */
pe_sincos pe_hi_seeds(pe_seeder *seeder, double hi);

/* The seeds of lo + tail of a row's position. The result is valid until another lo takes the
 * same slot. */
pe_sincos pe_lo_seeds_at(pe_seeder *seeder, pe_split split, uint64_t row);
size_t pe_seed_slot(pe_split split);

#endif
