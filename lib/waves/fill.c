/* Filling rows of a wave, 64 frequencies at a time.
 *
 * Angle addition gives a sine and a cosine from two others. The ones to start from, the
 * anchors, are computed from exact phases. For f32, f16 and bf16 they are doubles with an error
 * below 0.62·2^-53, and the error of a sum is below 2^-50; for f64 they are double-doubles (see
 * rows_f64.c). An entry that lies that near to a rounding boundary is computed again from its
 * own exact phase. So every entry is rounded correctly, whichever anchors it was computed from,
 * and a window has the same bits as the same rows of the whole table. */
#include "waves/fill.h"

#include "kernels/store.h"
#include "waves/columns.h"
#include "waves/rows.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Write zeros in the columns after the wave's own, and in the row of position 0 if
 * zero_at_origin is set. */
static void write_zeros(const pe_wave *wave, uint64_t first, uint64_t rows, unsigned char *dst)
{
    size_t row_bytes = pe_wave_row_bytes(wave);
    size_t wave_bytes = (wave->first_column + wave->columns) * pe_dtype_size(wave->dtype);
    if (row_bytes == wave_bytes && !wave->zero_at_origin)
        return;
    for (uint64_t r = 0; r < rows; r++) {
        unsigned char *row = dst + r * row_bytes;
        dd position = pe_position_get(&wave->positions, first + r);
        if (wave->zero_at_origin && position.hi == 0 && position.lo == 0)
            memset(row, 0, row_bytes);
        else
            memset(row + wave_bytes, 0, row_bytes - wave_bytes);
    }
}

/* Write rows of double-doubles, each entry from its own phase. */
static void write_exactly(const pe_chunk *chunk, uint64_t first, uint64_t rows,
                          unsigned char *dst)
{
    const pe_wave *wave = chunk->wave;
    const size_t row_bytes = pe_wave_row_bytes(wave);
    const bool sines = wave->layout != PE_WAVE_COSINES, cosines = wave->layout != PE_WAVE_SINES;
    dd entries[2][PE_KERNEL_PAIRS];
    for (uint64_t r = 0; r < rows; r++) {
        for (size_t i = 0; i < chunk->count; i++)
            pe_round_exactly(wave, first + r, chunk->first + i, sines ? &entries[0][i] : NULL,
                             cosines ? &entries[1][i] : NULL);
        pe_columns_place(wave, chunk->first, chunk->count, (unsigned char *)entries[0],
                         (unsigned char *)entries[1], dst + r * row_bytes);
    }
}

/* Write what the entries of rows lose. */
static void write_losses(const pe_chunk *chunk, uint64_t first, uint64_t rows,
                         unsigned char *dst)
{
    const pe_wave *wave = chunk->wave;
    double of_one[PE_KERNEL_PAIRS] = {0}, losses[PE_KERNEL_PAIRS];
    for (size_t i = 0; i < chunk->count; i++)
        of_one[i] = pe_wave_loss(1, 1, wave->frequencies[chunk->first + i]);
    for (uint64_t r = 0; r < rows; r++) {
        dd position = pe_position_get(&wave->positions, first + r);
        for (size_t i = 0; i < chunk->count; i++)
            losses[i] = fabs(wave->amplitude * position.hi) * of_one[i];
        pe_columns_place(wave, chunk->first, chunk->count, (unsigned char *)losses,
                         (unsigned char *)losses, dst + r * pe_wave_row_bytes(wave));
    }
}

/* Write the frequencies that are not still, past the caches if there is a kernel for that. */
static void write_turning(const pe_wave *wave, uint64_t first, uint64_t rows,
                          const pe_kernel *nontemporal, unsigned char *dst)
{
    const size_t end = wave->count - wave->still;
    const bool is_regular = !wave->positions.list && rows >= 2;
    const pe_small_part part = pe_small_part_find(wave, first, rows);
    for (size_t f = 0; f < part.small; f += PE_KERNEL_PAIRS) {
        const pe_chunk chunk = pe_chunk_init(wave, f, part.small, nontemporal != NULL);
        if (wave->dtype == PE_DD)
            write_exactly(&chunk, first, rows, dst);
        else if (wave->dtype == PE_LOSS)
            write_losses(&chunk, first, rows, dst);
        else if (wave->dtype == PE_F64)
            pe_rows_f64(&chunk, first, rows, dst);
        else if (is_regular && chunk.is_rounded_by_kernel)
            pe_rows_by_distance(&chunk, first, rows, dst);
        else
            pe_rows_by_position(&chunk, first, rows, dst);
    }
    if (part.small < part.vanishing)
        pe_rows_small(wave, part.small, part.vanishing, first, rows, nontemporal != NULL, dst);
    if (part.vanishing < end)
        pe_constant_write(wave, part.vanishing, end, rows, nontemporal, dst);
}

void pe_wave_fill(const pe_wave *wave, uint64_t first, uint64_t rows, void *dst)
{
    const pe_kernel *nontemporal =
        wave->dtype < PE_DD ? pe_streaming_kernel(rows * pe_wave_row_bytes(wave)) : NULL;
    const size_t copies = wave->copies == PE_WAVE_ONCE ? 1 : 2;
    assert(!pe_is_alone(wave) || wave->columns == copies * wave->count);
    (void)copies; /* unused without assertions */
    unsigned char *start =
        (unsigned char *)dst + wave->first_column * pe_dtype_size(wave->dtype);
    write_turning(wave, first, rows, nontemporal, start);
    if (wave->still > 0)
        pe_constant_write(wave, wave->count - wave->still, wave->count, rows, nontemporal,
                          start);
    pe_store_end(nontemporal);
    write_zeros(wave, first, rows, dst);
}

void pe_wave_fill_tensor(const void *state, pe_window window, void *dst)
{
    pe_wave_fill(state, window.first, window.rows, dst);
}
