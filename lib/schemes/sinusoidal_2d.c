/* The sinusoidal encoding of a grid: each axis has half of the channels. */
#include "waves/grid.h"

#include <stdio.h>
#include <stdlib.h>

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

static void *prepare(const pe_values *values, const pe_plan *plan, const pe_runner *runner,
                     pe_error *reterr)
{
    (void)runner, (void)reterr;
    size_t half = (size_t)pe_integer(values, "dim") / 2;
    pe_grid *grid = calloc(1, sizeof *grid);
    if (!grid)
        return NULL;
    grid->height = (size_t)pe_integer(values, "height");
    grid->width = (size_t)pe_integer(values, "width");
    grid->extra = (size_t)pe_integer(values, "extra_tokens");
    grid->channels_first = pe_choice(values, "shape") == CHW;
    grid->width_first = pe_choice(values, "axis_order") == WIDTH_FIRST;
    grid->by_function = pe_choice(values, "grouping") == FUNCTION;
    grid->interleaved = pe_choice(values, "layout") == INTERLEAVED;
    grid->wave = (pe_wave){
        .positions = {.count = grid->width > grid->height ? grid->width : grid->height,
                      .step = 1},
        .frequencies = pe_wave_geometric(half / 2, pe_real(values, "base"), 2, half),
        .count = half / 2,
        .layout = grid->interleaved ? PE_WAVE_INTERLEAVED : PE_WAVE_CONCAT,
        .columns = half,
        .row_columns = half,
        .amplitude = 1,
        .dtype = plan->tensors[0].dtype,
    };
    if (grid->wave.frequencies && pe_grid_prepare(grid))
        return grid;
    pe_grid_free(grid);
    return NULL;
}

static void fill(const pe_values *values, const pe_plan *plan, const void *state,
                 pe_window window, void *dst)
{
    (void)values, (void)plan;
    pe_grid_fill(state, window.first, window.rows, dst);
}

static bool has_table(const pe_values *values, const pe_plan *plan, double *ret_entries)
{
    int64_t height = pe_integer(values, "height"), width = pe_integer(values, "width");
    *ret_entries = (double)(width > height ? width : height) * pe_real(values, "dim") / 2;
    return *ret_entries * (double)pe_dtype_size(plan->tensors[0].dtype) <= PE_GRID_TABLE_BYTES;
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
            .family = "grid",
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
    .release = pe_grid_free,
    .price = price,
    .element_price = element_price,
    .streamable = true,
};
