/* Rows that stand at equal distances: blocks of rows, turned back and forth from their middle.
 *
 * With c the angle at the middle of a block, between two rows, and d = (j + 1/2) steps,
 *
 *     sin(c ± d) = sin c cos d ± cos c sin d,   cos(c ± d) = cos c cos d ∓ sin c sin d
 *
 * give a row ahead and one behind from the same four products. All blocks share the distances
 * d, so a block of 64 rows needs but one new seed per frequency.
 *
 * Errors, in units u = 2^-53, with |sin x| + |cos x| <= √2: a seed errs by 0.62 u, or by 1.62 u
 * where it carries the amplitude (its product, and what the sum with that of its rest rounds
 * off). The products of a rotation together and its sum round off 1/2 each, for |sin a cos b| +
 * |cos a sin b| <= 1. A distance is a near one turned by a far one, √2·(0.62 + 0.62) + 1 = 2.8;
 * an entry √2·(1.62 + 2.8) + 1 < 8: below 2^-50, as a part of the power of two that no entry
 * exceeds. */
#include "rows.h"

#include <string.h>

__extension__ typedef unsigned __int128 uint128;

#define REACH_MAX  32 /* rows on each side of a middle: their seeds fit the L1 cache */
#define NEAR_COUNT 8  /* distances with seeds of their own; the others add multiples of 8 */

/* Phases of the chunk's frequencies: the leading 128 bits. */
typedef struct phases {
    uint64_t high[PE_KERNEL_PAIRS], low[PE_KERNEL_PAIRS];
} phases;
static const phases NO_PHASES;

typedef struct block_maker {
    const pe_chunk *chunk;
    pe_rounding rounding;
    size_t reach;              /* of full blocks */
    phases origin, half, step; /* of row 0, half a step, a step */
    phases middle, block;      /* of the middle before row `at`, and of a full block */
    uint64_t at;               /* 0: nowhere yet */
    _Alignas(64) pe_seeds distances[REACH_MAX]; /* of j + 1/2 steps */
} block_maker;

/* ret = frequencies times x, in turns. */
static void multiply(const pe_chunk *chunk, double x, phases *ret)
{
    for (size_t i = 0; i < chunk->count; i++) {
        pe_wide turns = chunk->wave->frequencies[chunk->first + i];
        if (x != 1 && x != 0.5)
            turns = pe_wide_mul_double(turns, x);
        unsigned shift = x == 0.5; /* the usual half step */
        ret->high[i] = turns.limb[3] >> shift;
        ret->low[i] = shift ? turns.limb[3] << 63 | turns.limb[2] >> 1 : turns.limb[2];
    }
}

/* ret = start + n·step. What truncation to 128 bits costs stays below 2^-74 turns. */
static void step_on(const phases *start, const phases *step, uint64_t n, size_t count,
                    phases *ret)
{
    for (size_t i = 0; i < count; i++) {
        uint128 from = (uint128)start->high[i] << 64 | start->low[i];
        uint128 by = (uint128)step->high[i] << 64 | step->low[i];
        uint128 sum = from + by * n;
        ret->high[i] = (uint64_t)(sum >> 64);
        ret->low[i] = (uint64_t)sum;
    }
}

static void seed(const pe_chunk *chunk, const phases *of, pe_seeds *ret_seeds)
{
    chunk->kernel->seed(of->high, chunk->count, ret_seeds->sin, ret_seeds->cos);
}

static void advance(const pe_chunk *chunk, phases *at, const phases *by)
{
    chunk->kernel->advance(at->high, at->low, by->high, by->low, chunk->count);
}

/* ret[j] = seeds of start + j·step. */
static void seed_series(const pe_chunk *chunk, const phases *start, const phases *step,
                        size_t count, pe_seeds *ret)
{
    phases at = *start;
    for (size_t j = 0; j < count; j++) {
        seed(chunk, &at, &ret[j]);
        advance(chunk, &at, step);
    }
}

static pe_rows rows_of(pe_seeds *seeds, ptrdiff_t stride)
{
    return (pe_rows){(unsigned char *)seeds->sin, (unsigned char *)seeds->cos, stride};
}

/* Turn seeds by each of others, forth to ahead[0], ahead[1] …, and back, unless `behind` is
 * NULL, to behind[0], behind[-1] … */
static void turn_seeds(const pe_chunk *chunk, const pe_seeds *seeds, const pe_seeds *others,
                       size_t count, pe_seeds *ahead, pe_seeds *behind)
{
    const ptrdiff_t stride = sizeof *seeds;
    pe_sincos by[NEAR_COUNT];
    pe_rows forth = rows_of(ahead, stride), back = rows_of(behind ? behind : ahead, -stride);
    for (size_t j = 0; j < count; j++)
        by[j] = pe_sincos_of(&others[j]);
    chunk->kernel->rotate[PE_F64](pe_sincos_of(seeds), by, count, chunk->count, &forth,
                                  behind ? &back : NULL, (pe_rounding){0, false});
}

static void make_distances(block_maker *maker)
{
    const pe_chunk *chunk = maker->chunk;
    size_t near = maker->reach < NEAR_COUNT ? maker->reach : NEAR_COUNT;
    pe_seeds far[REACH_MAX / NEAR_COUNT];
    phases leap;
    step_on(&NO_PHASES, &maker->step, NEAR_COUNT, chunk->count, &leap);
    seed_series(chunk, &maker->half, &maker->step, near, maker->distances);
    seed_series(chunk, &leap, &leap, (maker->reach - near) / NEAR_COUNT, far);
    for (size_t j = NEAR_COUNT; j < maker->reach; j += NEAR_COUNT)
        turn_seeds(chunk, &far[j / NEAR_COUNT - 1], maker->distances, NEAR_COUNT,
                   &maker->distances[j], NULL);
}

/* More distances cost seeds once, and save some in every block. */
static size_t reach_for(uint64_t rows)
{
    size_t reach = NEAR_COUNT;
    while (reach < REACH_MAX && reach * reach < rows)
        reach *= 2;
    return reach <= rows / 2 ? reach : (size_t)(rows / 2);
}

static void begin(block_maker *maker, const pe_chunk *chunk, uint64_t rows)
{
    const pe_positions *positions = &chunk->wave->positions;
    maker->chunk = chunk;
    maker->reach = reach_for(rows);
    pe_chunk_rounding(chunk, &maker->rounding);
    maker->origin = NO_PHASES;
    if (positions->offset != 0)
        multiply(chunk, positions->offset, &maker->origin);
    multiply(chunk, positions->step, &maker->step);
    multiply(chunk, positions->step / 2, &maker->half);
    step_on(&NO_PHASES, &maker->step, 2 * maker->reach, chunk->count, &maker->block);
    maker->at = 0;
    make_distances(maker);
}

/* The seeds of the middle between row - 1 and row, with the amplitude. */
static void seed_middle(block_maker *maker, uint64_t row, pe_seeds *ret_seeds)
{
    const pe_chunk *chunk = maker->chunk;
    phases *middle = &maker->middle;
    if (maker->at > 0 && maker->at + 2 * maker->reach == row) {
        advance(chunk, middle, &maker->block);
    } else {
        step_on(&maker->origin, &maker->step, row, chunk->count, middle);
        for (size_t i = 0; i < chunk->count; i++) {
            middle->high[i] -= maker->half.high[i] + (middle->low[i] < maker->half.low[i]);
            middle->low[i] -= maker->half.low[i];
        }
    }
    maker->at = row;
    seed(chunk, middle, ret_seeds);
    const pe_wave *wave = chunk->wave;
    for (size_t i = 0; !pe_is_plain(wave) && i < chunk->count; i++) {
        ret_seeds->sin[i] =
            ret_seeds->sin[i] * wave->amplitude + ret_seeds->sin[i] * wave->amplitude_rest;
        ret_seeds->cos[i] =
            ret_seeds->cos[i] * wave->amplitude + ret_seeds->cos[i] * wave->amplitude_rest;
    }
}

/* Write the row at a distance from a middle again, its uncertain entries from their phases. */
static void resolve(const block_maker *maker, const pe_seeds *middle, size_t distance,
                    bool back, uint64_t row_number, unsigned char *row)
{
    pe_seeds ahead, behind;
    const pe_seeds *entries = back ? &behind : &ahead;
    turn_seeds(maker->chunk, middle, &maker->distances[distance], 1, &ahead, &behind);
    pe_chunk_resolve(maker->chunk, row_number, entries->sin, entries->cos, row);
}

/* `reach` rows on both sides of row `row`, whose place is `dst`; `middle` is just before it. */
static void write_block(const block_maker *maker, const pe_seeds *middle, uint64_t row,
                        size_t reach, unsigned char *dst)
{
    const pe_chunk *chunk = maker->chunk;
    ptrdiff_t row_bytes = (ptrdiff_t)pe_row_bytes(chunk->wave);
    pe_sincos distances[REACH_MAX];
    for (size_t j = 0; j < reach; j++)
        distances[j] = pe_sincos_of(&maker->distances[j]);
    pe_doubts doubts = pe_chunk_rotate(chunk, pe_sincos_of(middle), distances, reach, dst,
                                       dst - row_bytes, maker->rounding);
    for (; doubts.ahead; doubts.ahead &= doubts.ahead - 1) {
        size_t j = (size_t)__builtin_ctzll(doubts.ahead);
        resolve(maker, middle, j, false, row + j, dst + (ptrdiff_t)j * row_bytes);
    }
    for (; doubts.behind; doubts.behind &= doubts.behind - 1) {
        size_t j = (size_t)__builtin_ctzll(doubts.behind);
        resolve(maker, middle, j, true, row - 1 - j, dst - (ptrdiff_t)(j + 1) * row_bytes);
    }
}

void pe_rows_by_distance(const pe_chunk *chunk, uint64_t first, uint64_t rows,
                         unsigned char *dst)
{
    size_t row_bytes = pe_row_bytes(chunk->wave);
    block_maker maker;
    pe_seeds middle;
    begin(&maker, chunk, rows);
    for (uint64_t done = 0; done < rows;) {
        size_t reach = maker.reach;
        if (rows - done < 2 * reach)
            reach = (size_t)(rows - done) / 2;
        if (reach == 0) /* one row is left: write the one before it again */
            reach = 1, done -= 1;
        seed_middle(&maker, first + done + reach, &middle);
        write_block(&maker, &middle, first + done + reach, reach,
                    dst + (done + reach) * row_bytes);
        done += 2 * reach;
    }
}
