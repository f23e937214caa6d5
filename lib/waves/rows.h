/* The ways to compute all rows of a chunk: one for f64, the others for f32, f16 and bf16. All
 * round correctly, so the way does not show in the bits. */
#ifndef PE_ROWS_H
#define PE_ROWS_H

#include "waves/chunk.h"

/* Write rows at any positions, each from the anchors of the two parts of its position. Not for
 * f64. */
void pe_rows_by_position(const pe_chunk *chunk, uint64_t first, uint64_t rows,
                         unsigned char *dst);

/* Write two or more rows at equal distances: rotate from the middle of a block of rows, forward
 * and backward. Not for f64; needs chunk->is_rounded_by_kernel. */
void pe_rows_by_distance(const pe_chunk *chunk, uint64_t first, uint64_t rows,
                         unsigned char *dst);

/* Rows of f64 entries, at any positions. */
void pe_rows_f64(const pe_chunk *chunk, uint64_t first, uint64_t rows, unsigned char *dst);

/* Frequencies from `small` on have small angles in all rows of a window, and the entries of
 * those from `vanishing` on are 0. Both are counted from the wave's first frequency, and are
 * the number of those that are not still if there are none. */
typedef struct pe_small_part {
    size_t small, vanishing;
} pe_small_part;

pe_small_part pe_small_part_find(const pe_wave *wave, uint64_t first, uint64_t rows);

/* Write rows of frequencies [begin, end), whose angles are small. `nontemporal`: past the
 * caches. */
void pe_rows_small(const pe_wave *wave, size_t begin, size_t end, uint64_t first, uint64_t rows,
                   bool nontemporal, unsigned char *dst);

/* ---- blocks of rows around a middle ---- */

/* How many rows lie on each side of a full block's middle: at the least, unless there are fewer
 * rows, and at the most. Distances are rotated from a few anchors, so that they cost much less
 * than the middles that they save, and 64 KB of them may lie in the L2 cache. Those of f64 have
 * anchors of their own. */
#define PE_RADIUS_MIN     8
#define PE_RADIUS_MAX     64
#define PE_RADIUS_MAX_F64 32

/* Choose the radius of the full blocks of two or more rows, about the square root of their
 * number: more distances cost anchors once and save anchors of middles, as there are fewer
 * blocks.
 */
static inline size_t pe_choose_radius(uint64_t rows, size_t most)
{
    size_t radius = PE_RADIUS_MIN;
    while (radius < most && radius * radius < rows)
        radius *= 2;
    return radius <= rows / 2 ? radius : (size_t)(rows / 2);
}

/* The radius of the next block, which begins at row *done of two or more. If one row is left,
 * the block begins at the row before it, which is written again. */
static inline size_t pe_next_radius(size_t radius, uint64_t rows, uint64_t *done)
{
    if (rows - *done == 1)
        *done -= 1;
    return rows - *done < 2 * radius ? (size_t)(rows - *done) / 2 : radius;
}

#endif
