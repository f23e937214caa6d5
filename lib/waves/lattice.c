/* Filling rows of points from strips: entries of places of one axis. */
#include "waves/lattice.h"

#include "kernels/by_size.h"
#include "kernels/kernel.h"
#include "waves/fill.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_BYTES (32 << 10) /* for a strip that is in no table, and for the rows of a run */

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

void pe_lattice_done(void *state)
{
    pe_lattice *lattice = state;
    for (size_t a = 0; a < lattice->axis_count; a++) {
        pe_wave_done(&lattice->axes[a].wave);
        free(lattice->axes[a].table);
    }
}

bool pe_lattice_prepare(pe_lattice *lattice)
{
    double entries = 0;
    for (size_t a = 0; a < lattice->axis_count; a++)
        entries += (double)lattice->axes[a].places * (double)lattice->axes[a].wave.columns;
    if (lattice->together || !pe_lattice_has_tables(entries, lattice->dtype))
        return true;
    for (size_t a = 0; a < lattice->axis_count; a++) {
        pe_lattice_axis *axis = &lattice->axes[a];
        if (axis->wave.columns == 0)
            continue;
        axis->table = malloc(axis->places * pe_wave_row_bytes(&axis->wave));
        if (!axis->table)
            return false;
        pe_wave_fill(&axis->wave, 0, axis->places, axis->table);
    }
    return true;
}

/* Some frequencies of an axis. */
typedef struct band {
    const pe_lattice_axis *axis;
    size_t first, count; /* frequencies */
    size_t columns;      /* entries of these */
} band;

static band find_band(const pe_lattice_axis *axis, size_t first)
{
    size_t rest = axis->wave.count - first;
    size_t count = axis->table ? rest : smaller(rest, PE_KERNEL_PAIRS);
    return (band){axis, first, count, smaller(2 * count, axis->wave.columns - 2 * first)};
}

/* The entries of consecutive places, each `stride` bytes after the one before. */
typedef struct strip {
    const unsigned char *entries;
    size_t stride;
} strip;

/* The strip of `count` places from `first` on: of a table, or computed in `room`. */
static strip find_strip(const band *some, size_t first, size_t count,
                        unsigned char room[ROOM_BYTES])
{
    const pe_lattice_axis *axis = some->axis;
    size_t row_bytes = pe_wave_row_bytes(&axis->wave);
    if (axis->table)
        return (strip){axis->table + first * row_bytes, row_bytes};
    pe_wave part = axis->wave; /* a frequency's entries do not depend on the others */
    part.frequencies += some->first;
    part.count = some->count;
    part.columns = part.row_columns = some->columns;
    pe_wave_fill(&part, first, count, room);
    return (strip){room, pe_wave_row_bytes(&part)};
}

static inline __attribute__((always_inline)) void spread_sized(unsigned char *dst,
                                                               const unsigned char *from,
                                                               size_t size, size_t count,
                                                               size_t stride)
{
    for (size_t i = 0; i < count; i++)
        memcpy(dst + i * stride * size, from + i * size, size);
}

/* Copy elements to columns that are `stride` columns apart. */
static void spread(unsigned char *dst, const unsigned char *from, size_t size, size_t count,
                   size_t stride)
{
    if (stride == 1)
        memcpy(dst, from, count * size);
    else
        PE_BY_SIZE(size, spread_sized(dst, from, SIZE, count, stride))
}

/* Copy the entries of one place to their columns. */
static void place_entries(const band *some, const unsigned char *entries, size_t size,
                          unsigned char *row)
{
    const pe_lattice_axis *axis = some->axis;
    if (axis->wave.layout == PE_WAVE_INTERLEAVED) {
        memcpy(row + (axis->sines + 2 * some->first) * size, entries, some->columns * size);
        return;
    }
    size_t first = some->first * axis->stride;
    spread(row + (axis->sines + first) * size, entries, size, some->count, axis->stride);
    spread(row + (axis->cosines + first) * size, entries + some->count * size, size,
           some->count, axis->stride);
}

/* Write what an axis has in the rows of `count` points, at consecutive places or all at one. */
static void write_axis(const pe_lattice *lattice, const pe_lattice_axis *axis, size_t place,
                       bool moves, size_t count, unsigned char *dst)
{
    unsigned char room[ROOM_BYTES];
    size_t size = pe_dtype_size(lattice->dtype), row_bytes = lattice->columns * size;
    for (size_t f = 0; 2 * f < axis->wave.columns;) {
        band some = find_band(axis, f);
        strip entries = find_strip(&some, place, moves ? count : 1, room);
        for (size_t i = 0; i < count; i++)
            place_entries(&some, entries.entries + (moves ? i * entries.stride : 0), size,
                          dst + i * row_bytes);
        f += some.count;
    }
}

/* Write the rows of points along the last axis, or of any points of which every axis moves. */
static void write_run(const pe_lattice *lattice, uint64_t first, size_t count,
                      unsigned char *dst)
{
    uint64_t rest = first;
    for (size_t a = lattice->axis_count; a-- > 0;) {
        const pe_lattice_axis *axis = &lattice->axes[a];
        bool moves = lattice->together || a + 1 == lattice->axis_count;
        size_t place = (size_t)(lattice->together ? first : rest % axis->places);
        write_axis(lattice, axis, place, moves, count, dst);
        rest /= axis->places;
    }
}

void pe_lattice_fill(const pe_lattice *lattice, uint64_t first, uint64_t points, void *dst)
{
    size_t row_bytes = lattice->columns * pe_dtype_size(lattice->dtype);
    size_t width = lattice->axes[lattice->axis_count - 1].places;
    size_t limit =
        smaller(ROOM_BYTES / row_bytes, ROOM_BYTES / (2 * PE_KERNEL_PAIRS * sizeof(dd)));
    unsigned char *at = dst;
    while (points > 0) {
        size_t count = smaller(points, limit > 0 ? limit : 1);
        if (!lattice->together)
            count = smaller(count, width - first % width);
        write_run(lattice, first, count, at);
        at += count * row_bytes;
        first += count;
        points -= count;
    }
}
