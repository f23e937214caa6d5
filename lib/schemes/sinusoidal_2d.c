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
}

/* The tables of both axes: what every cell's channels are copied from. */
typedef struct grid_tables {
    size_t height, width, extra, half, element_size; /* half: channels of one axis */
    int shape;
    bool width_first, by_function;
    unsigned char *x_table, *y_table; /* [width, half], [height, half] */
} grid_tables;

static void release(void *state)
{
    grid_tables *grid = state;
    if (!grid)
        return;
    free(grid->x_table);
    free(grid->y_table);
    free(grid);
}

/* The encodings of positions 0 … extent-1 along one axis; NULL if memory ran out. */
static unsigned char *axis_table(const pe_values *values, size_t extent, size_t half)
{
    static const pe_wave_layout layouts[] = {PE_WAVE_INTERLEAVED, PE_WAVE_CONCAT};
    pe_wave wave = {
        .positions = {.count = extent, .step = 1},
        .count = half / 2,
        .layout = layouts[pe_choice(values, "layout")],
        .columns = half,
        .row_columns = half,
        .amplitude = 1,
        .dtype = pe_requested_dtype(values),
    };
    unsigned char *table = malloc(extent * half * pe_dtype_size(wave.dtype));
    wave.frequencies = pe_wave_geometric(half / 2, pe_real(values, "base"), 2, half);
    if (table && wave.frequencies)
        pe_wave_fill(&wave, 0, extent, table);
    else
        free(table), table = NULL;
    free(wave.frequencies);
    return table;
}

static void *prepare(const pe_values *values, const pe_plan *plan)
{
    (void)plan;
    grid_tables *grid = calloc(1, sizeof *grid);
    if (!grid)
        return NULL;
    grid->height = (size_t)pe_integer(values, "height");
    grid->width = (size_t)pe_integer(values, "width");
    grid->extra = (size_t)pe_integer(values, "extra_tokens");
    grid->half = (size_t)pe_integer(values, "dim") / 2;
    grid->element_size = pe_dtype_size(pe_requested_dtype(values));
    grid->shape = pe_choice(values, "shape");
    grid->width_first = pe_choice(values, "axis_order") == WIDTH_FIRST;
    grid->by_function = pe_choice(values, "grouping") == FUNCTION;
    grid->x_table = axis_table(values, grid->width, grid->half);
    grid->y_table = axis_table(values, grid->height, grid->half);
    if (grid->x_table && grid->y_table)
        return grid;
    release(grid);
    return NULL;
}

/* memcpy, or past the caches. */
typedef void copy_bytes(void *dst, const void *src, size_t size);

static void copy_cached(void *dst, const void *src, size_t size)
{
    memcpy(dst, src, size);
}

/* All channels of one cell. */
static void write_cell(const grid_tables *grid, size_t y, size_t x, copy_bytes *copy,
                       unsigned char *dst)
{
    size_t bytes = grid->half * grid->element_size, quarter = bytes / 2;
    const unsigned char *of_x = grid->x_table + x * bytes, *of_y = grid->y_table + y * bytes;
    const unsigned char *first = grid->width_first ? of_x : of_y;
    const unsigned char *second = grid->width_first ? of_y : of_x;
    if (grid->by_function) {
        copy(dst, first, quarter);
        copy(dst + quarter, second, quarter);
        copy(dst + 2 * quarter, first + quarter, quarter);
        copy(dst + 3 * quarter, second + quarter, quarter);
    } else {
        copy(dst, first, bytes);
        copy(dst + bytes, second, bytes);
    }
}

/* Some cells of a plane's row, to be copied: a multiple of every element's size. */
#define TILE 4096
#define LINE 64

/* Fill `bytes` of a tile, rounded up to whole lines, with one element. */
static void repeat(const unsigned char *element, size_t size, size_t bytes, unsigned char *tile)
{
    unsigned char line[LINE];
    for (size_t at = 0; at < LINE; at += size)
        memcpy(line + at, element, size);
    for (size_t at = 0; at < bytes; at += LINE)
        memcpy(tile + at, line, LINE);
}

static void gather(const unsigned char *elements, size_t stride, size_t size, size_t bytes,
                   unsigned char *tile)
{
    for (size_t at = 0; at < bytes; at += size, elements += stride)
        memcpy(tile + at, elements, size);
}

/* The plane [height, width] of one channel, in columns of tiles. Along x all rows are the same,
 * along y all elements of a row are. */
static void write_plane(const grid_tables *grid, size_t channel, copy_bytes *copy,
                        unsigned char *dst)
{
    size_t size = grid->element_size, half = grid->half, quarter = half / 2;
    size_t row_bytes = grid->width * size, stride = half * size;
    bool in_first = channel < half;
    size_t column = channel % half;
    if (grid->by_function) {
        in_first = channel / quarter % 2 == 0;
        column = channel % quarter + (channel >= half ? quarter : 0);
    }
    bool along_x = in_first == grid->width_first;
    const unsigned char *source = (along_x ? grid->x_table : grid->y_table) + column * size;
    _Alignas(64) unsigned char tile[TILE];
    for (size_t at = 0; at < row_bytes; at += TILE) {
        size_t bytes = row_bytes - at < TILE ? row_bytes - at : TILE;
        if (along_x)
            gather(source + at / size * stride, stride, size, bytes, tile);
        for (size_t y = 0; y < grid->height; y++) {
            if (!along_x)
                repeat(source + y * stride, size, bytes, tile);
            copy(dst + y * row_bytes + at, tile, bytes);
        }
    }
}

static void fill(const pe_values *values, const pe_plan *plan, const void *state,
                 pe_window window, void *dst)
{
    (void)values;
    const grid_tables *grid = state;
    const pe_kernel *kernel = pe_kernel_get();
    const pe_tensor *tensor = &plan->tensors[window.tensor];
    bool streamed = tensor->bytes / tensor->shape[0] * window.rows >= PE_STREAMED_FROM;
    copy_bytes *copy = streamed ? kernel->stream : copy_cached;
    size_t cell_bytes = 2 * grid->half * grid->element_size;
    unsigned char *at = dst;
    for (uint64_t row = window.first; row < window.first + window.rows; row++) {
        if (grid->shape == CHW) {
            write_plane(grid, row, copy, at);
            at += grid->height * grid->width * grid->element_size;
        } else if (grid->shape == HWC) {
            for (size_t x = 0; x < grid->width; x++, at += cell_bytes)
                write_cell(grid, row, x, copy, at);
        } else {
            if (row < grid->extra)
                memset(at, 0, cell_bytes);
            else
                write_cell(grid, (row - grid->extra) / grid->width,
                           (row - grid->extra) % grid->width, copy, at);
            at += cell_bytes;
        }
    }
    if (streamed)
        kernel->fence();
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
};
