/* Filling planes from strips: the entries of one channel at consecutive places of an axis. */
#include "waves/planes.h"

#include "kernels/by_size.h"
#include "kernels/store.h"
#include "waves/fill.h"

#include <string.h>

#define ROOM_BYTES (32 << 10) /* for entries that are in no table */

enum { ROWS, COLUMNS }; /* the axes */

static size_t min_count(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* What a channel encodes: a place on an axis, by one frequency and function. */
typedef struct channel {
    size_t axis, frequency;
    bool cosine;
} channel;

static channel find_channel(const pe_lattice *lattice, size_t index)
{
    for (size_t a = ROWS;; a++) {
        const pe_lattice_axis *axis = &lattice->axes[a];
        const size_t pairs = axis->wave.count, sine = index - axis->sines; /* large before it */
        const size_t cosine = index - axis->cosines;
        if (axis->wave.layout == PE_WAVE_INTERLEAVED && sine < 2 * pairs)
            return (channel){a, sine / 2, sine % 2};
        if (axis->wave.layout != PE_WAVE_INTERLEAVED && (sine < pairs || cosine < pairs))
            return (channel){a, sine < pairs ? sine : cosine, cosine < pairs};
    }
}

/* The entries of consecutive places, each `stride` bytes after the one before. */
typedef struct strip {
    const unsigned char *entries;
    size_t stride;
} strip;

/* How many places a strip may have. */
static size_t strip_limit(const pe_lattice *lattice)
{
    return lattice->axes[ROWS].entries ? SIZE_MAX
                                       : ROOM_BYTES / (2 * pe_dtype_size(lattice->dtype));
}

/* The strip of `count` places of a channel from `first` on: of those that are kept, or computed
 * in `room`. */
static strip find_strip(const pe_lattice *lattice, channel own, size_t first, size_t count,
                        unsigned char room[ROOM_BYTES])
{
    const size_t size = pe_dtype_size(lattice->dtype);
    const pe_lattice_axis *axis = &lattice->axes[own.axis];
    const size_t row_bytes = pe_wave_row_bytes(&axis->wave);
    const bool interleaved = axis->wave.layout == PE_WAVE_INTERLEAVED;
    const size_t column = interleaved ? 2 * own.frequency + own.cosine
                                      : own.frequency + own.cosine * axis->wave.count;
    if (axis->entries)
        return (strip){axis->entries + first * row_bytes + column * size, row_bytes};
    pe_wave part = axis->wave; /* a frequency's entries do not depend on the others */
    part.frequencies += own.frequency;
    part.count = 1;
    part.columns = part.row_columns = 2;
    pe_wave_fill(&part, first, count, room);
    return (strip){room + own.cosine * size, 2 * size};
}

static inline __attribute__((always_inline)) void copy_strip(unsigned char *dst, strip from,
                                                             size_t size, size_t count)
{
    for (size_t i = 0; i < count; i++)
        memcpy(dst + i * size, from.entries + i * from.stride, size);
}

/* Copy a strip to consecutive elements. */
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

/* Write elements [first, first + count) of the plane [height, width] of a channel that encodes
 * x: one row, then copies of it. */
static void write_along_x(const pe_lattice *lattice, const pe_kernel *nontemporal, channel own,
                          uint64_t first, size_t count, unsigned char *dst)
{
    unsigned char room[ROOM_BYTES];
    size_t width = lattice->axes[COLUMNS].places, size = pe_dtype_size(lattice->dtype), run,
           done, most = width;
    for (done = 0; done < count && done < width; done += run) {
        size_t x = (first + done) % width, once = min_count(width, count);
        run = min_count(min_count(width - x, once - done), strip_limit(lattice));
        gather_elements(dst + done * size, find_strip(lattice, own, x, run, room), size, run);
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
static void write_along_y(const pe_lattice *lattice, const pe_kernel *nontemporal, channel own,
                          uint64_t first, size_t count, unsigned char *dst)
{
    unsigned char room[ROOM_BYTES];
    size_t size = pe_dtype_size(lattice->dtype), width = lattice->axes[COLUMNS].places;
    uint64_t end = first + count;
    while (first < end) {
        size_t y = first / width, last = (end - 1) / width;
        size_t rows = min_count(last - y + 1, strip_limit(lattice));
        strip entries = find_strip(lattice, own, y, rows, room);
        for (; rows > 0; rows--, entries.entries += entries.stride) {
            size_t run = min_count(width - first % width, end - first);
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
static void write_by_rows(const pe_lattice *lattice, channel own, uint64_t first, size_t count,
                          unsigned char *dst)
{
    unsigned char room[ROOM_BYTES];
    const pe_lattice_axis *axis = &lattice->axes[own.axis];
    const size_t size = pe_dtype_size(lattice->dtype);
    const size_t rows = (size_t)axis->wave.positions.count;
    strip column = find_strip(lattice, own, 0, rows, room);
    if (rows <= ROOM_BYTES / size && rows <= count) { /* into the L1 cache */
        gather_elements(room, column, size, rows);
        column = (strip){room, size};
    }
    PE_BY_SIZE(size, gather_strips(dst, column, axis->rows + first, SIZE, count))
}

void pe_planes_fill(const pe_lattice *lattice, uint64_t first, uint64_t count, void *dst)
{
    const size_t size = pe_dtype_size(lattice->dtype);
    const uint64_t plane = (uint64_t)lattice->axes[ROWS].places * lattice->axes[COLUMNS].places;
    const pe_kernel *nontemporal = pe_streaming_kernel(count * size);
    unsigned char *at = dst;
    for (size_t part; count > 0; first += part, count -= part, at += part * size) {
        const channel own = find_channel(lattice, (size_t)(first / plane));
        part = min_count(plane - first % plane, count);
        if (lattice->axes[own.axis].rows)
            write_by_rows(lattice, own, first % plane, part, at);
        else if (own.axis == COLUMNS)
            write_along_x(lattice, nontemporal, own, first % plane, part, at);
        else
            write_along_y(lattice, nontemporal, own, first % plane, part, at);
    }
    pe_store_end(nontemporal);
}
