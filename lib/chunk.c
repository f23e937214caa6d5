/* Placing and rounding the entries of a chunk. */
#include "chunk.h"

#include "angle.h"
#include "columns.h"
#include "dtype.h"
#include "phase.h"

#include <math.h>
#include <string.h>

pe_chunk pe_chunk_at(const pe_wave *wave, size_t first, bool streamed)
{
    size_t rest = wave->count - wave->still - first;
    return (pe_chunk){.wave = wave,
                      .kernel = pe_kernel_get(),
                      .first = first,
                      .count = rest < PE_KERNEL_PAIRS ? rest : PE_KERNEL_PAIRS,
                      .streamed = streamed};
}

size_t pe_row_bytes(const pe_wave *wave)
{
    return wave->row_columns * pe_dtype_size(wave->dtype);
}

/* The least exponent with |amplitude| <= 2^exponent; not for 0. */
static int exponent_of(double amplitude)
{
    int exponent;
    double fraction = frexp(fabs(amplitude), &exponent); /* [1/2, 1) */
    return fraction == 0.5 ? exponent - 1 : exponent;
}

bool pe_chunk_rounding(const pe_chunk *chunk, pe_rounding *ret_rounding)
{
    const pe_wave *wave = chunk->wave;
    *ret_rounding = (pe_rounding){0, chunk->streamed};
    if (wave->amplitude == 0 || wave->dtype == PE_F64)
        return pe_is_plain(wave);
    int least = wave->dtype == PE_F16 ? 0 : PE_EXPONENT_MIN; /* f16 has few exponents */
    ret_rounding->exponent = exponent_of(wave->amplitude);
    return ret_rounding->exponent >= least && ret_rounding->exponent <= PE_EXPONENT_MAX;
}

/* ---- layout ---- */

/* Where the kernel can write the chunk's columns itself, if `row` is row 0; false where the
 * layout wants something that it cannot do. */
static bool find_target(const pe_chunk *chunk, unsigned char *row, pe_rows *ret_rows)
{
    const pe_wave *wave = chunk->wave;
    size_t size = pe_dtype_size(wave->dtype), first = chunk->first * size;
    size_t half = wave->count * size;
    bool complete = 2 * wave->count == wave->columns;
    ret_rows->stride = (ptrdiff_t)pe_row_bytes(wave);
    ret_rows->cosines = NULL;
    switch (wave->layout) {
    case PE_WAVE_INTERLEAVED:
        ret_rows->sines = row + 2 * first;
        return complete;
    case PE_WAVE_CONCAT:
        ret_rows->sines = row + first;
        ret_rows->cosines = row + half + first;
        return complete;
    case PE_WAVE_CONCAT_COS_FIRST:
        ret_rows->cosines = row + first;
        ret_rows->sines = row + half + first;
        return complete;
    case PE_WAVE_ALTERNATING:
    case PE_WAVE_SINES:
    case PE_WAVE_COSINES:
        break;
    }
    return false;
}

/* Whether a sine or cosine has a column. */
static bool has_column(const pe_wave *wave, size_t frequency, bool cosine)
{
    switch (wave->layout) {
    case PE_WAVE_INTERLEAVED:
        return 2 * frequency + cosine < wave->columns;
    case PE_WAVE_CONCAT:
        return frequency + (cosine ? wave->count : 0) < wave->columns;
    case PE_WAVE_CONCAT_COS_FIRST:
        return frequency + (cosine ? 0 : wave->count) < wave->columns;
    case PE_WAVE_ALTERNATING:
        return frequency % 2 == cosine;
    case PE_WAVE_SINES:
        return !cosine;
    case PE_WAVE_COSINES:
        return cosine;
    }
    return false;
}

static size_t divide_up(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

/* Copy elements `from`, from + by … to columns start, start + step …, dropping those past the
 * last. */
static inline __attribute__((always_inline)) void
place_sized(const pe_chunk *chunk, const unsigned char *elements, size_t from, size_t by,
            size_t start, size_t step, unsigned char *row, size_t size)
{
    size_t columns = chunk->wave->columns, count = divide_up(chunk->count - from, by);
    size_t room = start < columns ? divide_up(columns - start, step) : 0;
    count = count < room ? count : room;
    if (by == 1 && step == 1)
        memcpy(row + start * size, elements + from * size, count * size);
    else
        for (size_t i = 0; i < count; i++)
            memcpy(row + (start + i * step) * size, elements + (from + i * by) * size, size);
}

static void place(const pe_chunk *chunk, const unsigned char *elements, size_t from, size_t by,
                  size_t start, size_t step, unsigned char *row)
{
    switch (pe_dtype_size(chunk->wave->dtype)) { /* for copies of constant size */
    case 2:
        place_sized(chunk, elements, from, by, start, step, row, 2);
        break;
    case 4:
        place_sized(chunk, elements, from, by, start, step, row, 4);
        break;
    default:
        place_sized(chunk, elements, from, by, start, step, row, 8);
        break;
    }
}

/* Place separate sines and cosines where the layout wants them. */
static void place_all(const pe_chunk *chunk, const unsigned char *sines,
                      const unsigned char *cosines, unsigned char *row)
{
    size_t first = chunk->first, half = chunk->wave->count;
    pe_run run = pe_run_of(chunk->wave, first, chunk->count, NULL);
    switch (chunk->wave->layout) {
    case PE_WAVE_INTERLEAVED:
        place(chunk, sines, 0, 1, 2 * first, 2, row);
        place(chunk, cosines, 0, 1, 2 * first + 1, 2, row);
        break;
    case PE_WAVE_CONCAT:
        place(chunk, sines, 0, 1, first, 1, row);
        place(chunk, cosines, 0, 1, half + first, 1, row);
        break;
    case PE_WAVE_CONCAT_COS_FIRST:
        place(chunk, cosines, 0, 1, first, 1, row);
        place(chunk, sines, 0, 1, half + first, 1, row);
        break;
    case PE_WAVE_ALTERNATING: /* chunks begin at even frequencies */
        place(chunk, sines, 0, 2, first, 2, row);
        if (chunk->count > 1)
            place(chunk, cosines, 1, 2, first + 1, 2, row);
        break;
    case PE_WAVE_SINES:
        pe_run_write(&run, sines, 1, row);
        break;
    case PE_WAVE_COSINES:
        pe_run_write(&run, cosines, 1, row);
        break;
    }
}

/* As pe_chunk_rotate for sines or cosines alone: the kernel makes both, a few rows at a time
 * that stay in the L1 cache, and the ones that are wanted go on from there. */
static pe_doubts rotate_alone(const pe_chunk *chunk, pe_sincos a, const pe_sincos *b,
                              size_t rows, unsigned char *ahead, unsigned char *behind,
                              pe_rounding rounding)
{
    enum { ROWS = 8, BYTES = ROWS * PE_KERNEL_PAIRS * sizeof(double) };
    const pe_wave *wave = chunk->wave;
    pe_run run =
        pe_run_of(wave, chunk->first, chunk->count, chunk->streamed ? chunk->kernel : NULL);
    _Alignas(64) unsigned char staged[4][BYTES];
    bool cosine = wave->layout == PE_WAVE_COSINES;
    ptrdiff_t stride = (ptrdiff_t)(chunk->count * run.size);
    pe_doubts doubts = {0, 0};
    rounding.streamed = false;
    for (size_t done = 0; done < rows; done += ROWS) {
        size_t part = rows - done < ROWS ? rows - done : ROWS;
        ptrdiff_t last = (ptrdiff_t)(part - 1); /* behind, rows come last to first */
        pe_rows forth = {staged[0], staged[1], stride};
        pe_rows back = {staged[2] + last * stride, staged[3] + last * stride, -stride};
        pe_doubts some = chunk->kernel->rotate[wave->dtype](
            a, b + done, part, chunk->count, &forth, behind ? &back : NULL, rounding);
        doubts.ahead |= some.ahead << done;
        doubts.behind |= some.behind << done;
        pe_run_write(&run, staged[cosine], part, ahead + done * run.row_bytes);
        if (behind)
            pe_run_write(&run, staged[2 + cosine], part,
                         behind - (done + (size_t)last) * run.row_bytes);
    }
    return doubts;
}

pe_doubts pe_chunk_rotate(const pe_chunk *chunk, pe_sincos a, const pe_sincos *b, size_t rows,
                          unsigned char *ahead, unsigned char *behind, pe_rounding rounding)
{
    if (pe_is_alone(chunk->wave))
        return rotate_alone(chunk, a, b, rows, ahead, behind, rounding);
    pe_rotate *rotate = chunk->kernel->rotate[chunk->wave->dtype];
    size_t row_bytes = pe_row_bytes(chunk->wave);
    pe_rows forth, back;
    if (find_target(chunk, ahead, &forth)) {
        find_target(chunk, behind ? behind : ahead, &back);
        back.stride = -back.stride;
        return rotate(a, b, rows, chunk->count, &forth, behind ? &back : NULL, rounding);
    }
    _Alignas(64) unsigned char staged[4][PE_KERNEL_PAIRS * sizeof(double)];
    pe_doubts doubts = {0, 0};
    forth = (pe_rows){staged[0], staged[1], 0};
    back = (pe_rows){staged[2], staged[3], 0};
    rounding.streamed = false;
    for (size_t r = 0; r < rows; r++) {
        pe_doubts one =
            rotate(a, &b[r], 1, chunk->count, &forth, behind ? &back : NULL, rounding);
        doubts.ahead |= one.ahead << r;
        doubts.behind |= one.behind << r;
        place_all(chunk, staged[0], staged[1], ahead + r * row_bytes);
        if (behind)
            place_all(chunk, staged[2], staged[3], behind - r * row_bytes);
    }
    return doubts;
}

/* ---- rounding ---- */

/* Round one entry from its exact phase. */
static void round_exactly(const pe_wave *wave, uint64_t row, size_t frequency, bool cosine,
                          void *dst)
{
    dd parts[2], position = pe_position_at(&wave->positions, row);
    pe_wide turns = wave->frequencies[frequency];
    bool radian = memcmp(&turns, &PE_WIDE_RADIAN, sizeof turns) == 0;
    dd angle = radian ? position : dd_snap(dd_mul(position, pe_phase_radians(turns)));
    if (angle.hi != 0 && fabs(angle.hi) < 0x1p-20)
        /* at one radian per position the position itself is the angle, without the rounding of
         * 2π, and at a third of one the double nearest to it is; below 2^-150 a 256-bit
         * fraction of a turn has too few bits left */
        pe_angle_small_sincos(angle, &parts[0], &parts[1]);
    else
        pe_phase_sincos(pe_position_phase(&wave->positions, row, turns), &parts[0], &parts[1]);
    dd amplitude = {wave->amplitude, wave->amplitude_rest};
    pe_round_dd(wave->dtype, dd_mul(parts[cosine], amplitude), dst);
}

/* Round sines or cosines, those that have a column with every doubt resolved. */
static void resolve_part(const pe_chunk *chunk, uint64_t row_number, const double *entries,
                         bool cosine, unsigned char *ret_elements)
{
    const pe_wave *wave = chunk->wave;
    size_t size = pe_dtype_size(wave->dtype), count = chunk->count;
    double tolerance = fabs(wave->amplitude) * 0x1p-49, bounds[PE_KERNEL_PAIRS];
    unsigned char above[sizeof bounds];
    for (size_t i = 0; i < count; i++)
        bounds[i] = entries[i] - tolerance;
    pe_round_row(wave->dtype, bounds, count, ret_elements);
    for (size_t i = 0; i < count; i++)
        bounds[i] = entries[i] + tolerance;
    pe_round_row(wave->dtype, bounds, count, above);
    for (size_t i = 0; i < count; i++)
        if (memcmp(ret_elements + i * size, above + i * size, size) != 0 &&
            has_column(wave, chunk->first + i, cosine))
            round_exactly(wave, row_number, chunk->first + i, cosine, ret_elements + i * size);
}

void pe_chunk_resolve(const pe_chunk *chunk, uint64_t row_number, const double *sines,
                      const double *cosines, unsigned char *row)
{
    const pe_wave *wave = chunk->wave;
    unsigned char rounded[2][PE_KERNEL_PAIRS * sizeof(double)];
    dd position = pe_position_at(&wave->positions, row_number);
    if (position.hi == 0 && position.lo == 0) { /* every sine is 0, every cosine 1 */
        size_t size = pe_dtype_size(wave->dtype);
        for (size_t i = 0; i < chunk->count; i++) {
            pe_round_dd(wave->dtype, (dd){0, 0}, rounded[0] + i * size);
            pe_round_dd(wave->dtype, (dd){wave->amplitude, wave->amplitude_rest},
                        rounded[1] + i * size);
        }
    } else {
        resolve_part(chunk, row_number, sines, false, rounded[0]);
        resolve_part(chunk, row_number, cosines, true, rounded[1]);
    }
    place_all(chunk, rounded[0], rounded[1], row);
}

/* Round all entries to nearest and place them. */
static void round_and_place(const pe_chunk *chunk, const double *sines, const double *cosines,
                            unsigned char *row)
{
    unsigned char rounded[2][PE_KERNEL_PAIRS * sizeof(double)];
    pe_round_row(chunk->wave->dtype, sines, chunk->count, rounded[0]);
    pe_round_row(chunk->wave->dtype, cosines, chunk->count, rounded[1]);
    place_all(chunk, rounded[0], rounded[1], row);
}

void pe_chunk_write(const pe_chunk *chunk, uint64_t row_number, const double *sines,
                    const double *cosines, unsigned char *row)
{
    double scaled[2][PE_KERNEL_PAIRS];
    for (size_t i = 0; i < chunk->count; i++) {
        scaled[0][i] = sines[i] * chunk->wave->amplitude;
        scaled[1][i] = cosines[i] * chunk->wave->amplitude;
    }
    if (chunk->wave->dtype == PE_F64)
        round_and_place(chunk, scaled[0], scaled[1], row);
    else
        pe_chunk_resolve(chunk, row_number, scaled[0], scaled[1], row);
}
