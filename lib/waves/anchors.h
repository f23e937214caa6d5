/* Anchors: exact sines and cosines of a chunk's frequencies, from which angle addition starts.
 *
 * They are computed from phases that are exact modulo one turn, cut to 128 bits. */
#ifndef PE_ANCHORS_H
#define PE_ANCHORS_H

#include "waves/chunk.h"

/* The leading 128 bits of the phases of a chunk's frequencies, in turns. */
typedef struct pe_phases {
    uint64_t high[PE_KERNEL_PAIRS], low[PE_KERNEL_PAIRS];
} pe_phases;

/* Set the phase of one frequency. */
static inline void pe_phases_set(pe_phases *phases, size_t i, pe_wide turns)
{
    phases->high[i] = turns.limb[3];
    phases->low[i] = turns.limb[2];
}

/* Compute the anchors of `count` phases. */
void pe_anchors_compute(const pe_kernel *kernel, size_t count, const pe_phases *phases,
                        pe_anchors *ret_anchors);

/* Add a step to `count` phases, modulo one turn. */
void pe_phases_advance(const pe_kernel *kernel, size_t count, pe_phases *phases,
                       const pe_phases *step);

/* ---- anchors of the two parts of a position ---- */

/* A position as 64·hi + lo + tail with integer hi and 0 <= lo < 64; |tail| is below the last
 * place of lo. The split depends on the position alone. */
typedef struct pe_split {
    double hi, lo, tail;
} pe_split;

pe_split pe_split_position(dd position);

/* The split of a row's position, given the split of the row before. */
pe_split pe_next_split(const pe_positions *positions, uint64_t row, pe_split before);

/* Phases and anchors with their position, NaN before the first ones are computed. */
typedef struct pe_placed_phases {
    pe_phases phases;
    double position;
} pe_placed_phases;

typedef struct pe_placed_anchors {
    pe_anchors anchors;
    double position;
} pe_placed_anchors;

#define PE_ANCHOR_SLOTS 256 /* slots for lo anchors: one for each multiple of 1/4 below 64 */

/* The anchors of a chunk that were computed last. Some 270 KB, which stay in the L2 cache. */
typedef struct pe_anchor_cache {
    const pe_chunk *chunk;
    pe_phases one, block; /* phases of position 1 and of position 64 */
    pe_placed_phases hi_phases, lo_phases;
    pe_placed_anchors hi;
    pe_placed_anchors lo[PE_ANCHOR_SLOTS];
} pe_anchor_cache;

void pe_anchor_cache_init(pe_anchor_cache *cache, const pe_chunk *chunk);

/* The anchors of position 64·hi. The result is valid until the next call. */
pe_sincos pe_hi_anchors(pe_anchor_cache *cache, double hi);

/* The anchors of lo + tail of a row's position. The result is valid until another lo takes the
 * same slot. */
pe_sincos pe_lo_anchors(pe_anchor_cache *cache, pe_split split, uint64_t row);
size_t pe_anchor_slot(pe_split split);

#endif
