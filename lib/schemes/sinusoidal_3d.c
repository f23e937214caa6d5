/* The sinusoidal encoding of a video or a volume: each axis has a part of the channels. */
#include "waves/axis.h"
#include "waves/lattice.h"

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
    PE_AXIS_FREQUENCIES_PARAMETER,
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
    {"simple_vit",
     "posemb_sincos_3d of vit-pytorch's simple_vit_3d, whose table ends in zeros unless dim is "
     "a "
     "multiple of 6",
     {"layout", "concat", "axis_order", "width_height_depth", "frequencies", "tensor2tensor",
      "shape", "nc", NULL}},
};

static const pe_tensor_help TENSORS[] = {{"encoding",
                                          "[depth, height, width, dim], [depth, height * "
                                          "width, dim] or [depth * height * width, dim]",
                                          "sines and cosines of the place on each axis"}};

typedef struct volume {
    pe_lattice lattice; /* its waves have no frequencies yet */
    pe_axis rules[AXES];
} volume;

static void plan_tensor(pe_lattice *lattice, enum shape shape, pe_plan *plan)
{
    const pe_lattice_axis *axes = lattice->axes;
    const uint64_t depth = axes[DEPTH].places, height = axes[HEIGHT].places;
    const uint64_t width = axes[WIDTH].places, dim = lattice->columns;
    if (shape == DHWC)
        pe_plan_add(plan, "encoding", lattice->dtype, 4,
                    (uint64_t[]){depth, height, width, dim});
    else if (shape == DNC)
        pe_plan_add(plan, "encoding", lattice->dtype, 3,
                    (uint64_t[]){depth, height * width, dim});
    else
        pe_plan_add(plan, "encoding", lattice->dtype, 2,
                    (uint64_t[]){depth * height * width, dim});
    pe_plan_rows(plan, shape == DHWC ? 3 : shape == DNC ? 2 : 1);
    plan->price = 60 * (double)dim;
    pe_lattice_plan(lattice, plan);
    pe_plan_price(plan, lattice->kept ? 2 : 15);
}

/* The channels that an axis would have without a limit. */
static size_t count_channels(size_t dim, bool equal, int axis)
{
    return equal ? (dim + 5) / 6 * 2 : axis == DEPTH ? dim / 4 : 3 * dim / 8;
}

/* Read an axis with so many channels, the first of which is column `first`. */
static void read_axis(const pe_values *values, int axis, size_t channels, size_t first,
                      volume *state)
{
    static const char *const EXTENTS[] = {"depth", "height", "width"};
    size_t dim = state->lattice.columns, rest = dim > first ? dim - first : 0;
    size_t columns = channels < rest ? channels : rest;
    bool interleaved = pe_get_choice(values, "layout") == INTERLEAVED;
    state->rules[axis] = (pe_axis){
        .count = channels / 2,
        .base = pe_get_real(values, "base"),
        .law = (pe_axis_law)pe_get_choice(values, "frequencies"),
        .interpolation = pe_get_real(values, axis == DEPTH ? "temporal_interpolation_scale"
                                                           : "spatial_interpolation_scale")};
    state->lattice.axes[axis] = (pe_lattice_axis){
        .places = (size_t)pe_get_integer(values, EXTENTS[axis]),
        .wave = {.layout = interleaved ? PE_WAVE_INTERLEAVED : PE_WAVE_CONCAT,
                 .columns = columns,
                 .row_columns = columns,
                 .amplitude = 1,
                 .dtype = state->lattice.dtype},
        .sines = first,
        .cosines = first + channels / 2,
        .stride = 1,
    };
}

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    volume *state = ret_state;
    const int *order = ORDERS[pe_get_choice(values, "axis_order")];
    bool equal = pe_get_choice(values, "split") == EQUAL;
    size_t dim = (size_t)pe_get_integer(values, "dim"), first = 0;
    state->lattice.axis_count = AXES;
    state->lattice.columns = dim;
    state->lattice.dtype = pe_requested_dtype(values);
    for (int part = 0; part < AXES; part++) {
        size_t channels = count_channels(dim, equal, order[part]);
        read_axis(values, order[part], channels, first, state);
        first += channels;
    }
    if (!equal && dim % 16 != 0)
        pe_refuse_value(values, "dim", reterr,
                        "a multiple of 16 with split=quarter, so that every axis has pairs");
    if (equal && pe_get_choice(values, "layout") == CONCAT && dim % 6 != 0)
        pe_refuse_value(values, "dim", reterr,
                        "a multiple of 6 with split=equal and layout=concat, since only "
                        "interleaved channels can be left out at the end");
    if (pe_get_choice(values, "frequencies") == PE_AXIS_TENSOR2TENSOR &&
        count_channels(dim, equal, DEPTH) < 4)
        pe_refuse_value(values, "dim", reterr,
                        "such that every axis has two frequencies, as base^(-i/(n-1)) needs, "
                        "with frequencies=tensor2tensor: at least 8, with split=quarter 16");
    plan_tensor(&state->lattice, (enum shape)pe_get_choice(values, "shape"), plan);
}

static bool prepare(void *context, pe_pace *pace)
{
    volume *state = context;
    pe_lattice_axis *axes = state->lattice.axes;
    for (size_t a = 0; a < AXES; a++)
        if (!pe_axis_set_wave(&state->rules[a], axes[a].places, &axes[a].wave, pace))
            return false;
    return pe_lattice_prepare(&state->lattice, pace);
}

static void fill(const void *state, pe_window window, void *dst)
{
    pe_lattice_fill(state, window.first, window.rows, dst);
}

const pe_scheme pe_scheme_sinusoidal_3d = {
    .info =
        {
            .name = "sinusoidal_3d",
            .title = "Sinusoidal encoding of a video or volume",
            .summary = "Frame, row and column of a cell each have a part of the channels, as a "
                       "sinusoidal encoding of that width.",
            .family = "grid",
            .keywords = "video, volume, VideoMAE, V-JEPA, CogVideoX, 3d, sincos",
            .formula = "an axis of m channels: sin(p * w_i), cos(p * w_i), w_i = base^(-2i/m), "
                       "with frequencies=tensor2tensor base^(-i/(m/2-1)), i = 0 … m/2-1, p = "
                       "place on the axis, divided by its "
                       "interpolation scale",
            .convention = "equal parts, in the order of the axes, channels last; the preset "
                          "cogvideox has dim/4 for the frame, then width before height",
            .reference = "arXiv:1706.03762 per axis; arXiv:2408.06072 (CogVideoX)",
            .example = "depth=2&height=2&width=3&dim=48",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(preset, PRESETS),
            PE_LIST(tensor, TENSORS),
        },
    PE_HOOKS(volume),
    PE_APPLIES(PE_ADDITION("dhwc:depth,height,width,dim|dnc:depth,cells,dim|nc:cells,dim")),
    .errors = PE_ERRORS_OF_ANGLES,
};
