/* Resizing a block of columns at a time: the rows of cells that a run of target cells needs are
 * added up with the weights of y, and these sums with the weights of x. That is done in double
 * with an error bound; entries which the bound leaves open are rounded by numerics/weighted.c.
 * Where each target cell is a source cell, that one's elements are rounded once and copied.
 */
#include "trained/resized.h"

#include "kernels/copier.h"
#include "kernels/intervals.h"
#include "kernels/kernel.h"
#include "numerics/weighted.h"

#include <math.h>
#include <string.h>

#define KEPT_ELEMENTS 4194304 /* 32 MiB */

/* ---- preparation ---- */

/* Room for the weights of a cell of this axis. */
static size_t choose_stride(const pe_resample *axis)
{
    uint64_t wide = axis->source > axis->target ? axis->source : axis->target;
    if (axis->antialias) /* twice the filter's reach, and cells that it cuts */
        return (size_t)(4 * wide / axis->target + 6);
    return axis->filter == PE_CUBIC ? 4 : 2;
}

static bool is_kept(const pe_resized_source *source)
{
    return source->y.source * source->x.source <= KEPT_ELEMENTS / source->columns;
}

/* Whether each target cell is one of the source. */
static bool is_copied(const pe_resized_source *source)
{
    return source->y.filter == PE_NEAREST && source->x.filter == PE_NEAREST;
}

/* Bytes of an element of the source grid. */
static size_t kept_size(const pe_resized_source *source)
{
    return is_copied(source) ? pe_dtype_size(source->weights.dtype) : sizeof(double);
}

PE_HELD_SIZE(pe_taps, 48);

static uint64_t axis_bytes(const pe_resample *axis)
{
    return axis->target * (choose_stride(axis) * (sizeof(dd) + sizeof(double)) +
                           sizeof(pe_taps) + sizeof(bool));
}

uint64_t pe_resized_bytes(const pe_resized_source *source)
{
    uint64_t elements = source->y.source * source->x.source * source->columns;
    return axis_bytes(&source->y) + axis_bytes(&source->x) +
           (is_kept(source) ? elements * kept_size(source) : 0);
}

#define TAP_PRICE 400

/* False if memory ran out or the runner cancelled it. */
static bool axis_init(pe_resized_axis *axis, const pe_resample *resample, pe_pace *pace)
{
    size_t stride = choose_stride(resample), target = (size_t)resample->target;
    *axis = (pe_resized_axis){.resample = *resample, .stride = stride};
    axis->weights = pe_keep_zeros(pace, target * stride, sizeof *axis->weights);
    axis->rounded = pe_keep_zeros(pace, target * stride, sizeof *axis->rounded);
    axis->taps = pe_keep(pace, target, sizeof *axis->taps);
    axis->exact = pe_keep(pace, target, sizeof *axis->exact);
    if (!axis->weights || !axis->rounded || !axis->taps || !axis->exact)
        return false;
    for (size_t i = 0; i < target; i++) {
        dd *weights = axis->weights + i * stride;
        double sum = 0;
        if (!pe_pace_may_continue(pace, TAP_PRICE * (double)stride))
            return false;
        axis->taps[i] = pe_resample_find_taps(resample, i);
        axis->exact[i] = pe_taps_weights(&axis->taps[i], weights);
        for (size_t t = 0; t < axis->taps[i].count; t++) {
            axis->rounded[i * stride + t] = weights[t].hi;
            sum += fabs(weights[t].hi);
        }
        axis->amplitude = fmax(axis->amplitude, sum * (1 + 0x1p-40));
    }
    return true;
}

static double estimate_row_price(const pe_resized_source *source)
{
    return (double)source->columns * pe_trained_price(&source->weights, source->distribution) +
           pe_trained_check_price(&source->weights, source->columns);
}

double pe_resized_price(const pe_resized_source *source)
{
    const pe_resample *y = &source->y, *x = &source->x;
    bool read = is_kept(source) || source->weights.set;
    return TAP_PRICE * ((double)y->target * (double)choose_stride(y) +
                        (double)x->target * (double)choose_stride(x)) +
           (read ? (double)(y->source * x->source) * estimate_row_price(source) : 0);
}

/* Read the source grid: keep it, and find its magnitude. False: cancelled, or no memory. */
static bool read_grid(pe_resized *resized, pe_pace *pace)
{
    const pe_resized_source *source = &resized->source;
    const pe_trained *table = &resized->table;
    double row_price = estimate_row_price(source);
    const bool kept = is_kept(source), copied = is_copied(source);
    const size_t row_bytes = (size_t)table->columns * kept_size(source);
    uint64_t rows = source->y.source * source->x.source;
    resized->magnitude = table->stored ? 0 : pe_distribution_magnitude(source->distribution);
    if (kept && !(resized->kept = pe_keep(pace, rows, row_bytes)))
        return false;
    for (uint64_t row = 0; row < rows && (kept || table->stored); row++) {
        if (!pe_pace_may_continue(pace, row_price))
            return false;
        if (table->stored)
            resized->magnitude =
                fmax(resized->magnitude,
                     pe_trained_row_magnitude(table, resized->source.prefix + row));
        void *to = kept ? (unsigned char *)resized->kept + row * row_bytes : NULL;
        if (kept && copied)
            pe_trained_fill(table, source->weights.dtype, source->prefix + row, 1, to);
        else if (kept)
            pe_trained_row(table, source->prefix + row, 0, (size_t)table->columns, to);
    }
    return true;
}

bool pe_resized_init(pe_resized *resized, pe_pace *pace)
{
    const pe_resized_source *source = &resized->source;
    const pe_weights *weights = &source->weights;
    resized->table =
        pe_trained_find(weights, source->name, source->columns, source->distribution);
    pe_trained_check_magnitude(pace, &resized->table, source->prefix, 1, weights->dtype);
    if (pace->reterr->status != PE_OK || !axis_init(&resized->y, &source->y, pace) ||
        !axis_init(&resized->x, &source->x, pace) || !read_grid(resized, pace))
        return false;
    pe_check_magnitude(weights->dtype, resized->table.stored ? "set" : "seed",
                       resized->magnitude * resized->y.amplitude * resized->x.amplitude,
                       pace->reterr);
    return pace->reterr->status == PE_OK;
}

/* ---- runs of target cells ---- */

#define BLOCK 128 /* columns at a time */
#define SPAN  64  /* the most columns of cells at a time; more than a cell's taps */
#define READ  4   /* rows that are read at a time where they are not kept */

_Static_assert(SPAN >= PE_RESAMPLE_TAPS, "the taps of a cell fit");

/* A block of columns of the target cells of one row of cells. */
typedef struct block {
    const pe_resized *resized;
    pe_dtype dtype;
    uint64_t row;             /* of target cells */
    uint64_t column;          /* the first of the block */
    size_t count;             /* of columns */
    uint64_t cell;            /* the first column of source cells in `sums` */
    double sums[SPAN][BLOCK]; /* over y, of each column of source cells */
} block;

/* The row of the table that has a source cell. */
static uint64_t cell_row(const pe_resized *resized, uint64_t y, uint64_t x)
{
    return y * resized->x.resample.source + x;
}

/* Columns [column, column + count) of a source cell: kept, or read into `room`. */
static const double *read_cell(const pe_resized *resized, uint64_t row, uint64_t column,
                               size_t count, double *room)
{
    const pe_trained *table = &resized->table;
    if (resized->kept)
        return (const double *)resized->kept + row * table->columns + column;
    pe_trained_row(table, resized->source.prefix + row, column, count, room);
    return room;
}

/* Add up a column of source cells with the weights of the target row. */
static void add_cells(const block *work, uint64_t x, double *ret_sums)
{
    const pe_resized *resized = work->resized;
    const pe_resized_axis *axis = &resized->y;
    const pe_taps *taps = &axis->taps[work->row];
    const double *weights = axis->rounded + work->row * axis->stride, *rows[READ];
    double room[READ][BLOCK];
    for (size_t t = 0, some; t < taps->count; t += some) {
        some = taps->count - t < READ ? taps->count - t : READ;
        for (size_t i = 0; i < some; i++) {
            uint64_t y = pe_resample_cell(&axis->resample, taps, t + i);
            rows[i] =
                read_cell(resized, cell_row(resized, y, x), work->column, work->count, room[i]);
        }
        pe_kernel_get()->weigh(rows, weights + t, some, work->count, t > 0, ret_sums);
    }
}

/* Write an entry that needs more than doubles. */
static void write_exactly(const block *work, uint64_t x, uint64_t column, void *dst)
{
    const pe_resized *resized = work->resized;
    const pe_resized_axis *y_axis = &resized->y, *x_axis = &resized->x;
    const pe_taps *y_taps = &y_axis->taps[work->row], *x_taps = &x_axis->taps[x];
    double values[PE_RESAMPLE_TAPS * PE_RESAMPLE_TAPS], room;
    for (size_t i = 0; i < y_taps->count; i++)
        for (size_t j = 0; j < x_taps->count; j++) {
            uint64_t row = cell_row(resized, pe_resample_cell(&y_axis->resample, y_taps, i),
                                    pe_resample_cell(&x_axis->resample, x_taps, j));
            values[i * x_taps->count + j] = *read_cell(resized, row, column, 1, &room);
        }
    const pe_weighted sum = {
        .y = y_taps,
        .x = x_taps,
        .y_weights = y_axis->weights + work->row * y_axis->stride,
        .x_weights = x_axis->weights + x * x_axis->stride,
        .exact = y_axis->exact[work->row] && x_axis->exact[x],
        .values = values,
    };
    pe_weighted_round(&sum, work->dtype, dst);
}

/* How far the sum of a target cell in double may be off: each product and sum by 2^-53. */
static double bound_error(const block *work, uint64_t x)
{
    const pe_resized *resized = work->resized;
    double terms = (double)(resized->y.taps[work->row].count + resized->x.taps[x].count);
    return (terms + 8) * 0x1p-52 * resized->y.amplitude * resized->x.amplitude *
           resized->magnitude;
}

/* A target cell of a block. */
typedef struct target_cell {
    const block *work;
    uint64_t x;
} target_cell;

/* A pe_settle for the columns of a target_cell. */
static void settle_entry(const void *context, size_t i, void *dst)
{
    const target_cell *own = context;
    write_exactly(own->work, own->x, own->work->column + i, dst);
}

/* Write the block of one target cell. */
static void write_cell(const block *work, uint64_t x, unsigned char *dst)
{
    const pe_resized_axis *axis = &work->resized->x;
    const pe_taps *taps = &axis->taps[x];
    const target_cell own = {work, x};
    const double *rows[PE_RESAMPLE_TAPS];
    double sums[BLOCK];
    for (size_t t = 0; t < taps->count; t++)
        rows[t] = work->sums[pe_resample_cell(&axis->resample, taps, t) - work->cell];
    pe_kernel_get()->weigh(rows, axis->rounded + x * axis->stride, taps->count, work->count,
                           false, sums);
    pe_round_about(work->dtype, sums, bound_error(work, x), work->count, settle_entry, &own,
                   dst);
}

/* Write the block of target cells [first, end) of the row, each `stride` bytes after the one
 * before. */
static void write_block(block *work, uint64_t first, uint64_t end, size_t stride,
                        unsigned char *dst)
{
    const pe_resized_axis *axis = &work->resized->x;
    for (uint64_t last = first; first < end; first = last) {
        uint64_t cell = pe_resample_cell(&axis->resample, &axis->taps[first], 0), cells = 0;
        for (; last < end; last++) {
            const pe_taps *taps = &axis->taps[last];
            uint64_t needed =
                pe_resample_cell(&axis->resample, taps, taps->count - 1) + 1 - cell;
            if (needed > SPAN)
                break;
            cells = needed > cells ? needed : cells;
        }
        work->cell = cell;
        for (uint64_t i = 0; i < cells; i++)
            add_cells(work, cell + i, work->sums[i]);
        for (uint64_t x = first; x < last; x++, dst += stride)
            write_cell(work, x, dst);
    }
}

/* Write the same block where every entry needs more than doubles. */
static void write_each(const block *work, uint64_t first, uint64_t end, size_t stride,
                       unsigned char *dst)
{
    size_t size = pe_dtype_size(work->dtype);
    for (uint64_t x = first; x < end; x++, dst += stride)
        for (size_t c = 0; c < work->count; c++)
            write_exactly(work, x, work->column + c, dst + c * size);
}

/* Copy target cells [first, end) of a row, each from its source cell. */
static void copy_run(const pe_resized *resized, uint64_t row, uint64_t first, uint64_t end,
                     pe_copier *copier)
{
    const pe_resized_axis *y = &resized->y, *x = &resized->x;
    const size_t bytes = (size_t)resized->table.columns * kept_size(&resized->source);
    const unsigned char *line = resized->kept;
    line += cell_row(resized, pe_resample_cell(&y->resample, &y->taps[row], 0), 0) * bytes;
    for (; first < end; first++)
        pe_copier_add(copier, line + pe_resample_cell(&x->resample, &x->taps[first], 0) * bytes,
                      bytes);
}

/* Write target cells [first, end) of a row. */
static void write_run(const pe_resized *resized, pe_dtype dtype, uint64_t row, uint64_t first,
                      uint64_t end, unsigned char *dst)
{
    uint64_t columns = resized->table.columns;
    size_t size = pe_dtype_size(dtype);
    block work = {.resized = resized, .dtype = dtype, .row = row};
    for (work.column = 0; work.column < columns; work.column += BLOCK) {
        uint64_t rest = columns - work.column;
        work.count = rest < BLOCK ? (size_t)rest : BLOCK;
        if (dtype == PE_F64 || dtype == PE_DD)
            write_each(&work, first, end, columns * size, dst + work.column * size);
        else
            write_block(&work, first, end, columns * size, dst + work.column * size);
    }
}

void pe_resized_fill(const pe_resized *resized, uint64_t first, uint64_t rows, void *dst)
{
    const pe_dtype dtype = resized->source.weights.dtype;
    const bool copied = is_copied(&resized->source) && resized->kept;
    unsigned char *at = dst;
    uint64_t width = resized->x.resample.target, part;
    size_t row_bytes = (size_t)resized->table.columns * pe_dtype_size(dtype);
    pe_copier copier;
    if (first < resized->source.prefix) {
        part = resized->source.prefix - first < rows ? resized->source.prefix - first : rows;
        pe_trained_fill(&resized->table, dtype, first, part, at);
        first += part;
        rows -= part;
        at += part * row_bytes;
    }
    pe_copier_init(&copier, at, rows * row_bytes);
    for (uint64_t cell = first - resized->source.prefix; rows > 0; cell += part, rows -= part) {
        uint64_t x = cell % width;
        part = width - x < rows ? width - x : rows;
        if (copied)
            copy_run(resized, cell / width, x, x + part, &copier);
        else
            write_run(resized, dtype, cell / width, x, x + part, at);
        at += part * row_bytes;
    }
    if (copied)
        pe_copier_done(&copier);
}

#define COPY_PRICE 1.5

/* How many source cells have a part in a target cell, about. */
static double estimate_taps(const pe_resample *axis)
{
    const double shrinks = fmax(1, (double)axis->source / (double)axis->target);
    return (axis->filter == PE_CUBIC ? 4 : 2) * (axis->antialias ? shrinks : 1);
}

double pe_resized_element_price(const pe_resized_source *source)
{
    double y = estimate_taps(&source->y), x = estimate_taps(&source->x), products = y * x;
    double read =
        is_kept(source) ? 0 : pe_trained_price(&source->weights, source->distribution);
    if (is_copied(source) && is_kept(source))
        return COPY_PRICE;
    if (source->weights.dtype == PE_F64)
        return 20 + products * (40 + read);
    return 6 + y + x + read * products;
}
