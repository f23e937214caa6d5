/* Computing rows at equal distances: in blocks, rotating from the middle of each block.
 *
 * Let c be the angle at the middle of a block, between two rows, and d = (j + 1/2) steps. Then
 *
 *     sin(c ± d) = sin c cos d ± cos c sin d,   cos(c ± d) = cos c cos d ∓ sin c sin d
 *
 * give a row ahead of the middle and a row behind it from the same four products. All blocks
 * share the distances d, so a block of 64 rows needs one new seed per frequency.
 *
 * Error bounds, in units u = 2^-53, using |sin x| + |cos x| <= √2:
 *
 *     seed                   0.62
 *     seed times amplitude   1.62 (the product, and the sum with the amplitude's rest)
 *     distance               √2·(0.62 + 0.62) + 1 = 2.8 (a near one rotated by a far one)
 *     entry                  √2·(1.62 + 2.8) + 1 < 8
 *
 * A rotation adds 1: 1/2 for its two products, because |sin a cos b| + |cos a sin b| <= 1, and
 * 1/2 for their sum. 8 u is 2^-50, relative to the power of two that no entry exceeds. */
#include "waves/rows.h"
#include "waves/seeds.h"

#include "numerics/limbs.h"

/* The first distances have seeds of their own; the others are these plus a multiple of 8. */
#define NEAR_COUNT PE_REACH_MIN

static const pe_phases NO_PHASES;

/* What the blocks of a chunk share, and the current middle. */
typedef struct block_state {
    const pe_chunk *chunk;
    size_t reach;                 /* rows on each side of a full block's middle */
    pe_phases origin, half, step; /* phases of row 0, of half a step and of a step */
    pe_phases block;              /* phase of 2·reach steps: from one middle to the next */
    pe_phases middle;             /* phase of the middle, which is half a step before */
    uint64_t middle_row;          /* this row; 0: no middle yet */
    _Alignas(64) pe_seeds distances[PE_REACH_MAX]; /* [j]: seeds of j + 1/2 steps */
} block_state;

/* *ret_phases = frequencies times x. */
static void multiply(const pe_chunk *chunk, double x, pe_phases *ret_phases)
{
    for (size_t i = 0; i < chunk->count; i++) {
        pe_wide turns = chunk->wave->frequencies[chunk->first + i];
        if (x != 1 && x != 0.5)
            turns = pe_wide_mul_double(turns, x);
        unsigned shift = x == 0.5; /* half a step of 1, the usual case */
        ret_phases->high[i] = turns.limb[3] >> shift;
        ret_phases->low[i] = shift ? turns.limb[3] << 63 | turns.limb[2] >> 1 : turns.limb[2];
    }
}

/* *ret_phases = start + n·step. The error of phases cut to 128 bits stays below 2^-74 turns. */
static void step_on(const pe_phases *start, const pe_phases *step, uint64_t n, size_t count,
                    pe_phases *ret_phases)
{
    for (size_t i = 0; i < count; i++) {
        pe_uint128 first = (pe_uint128)start->high[i] << 64 | start->low[i];
        pe_uint128 one = (pe_uint128)step->high[i] << 64 | step->low[i];
        pe_uint128 sum = first + one * n;
        ret_phases->high[i] = (uint64_t)(sum >> 64);
        ret_phases->low[i] = (uint64_t)sum;
    }
}

/* ret_seeds[j] = seeds of start + j·step. */
static void seed_series(const pe_chunk *chunk, const pe_phases *start, const pe_phases *step,
                        size_t count, pe_seeds *ret_seeds)
{
    pe_phases phases = *start;
    for (size_t j = 0; j < count; j++) {
        pe_seeds_compute(chunk, &phases, &ret_seeds[j]);
        pe_phases_advance(chunk, &phases, step);
    }
}

static pe_rows rows_of(pe_seeds *seeds, ptrdiff_t stride)
{
    return (pe_rows){(unsigned char *)seeds->sin, (unsigned char *)seeds->cos, stride, false};
}

/* Rotate seeds by each of `angles`: forward to ahead[0], ahead[1] …, and backward to behind[0],
 * behind[-1] … unless `behind` is NULL. */
static void rotate_seeds(const pe_chunk *chunk, const pe_seeds *seeds, const pe_seeds *angles,
                         size_t count, pe_seeds *ahead, pe_seeds *behind)
{
    const ptrdiff_t stride = sizeof *seeds;
    pe_sincos b[NEAR_COUNT];
    pe_rows forth = rows_of(ahead, stride), back = rows_of(behind ? behind : ahead, -stride);
    for (size_t j = 0; j < count; j++)
        b[j] = pe_sincos_of(&angles[j]);
    chunk->kernel->rotate[PE_F64](pe_sincos_of(seeds), b, count, chunk->count, &forth,
                                  behind ? &back : NULL, (pe_rounding){0, false});
}

/* Compute the seeds of all distances: the first ones from their phases, the others by rotating
 * these by multiples of 8 steps. */
static void make_distances(block_state *state)
{
    const pe_chunk *chunk = state->chunk;
    size_t near = state->reach < NEAR_COUNT ? state->reach : NEAR_COUNT;
    pe_seeds far[PE_REACH_MAX / NEAR_COUNT];
    pe_phases leap;
    step_on(&NO_PHASES, &state->step, NEAR_COUNT, chunk->count, &leap);
    seed_series(chunk, &state->half, &state->step, near, state->distances);
    seed_series(chunk, &leap, &leap, (state->reach - near) / NEAR_COUNT, far);
    for (size_t j = NEAR_COUNT; j < state->reach; j += NEAR_COUNT)
        rotate_seeds(chunk, &far[j / NEAR_COUNT - 1], state->distances, NEAR_COUNT,
                     &state->distances[j], NULL);
}

static void begin(block_state *state, const pe_chunk *chunk, uint64_t rows)
{
    const pe_positions *positions = &chunk->wave->positions;
    state->chunk = chunk;
    state->reach = pe_reach_for(rows);
    state->origin = NO_PHASES;
    if (positions->offset != 0)
        multiply(chunk, positions->offset, &state->origin);
    multiply(chunk, positions->step, &state->step);
    multiply(chunk, positions->step / 2, &state->half);
    step_on(&NO_PHASES, &state->step, 2 * state->reach, chunk->count, &state->block);
    state->middle_row = 0;
    make_distances(state);
}

/* Compute the seeds of the middle between row - 1 and row, multiplied by the amplitude. */
static void seed_middle(block_state *state, uint64_t row, pe_seeds *ret_seeds)
{
    const pe_chunk *chunk = state->chunk;
    const pe_wave *wave = chunk->wave;
    const pe_phases *half = &state->half;
    pe_phases *middle = &state->middle;
    if (state->middle_row > 0 && state->middle_row + 2 * state->reach == row) {
        pe_phases_advance(chunk, middle, &state->block);
    } else {
        step_on(&state->origin, &state->step, row, chunk->count, middle);
        for (size_t i = 0; i < chunk->count; i++) { /* middle -= half */
            middle->high[i] -= half->high[i] + (middle->low[i] < half->low[i]);
            middle->low[i] -= half->low[i];
        }
    }
    state->middle_row = row;
    pe_seeds_compute(chunk, middle, ret_seeds);
    if (pe_is_plain(wave))
        return;
    for (size_t i = 0; i < chunk->count; i++) {
        ret_seeds->sin[i] =
            ret_seeds->sin[i] * wave->amplitude + ret_seeds->sin[i] * wave->amplitude_rest;
        ret_seeds->cos[i] =
            ret_seeds->cos[i] * wave->amplitude + ret_seeds->cos[i] * wave->amplitude_rest;
    }
}

/* Write a row with uncertain entries again. It lies `distance` + 1/2 steps from the middle,
 * ahead of it or behind it. */
static void resolve(const block_state *state, const pe_seeds *middle, size_t distance,
                    bool is_behind, uint64_t row_number, unsigned char *row)
{
    pe_seeds ahead, behind;
    const pe_seeds *entries = is_behind ? &behind : &ahead;
    rotate_seeds(state->chunk, middle, &state->distances[distance], 1, &ahead, &behind);
    pe_chunk_resolve(state->chunk, row_number, entries->sin, entries->cos, row);
}

/* Write `reach` rows from row `row` on, which is stored at `dst`, and `reach` rows before it.
 * `middle`: seeds of half a step before the row. */
static void write_block(const block_state *state, const pe_seeds *middle, uint64_t row,
                        size_t reach, unsigned char *dst)
{
    const pe_chunk *chunk = state->chunk;
    ptrdiff_t row_bytes = (ptrdiff_t)pe_wave_row_bytes(chunk->wave);
    pe_sincos distances[PE_REACH_MAX];
    for (size_t j = 0; j < reach; j++)
        distances[j] = pe_sincos_of(&state->distances[j]);
    pe_doubts doubts =
        pe_chunk_rotate(chunk, pe_sincos_of(middle), distances, reach, dst, dst - row_bytes);
    for (; doubts.ahead; doubts.ahead &= doubts.ahead - 1) {
        size_t j = (size_t)__builtin_ctzll(doubts.ahead);
        resolve(state, middle, j, false, row + j, dst + (ptrdiff_t)j * row_bytes);
    }
    for (; doubts.behind; doubts.behind &= doubts.behind - 1) {
        size_t j = (size_t)__builtin_ctzll(doubts.behind);
        resolve(state, middle, j, true, row - 1 - j, dst - (ptrdiff_t)(j + 1) * row_bytes);
    }
}

void pe_rows_by_distance(const pe_chunk *chunk, uint64_t first, uint64_t rows,
                         unsigned char *dst)
{
    size_t row_bytes = pe_wave_row_bytes(chunk->wave);
    block_state state;
    pe_seeds middle;
    begin(&state, chunk, rows);
    for (uint64_t done = 0; done < rows;) {
        size_t reach = pe_next_reach(state.reach, rows, &done);
        seed_middle(&state, first + done + reach, &middle);
        write_block(&state, &middle, first + done + reach, reach,
                    dst + (done + reach) * row_bytes);
        done += 2 * reach;
    }
}
