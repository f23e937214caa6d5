/* Finding the pieces of a network with one input. */
#include "trained/pieces.h"

#include "numerics/exact.h"

#include <math.h>
#include <stdlib.h>

/* A unit max(0, weight·u + bias), for u >= 0. */
typedef struct relu_unit {
    double weight, bias;
    dd corner; /* where it begins or ends to be active; only if it turns */
    bool active, turns;
    uint64_t index;
} relu_unit;

PE_HELD_SIZE(relu_unit, 48);
PE_HELD_SIZE(pe_line, 32);

/* Exact sums over the units that are active. */
typedef struct unit_sums {
    pe_exact slope, intercept;
} unit_sums;

#define UNIT_PRICE  300  /* to read a unit and sort it */
#define PIECE_PRICE 1500 /* to compute a line of an output */

double pe_pieces_price(const pe_weights *weights, uint64_t units, uint64_t outputs)
{
    double count = (double)units * (double)(outputs + 2) + (double)outputs;
    return UNIT_PRICE * (double)units + PIECE_PRICE * (double)outputs * (double)(units + 1) +
           pe_trained_check_price(weights, (uint64_t)count);
}

uint64_t pe_pieces_bytes(uint64_t units, uint64_t outputs)
{
    return (units + 1) * (sizeof(relu_unit) + sizeof(dd)) +
           (units + 1) * outputs * sizeof(pe_line) + outputs * sizeof(double);
}

static relu_unit make_unit(size_t index, double weight, double bias)
{
    relu_unit unit = {.weight = weight, .bias = bias, .index = index};
    unit.active = bias > 0 || (bias == 0 && weight > 0);
    unit.turns = (bias > 0 && weight < 0) || (bias < 0 && weight > 0);
    if (unit.turns)
        unit.corner = dd_div(-bias, weight);
    return unit;
}

/* Order of corners; units that never turn come last. Where rounding swaps two corners that
 * nearly coincide nothing is lost, since the outputs are continuous. */
static int compare_units(const void *left, const void *right)
{
    const relu_unit *a = left, *b = right;
    if (a->turns != b->turns)
        return a->turns ? -1 : 1;
    if (a->turns && a->corner.hi != b->corner.hi)
        return a->corner.hi < b->corner.hi ? -1 : 1;
    if (a->turns && a->corner.lo != b->corner.lo)
        return a->corner.lo < b->corner.lo ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Add a unit's share in an output to the sums, or take it away. */
static void add_unit(unit_sums *sums, const relu_unit *unit, double weight, int sign)
{
    pe_exact_add(&sums->slope, sign * weight, unit->weight);
    pe_exact_add(&sums->intercept, sign * weight, unit->bias);
}

/* Write the lines of one output, `stride` lines apart. */
static void make_lines(const relu_unit *units, size_t count, size_t corners,
                       const double *weights, double bias, size_t stride, pe_line *ret_lines)
{
    unit_sums sums = {{{0}}, {{0}}};
    pe_exact_add(&sums.intercept, bias, 1);
    for (size_t k = 0; k < count; k++)
        if (units[k].active)
            add_unit(&sums, &units[k], weights[units[k].index], 1);
    for (size_t piece = 0;; piece++) {
        ret_lines[piece * stride] =
            (pe_line){pe_exact_value(&sums.slope), pe_exact_value(&sums.intercept)};
        if (piece == corners)
            return;
        const relu_unit *turning = &units[piece];
        add_unit(&sums, turning, weights[turning->index], turning->active ? -1 : 1);
    }
}

/* The tensors of a network. */
typedef struct network_tensors {
    pe_trained w1, b1, w2, b2;
} network_tensors;

static network_tensors read_tensors(const pe_weights *weights, size_t units, size_t outputs)
{
    /* the bound of such a distribution is the square root of 6/fans */
    const pe_distribution first = {.initialiser = PE_XAVIER_UNIFORM, .fans = 6};
    const pe_distribution second = {.initialiser = PE_XAVIER_UNIFORM,
                                    .fans = 6 * (uint64_t)units};
    return (network_tensors){pe_trained_find(weights, "w1", 1, &first),
                             pe_trained_find(weights, "b1", units, &first),
                             pe_trained_find(weights, "w2", units, &second),
                             pe_trained_find(weights, "b2", outputs, &second)};
}

/* Read the units in the order of their corners; returns how many turn. */
static size_t read_units(const network_tensors *tensors, size_t count, relu_unit *ret_units)
{
    size_t corners = 0;
    for (size_t k = 0; k < count; k++) {
        double weight, bias;
        pe_trained_row(&tensors->w1, k, 0, 1, &weight);
        pe_trained_row(&tensors->b1, 0, k, 1, &bias);
        ret_units[k] = make_unit(k, weight, bias);
        corners += ret_units[k].turns;
    }
    qsort(ret_units, count, sizeof *ret_units, compare_units);
    return corners;
}

/* Find the pieces; `weights` has room for a row of w2. False: the runner cancelled it. */
static bool find_pieces(pe_pieces *pieces, const network_tensors *tensors, relu_unit *units,
                        size_t count, double *weights, pe_pace *pace)
{
    if (!pe_pace_may_continue(pace, UNIT_PRICE * (double)count))
        return false;
    pieces->corners = read_units(tensors, count, units);
    for (size_t k = 0; k < pieces->corners; k++)
        pieces->at[k] = units[k].corner;
    for (size_t h = 0; h < pieces->outputs; h++) {
        double bias;
        if (!pe_pace_may_continue(pace, PIECE_PRICE * (double)(count + 1)))
            return false;
        pe_trained_row(&tensors->w2, h, 0, count, weights);
        pe_trained_row(&tensors->b2, 0, h, 1, &bias);
        make_lines(units, count, pieces->corners, weights, bias, pieces->outputs,
                   pieces->lines + h);
        pieces->steepest[h] = 0;
        for (size_t piece = 0; piece <= pieces->corners; piece++)
            pieces->steepest[h] = fmax(
                pieces->steepest[h], fabs(pieces->lines[piece * pieces->outputs + h].slope.hi));
    }
    return true;
}

bool pe_pieces_init(pe_pieces *ret_pieces, const pe_weights *weights, size_t units,
                    size_t outputs, pe_pace *pace)
{
    network_tensors tensors = read_tensors(weights, units, outputs);
    if (!pe_trained_check_largest(pace, &tensors.w1, "w1", units) ||
        !pe_trained_check_largest(pace, &tensors.b1, "b1", 1) ||
        !pe_trained_check_largest(pace, &tensors.w2, "w2", outputs) ||
        !pe_trained_check_largest(pace, &tensors.b2, "b2", 1))
        return false;
    *ret_pieces =
        (pe_pieces){.outputs = outputs,
                    .at = pe_keep(pace, units, sizeof *ret_pieces->at),
                    .lines = pe_keep(pace, (units + 1) * outputs, sizeof *ret_pieces->lines),
                    .steepest = pe_keep(pace, outputs, sizeof *ret_pieces->steepest)};
    relu_unit *sorted = pe_keep(pace, units, sizeof *sorted);
    double *row = pe_keep(pace, units, sizeof *row);
    return ret_pieces->at && ret_pieces->lines && ret_pieces->steepest && sorted && row &&
           find_pieces(ret_pieces, &tensors, sorted, units, row, pace);
}

static bool is_less(dd a, dd b)
{
    return a.hi != b.hi ? a.hi < b.hi : a.lo < b.lo;
}

const pe_line *pe_pieces_find(const pe_pieces *pieces, dd u)
{
    size_t low = 0, high = pieces->corners; /* the first corner that is not below u */
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (is_less(pieces->at[middle], u))
            low = middle + 1;
        else
            high = middle;
    }
    return pieces->lines + low * pieces->outputs;
}

dd pe_line_value(pe_line line, dd u)
{
    return dd_snap(dd_add(dd_mul(line.slope, u), line.intercept));
}

/* In units of 2^-53, with S the steepest slope: u is off by 4, slope and product by one each of
 * at most S·u, intercept and sum by one. Near a corner, which is rounded, the line may be the
 * other one, which differs there by at most 2·S·5·u. That is not above 16 of S·u + |intercept|.
 */
size_t pe_pieces_follow(const pe_pieces *pieces, size_t output, const double *inputs,
                        size_t count, size_t *piece, double *ret_outputs, double *ret_error)
{
    while (*piece < pieces->corners && pieces->at[*piece].hi < inputs[0])
        ++*piece;
    while (*piece > 0 && pieces->at[*piece - 1].hi >= inputs[0])
        --*piece;
    const pe_line *line = &pieces->lines[*piece * pieces->outputs + output];
    const double after = *piece > 0 ? pieces->at[*piece - 1].hi : -1;
    const double until = *piece < pieces->corners ? pieces->at[*piece].hi : INFINITY;
    const double slope = line->slope.hi, intercept = line->intercept.hi;
    double largest = 0;
    size_t i = 0;
    for (; i < count && inputs[i] > after && inputs[i] <= until; i++) {
        ret_outputs[i] = slope * inputs[i] + intercept;
        largest = inputs[i] > largest ? inputs[i] : largest;
    }
    *ret_error = (pieces->steepest[output] * largest + fabs(intercept)) * 0x1p-48;
    return i;
}

/* The largest magnitude of any output at u. */
static double compute_magnitude(const pe_pieces *pieces, dd u)
{
    const pe_line *lines = pe_pieces_find(pieces, u);
    double magnitude = 0;
    for (size_t h = 0; h < pieces->outputs; h++)
        magnitude = fmax(magnitude, fabs(pe_line_value(lines[h], u).hi));
    return magnitude;
}

double pe_pieces_magnitude(const pe_pieces *pieces, dd most)
{
    double magnitude =
        fmax(compute_magnitude(pieces, (dd){0, 0}), compute_magnitude(pieces, most));
    for (size_t k = 0; k < pieces->corners && is_less(pieces->at[k], most); k++)
        magnitude = fmax(magnitude, compute_magnitude(pieces, pieces->at[k]));
    return magnitude;
}
