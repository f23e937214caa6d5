/* Splitting positions and computing their anchors. */
#include "waves/anchors.h"

#include <math.h>

#define BLOCK 64 /* consecutive positions that share hi anchors */

void pe_anchors_compute(const pe_kernel *kernel, size_t count, const pe_phases *phases,
                        pe_anchors *ret_anchors)
{
    kernel->anchor(phases->high, count, ret_anchors->sin, ret_anchors->cos);
}

void pe_phases_advance(const pe_kernel *kernel, size_t count, pe_phases *phases,
                       const pe_phases *step)
{
    kernel->advance(phases->high, phases->low, step->high, step->low, count);
}

/* ---- positions ---- */

pe_split pe_split_position(dd position)
{
    double hi = floor(position.hi / BLOCK);
    if (position.hi == BLOCK * hi && position.lo < 0)
        hi -= 1;
    dd rest =
        dd_two_sum(position.hi, -BLOCK * hi); /* two doubles if position.hi is just below 0 */
    dd lo = dd_two_sum(rest.hi, rest.lo + position.lo);
    return (pe_split){hi, lo.hi, lo.lo};
}

pe_split pe_next_split(const pe_positions *positions, uint64_t row, pe_split before)
{
    if (!positions->list && positions->step == 1 && before.tail == 0 && before.lo < BLOCK - 1)
        return (pe_split){before.hi, before.lo + 1, 0};
    return pe_split_position(pe_position_get(positions, row));
}

/* ---- the cache ---- */

void pe_anchor_cache_init(pe_anchor_cache *cache, const pe_chunk *chunk)
{
    cache->chunk = chunk;
    for (size_t i = 0; i < chunk->count; i++) {
        pe_wide turns = chunk->wave->frequencies[chunk->first + i];
        pe_phases_set(&cache->one, i, turns);
        pe_phases_set(&cache->block, i, pe_wide_mul_integer(turns, BLOCK));
    }
    cache->hi_phases.position = NAN;
    cache->lo_phases.position = NAN;
    cache->hi.position = NAN;
    for (size_t slot = 0; slot < PE_ANCHOR_SLOTS; slot++)
        cache->lo[slot].position = NAN;
}

/* Set `at` to the phases of an integer position, counted in steps: by one addition if the
 * phases are those of the position before, else by multiplication. Both are exact modulo 2^128,
 * so they give the same bits. */
static void move_phases(const pe_chunk *chunk, pe_placed_phases *at, const pe_phases *step,
                        double position)
{
    if (at->position + 1 == position) {
        pe_phases_advance(chunk->kernel, chunk->count, &at->phases, step);
    } else {
        for (size_t i = 0; i < chunk->count; i++) {
            pe_wide turns = {{0, 0, step->low[i], step->high[i]}};
            pe_phases_set(&at->phases, i, pe_wide_mul_integer(turns, (int64_t)position));
        }
    }
    at->position = position;
}

pe_sincos pe_hi_anchors(pe_anchor_cache *cache, double hi)
{
    if (cache->hi.position != hi) {
        move_phases(cache->chunk, &cache->hi_phases, &cache->block, hi);
        pe_anchors_compute(cache->chunk->kernel, cache->chunk->count, &cache->hi_phases.phases,
                           &cache->hi.anchors);
        cache->hi.position = hi;
    }
    return pe_sincos_init(&cache->hi.anchors);
}

/* Compute the phases of a fractional lo + tail: the phase of the whole position less that of
 * 64·hi. */
static void fractional_phases(const pe_chunk *chunk, pe_split split, uint64_t row,
                              pe_phases *ret_phases)
{
    for (size_t i = 0; i < chunk->count; i++) {
        pe_wide turns = chunk->wave->frequencies[chunk->first + i], phase;
        if (split.tail == 0)
            phase = pe_wide_mul_double(turns, split.lo);
        else
            phase = pe_wide_sub(pe_position_phase(&chunk->wave->positions, row, turns),
                                pe_wide_mul_integer(turns, (int64_t)split.hi * BLOCK));
        pe_phases_set(ret_phases, i, phase);
    }
}

size_t pe_anchor_slot(pe_split split)
{
    return (size_t)(split.lo * (PE_ANCHOR_SLOTS / BLOCK)) % PE_ANCHOR_SLOTS;
}

pe_sincos pe_lo_anchors(pe_anchor_cache *cache, pe_split split, uint64_t row)
{
    const pe_chunk *chunk = cache->chunk;
    pe_placed_anchors *lo = &cache->lo[pe_anchor_slot(split)];
    if (split.tail == 0 && lo->position == split.lo)
        return pe_sincos_init(&lo->anchors);
    if (split.tail == 0 && split.lo == floor(split.lo)) {
        move_phases(chunk, &cache->lo_phases, &cache->one, split.lo);
        pe_anchors_compute(chunk->kernel, chunk->count, &cache->lo_phases.phases, &lo->anchors);
    } else {
        pe_phases phases = {.high = {0}};
        fractional_phases(chunk, split, row, &phases);
        pe_anchors_compute(chunk->kernel, chunk->count, &phases, &lo->anchors);
    }
    lo->position =
        split.tail == 0 ? split.lo : NAN; /* the slot's index has no place for a tail */
    return pe_sincos_init(&lo->anchors);
}
