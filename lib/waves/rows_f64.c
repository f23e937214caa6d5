/* Rows of f64 entries, rounded correctly.
 *
 * Everything is as for the shorter dtypes, but in double-double: seeds from exact phases, one
 * rotation for each entry, and a test whether what is known decides the rounding. Rows at equal
 * distances come in blocks around a middle, as rows_by_distance.c explains; other rows are
 * seeds themselves. */
#include "waves/rows.h"
#include "waves/seeds.h"

#include <math.h>

/* Errors as a part of the amplitude: a seed is within 2^-104 and with an amplitude within
 * 2^-102 of its exact value, a rotation adds √2·(2^-102 + 2^-104) + 2^-103. */
#define ERROR 0x1p-100

/* The amplitudes whose products with halves of doubles neither overflow nor underflow. */
#define AMPLITUDE_MAX 0x1p800
#define AMPLITUDE_MIN 0x1p-800

/* Additions until phases are computed anew: they cost 2^-112 turns, as phases have 128 bits. */
#define ADDED_MAX 65536

typedef struct block_maker {
    const pe_chunk *chunk;
    double error;
    size_t reach;                    /* rows on each side of a middle, in full blocks */
    pe_wide origin[PE_KERNEL_PAIRS]; /* phases of row 0 */
    pe_wide step[PE_KERNEL_PAIRS];   /* of a step */
    pe_phases half, block;           /* of half a step, of a full block */
    pe_phases middle;                /* between row `at` - 1 and row `at`; 0: nowhere yet */
    uint64_t at, added;              /* `added` blocks since it was computed */
    pe_seeds_f64 distances[PE_REACH_MAX]; /* of j + 1/2 steps */
} block_maker;

static void seed(const pe_chunk *chunk, const pe_phases *at, pe_seeds_f64 *ret_seeds)
{
    chunk->kernel->seed_f64(at->high, at->low, chunk->count, ret_seeds);
}

static void set_phase(pe_phases *ret, size_t i, pe_wide turns)
{
    ret->high[i] = turns.limb[3];
    ret->low[i] = turns.limb[2];
}

/* Multiply seeds by the wave's amplitude. */
static void amplify(const pe_chunk *chunk, pe_seeds_f64 *seeds)
{
    const dd amplitude = {chunk->wave->amplitude, chunk->wave->amplitude_rest};
    for (size_t i = 0; !pe_is_plain(chunk->wave) && i < chunk->count; i++) {
        dd sine = dd_mul((dd){seeds->sin[i], seeds->sin_rest[i]}, amplitude);
        dd cosine = dd_mul((dd){seeds->cos[i], seeds->cos_rest[i]}, amplitude);
        seeds->sin[i] = sine.hi;
        seeds->sin_rest[i] = sine.lo;
        seeds->cos[i] = cosine.hi;
        seeds->cos_rest[i] = cosine.lo;
    }
}

/* The seeds of the middle between row - 1 and row, with the amplitude. */
static void seed_middle(block_maker *maker, uint64_t row, pe_seeds_f64 *ret_seeds)
{
    const pe_chunk *chunk = maker->chunk;
    pe_phases *middle = &maker->middle;
    if (maker->at > 0 && maker->at + 2 * maker->reach == row && maker->added < ADDED_MAX) {
        pe_phases_advance(chunk, middle, &maker->block);
        maker->added++;
    } else {
        for (size_t i = 0; i < chunk->count; i++) {
            pe_wide half = {{0, 0, maker->half.low[i], maker->half.high[i]}};
            pe_wide steps = pe_wide_mul_integer(maker->step[i], (int64_t)row);
            set_phase(middle, i, pe_wide_sub(pe_wide_add(maker->origin[i], steps), half));
        }
        maker->added = 0;
    }
    maker->at = row;
    seed(chunk, middle, ret_seeds);
    amplify(chunk, ret_seeds);
}

static void make_distances(block_maker *maker)
{
    const pe_chunk *chunk = maker->chunk;
    pe_phases at = maker->half, step;
    for (size_t i = 0; i < chunk->count; i++)
        set_phase(&step, i, maker->step[i]);
    for (size_t j = 0; j < maker->reach; j++) {
        seed(chunk, &at, &maker->distances[j]);
        pe_phases_advance(chunk, &at, &step);
    }
}

static void begin(block_maker *maker, const pe_chunk *chunk, uint64_t rows)
{
    const pe_positions *positions = &chunk->wave->positions;
    maker->chunk = chunk;
    maker->error = fabs(chunk->wave->amplitude) * ERROR;
    maker->reach = pe_reach_for(rows);
    maker->at = 0;
    for (size_t i = 0; i < chunk->count; i++) {
        pe_wide turns = chunk->wave->frequencies[chunk->first + i];
        maker->origin[i] = pe_wide_mul_double(turns, positions->offset);
        maker->step[i] = pe_wide_mul_double(turns, positions->step);
        set_phase(&maker->half, i, pe_wide_mul_double(turns, positions->step / 2));
        set_phase(&maker->block, i,
                  pe_wide_mul_integer(maker->step[i], (int64_t)(2 * maker->reach)));
    }
    make_distances(maker);
}

/* Sines and cosines of one row in double-double, from the seeds that the kernel took. */
static void turn_row(const pe_chunk *chunk, const pe_seeds_f64 *a, const pe_seeds_f64 *b,
                     bool back, dd *ret_sines, dd *ret_cosines)
{
    for (size_t i = 0; i < chunk->count; i++) {
        dd a_sin = {a->sin[i], a->sin_rest[i]}, a_cos = {a->cos[i], a->cos_rest[i]};
        dd b_sin = {b->sin[i], b->sin_rest[i]}, b_cos = {b->cos[i], b->cos_rest[i]};
        if (back)
            b_sin = dd_neg(b_sin);
        ret_sines[i] = dd_add(dd_mul(a_sin, b_cos), dd_mul(a_cos, b_sin));
        ret_cosines[i] = dd_add(dd_mul(a_cos, b_cos), dd_neg(dd_mul(a_sin, b_sin)));
    }
}

/* Write `reach` rows on both sides of a middle; `dst` is the first row ahead of it. */
static void write_block(const block_maker *maker, const pe_seeds_f64 *middle, uint64_t row,
                        size_t reach, unsigned char *dst)
{
    const pe_chunk *chunk = maker->chunk;
    dd sines[PE_KERNEL_PAIRS], cosines[PE_KERNEL_PAIRS];
    ptrdiff_t row_bytes = (ptrdiff_t)pe_wave_row_bytes(chunk->wave);
    pe_doubts doubts = pe_chunk_rotate_f64(chunk, middle, maker->distances, reach, dst,
                                           dst - row_bytes, maker->error);
    for (; doubts.ahead; doubts.ahead &= doubts.ahead - 1) {
        size_t j = (size_t)__builtin_ctzll(doubts.ahead);
        turn_row(chunk, middle, &maker->distances[j], false, sines, cosines);
        pe_chunk_resolve_f64(chunk, row + j, sines, cosines, maker->error,
                             dst + (ptrdiff_t)j * row_bytes);
    }
    for (; doubts.behind; doubts.behind &= doubts.behind - 1) {
        size_t j = (size_t)__builtin_ctzll(doubts.behind);
        turn_row(chunk, middle, &maker->distances[j], true, sines, cosines);
        pe_chunk_resolve_f64(chunk, row - 1 - j, sines, cosines, maker->error,
                             dst - (ptrdiff_t)(j + 1) * row_bytes);
    }
}

static void write_by_distance(const pe_chunk *chunk, uint64_t first, uint64_t rows,
                              unsigned char *dst)
{
    size_t row_bytes = pe_wave_row_bytes(chunk->wave);
    block_maker maker;
    pe_seeds_f64 middle;
    begin(&maker, chunk, rows);
    for (uint64_t done = 0; done < rows;) {
        size_t reach = pe_next_reach(maker.reach, rows, &done);
        seed_middle(&maker, first + done + reach, &middle);
        write_block(&maker, &middle, first + done + reach, reach,
                    dst + (done + reach) * row_bytes);
        done += 2 * reach;
    }
}

/* A row by itself: its seeds are its entries. */
static void write_row(const pe_chunk *chunk, uint64_t row, unsigned char *dst)
{
    pe_phases at;
    pe_seeds_f64 seeds;
    dd sines[PE_KERNEL_PAIRS], cosines[PE_KERNEL_PAIRS];
    for (size_t i = 0; i < chunk->count; i++)
        set_phase(&at, i,
                  pe_position_phase(&chunk->wave->positions, row,
                                    chunk->wave->frequencies[chunk->first + i]));
    seed(chunk, &at, &seeds);
    amplify(chunk, &seeds);
    for (size_t i = 0; i < chunk->count; i++) {
        sines[i] = (dd){seeds.sin[i], seeds.sin_rest[i]};
        cosines[i] = (dd){seeds.cos[i], seeds.cos_rest[i]};
    }
    double error = fabs(chunk->wave->amplitude) * ERROR;
    pe_chunk_resolve_f64(chunk, row, sines, cosines, error, dst);
}

void pe_rows_f64(const pe_chunk *chunk, uint64_t first, uint64_t rows, unsigned char *dst)
{
    double amplitude = fabs(chunk->wave->amplitude);
    bool usual = amplitude >= AMPLITUDE_MIN && amplitude <= AMPLITUDE_MAX;
    if (usual && !chunk->wave->positions.list && rows >= 2) {
        write_by_distance(chunk, first, rows, dst);
        return;
    }
    for (uint64_t r = 0; r < rows; r++)
        write_row(chunk, first + r, dst + r * pe_wave_row_bytes(chunk->wave));
}
