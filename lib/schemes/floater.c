/* FLOATER: the positions are points of a dynamical system's path. The preparation integrates
 * the path and keeps the rounded rows, so that filling a window is a copy. */
#include "numerics/dtype.h"
#include "ode/runge_kutta.h"
#include "positions/positions.h"
#include "requests/parameters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const ACTIVATIONS[] = {"relu", "tanh", NULL}; /* as pe_activation */
static const char *const METHODS[] = {"dopri5", "rk4", NULL};    /* as pe_method */

static const pe_parameter PARAMETERS[] = {
    PE_POSITION_PARAMETERS,
    {.name = "dim",
     .type = PE_INTEGER,
     .required = true,
     .stored = "p0",
     .stored_axis = 0,
     .minimum = 1,
     .maximum = PE_DIM_MAX,
     .unit = "columns",
     .help = "number of columns; a stored p0 has its own"},
    {.name = "hidden",
     .type = PE_INTEGER,
     .stored = "w1",
     .stored_axis = 0,
     .default_of = "dim",
     .minimum = 1,
     .maximum = PE_DIM_MAX,
     .unit = "units",
     .help = "number of hidden units of the network; stored weights have their own"},
    {.name = "dt",
     .type = PE_REAL,
     .default_text = "0.01",
     .minimum = 1e-9,
     .maximum = 1e6,
     .help = "time between two positions"},
    {.name = "activation",
     .type = PE_CHOICE,
     .default_text = "relu",
     .choices = ACTIVATIONS,
     .help = "activation of the hidden units"},
    {.name = "method",
     .type = PE_CHOICE,
     .default_text = "dopri5",
     .choices = METHODS,
     .help = "dopri5: order 5, with steps chosen by rtol and atol that end where a relu begins "
             "or ends, and its continuous extension for positions between; rk4: the classic "
             "method of order 4 with fixed substeps, not the 3/8 rule that torchdiffeq calls "
             "rk4"},
    {.name = "rtol",
     .type = PE_REAL,
     .default_text = "2e-11",
     .minimum = 1e-15,
     .maximum = 1,
     .help =
         "relative error that dopri5 allows for a step; with the default the path of a "
         "drawn network is off by less than 1e-8 of its largest entry; rk4 does not use it"},
    {.name = "atol",
     .type = PE_REAL,
     .default_text = "1e-14",
     .minimum = 1e-30,
     .maximum = 1,
     .help = "absolute error that dopri5 allows in addition; rk4 does not use it"},
    {.name = "substeps",
     .type = PE_INTEGER,
     .default_text = "5",
     .minimum = 1,
     .maximum = 1000,
     .unit = "steps",
     .help = "number of steps of rk4 between two positions; dopri5 does not use it"},
    PE_TRAINED_PARAMETERS("p0 [dim], w1 [hidden, dim+1], b1 [hidden], w2 [dim, hidden+1], "
                          "b2 [dim]; the last column of w1 and w2 multiplies t"),
};

static const pe_tensor_help TENSORS[] = {{"encoding", "[n, dim]", "p(k * dt) for position k"}};

#define WEIGHTS_MAX 8388608 /* 64 MiB of doubles */

/* ---- the request ---- */

typedef struct floater {
    pe_positions positions;
    pe_weights weights;
    pe_flow flow; /* without network and state */
    pe_activation activation;
    size_t row_bytes;

    /* prepared */
    unsigned char *rows;
} floater;

/* Check that the set has all tensors, and that their shapes fit each other. */
static bool check_set(const pe_values *values, const pe_weights *weights, pe_error *reterr)
{
    if (!pe_trained_check(weights, "p0", 1, (const uint64_t[]){0}, reterr))
        return false;
    uint64_t dim = (uint64_t)pe_get_integer(values, "dim");
    if (!pe_trained_check(weights, "w1", 2, (const uint64_t[]){0, dim + 1}, reterr))
        return false;
    uint64_t hidden = (uint64_t)pe_get_integer(values, "hidden");
    return pe_trained_check(weights, "b1", 1, (const uint64_t[]){hidden}, reterr) &&
           pe_trained_check(weights, "w2", 2, (const uint64_t[]){dim, hidden + 1}, reterr) &&
           pe_trained_check(weights, "b2", 1, (const uint64_t[]){dim}, reterr);
}

/* Check that the path from position 0 to the last one has not too many steps. */
static void check_path(const floater *state, pe_error *reterr)
{
    const pe_flow *flow = &state->flow;
    double low, high, steps = flow->method == PE_RK4 ? flow->substeps : 1;
    char given[48];
    pe_positions_range(&state->positions, &low, &high);
    if (high * steps <= PE_FLOW_STEPS)
        return;
    snprintf(given, sizeof given, "last position %.0f", high);
    pe_error_add(reterr, PE_OUT_OF_RANGE, state->positions.list ? "positions" : "length", given,
                 "such that every position is at most %.0f, since the path from position 0 on "
                 "has at most %d steps",
                 floor(PE_FLOW_STEPS / steps), PE_FLOW_STEPS);
}

static uint64_t count_weights(const floater *state)
{
    return pe_network_weights(state->flow.dim, state->flow.hidden);
}

static void check_weights(const floater *state, pe_error *reterr)
{
    const unsigned long long dim = state->flow.dim, hidden = state->flow.hidden;
    char given[64];
    if (count_weights(state) <= WEIGHTS_MAX)
        return;
    snprintf(given, sizeof given, "%llu states, %llu hidden units", dim, hidden);
    pe_error_add(reterr, PE_TOO_LARGE, hidden > dim ? "hidden" : "dim", given,
                 "small enough for a network of at most %d weights, with layers padded to a "
                 "multiple of %d rows",
                 WEIGHTS_MAX, PE_MATRIX_LANES);
}

/* A position, in the order in which the path reaches them. */
typedef struct place {
    double position;
    uint64_t row; /* of the table */
} place;

#define STEP_PRICE 1000 /* besides the products */

/* Products of one derivative for each step: a step of dopri5 has six, of rk4 four. */
static double step_price(const floater *state)
{
    int stages = state->flow.method == PE_RK4 ? 4 : 6;
    return stages * (double)count_weights(state) + STEP_PRICE;
}

/* Steps of dopri5 that drawn networks take with the default tolerance in a unit of time. */
#define STEPS_OF_TIME 50

/* Steps from position to position, about as many for dopri5 as drawn networks take. */
static double row_steps(const pe_flow *flow)
{
    if (flow->method == PE_RK4)
        return flow->substeps;
    double steps = STEPS_OF_TIME * flow->dt;
    return fmin(fmax(steps, 1.0 / PE_FLOW_ROWS), PE_FLOW_ROW_STEPS);
}

static double estimate_price(const floater *state)
{
    const pe_distribution xavier = {.initialiser = PE_XAVIER_NORMAL};
    double low, high;
    pe_positions_range(&state->positions, &low, &high);
    return (double)count_weights(state) * pe_trained_price(&state->weights, &xavier) +
           high * row_steps(&state->flow) * step_price(state);
}

static void read(const pe_values *values, void *ret_state, pe_plan *plan, pe_error *reterr)
{
    size_t before = reterr->count;
    floater *state = ret_state;
    state->positions = pe_positions_read_natural(values, reterr);
    state->weights = pe_weights_read(values);
    if (!check_set(values, &state->weights, reterr) || reterr->count > before)
        return;
    state->flow = (pe_flow){.method = (pe_method)pe_get_choice(values, "method"),
                            .dt = pe_get_real(values, "dt"),
                            .rtol = pe_get_real(values, "rtol"),
                            .atol = pe_get_real(values, "atol"),
                            .substeps = (unsigned)pe_get_integer(values, "substeps"),
                            .dim = (size_t)pe_get_integer(values, "dim"),
                            .hidden = (size_t)pe_get_integer(values, "hidden")};
    state->activation = (pe_activation)pe_get_choice(values, "activation");
    state->row_bytes = state->flow.dim * pe_dtype_size(state->weights.dtype);
    check_weights(state, reterr);
    check_path(state, reterr);
    pe_plan_add(plan, "encoding", state->weights.dtype, 2,
                (uint64_t[]){state->positions.count, state->flow.dim});
    pe_plan_price(plan, 1); /* a copy */
    plan->state = plan->tensors[0].bytes + sizeof(place) * state->positions.count +
                  sizeof(double) * count_weights(state);
    plan->price = estimate_price(state);
}

/* ---- positions in ascending order, as the path reaches them ---- */

static int compare_places(const void *a, const void *b)
{
    const place *first = a, *second = b;
    return (first->position > second->position) - (first->position < second->position);
}

/* The places of a list of positions, sorted; NULL if memory ran out. */
static place *sort_places(const pe_positions *positions, pe_pace *pace)
{
    place *places = pe_keep(pace, positions->count, sizeof *places);
    for (uint64_t row = 0; places && row < positions->count; row++)
        places[row] = (place){positions->list[row], row};
    if (places)
        qsort(places, positions->count, sizeof *places, compare_places);
    return places;
}

/* The i-th place in ascending order; `sorted` is NULL for positions that are no list. */
static place find_place(const pe_positions *positions, const place *sorted, uint64_t i)
{
    if (sorted)
        return sorted[i];
    uint64_t row = positions->step < 0 ? positions->count - 1 - i : i;
    return (place){pe_position_get(positions, row).hi, row};
}

/* ---- integration ---- */

/* What the preparation needs while it runs. */
typedef struct integration {
    const floater *state;
    pe_pace *pace;
    pe_network network;
    pe_flow flow;
} integration;

/* Build the network from stored or drawn weights. */
static bool make_network(integration *run)
{
    const floater *state = run->state;
    const pe_weights *from = &state->weights;
    const size_t dim = state->flow.dim, hidden = state->flow.hidden;
    const pe_distribution xavier = {.initialiser = PE_XAVIER_NORMAL, .fans = dim + 1 + hidden};
    const pe_distribution zeros = {.initialiser = PE_ZEROS};
    const pe_trained weights[2] = {pe_trained_find(from, "w1", dim + 1, &xavier),
                                   pe_trained_find(from, "w2", hidden + 1, &xavier)};
    const pe_trained biases[2] = {pe_trained_find(from, "b1", hidden, &zeros),
                                  pe_trained_find(from, "b2", dim, &zeros)};
    return pe_network_init(&run->network, weights, biases, dim, hidden, state->activation,
                           pe_trained_price(from, &xavier), run->pace);
}

/* Begin the flow at p0. */
static bool make_flow(integration *run)
{
    const pe_distribution normal = {.initialiser = PE_NORMAL, .std = 0.02};
    const size_t dim = run->state->flow.dim;
    run->flow = run->state->flow;
    run->flow.network = &run->network;
    run->flow.step_price = step_price(run->state);
    if (!pe_flow_init(&run->flow, run->pace))
        return false;
    const pe_trained start = pe_trained_find(&run->state->weights, "p0", dim, &normal);
    pe_trained_row(&start, 0, 0, dim, run->flow.state);
    return true;
}

/* Add the problem of a flow that could not reach the next row. */
static void report(const integration *run, pe_flow_end end)
{
    pe_error *reterr = run->pace->reterr;
    char given[PE_PRINT_MAX];
    unsigned long long row = (unsigned long long)run->flow.row;
    if (end == PE_FLOW_OVERFLOW)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "dt", pe_plain_number(run->flow.dt, given),
                     "such that the path stays within ±1e100, which it leaves after position "
                     "%llu; change dt or the trained tensors",
                     row);
    else if (end == PE_FLOW_TOO_FINE)
        pe_error_add(reterr, PE_OUT_OF_RANGE, "rtol", pe_plain_number(run->flow.rtol, given),
                     "large enough for %d steps between two positions and %d in all, which do "
                     "not suffice after position %llu; raise rtol or atol, or lower dt",
                     PE_FLOW_ROW_STEPS, PE_FLOW_STEPS, row);
}

/* Integrate up to a position and write its row. */
static bool integrate(integration *run, double position, unsigned char *row)
{
    pe_flow *flow = &run->flow;
    pe_dtype dtype = run->state->weights.dtype;
    double largest = 0;
    while ((double)flow->row < position) {
        pe_flow_end end = pe_flow_advance(flow, run->pace);
        if (end != PE_FLOW_REACHED) {
            report(run, end);
            return false;
        }
    }
    for (size_t i = 0; i < flow->dim; i++)
        largest = fmax(largest, fabs(flow->state[i]));
    pe_check_magnitude(dtype, "dt", largest, run->pace->reterr);
    if (run->pace->reterr->status != PE_OK)
        return false;
    pe_round_row(dtype, flow->state, flow->dim, row);
    return true;
}

/* Write all rows in the order of the table. */
static bool integrate_rows(integration *run, unsigned char *rows)
{
    const pe_positions *positions = &run->state->positions;
    place *sorted = positions->list ? sort_places(positions, run->pace) : NULL;
    bool good = sorted || !positions->list;
    for (uint64_t i = 0; good && i < positions->count; i++) {
        place next = find_place(positions, sorted, i);
        good = integrate(run, next.position, rows + next.row * run->state->row_bytes);
    }
    return good;
}

static bool prepare(void *context, pe_pace *pace)
{
    floater *state = context;
    integration run = {.state = state, .pace = pace};
    state->rows = pe_keep(pace, (size_t)state->positions.count, state->row_bytes);
    return state->rows && make_network(&run) && make_flow(&run) &&
           integrate_rows(&run, state->rows);
}

static void fill(const void *context, pe_window window, void *dst)
{
    const floater *state = context;
    memcpy(dst, state->rows + window.first * state->row_bytes, window.rows * state->row_bytes);
}

const pe_scheme pe_scheme_floater = {
    .info =
        {
            .name = "floater",
            .title = "FLOATER: a learned flow of positions",
            .summary = "The path of a differential equation that a small neural network "
                       "defines, sampled at every position. Without a set, the network is "
                       "random, drawn from seed.",
            .family = "absolute",
            .keywords = "neural ODE, continuous, flow",
            .formula = "encoding[r] = p(k * dt), p'(t) = w2 [act(w1 [p; t] + b1); t] + b2, "
                       "p(0) = p0",
            .convention = "t is the last input of both layers; the path begins at position 0",
            .reference = "arXiv:2003.09229",
            .example = "length=4&dim=8",
            .revision = 2,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(tensor, TENSORS),
        },
    PE_HOOKS(floater),
    .errors = PE_ERRORS_OF_SUMS,
    PE_APPLIES(PE_ADDITION("length,dim")),
};
