/* Waves: frequencies, and the filling of rows, 64 frequencies at a time.
 *
 * Sines and cosines come from others by angle addition. Those that it starts from, the seeds,
 * are taken from exact phases and within 0.62 of 2^-53. What it gives may be wrong by up to
 * 2^-50, so an entry of f32, f16 or bf16 that lies that near to a rounding boundary is made
 * anew from its own exact phase in double-double: all are rounded correctly, however they were
 * reached. f64 entries are not, so they are reached in one way, which depends on the position
 * alone: a window has the bits of the whole. */
#include "wave.h"

#include "columns.h"
#include "dtype.h"
#include "rows.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

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
    pe_wide ratio = pe_wide_power(base, numerator, denominator), square, fourth;
    square = pe_wide_mul(ratio, ratio);
    fourth = pe_wide_mul(square, square);
    for (size_t i = 1; i < count; i++) /* four chains of products, which overlap in time */
        frequencies[i] = i < 4 ? pe_wide_mul(frequencies[i - 1], ratio)
                               : pe_wide_mul(frequencies[i - 4], fourth);
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

/* Whether rows may be made from their distances; else each is made from its position. */
static bool goes_by_distance(const pe_chunk *chunk, uint64_t rows)
{
    const pe_wave *wave = chunk->wave;
    pe_rounding rounding;
    return wave->dtype != PE_F64 && !wave->positions.list && rows >= 2 &&
           pe_chunk_rounding(chunk, &rounding);
}

void pe_wave_fill(const pe_wave *wave, uint64_t first, uint64_t rows, void *dst)
{
    bool streamed = rows * pe_row_bytes(wave) >= PE_STREAMED_FROM;
    assert(!pe_is_alone(wave) || wave->columns == wave->count
                                                      << (wave->copies != PE_WAVE_ONCE));
    for (size_t f = 0; f < wave->count - wave->still; f += PE_KERNEL_PAIRS) {
        const pe_chunk chunk = pe_chunk_at(wave, f, streamed);
        if (goes_by_distance(&chunk, rows))
            pe_rows_by_distance(&chunk, first, rows, dst);
        else
            pe_rows_by_position(&chunk, first, rows, dst);
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
