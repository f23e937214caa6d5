/* Random Fourier features: points times a trained or random matrix, as turns. */
#include "trained/projection.h"
#include "trained/trained.h"

#include <math.h>

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
     .unless = "set",
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

typedef struct random_fourier {
    pe_projection projection; /* its matrix and turns are prepared */
    pe_trained matrix;
    double element_price; /* of the matrix */
    bool reversed;        /* its first row multiplies the last axis */
} random_fourier;

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    random_fourier *state = ret_state;
    pe_points points = pe_points_read(values, reterr);
    pe_points_settle(&points, plan);
    const pe_weights weights = pe_weights_read(values);
    if (reterr->count > 0 ||
        !pe_trained_check(&weights, "matrix", 2, (uint64_t[]){points.axes, 0}, reterr))
        return;
    const size_t features = (size_t)pe_get_integer(values, "features");
    const pe_distribution distribution = {.initialiser = PE_NORMAL,
                                          .std = weights.set ? 1 : pe_get_real(values, "std")};
    *state = (random_fourier){
        .projection = {.points = points,
                       .from_unit = pe_get_choice(values, "coordinate_range") == FROM_UNIT,
                       .count = features,
                       .dtype = weights.dtype},
        .matrix = pe_trained_find(&weights, "matrix", features, &distribution),
        .element_price = pe_trained_price(&weights, &distribution),
        .reversed = !points.coordinates && pe_get_choice(values, "axis_order") == LAST_TO_FIRST,
    };
    if (features > 131072) /* those of a stored matrix are not checked by their range */
        pe_error_add(reterr, PE_OUT_OF_RANGE, "set", "",
                     "a set whose matrix has at most 131072 columns");
    pe_plan_add(plan, "encoding", weights.dtype, 2, (uint64_t[]){points.count, 2 * features});
    pe_plan_price(plan, points.coordinates ? 200 : weights.dtype == PE_F64 ? 60 : 12);
    plan->price = (state->element_price + 60) * (double)features * PE_POINT_AXES;
}

/* Read or draw the matrix, in the order of the axes, and check its elements. */
static void read_matrix(random_fourier *state, pe_pace *pace)
{
    enum { AT_ONCE = 4096 };
    const pe_projection *projection = &state->projection;
    const size_t axes = projection->points.axes, columns = projection->count;
    for (size_t a = 0; a < axes; a++)
        for (size_t i = 0; i < columns; i += AT_ONCE) {
            size_t count = columns - i < AT_ONCE ? columns - i : AT_ONCE;
            double *to =
                projection->matrix + (state->reversed ? axes - 1 - a : a) * columns + i;
            if (!pe_pace_may_continue(pace, state->element_price * (double)count))
                return;
            pe_trained_row(&state->matrix, a, i, count, to);
            for (size_t j = 0; j < count; j++)
                if (to[j] != 0 &&
                    !(fabs(to[j]) >= PE_PROJECTION_MIN && fabs(to[j]) <= PE_PROJECTION_MAX)) {
                    pe_error_add(pace->reterr, PE_OUT_OF_RANGE, "set", "",
                                 "a set whose matrix has elements from 2^-100 to 2^30 in "
                                 "magnitude, or 0");
                    return;
                }
        }
}

static bool prepare(void *context, pe_pace *pace)
{
    random_fourier *state = context;
    pe_projection *projection = &state->projection;
    projection->matrix =
        pe_keep(pace, projection->points.axes * projection->count, sizeof *projection->matrix);
    if (!projection->matrix)
        return false;
    read_matrix(state, pace);
    return pace->reterr->status == PE_OK && pe_projection_prepare(projection, pace);
}

static void fill(const void *state, pe_window window, void *dst)
{
    pe_projection_write(state, window.first, window.rows, dst);
}

const pe_scheme pe_scheme_random_fourier = {
    .info =
        {
            .name = "random_fourier",
            .title = "Random Fourier features",
            .summary = "Sines and cosines of a point's coordinates times a Gaussian matrix. "
                       "Without a set, the matrix is random, drawn from seed.",
            .family = "grid",
            .keywords = "NeRF, SAM, Segment Anything, Gaussian, tancik, coordinates, timestep, "
                        "diffusion",
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
    PE_HOOKS(random_fourier),
    .errors = PE_ERRORS_OF_SUMS,
};
