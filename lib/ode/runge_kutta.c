/* Runge-Kutta steps. */
#include "ode/runge_kutta.h"

#include <math.h>
#include <string.h>

#define SLOPES 7

bool pe_flow_init(pe_flow *flow, pe_pace *pace)
{
    size_t dim = flow->dim, count = (3 + SLOPES) * dim + 3 * flow->hidden;
    double *memory = pe_keep_zeros(pace, count, sizeof *memory);
    if (!memory)
        return false;
    flow->row = flow->steps = 0;
    flow->state = memory;
    flow->begin = memory + dim;
    flow->next = memory + 2 * dim;
    for (size_t i = 0; i < SLOPES; i++)
        flow->slopes[i] = memory + (3 + i) * dim;
    for (size_t i = 0; i < 3; i++)
        flow->units[i] = memory + (3 + SLOPES) * dim + i * flow->hidden;
    flow->kink = flow->kink_count = 0;
    flow->time = flow->end = flow->free_step = 0;
    flow->step = flow->dt;
    flow->has_slope = false;
    return true;
}

/* next = begin + h·Σ weights[s]·slopes[s] over the first `count` slopes, added up in that
 * order. */
static void combine_slopes(const pe_flow *flow, const double *begin, double h,
                           const double *weights, size_t count)
{
    for (size_t i = 0; i < flow->dim; i++) {
        double sum = weights[0] * flow->slopes[0][i];
        for (size_t s = 1; s < count; s++)
            sum += weights[s] * flow->slopes[s][i];
        flow->next[i] = begin[i] + h * sum;
    }
}

static bool is_in_bounds(const pe_flow *flow)
{
    bool good = true;
    for (size_t i = 0; i < flow->dim; i++)
        good &= fabs(flow->next[i]) <= PE_FLOW_LARGEST; /* false for NaN */
    return good;
}

/* ---- the classic method of order 4 ---- */

static void step_rk4(pe_flow *flow, double t, double h)
{
    static const double half[] = {0, 0.5}, whole[] = {0, 0, 1};
    static const double last[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    const pe_network *network = flow->network;
    double *state = flow->state, *next = flow->next, *units = flow->units[0];
    double **slopes = flow->slopes;
    pe_network_derivative(network, t, state, units, slopes[0]);
    combine_slopes(flow, state, h, (const double[]){0.5}, 1);
    pe_network_derivative(network, t + 0.5 * h, next, units, slopes[1]);
    combine_slopes(flow, state, h, half, 2);
    pe_network_derivative(network, t + 0.5 * h, next, units, slopes[2]);
    combine_slopes(flow, state, h, whole, 3);
    pe_network_derivative(network, t + h, next, units, slopes[3]);
    combine_slopes(flow, state, h, last, 4);
}

static pe_flow_end advance_rk4(pe_flow *flow, pe_pace *pace)
{
    double start = (double)flow->row * flow->dt, h = flow->dt / flow->substeps;
    for (unsigned s = 0; s < flow->substeps; s++) {
        if (!pe_pace_may_continue(pace, flow->step_price))
            return PE_FLOW_CANCELLED;
        step_rk4(flow, start + s * h, h);
        flow->steps++;
        if (!is_in_bounds(flow))
            return PE_FLOW_OVERFLOW;
        memcpy(flow->state, flow->next, flow->dim * sizeof *flow->state);
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
/* weights of the continuous extension's last term (Hairer, Norsett and Wanner 1993, II.6) */
static const double DENSE[SLOPES] = {
    -12715105075.0 / 11282082432.0,  0,
    87487479700.0 / 32700410799.0,   -10690763975.0 / 1880347072.0,
    701980252875.0 / 199316789632.0, -1453857185.0 / 822651844.0,
    69997945.0 / 29380423.0};

/* The mean square of each entry's error estimate divided by its tolerance. */
static double error_square(const pe_flow *flow, double h)
{
    double squares = 0;
    for (size_t i = 0; i < flow->dim; i++) {
        double error = ERRORS[0] * flow->slopes[0][i];
        for (size_t s = 1; s < SLOPES; s++)
            error += ERRORS[s] * flow->slopes[s][i];
        double size = fmax(fabs(flow->begin[i]), fabs(flow->next[i]));
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

/* The time at which a relu unit's input changes its sign, from 0 to 1: that of a parabola with
 * these values at 0 and 1 and this slope at 0. */
static double find_root(double first, double last, double slope)
{
    double bend = last - first - slope;
    double square = slope * slope - 4 * bend * first;
    double sum = -0.5 * (slope + copysign(sqrt(fmax(square, 0)), slope));
    double time = first / sum; /* one root; the other one is sum / bend */
    return time > 0 && time <= 1 ? time : sum / bend;
}

#define KINK_SHARE 0x1p-20 /* a kink so near to an end of the step is at that end */

/* Insert a time into the sorted list of kinks; the last one leaves a full list. */
static void add_kink(pe_flow *flow, double time)
{
    size_t i = flow->kink_count;
    if (i < PE_FLOW_KINKS)
        flow->kink_count++;
    else if (time >= flow->kinks[--i])
        return;
    for (; i > 0 && flow->kinks[i - 1] > time; i--)
        flow->kinks[i] = flow->kinks[i - 1];
    flow->kinks[i] = time;
}

/* The square of the error allowed, added up over all entries. */
static double tolerance_square(const pe_flow *flow)
{
    double squares = 0;
    for (size_t i = 0; i < flow->dim; i++) {
        double allowed = flow->atol + flow->rtol * fabs(flow->begin[i]);
        squares += allowed * allowed;
    }
    return squares;
}

/* List the times at which relu units begin or end to be active, before the share `reach` of the
 * step, from where units[2] are; only where that matters. The slopes of the stages behind a
 * kink are off by up to the change of p'' times the time from the kink to the step's nearer
 * end. The change is the unit's slope times its column of w2; a stage weighs about 1/8. Returns
 * whether there are any; if not, the list of an earlier, longer try remains. */
static bool find_kinks(pe_flow *flow, double h, double reach)
{
    const double *begin = flow->units[0], *early = flow->units[1], *end = flow->units[2];
    double tolerance = tolerance_square(flow);
    bool found = false;
    for (size_t i = 0; i < flow->hidden && flow->network->activation == PE_RELU; i++) {
        if ((begin[i] < 0) == (end[i] < 0))
            continue;
        double slope = (early[i] - begin[i]) / NODES[1]; /* the second stage is Euler's */
        double share = reach * find_root(begin[i], end[i], reach * slope);
        double near = fmin(share, 1 - share);
        double error = 0.125 * h * near * (end[i] - begin[i]) / reach;
        if (near > KINK_SHARE && error * error * flow->network->squares[i] > tolerance) {
            if (!found)
                flow->kink = flow->kink_count = 0;
            found = true;
            add_kink(flow, flow->time + share * h);
        }
    }
    return found;
}

#define LOOK 3 /* the stage after which a look for kinks may spare the others */

/* Compute `next` one step ahead and the error's mean square. False if there are kinks on the
 * way. */
static bool try_dopri5(pe_flow *flow, double h, double end, double *ret_square)
{
    for (size_t s = 1; s < SLOPES; s++) {
        combine_slopes(flow, flow->begin, h, WEIGHTS[s], s);
        pe_network_derivative(flow->network, NODES[s] == 1 ? end : flow->time + NODES[s] * h,
                              flow->next, flow->units[s == 1 ? 1 : 2], flow->slopes[s]);
        if ((s == LOOK || s == SLOPES - 1) && find_kinks(flow, h, NODES[s]))
            return false;
    }
    *ret_square = error_square(flow, h);
    return true;
}

/* Choose the step after one of length h: up to the next kink that is known, if any. */
static void choose_step(pe_flow *flow, double h, double factor)
{
    flow->free_step = fmax(flow->free_step, h * factor);
    flow->step = flow->free_step;
    while (flow->kink < flow->kink_count &&
           flow->kinks[flow->kink] - flow->end <= KINK_SHARE * h)
        flow->kink++;
    if (flow->kink < flow->kink_count)
        flow->step = fmin(flow->step, flow->kinks[flow->kink] - flow->end);
    else
        flow->free_step = 0;
}

static void swap_pointers(double **a, double **b)
{
    double *kept = *a;
    *a = *b;
    *b = kept;
}

/* Begin a step where the last one ended. */
static void begin_step(pe_flow *flow)
{
    if (!flow->has_slope) {
        memcpy(flow->next, flow->state, flow->dim * sizeof *flow->state);
        pe_network_derivative(flow->network, 0, flow->next, flow->units[2],
                              flow->slopes[SLOPES - 1]);
        flow->has_slope = true;
    }
    swap_pointers(&flow->begin, &flow->next);
    swap_pointers(&flow->slopes[0], &flow->slopes[SLOPES - 1]);
    swap_pointers(&flow->units[0], &flow->units[2]);
    flow->time = flow->end;
}

/* Try steps until one is accepted. `attempts` counts those since the last row. */
static pe_flow_end step_dopri5(pe_flow *flow, unsigned *attempts, pe_pace *pace)
{
    begin_step(flow);
    for (;; flow->steps++, ++*attempts) {
        if (*attempts == PE_FLOW_ROW_STEPS || flow->steps == PE_FLOW_STEPS)
            return PE_FLOW_TOO_FINE;
        if (!pe_pace_may_continue(pace, flow->step_price))
            return PE_FLOW_CANCELLED;
        double end = flow->time + fmin(flow->step, PE_FLOW_ROWS * flow->dt);
        double h = end - flow->time;
        if (h == 0)
            return PE_FLOW_TOO_FINE;
        double square;
        if (!try_dopri5(flow, h, end, &square)) {
            flow->free_step = fmax(flow->free_step, h);
            flow->step = flow->kinks[0] - flow->time;
            continue;
        }
        double factor = step_factor(square);
        if (square <= 1) {
            flow->end = end;
            choose_step(flow, h, factor);
            flow->steps++, ++*attempts;
            return is_in_bounds(flow) ? PE_FLOW_REACHED : PE_FLOW_OVERFLOW;
        }
        if (!is_in_bounds(flow) && h <= 0x1p-30 * flow->dt)
            return PE_FLOW_OVERFLOW;
        flow->free_step = 0;
        flow->step = h * fmin(factor, 0.9);
    }
}

/* The state at a time within the last step. */
static void interpolate_state(const pe_flow *flow, double t)
{
    double h = flow->end - flow->time, share = (t - flow->time) / h;
    double *const *slopes = flow->slopes;
    if (t == flow->end) {
        memcpy(flow->state, flow->next, flow->dim * sizeof *flow->state);
        return;
    }
    for (size_t i = 0; i < flow->dim; i++) {
        double way = flow->next[i] - flow->begin[i], bend = DENSE[0] * slopes[0][i];
        for (size_t s = 1; s < SLOPES; s++)
            bend += DENSE[s] * slopes[s][i];
        double early = h * slopes[0][i] - way, late = way - h * slopes[SLOPES - 1][i] - early;
        double rest = early + share * (late + (1 - share) * (h * bend));
        flow->state[i] = flow->begin[i] + share * (way + (1 - share) * rest);
    }
}

static pe_flow_end advance_dopri5(pe_flow *flow, pe_pace *pace)
{
    double t = (double)(flow->row + 1) * flow->dt;
    unsigned attempts = 0;
    while (flow->end < t) {
        pe_flow_end end = step_dopri5(flow, &attempts, pace);
        if (end != PE_FLOW_REACHED)
            return end;
    }
    interpolate_state(flow, t);
    return PE_FLOW_REACHED;
}

pe_flow_end pe_flow_advance(pe_flow *flow, pe_pace *pace)
{
    pe_flow_end end =
        flow->method == PE_DOPRI5 ? advance_dopri5(flow, pace) : advance_rk4(flow, pace);
    if (end == PE_FLOW_REACHED)
        flow->row++;
    return end;
}
