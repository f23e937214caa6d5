/* Rotary tables of grids: each axis turns columns of its own. */
#include "waves/axial.h"
#include "waves/axial_request.h"
#include "waves/axis_columns.h"
#include "waves/presets.h"

#include <string.h>

#define SIZE_MAX_CELLS 16777216 /* along one axis */

static const char *const SPLITS[] = {"equal", "rounded_down", "rest_to_first", "eighth_first",
                                     NULL};
static const char *const LADDERS[] = {"by_axis", "split", NULL};
static const char *const AXIS_ORDERS[] = {"as_sizes", "reversed", NULL};
enum axis_order { AS_SIZES, REVERSED };
static const char *const ARRANGEMENTS[] = {"blocks", "alternating", NULL};
static const char *const COORDINATE_TYPES[] = {"index", "centres", "listed", NULL};
enum coordinate_type { INDEX, CENTRES, LISTED };
static const char *const NORMALIZATIONS[] = {"separate", "max", "min", NULL};
enum normalization { SEPARATE, LONGEST, SHORTEST };
static const char *const ROW_ORDERS[] = {"row_major", "merge_blocks", "zipped", NULL};
static const char *const LAYOUTS[] = {"half", "interleaved", "half_by_axis", NULL};
static const char *const TABLES[] = {"half_width", "full", NULL};

#define REQUIRED(type)      .choice = (type), .required = true
#define OPTIONAL(type)      .choice = (type)
#define DEFAULT(type, text) .choice = (type), .default_text = (text)
#define CASES(name, ...)    static const pe_case name[] = {__VA_ARGS__, {.choice = NULL}}

CASES(FIRST_INDEX, {DEFAULT("index", "0")});
CASES(REFERENCE, {OPTIONAL("index")});
CASES(NORMALIZE, {DEFAULT("centres", "separate")});
CASES(COORDINATES, {REQUIRED("listed")});
CASES(MERGE_SIZE, {DEFAULT("merge_blocks", "2")});

#define CHOICE(its_choices, first)                                                             \
    .type = PE_CHOICE, .choices = (its_choices), .default_text = (first)
#define ROWS .type = PE_INTEGER, .maximum = 16777216, .default_text = "0", .unit = "rows"

static const pe_parameter PARAMETERS[] = {
    {.name = "sizes",
     .type = PE_INTEGER_LIST,
     .required = true,
     .minimum = 1,
     .maximum = SIZE_MAX_CELLS,
     .unit = "cells",
     .counts_rows = true,
     .help = "cells along each of 1 to 4 axes, the outermost first"},
    PE_DIM_PARAMETER(2, 2, "number of columns of a head"),
    {.name = "widths",
     .type = PE_INTEGER_LIST,
     .minimum = 0,
     .maximum = PE_DIM_MAX,
     .unit = "columns",
     .help = "columns of each axis, in the order of sizes, instead of split; the last columns "
             "of dim that are left do not turn"},
    {.name = "split",
     CHOICE(SPLITS, "equal"),
     .unless = "widths",
     .help = "columns of each axis; equal: dim/axes; rounded_down: the largest even number up "
             "to dim/axes, and the last columns do not turn; rest_to_first: the same, and the "
             "first axis has the others, too; eighth_first: dim/8 for the first axis, equal "
             "parts for the others"},
    {.name = "ladder",
     CHOICE(LADDERS, "by_axis"),
     .help = "frequencies; by_axis: each axis has a ladder for its own columns; split: one "
             "ladder for all columns, of which the axes take one frequency each in turn"},
    {.name = "rope_theta",
     .type = PE_REAL,
     .default_text = "10000",
     .minimum = 1,
     .maximum = 1e18,
     .help = "base of the geometric frequencies"},
    {.name = "axis_order",
     CHOICE(AXIS_ORDERS, "as_sizes"),
     .help = "which axis has the first columns; as_sizes: the outermost; reversed: the "
             "innermost, as x before y"},
    {.name = "arrangement",
     CHOICE(ARRANGEMENTS, "blocks"),
     .help = "blocks: all pairs of one axis, then those of the next; alternating: one pair of "
             "each axis in turn"},
    {.name = "coordinate_type",
     CHOICE(COORDINATE_TYPES, "index"),
     .help = "index: cells are counted from first_index; centres: from -1 to 1, and angles "
             "are 2π times as large; listed: given as coordinates"},
    {.name = "first_index",
     .type = PE_REAL_LIST,
     .one_for_all = true,
     .when = "coordinate_type",
     .cases = FIRST_INDEX,
     .minimum = -SIZE_MAX_CELLS,
     .maximum = SIZE_MAX_CELLS,
     .unit = "cells",
     .help = "coordinate of the first cell, one for all axes or one for each"},
    {.name = "reference_sizes",
     .type = PE_INTEGER_LIST,
     .when = "coordinate_type",
     .cases = REFERENCE,
     .minimum = 1,
     .maximum = 65536,
     .unit = "cells",
     .help = "sizes of the grid that the model was trained with: coordinates are multiplied by "
             "reference size / size"},
    {.name = "normalize",
     CHOICE(NORMALIZATIONS, NULL),
     .when = "coordinate_type",
     .cases = NORMALIZE,
     .help = "the size N in the centre (2k + 1)/N - 1 of cell k; separate: that of its axis; "
             "max, min: that of the longest, the shortest axis"},
    {.name = "coordinates",
     .type = PE_REAL_LIST,
     .when = "coordinate_type",
     .cases = COORDINATES,
     .minimum = -PE_POSITION_MAX,
     .maximum = PE_POSITION_MAX,
     .help = "coordinates of the cells along the first axis, then along the second …"},
    {.name = "row_order",
     CHOICE(ROW_ORDERS, "row_major"),
     .help = "row_major: the last axis varies fastest; merge_blocks: squares of merge_size "
             "cells of the last two axes, each row by row; zipped: no grid, row r has "
             "coordinate r of every axis"},
    {.name = "merge_size",
     .type = PE_INTEGER,
     .when = "row_order",
     .cases = MERGE_SIZE,
     .minimum = 1,
     .maximum = 65536,
     .unit = "cells",
     .help = "side of the squares"},
    {.name = "repeats",
     .type = PE_INTEGER,
     .default_text = "1",
     .minimum = 1,
     .maximum = 65536,
     .help = "how many times the rows of the grid come, as for frames that turn alike"},
    {.name = "prefix", ROWS, .help = "rows of angle 0 before the grid, as for class tokens"},
    {.name = "suffix", ROWS, .help = "rows of angle 0 after the grid"},
    {.name = "layout",
     CHOICE(LAYOUTS, "half"),
     .help =
         "the columns of pair p in a full table; half: p and dim/2 + p; interleaved: 2p and "
         "2p + 1; half_by_axis: as half, within the columns of each axis"},
    {.name = "table",
     CHOICE(TABLES, "half_width"),
     .help = "half_width: one column for each pair; full: dim columns, so that each value "
             "occurs twice"},
};

static const pe_tensor_help TENSORS[] = {
    {"cos", "[n, dim/2] or [n, dim]", "cosines of the angles"},
    {"sin", "[n, dim/2] or [n, dim]", "sines of the angles"},
    {"inv_freq", "[dim/2]", "w_p of each pair; 0 for those that do not turn"},
    {"coordinates", "[n, axes]", "the coordinates of each row; 0 where its angles are 0"},
    {"axis", "[dim/2]", "the axis that turns each pair, an index into sizes; -1: none"},
};
enum tensor { COS, SIN, INV_FREQ, COORDINATES_OF_ROWS, AXIS };

/* ---- the request ---- */

typedef struct axial_state {
    pe_axial axial; /* its angles are divided by what divisors and times say */
    pe_axes axes;
    pe_axis_columns columns;
    bool centres;
    uint64_t divisors[PE_AXES_MAX], times[PE_AXES_MAX]; /* of the frequencies of an axis */

    /* prepared */
    pe_wide *ladder; /* inv_freq, in turns: one radian and less per unit of a coordinate */
} axial_state;

/* The size by which the centres of an axis are normalised. */
static uint64_t read_extent(enum normalization normalization, const pe_axial_request *request,
                            size_t axis)
{
    uint64_t extent = request->sizes[axis];
    for (size_t a = 0; a < request->axes && normalization != SEPARATE; a++)
        if ((normalization == LONGEST) == (request->sizes[a] > extent))
            extent = request->sizes[a];
    return extent;
}

/* Read an axis's coordinates, and by what its frequencies are multiplied and divided. */
static void read_coordinates(const pe_values *values, const pe_axial_request *request,
                             size_t axis, axial_state *state)
{
    const uint64_t size = request->sizes[axis];
    pe_coordinates *own = &state->axial.coordinates[axis];
    uint64_t *divisor = &state->divisors[axis], *times = &state->times[axis];
    *own =
        (pe_coordinates){.cells = {.count = size, .step = 1}, .numerator = 1, .denominator = 1};
    *divisor = *times = 1;
    switch ((enum coordinate_type)pe_get_choice(values, "coordinate_type")) {
    case INDEX:
        own->cells.offset = request->first[axis];
        own->turned = own->cells;
        if (!pe_is_present(values, "reference_sizes"))
            break;
        own->numerator = pe_value_find(values, "reference_sizes")->items[axis];
        own->denominator = (double)size;
        *times = (uint64_t)own->numerator;
        for (*divisor = size; *divisor < *times; *divisor *= 2) {
            own->turned.offset *= 2; /* so that a frequency stays below one turn */
            own->turned.step *= 2;
        }
        break;
    case CENTRES: /* half a turn and less for each half of (2k + 1)/N - 1 */
        *divisor =
            read_extent((enum normalization)pe_get_choice(values, "normalize"), request, axis);
        own->denominator = (double)*divisor;
        own->cells.offset = 1 - own->denominator;
        own->cells.step = 2;
        own->turned = own->cells;
        own->turned.offset *= 2;
        own->turned.step *= 2;
        break;
    case LISTED:
        own->cells.list = pe_value_find(values, "coordinates")->items;
        for (size_t a = 0; a < axis; a++)
            own->cells.list += request->sizes[a];
        own->turned = own->cells;
        break;
    }
}

/* Read what a request asks for that keeps the rules. */
static axial_state read_state(const pe_values *values, const pe_axial_request *request)
{
    static const pe_pair_layout LAYOUTS_OF[] = {PE_PAIRS_IN_HALVES, PE_PAIRS_ADJACENT,
                                                PE_PAIRS_IN_HALVES_OF_AXES};
    const int order = pe_get_choice(values, "row_order");
    const bool full = pe_get_choice(values, "table") == PE_TABLE_FULL;
    const bool merged = order == PE_ROWS_MERGE_BLOCKS;
    axial_state state = {
        .axial = {.cells = request->cells,
                  .prefix = (uint64_t)pe_get_integer(values, "prefix"),
                  .suffix = (uint64_t)pe_get_integer(values, "suffix"),
                  .repeats = (uint64_t)pe_get_integer(values, "repeats"),
                  .zipped = order == PE_ROWS_ZIPPED,
                  .located = true,
                  .merge = merged ? (uint64_t)pe_get_integer(values, "merge_size") : 1},
        .axes = {.count = request->axes,
                 .pairs = request->pairs,
                 .layout = full ? LAYOUTS_OF[pe_get_choice(values, "layout")] : PE_PAIRS_ONCE,
                 .amplitude = {1, 0},
                 .dtype = pe_requested_dtype(values)},
        .columns = {.reversed = pe_get_choice(values, "axis_order") == REVERSED,
                    .alternating = pe_get_choice(values, "arrangement") == PE_PAIRS_ALTERNATING,
                    .split = pe_get_choice(values, "ladder") == PE_LADDER_SPLIT,
                    .theta = pe_get_real(values, "rope_theta")},
        .centres = pe_get_choice(values, "coordinate_type") == CENTRES,
    };
    memcpy(state.columns.widths, request->widths, sizeof request->widths);
    memcpy(state.axial.sizes, request->sizes, sizeof request->sizes);
    for (size_t a = 0; a < request->axes; a++)
        read_coordinates(values, request, a, &state);
    return state;
}

static void plan_tensors(axial_state *state, const pe_axial_request *request, pe_plan *plan)
{
    const pe_dtype dtype = state->axes.dtype;
    const uint64_t pairs = request->pairs;
    const uint64_t columns = state->axes.layout == PE_PAIRS_ONCE ? pairs : 2 * pairs;
    const double bytes =
        pe_axial_bytes(columns * pe_dtype_size(dtype), request->sizes, request->axes);
    const bool kept = state->axial.kept = bytes <= PE_AXIAL_TABLE_BYTES;
    double cells = 0;
    pe_plan_add(plan, "cos", dtype, 2, (uint64_t[]){request->rows, columns});
    pe_plan_price(plan, kept ? 2 : 20);
    pe_plan_add(plan, "sin", dtype, 2, (uint64_t[]){request->rows, columns});
    pe_plan_price(plan, kept ? 2 : 20);
    pe_plan_add(plan, "inv_freq", dtype, 1, &pairs);
    pe_plan_add(plan, "coordinates", dtype, 2, (uint64_t[]){request->rows, request->axes});
    pe_plan_price(plan, 30);
    pe_plan_add(plan, "axis", PE_I32, 1, &pairs);
    for (size_t a = 0; a < request->axes; a++)
        cells += (double)request->sizes[a];
    pe_plan_keep(plan, 4 * cells * (double)columns, PE_AXIAL_TABLE_BYTES);
    plan->price = kept ? PE_AXIAL_BYTE_PRICE * bytes : 0;
}

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    const size_t before = reterr->count;
    const pe_axial_request request = pe_axial_request_read(values);
    axial_state *state = ret_state;
    pe_axial_request_check(values, &request, reterr);
    if (reterr->count > before)
        return;
    *state = read_state(values, &request);
    plan_tensors(state, &request, plan);
    plan->price += 60 * pe_get_real(values, "dim");
}

/* ---- tables ---- */

/* Set the frequencies of the pairs, and inv_freq. False if memory ran out. */
static bool set_frequencies(axial_state *state, pe_pace *pace)
{
    static const pe_wide half_turn = {{0, 0, 0, 1ULL << 63}};
    pe_axes *axes = &state->axes;
    uint64_t whole;
    if (!pe_axis_columns_ladders(&state->columns, axes, pe_wide_radian, state->ladder, pace))
        return false;
    if (state->centres &&
        !pe_axis_columns_ladders(&state->columns, axes, half_turn, axes->frequencies, pace))
        return false;
    if (!state->centres)
        memcpy(axes->frequencies, state->ladder, axes->pairs * sizeof *axes->frequencies);
    for (size_t p = 0; p < axes->pairs; p++) {
        int32_t axis = axes->axis_of_pair[p];
        pe_wide *own = &axes->frequencies[p];
        if (axis >= 0 && state->divisors[axis] != state->times[axis])
            *own = pe_wide_mul_with_carry(pe_wide_div_small(*own, state->divisors[axis]),
                                          state->times[axis], &whole);
    }
    return true;
}

static bool prepare(void *context, pe_pace *pace)
{
    axial_state *state = context;
    pe_axes *axes = &state->axes;
    state->axial.axes = axes;
    state->ladder = pe_keep(pace, axes->pairs, sizeof *state->ladder);
    if (!pe_axes_init(axes, pace) || !state->ladder)
        return false;
    pe_axis_columns_assign(&state->columns, axes);
    if (!set_frequencies(state, pace))
        return false;
    pe_axes_ready(axes);
    return pe_axial_prepare(&state->axial, pace);
}

static void fill(const void *context, pe_window window, void *dst)
{
    const axial_state *state = context;
    switch ((enum tensor)window.tensor) {
    case COS:
    case SIN:
        pe_axial_fill(&state->axial, window.tensor == COS, window.first, window.rows, dst);
        return;
    case INV_FREQ:
        pe_wave_write_radians(state->axes.dtype, state->ladder + window.first, window.rows,
                              dst);
        return;
    case COORDINATES_OF_ROWS:
        pe_axial_fill_coordinates(&state->axial, window.first, window.rows, dst);
        return;
    case AXIS:
        memcpy(dst, state->axes.axis_of_pair + window.first, window.rows * sizeof(int32_t));
        return;
    }
}

static const char *const APPLIED_OTHERWISE[] = {
    "vjepa2",
    "its model turns the two columns of a pair by different angles, which is no rotation; "
    "layout=half_by_axis without a preset turns the halves of each axis",
    NULL};

const pe_scheme pe_scheme_axial_rope = {
    .info =
        {
            .name = "axial_rope",
            .title = "Rotary position embedding of a grid",
            .summary = "Cosines and sines that rotate queries and keys by the coordinates of "
                       "picture or video patches: each axis turns columns of its own.",
            .family = "rotary",
            .keywords = "RoPE 2d, rope 2d, vision transformer, EVA-02, Llama 4, Pixtral, SAM "
                        "2, DINOv3, Qwen2-VL, picture, image, patches, grid",
            .formula = "cos[r, p] = cos(x * w_p), sin[r, p] = sin(x * w_p), x = coordinate of "
                       "row r on the axis of pair p; w_p = rope_theta^(-2i/w), i = 0 … w/2-1 "
                       "for the w columns of an axis; coordinate_type=centres: the angle is 2π "
                       "times as large",
            .convention =
                "frequencies start anew for each axis, half-split columns; the presets "
                "are as Hugging Face's transformers and diffusers and timm compute",
            .reference = "arXiv:2104.09864 per axis; arXiv:2403.13298 (axial), "
                         "arXiv:2409.12191 (Qwen2-VL), arXiv:2508.10104 (DINOv3)",
            .example = "sizes=4,4&dim=16",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(preset, pe_axial_presets),
            PE_LIST(tensor, TENSORS),
        },
    PE_HOOKS(axial_state),
    PE_APPLIES(PE_ROTATION("query", "cos", "sin"), PE_ROTATION("key", "cos", "sin")),
    .applied_otherwise = APPLIED_OTHERWISE,
    .errors = PE_ERRORS_OF_ANGLES,
};
