/* Entries of several axes: waves of a few frequencies at a time, and the columns they go to. */
#include "waves/axes.h"

#include "kernels/by_size.h"
#include "kernels/kernel.h"
#include "numerics/dtype.h"
#include "waves/fill.h"

#include <string.h>

#define ROOM_BYTES (32 << 10) /* for the entries of up to 64 frequencies */

bool pe_axes_init(pe_axes *axes, pe_pace *pace)
{
    const size_t pairs = axes->pairs;
    axes->axis_of_pair = pe_keep(pace, pairs, sizeof *axes->axis_of_pair);
    axes->frequencies = pe_keep_zeros(pace, pairs, sizeof *axes->frequencies);
    axes->sorted = pe_keep(pace, pairs, sizeof *axes->sorted);
    axes->columns = pe_keep(pace, pairs, sizeof *axes->columns);
    if (!axes->axis_of_pair || !axes->frequencies || !axes->sorted || !axes->columns)
        return false;
    for (size_t p = 0; p < pairs; p++)
        axes->axis_of_pair[p] = -1;
    return true;
}

static size_t count_row_columns(const pe_axes *axes)
{
    return axes->layout == PE_PAIRS_ONCE ? axes->pairs : 2 * axes->pairs;
}

size_t pe_axes_row_bytes(const pe_axes *axes)
{
    return count_row_columns(axes) * pe_dtype_size(axes->dtype);
}

/* ---- which columns belong to which axis ---- */

static bool is_zero(const pe_wide *frequency)
{
    static const pe_wide zero = {{0, 0, 0, 0}};
    return memcmp(frequency, &zero, sizeof zero) == 0;
}

/* The column of pair p, the j-th of its axis, whose first pair is `first`. */
static size_t find_column(pe_pair_layout layout, size_t p, size_t j, size_t first)
{
    switch (layout) {
    case PE_PAIRS_ADJACENT:
        return 2 * p;
    case PE_PAIRS_IN_HALVES_OF_AXES:
        return 2 * first + j;
    default:
        return p;
    }
}

static size_t find_copy(const pe_axes *axes, const pe_axis_pairs *axis)
{
    const size_t copies[] = {[PE_PAIRS_ONCE] = 0,
                             [PE_PAIRS_IN_HALVES] = axes->pairs,
                             [PE_PAIRS_ADJACENT] = 1,
                             [PE_PAIRS_IN_HALVES_OF_AXES] = axis->count};
    return copies[axes->layout];
}

void pe_axes_ready(pe_axes *axes)
{
    size_t sorted = 0;
    for (size_t a = 0; a <= axes->count; a++) {
        const int32_t number = a < axes->count ? (int32_t)a : -1;
        pe_axis_pairs *axis = &axes->axes[a];
        *axis = (pe_axis_pairs){.frequencies = axes->sorted + sorted,
                                .columns = axes->columns + sorted};
        size_t first = 0;
        for (size_t p = 0; p < axes->pairs; p++) {
            if (axes->axis_of_pair[p] != number)
                continue;
            if (axis->count == 0)
                first = p;
            axis->still = is_zero(&axes->frequencies[p]) ? axis->still + 1 : 0;
            axis->frequencies[axis->count] = axes->frequencies[p];
            axis->columns[axis->count] =
                (uint32_t)find_column(axes->layout, p, axis->count, first);
            axis->count++;
        }
        axis->copy = find_copy(axes, axis);
        sorted += axis->count;
    }
}

/* ---- entries ---- */

/* Rows of consecutive elements, to be scattered to columns. */
typedef struct scatter {
    const uint32_t *columns;
    size_t count, copy;
    size_t from_stride, to_stride; /* bytes from row to row */
} scatter;

static inline __attribute__((always_inline)) void scatter_sized(scatter job,
                                                                const unsigned char *from,
                                                                size_t rows, unsigned char *to,
                                                                size_t size)
{
    for (size_t r = 0; r < rows; r++, from += job.from_stride, to += job.to_stride)
        for (size_t j = 0; j < job.count; j++) {
            unsigned char *place = to + job.columns[j] * size;
            memcpy(place, from + j * size, size);
            memcpy(place + job.copy * size, from + j * size, size);
        }
}

/* The same where the columns are neighbours. */
static void copy_rows(scatter job, const unsigned char *from, size_t rows, unsigned char *to,
                      size_t size)
{
    to += job.columns[0] * size;
    for (size_t r = 0; r < rows; r++, from += job.from_stride, to += job.to_stride) {
        memcpy(to, from, job.count * size);
        if (job.copy > 0)
            memcpy(to + job.copy * size, from, job.count * size);
    }
}

static void scatter_rows(scatter job, const unsigned char *from, size_t rows, unsigned char *to,
                         size_t size)
{
    if (job.copy != 1 && job.columns[job.count - 1] - job.columns[0] == job.count - 1) {
        copy_rows(job, from, rows, to, size);
        return;
    }
    PE_BY_SIZE(size, scatter_sized(job, from, rows, to, SIZE))
}

/* The wave of the axis's pairs [first, first + count). */
static pe_wave make_part(const pe_axes *axes, const pe_axis_pairs *axis, bool cosine,
                         const pe_positions *positions, size_t first, size_t count)
{
    size_t turning = axis->count - axis->still, end = first + count;
    return (pe_wave){
        .positions = *positions,
        .frequencies = axis->frequencies + first,
        .count = count,
        .layout = cosine ? PE_WAVE_COSINES : PE_WAVE_SINES,
        .still = end <= turning ? 0 : end - (first > turning ? first : turning),
        .columns = count,
        .row_columns = count,
        .amplitude = axes->amplitude.hi,
        .amplitude_rest = axes->amplitude.lo,
        .dtype = axes->dtype,
    };
}

void pe_axes_write(const pe_axes *axes, size_t axis, bool cosine, const pe_positions *positions,
                   uint64_t first, uint64_t rows, unsigned char *dst, size_t stride)
{
    const pe_axis_pairs *own = &axes->axes[axis];
    const size_t size = pe_dtype_size(axes->dtype);
    _Alignas(64) unsigned char room[ROOM_BYTES];
    for (size_t f = 0, count; f < own->count; f += count) {
        count = own->count - f < PE_KERNEL_PAIRS ? own->count - f : PE_KERNEL_PAIRS;
        const pe_wave part = make_part(axes, own, cosine, positions, f, count);
        const scatter job = {own->columns + f, count, own->copy, count * size, stride};
        const uint64_t most = ROOM_BYTES / (count * size);
        for (uint64_t done = 0, some; done < rows; done += some) {
            some = rows - done < most ? rows - done : most;
            pe_wave_fill(&part, first + done, some, room);
            scatter_rows(job, room, (size_t)some, dst + done * stride, size);
        }
    }
}

void pe_axes_repeat(const pe_axes *axes, size_t axis, const unsigned char *row, uint64_t rows,
                    unsigned char *dst, size_t stride)
{
    const pe_axis_pairs *own = &axes->axes[axis];
    size_t size = pe_dtype_size(axes->dtype);
    for (uint64_t r = 0; r < rows; r++, dst += stride)
        for (size_t j = 0; j < own->count; j++) {
            size_t place = own->columns[j] * size, copy = place + own->copy * size;
            memcpy(dst + place, row + place, size);
            memcpy(dst + copy, row + place, size);
        }
}

void pe_axes_write_still(const pe_axes *axes, bool cosine, unsigned char *row)
{
    unsigned char entry[sizeof(dd)];
    size_t size = pe_dtype_size(axes->dtype), columns = count_row_columns(axes);
    pe_round_dd(axes->dtype, cosine ? axes->amplitude : (dd){0, 0}, entry);
    for (size_t c = 0; c < columns; c++)
        memcpy(row + c * size, entry, size);
}
