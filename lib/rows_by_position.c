/* Rows by angle addition from the seeds of both parts of a position.
 *
 * A position k is 64·hi + lo with 0 <= lo < 64. For both parts the sine and cosine are taken
 * from exact phases and rounded to double once; one rotation per entry combines them:
 *
 *     sin(a + b) = sin a cos b + cos a sin b,   cos(a + b) = cos a cos b - sin a sin b.
 *
 * The split depends on the position alone, so a window of an f64 table has the bits of the
 * whole. */
#include "dtype.h"
#include "rows.h"
#include "seeds.h"

#include <assert.h>

/* The chunk's f64 entries of one row, without the amplitude, by the kernel. */
static void write_by_doubles(const pe_chunk *chunk, uint64_t row_number, pe_sincos hi,
                             pe_sincos lo, unsigned char *row)
{
    double sines[PE_KERNEL_PAIRS], cosines[PE_KERNEL_PAIRS];
    const pe_rows apart = {(unsigned char *)sines, (unsigned char *)cosines, 0};
    chunk->kernel->rotate[PE_F64](hi, &lo, 1, chunk->count, &apart, NULL,
                                  (pe_rounding){0, false});
    pe_chunk_write(chunk, row_number, sines, cosines, row);
}

/* Rows [first, first + rows) that share a hi seed; `row` is the first one's start. */
static void write_block(const pe_chunk *chunk, uint64_t first, size_t rows, pe_sincos hi,
                        const pe_sincos *lo, unsigned char *row)
{
    const pe_wave *wave = chunk->wave;
    size_t row_bytes = pe_row_bytes(wave);
    pe_rounding rounding;
    assert(rows > 0 && rows <= 64);
    uint64_t remaining = ~0ULL >> (64 - rows); /* a bit per row */
    if (pe_is_plain(wave) && pe_chunk_rounding(chunk, &rounding))
        remaining = pe_chunk_rotate(chunk, hi, lo, rows, row, NULL, rounding).ahead;
    for (; remaining; remaining &= remaining - 1) {
        size_t r = (size_t)__builtin_ctzll(remaining);
        write_by_doubles(chunk, first + r, hi, lo[r], row + r * row_bytes);
    }
}

void pe_rows_by_position(const pe_chunk *chunk, uint64_t first, uint64_t rows,
                         unsigned char *dst)
{
    const pe_positions *positions = &chunk->wave->positions;
    size_t row_bytes = pe_row_bytes(chunk->wave);
    pe_split at = pe_split_position(pe_position_at(positions, first));
    pe_seeder seeder;
    pe_seeder_init(&seeder, chunk);
    for (uint64_t done = 0; done < rows;) {
        pe_sincos hi = pe_hi_seeds(&seeder, at.hi), lo[PE_KERNEL_ROWS];
        double block_hi = at.hi;
        bool used[PE_SEED_SLOTS] = {false};
        size_t count = 0;
        while (done + count < rows && count < PE_KERNEL_ROWS && at.hi == block_hi) {
            size_t slot = pe_seed_slot(at);
            if (used[slot] && (at.tail != 0 || seeder.lo[slot].position != at.lo))
                break; /* its seeds are still needed by a row of this block */
            used[slot] = true;
            lo[count] = pe_lo_seeds_at(&seeder, at, first + done + count);
            count++;
            if (done + count < rows)
                at = pe_next_split(positions, first + done + count, at);
        }
        write_block(chunk, first + done, count, hi, lo, dst + done * row_bytes);
        done += count;
    }
}
