/* Tests of the solvers on differential equations whose solutions are known. */
#include "ode/runge_kutta.h"

#include "unit.h"

#include <math.h>

/* A runner's `go_on` that cancels after as many steps as the context says. */
static bool steps_left(void *context, const pe_scheme *scheme, double done)
{
    uint64_t *steps = context;
    (void)scheme;
    (void)done;
    return (*steps)-- > 0;
}

/* One state and one relu unit: p' = w2[0]·max(w1[0]·p + w1[1]·t + b1, 0) + w2[1]·t + b2. */
typedef struct equation {
    double w1[2], b1, w2[2], b2, start;
} equation;

/* p' = p: exp(t) */
static const equation GROWTH = {.w1 = {1, 0}, .b1 = 0, .w2 = {1, 0}, .b2 = 0, .start = 1};
/* p' = t: t²/2 */
static const equation RAMP = {.w1 = {0, 0}, .b1 = 0, .w2 = {0, 1}, .b2 = 0, .start = 0};
/* p' = max(1 - 2t, 0) has a kink at 1/2: t - t² up to there, then 1/4 */
static const equation KINK = {.w1 = {0, -2}, .b1 = 1, .w2 = {1, 0}, .b2 = 0, .start = 0};

static pe_network network_of(const equation *ode, pe_pace *pace)
{
    static pe_set_tensor tensors[4];
    const double *data[4] = {ode->w1, ode->w2, &ode->b1, &ode->b2};
    pe_trained trained[4];
    pe_network network;
    for (size_t i = 0; i < 4; i++) {
        size_t columns = i < 2 ? 2 : 1;
        tensors[i] = (pe_set_tensor){
            .tensor = {.name = "t", .dtype = PE_F64, .rank = 1, .shape = {columns}},
            .data = data[i]};
        trained[i] = (pe_trained){.stored = &tensors[i], .stored_rows = 1, .columns = columns};
    }
    unit_assert(pe_network_init(&network, trained, trained + 2, 1, 1, PE_RELU, 0, pace));
    return network;
}

/* Solve up to a row and return the state there. The last step must end as expected. */
static double state_at(const equation *ode, pe_flow flow, uint64_t row, pe_flow_end expected)
{
    pe_pace pace = {.runner = NULL};
    pe_network network = network_of(ode, &pace);
    pe_flow_end end = PE_FLOW_REACHED;
    flow.network = &network;
    flow.dim = flow.hidden = 1;
    unit_assert(pe_flow_init(&flow, &pace));
    flow.state[0] = ode->start;
    while (end == PE_FLOW_REACHED && flow.row < row)
        end = pe_flow_advance(&flow, &pace);
    ck_assert_int_eq(end, expected);
    double state = flow.state[0];
    pe_kept_free(pace.kept);
    return state;
}

static const pe_flow DOPRI5 = {.method = PE_DOPRI5, .dt = 0.01, .rtol = 1e-9, .atol = 1e-12};

static bool is_near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance;
}

START_TEST(dopri5_follows_known_solutions)
{
    ck_assert(is_near(state_at(&GROWTH, DOPRI5, 100, PE_FLOW_REACHED), exp(1), 1e-8));
    ck_assert(is_near(state_at(&RAMP, DOPRI5, 300, PE_FLOW_REACHED), 4.5, 1e-14));
    ck_assert(is_near(state_at(&KINK, DOPRI5, 100, PE_FLOW_REACHED), 0.25, 1e-9));
    pe_flow large = DOPRI5;
    large.dt = 0.7; /* the kink lies within a row */
    ck_assert(is_near(state_at(&KINK, large, 2, PE_FLOW_REACHED), 0.25, 1e-7));
    ck_assert(is_near(state_at(&GROWTH, large, 10, PE_FLOW_REACHED), exp(7), 1e-4));
}
END_TEST

/* Solve all rows of exp(t): the largest relative error, and the steps that the path took. */
static double worst_growth(pe_flow flow, uint64_t rows, uint64_t *ret_steps)
{
    double worst = 0;
    pe_pace pace = {.runner = NULL};
    pe_network network = network_of(&GROWTH, &pace);
    flow.network = &network;
    flow.dim = flow.hidden = 1;
    unit_assert(pe_flow_init(&flow, &pace));
    flow.state[0] = 1;
    while (flow.row < rows) {
        ck_assert_int_eq(pe_flow_advance(&flow, &pace), PE_FLOW_REACHED);
        double t = (double)flow.row * flow.dt;
        worst = fmax(worst, fabs(flow.state[0] - exp(t)) / exp(t));
    }
    *ret_steps = flow.steps;
    pe_kept_free(pace.kept);
    return worst;
}

START_TEST(a_step_passes_several_rows_whose_states_are_as_good)
{
    uint64_t steps;
    double error = worst_growth(DOPRI5, 1000, &steps);
    ck_assert_msg(error < 1e-8, "%g", error);
    ck_assert_msg(steps < 500 && steps >= 1000 / PE_FLOW_ROWS, "%llu",
                  (unsigned long long)steps);
    pe_flow dense = DOPRI5;
    dense.dt = 0.0001; /* the steps are as long as they may be */
    ck_assert(worst_growth(dense, 10000, &steps) < 1e-12);
    ck_assert_uint_le(steps, 10000 / PE_FLOW_ROWS + 10);
}
END_TEST

START_TEST(steps_end_at_kinks)
{
    for (double dt = 0.003; dt < 3; dt *= 1.7) {
        pe_flow flow = DOPRI5;
        flow.dt = dt;
        uint64_t rows = (uint64_t)ceil(0.5 / dt);
        for (uint64_t row = rows; row < rows + 3; row++) {
            double state = state_at(&KINK, flow, row, PE_FLOW_REACHED);
            ck_assert_msg(is_near(state, 0.25, 1e-12), "dt %g: %g", dt, state - 0.25);
        }
    }
}
END_TEST

START_TEST(rk4_is_the_classic_rule)
{
    pe_flow flow = {.method = PE_RK4, .dt = 0.5, .substeps = 4};
    double h = 0.125, factor = 1 + h + h * h / 2 + h * h * h / 6 + h * h * h * h / 24;
    ck_assert(is_near(state_at(&GROWTH, flow, 3, PE_FLOW_REACHED), pow(factor, 12), 1e-14));
    ck_assert(is_near(state_at(&RAMP, flow, 6, PE_FLOW_REACHED), 4.5, 1e-14));
    /* the 3/8 rule has a node at a third of the step; the kink makes its result differ */
    flow = (pe_flow){.method = PE_RK4, .dt = 1, .substeps = 1};
    ck_assert(is_near(state_at(&KINK, flow, 1, PE_FLOW_REACHED), 1.0 / 6, 1e-16));
}
END_TEST

START_TEST(solutions_that_overflow_end)
{
    const equation steep = {.w1 = {1, 0}, .w2 = {1e5, 0}, .start = 1};
    pe_flow flow = DOPRI5;
    flow.rtol = 1;
    state_at(&steep, flow, 10, PE_FLOW_OVERFLOW);
    flow = (pe_flow){.method = PE_RK4, .dt = 1, .substeps = 1};
    state_at(&steep, flow, 100, PE_FLOW_OVERFLOW);
    /* the slope is infinite */
    const equation sudden = {.w1 = {1e300, 0}, .w2 = {1e300, 0}, .start = 1};
    state_at(&sudden, flow, 1, PE_FLOW_OVERFLOW);
    flow = DOPRI5;
    state_at(&sudden, flow, 1, PE_FLOW_OVERFLOW);
}
END_TEST

START_TEST(tolerances_that_take_too_many_steps_end)
{
    /* p' = -1e6 p: exp(-1e6 t) */
    const equation stiff = {.w1 = {1, 0}, .b1 = 1, .w2 = {-1e6, 0}, .b2 = 1e6, .start = 1};
    pe_flow flow = DOPRI5;
    flow.dt = 10;
    flow.rtol = 1e-15;
    flow.atol = 1e-30;
    state_at(&stiff, flow, 1, PE_FLOW_TOO_FINE);
}
END_TEST

START_TEST(a_solution_can_be_cancelled_before_any_step)
{
    for (uint64_t steps = 0; steps < 5; steps++) {
        uint64_t left = steps;
        const pe_runner runner = {.context = &left, .go_on = steps_left};
        pe_error error;
        pe_pace pace = {.runner = &runner, .reterr = &error};
        pe_network network = network_of(&GROWTH, &pace);
        pe_flow flow = DOPRI5;
        flow.network = &network;
        flow.step_price = PE_QUESTION_PRICE;
        flow.dim = flow.hidden = 1;
        unit_assert(pe_flow_init(&flow, &pace));
        flow.state[0] = 1;
        pe_flow_end end = PE_FLOW_REACHED;
        pe_error_init(&error);
        while (end == PE_FLOW_REACHED)
            end = pe_flow_advance(&flow, &pace);
        ck_assert_int_eq(end, PE_FLOW_CANCELLED);
        ck_assert_uint_eq(flow.steps, steps);
        pe_kept_free(pace.kept);
    }
}
END_TEST

Suite *flow_suite(void)
{
    const TTest *const tests[] = {dopri5_follows_known_solutions,
                                  a_step_passes_several_rows_whose_states_are_as_good,
                                  steps_end_at_kinks,
                                  rk4_is_the_classic_rule,
                                  solutions_that_overflow_end,
                                  tolerances_that_take_too_many_steps_end,
                                  a_solution_can_be_cancelled_before_any_step,
                                  NULL};
    return unit_suite("flow", tests);
}
