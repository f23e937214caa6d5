/* Sines and cosines of position times frequency by angle addition.
 *
 * A position k is 64·hi + lo with 0 <= lo < 64. For both parts the sine and cosine are taken
 * from exact phases and rounded to double once (the seeds, within 0.62 of 2^-53); one rotation
 * per entry combines them:
 *
 *     sin(a + b) = sin a cos b + cos a sin b,   cos(a + b) = cos a cos b - sin a sin b.
 *
 * The split depends on the position alone, so a window has the bits of the whole. A rotation
 * errs by less than 2^-51; an entry that lies within 2^-50 of a rounding boundary of its dtype
 * is recomputed from its own exact phase in double-double. */
#include "wave.h"

#include "columns.h"
#include "dtype.h"
#include "phase.h"
#include "seeds.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNCERTAINTY   0x1p-50
#define STREAMED_FROM (8 << 20) /* bytes of a table that no cache would keep anyway */

pe_wide *pe_wave_geometric(size_t count, double base, uint64_t numerator, uint64_t denominator)
{
    pe_wide *frequencies = malloc(count * sizeof *frequencies);
    if (!frequencies)
        return NULL;
    frequencies[0] = PE_WIDE_RADIAN;
    if (count == 1)
        return frequencies;
    if (base == 1) { /* every power is 1, which a fraction cannot hold */
        for (size_t i = 1; i < count; i++)
            frequencies[i] = frequencies[0];
        return frequencies;
    }
    pe_wide ratio = pe_wide_power(base, numerator, denominator);
    for (size_t i = 1; i < count; i++)
        frequencies[i] = pe_wide_mul(frequencies[i - 1], ratio);
    return frequencies;
}

pe_wave *pe_wave_new(const pe_values *values, size_t columns, pe_wave_layout layout,
                     size_t row_columns)
{
    pe_wave *wave = malloc(sizeof *wave);
    pe_error none;
    pe_error_init(&none); /* the plan has read the positions without a problem */
    if (wave)
        *wave = (pe_wave){
            .positions = pe_positions_read(values, &none),
            .count = columns,
            .layout = layout,
            .columns = columns,
            .row_columns = row_columns,
            .amplitude = 1,
            .dtype = pe_requested_dtype(values),
        };
    return wave;
}

pe_wave *pe_wave_ready(pe_wave *wave)
{
    if (wave->frequencies)
        return wave;
    pe_wave_free(wave);
    return NULL;
}

void pe_wave_free(void *wave)
{
    if (wave)
        free(((pe_wave *)wave)->frequencies);
    free(wave);
}

/* ---- rounding ---- */

/* sin x and cos x for 0 < |x| < 2^-20. Where x, or 1 times an amplitude, lies on a rounding
 * boundary, the second term decides, however small it is. */
static void small_sincos(dd x, dd *ret_sin, dd *ret_cos)
{
    double square = x.hi * x.hi;
    *ret_sin = dd_quick_two_sum(x.hi, x.lo - x.hi * square / 6 * (1 - square / 20));
    *ret_cos = (dd){1, -fmax(square / 2 * (1 - square / 12), 0x1p-200)};
}

/* Round one entry from its exact phase. */
static void round_exactly(const pe_wave *wave, uint64_t row, size_t frequency, bool cosine,
                          void *dst)
{
    dd parts[2], position = pe_position_at(&wave->positions, row);
    pe_wide turns = wave->frequencies[frequency];
    bool radian = memcmp(&turns, &PE_WIDE_RADIAN, sizeof turns) == 0;
    dd angle = radian ? position : dd_snap(dd_mul(position, pe_phase_radians(turns)));
    pe_phase_sincos(pe_position_phase(&wave->positions, row, turns), &parts[0], &parts[1]);
    if (angle.hi != 0 && fabs(angle.hi) < 0x1p-20)
        /* at one radian per position the position itself is the angle, without the rounding of
         * 2π, and at a third of one the double nearest to it is; below 2^-150 a 256-bit
         * fraction of a turn has too few bits left */
        small_sincos(angle, &parts[0], &parts[1]);
    dd amplitude = {wave->amplitude, wave->amplitude_rest};
    pe_round_dd(wave->dtype, dd_mul(parts[cosine], amplitude), dst);
}

/* Round `count` sines or cosines that begin at frequency `first`. */
static void round_entries(const pe_wave *wave, uint64_t row, size_t first, size_t count,
                          bool cosine, double *entries, unsigned char *dst)
{
    size_t size = pe_dtype_size(wave->dtype);
    double tolerance = fabs(wave->amplitude) * UNCERTAINTY;
    unsigned char above[PE_KERNEL_PAIRS * sizeof(double)];
    double bounds[PE_KERNEL_PAIRS];
    for (size_t i = 0; i < count; i++)
        entries[i] *= wave->amplitude;
    if (wave->dtype == PE_F64) {
        pe_round_row(wave->dtype, entries, count, dst);
        return;
    }
    for (size_t i = 0; i < count; i++)
        bounds[i] = entries[i] - tolerance;
    pe_round_row(wave->dtype, bounds, count, dst);
    for (size_t i = 0; i < count; i++)
        bounds[i] = entries[i] + tolerance;
    pe_round_row(wave->dtype, bounds, count, above);
    if (memcmp(dst, above, count * size) == 0)
        return;
    for (size_t i = 0; i < count; i++)
        if (memcmp(dst + i * size, above + i * size, size) != 0)
            round_exactly(wave, row, first + i, cosine, dst + i * size);
}

/* ---- rows ---- */

/* Room for the entries of one row and chunk, in any dtype. */
typedef struct wave_staging {
    unsigned char sines[PE_KERNEL_PAIRS * sizeof(double)],
        cosines[PE_KERNEL_PAIRS * sizeof(double)];
} wave_staging;

/* Copy elements to columns start, start + stride …, dropping those past the last. */
static void place(const pe_chunk *chunk, const unsigned char *elements, size_t start,
                  size_t stride, unsigned char *row)
{
    const pe_wave *wave = chunk->wave;
    size_t size = pe_dtype_size(wave->dtype);
    for (size_t i = 0; i < chunk->count && start + i * stride < wave->columns; i++)
        memcpy(row + (start + i * stride) * size, elements + i * size, size);
}

/* Place separate sines and cosines where the layout wants them. */
static void place_apart(const pe_chunk *chunk, wave_staging *staging, unsigned char *row)
{
    const pe_wave *wave = chunk->wave;
    size_t first = chunk->first, half = wave->count, size = pe_dtype_size(wave->dtype);
    pe_run run = pe_run_of(wave, first, chunk->count, NULL);
    switch (wave->layout) {
    case PE_WAVE_INTERLEAVED:
        place(chunk, staging->sines, 2 * first, 2, row);
        place(chunk, staging->cosines, 2 * first + 1, 2, row);
        break;
    case PE_WAVE_CONCAT:
        place(chunk, staging->sines, first, 1, row);
        place(chunk, staging->cosines, half + first, 1, row);
        break;
    case PE_WAVE_CONCAT_COS_FIRST:
        place(chunk, staging->cosines, first, 1, row);
        place(chunk, staging->sines, half + first, 1, row);
        break;
    case PE_WAVE_ALTERNATING: /* chunks begin at even frequencies */
        for (size_t i = 1; i < chunk->count; i += 2)
            memcpy(staging->sines + i * size, staging->cosines + i * size, size);
        place(chunk, staging->sines, first, 1, row);
        break;
    case PE_WAVE_SINES:
        pe_run_write(&run, staging->sines, 1, row);
        break;
    case PE_WAVE_COSINES:
        pe_run_write(&run, staging->cosines, 1, row);
        break;
    }
}

/* Make the chunk's entries of one row with every doubt resolved. */
static void write_carefully(const pe_chunk *chunk, uint64_t row_number, pe_sincos hi,
                            pe_sincos lo, unsigned char *row)
{
    double sine[PE_KERNEL_PAIRS], cosine[PE_KERNEL_PAIRS];
    wave_staging staging;
    const pe_rows apart = {(unsigned char *)sine, (unsigned char *)cosine, 0, false};
    chunk->kernel->rotate[PE_F64](hi, &lo, 1, chunk->count, &apart);
    if (chunk->wave->layout != PE_WAVE_COSINES)
        round_entries(chunk->wave, row_number, chunk->first, chunk->count, false, sine,
                      staging.sines);
    if (chunk->wave->layout != PE_WAVE_SINES)
        round_entries(chunk->wave, row_number, chunk->first, chunk->count, true, cosine,
                      staging.cosines);
    place_apart(chunk, &staging, row);
}

/* Where the kernel can write the chunk's columns itself, starting at a row; false where the
 * layout wants something that it cannot do. */
static bool find_target(const pe_chunk *chunk, unsigned char *row, pe_rows *ret_rows)
{
    const pe_wave *wave = chunk->wave;
    size_t size = pe_dtype_size(wave->dtype), first = chunk->first * size;
    size_t half = wave->count * size;
    bool complete = 2 * wave->count == wave->columns;
    ret_rows->stride = wave->row_columns * size;
    ret_rows->streamed = chunk->streamed;
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

static bool is_alone(const pe_wave *wave)
{
    return wave->layout == PE_WAVE_SINES || wave->layout == PE_WAVE_COSINES;
}

/* Whether the kernel's entries are the wave's, without a factor. */
static bool is_plain(const pe_wave *wave)
{
    return wave->amplitude == 1 && wave->amplitude_rest == 0;
}

/* As write_block for sines or cosines alone: the kernel makes both, a few rows at a time that
 * stay in the L1 cache, and the ones that are wanted go on from there. */
static void write_alone(const pe_chunk *chunk, uint64_t first, size_t rows, pe_sincos hi,
                        const pe_sincos *lo, unsigned char *row)
{
    enum { ROWS = 16 };
    const pe_wave *wave = chunk->wave;
    pe_run run =
        pe_run_of(wave, chunk->first, chunk->count, chunk->streamed ? chunk->kernel : NULL);
    _Alignas(64) unsigned char sines[ROWS * PE_KERNEL_PAIRS * sizeof(double)];
    _Alignas(64) unsigned char cosines[sizeof sines];
    const pe_rows target = {sines, cosines, chunk->count * run.size, false};
    for (size_t done = 0; done < rows; done += ROWS) {
        size_t part = rows - done < ROWS ? rows - done : ROWS;
        unsigned char *to = row + done * run.row_bytes;
        uint64_t doubtful = (1ULL << part) - 1;
        if (is_plain(wave)) {
            doubtful =
                chunk->kernel->rotate[wave->dtype](hi, lo + done, part, chunk->count, &target);
            pe_run_write(&run, wave->layout == PE_WAVE_SINES ? sines : cosines, part, to);
        }
        for (; doubtful; doubtful &= doubtful - 1) {
            size_t r = (size_t)__builtin_ctzll(doubtful);
            write_carefully(chunk, first + done + r, hi, lo[done + r], to + r * run.row_bytes);
        }
    }
}

/* Rows [first, first + rows) that share a hi seed; `row` is the first one's start. */
static void write_block(const pe_chunk *chunk, uint64_t first, size_t rows, pe_sincos hi,
                        const pe_sincos *lo, unsigned char *row)
{
    const pe_wave *wave = chunk->wave;
    size_t row_bytes = wave->row_columns * pe_dtype_size(wave->dtype);
    wave_staging staging;
    pe_rows target;
    pe_rotate *rotate = chunk->kernel->rotate[wave->dtype];
    if (is_alone(wave)) {
        write_alone(chunk, first, rows, hi, lo, row);
        return;
    }
    if (is_plain(wave) && find_target(chunk, row, &target)) {
        uint64_t doubtful = rotate(hi, lo, rows, chunk->count, &target);
        for (; doubtful; doubtful &= doubtful - 1) {
            size_t r = (size_t)__builtin_ctzll(doubtful);
            write_carefully(chunk, first + r, hi, lo[r], row + r * row_bytes);
        }
        return;
    }
    target = (pe_rows){staging.sines, staging.cosines, 0, false};
    for (size_t r = 0; r < rows; r++) {
        bool doubtful = !is_plain(wave) || rotate(hi, &lo[r], 1, chunk->count, &target) != 0;
        if (doubtful)
            write_carefully(chunk, first + r, hi, lo[r], row + r * row_bytes);
        else
            place_apart(chunk, &staging, row + r * row_bytes);
    }
}

/* All rows of one chunk, in blocks that share a hi seed. */
static void write_chunk(pe_chunk *chunk, uint64_t first, uint64_t rows, unsigned char *dst)
{
    const pe_positions *positions = &chunk->wave->positions;
    size_t row_bytes = chunk->wave->row_columns * pe_dtype_size(chunk->wave->dtype);
    pe_split at = pe_split_position(pe_position_at(positions, first));
    for (uint64_t done = 0; done < rows;) {
        pe_sincos hi = pe_hi_seeds(chunk, at.hi), lo[PE_KERNEL_ROWS];
        double block_hi = at.hi;
        bool used[PE_SEED_SLOTS] = {false};
        size_t count = 0;
        while (done + count < rows && count < PE_KERNEL_ROWS && at.hi == block_hi) {
            size_t slot = pe_seed_slot(at);
            if (used[slot] && (at.tail != 0 || chunk->lo[slot].position != at.lo))
                break; /* its seeds are still needed by a row of this block */
            used[slot] = true;
            lo[count] = pe_lo_seeds(chunk, at, first + done + count);
            count++;
            if (done + count < rows)
                at = pe_next_split(positions, first + done + count, at);
        }
        write_block(chunk, first + done, count, hi, lo, dst + done * row_bytes);
        done += count;
    }
}

/* Zero what lies past the waves' columns, and the row of position 0 where that is asked for. */
static void write_zeros(const pe_wave *wave, uint64_t first, uint64_t rows, unsigned char *dst)
{
    size_t size = pe_dtype_size(wave->dtype), row_bytes = wave->row_columns * size;
    size_t wave_bytes = wave->columns * size;
    if (row_bytes == wave_bytes && !wave->zero_at_origin)
        return;
    for (uint64_t r = 0; r < rows; r++) {
        unsigned char *row = dst + r * row_bytes;
        dd position = pe_position_at(&wave->positions, first + r);
        if (wave->zero_at_origin && position.hi == 0 && position.lo == 0)
            memset(row, 0, row_bytes);
        else
            memset(row + wave_bytes, 0, row_bytes - wave_bytes);
    }
}

void pe_wave_fill(const pe_wave *wave, uint64_t first, uint64_t rows, void *dst)
{
    assert(!is_alone(wave) || wave->columns == wave->count << (wave->copies != PE_WAVE_ONCE));
    bool streamed = rows * wave->row_columns * pe_dtype_size(wave->dtype) >= STREAMED_FROM;
    pe_chunk chunk;
    for (size_t f = 0; f < wave->count - wave->still; f += PE_KERNEL_PAIRS) {
        pe_chunk_begin(&chunk, wave, f, streamed);
        write_chunk(&chunk, first, rows, dst);
    }
    if (streamed)
        pe_kernel_get()->fence();
    if (wave->still > 0)
        pe_still_write(wave, rows, dst);
    write_zeros(wave, first, rows, dst);
}

void pe_wave_fill_tensor(const pe_values *values, const pe_plan *plan, const void *state,
                         pe_window window, void *dst)
{
    (void)values, (void)plan;
    pe_wave_fill(state, window.first, window.rows, dst);
}
