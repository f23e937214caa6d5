/* Random Fourier features: points times a trained or random matrix, as turns. */
#include "trained/projection.h"
#include "trained/trained.h"

#include <math.h>
#include <stdlib.h>

static const char *const RANGES[] = {"symmetric", "unit", NULL};
enum range { SYMMETRIC, FROM_UNIT };
static const char *const AXIS_ORDERS[] = {"first_to_last", "last_to_first", NULL};
enum axis_order { FIRST_TO_LAST, LAST_TO_FIRST };

static const pe_parameter PARAMETERS[] = {
    PE_POINT_PARAMETERS("centers"),
    {.name = "coordinate_range",
     .type = PE_CHOICE,
     .default_text = "symmetric",
     .choices = RANGES,
     .help =
         "what coordinates are; symmetric: from -1 to 1, taken as they are; unit: from 0 to "
         "1, x stands for 2x - 1. Those of sizes follow from grid"},
    {.name = "axis_order",
     .type = PE_CHOICE,
     .default_text = "first_to_last",
     .choices = AXIS_ORDERS,
     .help = "which axis of sizes the first row of the matrix multiplies; last_to_first: the "
             "last one, x where sizes is height,width"},
    {.name = "features",
     .type = PE_INTEGER,
     .required = true,
     .stored = "matrix",
     .stored_axis = 1,
     .minimum = 1,
     .maximum = 131072,
     .unit = "columns",
     .help =
         "columns of the matrix, half of those of the encoding; a stored matrix has its own"},
    {.name = "std",
     .type = PE_REAL,
     .unless = "parameters",
     .default_text = "1",
     .minimum = 1e-6,
     .maximum = 1e6,
     .help = "standard deviation of the random matrix, in turns"},
    PE_TRAINED_PARAMETERS("matrix [axes, features], in turns"),
};

static const pe_preset PRESETS[] = {
    {"sam",
     "Segment Anything: its prompts' coordinates divided by the picture's size, and its grid",
     {"coordinate_range", "unit", "axis_order", "last_to_first", NULL}},
};

static const pe_tensor_help TENSORS[] = {
    {"encoding", "[points, 2 * features]",
     "sines of 2π times coordinates times matrix, then the cosines"}};

static pe_recipe recipe_of(const pe_values *values)
{
    return (pe_recipe){.initialiser = PE_NORMAL,
                       .std = pe_values_set(values) ? 1 : pe_real(values, "std")};
}

static void plan(const pe_values *values, pe_plan *ret_plan, pe_error *reterr)
{
    pe_points points = pe_points_read(values, reterr);
    if (reterr->count > 0 ||
        !pe_trained_check(values, "matrix", 2, (uint64_t[]){points.axes, 0}, reterr))
        return;
    uint64_t features = (uint64_t)pe_integer(values, "features");
    if (features > 131072) /* those of a stored matrix are not checked by their range */
        pe_error_add(reterr, PE_OUT_OF_RANGE, "parameters", "",
                     "a set whose matrix has at most 131072 columns");
    pe_plan_add(ret_plan, "encoding", pe_requested_dtype(values), 2,
                (uint64_t[]){points.count, 2 * features});
}

/* Read or draw the matrix, in the order of the axes, and check its elements. */
static void read_matrix(const pe_values *values, pe_projection *state, pe_pace *pace)
{
    enum { AT_ONCE = 4096 };
    const pe_recipe recipe = recipe_of(values);
    const pe_trained matrix = pe_trained_of(values, "matrix", state->count, &recipe);
    const size_t axes = state->points.axes;
    bool reversed =
        !state->points.coordinates && pe_choice(values, "axis_order") == LAST_TO_FIRST;
    for (size_t a = 0; a < axes; a++)
        for (size_t i = 0; i < state->count; i += AT_ONCE) {
            size_t count = state->count - i < AT_ONCE ? state->count - i : AT_ONCE;
            double *to = state->matrix + (reversed ? axes - 1 - a : a) * state->count + i;
            if (!pe_pace_go_on(pace, pe_trained_price(values, &recipe) * (double)count))
                return;
            pe_trained_row(&matrix, a, i, count, to);
            for (size_t j = 0; j < count; j++)
                if (to[j] != 0 &&
                    !(fabs(to[j]) >= PE_PROJECTION_MIN && fabs(to[j]) <= PE_PROJECTION_MAX)) {
                    pe_error_add(pace->reterr, PE_OUT_OF_RANGE, "parameters", "",
                                 "a set whose matrix has elements from 2^-100 to 2^30 in "
                                 "magnitude, or 0");
                    return;
                }
        }
}

static void *prepare(const pe_values *values, const pe_plan *plan, const pe_runner *runner,
                     pe_error *reterr)
{
    pe_pace pace = pe_pace_of(values, plan, runner, reterr);
    pe_projection *state = calloc(1, sizeof *state);
    if (!state)
        return NULL;
    state->points = pe_points_read(values, reterr);
    state->from_unit = pe_choice(values, "coordinate_range") == FROM_UNIT;
    state->count = (size_t)plan->tensors[0].shape[1] / 2;
    state->dtype = plan->tensors[0].dtype;
    state->matrix = malloc(state->points.axes * state->count * sizeof *state->matrix);
    if (state->matrix) {
        read_matrix(values, state, &pace);
        if (reterr->status == PE_OK && pe_projection_prepare(state))
            return state;
    }
    pe_projection_free(state);
    return NULL;
}

static void fill(const pe_values *values, const pe_plan *plan, const void *state,
                 pe_window window, void *dst)
{
    (void)values, (void)plan;
    pe_projection_write(state, window.first, window.rows, dst);
}

static double price(const pe_values *values, const pe_plan *plan)
{
    const pe_recipe recipe = recipe_of(values);
    double elements = (double)plan->tensors[0].shape[1] / 2 * PE_POINT_AXES;
    return (pe_trained_price(values, &recipe) + 60) * elements;
}

static double element_price(const pe_values *values, const pe_plan *plan, size_t tensor)
{
    bool is_f64 = plan->tensors[tensor].dtype == PE_F64;
    return pe_is_present(values, "sizes") ? (is_f64 ? 60 : 12) : 200;
}

const pe_scheme pe_scheme_random_fourier = {
    .info =
        {
            .name = "random_fourier",
            .title = "Random Fourier features",
            .summary =
                "Sines and cosines of a point's coordinates times a Gaussian matrix. The "
                "matrix is random, drawn from seed, until parameters names an uploaded "
                "set.",
            .family = "grid",
            .formula = "sin(2π * p_j), cos(2π * p_j) with p_j = sum over a of x_a * "
                       "matrix[a, j] for the coordinates x of a point",
            .convention = "sines, then cosines; coordinates from -1 to 1; the preset sam is "
                          "Segment Anything's",
            .reference = "arXiv:2006.10739; arXiv:2304.02643 (Segment Anything)",
            .example = "sizes=2,3&features=4",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(preset, PRESETS),
            PE_LIST(tensor, TENSORS),
        },
    .plan = plan,
    .prepare = prepare,
    .fill = fill,
    .release = pe_projection_free,
    .price = price,
    .element_price = element_price,
    .streamable = true,
};
