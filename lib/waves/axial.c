/* Rows of a grid, composed of the rows of its axes. */
#include "waves/axial.h"

#include "kernels/by_size.h"
#include "numerics/dtype.h"
#include "waves/composed.h"

#include <string.h>

/* ---- cells ---- */

/* Where consecutive rows lie: `count` of them, along which only the last axis advances, or
 * every one if the grid is zipped. */
typedef struct run {
    uint64_t index[PE_AXES_MAX]; /* of the first row, on each axis */
    uint64_t count;
} run;

static uint64_t min_count(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The run that begins at a cell. */
static run find_run(const pe_axial *axial, uint64_t cell)
{
    const size_t axes = axial->axes->count, last = axes - 1;
    const uint64_t merge = axial->merge, width = axial->sizes[last];
    run at = {.count = axial->zipped ? width - cell : width - cell % width};
    if (merge > 1) { /* squares row by row, and the cells of a square row by row */
        const uint64_t column = cell % merge, row = cell / merge % merge;
        const uint64_t square = cell / (merge * merge), squares = width / merge;
        cell = (square / squares * merge + row) * width + square % squares * merge + column;
        at.count = merge - column;
    }
    for (size_t a = axes; a-- > 0; cell /= axial->zipped ? 1 : axial->sizes[a])
        at.index[a] = axial->zipped ? cell : cell % axial->sizes[a];
    return at;
}

/* ---- preparation ---- */

double pe_axial_bytes(size_t row_bytes, const uint64_t *sizes, size_t count)
{
    double cells = 0;
    for (size_t a = 0; a < count; a++)
        cells += (double)sizes[a];
    return cells * (double)(2 * pe_composed_stride(row_bytes) + sizeof(dd));
}

static dd compute_coordinate(const pe_coordinates *axis, uint64_t index)
{
    dd cell = pe_position_get(&axis->cells, index);
    if (axis->numerator == axis->denominator || cell.hi == 0)
        return cell;
    return dd_snap(
        dd_quotient(dd_mul_double(cell, axis->numerator), (dd){axis->denominator, 0}));
}

/* Write the coordinate of a cell of one axis. */
static void write_coordinate(const pe_axial *axial, size_t axis, uint64_t index,
                             unsigned char *dst)
{
    pe_round_dd(axial->axes->dtype, compute_coordinate(&axial->coordinates[axis], index), dst);
}

/* Fill the table of one axis. The first one also has the columns that do not turn. */
static void fill_table(const pe_axial *axial, size_t axis, bool cosine, unsigned char *table)
{
    const pe_axes *axes = axial->axes;
    const uint64_t rows = axial->sizes[axis];
    memset(table, 0, rows * axial->stride);
    if (axis == 0)
        pe_axes_repeat(axes, axes->count, axial->still[cosine], rows, table, axial->stride);
    pe_axes_write(axes, axis, cosine, &axial->coordinates[axis].turned, 0, rows, table,
                  axial->stride);
}

/* Fill the tables of all axes, from `next` on; returns their end. NULL: the runner cancelled
 * it.
 */
static unsigned char *fill_tables(pe_axial *axial, unsigned char *next, pe_pace *pace)
{
    for (int cosine = 0; cosine < 2; cosine++)
        for (size_t a = 0; a < axial->axes->count; a++) {
            size_t bytes = axial->sizes[a] * axial->stride;
            if (!pe_pace_may_continue(pace, PE_AXIAL_BYTE_PRICE * (double)bytes))
                return NULL;
            axial->tables[cosine][a] = next;
            fill_table(axial, a, cosine, next);
            next += bytes;
        }
    return next;
}

bool pe_axial_prepare(pe_axial *axial, pe_pace *pace)
{
    const pe_axes *axes = axial->axes;
    const size_t row_bytes = pe_axes_row_bytes(axes), size = pe_dtype_size(axes->dtype);
    const double bytes = pe_axial_bytes(row_bytes, axial->sizes, axes->count);
    axial->stride = pe_composed_stride(row_bytes);
    unsigned char *next =
        pe_keep(pace, 1, 2 * axial->stride + (axial->kept ? (size_t)bytes : 0));
    if (!next)
        return false;
    for (int cosine = 0; cosine < 2; cosine++, next += axial->stride) {
        axial->still[cosine] = next;
        pe_axes_write_still(axes, cosine, next);
    }
    if (axial->kept && !(next = fill_tables(axial, next, pace)))
        return false;
    for (size_t a = 0; axial->kept && axial->located && a < axes->count; a++) {
        axial->points[a] = next;
        for (uint64_t i = 0; i < axial->sizes[a]; i++, next += size)
            write_coordinate(axial, a, i, next);
    }
    return true;
}

/* ---- rows ---- */

/* Write the rows of a run, out of the tables. */
static void compose_rows(const pe_axial *axial, bool cosine, const run *at,
                         pe_composer *composer)
{
    const size_t axes = axial->axes->count;
    const unsigned char *rows[PE_AXES_MAX];
    for (size_t a = 0; a < axes; a++)
        rows[a] = axial->tables[cosine][a] + at->index[a] * axial->stride;
    pe_composer_add(composer, rows, axes, at->count);
}

/* Write the rows of a run without tables. */
static void compute_rows(const pe_axial *axial, bool cosine, const run *at, unsigned char *dst)
{
    const pe_axes *axes = axial->axes;
    const size_t row_bytes = pe_axes_row_bytes(axes);
    for (uint64_t r = 0; r < at->count; r++)
        memcpy(dst + r * row_bytes, axial->still[cosine], row_bytes);
    for (size_t a = 0; a < axes->count; a++) {
        const bool constant = a + 1 < axes->count && !axial->zipped;
        pe_axes_write(axes, a, cosine, &axial->coordinates[a].turned, at->index[a],
                      constant ? 1 : at->count, dst, row_bytes);
        if (constant)
            pe_axes_repeat(axes, a, dst, at->count - 1, dst + row_bytes, row_bytes);
    }
}

/* Write rows of cells, counted over all repeats. */
static void write_cells(const pe_axial *axial, bool cosine, uint64_t first, uint64_t rows,
                        unsigned char *dst)
{
    const size_t row_bytes = pe_axes_row_bytes(axial->axes);
    pe_composer composer;
    pe_composer_init(&composer, row_bytes, rows, dst);
    for (uint64_t done = 0; done < rows;) {
        run at = find_run(axial, (first + done) % axial->cells);
        at.count = axial->zipped && axial->kept ? 1 : min_count(at.count, rows - done);
        if (axial->kept)
            compose_rows(axial, cosine, &at, &composer);
        else
            compute_rows(axial, cosine, &at, dst + done * row_bytes);
        done += at.count;
    }
    if (axial->kept)
        pe_composer_done(&composer);
}

/* The rows of [first, first + rows) that lie before `end`. */
static uint64_t count_rows(uint64_t first, uint64_t rows, uint64_t end)
{
    return first < end ? min_count(rows, end - first) : 0;
}

void pe_axial_fill(const pe_axial *axial, bool cosine, uint64_t first, uint64_t rows, void *dst)
{
    const size_t row_bytes = pe_axes_row_bytes(axial->axes);
    const uint64_t prefix = count_rows(first, rows, axial->prefix);
    const uint64_t start = first + prefix - axial->prefix;
    const uint64_t cells = count_rows(start, rows - prefix, axial->cells * axial->repeats);
    unsigned char *at = dst;
    for (uint64_t r = 0; r < prefix; r++, at += row_bytes)
        memcpy(at, axial->still[cosine], row_bytes);
    if (cells > 0)
        write_cells(axial, cosine, start, cells, at);
    at += cells * row_bytes;
    for (uint64_t r = prefix + cells; r < rows; r++, at += row_bytes)
        memcpy(at, axial->still[cosine], row_bytes);
}

/* ---- coordinates ---- */

/* Write the coordinates of the rows of a run. */
static void compute_points(const pe_axial *axial, const run *at, unsigned char *dst)
{
    const size_t axes = axial->axes->count, size = pe_dtype_size(axial->axes->dtype);
    for (uint64_t r = 0; r < at->count; r++)
        for (size_t a = 0; a < axes; a++, dst += size)
            write_coordinate(axial, a, at->index[a] + (axial->zipped || a + 1 == axes ? r : 0),
                             dst);
}

/* The same from elements that are kept. `size`: of one, a constant after inlining. */
static inline __attribute__((always_inline)) void
copy_points(const pe_axial *axial, const run *at, size_t size, unsigned char *dst)
{
    const size_t axes = axial->axes->count;
    for (size_t a = 0; a < axes; a++) {
        const unsigned char *from = axial->points[a] + at->index[a] * size;
        const size_t step = axial->zipped || a + 1 == axes ? size : 0;
        for (uint64_t r = 0; r < at->count; r++, from += step)
            memcpy(dst + (r * axes + a) * size, from, size);
    }
}

void pe_axial_fill_coordinates(const pe_axial *axial, uint64_t first, uint64_t rows, void *dst)
{
    const size_t row_bytes = axial->axes->count * pe_dtype_size(axial->axes->dtype);
    const uint64_t end = axial->prefix + axial->cells * axial->repeats;
    unsigned char *to = dst;
    memset(dst, 0, rows * row_bytes);
    for (uint64_t row = first; row < first + rows;) {
        run at = {.count = 1};
        if (row >= axial->prefix && row < end) {
            at = find_run(axial, (row - axial->prefix) % axial->cells);
            at.count = min_count(at.count, first + rows - row);
            if (axial->kept)
                PE_BY_SIZE(pe_dtype_size(axial->axes->dtype), copy_points(axial, &at, SIZE, to))
            else
                compute_points(axial, &at, to);
        }
        row += at.count;
        to += at.count * row_bytes;
    }
}
