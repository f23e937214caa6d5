/* The sinusoidal encoding of a grid: each axis has half of the channels. Both axes share one
 * table of encodings, [longer axis, dim/2]; of a table that is too large, parts are computed as
 * needed. */
#include "kernels/kernel.h"
#include "numerics/dtype.h"
#include "waves/fill.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const LAYOUTS[] = {"interleaved", "concat", NULL};
enum layout { INTERLEAVED, CONCAT };
static const char *const AXIS_ORDERS[] = {"width_first", "height_first", NULL};
enum axis_order { WIDTH_FIRST, HEIGHT_FIRST };
static const char *const GROUPINGS[] = {"axis", "function", NULL};
enum grouping { AXIS, FUNCTION };
static const char *const SHAPES[] = {"chw", "hwc", "nc", NULL};
enum shape { CHW, HWC, NC };

#define EXTENT                                                                                 \
    .type = PE_INTEGER, .required = true, .minimum = 1, .maximum = 16777216, .unit = "cells"

static const pe_parameter PARAMETERS[] = {
    {.name = "height", EXTENT, .counts_rows = true, .help = "number of rows of the grid"},
    {.name = "width", EXTENT, .help = "number of columns of the grid"},
    PE_DIM_PARAMETER(4, 4, "number of channels, half of them for each axis"),
    PE_BASE_PARAMETER,
    {.name = "layout",
     .type = PE_CHOICE,
     .default_text = "interleaved",
     .choices = LAYOUTS,
     .help = "channels of one axis; interleaved: sin, cos, sin, cos …; concat: all sines, then "
             "all cosines"},
    {.name = "axis_order",
     .type = PE_CHOICE,
     .default_text = "width_first",
     .choices = AXIS_ORDERS,
     .help = "which axis has the first channels"},
    {.name = "grouping",
     .type = PE_CHOICE,
     .default_text = "axis",
     .choices = GROUPINGS,
     .help = "axis: all channels of one axis, then those of the other; function, only with "
             "layout=concat: the sines of both axes, then the cosines of both"},
    {.name = "shape",
     .type = PE_CHOICE,
     .default_text = "chw",
     .choices = SHAPES,
     .help = "chw: [dim, height, width]; hwc: [height, width, dim]; nc: [cells, dim]"},
    {.name = "extra_tokens",
     .type = PE_INTEGER,
     .default_text = "0",
     .minimum = 0,
     .maximum = 65536,
     .unit = "rows",
     .help = "number of zero rows before the cells, for class tokens; only with shape=nc"},
};

static const pe_preset PRESETS[] = {
    {"mae", "MAE's get_2d_sincos_pos_embed", {"layout", "concat", "shape", "nc", NULL}},
    {"timm",
     "timm's build_sincos2d_pos_embed",
     {"layout", "concat", "axis_order", "height_first", "grouping", "function", "shape", "nc",
      NULL}},
    {"timm_interleaved",
     "timm's build_sincos2d_pos_embed with interleave_sin_cos",
     {"layout", "concat", "axis_order", "height_first", "shape", "nc", NULL}},
};

static const pe_tensor_help TENSORS[] = {
    {"encoding", "[dim, height, width], [height, width, dim] or [extra_tokens + cells, dim]",
     "sines and cosines of x and y"}};

static void plan(const pe_values *values, pe_plan *ret_plan, pe_error *reterr)
{
    uint64_t height = (uint64_t)pe_integer(values, "height");
    uint64_t width = (uint64_t)pe_integer(values, "width");
    uint64_t dim = (uint64_t)pe_integer(values, "dim");
    uint64_t extra = (uint64_t)pe_integer(values, "extra_tokens");
    int shape = pe_choice(values, "shape");
    char given[24];
    snprintf(given, sizeof given, "%llu", (unsigned long long)extra);
    pe_dtype dtype = pe_requested_dtype(values);
    if (pe_choice(values, "grouping") == FUNCTION && pe_choice(values, "layout") != CONCAT)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "grouping", "function",
                     "axis unless layout=concat, since function keeps sines and cosines apart");
    if (extra > 0 && shape != NC)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "extra_tokens", given,
                     "0 unless shape=nc, since a grid has no room for more rows");
    if (shape == CHW)
        pe_plan_add(ret_plan, "encoding", dtype, 3, (uint64_t[]){dim, height, width});
    else if (shape == HWC)
        pe_plan_add(ret_plan, "encoding", dtype, 3, (uint64_t[]){height, width, dim});
    else
        pe_plan_add(ret_plan, "encoding", dtype, 2, (uint64_t[]){extra + height * width, dim});
    pe_plan_rows(ret_plan, shape == CHW ? 3 : shape == HWC ? 2 : 1); /* any axis may be large */
}

/* ---- the encodings of positions, which both axes share ---- */

#define TABLE_BYTES (16 << 20) /* the largest table; a larger one is computed in parts */
#define ROOM_BYTES  (32 << 10) /* for such a part */

typedef struct grid {
    size_t height, width, extra, element_size;
    size_t quarter, step; /* frequencies of an axis; how many of them are handled at a time */
    int shape;
    bool width_first, by_function, interleaved;
    pe_wave wave;         /* row p encodes position p of either axis: [longer axis, dim/2] */
    unsigned char *table; /* all rows of the wave, or NULL where they are too many */
} grid;

/* The entries of consecutive positions, each `stride` bytes after the one before. */
typedef struct strip {
    const unsigned char *entries;
    size_t stride;
} strip;

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void release(void *context)
{
    grid *state = context;
    if (!state)
        return;
    free(state->wave.frequencies);
    free(state->table);
    free(state);
}

static void *prepare(const pe_values *values, const pe_plan *plan, const pe_runner *runner,
                     pe_error *reterr)
{
    (void)runner, (void)reterr;
    size_t half = (size_t)pe_integer(values, "dim") / 2;
    grid *state = calloc(1, sizeof *state);
    if (!state)
        return NULL;
    state->height = (size_t)pe_integer(values, "height");
    state->width = (size_t)pe_integer(values, "width");
    state->extra = (size_t)pe_integer(values, "extra_tokens");
    state->quarter = half / 2;
    state->element_size = pe_dtype_size(plan->tensors[0].dtype);
    state->shape = pe_choice(values, "shape");
    state->width_first = pe_choice(values, "axis_order") == WIDTH_FIRST;
    state->by_function = pe_choice(values, "grouping") == FUNCTION;
    state->interleaved = pe_choice(values, "layout") == INTERLEAVED;
    size_t positions = state->width > state->height ? state->width : state->height;
    size_t bytes = positions * half * state->element_size;
    state->wave = (pe_wave){
        .positions = {.count = positions, .step = 1},
        .frequencies = pe_wave_geometric(half / 2, pe_real(values, "base"), 2, half),
        .count = half / 2,
        .layout = state->interleaved ? PE_WAVE_INTERLEAVED : PE_WAVE_CONCAT,
        .columns = half,
        .row_columns = half,
        .amplitude = 1,
        .dtype = plan->tensors[0].dtype,
    };
    state->table = bytes <= TABLE_BYTES ? malloc(bytes) : NULL;
    if (!state->wave.frequencies || (!state->table && bytes <= TABLE_BYTES)) {
        release(state);
        return NULL;
    }
    state->step = state->table ? half / 2 : smaller(half / 2, PE_KERNEL_PAIRS);
    if (state->table)
        pe_wave_fill(&state->wave, 0, positions, state->table);
    return state;
}

/* How many positions a strip of `pairs` frequencies may have. */
static size_t strip_limit(const grid *state, size_t pairs)
{
    return state->table ? SIZE_MAX : ROOM_BYTES / (2 * pairs * state->element_size);
}

/* The strip of `count` positions from `first` on. A strip in the table has the entries of all
 * frequencies. Without a table, a strip in `room` has those of the frequencies
 * [frequency, frequency + pairs) alone, in the order of the layout. */
static strip strip_of(const grid *state, size_t first, size_t count, size_t frequency,
                      size_t pairs, unsigned char room[ROOM_BYTES])
{
    size_t row_bytes = 2 * state->quarter * state->element_size;
    if (state->table)
        return (strip){state->table + first * row_bytes, row_bytes};
    pe_wave part = state->wave; /* a frequency's entries do not depend on the others */
    part.frequencies += frequency;
    part.count = pairs;
    part.columns = part.row_columns = 2 * pairs;
    pe_wave_fill(&part, first, count, room);
    return (strip){room, 2 * pairs * state->element_size};
}

/* ---- cells: all channels of one grid cell, for the shapes hwc and nc ---- */

/* Copy the entries of some frequencies of one axis to their channels in a cell. */
static void place_entries(const grid *state, bool encodes_x, size_t frequency, size_t pairs,
                          const unsigned char *entries, unsigned char *cell)
{
    size_t size = state->element_size, quarter = state->quarter;
    bool second = encodes_x != state->width_first;
    if (state->interleaved) {
        size_t column = (second ? 2 * quarter : 0) + 2 * frequency;
        memcpy(cell + column * size, entries, 2 * pairs * size);
        return;
    }
    size_t sines = second ? (state->by_function ? quarter : 2 * quarter) : 0;
    size_t cosines = sines + (state->by_function ? 2 * quarter : quarter);
    memcpy(cell + (sines + frequency) * size, entries, pairs * size);
    memcpy(cell + (cosines + frequency) * size, entries + pairs * size, pairs * size);
}

/* A rectangle of cells: either whole rows of the grid, or a part of one row. */
typedef struct patch {
    size_t x, y, columns, rows;
} patch;

static void write_patch(const grid *state, patch cells, unsigned char *dst)
{
    unsigned char x_room[ROOM_BYTES], y_room[ROOM_BYTES];
    size_t step = state->step, cell_bytes = 4 * state->quarter * state->element_size;
    for (size_t f = 0; f < state->quarter; f += step) {
        size_t pairs = smaller(state->quarter - f, step);
        strip xs = strip_of(state, cells.x, cells.columns, f, pairs, x_room);
        strip ys = strip_of(state, cells.y, cells.rows, f, pairs, y_room);
        unsigned char *cell = dst;
        for (size_t r = 0; r < cells.rows; r++)
            for (size_t c = 0; c < cells.columns; c++, cell += cell_bytes) {
                place_entries(state, true, f, pairs, xs.entries + c * xs.stride, cell);
                place_entries(state, false, f, pairs, ys.entries + r * ys.stride, cell);
            }
    }
}

/* Write cells [first, first + count), counted row by row. */
static void write_cells(const grid *state, uint64_t first, uint64_t count, unsigned char *dst)
{
    size_t limit = strip_limit(state, state->step), width = state->width;
    size_t cell_bytes = 4 * state->quarter * state->element_size;
    while (count > 0) {
        patch cells = {first % width, first / width, 0, 1};
        cells.columns = smaller(smaller(width - cells.x, count), limit);
        if (cells.columns == width)
            cells.rows = smaller(count / width, limit);
        write_patch(state, cells, dst);
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
static void gather(unsigned char *dst, strip from, size_t size, size_t count)
{
    if (size == 2) /* with a constant size, memcpy becomes one move */
        copy_strip(dst, from, 2, count);
    else if (size == 4)
        copy_strip(dst, from, 4, count);
    else
        copy_strip(dst, from, 8, count);
}

/* Copy with non-temporal stores, unless `streaming` is NULL. */
static void copy_out(const pe_kernel *streaming, unsigned char *dst, const unsigned char *from,
                     size_t bytes)
{
    if (streaming)
        streaming->stream(dst, from, bytes);
    else
        memcpy(dst, from, bytes);
}

/* Write an element `count` times. */
static void repeat(const pe_kernel *streaming, unsigned char *dst, const unsigned char *element,
                   size_t size, size_t count)
{
    enum { BLOCK = 64, BYTES = 4096 };
    _Alignas(BLOCK) unsigned char copies[BYTES];
    size_t bytes = count * size, ready = smaller(bytes, BYTES);
    gather(copies, (strip){element, 0}, size, smaller(count, BLOCK / size));
    for (size_t at = BLOCK; at < ready; at += BLOCK)
        memcpy(copies + at, copies, BLOCK);
    for (size_t at = 0; at < bytes; at += BYTES)
        copy_out(streaming, dst + at, copies, smaller(bytes - at, BYTES));
}

/* What a channel encodes: an axis, by one frequency and function. */
typedef struct channel_meaning {
    bool encodes_x, cosine;
    size_t frequency;
} channel_meaning;

static channel_meaning channel_at(const grid *state, size_t index)
{
    size_t quarter = state->quarter, within = index % (2 * quarter);
    bool second = index >= 2 * quarter;
    if (state->interleaved)
        return (channel_meaning){second != state->width_first, within % 2 == 1, within / 2};
    bool later = within >= quarter; /* in the second quarter of a half */
    if (state->by_function)
        return (channel_meaning){later != state->width_first, second, within % quarter};
    return (channel_meaning){second != state->width_first, later, within % quarter};
}

static strip channel_strip(const grid *state, channel_meaning meaning, size_t first,
                           size_t count, unsigned char room[ROOM_BYTES])
{
    strip pairs = strip_of(state, first, count, meaning.frequency, 1, room);
    size_t column = meaning.cosine;
    if (state->table)
        column = state->interleaved ? 2 * meaning.frequency + meaning.cosine
                                    : (meaning.cosine ? state->quarter : 0) + meaning.frequency;
    return (strip){pairs.entries + column * state->element_size, pairs.stride};
}

/* Write elements [first, first + count) of the plane [height, width] of a channel that encodes
 * x: one row, then copies of it. */
static void write_along_x(const grid *state, const pe_kernel *streaming,
                          channel_meaning meaning, uint64_t first, size_t count,
                          unsigned char *dst)
{
    unsigned char room[ROOM_BYTES];
    size_t width = state->width, size = state->element_size, run, done, most = width;
    for (done = 0; done < count && done < width; done += run) {
        size_t x = (first + done) % width, once = smaller(width, count);
        run = smaller(smaller(width - x, once - done), strip_limit(state, 1));
        gather(dst + done * size, channel_strip(state, meaning, x, run, room), size, run);
    }
    while (2 * most * size <= ROOM_BYTES)
        most *= 2;
    for (; done < count; done += run) { /* all rows are equal; the first ones stay in caches */
        run = smaller(smaller(done, most), count - done);
        copy_out(done < most ? NULL : streaming, dst + done * size, dst, run * size);
    }
}

/* Write elements [first, first + count) of the plane of a channel that encodes y: each row is
 * one entry, repeated. */
static void write_along_y(const grid *state, const pe_kernel *streaming,
                          channel_meaning meaning, uint64_t first, size_t count,
                          unsigned char *dst)
{
    unsigned char room[ROOM_BYTES];
    size_t size = state->element_size;
    uint64_t end = first + count;
    while (first < end) {
        size_t y = first / state->width, last = (end - 1) / state->width;
        size_t rows = smaller(last - y + 1, strip_limit(state, 1));
        strip entries = channel_strip(state, meaning, y, rows, room);
        for (; rows > 0; rows--, entries.entries += entries.stride) {
            size_t run = smaller(state->width - first % state->width, end - first);
            repeat(streaming, dst, entries.entries, size, run);
            dst += run * size;
            first += run;
        }
    }
}

/* Write elements [first, first + count), counted over all planes. */
static void write_planes(const grid *state, uint64_t first, uint64_t count, unsigned char *dst)
{
    uint64_t plane = (uint64_t)state->height * state->width;
    const pe_kernel *kernel = pe_kernel_get();
    const pe_kernel *streaming =
        count * state->element_size >= PE_STREAMED_FROM ? kernel : NULL;
    while (count > 0) {
        channel_meaning meaning = channel_at(state, first / plane);
        size_t part = smaller(plane - first % plane, count);
        if (meaning.encodes_x)
            write_along_x(state, streaming, meaning, first % plane, part, dst);
        else
            write_along_y(state, streaming, meaning, first % plane, part, dst);
        dst += part * state->element_size;
        first += part;
        count -= part;
    }
    kernel->fence();
}

static void fill(const pe_values *values, const pe_plan *plan, const void *context,
                 pe_window window, void *dst)
{
    (void)values, (void)plan;
    const grid *state = context;
    size_t cell_bytes = 4 * state->quarter * state->element_size;
    unsigned char *at = dst;
    if (state->shape == CHW) {
        write_planes(state, window.first, window.rows, dst);
        return;
    }
    for (; window.rows > 0 && window.first < state->extra; window.first++, window.rows--) {
        memset(at, 0, cell_bytes);
        at += cell_bytes;
    }
    write_cells(state, window.first - state->extra, window.rows, at);
}

static bool has_table(const pe_values *values, const pe_plan *plan, double *ret_entries)
{
    int64_t height = pe_integer(values, "height"), width = pe_integer(values, "width");
    *ret_entries = (double)(width > height ? width : height) * pe_real(values, "dim") / 2;
    return *ret_entries * (double)pe_dtype_size(plan->tensors[0].dtype) <= TABLE_BYTES;
}

static double price(const pe_values *values, const pe_plan *plan)
{
    double entries, frequencies = 60 * pe_real(values, "dim");
    return frequencies + (has_table(values, plan, &entries) ? 2 * entries : 0);
}

static double element_price(const pe_values *values, const pe_plan *plan, size_t tensor)
{
    (void)tensor;
    double entries;
    return has_table(values, plan, &entries) ? 3 : 15;
}

const pe_scheme pe_scheme_sinusoidal_2d = {
    .info =
        {
            .name = "sinusoidal_2d",
            .title = "Sinusoidal encoding of a grid",
            .summary = "Half of the channels encode the column and half the row, each as a "
                       "sinusoidal encoding of dim/2 columns.",
            .family = "absolute",
            .formula = "an axis of dim/2 channels: sin(p * w_i), cos(p * w_i), "
                       "w_i = base^(-4i/dim), i = 0 … dim/4-1, p = x or y",
            .convention =
                "channels of the width before those of the height, channels first; the "
                "presets mae and timm are those of the vision libraries",
            .reference = "arXiv:1706.03762 per axis; arXiv:2111.06377 (MAE)",
            .example = "height=2&width=3&dim=4",
            .revision = 2,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(preset, PRESETS),
            PE_LIST(tensor, TENSORS),
        },
    .plan = plan,
    .prepare = prepare,
    .fill = fill,
    .release = release,
    .price = price,
    .element_price = element_price,
    .streamable = true,
};
