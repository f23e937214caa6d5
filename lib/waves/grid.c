/* Filling tables of a grid from strips: entries of consecutive positions of one axis. */
#include "waves/grid.h"

#include "kernels/by_size.h"
#include "kernels/store.h"
#include "waves/fill.h"

#include <string.h>

/* ---- the encodings of places ---- */

#define ROOM_BYTES (32 << 10) /* for a part of the table that is too large */

/* The entries of consecutive places, each `stride` bytes after the one before. */
typedef struct strip {
    const unsigned char *entries;
    size_t stride;
} strip;

static size_t min_count(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t table_bytes(const pe_grid_axis *axis)
{
    return (size_t)axis->wave.positions.count * pe_wave_row_bytes(&axis->wave);
}

static bool fill_table(pe_grid_axis *axis, pe_pace *pace)
{
    axis->table = pe_keep(pace, 1, table_bytes(axis));
    if (axis->table)
        pe_wave_fill(&axis->wave, 0, axis->wave.positions.count, axis->table);
    return axis->table != NULL;
}

bool pe_grid_prepare(pe_grid *grid, pe_pace *pace)
{
    size_t bytes = table_bytes(&grid->x) + (grid->shared ? 0 : table_bytes(&grid->y));
    grid->element_size = pe_dtype_size(grid->x.wave.dtype);
    grid->quarter = grid->step = grid->x.wave.count;
    if (grid->x.table)
        return true;
    if (bytes > PE_GRID_TABLE_BYTES) {
        grid->step = min_count(grid->quarter, PE_KERNEL_PAIRS);
        return true;
    }
    return fill_table(&grid->x, pace) && (grid->shared || fill_table(&grid->y, pace));
}

static const pe_grid_axis *get_axis(const pe_grid *grid, bool encodes_x)
{
    return encodes_x || grid->shared ? &grid->x : &grid->y;
}

/* How many positions a strip of `pairs` frequencies may have. */
static size_t strip_limit(const pe_grid *grid, size_t pairs)
{
    return grid->x.table ? SIZE_MAX : ROOM_BYTES / (2 * pairs * grid->element_size);
}

/* The strip of `count` places of an axis from `first` on. A strip in the table has the entries
 * of all frequencies. Without a table, a strip in `room` has those of the frequencies
 * [frequency, frequency + pairs) alone, in the order of the layout. */
static strip find_strip(const pe_grid *grid, bool encodes_x, size_t first, size_t count,
                        size_t frequency, size_t pairs, unsigned char room[ROOM_BYTES])
{
    const pe_grid_axis *axis = get_axis(grid, encodes_x);
    size_t row_bytes = 2 * grid->quarter * grid->element_size;
    if (axis->table)
        return (strip){axis->table + first * row_bytes, row_bytes};
    pe_wave part = axis->wave; /* a frequency's entries do not depend on the others */
    part.frequencies += frequency;
    part.count = pairs;
    part.columns = part.row_columns = 2 * pairs;
    pe_wave_fill(&part, first, count, room);
    return (strip){room, 2 * pairs * grid->element_size};
}

/* ---- cells: all channels of one grid cell, for the shapes hwc and nc ---- */

/* Copy the entries of some frequencies of one axis to their channels in a cell. */
static void place_entries(const pe_grid *grid, bool encodes_x, size_t frequency, size_t pairs,
                          const unsigned char *entries, unsigned char *cell)
{
    size_t size = grid->element_size, quarter = grid->quarter;
    bool second = encodes_x != grid->width_first;
    if (grid->interleaved) {
        size_t column = (second ? 2 * quarter : 0) + 2 * frequency;
        memcpy(cell + column * size, entries, 2 * pairs * size);
        return;
    }
    size_t sines = second ? (grid->by_function ? quarter : 2 * quarter) : 0;
    size_t cosines = sines + (grid->by_function ? 2 * quarter : quarter);
    memcpy(cell + (sines + frequency) * size, entries, pairs * size);
    memcpy(cell + (cosines + frequency) * size, entries + pairs * size, pairs * size);
}

/* A rectangle of cells: either whole rows of the grid, or a part of one row. */
typedef struct patch {
    size_t x, y, columns, rows;
} patch;

static void write_patch(const pe_grid *grid, patch cells, unsigned char *dst)
{
    unsigned char x_room[ROOM_BYTES], y_room[ROOM_BYTES];
    size_t step = grid->step, cell_bytes = 4 * grid->quarter * grid->element_size;
    for (size_t f = 0; f < grid->quarter; f += step) {
        size_t pairs = min_count(grid->quarter - f, step);
        strip xs = find_strip(grid, true, cells.x, cells.columns, f, pairs, x_room);
        strip ys = find_strip(grid, false, cells.y, cells.rows, f, pairs, y_room);
        unsigned char *cell = dst;
        for (size_t r = 0; r < cells.rows; r++)
            for (size_t c = 0; c < cells.columns; c++, cell += cell_bytes) {
                place_entries(grid, true, f, pairs, xs.entries + c * xs.stride, cell);
                place_entries(grid, false, f, pairs, ys.entries + r * ys.stride, cell);
            }
    }
}

/* The same for cells that have rows of their own. */
static void write_cells_by_rows(const pe_grid *grid, uint64_t first, uint64_t count,
                                unsigned char *dst)
{
    size_t quarter = grid->quarter, row_bytes = 2 * quarter * grid->element_size;
    for (uint64_t cell = first; cell < first + count; cell++, dst += 2 * row_bytes) {
        place_entries(grid, true, 0, quarter, grid->x.table + grid->x.rows[cell] * row_bytes,
                      dst);
        place_entries(grid, false, 0, quarter, grid->y.table + grid->y.rows[cell] * row_bytes,
                      dst);
    }
}

/* Write cells [first, first + count), counted row by row. */
static void write_cells(const pe_grid *grid, uint64_t first, uint64_t count, unsigned char *dst)
{
    size_t limit = strip_limit(grid, grid->step), width = grid->width;
    size_t cell_bytes = 4 * grid->quarter * grid->element_size;
    while (count > 0) {
        patch cells = {first % width, first / width, 0, 1};
        cells.columns = min_count(min_count(width - cells.x, count), limit);
        if (cells.columns == width)
            cells.rows = min_count(count / width, limit);
        write_patch(grid, cells, dst);
        dst += cells.rows * cells.columns * cell_bytes;
        first += cells.rows * cells.columns;
        count -= cells.rows * cells.columns;
    }
}

/* ---- planes: one channel of all cells, for the shape chw ---- */

static inline __attribute__((always_inline)) void copy_strip(unsigned char *dst, strip from,
                                                             size_t size, size_t count)
{
    for (size_t i = 0; i < count; i++)
        memcpy(dst + i * size, from.entries + i * from.stride, size);
}

/* Copy a strip of single elements to consecutive ones. */
static void gather_elements(unsigned char *dst, strip from, size_t size, size_t count)
{
    PE_BY_SIZE(size, copy_strip(dst, from, SIZE, count))
}

/* Write an element `count` times. */
static void repeat_element(const pe_kernel *nontemporal, unsigned char *dst,
                           const unsigned char *element, size_t size, size_t count)
{
    enum { BLOCK = 64, BYTES = 4096 };
    _Alignas(BLOCK) unsigned char copies[BYTES];
    size_t bytes = count * size, ready = min_count(bytes, BYTES);
    gather_elements(copies, (strip){element, 0}, size, min_count(count, BLOCK / size));
    for (size_t at = BLOCK; at < ready; at += BLOCK)
        memcpy(copies + at, copies, BLOCK);
    for (size_t at = 0; at < bytes; at += BYTES)
        pe_store(nontemporal, dst + at, copies, min_count(bytes - at, BYTES));
}

/* What a channel encodes: an axis, by one frequency and function. */
typedef struct channel_meaning {
    bool encodes_x, cosine;
    size_t frequency;
} channel_meaning;

static channel_meaning find_channel(const pe_grid *grid, size_t index)
{
    size_t quarter = grid->quarter, within = index % (2 * quarter);
    bool second = index >= 2 * quarter;
    if (grid->interleaved)
        return (channel_meaning){second != grid->width_first, within % 2 == 1, within / 2};
    bool later = within >= quarter; /* in the second quarter of a half */
    if (grid->by_function)
        return (channel_meaning){later != grid->width_first, second, within % quarter};
    return (channel_meaning){second != grid->width_first, later, within % quarter};
}

/* The column of a table for a channel. */
static size_t table_column(const pe_grid *grid, channel_meaning meaning)
{
    if (grid->interleaved)
        return 2 * meaning.frequency + meaning.cosine;
    return (meaning.cosine ? grid->quarter : 0) + meaning.frequency;
}

static strip channel_strip(const pe_grid *grid, channel_meaning meaning, size_t first,
                           size_t count, unsigned char room[ROOM_BYTES])
{
    strip pairs = find_strip(grid, meaning.encodes_x, first, count, meaning.frequency, 1, room);
    size_t column = grid->x.table ? table_column(grid, meaning) : meaning.cosine;
    return (strip){pairs.entries + column * grid->element_size, pairs.stride};
}

/* Write elements [first, first + count) of the plane [height, width] of a channel that encodes
 * x: one row, then copies of it. */
static void write_along_x(const pe_grid *grid, const pe_kernel *nontemporal,
                          channel_meaning meaning, uint64_t first, size_t count,
                          unsigned char *dst)
{
    unsigned char room[ROOM_BYTES];
    size_t width = grid->width, size = grid->element_size, run, done, most = width;
    for (done = 0; done < count && done < width; done += run) {
        size_t x = (first + done) % width, once = min_count(width, count);
        run = min_count(min_count(width - x, once - done), strip_limit(grid, 1));
        gather_elements(dst + done * size, channel_strip(grid, meaning, x, run, room), size,
                        run);
    }
    while (2 * most * size <= ROOM_BYTES)
        most *= 2;
    for (; done < count; done += run) { /* all rows are equal; the first ones stay in caches */
        run = min_count(min_count(done, most), count - done);
        pe_store(done < most ? NULL : nontemporal, dst + done * size, dst, run * size);
    }
}

/* Write elements [first, first + count) of the plane of a channel that encodes y: each row is
 * one entry, repeated. */
static void write_along_y(const pe_grid *grid, const pe_kernel *nontemporal,
                          channel_meaning meaning, uint64_t first, size_t count,
                          unsigned char *dst)
{
    unsigned char room[ROOM_BYTES];
    size_t size = grid->element_size;
    uint64_t end = first + count;
    while (first < end) {
        size_t y = first / grid->width, last = (end - 1) / grid->width;
        size_t rows = min_count(last - y + 1, strip_limit(grid, 1));
        strip entries = channel_strip(grid, meaning, y, rows, room);
        for (; rows > 0; rows--, entries.entries += entries.stride) {
            size_t run = min_count(grid->width - first % grid->width, end - first);
            repeat_element(nontemporal, dst, entries.entries, size, run);
            dst += run * size;
            first += run;
        }
    }
}

static inline __attribute__((always_inline)) void
gather_strips(unsigned char *dst, strip from, const uint32_t *rows, size_t size, size_t count)
{
    for (size_t i = 0; i < count; i++)
        memcpy(dst + i * size, from.entries + rows[i] * from.stride, size);
}

/* Write elements [first, first + count) of a plane whose cells have rows of their own. */
static void write_by_rows(const pe_grid *grid, channel_meaning meaning, uint64_t first,
                          size_t count, unsigned char *dst)
{
    unsigned char room[ROOM_BYTES];
    const pe_grid_axis *axis = get_axis(grid, meaning.encodes_x);
    size_t size = grid->element_size, table_rows = (size_t)axis->wave.positions.count;
    strip column = {axis->table + table_column(grid, meaning) * size, 2 * grid->quarter * size};
    if (table_rows <= ROOM_BYTES / size && table_rows <= count) { /* into the L1 cache */
        gather_elements(room, column, size, table_rows);
        column = (strip){room, size};
    }
    PE_BY_SIZE(size, gather_strips(dst, column, axis->rows + first, SIZE, count))
}

/* Write elements [first, first + count), counted over all planes. */
static void write_planes(const pe_grid *grid, uint64_t first, uint64_t count,
                         unsigned char *dst)
{
    uint64_t plane = (uint64_t)grid->height * grid->width;
    const pe_kernel *nontemporal = pe_streaming_kernel(count * grid->element_size);
    while (count > 0) {
        channel_meaning meaning = find_channel(grid, first / plane);
        size_t part = min_count(plane - first % plane, count);
        if (grid->x.rows)
            write_by_rows(grid, meaning, first % plane, part, dst);
        else if (meaning.encodes_x)
            write_along_x(grid, nontemporal, meaning, first % plane, part, dst);
        else
            write_along_y(grid, nontemporal, meaning, first % plane, part, dst);
        dst += part * grid->element_size;
        first += part;
        count -= part;
    }
    pe_store_end(nontemporal);
}

void pe_grid_fill(const pe_grid *grid, uint64_t first, uint64_t rows, void *dst)
{
    size_t cell_bytes = 4 * grid->quarter * grid->element_size;
    unsigned char *at = dst;
    if (grid->channels_first) {
        write_planes(grid, first, rows, dst);
        return;
    }
    for (; rows > 0 && first < grid->extra; first++, rows--) {
        memset(at, 0, cell_bytes);
        at += cell_bytes;
    }
    if (grid->x.rows)
        write_cells_by_rows(grid, first - grid->extra, rows, at);
    else
        write_cells(grid, first - grid->extra, rows, at);
}
