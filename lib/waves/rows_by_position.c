/* Computing rows by angle addition from the anchors of both parts of their positions.
 *
 * A position k is 64·hi + lo with 0 <= lo < 64. The sines and cosines of both parts are
 * computed from exact phases and rounded to double once; one rotation per entry combines them:
 *
 *     sin(a + b) = sin a cos b + cos a sin b,   cos(a + b) = cos a cos b - sin a sin b.
 */
#include "waves/anchors.h"
#include "waves/rows.h"

#include <assert.h>

/* Write one row that the kernel does not round, or of which it was not certain: compute sines
 * and cosines as doubles, without the amplitude; pe_chunk_write multiplies by it and rounds. */
static void write_by_doubles(const pe_chunk *chunk, uint64_t row_number, pe_sincos hi,
                             pe_sincos lo, unsigned char *row)
{
    double sines[PE_KERNEL_PAIRS], cosines[PE_KERNEL_PAIRS];
    const pe_rows apart = {(unsigned char *)sines, (unsigned char *)cosines, 0, false};
    chunk->kernel->rotate[PE_F64](hi, &lo, 1, chunk->count, &apart, NULL,
                                  (pe_rounding){0, false});
    pe_chunk_write(chunk, row_number, sines, cosines, row);
}

/* Write rows [first, first + rows), at most 64, that share the hi anchors. */
static void write_block(const pe_chunk *chunk, uint64_t first, size_t rows, pe_sincos hi,
                        const pe_sincos *lo, unsigned char *row)
{
    size_t row_bytes = pe_wave_row_bytes(chunk->wave);
    assert(rows > 0 && rows <= 64);
    uint64_t remaining = ~0ULL >> (64 - rows); /* one bit per row that is still to be written */
    if (pe_is_plain(chunk->wave))              /* anchors of hi do not include an amplitude */
        remaining = pe_chunk_rotate(chunk, hi, lo, rows, row, NULL).ahead;
    for (; remaining; remaining &= remaining - 1) {
        size_t r = (size_t)__builtin_ctzll(remaining);
        write_by_doubles(chunk, first + r, hi, lo[r], row + r * row_bytes);
    }
}

void pe_rows_by_position(const pe_chunk *chunk, uint64_t first, uint64_t rows,
                         unsigned char *dst)
{
    const pe_positions *positions = &chunk->wave->positions;
    size_t row_bytes = pe_wave_row_bytes(chunk->wave);
    pe_split split = pe_split_position(pe_position_get(positions, first));
    pe_anchor_cache cache;
    pe_anchor_cache_init(&cache, chunk);
    for (uint64_t done = 0; done < rows;) {
        /* collect the rows of a block: they share hi, and each slot holds one row's lo anchors
         */
        pe_sincos hi = pe_hi_anchors(&cache, split.hi), lo[PE_KERNEL_ROWS];
        double block_hi = split.hi;
        bool used[PE_ANCHOR_SLOTS] = {false};
        size_t count = 0;
        while (done + count < rows && count < PE_KERNEL_ROWS && split.hi == block_hi) {
            size_t slot = pe_anchor_slot(split);
            if (used[slot] && (split.tail != 0 || cache.lo[slot].position != split.lo))
                break; /* an earlier row of the block still needs the anchors in this slot */
            used[slot] = true;
            lo[count] = pe_lo_anchors(&cache, split, first + done + count);
            count++;
            if (done + count < rows)
                split = pe_next_split(positions, first + done + count, split);
        }
        write_block(chunk, first + done, count, hi, lo, dst + done * row_bytes);
        done += count;
    }
}
