/* Rows of f64 entries, rounded correctly.
 *
 * Everything is as for the shorter dtypes, but in double-double: anchors from exact phases, one
 * rotation for each entry, and a test whether what is known decides the rounding. Rows at equal
 * distances come in blocks around a middle, as rows_by_distance.c explains; other rows are
 * anchors themselves. */
#include "waves/anchors.h"
#include "waves/rows.h"

#include <math.h>

/* Errors as a part of the amplitude: an anchor is within 2^-104 and with an amplitude within
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
    size_t radius;                   /* rows on each side of a middle, in full blocks */
    pe_wide origin[PE_KERNEL_PAIRS]; /* phases of row 0 */
    pe_wide step[PE_KERNEL_PAIRS];   /* of a step */
    pe_phases half, block;           /* of half a step, of a full block */
    pe_phases middle;                /* between row `at` - 1 and row `at`; 0: nowhere yet */
    uint64_t at, added;              /* `added` blocks since it was computed */
    pe_anchors_f64 distances[PE_RADIUS_MAX_F64]; /* of j + 1/2 steps */
} block_maker;

static void compute_anchors(const pe_chunk *chunk, const pe_phases *at,
                            pe_anchors_f64 *ret_anchors)
{
    chunk->kernel->anchor_f64(at->high, at->low, chunk->count, ret_anchors);
}

/* Multiply anchors by the wave's amplitude. */
static void amplify_anchors(const pe_chunk *chunk, pe_anchors_f64 *anchors)
{
    const dd amplitude = {chunk->wave->amplitude, chunk->wave->amplitude_rest};
    for (size_t i = 0; !pe_is_plain(chunk->wave) && i < chunk->count; i++) {
        dd sine = dd_mul((dd){anchors->sin[i], anchors->sin_rest[i]}, amplitude);
        dd cosine = dd_mul((dd){anchors->cos[i], anchors->cos_rest[i]}, amplitude);
        anchors->sin[i] = sine.hi;
        anchors->sin_rest[i] = sine.lo;
        anchors->cos[i] = cosine.hi;
        anchors->cos_rest[i] = cosine.lo;
    }
}

/* The anchors of the middle between row - 1 and row, with the amplitude. */
static void compute_middle(block_maker *maker, uint64_t row, pe_anchors_f64 *ret_anchors)
{
    const pe_chunk *chunk = maker->chunk;
    pe_phases *middle = &maker->middle;
    if (maker->at > 0 && maker->at + 2 * maker->radius == row && maker->added < ADDED_MAX) {
        pe_phases_advance(chunk->kernel, chunk->count, middle, &maker->block);
        maker->added++;
    } else {
        for (size_t i = 0; i < chunk->count; i++) {
            pe_wide half = {{0, 0, maker->half.low[i], maker->half.high[i]}};
            pe_wide steps = pe_wide_mul_integer(maker->step[i], (int64_t)row);
            pe_phases_set(middle, i, pe_wide_sub(pe_wide_add(maker->origin[i], steps), half));
        }
        maker->added = 0;
    }
    maker->at = row;
    compute_anchors(chunk, middle, ret_anchors);
    amplify_anchors(chunk, ret_anchors);
}

static void make_distances(block_maker *maker)
{
    const pe_chunk *chunk = maker->chunk;
    pe_phases at = maker->half, step;
    for (size_t i = 0; i < chunk->count; i++)
        pe_phases_set(&step, i, maker->step[i]);
    for (size_t j = 0; j < maker->radius; j++) {
        compute_anchors(chunk, &at, &maker->distances[j]);
        pe_phases_advance(chunk->kernel, chunk->count, &at, &step);
    }
}

static void begin_blocks(block_maker *maker, const pe_chunk *chunk, uint64_t rows)
{
    const pe_positions *positions = &chunk->wave->positions;
    maker->chunk = chunk;
    maker->error = fabs(chunk->wave->amplitude) * ERROR;
    maker->radius = pe_choose_radius(rows, PE_RADIUS_MAX_F64);
    maker->at = 0;
    for (size_t i = 0; i < chunk->count; i++) {
        pe_wide turns = chunk->wave->frequencies[chunk->first + i];
        maker->origin[i] = pe_wide_mul_double(turns, positions->offset);
        maker->step[i] = pe_wide_mul_double(turns, positions->step);
        pe_phases_set(&maker->half, i, pe_wide_mul_double(turns, positions->step / 2));
        pe_phases_set(&maker->block, i,
                      pe_wide_mul_integer(maker->step[i], (int64_t)(2 * maker->radius)));
    }
    make_distances(maker);
}

/* Sines and cosines of one row in double-double, from the anchors that the kernel took. */
static void turn_row(const pe_chunk *chunk, const pe_anchors_f64 *a, const pe_anchors_f64 *b,
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

/* Write `radius` rows on both sides of a middle; `dst` is the first row ahead of it. */
static void write_block(const block_maker *maker, const pe_anchors_f64 *middle, uint64_t row,
                        size_t radius, unsigned char *dst)
{
    const pe_chunk *chunk = maker->chunk;
    dd sines[PE_KERNEL_PAIRS], cosines[PE_KERNEL_PAIRS];
    ptrdiff_t row_bytes = (ptrdiff_t)pe_wave_row_bytes(chunk->wave);
    pe_unsettled unsettled = pe_chunk_rotate_f64(chunk, middle, maker->distances, radius, dst,
                                                 dst - row_bytes, maker->error);
    for (; unsettled.ahead; unsettled.ahead &= unsettled.ahead - 1) {
        size_t j = (size_t)__builtin_ctzll(unsettled.ahead);
        turn_row(chunk, middle, &maker->distances[j], false, sines, cosines);
        pe_chunk_resolve_f64(chunk, row + j, sines, cosines, maker->error,
                             dst + (ptrdiff_t)j * row_bytes);
    }
    for (; unsettled.behind; unsettled.behind &= unsettled.behind - 1) {
        size_t j = (size_t)__builtin_ctzll(unsettled.behind);
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
    pe_anchors_f64 middle;
    begin_blocks(&maker, chunk, rows);
    for (uint64_t done = 0; done < rows;) {
        size_t radius = pe_next_radius(maker.radius, rows, &done);
        compute_middle(&maker, first + done + radius, &middle);
        write_block(&maker, &middle, first + done + radius, radius,
                    dst + (done + radius) * row_bytes);
        done += 2 * radius;
    }
}

/* A row by itself: its anchors are its entries. */
static void write_row(const pe_chunk *chunk, uint64_t row, unsigned char *dst)
{
    pe_phases at;
    pe_anchors_f64 anchors;
    dd sines[PE_KERNEL_PAIRS], cosines[PE_KERNEL_PAIRS];
    for (size_t i = 0; i < chunk->count; i++)
        pe_phases_set(&at, i,
                      pe_position_phase(&chunk->wave->positions, row,
                                        chunk->wave->frequencies[chunk->first + i]));
    compute_anchors(chunk, &at, &anchors);
    amplify_anchors(chunk, &anchors);
    for (size_t i = 0; i < chunk->count; i++) {
        sines[i] = (dd){anchors.sin[i], anchors.sin_rest[i]};
        cosines[i] = (dd){anchors.cos[i], anchors.cos_rest[i]};
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
