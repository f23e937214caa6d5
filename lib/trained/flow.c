/* Runge-Kutta steps. */
#include "trained/flow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLOPES 7

bool pe_flow_init(pe_flow *flow)
{
    double *memory = calloc(flow->dim, (2 + SLOPES) * sizeof *memory);
    if (!memory)
        return false;
    flow->row = flow->steps = 0;
    flow->state = memory;
    flow->next = memory + flow->dim;
    for (size_t i = 0; i < SLOPES; i++)
        flow->slopes[i] = memory + (2 + i) * flow->dim;
    flow->step = flow->dt;
    flow->has_slope = false;
    return true;
}

void pe_flow_done(pe_flow *flow)
{
    free(flow->state);
    flow->state = NULL;
}

/* next = state + h·Σ weights[s]·slopes[s] over the first `count` slopes, added up in that
 * order. */
static void move(const pe_flow *flow, double h, const double *weights, size_t count)
{
    for (size_t i = 0; i < flow->dim; i++) {
        double sum = weights[0] * flow->slopes[0][i];
        for (size_t s = 1; s < count; s++)
            sum += weights[s] * flow->slopes[s][i];
        flow->next[i] = flow->state[i] + h * sum;
    }
}

/* slopes[slope] = h(t, p). */
static void derive(const pe_flow *flow, double t, const double *p, size_t slope)
{
    pe_network_derivative(flow->network, t, p, flow->slopes[slope]);
}

static bool is_in_bounds(const pe_flow *flow)
{
    bool good = true;
    for (size_t i = 0; i < flow->dim; i++)
        good &= fabs(flow->next[i]) <= PE_FLOW_LARGEST; /* false for NaN */
    return good;
}

/* state = next. */
static void accept_step(pe_flow *flow)
{
    memcpy(flow->state, flow->next, flow->dim * sizeof *flow->state);
}

/* ---- the classic method of order 4 ---- */

static void step_rk4(pe_flow *flow, double t, double h)
{
    static const double half[] = {0, 0.5}, whole[] = {0, 0, 1};
    static const double last[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    derive(flow, t, flow->state, 0);
    move(flow, h, (const double[]){0.5}, 1);
    derive(flow, t + 0.5 * h, flow->next, 1);
    move(flow, h, half, 2);
    derive(flow, t + 0.5 * h, flow->next, 2);
    move(flow, h, whole, 3);
    derive(flow, t + h, flow->next, 3);
    move(flow, h, last, 4);
}

static pe_flow_end advance_rk4(pe_flow *flow, pe_flow_watch *watch, void *context)
{
    double start = (double)flow->row * flow->dt, h = flow->dt / flow->substeps;
    for (unsigned s = 0; s < flow->substeps; s++) {
        if (!watch(context, flow))
            return PE_FLOW_CANCELLED;
        step_rk4(flow, start + s * h, h);
        flow->steps++;
        if (!is_in_bounds(flow))
            return PE_FLOW_OVERFLOW;
        accept_step(flow);
    }
    return PE_FLOW_REACHED;
}

/* ---- Dormand and Prince 1980 ---- */

static const double NODES[SLOPES] = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1};
/* row s: weights of the point of slope s; the last row is also the solution of order 5 */
static const double WEIGHTS[SLOPES][6] = {
    {0},
    {1.0 / 5},
    {3.0 / 40, 9.0 / 40},
    {44.0 / 45, -56.0 / 15, 32.0 / 9},
    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
    {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84},
};
/* weights of the error estimate: the solution of order 5 minus the one of order 4 */
static const double ERRORS[SLOPES] = {71.0 / 57600,      0,          -71.0 / 16695, 71.0 / 1920,
                                      -17253.0 / 339200, 22.0 / 525, -1.0 / 40};

/* The mean square of each entry's error estimate divided by its tolerance. */
static double error_square(const pe_flow *flow, double h)
{
    double squares = 0;
    for (size_t i = 0; i < flow->dim; i++) {
        double error = ERRORS[0] * flow->slopes[0][i];
        for (size_t s = 1; s < SLOPES; s++)
            error += ERRORS[s] * flow->slopes[s][i];
        double size = fmax(fabs(flow->state[i]), fabs(flow->next[i]));
        double ratio = h * error / (flow->atol + flow->rtol * size);
        squares += ratio * ratio;
    }
    return squares / (double)flow->dim;
}

/* The factor 0.9·error^(-1/5) of the next step, within 0.2 … 10. Bisection needs no pow(). */
static double step_factor(double square)
{
    double low = 0.2, high = 10;
    if (!(square <= 1e30))
        return low;
    for (int i = 0; i < 40; i++) {
        double middle = 0.5 * (low + high), ratio = middle / 0.9;
        double fifth = ratio * ratio * ratio * ratio * ratio;
        if (fifth * fifth * square <= 1)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Compute `next` one step ahead; slopes[0] must be the derivative of the state. Returns the
 * error's mean square. */
static double try_dopri5(pe_flow *flow, double t, double h, double end)
{
    for (size_t s = 1; s < SLOPES; s++) {
        move(flow, h, WEIGHTS[s], s);
        derive(flow, NODES[s] == 1 ? end : t + NODES[s] * h, flow->next, s);
    }
    return error_square(flow, h);
}

static pe_flow_end advance_dopri5(pe_flow *flow, pe_flow_watch *watch, void *context)
{
    double t = (double)flow->row * flow->dt, end = (double)(flow->row + 1) * flow->dt;
    for (unsigned steps = 0; t < end; steps++, flow->steps++) {
        if (steps == PE_FLOW_ROW_STEPS || flow->steps == PE_FLOW_STEPS)
            return PE_FLOW_TOO_FINE;
        if (!watch(context, flow))
            return PE_FLOW_CANCELLED;
        bool is_last = flow->step >= end - t; /* the step is cut to end at the row */
        double h = is_last ? end - t : flow->step;
        double next_t = is_last ? end : t + h;
        if (next_t == t)
            return PE_FLOW_TOO_FINE;
        double square = try_dopri5(flow, t, h, next_t), factor = step_factor(square);
        if (!(square <= 1)) { /* reject the step and try a smaller one */
            flow->step = h * fmin(factor, 0.9);
            if (!is_in_bounds(flow) && h <= 0x1p-30 * flow->dt)
                return PE_FLOW_OVERFLOW;
            continue;
        }
        if (!is_in_bounds(flow))
            return PE_FLOW_OVERFLOW;
        accept_step(flow);
        memcpy(flow->slopes[0], flow->slopes[SLOPES - 1], flow->dim * sizeof *flow->state);
        flow->step = is_last ? fmax(flow->step, h * factor) : h * factor;
        t = next_t;
    }
    return PE_FLOW_REACHED;
}

pe_flow_end pe_flow_advance(pe_flow *flow, pe_flow_watch *watch, void *context)
{
    if (flow->method == PE_DOPRI5 && !flow->has_slope) {
        derive(flow, (double)flow->row * flow->dt, flow->state, 0);
        flow->has_slope = true;
    }
    pe_flow_end end = flow->method == PE_DOPRI5 ? advance_dopri5(flow, watch, context)
                                                : advance_rk4(flow, watch, context);
    if (end == PE_FLOW_REACHED)
        flow->row++;
    return end;
}
