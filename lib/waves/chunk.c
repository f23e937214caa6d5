/* Rotating and rounding the entries of a chunk. */
#include "waves/chunk.h"

#include "kernels/intervals.h"
#include "numerics/angle.h"
#include "numerics/dtype.h"
#include "numerics/phase.h"
#include "waves/columns.h"

#include <math.h>
#include <string.h>

/* The least exponent with |amplitude| <= 2^exponent; the amplitude is not 0. */
static int find_exponent(double amplitude)
{
    int exponent;
    double fraction = frexp(fabs(amplitude), &exponent); /* in [1/2, 1) */
    return fraction == 0.5 ? exponent - 1 : exponent;
}

/* Decide whether the kernel can round entries that include the amplitude: it takes a range of
 * exponents. Rows of f64 are left to pe_chunk_rotate_f64, which has no such range. */
static void set_rounding(pe_chunk *chunk)
{
    const pe_wave *wave = chunk->wave;
    if (wave->amplitude == 0 || wave->dtype == PE_F64)
        return;
    int exponent = find_exponent(wave->amplitude);
    /* for f16 the kernel takes entries from 2^(exponent - 14) on for normal numbers; the least
     * of these is 2^-14 */
    int least = wave->dtype == PE_F16 ? 0 : PE_EXPONENT_MIN;
    chunk->rounding.exponent = exponent;
    chunk->is_rounded_by_kernel = exponent >= least && exponent <= PE_EXPONENT_MAX;
}

pe_chunk pe_chunk_init(const pe_wave *wave, size_t first, size_t end, bool nontemporal)
{
    size_t rest = end - first;
    pe_chunk chunk = {.wave = wave,
                      .kernel = pe_kernel_get(),
                      .first = first,
                      .count = rest < PE_KERNEL_PAIRS ? rest : PE_KERNEL_PAIRS,
                      .rounding = {.exponent = 0, .nontemporal = nontemporal}};
    set_rounding(&chunk);
    return chunk;
}

/* ---- rotation ---- */

/* A rotation of some rows: of one of the two kinds. */
typedef struct chunk_rotation {
    const pe_chunk *chunk;
    pe_sincos a; /* for f32, f16 and bf16 */
    const pe_sincos *b;
    const pe_anchors_f64 *wide_a, *wide_b; /* for f64 */
    double error;
} chunk_rotation;

/* Rotate rows [first, first + rows). */
static pe_unsettled rotate_rows(const chunk_rotation *rotation, size_t first, size_t rows,
                                const pe_rows *ahead, const pe_rows *behind, bool nontemporal)
{
    const pe_chunk *chunk = rotation->chunk;
    const pe_kernel *kernel = chunk->kernel;
    const pe_rounding rounding = {chunk->rounding.exponent, nontemporal};
    if (rotation->wide_a)
        return kernel->rotate_f64(rotation->wide_a, rotation->wide_b + first, rows,
                                  chunk->count, ahead, behind, rotation->error, nontemporal);
    return kernel->rotate[chunk->wave->dtype](rotation->a, rotation->b + first, rows,
                                              chunk->count, ahead, behind, rounding);
}

/* Sines alone, each stored twice: the kernel makes a few rows at a time, which stay in the L1
 * cache and are copied from there. */
static pe_unsettled rotate_twice(const chunk_rotation *rotation, const pe_run *run, size_t rows,
                                 unsigned char *ahead, unsigned char *behind)
{
    enum { ROWS = 8, BYTES = ROWS * PE_KERNEL_PAIRS * sizeof(double) };
    _Alignas(64) unsigned char staged[2][BYTES];
    ptrdiff_t stride = (ptrdiff_t)(run->count * run->size);
    pe_unsettled unsettled = {0, 0};
    for (size_t done = 0; done < rows; done += ROWS) {
        size_t part = rows - done < ROWS ? rows - done : ROWS;
        ptrdiff_t last = (ptrdiff_t)(part - 1); /* rows behind are written last to first */
        pe_rows forth = {staged[0], NULL, stride, .alone = true};
        pe_rows back = {staged[1] + last * stride, NULL, -stride, .alone = true};
        pe_unsettled some =
            rotate_rows(rotation, done, part, &forth, behind ? &back : NULL, false);
        unsettled.ahead |= some.ahead << done;
        unsettled.behind |= some.behind << done;
        pe_run_write(run, staged[0], part, ahead + done * run->row_bytes);
        if (behind)
            pe_run_write(run, staged[1], part, behind - (done + (size_t)last) * run->row_bytes);
    }
    return unsettled;
}

/* Sines alone. */
static pe_unsettled rotate_alone(const chunk_rotation *rotation, size_t rows,
                                 unsigned char *ahead, unsigned char *behind)
{
    const pe_chunk *chunk = rotation->chunk;
    bool nontemporal = chunk->rounding.nontemporal;
    pe_run run = pe_run_init(chunk->wave, chunk->first, chunk->count,
                             nontemporal ? chunk->kernel : NULL);
    if (run.copies != PE_WAVE_ONCE)
        return rotate_twice(rotation, &run, rows, ahead, behind);
    size_t start = run.first * run.size;
    ptrdiff_t stride = (ptrdiff_t)run.row_bytes;
    pe_rows forth = {ahead + start, NULL, stride, .alone = true}, back = forth;
    if (behind)
        back = (pe_rows){behind + start, NULL, -stride, .alone = true};
    return rotate_rows(rotation, 0, rows, &forth, behind ? &back : NULL, nontemporal);
}

/* Rows whose layout the kernel cannot write: one at a time, and placed from there. */
static pe_unsettled rotate_and_place(const chunk_rotation *rotation, size_t rows,
                                     unsigned char *ahead, unsigned char *behind)
{
    const pe_chunk *chunk = rotation->chunk;
    const pe_wave *wave = chunk->wave;
    size_t row_bytes = pe_wave_row_bytes(chunk->wave);
    _Alignas(64) unsigned char staged[4][PE_KERNEL_PAIRS * sizeof(double)];
    const pe_rows forth = {staged[0], staged[1], .stride = 0, .alone = false};
    const pe_rows back = {staged[2], staged[3], .stride = 0, .alone = false};
    pe_unsettled unsettled = {0, 0};
    for (size_t r = 0; r < rows; r++) {
        pe_unsettled one = rotate_rows(rotation, r, 1, &forth, behind ? &back : NULL, false);
        unsettled.ahead |= one.ahead << r;
        unsettled.behind |= one.behind << r;
        pe_columns_place(wave, chunk->first, chunk->count, staged[0], staged[1],
                         ahead + r * row_bytes);
        if (behind)
            pe_columns_place(wave, chunk->first, chunk->count, staged[2], staged[3],
                             behind - r * row_bytes);
    }
    return unsettled;
}

/* Rotate rows into the columns of a chunk. */
static pe_unsettled rotate_chunk(const chunk_rotation *rotation, size_t rows,
                                 unsigned char *ahead, unsigned char *behind)
{
    const pe_chunk *chunk = rotation->chunk;
    const pe_wave *wave = chunk->wave;
    pe_rows forth, back;
    if (pe_is_alone(wave))
        return rotate_alone(rotation, rows, ahead, behind);
    if (!pe_columns_direct(wave, chunk->first, ahead, &forth))
        return rotate_and_place(rotation, rows, ahead, behind);
    pe_columns_direct(wave, chunk->first, behind ? behind : ahead, &back);
    back.stride = -back.stride;
    return rotate_rows(rotation, 0, rows, &forth, behind ? &back : NULL,
                       chunk->rounding.nontemporal);
}

static void negate_sines(const double *from, size_t count, double *ret_negated)
{
    for (size_t i = 0; i < count; i++)
        ret_negated[i] = -from[i];
}

pe_unsettled pe_chunk_rotate(const pe_chunk *chunk, pe_sincos a, const pe_sincos *b,
                             size_t rows, unsigned char *ahead, unsigned char *behind)
{
    chunk_rotation rotation = {.chunk = chunk, .a = a, .b = b};
    double negated[PE_KERNEL_PAIRS];
    if (chunk->wave->layout == PE_WAVE_COSINES) { /* the sines a quarter turn ahead */
        negate_sines(a.sin, chunk->count, negated);
        rotation.a = (pe_sincos){.sin = a.cos, .cos = negated};
    }
    return rotate_chunk(&rotation, rows, ahead, behind);
}

pe_unsettled pe_chunk_rotate_f64(const pe_chunk *chunk, const pe_anchors_f64 *a,
                                 const pe_anchors_f64 *b, size_t rows, unsigned char *ahead,
                                 unsigned char *behind, double error)
{
    chunk_rotation rotation = {.chunk = chunk, .wide_a = a, .wide_b = b, .error = error};
    pe_anchors_f64 turned;
    if (chunk->wave->layout == PE_WAVE_COSINES) { /* the sines a quarter turn ahead */
        memcpy(turned.sin, a->cos, chunk->count * sizeof *a->cos);
        memcpy(turned.sin_rest, a->cos_rest, chunk->count * sizeof *a->cos_rest);
        negate_sines(a->sin, chunk->count, turned.cos);
        negate_sines(a->sin_rest, chunk->count, turned.cos_rest);
        rotation.wide_a = &turned;
    }
    return rotate_chunk(&rotation, rows, ahead, behind);
}

/* ---- rounding ---- */

/* Positions below TINY are computed times 2^SCALE, since their last bits would underflow. They
 * stay so small that a sine is its angle, as far as any dtype goes. */
#define TINY  0x1p-700
#define SCALE 600

/* The angle at a row in radians, and whether it is below 2^-20. At one radian per position the
 * position itself is the angle, without the rounding of 2π; at a tenth of one the angle may be
 * a number of few bits, which dd_snap finds. */
static bool is_small_angle(const pe_wide *turns, dd position, dd *ret_angle)
{
    bool radian = memcmp(turns, &pe_wide_radian, sizeof *turns) == 0;
    *ret_angle = radian ? position : dd_snap(dd_mul(position, pe_phase_radians(*turns)));
    return ret_angle->hi != 0 && fabs(ret_angle->hi) < 0x1p-20;
}

/* Whether the phase of a row is a multiple of a quarter turn, and its sine and cosine. Tiny
 * phases may be 0 because their bits are cut off, so these are left to the caller. A frequency
 * such as 1/12 of a turn is cut off, too: phases are known to about 2^-200, and one that is
 * within 2^-192 of a quarter turn is one. */
static bool is_quarter_turn(const pe_wave *wave, uint64_t row, dd position, pe_wide turns,
                            dd *ret_sine, dd *ret_cosine)
{
    static const double SINES[] = {0, 1, 0, -1};
    if (wave->rational ? fabs(position.hi) < 0.25
                       : turns.limb[3] >> 32 == 0 || fabs(position.hi) < 1)
        return false;
    static const pe_wide tolerance = {{0, 1, 0, 0}}; /* 2^-192 */
    pe_wide phase = pe_position_phase(&wave->positions, row, turns);
    if (wave->rational)
        phase = pe_phase_snap(phase, PE_WAVE_RATIONAL);
    phase = pe_wide_add(phase, tolerance); /* a quarter turn is 0 to 2^-191 above it now */
    if (phase.limb[3] << 2 != 0 || phase.limb[2] != 0 || phase.limb[1] > 2)
        return false;
    *ret_sine = (dd){SINES[phase.limb[3] >> 62], 0};
    *ret_cosine = (dd){SINES[((phase.limb[3] >> 62) + 1) % 4], 0};
    return true;
}

/* Round the product of a sine or cosine with the amplitude and 2^scale. */
static void round_product(const pe_wave *wave, dd value, bool is_less, int scale, void *dst)
{
    int exponent;
    dd amplitude = {frexp(wave->amplitude, &exponent), 0};
    amplitude.lo = ldexp(wave->amplitude_rest, -exponent);
    dd product = dd_mul(value, amplitude);
    if (is_less) /* what the sine lacks of its angle may have been rounded away */
        product = dd_less(product, 0);
    pe_round_scaled(wave->dtype, product, exponent + scale, dst);
}

void pe_round_exactly(const pe_wave *wave, uint64_t row, size_t frequency, void *ret_sine,
                      void *ret_cosine)
{
    dd sine, cosine, angle, position = pe_position_get(&wave->positions, row);
    pe_wide turns = wave->frequencies[frequency];
    int scale = 0;
    bool small = false;
    if (fabs(position.hi) < TINY && position.hi != 0) {
        position = pe_position_times(&wave->positions, row, ldexp(1, SCALE));
        scale = -SCALE;
    }
    if (position.hi == 0 && position.lo == 0) {
        sine = (dd){0, 0};
        cosine = (dd){1, 0};
    } else if (is_quarter_turn(wave, row, position, turns, &sine, &cosine)) {
        /* both are set; this is frequent, since no error bound decides how a 0 is rounded */
    } else if (is_small_angle(&turns, position, &angle)) {
        /* below 2^-150 a 256-bit fraction of a turn has too few bits left */
        pe_angle_small_sincos(angle, &sine, &cosine);
        small = true;
    } else {
        pe_phase_sincos(pe_position_phase(&wave->positions, row, turns), &sine, &cosine);
    }
    if (ret_sine)
        round_product(wave, sine, small, scale, ret_sine);
    if (ret_cosine)
        round_product(wave, cosine, false, 0, ret_cosine);
}

void pe_round_function(const pe_wave *wave, uint64_t row, size_t frequency, bool cosine,
                       void *dst)
{
    pe_round_exactly(wave, row, frequency, cosine ? NULL : dst, cosine ? dst : NULL);
}

/* The sines, or the cosines, of a row. */
typedef struct row_part {
    const pe_chunk *chunk;
    uint64_t row;
    bool cosine;
} row_part;

/* A pe_settle: an entry is rounded from its exact phase, if it has a column. */
static void settle_entry(const void *context, size_t i, void *dst)
{
    const row_part *part = context;
    const pe_chunk *chunk = part->chunk;
    if (pe_has_column(chunk->wave, chunk->first + i, part->cosine))
        pe_round_function(chunk->wave, part->row, chunk->first + i, part->cosine, dst);
}

/* Round the sines, or the cosines, of a row. */
static void resolve_part(const pe_chunk *chunk, uint64_t row_number, const double *entries,
                         bool cosine, unsigned char *ret_elements)
{
    const row_part part = {chunk, row_number, cosine};
    pe_round_about(chunk->wave->dtype, entries, fabs(chunk->wave->amplitude) * 0x1p-49,
                   chunk->count, settle_entry, &part, ret_elements);
}

void pe_chunk_resolve(const pe_chunk *chunk, uint64_t row_number, const double *sines,
                      const double *cosines, unsigned char *row)
{
    const pe_wave *wave = chunk->wave;
    unsigned char rounded[2][PE_KERNEL_PAIRS * sizeof(double)];
    dd position = pe_position_get(&wave->positions, row_number);
    if (position.hi == 0 && position.lo == 0) { /* every sine is 0, every cosine 1 */
        size_t size = pe_dtype_size(wave->dtype);
        for (size_t i = 0; i < chunk->count; i++) {
            pe_round_dd(wave->dtype, (dd){0, 0}, rounded[0] + i * size);
            pe_round_dd(wave->dtype, (dd){wave->amplitude, wave->amplitude_rest},
                        rounded[1] + i * size);
        }
    } else {
        if (wave->layout != PE_WAVE_COSINES)
            resolve_part(chunk, row_number, sines, false, rounded[0]);
        if (wave->layout != PE_WAVE_SINES)
            resolve_part(chunk, row_number, cosines, true, rounded[1]);
    }
    pe_columns_place(wave, chunk->first, chunk->count, rounded[0], rounded[1], row);
}

void pe_chunk_resolve_f64(const pe_chunk *chunk, uint64_t row_number, const dd *sines,
                          const dd *cosines, double error, unsigned char *row)
{
    const dd *entries[2] = {sines, cosines};
    double rounded[2][PE_KERNEL_PAIRS];
    for (size_t part = 0; part < 2; part++)
        for (size_t i = 0; i < chunk->count; i++) {
            dd entry = entries[part][i];
            double below = entry.hi + (entry.lo - error), above = entry.hi + (entry.lo + error);
            rounded[part][i] = below + 0.0;
            if (!(below == above) && pe_has_column(chunk->wave, chunk->first + i, part))
                pe_round_function(chunk->wave, row_number, chunk->first + i, part,
                                  &rounded[part][i]);
        }
    pe_columns_place(chunk->wave, chunk->first, chunk->count, (unsigned char *)rounded[0],
                     (unsigned char *)rounded[1], row);
}

void pe_chunk_write(const pe_chunk *chunk, uint64_t row_number, const double *sines,
                    const double *cosines, unsigned char *row)
{
    const pe_wave *wave = chunk->wave;
    double scaled[2][PE_KERNEL_PAIRS];
    for (size_t i = 0; i < chunk->count; i++) {
        scaled[0][i] = sines[i] * wave->amplitude;
        scaled[1][i] = cosines[i] * wave->amplitude;
    }
    pe_chunk_resolve(chunk, row_number, scaled[0], scaled[1], row);
}
