/* The sinusoidal encoding of a grid: each axis has half of the channels. */
#include "waves/axis.h"
#include "waves/grid_mask.h"
#include "waves/planes.h"
#include "waves/presets.h"

#include <stdio.h>
#include <string.h>

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

#define MASK_BYTES (48 << 20) /* of the entries of a grid with a mask */

#define EXTENT                                                                                 \
    .type = PE_INTEGER, .required = true, .minimum = 1, .maximum = 16777216, .unit = "cells"

static const pe_parameter PARAMETERS[] = {
    {.name = "height", EXTENT, .counts_rows = true, .help = "number of rows of the grid"},
    {.name = "width", EXTENT, .help = "number of columns of the grid"},
    PE_DIM_PARAMETER(4, 4, "number of channels, half of them for each axis"),
    PE_BASE_PARAMETER,
    PE_AXIS_FREQUENCIES_PARAMETER,
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
     .help =
         "lengths of runs of cells, row by row: first valid cells, then others, then valid "
         "ones … Positions count the valid cells of a row or column; by default all are valid"},
};

static const pe_tensor_help TENSORS[] = {
    {"encoding", "[dim, height, width], [height, width, dim] or [extra_tokens + cells, dim]",
     "sines and cosines of x and y"}};

enum { HEIGHT, WIDTH, AXES };

typedef struct picture {
    pe_lattice lattice; /* its waves have neither positions nor frequencies yet */
    pe_axis rules[AXES];
    uint64_t extra;     /* rows of zeros before the cells */
    const double *mask; /* lengths of runs of cells; NULL: none */
    size_t mask_count;
} picture;

/* Check first_position and table_size. */
static void check_positions(const pe_values *values, pe_error *reterr)
{
    double first = pe_get_real(values, "first_position");
    if (first != 0 && first != 0.5 && first != 1)
        pe_refuse_value(values, "first_position", reterr, "0, 0.5 or 1");
    if (!pe_is_present(values, "table_size"))
        return;
    int64_t size = pe_get_integer(values, "table_size");
    if (size < pe_get_integer(values, "height") || size < pe_get_integer(values, "width"))
        pe_refuse_value(values, "table_size", reterr,
                        "at least height and width, since the grid is a part of that table");
    if (pe_is_present(values, "mask"))
        pe_refuse_value(values, "table_size", reterr,
                        "left out with mask, whose cells are counted from the first valid one");
}

/* The most bytes that the entries of a grid with a mask take. */
static double find_mask_bytes(const picture *state)
{
    const pe_lattice_axis *axes = state->lattice.axes;
    return pe_grid_mask_bytes((double)axes[HEIGHT].places, (double)axes[WIDTH].places,
                              state->rules[WIDTH].normalized,
                              (double)pe_wave_row_bytes(&axes[WIDTH].wave));
}

/* Check the mask, and the memory of its entries. */
static void check_mask(const picture *state, pe_error *reterr)
{
    const pe_lattice_axis *axes = state->lattice.axes;
    const double all = (double)axes[HEIGHT].places * (double)axes[WIDTH].places;
    double bytes = find_mask_bytes(state), cells = 0;
    char given[64];
    for (size_t i = 0; i < state->mask_count; i++)
        cells += state->mask[i];
    snprintf(given, sizeof given, "%.0f cells", cells);
    if (cells != all)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "mask", given,
                     "runs of height * width = %.0f cells together", all);
    else if (cells > PE_GRID_MASK_CELLS)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "mask", given,
                     "runs of at most %d cells together", PE_GRID_MASK_CELLS);
    else if (bytes > MASK_BYTES)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "mask", given,
                     "left out on a grid for which the encodings of all lengths of rows and "
                     "columns may take more than 48 MiB: %.0f bytes here",
                     bytes);
}

/* The rule of an axis that has `cells` cells. */
static pe_axis read_axis(const pe_values *values, const char *base, uint64_t cells)
{
    uint64_t half = (uint64_t)pe_get_integer(values, "dim") / 2;
    pe_axis rule = {.count = half / 2,
                    .law = (pe_axis_law)pe_get_choice(values, "frequencies"),
                    .base = pe_get_real(values, base),
                    .first = (int64_t)(2 * pe_get_real(values, "first_position")),
                    .normalized = pe_get_choice(values, "normalize") == CELLS,
                    .size = cells,
                    .interpolation = 1};
    if (rule.normalized) {
        rule.turns = pe_get_real(values, "turns");
        return rule;
    }
    rule.interpolation = pe_get_real(values, "interpolation_scale");
    rule.base_size = pe_get_real(values, "base_size");
    if (pe_is_present(values, "table_size")) {
        rule.size = (uint64_t)pe_get_integer(values, "table_size");
        rule.first += 2 * ((int64_t)(rule.size - cells) / 2);
    }
    return rule;
}

/* Set where an axis has its channels, and what its waves are. */
static void read_channels(const pe_values *values, size_t axis, pe_lattice *lattice)
{
    static const char *const EXTENTS[] = {"height", "width"};
    const size_t quarter = lattice->columns / 4;
    const bool interleaved = pe_get_choice(values, "layout") == INTERLEAVED;
    const bool by_function = pe_get_choice(values, "grouping") == FUNCTION;
    const bool width_first = pe_get_choice(values, "axis_order") == WIDTH_FIRST;
    const bool second = (axis == WIDTH) != width_first;
    const size_t sines = second ? (by_function ? quarter : 2 * quarter) : 0;
    lattice->axes[axis] =
        (pe_lattice_axis){.places = (size_t)pe_get_integer(values, EXTENTS[axis]),
                          .wave = {.layout = interleaved ? PE_WAVE_INTERLEAVED : PE_WAVE_CONCAT,
                                   .columns = 2 * quarter,
                                   .row_columns = 2 * quarter,
                                   .amplitude = 1,
                                   .dtype = lattice->dtype},
                          .sines = sines,
                          .cosines = sines + (by_function ? 2 * quarter : quarter),
                          .stride = 1};
}

static void plan_tensor(picture *state, enum shape shape, pe_plan *plan)
{
    pe_lattice *lattice = &state->lattice;
    const uint64_t height = lattice->axes[HEIGHT].places, width = lattice->axes[WIDTH].places;
    const uint64_t dim = lattice->columns, rows = state->extra + height * width;
    if (shape == CHW)
        pe_plan_add(plan, "encoding", lattice->dtype, 3, (uint64_t[]){dim, height, width});
    else if (shape == HWC)
        pe_plan_add(plan, "encoding", lattice->dtype, 3, (uint64_t[]){height, width, dim});
    else
        pe_plan_add(plan, "encoding", lattice->dtype, 2, (uint64_t[]){rows, dim});
    pe_plan_rows(plan, shape == CHW ? 3 : shape == HWC ? 2 : 1); /* any axis may be large */
    plan->price = PE_WAVE_FREQUENCY_PRICE * (double)dim;
    pe_lattice_plan(lattice, plan);
    if (state
            ->mask) { /* frequencies and entries of each length, and where a cell has its row */
        plan->price *= (double)(height + width);
        plan->price += 2 * find_mask_bytes(state);
        pe_plan_keep(plan, ((double)height + (double)width) * (double)dim, MASK_BYTES);
    }
    pe_plan_price(plan,
                  (lattice->kept || state->mask ? 3 : 15) + PE_WAVE_ROW_PRICE / (double)dim);
}

static void check_choices(const pe_values *values, const picture *state, enum shape shape,
                          pe_error *reterr)
{
    if (pe_get_choice(values, "grouping") == FUNCTION &&
        pe_get_choice(values, "layout") == INTERLEAVED)
        pe_refuse_value(
            values, "grouping", reterr,
            "axis unless layout=concat, since function keeps sines and cosines apart");
    if (state->extra > 0 && shape != NC)
        pe_refuse_value(values, "extra_tokens", reterr,
                        "0 unless shape=nc, since a grid has no room for more rows");
    if (pe_get_choice(values, "frequencies") == PE_AXIS_TENSOR2TENSOR &&
        state->lattice.columns < 8)
        pe_refuse_value(values, "dim", reterr,
                        "at least 8 with frequencies=tensor2tensor, since base^(-i/(n-1)) "
                        "needs two frequencies for each axis");
    check_positions(values, reterr);
    if (state->mask)
        check_mask(state, reterr);
}

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    picture *state = ret_state;
    pe_lattice *lattice = &state->lattice;
    const enum shape shape = (enum shape)pe_get_choice(values, "shape");
    const pe_value *mask = pe_value_find(values, "mask");
    const char *base = pe_is_present(values, "base_height") ? "base_height" : "base";
    *lattice = (pe_lattice){.axis_count = AXES,
                            .together = mask->present,
                            .by_column = shape == CHW,
                            .columns = (size_t)pe_get_integer(values, "dim"),
                            .dtype = pe_requested_dtype(values)};
    state->mask = mask->present ? mask->items : NULL;
    state->mask_count = mask->count;
    state->extra = (uint64_t)pe_get_integer(values, "extra_tokens");
    for (size_t a = 0; a < AXES; a++) {
        read_channels(values, a, lattice);
        state->rules[a] =
            read_axis(values, a == HEIGHT ? base : "base", lattice->axes[a].places);
    }
    check_choices(values, state, shape, reterr);
    pe_plan_settle(plan, "base_height", pe_get_real(values, base));
    plan_tensor(state, shape, plan);
}

static bool prepare(void *context, pe_pace *pace)
{
    picture *state = context;
    pe_lattice_axis *axes = state->lattice.axes;
    if (state->mask)
        return pe_grid_mask(&state->lattice, state->mask, state->mask_count, state->rules,
                            pace);
    for (size_t a = 0; a < AXES; a++)
        if (!pe_axis_set_wave(&state->rules[a], axes[a].places, &axes[a].wave, pace))
            return false;
    return pe_lattice_prepare(&state->lattice, pace);
}

static void fill(const void *context, pe_window window, void *dst)
{
    const picture *state = context;
    const size_t row_bytes = state->lattice.columns * pe_dtype_size(state->lattice.dtype);
    uint64_t zeros = state->extra > window.first ? state->extra - window.first : 0;
    if (state->lattice.by_column) {
        pe_planes_fill(&state->lattice, window.first, window.rows, dst);
        return;
    }
    zeros = zeros < window.rows ? zeros : window.rows;
    memset(dst, 0, zeros * row_bytes);
    if (zeros < window.rows)
        pe_lattice_fill(&state->lattice, window.first + zeros - state->extra,
                        window.rows - zeros, (unsigned char *)dst + zeros * row_bytes);
}

const pe_scheme pe_scheme_sinusoidal_2d = {
    .info =
        {
            .name = "sinusoidal_2d",
            .title = "Sinusoidal encoding of a grid",
            .summary = "Half of the channels encode the column and half the row, each as a "
                       "sinusoidal encoding of dim/2 columns.",
            .family = "grid",
            .keywords = "DETR, MAE, SimpleViT, picture, image, patches, 2d, diffusion, DiT, "
                        "PixArt, sincos",
            .formula =
                "an axis of dim/2 channels: sin(p * w_i), cos(p * w_i), "
                "w_i = base^(-4i/dim), with frequencies=tensor2tensor base^(-i/(dim/4-1)), "
                "i = 0 … dim/4-1, p = x or y, from first_position; with "
                "normalize=cells: p = 2π * turns * x / (width + 10^-6), else with "
                "base_size: p = x * base_size / width / interpolation_scale",
            .convention =
                "channels of the width before those of the height, channels first; the "
                "presets are those of the vision libraries. The real numbers of the formula "
                "are "
                "rounded once: 2π and 10^-6 are not doubles",
            .reference = "arXiv:1706.03762 per axis; arXiv:2111.06377 (MAE); arXiv:2005.12872 "
                         "(DETR)",
            .example = "height=2&width=3&dim=8",
            .revision = 2,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(preset, pe_grid_presets),
            PE_LIST(tensor, TENSORS),
        },
    PE_HOOKS(picture),
    PE_APPLIES(PE_ADDITION("chw:dim,height,width|hwc:height,width,dim|nc:tokens,dim")),
    .errors = PE_ERRORS_OF_ANGLES,
};
