/* Rows of small angles.
 *
 * A rotation's error is a part of the amplitude, so it does not decide how a tiny sine is
 * rounded. The series of a small angle has an error relative to the sine itself, and needs no
 * anchors. It serves frequencies that are small for all rows of a window; whoever computes an
 * entry, it is rounded correctly. */
#include "numerics/dtype.h"
#include "numerics/phase.h"
#include "waves/columns.h"
#include "waves/rows.h"

#include <math.h>
#include <string.h>

#define TURN 0x1.921fb54442d18p+2 /* 2π */

/* Waves have small frequencies only if the last ones are as small as this: above it rotations
 * are faster. */
#define TINY_ANGLE 0x1p-20

/* A frequency in radians per position, roughly. */
static double convert_to_radians(const pe_wide *turns)
{
    double sum = (double)turns->limb[0];
    for (size_t i = 1; i < 4; i++)
        sum = (double)turns->limb[i] + sum * 0x1p-64;
    return sum * (TURN * 0x1p-64);
}

/* The largest magnitude of the positions of rows [first, first + rows). */
static double find_extent(const pe_positions *positions, uint64_t first, uint64_t rows)
{
    double extent = 0;
    if (!positions->list)
        return fmax(fabs(pe_position_get(positions, first).hi),
                    fabs(pe_position_get(positions, first + rows - 1).hi));
    for (uint64_t row = first; row < first + rows; row++)
        extent = fmax(extent, fabs(positions->list[row]));
    return extent;
}

/* The magnitude below which every number rounds to 0. */
static double vanishing_magnitude(pe_dtype dtype)
{
    const pe_dtype_facts *facts = &pe_dtypes[dtype];
    return fmax(ldexp(1, facts->least_exponent - facts->digits), 0x1p-1074);
}

/* The first of the last frequencies whose angles are all below `angle`. */
static size_t find_first_small(const pe_wave *wave, double extent, double angle)
{
    size_t first = wave->count - wave->still;
    while (first > 0 && extent * convert_to_radians(&wave->frequencies[first - 1]) < angle)
        first--;
    return first;
}

pe_small_part pe_small_part_find(const pe_wave *wave, uint64_t first, uint64_t rows)
{
    const size_t end = wave->count - wave->still;
    const double amplitude = fabs(wave->amplitude);
    pe_small_part part = {end, end};
    const double small = wave->dtype == PE_F64 ? PE_SMALL_ANGLE_F64 : PE_SMALL_ANGLE;
    if (wave->dtype >= PE_DD || end == 0 || amplitude < ldexp(1, PE_EXPONENT_MIN) ||
        amplitude > ldexp(1, PE_EXPONENT_MAX))
        return part;
    double extent = find_extent(&wave->positions, first, rows) * (1 + 0x1p-40);
    if (!(extent * convert_to_radians(&wave->frequencies[end - 1]) < TINY_ANGLE))
        return part;
    part.small = find_first_small(wave, extent, small);
    if (part.small % 2 == 1) /* a chunk begins at a frequency of even index */
        part.small = part.small < end ? part.small + 1 : end;
    if (wave->layout == PE_WAVE_SINES) {
        double magnitude = vanishing_magnitude(wave->dtype);
        part.vanishing = find_first_small(wave, extent * amplitude * 2, magnitude);
    }
    if (part.vanishing < part.small)
        part.vanishing = part.small;
    return part;
}

/* Compute the sines or cosines of a row. */
static void round_row(const pe_chunk *chunk, const pe_small_angles *angles, uint64_t row,
                      bool cosine, unsigned char *ret_elements)
{
    const pe_wave *wave = chunk->wave;
    const size_t size = pe_dtype_size(wave->dtype);
    alignas(64) unsigned char above[PE_KERNEL_PAIRS * sizeof(double)];
    chunk->kernel->small(wave->dtype, angles, cosine, ret_elements, above);
    if (memcmp(ret_elements, above, chunk->count * size) == 0)
        return;
    for (size_t i = 0; i < chunk->count; i++)
        if (pe_elements_differ(ret_elements + i * size, above + i * size, size))
            pe_round_function(wave, row, chunk->first + i, cosine, ret_elements + i * size);
}

/* How many chunks are computed row by row, so that the lines they share are written at once. */
#define BLOCK_CHUNKS ((size_t)8)

typedef struct small_part {
    pe_chunk chunk;
    pe_run run;
    bool is_tiny;
    double frequencies[PE_KERNEL_PAIRS], rests[PE_KERNEL_PAIRS]; /* in radians per position */
} small_part;

static void begin_part(const pe_wave *wave, size_t first, size_t end, double extent,
                       bool nontemporal, small_part *ret_part)
{
    const pe_chunk chunk = pe_chunk_init(wave, first, end, nontemporal);
    ret_part->chunk = chunk;
    ret_part->run = pe_run_init(wave, first, chunk.count, nontemporal ? chunk.kernel : NULL);
    ret_part->is_tiny = true;
    for (size_t i = 0; i < chunk.count; i++) {
        dd radians = pe_phase_radians(wave->frequencies[first + i]);
        ret_part->frequencies[i] = radians.hi;
        ret_part->rests[i] = radians.lo;
        ret_part->is_tiny &= extent * radians.hi < PE_TINY_ANGLE;
    }
}

/* Write the entries of a part in one row. */
static void write_part(const small_part *part, dd position, uint64_t row, unsigned char *dst)
{
    const pe_chunk *chunk = &part->chunk;
    const pe_wave *wave = chunk->wave;
    const bool alone = pe_is_alone(wave), cosines = wave->layout == PE_WAVE_COSINES;
    alignas(64) unsigned char elements[2][PE_KERNEL_PAIRS * sizeof(double)];
    const pe_small_angles angles = {.position = position,
                                    .amplitude = {wave->amplitude, wave->amplitude_rest},
                                    .frequencies = part->frequencies,
                                    .frequency_rests = part->rests,
                                    .count = chunk->count,
                                    .is_tiny = part->is_tiny};
    if (!alone || !cosines)
        round_row(chunk, &angles, row, false, elements[0]);
    if (!alone || cosines)
        round_row(chunk, &angles, row, true, elements[1]);
    if (alone)
        pe_run_write(&part->run, elements[cosines], 1, dst);
    else
        pe_columns_place(wave, chunk->first, chunk->count, elements[0], elements[1], dst);
}

void pe_rows_small(const pe_wave *wave, size_t begin, size_t end, uint64_t first, uint64_t rows,
                   bool nontemporal, unsigned char *dst)
{
    const size_t row_bytes = pe_wave_row_bytes(wave);
    const double extent = find_extent(&wave->positions, first, rows);
    small_part parts[BLOCK_CHUNKS];
    for (size_t count = 0; begin < end; count = 0) {
        for (; count < BLOCK_CHUNKS && begin < end; begin += parts[count++].chunk.count)
            begin_part(wave, begin, end, extent, nontemporal, &parts[count]);
        for (uint64_t r = 0; r < rows; r++) {
            dd position = pe_position_get(&wave->positions, first + r);
            for (size_t i = 0; i < count; i++)
                write_part(&parts[i], position, first + r, dst + r * row_bytes);
        }
    }
}
