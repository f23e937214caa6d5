/* The sinusoidal encoding of a grid: each axis has half of the channels. */
#include "../dtype.h"
#include "../kernel.h"
#include "../wave.h"

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

#define EXTENT(what, text)                                                                     \
    {                                                                                          \
        .name = (what), .type = PE_INTEGER, .required = true, .minimum = 1,                    \
        .maximum = 16777216, .unit = "cells", .help = (text)                                   \
    }

static const pe_parameter PARAMETERS[] = {
    EXTENT("height", "rows of the grid"),
    EXTENT("width", "columns of the grid"),
    PE_DIM_PARAMETER(4, 4, "channels, half of them for each axis"),
    PE_BASE_PARAMETER,
    {.name = "layout",
     .type = PE_CHOICE,
     .default_text = "interleaved",
     .choices = LAYOUTS,
     .help = "within an axis, interleaved: sin, cos, sin, cos …; concat: all sines, then all "
             "cosines"},
    {.name = "axis_order",
     .type = PE_CHOICE,
     .default_text = "width_first",
     .choices = AXIS_ORDERS,
     .help = "the axis that has the first channels"},
    {.name = "grouping",
     .type = PE_CHOICE,
     .default_text = "axis",
     .choices = GROUPINGS,
     .help =
         "axis: one axis after the other; function: the sines of both axes, then the cosines "
         "of both (layout concat only)"},
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
     .help = "zero rows before the cells, for class tokens (shape nc only)"},
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
                     "axis, or layout=concat: function keeps sines and cosines apart");
    if (extra > 0 && shape != NC)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "extra_tokens", given,
                     "0, or shape=nc: a grid has no place for further rows");
    if (shape == CHW)
        pe_plan_add(ret_plan, "encoding", dtype, 3, (uint64_t[]){dim, height, width});
    else if (shape == HWC)
        pe_plan_add(ret_plan, "encoding", dtype, 3, (uint64_t[]){height, width, dim});
    else
        pe_plan_add(ret_plan, "encoding", dtype, 2, (uint64_t[]){extra + height * width, dim});
    pe_plan_rows(ret_plan, shape == CHW ? 3 : shape == HWC ? 2 : 1); /* any axis may be long */
}

/* ---- the encodings of positions, which both axes share ---- */

#define TABLE_BYTES                                                                            \
    (16 << 20) /* of the positions' encodings: more are made as they are needed */
#define ROOM_BYTES (32 << 10) /* for those */

typedef struct grid {
    size_t height, width, extra, element_size;
    size_t quarter, step; /* frequencies of an axis; how many are taken at a time */
    int shape;
    bool width_first, by_function, interleaved;
    pe_wave wave;         /* row p encodes position p of either axis: [longer axis, dim/2] */
    unsigned char *table; /* the wave's rows, or NULL: too many to hold */
} grid;

/* Entries of consecutive positions, `stride` bytes apart. */
typedef struct strip {
    const unsigned char *entries;
    size_t stride;
} strip;

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void release(void *state)
{
    grid *own = state;
    if (!own)
        return;
    free(own->wave.frequencies);
    free(own->table);
    free(own);
}

static void *prepare(const pe_values *values, const pe_plan *plan, const pe_runner *runner,
                     pe_error *reterr)
{
    (void)runner, (void)reterr;
    size_t half = (size_t)pe_integer(values, "dim") / 2;
    grid *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->height = (size_t)pe_integer(values, "height");
    made->width = (size_t)pe_integer(values, "width");
    made->extra = (size_t)pe_integer(values, "extra_tokens");
    made->quarter = half / 2;
    made->element_size = pe_dtype_size(plan->tensors[0].dtype);
    made->shape = pe_choice(values, "shape");
    made->width_first = pe_choice(values, "axis_order") == WIDTH_FIRST;
    made->by_function = pe_choice(values, "grouping") == FUNCTION;
    made->interleaved = pe_choice(values, "layout") == INTERLEAVED;
    size_t positions = made->width > made->height ? made->width : made->height;
    size_t bytes = positions * half * made->element_size;
    made->wave = (pe_wave){
        .positions = {.count = positions, .step = 1},
        .frequencies = pe_wave_geometric(half / 2, pe_real(values, "base"), 2, half),
        .count = half / 2,
        .layout = made->interleaved ? PE_WAVE_INTERLEAVED : PE_WAVE_CONCAT,
        .columns = half,
        .row_columns = half,
        .amplitude = 1,
        .dtype = plan->tensors[0].dtype,
    };
    made->table = bytes <= TABLE_BYTES ? malloc(bytes) : NULL;
    if (!made->wave.frequencies || (!made->table && bytes <= TABLE_BYTES)) {
        release(made);
        return NULL;
    }
    made->step = made->table ? half / 2 : smaller(half / 2, PE_KERNEL_PAIRS);
    if (made->table)
        pe_wave_fill(&made->wave, 0, positions, made->table);
    return made;
}

/* How many positions a strip of so many frequencies may have. */
static size_t strip_limit(const grid *of, size_t pairs)
{
    return of->table ? SIZE_MAX : ROOM_BYTES / (2 * pairs * of->element_size);
}

/* The entries of frequencies [frequency, frequency + pairs) at positions from `first` on, as if
 * there were no others: by turns or sines before cosines, as the layout says. From the table
 * they are all frequencies' entries, from 0 on. */
static strip strip_of(const grid *of, size_t first, size_t count, size_t frequency,
                      size_t pairs, unsigned char room[ROOM_BYTES])
{
    size_t row_bytes = 2 * of->quarter * of->element_size;
    if (of->table)
        return (strip){of->table + first * row_bytes, row_bytes};
    pe_wave part = of->wave; /* a frequency's entries do not depend on the others */
    part.frequencies += frequency;
    part.count = pairs;
    part.columns = part.row_columns = 2 * pairs;
    pe_wave_fill(&part, first, count, room);
    return (strip){room, 2 * pairs * of->element_size};
}

/* ---- cells: all channels of one place ---- */

/* Put the entries of some frequencies of one axis where they belong in a cell. */
static void place(const grid *of, bool of_x, size_t frequency, size_t pairs,
                  const unsigned char *entries, unsigned char *cell)
{
    size_t size = of->element_size, quarter = of->quarter;
    bool second = of_x != of->width_first;
    if (of->interleaved) {
        size_t column = (second ? 2 * quarter : 0) + 2 * frequency;
        memcpy(cell + column * size, entries, 2 * pairs * size);
        return;
    }
    size_t sines = second ? (of->by_function ? quarter : 2 * quarter) : 0;
    size_t cosines = sines + (of->by_function ? 2 * quarter : quarter);
    memcpy(cell + (sines + frequency) * size, entries, pairs * size);
    memcpy(cell + (cosines + frequency) * size, entries + pairs * size, pairs * size);
}

/* Cells of some columns and rows: either whole rows, or a part of one. */
typedef struct patch {
    size_t x, y, columns, rows;
} patch;

static void write_patch(const grid *of, patch cells, unsigned char *dst)
{
    unsigned char x_room[ROOM_BYTES], y_room[ROOM_BYTES];
    size_t step = of->step, cell_bytes = 4 * of->quarter * of->element_size;
    for (size_t f = 0; f < of->quarter; f += step) {
        size_t pairs = smaller(of->quarter - f, step);
        strip xs = strip_of(of, cells.x, cells.columns, f, pairs, x_room);
        strip ys = strip_of(of, cells.y, cells.rows, f, pairs, y_room);
        unsigned char *cell = dst;
        for (size_t r = 0; r < cells.rows; r++)
            for (size_t c = 0; c < cells.columns; c++, cell += cell_bytes) {
                place(of, true, f, pairs, xs.entries + c * xs.stride, cell);
                place(of, false, f, pairs, ys.entries + r * ys.stride, cell);
            }
    }
}

/* Cells [first, first + count), counted row by row. */
static void write_cells(const grid *of, uint64_t first, uint64_t count, unsigned char *dst)
{
    size_t limit = strip_limit(of, of->step), width = of->width;
    size_t cell_bytes = 4 * of->quarter * of->element_size;
    while (count > 0) {
        patch cells = {first % width, first / width, 0, 1};
        cells.columns = smaller(smaller(width - cells.x, count), limit);
        if (cells.columns == width)
            cells.rows = smaller(count / width, limit);
        write_patch(of, cells, dst);
        dst += cells.rows * cells.columns * cell_bytes;
        first += cells.rows * cells.columns;
        count -= cells.rows * cells.columns;
    }
}

/* ---- planes: one channel of all places ---- */

static inline __attribute__((always_inline)) void copy_strip(unsigned char *dst, strip from,
                                                             size_t size, size_t count)
{
    for (size_t i = 0; i < count; i++)
        memcpy(dst + i * size, from.entries + i * from.stride, size);
}

/* Put a strip of single elements side by side. */
static void gather(unsigned char *dst, strip from, size_t size, size_t count)
{
    if (size == 2) /* a constant size is a move */
        copy_strip(dst, from, 2, count);
    else if (size == 4)
        copy_strip(dst, from, 4, count);
    else
        copy_strip(dst, from, 8, count);
}

/* A channel: which axis it encodes, by which frequency and function. */
typedef struct channel {
    bool of_x, cosine;
    size_t frequency;
} channel;

static channel channel_at(const grid *of, size_t index)
{
    size_t quarter = of->quarter, within = index % (2 * quarter);
    bool second = index >= 2 * quarter;
    if (of->interleaved)
        return (channel){second != of->width_first, within % 2 == 1, within / 2};
    bool later = within >= quarter; /* quarters: axis, function or function, axis */
    if (of->by_function)
        return (channel){later != of->width_first, second, within % quarter};
    return (channel){second != of->width_first, later, within % quarter};
}

static strip channel_strip(const grid *of, channel at, size_t first, size_t count,
                           unsigned char room[ROOM_BYTES])
{
    strip pairs = strip_of(of, first, count, at.frequency, 1, room);
    size_t column = at.cosine;
    if (of->table)
        column = of->interleaved ? 2 * at.frequency + at.cosine
                                 : (at.cosine ? of->quarter : 0) + at.frequency;
    return (strip){pairs.entries + column * of->element_size, pairs.stride};
}

/* Elements [first, first + count) of the plane [height, width] of a channel that encodes x. */
static void write_along_x(const grid *of, channel at, uint64_t first, size_t count,
                          unsigned char *dst)
{
    unsigned char room[ROOM_BYTES];
    size_t width = of->width, size = of->element_size, run, done;
    for (done = 0; done < count && done < width; done += run) {
        size_t x = (first + done) % width, once = smaller(width, count);
        run = smaller(smaller(width - x, once - done), strip_limit(of, 1));
        gather(dst + done * size, channel_strip(of, at, x, run, room), size, run);
    }
    for (; done < count; done += run) { /* all rows are alike */
        run = smaller(done, count - done);
        memcpy(dst + done * size, dst, run * size);
    }
}

/* The same of a channel that encodes y. */
static void write_along_y(const grid *of, channel at, uint64_t first, size_t count,
                          unsigned char *dst)
{
    unsigned char room[ROOM_BYTES];
    size_t size = of->element_size;
    uint64_t end = first + count;
    while (first < end) {
        size_t y = first / of->width, last = (end - 1) / of->width;
        size_t rows = smaller(last - y + 1, strip_limit(of, 1));
        strip entries = channel_strip(of, at, y, rows, room);
        for (; rows > 0; rows--, entries.entries += entries.stride) {
            size_t run = smaller(of->width - first % of->width, end - first);
            gather(dst, (strip){entries.entries, 0}, size, run);
            dst += run * size;
            first += run;
        }
    }
}

/* Elements [first, first + count) of all planes. */
static void write_planes(const grid *of, uint64_t first, uint64_t count, unsigned char *dst)
{
    uint64_t plane = (uint64_t)of->height * of->width;
    while (count > 0) {
        channel at = channel_at(of, first / plane);
        size_t part = smaller(plane - first % plane, count);
        (at.of_x ? write_along_x : write_along_y)(of, at, first % plane, part, dst);
        dst += part * of->element_size;
        first += part;
        count -= part;
    }
}

static void fill(const pe_values *values, const pe_plan *plan, const void *state,
                 pe_window window, void *dst)
{
    (void)values, (void)plan;
    const grid *of = state;
    size_t cell_bytes = 4 * of->quarter * of->element_size;
    unsigned char *at = dst;
    if (of->shape == CHW) {
        write_planes(of, window.first, window.rows, dst);
        return;
    }
    for (; window.rows > 0 && window.first < of->extra; window.first++, window.rows--) {
        memset(at, 0, cell_bytes);
        at += cell_bytes;
    }
    write_cells(of, window.first - of->extra, window.rows, at);
}

const pe_scheme pe_scheme_sinusoidal_2d = {
    .info =
        {
            .name = "sinusoidal_2d",
            .title = "Sinusoidal encoding of a grid",
            .summary =
                "Half of the channels encode the column, half the row, each as a sinusoidal "
                "encoding of dim/2.",
            .family = "absolute",
            .formula = "an axis of dim/2 channels: sin(p * w_i), cos(p * w_i), "
                       "w_i = base^(-4i/dim), i = 0 … dim/4-1, p = x or y",
            .convention = "width before height, channels first; presets mae and timm name the "
                          "vision libraries",
            .reference = "arXiv:1706.03762 per axis; arXiv:2111.06377 (MAE)",
            .example = "height=2&width=3&dim=4",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(preset, PRESETS),
            PE_LIST(tensor, TENSORS),
        },
    .plan = plan,
    .prepare = prepare,
    .fill = fill,
    .release = release,
    .streamable = true,
};
