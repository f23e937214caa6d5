/* Computing rows at equal distances: in blocks, rotating from the middle of each block.
 *
 * Let c be the angle at the middle of a block, between two rows, and d = (j + 1/2) steps. Then
 *
 *     sin(c ± d) = sin c cos d ± cos c sin d,   cos(c ± d) = cos c cos d ∓ sin c sin d
 *
 * give a row ahead of the middle and a row behind it from the same four products. All blocks
 * share the distances d, so a block of 128 rows needs one new anchor per frequency.
 *
 * Error bounds, in units u = 2^-53, using |sin x| + |cos x| <= √2:
 *
 *     anchor                  0.62
 *     anchor times amplitude  1.62 (the product, and the sum with the amplitude's rest)
 *     distance                √2·(0.62 + 0.62) + 1 = 2.8 (a near one rotated by a far one)
 *     entry                   √2·(1.62 + 2.8) + 1 < 8
 *
 * A rotation adds 1: 1/2 for its two products, because |sin a cos b| + |cos a sin b| <= 1, and
 * 1/2 for their sum. 8 u is 2^-50, relative to the power of two that no entry exceeds. */
#include "waves/anchors.h"
#include "waves/rows.h"

#include "numerics/limbs.h"

/* The first distances have anchors of their own; the others are these plus a multiple of 8. */
#define NEAR_COUNT PE_RADIUS_MIN

static const pe_phases NO_PHASES;

/* What the blocks of a chunk share, and the current middle. */
typedef struct block_state {
    const pe_chunk *chunk;
    size_t radius;                /* rows on each side of a full block's middle */
    pe_phases origin, half, step; /* phases of row 0, of half a step and of a step */
    pe_phases block;              /* phase of 2·radius steps: from one middle to the next */
    pe_phases middle;             /* phase of the middle, which is half a step before */
    uint64_t middle_row;          /* this row; 0: no middle yet */
    _Alignas(64) pe_anchors distances[PE_RADIUS_MAX]; /* [j]: anchors of j + 1/2 steps */
} block_state;

/* *ret_phases = frequencies times x. */
static void multiply_frequencies(const pe_chunk *chunk, double x, pe_phases *ret_phases)
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
static void advance_phases(const pe_phases *start, const pe_phases *step, uint64_t n,
                           size_t count, pe_phases *ret_phases)
{
    for (size_t i = 0; i < count; i++) {
        pe_uint128 first = (pe_uint128)start->high[i] << 64 | start->low[i];
        pe_uint128 one = (pe_uint128)step->high[i] << 64 | step->low[i];
        pe_uint128 sum = first + one * n;
        ret_phases->high[i] = (uint64_t)(sum >> 64);
        ret_phases->low[i] = (uint64_t)sum;
    }
}

/* ret_anchors[j] = anchors of start + j·step. */
static void compute_series(const pe_chunk *chunk, const pe_phases *start, const pe_phases *step,
                           size_t count, pe_anchors *ret_anchors)
{
    pe_phases phases = *start;
    for (size_t j = 0; j < count; j++) {
        pe_anchors_compute(chunk->kernel, chunk->count, &phases, &ret_anchors[j]);
        pe_phases_advance(chunk->kernel, chunk->count, &phases, step);
    }
}

static pe_rows make_rows(pe_anchors *anchors, ptrdiff_t stride)
{
    return (pe_rows){(unsigned char *)anchors->sin, (unsigned char *)anchors->cos, stride,
                     false};
}

/* Rotate anchors by each of `angles`: forward to ahead[0], ahead[1] …, and backward to
 * behind[0], behind[-1] … unless `behind` is NULL. */
static void rotate_anchors(const pe_chunk *chunk, const pe_anchors *anchors,
                           const pe_anchors *angles, size_t count, pe_anchors *ahead,
                           pe_anchors *behind)
{
    const ptrdiff_t stride = sizeof *anchors;
    pe_sincos b[NEAR_COUNT];
    pe_rows forth = make_rows(ahead, stride),
            back = make_rows(behind ? behind : ahead, -stride);
    for (size_t j = 0; j < count; j++)
        b[j] = pe_sincos_init(&angles[j]);
    chunk->kernel->rotate[PE_F64](pe_sincos_init(anchors), b, count, chunk->count, &forth,
                                  behind ? &back : NULL, (pe_rounding){0, false});
}

/* Compute the anchors of all distances: the first ones from their phases, the others by
 * rotating these by multiples of 8 steps. */
static void make_distances(block_state *state)
{
    const pe_chunk *chunk = state->chunk;
    size_t near = state->radius < NEAR_COUNT ? state->radius : NEAR_COUNT;
    pe_anchors far[PE_RADIUS_MAX / NEAR_COUNT];
    pe_phases leap;
    advance_phases(&NO_PHASES, &state->step, NEAR_COUNT, chunk->count, &leap);
    compute_series(chunk, &state->half, &state->step, near, state->distances);
    compute_series(chunk, &leap, &leap, (state->radius - near) / NEAR_COUNT, far);
    for (size_t j = NEAR_COUNT; j < state->radius; j += NEAR_COUNT)
        rotate_anchors(chunk, &far[j / NEAR_COUNT - 1], state->distances, NEAR_COUNT,
                       &state->distances[j], NULL);
}

static void begin_blocks(block_state *state, const pe_chunk *chunk, uint64_t rows)
{
    const pe_positions *positions = &chunk->wave->positions;
    state->chunk = chunk;
    state->radius = pe_choose_radius(rows, PE_RADIUS_MAX);
    state->origin = NO_PHASES;
    if (positions->offset != 0)
        multiply_frequencies(chunk, positions->offset, &state->origin);
    multiply_frequencies(chunk, positions->step, &state->step);
    multiply_frequencies(chunk, positions->step / 2, &state->half);
    advance_phases(&NO_PHASES, &state->step, 2 * state->radius, chunk->count, &state->block);
    state->middle_row = 0;
    make_distances(state);
}

/* Compute the anchors of the middle between row - 1 and row, multiplied by the amplitude. */
static void compute_middle(block_state *state, uint64_t row, pe_anchors *ret_anchors)
{
    const pe_chunk *chunk = state->chunk;
    const pe_wave *wave = chunk->wave;
    const pe_phases *half = &state->half;
    pe_phases *middle = &state->middle;
    if (state->middle_row > 0 && state->middle_row + 2 * state->radius == row) {
        pe_phases_advance(chunk->kernel, chunk->count, middle, &state->block);
    } else {
        advance_phases(&state->origin, &state->step, row, chunk->count, middle);
        for (size_t i = 0; i < chunk->count; i++) { /* middle -= half */
            middle->high[i] -= half->high[i] + (middle->low[i] < half->low[i]);
            middle->low[i] -= half->low[i];
        }
    }
    state->middle_row = row;
    pe_anchors_compute(chunk->kernel, chunk->count, middle, ret_anchors);
    if (pe_is_plain(wave))
        return;
    for (size_t i = 0; i < chunk->count; i++) {
        ret_anchors->sin[i] =
            ret_anchors->sin[i] * wave->amplitude + ret_anchors->sin[i] * wave->amplitude_rest;
        ret_anchors->cos[i] =
            ret_anchors->cos[i] * wave->amplitude + ret_anchors->cos[i] * wave->amplitude_rest;
    }
}

/* Write a row with uncertain entries again. It lies `distance` + 1/2 steps from the middle,
 * ahead of it or behind it. */
static void resolve_row(const block_state *state, const pe_anchors *middle, size_t distance,
                        bool is_behind, uint64_t row_number, unsigned char *row)
{
    pe_anchors ahead, behind;
    const pe_anchors *entries = is_behind ? &behind : &ahead;
    rotate_anchors(state->chunk, middle, &state->distances[distance], 1, &ahead, &behind);
    pe_chunk_resolve(state->chunk, row_number, entries->sin, entries->cos, row);
}

/* Write `radius` rows from row `row` on, which is stored at `dst`, and `radius` rows before it.
 * `middle`: anchors of half a step before the row. */
static void write_block(const block_state *state, const pe_anchors *middle, uint64_t row,
                        size_t radius, unsigned char *dst)
{
    const pe_chunk *chunk = state->chunk;
    ptrdiff_t row_bytes = (ptrdiff_t)pe_wave_row_bytes(chunk->wave);
    pe_sincos distances[PE_RADIUS_MAX];
    for (size_t j = 0; j < radius; j++)
        distances[j] = pe_sincos_init(&state->distances[j]);
    pe_unsettled unsettled =
        pe_chunk_rotate(chunk, pe_sincos_init(middle), distances, radius, dst, dst - row_bytes);
    for (; unsettled.ahead; unsettled.ahead &= unsettled.ahead - 1) {
        size_t j = (size_t)__builtin_ctzll(unsettled.ahead);
        resolve_row(state, middle, j, false, row + j, dst + (ptrdiff_t)j * row_bytes);
    }
    for (; unsettled.behind; unsettled.behind &= unsettled.behind - 1) {
        size_t j = (size_t)__builtin_ctzll(unsettled.behind);
        resolve_row(state, middle, j, true, row - 1 - j, dst - (ptrdiff_t)(j + 1) * row_bytes);
    }
}

void pe_rows_by_distance(const pe_chunk *chunk, uint64_t first, uint64_t rows,
                         unsigned char *dst)
{
    size_t row_bytes = pe_wave_row_bytes(chunk->wave);
    block_state state;
    pe_anchors middle;
    begin_blocks(&state, chunk, rows);
    for (uint64_t done = 0; done < rows;) {
        size_t radius = pe_next_radius(state.radius, rows, &done);
        compute_middle(&state, first + done + radius, &middle);
        write_block(&state, &middle, first + done + radius, radius,
                    dst + (done + radius) * row_bytes);
        done += 2 * radius;
    }
}
