/* FLOATER: positions as the path of a dynamical system. */
#include "../dtype.h"
#include "../flow.h"
#include "../positions.h"
#include "../wave.h"

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
     .help = "columns; of a stored p0 its own"},
    {.name = "hidden",
     .type = PE_INTEGER,
     .stored = "w1",
     .stored_axis = 0,
     .default_of = "dim",
     .minimum = 1,
     .maximum = PE_DIM_MAX,
     .unit = "units",
     .help = "hidden units of the network; of stored weights their own"},
    {.name = "dt",
     .type = PE_REAL,
     .default_text = "0.01",
     .minimum = 1e-9,
     .maximum = 1e6,
     .help = "time from position to position"},
    {.name = "activation",
     .type = PE_CHOICE,
     .default_text = "relu",
     .choices = ACTIVATIONS,
     .help = "of the hidden units"},
    {.name = "method",
     .type = PE_CHOICE,
     .default_text = "dopri5",
     .choices = METHODS,
     .help = "dopri5: order 5 with steps by rtol and atol; rk4: the classic rule of order 4 in "
             "substeps (not the 3/8 rule that torchdiffeq calls rk4)"},
    {.name = "rtol",
     .type = PE_REAL,
     .default_text = "1e-9",
     .minimum = 1e-15,
     .maximum = 1,
     .help = "relative error that a step of dopri5 may make; rk4 leaves it unused"},
    {.name = "atol",
     .type = PE_REAL,
     .default_text = "1e-12",
     .minimum = 1e-30,
     .maximum = 1,
     .help = "absolute error that a step of dopri5 may make besides; rk4 leaves it unused"},
    {.name = "substeps",
     .type = PE_INTEGER,
     .default_text = "5",
     .minimum = 1,
     .maximum = 1000,
     .unit = "steps",
     .help = "steps of rk4 from position to position; dopri5 leaves it unused"},
    PE_TRAINED_PARAMETERS("p0 [dim], w1 [hidden, dim+1], b1 [hidden], w2 [dim, hidden+1], "
                          "b2 [dim]; the last column of w1 and w2 is t's"),
};

static const pe_tensor_help TENSORS[] = {{"encoding", "[n, dim]", "p(k * dt) in row k"}};

#define WEIGHTS_MAX 8388608 /* 64 MiB of doubles */

/* ---- the plan ---- */

/* Whether the set's tensors fit each other. */
static bool check_set(const pe_values *values, pe_error *reterr)
{
    const uint64_t any[1] = {0};
    if (!pe_values_set(values))
        return true;
    if (!pe_trained_check(values, "p0", 1, any, reterr))
        return false;
    uint64_t dim = (uint64_t)pe_integer(values, "dim");
    if (!pe_trained_check(values, "w1", 2, (const uint64_t[]){0, dim + 1}, reterr))
        return false;
    uint64_t hidden = (uint64_t)pe_integer(values, "hidden");
    return pe_trained_check(values, "b1", 1, (const uint64_t[]){hidden}, reterr) &&
           pe_trained_check(values, "w2", 2, (const uint64_t[]){dim, hidden + 1}, reterr) &&
           pe_trained_check(values, "b2", 1, (const uint64_t[]){dim}, reterr);
}

static void check_way(const pe_values *values, const pe_positions *positions, pe_error *reterr)
{
    double low, high, steps = 1;
    char given[48];
    pe_positions_range(positions, &low, &high);
    if (pe_choice(values, "method") == PE_RK4)
        steps = pe_real(values, "substeps");
    if (high * steps <= PE_FLOW_STEPS)
        return;
    snprintf(given, sizeof given, "last position %.0f", high);
    pe_error_add(reterr, PE_OUT_OF_RANGE, positions->list ? "positions" : "length", given,
                 "positions up to %.0f: each is reached from 0 on, in at most %d steps",
                 floor(PE_FLOW_STEPS / steps), PE_FLOW_STEPS);
}

static void plan(const pe_values *values, pe_plan *ret_plan, pe_error *reterr)
{
    char given[64];
    size_t before = reterr->count;
    pe_positions positions = pe_positions_read_natural(values, reterr);
    if (!check_set(values, reterr) || reterr->count > before)
        return;
    uint64_t dim = (uint64_t)pe_integer(values, "dim");
    uint64_t hidden = (uint64_t)pe_integer(values, "hidden");
    if (pe_network_weights(dim, hidden) > WEIGHTS_MAX) {
        snprintf(given, sizeof given, "%llu states, %llu hidden units", (unsigned long long)dim,
                 (unsigned long long)hidden);
        pe_error_add(reterr, PE_TOO_LARGE, hidden > dim ? "hidden" : "dim", given,
                     "at most %d weights, with %d rows or a multiple of them", WEIGHTS_MAX,
                     PE_MATRIX_LANES);
    }
    check_way(values, &positions, reterr);
    pe_plan_add(ret_plan, "encoding", pe_requested_dtype(values), 2,
                (uint64_t[]){positions.count, dim});
}

/* ---- rows in ascending order of their positions ---- */

typedef struct place {
    double position;
    uint64_t row;
} place;

static int compare_places(const void *a, const void *b)
{
    const place *first = a, *second = b;
    return (first->position > second->position) - (first->position < second->position);
}

/* The places of a list in order; NULL without memory. */
static place *sort_places(const pe_positions *positions)
{
    place *places = malloc(positions->count * sizeof *places);
    for (uint64_t row = 0; places && row < positions->count; row++)
        places[row] = (place){positions->list[row], row};
    if (places)
        qsort(places, positions->count, sizeof *places, compare_places);
    return places;
}

static place place_at(const pe_positions *positions, const place *sorted, uint64_t i)
{
    if (sorted)
        return sorted[i];
    uint64_t row = positions->step < 0 ? positions->count - 1 - i : i;
    return (place){pe_position_at(positions, row).hi, row};
}

/* ---- the way ---- */

#define WORK_BETWEEN_QUESTIONS (1 << 22) /* products: a few milliseconds */
#define WORK_OF_A_WEIGHT       64
#define WORK_OF_A_STEP         1000

/* Everything that the preparation holds; the state that remains is the rows alone. */
typedef struct journey {
    const pe_values *values;
    const pe_runner *runner;
    pe_error *reterr;
    double last; /* position */
    uint64_t weights, work, counted;
    pe_network network;
    pe_flow flow;
} journey;

/* Count work, and now and then ask whether to go on. */
static bool goes_on(journey *way, uint64_t work, double done)
{
    way->work += work;
    if (way->work < WORK_BETWEEN_QUESTIONS)
        return true;
    way->work = 0;
    return pe_may_go_on(way->runner, way->values, done, way->reterr);
}

static bool watch_weights(void *context, uint64_t made)
{
    journey *way = context;
    uint64_t more = made > way->counted ? made - way->counted : 0;
    way->counted = made;
    return goes_on(way, WORK_OF_A_WEIGHT * more, 0);
}

static bool watch_steps(void *context, const pe_flow *flow)
{
    return goes_on(context, 6 * ((journey *)context)->weights + WORK_OF_A_STEP,
                   (double)flow->row / ((journey *)context)->last);
}

static bool make_network(journey *way, size_t dim, size_t hidden)
{
    const pe_values *values = way->values;
    const pe_recipe xavier = {.initialiser = PE_XAVIER_NORMAL, .fans = dim + 1 + hidden};
    const pe_recipe zeros = {.initialiser = PE_ZEROS};
    const pe_trained weights[2] = {pe_trained_of(values, "w1", dim + 1, &xavier),
                                   pe_trained_of(values, "w2", hidden + 1, &xavier)};
    const pe_trained biases[2] = {pe_trained_of(values, "b1", hidden, &zeros),
                                  pe_trained_of(values, "b2", dim, &zeros)};
    way->weights = pe_network_weights(dim, hidden);
    return pe_network_init(&way->network, weights, biases, dim, hidden,
                           (pe_activation)pe_choice(values, "activation"), watch_weights, way);
}

static bool make_flow(journey *way, size_t dim)
{
    const pe_values *values = way->values;
    const pe_recipe normal = {.initialiser = PE_NORMAL, .std = 0.02};
    way->flow = (pe_flow){
        .network = &way->network,
        .method = (pe_method)pe_choice(values, "method"),
        .dt = pe_real(values, "dt"),
        .rtol = pe_real(values, "rtol"),
        .atol = pe_real(values, "atol"),
        .substeps = (unsigned)pe_integer(values, "substeps"),
        .dim = dim,
    };
    if (!pe_flow_init(&way->flow))
        return false;
    const pe_trained start = pe_trained_of(values, "p0", dim, &normal);
    pe_trained_row(&start, 0, 0, dim, way->flow.state);
    return true;
}

static void report(const journey *way, pe_flow_end end)
{
    char given[48], dt[PE_PRINT_MAX];
    unsigned long long row = (unsigned long long)way->flow.row;
    pe_print_number(dt, way->flow.dt);
    if (end == PE_FLOW_BEYOND) {
        pe_error_add(way->reterr, PE_OUT_OF_RANGE, "dt", dt,
                     "a path that stays within ±1e100: from position %llu to the next one it "
                     "does not; change dt or the trained parameters",
                     row);
    } else if (end == PE_FLOW_TOO_FINE) {
        pe_print_number(given, way->flow.rtol);
        pe_error_add(way->reterr, PE_OUT_OF_RANGE, "rtol", given,
                     "a tolerance that %d steps from position to position, and %d in all, can "
                     "keep: from position %llu on they cannot; raise rtol or atol, or lower dt",
                     PE_FLOW_ROW_STEPS, PE_FLOW_STEPS, row);
    }
}

/* Go to a position and write its row. */
static bool visit(journey *way, double position, pe_dtype dtype, unsigned char *row)
{
    pe_flow *flow = &way->flow;
    double largest = 0;
    while ((double)flow->row < position) {
        pe_flow_end end = pe_flow_advance(flow, watch_steps, way);
        report(way, end);
        if (end != PE_FLOW_THERE)
            return false;
    }
    for (size_t i = 0; i < flow->dim; i++)
        largest = fmax(largest, fabs(flow->state[i]));
    pe_check_magnitude(way->values, "dt", largest, way->reterr);
    if (way->reterr->status != PE_OK)
        return false;
    pe_round_row(dtype, flow->state, flow->dim, row);
    return true;
}

/* The rows in the order of the table, rounded. */
static bool travel(journey *way, const pe_tensor *tensor, unsigned char *rows)
{
    pe_positions positions = pe_positions_read(way->values, way->reterr);
    place *sorted = positions.list ? sort_places(&positions) : NULL;
    size_t row_bytes = (size_t)(tensor->bytes / positions.count);
    bool good = sorted || !positions.list;
    if (good)
        way->last = place_at(&positions, sorted, positions.count - 1).position;
    for (uint64_t i = 0; good && i < positions.count; i++) {
        place at = place_at(&positions, sorted, i);
        good = visit(way, at.position, tensor->dtype, rows + at.row * row_bytes);
    }
    free(sorted);
    return good;
}

static void *prepare(const pe_values *values, const pe_plan *plan, const pe_runner *runner,
                     pe_error *reterr)
{
    const pe_tensor *tensor = &plan->tensors[0];
    size_t dim = (size_t)tensor->shape[1];
    journey way = {.values = values, .runner = runner, .reterr = reterr};
    unsigned char *rows = malloc((size_t)tensor->bytes);
    bool good = rows && make_network(&way, dim, (size_t)pe_integer(values, "hidden")) &&
                make_flow(&way, dim) && travel(&way, tensor, rows);
    pe_flow_done(&way.flow);
    pe_network_done(&way.network);
    if (good)
        return rows;
    free(rows);
    return NULL;
}

static void fill(const pe_values *values, const pe_plan *plan, const void *state,
                 pe_window window, void *dst)
{
    (void)values;
    size_t row_bytes = (size_t)(plan->tensors[0].bytes / plan->tensors[0].shape[0]);
    memcpy(dst, (const unsigned char *)state + window.first * row_bytes,
           window.rows * row_bytes);
}

const pe_scheme pe_scheme_floater = {
    .info =
        {
            .name = "floater",
            .title = "FLOATER: a learned flow of positions",
            .summary = "The path of a small neural network's differential equation, read at "
                       "every position.",
            .family = "absolute",
            .formula = "encoding[r] = p(k * dt), p'(t) = w2 [act(w1 [p; t] + b1); t] + b2, "
                       "p(0) = p0",
            .convention = "t is the last input of both layers; every path begins at position 0",
            .reference = "arXiv:2003.09229",
            .example = "length=4&dim=8",
            .revision = 1,
            PE_LIST(parameter, PARAMETERS),
            PE_LIST(tensor, TENSORS),
        },
    .plan = plan,
    .prepare = prepare,
    .fill = fill,
    .takes_long = true,
};
