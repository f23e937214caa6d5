/* The solvers, on equations whose paths are known. */
#include "flow.h"

#include "../unit.h"

#include <math.h>

static bool always(void *context, uint64_t made)
{
    (void)context, (void)made;
    return true;
}

static bool steps_left(void *context, const pe_flow *flow)
{
    return flow->steps < *(const uint64_t *)context;
}

/* One state and one relu unit: p' = w2[0]·max(w1[0]·p + w1[1]·t + b1, 0) + w2[1]·t + b2. */
typedef struct equation {
    double w1[2], b1, w2[2], b2, start;
} equation;

static const equation GROWTH = {{1, 0}, 0, {1, 0}, 0, 1}; /* exp(t) */
static const equation RAMP = {{0, 0}, 0, {0, 1}, 0, 0};   /* t²/2 */
/* p' = max(1 - 2t, 0): a kink at 1/2; t - t² up to there, then 1/4 */
static const equation KINK = {{0, -2}, 1, {1, 0}, 0, 0};

static pe_network network_of(const equation *of)
{
    static pe_set_tensor tensors[4];
    const double *data[4] = {of->w1, of->w2, &of->b1, &of->b2};
    pe_trained made[4];
    pe_network network;
    for (size_t i = 0; i < 4; i++) {
        tensors[i] = (pe_set_tensor){{"t", PE_F64, 1, {i < 2 ? 2 : 1}, 0, 0, 0}, data[i]};
        made[i] =
            (pe_trained){.stored = &tensors[i], .stored_rows = 1, .columns = i < 2 ? 2 : 1};
    }
    unit_assert(pe_network_init(&network, made, made + 2, 1, 1, PE_RELU, always, NULL));
    return network;
}

/* Go to a row; returns the state there. */
static double state_at(const equation *of, pe_flow flow, uint64_t row, pe_flow_end expected)
{
    uint64_t steps = UINT64_MAX;
    pe_network network = network_of(of);
    pe_flow_end end = PE_FLOW_THERE;
    flow.network = &network;
    flow.dim = 1;
    unit_assert(pe_flow_init(&flow));
    flow.state[0] = of->start;
    while (end == PE_FLOW_THERE && flow.row < row)
        end = pe_flow_advance(&flow, steps_left, &steps);
    ck_assert_int_eq(end, expected);
    double state = flow.state[0];
    pe_flow_done(&flow);
    pe_network_done(&network);
    return state;
}

static const pe_flow DOPRI5 = {.method = PE_DOPRI5, .dt = 0.01, .rtol = 1e-9, .atol = 1e-12};

static bool is_near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance;
}

START_TEST(dopri5_follows_known_paths)
{
    ck_assert(is_near(state_at(&GROWTH, DOPRI5, 100, PE_FLOW_THERE), exp(1), 1e-13));
    ck_assert(is_near(state_at(&RAMP, DOPRI5, 300, PE_FLOW_THERE), 4.5, 1e-14));
    ck_assert(is_near(state_at(&KINK, DOPRI5, 100, PE_FLOW_THERE), 0.25, 1e-9));
    pe_flow large = DOPRI5;
    large.dt = 0.7; /* the kink lies within a row */
    ck_assert(is_near(state_at(&KINK, large, 2, PE_FLOW_THERE), 0.25, 1e-7));
    ck_assert(is_near(state_at(&GROWTH, large, 10, PE_FLOW_THERE), exp(7), 1e-4));
}
END_TEST

START_TEST(tighter_tolerances_come_nearer)
{
    pe_flow flow = DOPRI5;
    flow.dt = 1;
    double before = INFINITY;
    for (int digits = 3; digits <= 12; digits += 3) {
        flow.rtol = flow.atol = pow(10, -digits);
        double error = fabs(state_at(&GROWTH, flow, 3, PE_FLOW_THERE) - exp(3));
        ck_assert_msg(error < before && error < 200 * flow.rtol * exp(3), "%g", error);
        before = error;
    }
}
END_TEST

START_TEST(rk4_is_the_classic_rule)
{
    pe_flow flow = {.method = PE_RK4, .dt = 0.5, .substeps = 4};
    double h = 0.125, factor = 1 + h + h * h / 2 + h * h * h / 6 + h * h * h * h / 24;
    ck_assert(is_near(state_at(&GROWTH, flow, 3, PE_FLOW_THERE), pow(factor, 12), 1e-14));
    ck_assert(is_near(state_at(&RAMP, flow, 6, PE_FLOW_THERE), 4.5, 1e-14));
    /* the 3/8 rule would have a node at a third of the step: here the kink tells them apart */
    flow = (pe_flow){.method = PE_RK4, .dt = 1, .substeps = 1};
    ck_assert(is_near(state_at(&KINK, flow, 1, PE_FLOW_THERE), 1.0 / 6, 1e-16));
}
END_TEST

START_TEST(paths_that_leave_every_bound_end)
{
    const equation steep = {{1, 0}, 0, {1e5, 0}, 0, 1};
    pe_flow flow = DOPRI5;
    flow.rtol = 1;
    state_at(&steep, flow, 10, PE_FLOW_BEYOND);
    flow = (pe_flow){.method = PE_RK4, .dt = 1, .substeps = 1};
    state_at(&steep, flow, 100, PE_FLOW_BEYOND);
    const equation sudden = {{1e300, 0}, 0, {1e300, 0}, 0, 1}; /* the slope is infinite */
    state_at(&sudden, flow, 1, PE_FLOW_BEYOND);
    flow = DOPRI5;
    state_at(&sudden, flow, 1, PE_FLOW_BEYOND);
}
END_TEST

START_TEST(tolerances_that_take_too_many_steps_end)
{
    const equation stiff = {{1, 0}, 1, {-1e6, 0}, 1e6, 1}; /* exp(-1e6 t) */
    pe_flow flow = DOPRI5;
    flow.dt = 10;
    flow.rtol = 1e-15;
    flow.atol = 1e-30;
    state_at(&stiff, flow, 1, PE_FLOW_TOO_FINE);
}
END_TEST

START_TEST(the_way_can_be_ended)
{
    pe_network network = network_of(&GROWTH);
    for (uint64_t steps = 0; steps < 5; steps++) {
        pe_flow flow = DOPRI5;
        flow.network = &network;
        flow.dim = 1;
        unit_assert(pe_flow_init(&flow));
        flow.state[0] = 1;
        pe_flow_end end = PE_FLOW_THERE;
        while (end == PE_FLOW_THERE)
            end = pe_flow_advance(&flow, steps_left, &steps);
        ck_assert_int_eq(end, PE_FLOW_ENDED);
        ck_assert_uint_eq(flow.steps, steps);
        pe_flow_done(&flow);
    }
    pe_network_done(&network);
}
END_TEST

Suite *flow_suite(void)
{
    const TTest *const tests[] = {dopri5_follows_known_paths,
                                  tighter_tolerances_come_nearer,
                                  rk4_is_the_classic_rule,
                                  paths_that_leave_every_bound_end,
                                  tolerances_that_take_too_many_steps_end,
                                  the_way_can_be_ended,
                                  NULL};
    return unit_suite("flow", tests);
}
