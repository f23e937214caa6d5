#include "identify/form_factor_line.h"

#include "identify/compared_lines.h"
#include "identify/price.h"
#include "numerics/decimal.h"
#include "numerics/dtype.h"

#include <math.h>
#include <stdlib.h>

#define LEAST_ERROR   0x1p-51 /* relative, of sums of doubles */
#define LEAST_HALF    0x1p-14 /* float16 has fewer digits below */
#define SETTLED_STEPS 48
#define SURE_DIGITS   2 /* of a number that no measured one has by chance */

/* ---- trends ---- */

double pe_measure_distance(const pe_factor_trend *own, pe_factor_point at)
{
    return fabs(at.y - own->y - own->slope * (at.x - own->x)) / at.size;
}

/* Fit a trend to the points that are near the one before. False: they are too few. */
static bool improve_trend(const pe_factor_point *points, size_t count, pe_factor_trend *own)
{
    const pe_factor_trend last = *own;
    double weights = 0, xx = 0, xy = 0;
    *own = (pe_factor_trend){.least = last.least};
    for (size_t i = 0; i < count; i++)
        if (pe_measure_distance(&last, points[i]) <= last.most) {
            const double weight = 1 / (points[i].size * points[i].size);
            own->x += points[i].x * weight;
            own->y += points[i].y * weight;
            weights += weight;
            own->used++;
        }
    own->x /= weights;
    own->y /= weights;
    for (size_t i = 0; i < count; i++)
        if (pe_measure_distance(&last, points[i]) <= last.most) {
            const double x = (points[i].x - own->x) / points[i].size;
            xx += x * x;
            xy += x * (points[i].y - own->y) / points[i].size;
        }
    if (own->used < PE_FEWEST_POINTS)
        return false;
    own->slope = isnormal(xx) ? xy / xx : 0;
    for (size_t i = 0; i < count; i++)
        if (pe_measure_distance(&last, points[i]) <= last.most)
            own->spread += pe_measure_distance(own, points[i]) / (double)own->used;
    own->most = fmax(3 * own->spread, own->least);
    own->error = own->spread / sqrt(weights);
    own->tilt = own->spread / sqrt(xx);
    return true;
}

bool pe_fit_trend(const pe_factor_point *points, size_t count, double share, double least,
                  pe_factor_trend *ret_trend)
{
    *ret_trend = (pe_factor_trend){.most = INFINITY, .least = least};
    for (int i = 0; i < 6; i++)
        if (!improve_trend(points, count, ret_trend))
            return false;
    return (double)ret_trend->used >= share * (double)count;
}

/* ---- numbers that make all entries ---- */

double pe_bound_rounded(double number, double unit)
{
    const double size = fmax(fabs(number), LEAST_HALF);
    return ldexp(0.5 * ldexp(1, ilogb(unit)), ilogb(size)) + pe_dtypes[PE_F32].unit * size;
}

/* The constants with which a factor makes all points, as near as their sizes: between the two.
 * Returns how much room is between them; below 0 there are none. */
static double bound_constant(const pe_factor_point *points, size_t count, double factor,
                             double ret[2])
{
    ret[0] = -INFINITY;
    ret[1] = INFINITY;
    for (size_t i = 0; i < count; i++) {
        const double constant = points[i].y - factor * points[i].x;
        ret[0] = fmax(ret[0], constant - points[i].size);
        ret[1] = fmin(ret[1], constant + points[i].size);
    }
    return ret[1] - ret[0];
}

bool pe_settle_numbers(const pe_factor_point *points, size_t count, double measured,
                       pe_factor_line *ret_line)
{
    /* the room that a factor leaves to the constant has one maximum */
    double ends[] = {measured * (1 - PE_FAR_OFF), measured * (1 + PE_FAR_OFF)}, room[2];
    for (int i = 0; i < SETTLED_STEPS; i++) {
        const double third = (ends[1] - ends[0]) / 3;
        const bool left = bound_constant(points, count, ends[0] + third, room) >
                          bound_constant(points, count, ends[1] - third, room);
        ends[left] += left ? -third : third;
    }
    const double factor = (ends[0] + ends[1]) / 2;
    const bool fits = bound_constant(points, count, factor, room) >= 0;
    double told = factor;
    for (double off = PE_FAR_OFF; fits && off > LEAST_ERROR; off /= 2) {
        told = pe_find_decimal(factor, off);
        if (bound_constant(points, count, told, room) >= 0)
            break;
    }
    const double middle = (room[0] + room[1]) / 2;
    if (!fits || room[1] < room[0])
        return false;
    *ret_line = (pe_factor_line){.factor = told, .settled = true};
    if (room[0] > 0 || room[1] < 0)
        ret_line->constant = pe_find_decimal(middle, (room[1] - room[0]) / 2 / fabs(middle));
    return true;
}

/* ---- numbers to tell ---- */

pe_factor_line pe_choose_factor(double number, double error, const pe_view *view)
{
    const double square = number * number, unit = pe_observation_unit(view);
    /* the number itself was rounded, too */
    const double size = fabs(number);
    const double near = fmax(2 * error, fmin(unit, pe_dtypes[PE_F32].unit)) * size;
    /* entries of few digits may all have been rounded to the same side */
    const double likely = fmax(near, PE_FACTOR_SIDE * unit * size);
    const double width = sqrt((double)view->shape[view->rank - 1]),
                 numbers[] = {PE_LOG2_E, 1 / PE_LOG2_E, sqrt(rint(square)),
                              1 / sqrt(rint(1 / square))};
    pe_factor_line chosen = {.factor = pe_find_decimal(number, error)};
    chosen.sure = pe_count_digits(chosen.factor) <= SURE_DIGITS;
    if (fabs(width - number) <= likely)
        return (pe_factor_line){.factor = width, .sure = true};
    for (size_t i = 0; i < PE_COUNT(numbers); i++)
        if (fabs(numbers[i] - number) <= (i < 2 ? likely : near) &&
            pe_price_number(numbers[i]) < pe_price_number(chosen.factor))
            chosen = (pe_factor_line){.factor = numbers[i], .sure = true};
    return chosen;
}

pe_factor_line pe_choose_line(const pe_factor_line *own, double unit, const pe_view *view)
{
    const double least = fmax(unit / 64, LEAST_ERROR) * fabs(own->factor);
    if (own->settled)
        return *own;
    pe_factor_line chosen = pe_choose_factor(
        own->factor, fmax(2 * own->factor_error, least) / fabs(own->factor), view);
    chosen.constant_error = fmax(4 * own->constant_error, least);
    if (fabs(own->constant) <= chosen.constant_error)
        return chosen;
    chosen.constant = own->constant + own->centre * (own->factor - chosen.factor);
    chosen.constant =
        pe_find_decimal(chosen.constant, chosen.constant_error / 2 / fabs(chosen.constant));
    return chosen;
}

/* ---- entries that are looked at ---- */

bool pe_read_factor_sample(const pe_layer *layer, pe_factor_sample *seen)
{
    const uint64_t lines = pe_view_lines(&layer->view), columns = pe_view_columns(&layer->view);
    const size_t tensors = layer->is == PE_OTHER_NONE ? 1 : 2;
    seen->grain = layer->view.grain;
    seen->noise = pe_layer_has(layer, PE_TRANSFORM_NOISE) ? seen->grain * seen->grain / 25 : 0;
    seen->unit = fmax(pe_observation_unit(&layer->view), 1e-7);
    seen->columns = tensors * (size_t)columns;
    seen->rows =
        PE_FACTOR_ENTRIES / seen->columns < lines ? PE_FACTOR_ENTRIES / seen->columns : lines;
    seen->distance = seen->rows > 1 ? (lines - 1) / (seen->rows - 1) : 1;
    seen->entries = malloc(seen->rows * seen->columns * sizeof *seen->entries);
    seen->points = malloc((seen->rows * seen->columns + PE_WHOLE_TRIED) * sizeof *seen->points);
    seen->sorted = malloc(seen->rows * seen->columns * sizeof *seen->sorted);
    bool good = seen->entries && seen->points && seen->sorted;
    for (size_t r = 0; good && r < seen->rows; r++) {
        double *row = seen->entries + r * seen->columns;
        good = pe_view_read_line(&layer->view, r * seen->distance, row) &&
               (tensors == 1 ||
                pe_view_read_line(&layer->other, r * seen->distance, row + columns));
    }
    return good;
}

void pe_free_factor_sample(pe_factor_sample *seen)
{
    free(seen->entries);
    free(seen->points);
    free(seen->sorted);
}
