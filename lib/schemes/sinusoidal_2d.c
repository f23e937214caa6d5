/* The sinusoidal encoding of a grid: each axis has half of the channels. */
#include "waves/axis.h"
#include "waves/grid.h"
#include "waves/grid_mask.h"
#include "waves/grid_presets.h"

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
static const char *const NORMALIZATIONS[] = {"none", "cells", NULL};
enum normalization { NONE, CELLS };
static const pe_case ONE_TURN[] = {{"cells", false, "1"}, {NULL, false, NULL}};
static const pe_case ONE_CELL[] = {{"none", false, "1"}, {NULL, false, NULL}};
static const pe_case OPTIONAL[] = {{"none", false, NULL}, {NULL, false, NULL}};

#define MASK_BYTES (48 << 20) /* of the tables of a grid with a mask */

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
    {.name = "base_height",
     .type = PE_REAL,
     .minimum = 1,
     .maximum = 1e18,
     .help = "base of the frequencies of the height, if not that of the width, base"},
    {.name = "first_position",
     .type = PE_REAL,
     .default_text = "0",
     .minimum = 0,
     .maximum = 1,
     .unit = "cells",
     .help = "position of the first cell of an axis: 0, 0.5 or 1"},
    {.name = "normalize",
     .type = PE_CHOICE,
     .default_text = "none",
     .choices = NORMALIZATIONS,
     .help = "none: angles are positions times frequencies; cells: positions are first divided "
             "by n + 10^-6 for an axis of n cells, and multiplied by 2π and turns"},
    {.name = "turns",
     .when = "normalize",
     .cases = ONE_TURN,
     .type = PE_REAL,
     .minimum = 1e-6,
     .maximum = 1e6,
     .unit = "turns",
     .help = "angle of the normalized position 1; the libraries' scale divided by 2π"},
    {.name = "base_size",
     .when = "normalize",
     .cases = OPTIONAL,
     .type = PE_INTEGER,
     .minimum = 1,
     .maximum = 16777216,
     .unit = "cells",
     .help = "positions are multiplied by base_size and divided by the number of cells of the "
             "axis, or by table_size"},
    {.name = "table_size",
     .when = "normalize",
     .cases = OPTIONAL,
     .type = PE_INTEGER,
     .minimum = 1,
     .maximum = 16777216,
     .unit = "cells",
     .help = "height and width of a table of which the grid is the centre"},
    {.name = "interpolation_scale",
     .when = "normalize",
     .cases = ONE_CELL,
     .type = PE_REAL,
     .minimum = 0.001,
     .maximum = 1000,
     .unit = "cells",
     .help = "distance of cells that are 1 apart afterwards: positions are divided by it"},
    {.name = "mask",
     .type = PE_INTEGER_LIST,
     .minimum = 0,
     .maximum = 1048576,
     .unit = "cells",
     .help = "lengths of runs of cells, row by row: first valid cells, then others, then valid "
             "ones … Positions count the valid cells of a row or column"},
};

static const pe_tensor_help TENSORS[] = {
    {"encoding", "[dim, height, width], [height, width, dim] or [extra_tokens + cells, dim]",
     "sines and cosines of x and y"}};

static int64_t first_halves(const pe_values *values)
{
    return (int64_t)(2 * pe_real(values, "first_position"));
}

static bool is_normalized(const pe_values *values)
{
    return pe_choice(values, "normalize") == CELLS;
}

/* Check first_position and table_size. */
static void check_positions(const pe_values *values, pe_error *reterr)
{
    char given[PE_PRINT_MAX];
    double first = pe_real(values, "first_position");
    pe_print_number(given, first);
    if (first != 0 && first != 0.5 && first != 1)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "first_position", given, "0, 0.5 or 1");
    if (!pe_is_present(values, "table_size"))
        return;
    int64_t size = pe_integer(values, "table_size");
    pe_print_number(given, (double)size);
    if (size < pe_integer(values, "height") || size < pe_integer(values, "width"))
        pe_error_add(reterr, PE_OUT_OF_RANGE, "table_size", given,
                     "at least height and width, since the grid is a part of that table");
    if (pe_is_present(values, "mask"))
        pe_error_add(reterr, PE_OUT_OF_RANGE, "table_size", given,
                     "left out with mask, whose cells are counted from the first valid one");
}

/* Check the mask, and the memory of its tables. */
static void check_mask(const pe_values *values, pe_error *reterr)
{
    if (!pe_is_present(values, "mask"))
        return;
    const pe_value *runs = pe_value_of(values, "mask");
    double height = pe_real(values, "height"), width = pe_real(values, "width"), cells = 0;
    double row_bytes =
        pe_real(values, "dim") / 2 * (double)pe_dtype_size(pe_requested_dtype(values));
    double bytes = pe_grid_mask_bytes(height, width, is_normalized(values), row_bytes);
    char given[64];
    for (size_t i = 0; i < runs->count; i++)
        cells += runs->items[i];
    snprintf(given, sizeof given, "%.0f cells", cells);
    if (cells != height * width)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "mask", given,
                     "runs of height * width = %.0f cells together", height * width);
    else if (cells > PE_GRID_MASK_CELLS)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "mask", given,
                     "runs of at most %d cells together", PE_GRID_MASK_CELLS);
    else if (bytes > MASK_BYTES)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "mask", given,
                     "left out on a grid for which the encodings of all lengths of rows and "
                     "columns may take more than 48 MiB: %.0f bytes here",
                     bytes);
}

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
    check_positions(values, reterr);
    check_mask(values, reterr);
    if (shape == CHW)
        pe_plan_add(ret_plan, "encoding", dtype, 3, (uint64_t[]){dim, height, width});
    else if (shape == HWC)
        pe_plan_add(ret_plan, "encoding", dtype, 3, (uint64_t[]){height, width, dim});
    else
        pe_plan_add(ret_plan, "encoding", dtype, 2, (uint64_t[]){extra + height * width, dim});
    pe_plan_rows(ret_plan, shape == CHW ? 3 : shape == HWC ? 2 : 1); /* any axis may be large */
    pe_plan_keep(ret_plan, ((double)height + (double)width) * (double)dim, PE_GRID_TABLE_BYTES);
}

/* Whether positions and frequencies of both axes are the same. */
static bool axes_are_alike(const pe_values *values)
{
    return !is_normalized(values) && !pe_is_present(values, "base_size") &&
           !pe_is_present(values, "table_size") && !pe_is_present(values, "base_height") &&
           !pe_is_present(values, "mask");
}

/* The rule of an axis that has `cells` cells. */
static pe_axis axis_rule(const pe_values *values, const char *base, int64_t cells)
{
    uint64_t half = (uint64_t)pe_integer(values, "dim") / 2;
    pe_axis rule = {.count = half / 2,
                    .base = pe_real(values, pe_is_present(values, base) ? base : "base"),
                    .numerator = 2,
                    .denominator = half,
                    .first = first_halves(values),
                    .normalized = is_normalized(values),
                    .size = (uint64_t)cells,
                    .interpolation = 1};
    if (rule.normalized) {
        rule.turns = pe_real(values, "turns");
        return rule;
    }
    rule.interpolation = pe_real(values, "interpolation_scale");
    if (pe_is_present(values, "base_size"))
        rule.base_size = pe_real(values, "base_size");
    if (pe_is_present(values, "table_size")) {
        rule.size = (uint64_t)pe_integer(values, "table_size");
        rule.first += 2 * ((int64_t)(rule.size - (uint64_t)cells) / 2);
    }
    return rule;
}

/* Set the waves and tables of both axes. */
static bool prepare_axes(const pe_values *values, pe_grid *grid)
{
    const pe_axis x = axis_rule(values, "base", (int64_t)grid->width);
    const pe_axis y = axis_rule(values, "base_height", (int64_t)grid->height);
    grid->shared = axes_are_alike(values);
    if (pe_is_present(values, "mask")) {
        const pe_value *runs = pe_value_of(values, "mask");
        return pe_grid_mask(grid, runs->items, runs->count, &x, &y) && pe_grid_prepare(grid);
    }
    size_t longer = grid->width > grid->height ? grid->width : grid->height;
    return pe_axis_set_wave(&x, grid->shared ? longer : grid->width, &grid->x.wave) &&
           (grid->shared || pe_axis_set_wave(&y, grid->height, &grid->y.wave)) &&
           pe_grid_prepare(grid);
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
    grid->x.wave = grid->y.wave = (pe_wave){
        .count = half / 2,
        .layout = grid->interleaved ? PE_WAVE_INTERLEAVED : PE_WAVE_CONCAT,
        .columns = half,
        .row_columns = half,
        .amplitude = 1,
        .dtype = plan->tensors[0].dtype,
    };
    if (prepare_axes(values, grid))
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

/* Whether entries of the axes are kept, and how many there are. */
static bool has_table(const pe_values *values, const pe_plan *plan, double *ret_entries)
{
    double height = pe_real(values, "height"), width = pe_real(values, "width");
    double half = pe_real(values, "dim") / 2;
    double longer = width > height ? width : height;
    *ret_entries = (axes_are_alike(values) ? longer : width + height) * half;
    if (pe_is_present(values, "mask")) {
        *ret_entries = pe_grid_mask_bytes(height, width, is_normalized(values), half);
        return true;
    }
    return *ret_entries * (double)pe_dtype_size(plan->tensors[0].dtype) <= PE_GRID_TABLE_BYTES;
}

static double price(const pe_values *values, const pe_plan *plan)
{
    double entries, frequencies = 60 * pe_real(values, "dim");
    bool kept = has_table(values, plan, &entries);
    if (pe_is_present(values, "mask")) /* frequencies of each length */
        frequencies *= pe_real(values, "height") + pe_real(values, "width");
    return frequencies + (kept ? 2 * entries : 0);
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
            .formula =
                "an axis of dim/2 channels: sin(p * w_i), cos(p * w_i), "
                "w_i = base^(-4i/dim), i = 0 … dim/4-1, p = x or y, from first_position; with "
                "normalize=cells p = 2π * turns * x / (width + 10^-6), else with "
                "base_size p = x * base_size / width / interpolation_scale",
            .convention =
                "channels of the width before those of the height, channels first; the "
                "presets are those of the vision libraries. The real numbers of the formula "
                "are "
                "rounded once: 2π and 10^-6 are not doubles",
            .reference = "arXiv:1706.03762 per axis; arXiv:2111.06377 (MAE); arXiv:2005.12872 "
                         "(DETR)",
            .example = "height=2&width=3&dim=4",
            .revision = 2,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(preset, pe_grid_presets),
            PE_LIST(tensor, TENSORS),
        },
    .plan = plan,
    .prepare = prepare,
    .fill = fill,
    .release = pe_grid_free,
    .price = price,
    .element_price = element_price,
    PE_APPLIES(PE_ADDITION("chw:dim,height,width|hwc:height,width,dim|nc:tokens,dim")),
    .streamable = true,
};
