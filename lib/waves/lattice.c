/* Filling rows of points: composed of the rows of tables, or from strips, the entries of some
 * places of one axis. */
#include "waves/lattice.h"

#include "kernels/by_size.h"
#include "waves/composed.h"
#include "waves/fill.h"

#include <string.h>

#define ROOM_BYTES (32 << 10) /* for a strip that is in no table */

static size_t min_count(size_t a, size_t b)
{
    return a < b ? a : b;
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
    size_t count = min_count(rest, PE_KERNEL_PAIRS);
    return (band){axis, first, count, min_count(2 * count, axis->wave.columns - 2 * first)};
}

/* Compute the entries of `count` places from `first` on. Returns the bytes from place to place.
 */
static size_t make_strip(const band *some, size_t first, size_t count,
                         unsigned char ret_entries[ROOM_BYTES])
{
    pe_wave part = some->axis->wave; /* a frequency's entries do not depend on the others */
    part.frequencies += some->first;
    part.count = some->count;
    part.columns = part.row_columns = some->columns;
    pe_wave_fill(&part, first, count, ret_entries);
    return pe_wave_row_bytes(&part);
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
static void spread_elements(unsigned char *dst, const unsigned char *from, size_t size,
                            size_t count, size_t stride)
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
    spread_elements(row + (axis->sines + first) * size, entries, size, some->count,
                    axis->stride);
    spread_elements(row + (axis->cosines + first) * size, entries + some->count * size, size,
                    some->count, axis->stride);
}

/* Write what an axis has in the rows of points [first, first + count), `stride` bytes from row
 * to row. A place has `period` points, one after the other, and the first place follows the
 * last one; all of them fit into a strip, or the points do not come to the first again. */
static void write_axis(const pe_lattice *lattice, const pe_lattice_axis *axis, uint64_t period,
                       uint64_t first, size_t count, unsigned char *dst, size_t stride)
{
    unsigned char room[ROOM_BYTES];
    const size_t size = pe_dtype_size(lattice->dtype);
    const uint64_t moves = (first + count - 1) / period - first / period;
    uint64_t place = first / period % axis->places, places = moves + 1;
    if (place + moves >= axis->places) {
        place = 0;
        places = axis->places;
    }
    for (size_t f = 0; 2 * f < axis->wave.columns;) {
        band some = find_band(axis, f);
        size_t step = make_strip(&some, place, places, room);
        uint64_t at = first / period % axis->places - place, rest = period - first % period;
        for (size_t i = 0; i < count; i++) {
            place_entries(&some, room + at * step, size, dst + i * stride);
            if (--rest > 0)
                continue;
            rest = period;
            at = place + at + 1 == axis->places ? 0 : at + 1;
        }
        f += some.count;
    }
}

/* The same in rows [first, first + count) at the places that these points have. */
static void copy_axis(const pe_lattice *lattice, const pe_lattice_axis *axis, size_t first,
                      size_t count, unsigned char *dst, size_t stride)
{
    const band all = {axis, 0, axis->wave.count, axis->wave.columns};
    const size_t size = pe_dtype_size(lattice->dtype), step = pe_wave_row_bytes(&axis->wave);
    for (size_t i = 0; i < count; i++)
        place_entries(&all, axis->entries + axis->rows[first + i] * step, size,
                      dst + i * stride);
}

/* The places of which a strip has room for the entries of one band. */
static size_t count_strip_places(const pe_lattice *lattice)
{
    return ROOM_BYTES / (2 * PE_KERNEL_PAIRS * pe_dtype_size(lattice->dtype));
}

/* ---- tables ---- */

#define BYTE_PRICE 2 /* of a table */

static size_t count_row_bytes(const pe_lattice *lattice)
{
    return lattice->columns * pe_dtype_size(lattice->dtype);
}

static size_t choose_stride(const pe_lattice *lattice)
{
    return pe_composed_stride(count_row_bytes(lattice));
}

void pe_lattice_plan(pe_lattice *lattice, pe_plan *plan)
{
    double bytes = 0;
    for (size_t a = 0; a < lattice->axis_count; a++)
        bytes += (double)lattice->axes[a].places *
                 (double)(lattice->by_column ? pe_wave_row_bytes(&lattice->axes[a].wave)
                                             : choose_stride(lattice));
    lattice->kept = !lattice->together && bytes <= PE_LATTICE_TABLE_BYTES;
    if (!lattice->kept)
        return;
    plan->state += (uint64_t)bytes;
    plan->price += BYTE_PRICE * bytes;
}

unsigned char *pe_lattice_row(const pe_lattice *lattice, size_t axis, size_t place)
{
    return lattice->axes[axis].table + place * choose_stride(lattice);
}

/* Fill the table of an axis. False if memory ran out or the runner cancelled it. */
static bool fill_table(const pe_lattice *lattice, pe_lattice_axis *axis, pe_pace *pace)
{
    const size_t stride = choose_stride(lattice), most = count_strip_places(lattice);
    axis->table = pe_keep_zeros(pace, axis->places, stride);
    if (!axis->table)
        return false;
    for (size_t place = 0, count; place < axis->places; place += count) {
        count = min_count(axis->places - place, most);
        if (!pe_pace_may_continue(pace, BYTE_PRICE * (double)(count * stride)))
            return false;
        write_axis(lattice, axis, 1, place, count, axis->table + place * stride, stride);
    }
    return true;
}

static bool fill_entries(pe_lattice_axis *axis, pe_pace *pace)
{
    const size_t row_bytes = pe_wave_row_bytes(&axis->wave);
    axis->entries = pe_keep(pace, axis->places, row_bytes);
    if (!axis->entries ||
        !pe_pace_may_continue(pace, BYTE_PRICE * (double)(axis->places * row_bytes)))
        return false;
    pe_wave_fill(&axis->wave, 0, axis->places, axis->entries);
    return true;
}

bool pe_lattice_prepare(pe_lattice *lattice, pe_pace *pace)
{
    for (size_t a = 0; lattice->kept && a < lattice->axis_count; a++)
        if (lattice->by_column ? !fill_entries(&lattice->axes[a], pace)
                               : !fill_table(lattice, &lattice->axes[a], pace))
            return false;
    return true;
}

/* ---- rows ---- */

/* The points that follow each other along the last axis. */
typedef struct run {
    size_t places[PE_LATTICE_AXES]; /* of the first point */
    size_t count;
} run;

static run find_run(const pe_lattice *lattice, uint64_t first, uint64_t points)
{
    const size_t axes = lattice->axis_count, width = lattice->axes[axes - 1].places;
    run at = {.count = min_count((size_t)points, width - first % width)};
    for (size_t a = axes; a-- > 0; first /= lattice->axes[a].places)
        at.places[a] = (size_t)(first % lattice->axes[a].places);
    return at;
}

static void compose_rows(const pe_lattice *lattice, const run *at, pe_composer *composer)
{
    const unsigned char *rows[PE_LATTICE_AXES];
    for (size_t a = 0; a < lattice->axis_count; a++)
        rows[a] = pe_lattice_row(lattice, a, at->places[a]);
    pe_composer_add(composer, rows, lattice->axis_count, at->count);
}

/* Write rows of points from `first` on without tables, at most `points`. Returns their number.
 */
static size_t compute_rows(const pe_lattice *lattice, uint64_t first, uint64_t points,
                           unsigned char *dst)
{
    const size_t most = count_strip_places(lattice), row_bytes = count_row_bytes(lattice);
    uint64_t period = 1, periods[PE_LATTICE_AXES], count = points < most ? points : most;
    for (size_t a = lattice->axis_count; a-- > 0;) {
        const pe_lattice_axis *axis = &lattice->axes[a];
        const uint64_t cycle = period * axis->places, left = cycle - first % cycle;
        if (axis->places > most && left < count)
            count = left;
        periods[a] = period;
        period = lattice->together ? 1 : cycle;
    }
    for (size_t a = 0; a < lattice->axis_count; a++)
        if (lattice->axes[a].rows)
            copy_axis(lattice, &lattice->axes[a], first, count, dst, row_bytes);
        else
            write_axis(lattice, &lattice->axes[a], periods[a], first, count, dst, row_bytes);
    return count;
}

void pe_lattice_fill(const pe_lattice *lattice, uint64_t first, uint64_t points, void *dst)
{
    const size_t row_bytes = count_row_bytes(lattice);
    unsigned char *at = dst;
    pe_composer composer;
    pe_composer_init(&composer, row_bytes, points, dst);
    for (uint64_t count; points > 0; points -= count, first += count) {
        if (lattice->kept) {
            const run some = find_run(lattice, first, points);
            compose_rows(lattice, &some, &composer);
            count = some.count;
        } else {
            count = compute_rows(lattice, first, points, at);
            at += count * row_bytes;
        }
    }
    if (lattice->kept)
        pe_composer_done(&composer);
}
