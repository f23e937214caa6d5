/* Splitting positions and making their seeds. */
#include "seeds.h"

#include <math.h>

#define BLOCK 64 /* positions that share a hi seed */

pe_split pe_split_position(dd position)
{
    double hi = floor(position.hi / BLOCK);
    if (position.hi == BLOCK * hi && position.lo < 0)
        hi -= 1;
    dd rest = dd_two_sum(position.hi, -BLOCK * hi); /* not one double just below 0 */
    dd lo = dd_two_sum(rest.hi, rest.lo + position.lo);
    return (pe_split){hi, lo.hi, lo.lo};
}

void pe_seeder_init(pe_seeder *seeder, const pe_chunk *chunk)
{
    seeder->chunk = chunk;
    for (size_t i = 0; i < chunk->count; i++) {
        pe_wide turns = chunk->wave->frequencies[chunk->first + i];
        seeder->one.high[i] = turns.limb[3];
        seeder->one.low[i] = turns.limb[2];
        seeder->block.high[i] = turns.limb[3] * BLOCK | turns.limb[2] / (1ULL << 58);
        seeder->block.low[i] = turns.limb[2] * BLOCK;
    }
    seeder->hi_phases.position = seeder->lo_phases.position = seeder->hi_position = NAN;
    for (size_t slot = 0; slot < PE_SEED_SLOTS; slot++)
        seeder->lo[slot].position = NAN;
}

/* Make `phases` those of an integer position, counted in `step`s: by one addition from the
 * position before, else by multiplication. Both are exact modulo 2^128, so they agree. */
static void move_phases(const pe_chunk *chunk, pe_phases *phases, const pe_phases *step,
                        double position)
{
    if (phases->position + 1 == position) {
        chunk->kernel->advance(phases->high, phases->low, step->high, step->low, chunk->count);
    } else {
        for (size_t i = 0; i < chunk->count; i++) {
            pe_wide turns = {{0, 0, step->low[i], step->high[i]}};
            pe_wide product = pe_wide_mul_integer(turns, (int64_t)position);
            phases->high[i] = product.limb[3];
            phases->low[i] = product.limb[2];
        }
    }
    phases->position = position;
}

static void make_seeds(const pe_chunk *chunk, const uint64_t *high, pe_seeds *ret_seeds)
{
    chunk->kernel->seed(high, chunk->count, ret_seeds->sin, ret_seeds->cos);
}

pe_sincos pe_hi_seeds(pe_seeder *seeder, double hi)
{
    if (seeder->hi_position != hi) {
        move_phases(seeder->chunk, &seeder->hi_phases, &seeder->block, hi);
        make_seeds(seeder->chunk, seeder->hi_phases.high, &seeder->hi);
        seeder->hi_position = hi;
    }
    return pe_sincos_of(&seeder->hi);
}

/* Phases of a position's part below 64 that is no integer: what the whole phase has beyond
 * hi's. */
static void fractional_phases(const pe_chunk *chunk, pe_split at, uint64_t row,
                              uint64_t ret_high[PE_KERNEL_PAIRS])
{
    for (size_t i = 0; i < chunk->count; i++) {
        pe_wide turns = chunk->wave->frequencies[chunk->first + i], phase;
        if (at.tail == 0)
            phase = pe_wide_mul_double(turns, at.lo);
        else
            phase = pe_wide_sub(pe_position_phase(&chunk->wave->positions, row, turns),
                                pe_wide_mul_integer(turns, (int64_t)at.hi * BLOCK));
        ret_high[i] = phase.limb[3];
    }
}

size_t pe_seed_slot(pe_split at)
{
    return (size_t)(at.lo * (PE_SEED_SLOTS / BLOCK)) % PE_SEED_SLOTS;
}

pe_sincos pe_lo_seeds_at(pe_seeder *seeder, pe_split at, uint64_t row)
{
    const pe_chunk *chunk = seeder->chunk;
    pe_lo_seeds *lo = &seeder->lo[pe_seed_slot(at)];
    if (at.tail == 0 && lo->position == at.lo)
        return pe_sincos_of(&lo->seeds);
    if (at.tail == 0 && at.lo == floor(at.lo)) {
        move_phases(chunk, &seeder->lo_phases, &seeder->one, at.lo);
        make_seeds(chunk, seeder->lo_phases.high, &lo->seeds);
    } else {
        uint64_t high[PE_KERNEL_PAIRS] = {0};
        fractional_phases(chunk, at, row, high);
        make_seeds(chunk, high, &lo->seeds);
    }
    lo->position = at.tail == 0 ? at.lo : NAN;
    return pe_sincos_of(&lo->seeds);
}

pe_split pe_next_split(const pe_positions *positions, uint64_t row, pe_split before)
{
    if (!positions->list && positions->step == 1 && before.tail == 0 && before.lo < BLOCK - 1)
        return (pe_split){before.hi, before.lo + 1, 0};
    return pe_split_position(pe_position_at(positions, row));
}
