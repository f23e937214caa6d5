/* The sinusoidal encoding of a video or a volume: each axis has a part of the channels. */
#include "waves/axis.h"
#include "waves/lattice.h"

#include <stdlib.h>

static const char *const LAYOUTS[] = {"interleaved", "concat", NULL};
enum layout { INTERLEAVED, CONCAT };
static const char *const SPLITS[] = {"equal", "quarter", NULL};
enum split { EQUAL, QUARTER };
static const char *const AXIS_ORDERS[] = {"depth_height_width", "depth_width_height",
                                          "width_height_depth", NULL};
static const char *const SHAPES[] = {"dhwc", "dnc", "nc", NULL};
enum shape { DHWC, DNC, NC };

enum { DEPTH, HEIGHT, WIDTH, AXES };
/* The axis that has the first, second and third part of the channels. */
static const int ORDERS[][AXES] = {
    {DEPTH, HEIGHT, WIDTH}, {DEPTH, WIDTH, HEIGHT}, {WIDTH, HEIGHT, DEPTH}};

#define EXTENT                                                                                 \
    .type = PE_INTEGER, .required = true, .minimum = 1, .maximum = 1048576, .unit = "cells"
#define INTERPOLATION                                                                          \
    .type = PE_REAL, .default_text = "1", .minimum = 0.001, .maximum = 1000, .unit = "cells"

static const pe_parameter PARAMETERS[] = {
    {.name = "depth", EXTENT, .counts_rows = true, .help = "number of frames or slices"},
    {.name = "height", EXTENT, .help = "number of rows of a frame"},
    {.name = "width", EXTENT, .help = "number of columns of a frame"},
    PE_DIM_PARAMETER(2, 2, "number of channels of all axes together"),
    PE_BASE_PARAMETER,
    {.name = "layout",
     .type = PE_CHOICE,
     .default_text = "interleaved",
     .choices = LAYOUTS,
     .help = "channels of one axis; interleaved: sin, cos, sin, cos …; concat: all sines, then "
             "all cosines"},
    {.name = "split",
     .type = PE_CHOICE,
     .default_text = "equal",
     .choices = SPLITS,
     .help =
         "channels of each axis; equal: the least even number that is at least dim/3, and "
         "what exceeds dim is left out at the end; quarter: dim/4 for the depth and 3·dim/8 "
         "for each of height and width"},
    {.name = "axis_order",
     .type = PE_CHOICE,
     .default_text = "depth_height_width",
     .choices = AXIS_ORDERS,
     .help = "which axis has the first channels, which the next and which the last"},
    {.name = "shape",
     .type = PE_CHOICE,
     .default_text = "dhwc",
     .choices = SHAPES,
     .help =
         "dhwc: [depth, height, width, dim]; dnc: [depth, height * width, dim]; nc: [cells, "
         "dim]"},
    {.name = "spatial_interpolation_scale",
     INTERPOLATION,
     .help = "positions of height and width are divided by it"},
    {.name = "temporal_interpolation_scale",
     INTERPOLATION,
     .help = "positions of the depth are divided by it"},
};

static const pe_preset PRESETS[] = {
    {"tatp22", "PositionalEncoding3D of the package positional-encodings", {NULL}},
    {"cogvideox",
     "CogVideoX, as diffusers' get_3d_sincos_pos_embed computes it",
     {"split", "quarter", "layout", "concat", "axis_order", "depth_width_height", "shape",
      "dnc", "spatial_interpolation_scale", "1.875", NULL}},
    {"prithvi",
     "Prithvi-EO's get_3d_sincos_pos_embed, without its class token",
     {"split", "quarter", "layout", "concat", "axis_order", "width_height_depth", "shape", "nc",
      NULL}},
};

static const pe_tensor_help TENSORS[] = {{"encoding",
                                          "[depth, height, width, dim], [depth, height * "
                                          "width, dim] or [depth * height * width, dim]",
                                          "sines and cosines of the place on each axis"}};

static void plan(const pe_values *values, pe_plan *ret_plan, pe_error *reterr)
{
    uint64_t depth = (uint64_t)pe_integer(values, "depth");
    uint64_t height = (uint64_t)pe_integer(values, "height");
    uint64_t width = (uint64_t)pe_integer(values, "width");
    uint64_t dim = (uint64_t)pe_integer(values, "dim");
    int shape = pe_choice(values, "shape"), split = pe_choice(values, "split");
    pe_dtype dtype = pe_requested_dtype(values);
    char given[PE_PRINT_MAX];
    pe_print_number(given, (double)dim);
    if (split == QUARTER && dim % 16 != 0)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "dim", given,
                     "a multiple of 16 with split=quarter, so that every axis has pairs");
    if (split == EQUAL && pe_choice(values, "layout") == CONCAT && dim % 6 != 0)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "dim", given,
                     "a multiple of 6 with split=equal and layout=concat, since only "
                     "interleaved channels can be left out at the end");
    if (shape == DHWC)
        pe_plan_add(ret_plan, "encoding", dtype, 4, (uint64_t[]){depth, height, width, dim});
    else if (shape == DNC)
        pe_plan_add(ret_plan, "encoding", dtype, 3, (uint64_t[]){depth, height * width, dim});
    else
        pe_plan_add(ret_plan, "encoding", dtype, 2, (uint64_t[]){depth * height * width, dim});
    pe_plan_rows(ret_plan, shape == DHWC ? 3 : shape == DNC ? 2 : 1);
    pe_plan_keep(ret_plan, ((double)depth + (double)height + (double)width) * (double)dim,
                 PE_LATTICE_TABLE_BYTES);
}

/* The channels that an axis would have without a limit. */
static size_t channels_of(const pe_values *values, int axis)
{
    size_t dim = (size_t)pe_integer(values, "dim");
    if (pe_choice(values, "split") == EQUAL)
        return (dim + 5) / 6 * 2;
    return axis == DEPTH ? dim / 4 : 3 * dim / 8;
}

/* Set an axis whose channels begin at column `first`. */
static bool set_axis(const pe_values *values, int axis, size_t first, pe_dtype dtype,
                     pe_lattice_axis *ret_axis)
{
    static const char *const EXTENTS[] = {"depth", "height", "width"};
    static const char *const SCALES[] = {"temporal_interpolation_scale",
                                         "spatial_interpolation_scale",
                                         "spatial_interpolation_scale"};
    size_t channels = channels_of(values, axis), dim = (size_t)pe_integer(values, "dim");
    size_t rest = dim > first ? dim - first : 0, columns = channels < rest ? channels : rest;
    const pe_axis rule = {.count = channels / 2,
                          .base = pe_real(values, "base"),
                          .numerator = 2,
                          .denominator = channels,
                          .interpolation = pe_real(values, SCALES[axis])};
    bool interleaved = pe_choice(values, "layout") == INTERLEAVED;
    *ret_axis = (pe_lattice_axis){
        .places = (size_t)pe_integer(values, EXTENTS[axis]),
        .wave = {.layout = interleaved ? PE_WAVE_INTERLEAVED : PE_WAVE_CONCAT,
                 .columns = columns,
                 .row_columns = columns,
                 .amplitude = 1,
                 .dtype = dtype},
        .sines = first,
        .cosines = first + channels / 2,
        .stride = 1,
    };
    return pe_axis_set_wave(&rule, ret_axis->places, &ret_axis->wave);
}

static void *prepare(const pe_values *values, const pe_plan *plan, const pe_runner *runner,
                     pe_error *reterr)
{
    (void)runner, (void)reterr;
    const int *order = ORDERS[pe_choice(values, "axis_order")];
    pe_lattice *lattice = calloc(1, sizeof *lattice);
    size_t first = 0;
    bool good = lattice != NULL;
    for (int part = 0; good && part < AXES; part++) {
        int axis = order[part];
        good = set_axis(values, axis, first, plan->tensors[0].dtype, &lattice->axes[axis]);
        first += channels_of(values, axis);
    }
    if (!lattice)
        return NULL;
    lattice->axis_count = AXES;
    lattice->columns = (size_t)pe_integer(values, "dim");
    lattice->dtype = plan->tensors[0].dtype;
    if (good && pe_lattice_prepare(lattice))
        return lattice;
    pe_lattice_free(lattice);
    return NULL;
}

static void fill(const pe_values *values, const pe_plan *plan, const void *state,
                 pe_window window, void *dst)
{
    (void)values, (void)plan;
    pe_lattice_fill(state, window.first, window.rows, dst);
}

static bool has_tables(const pe_values *values, const pe_plan *plan, double *ret_entries)
{
    *ret_entries = (double)channels_of(values, DEPTH) * pe_real(values, "depth") +
                   (double)channels_of(values, WIDTH) *
                       (pe_real(values, "width") + pe_real(values, "height"));
    return pe_lattice_has_tables(*ret_entries, plan->tensors[0].dtype);
}

static double price(const pe_values *values, const pe_plan *plan)
{
    double entries, frequencies = 60 * pe_real(values, "dim");
    return frequencies + (has_tables(values, plan, &entries) ? 2 * entries : 0);
}

static double element_price(const pe_values *values, const pe_plan *plan, size_t tensor)
{
    (void)tensor;
    double entries;
    return has_tables(values, plan, &entries) ? 3 : 15;
}

const pe_scheme pe_scheme_sinusoidal_3d = {
    .info =
        {
            .name = "sinusoidal_3d",
            .title = "Sinusoidal encoding of a video or volume",
            .summary = "Frame, row and column of a cell each have a part of the channels, as a "
                       "sinusoidal encoding of that width.",
            .family = "grid",
            .formula = "an axis of m channels: sin(p * w_i), cos(p * w_i), w_i = base^(-2i/m), "
                       "i = 0 … m/2-1, p = place on the axis / its interpolation scale",
            .convention = "equal parts, in the order of the axes, channels last; the preset "
                          "cogvideox has dim/4 for the frame, then width before height",
            .reference = "arXiv:1706.03762 per axis; arXiv:2408.06072 (CogVideoX)",
            .example = "depth=2&height=2&width=3&dim=16",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(preset, PRESETS),
            PE_LIST(tensor, TENSORS),
        },
    .plan = plan,
    .prepare = prepare,
    .fill = fill,
    .release = pe_lattice_free,
    .price = price,
    .element_price = element_price,
    PE_APPLIES(PE_ADDITION("dhwc:depth,height,width,dim|dnc:depth,cells,dim|nc:cells,dim")),
    .streamable = true,
};
