/* The form of a table that was multiplied, and perhaps moved, by a number. Neither is known,
 * but what they leave: rows whose squares add up to the same, columns whose bends are multiples
 * of their entries, angles, whole numbers, or an entry that is 1. */
#include "identify/form.h"

#include "identify/compared_lines.h"
#include "identify/price.h"
#include "identify/query.h"
#include "numerics/dtype.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOISY         2    /* errors of a trend of sums that noise moves it by */
#define NOISY_FIT     1.75 /* the same of entries */
#define NOISY_BITS    18
#define ENTRIES_MAX   ((size_t)1 << 15) /* that are looked at */
#define SHORT_UNIT    0x1p-18           /* of numbers by which a table tells a constant badly */
#define LEAST_ERROR   0x1p-51           /* relative, of sums of doubles */
#define FEWEST        8                 /* points of a trend */
#define FAR_OFF       0.02    /* relative: what lies so far from a trend is none of it */
#define SIDE          0.25    /* of a unit: how far off a factor may be by that of rounding */
#define SLACK         0x1p-20 /* of sines and cosines of float32 */
#define LEAST_HALF    0x1p-14 /* float16 has fewer digits below */
#define SETTLED_STEPS 48
#define SURE_DIGITS   2 /* of a number that no measured one has by chance */
#define WHOLE_MAX     4096
#define WHOLE_TRIED   512 /* entries, before all of them */

/* A factor and a constant, and what they may be off by. */
typedef struct line {
    double factor, constant, factor_error, constant_error;
    double centre; /* the number whose entry is told best, as the constant is of the factor */
    bool sure;     /* the factor has a name, or few digits, and no error */
    bool settled;  /* both are the numbers to tell: all entries are they rounded */
} line;

/* A point of a trend, and what it is known to. */
typedef struct point {
    double x, y, size;
} point;

/* Rows that are spread evenly over a table; of two tensors a row of each, one after the other.
 */
typedef struct sample {
    size_t rows, columns;
    uint64_t distance;  /* between two rows */
    double unit, grain; /* that entries are known to */
    double noise;       /* mean square, of entries */
    double *entries;    /* [rows, columns] */
    double *sorted;     /* room for as many */
    point *points;      /* room for as many */
} sample;

/* ---- trends ---- */

/* A straight line through points, but for those that are far from it. */
typedef struct trend {
    double x, y, slope; /* through x and y */
    double error, tilt; /* of y, and of the slope */
    double spread;      /* the mean of what the points are off by, in their sizes */
    double most;        /* beyond which they are far */
    double least;       /* of that */
    size_t used;
} trend;

static double measure_distance(const trend *own, point at)
{
    return fabs(at.y - own->y - own->slope * (at.x - own->x)) / at.size;
}

/* Fit a trend to the points that are near the one before. False: they are too few. */
static bool improve_trend(const point *points, size_t count, trend *own)
{
    const trend last = *own;
    double weights = 0, xx = 0, xy = 0;
    *own = (trend){.least = last.least};
    for (size_t i = 0; i < count; i++)
        if (measure_distance(&last, points[i]) <= last.most) {
            const double weight = 1 / (points[i].size * points[i].size);
            own->x += points[i].x * weight;
            own->y += points[i].y * weight;
            weights += weight;
            own->used++;
        }
    own->x /= weights;
    own->y /= weights;
    for (size_t i = 0; i < count; i++)
        if (measure_distance(&last, points[i]) <= last.most) {
            const double x = (points[i].x - own->x) / points[i].size;
            xx += x * x;
            xy += x * (points[i].y - own->y) / points[i].size;
        }
    if (own->used < FEWEST)
        return false;
    own->slope = isnormal(xx) ? xy / xx : 0;
    for (size_t i = 0; i < count; i++)
        if (measure_distance(&last, points[i]) <= last.most)
            own->spread += measure_distance(own, points[i]) / (double)own->used;
    own->most = fmax(3 * own->spread, own->least);
    own->error = own->spread / sqrt(weights);
    own->tilt = own->spread / sqrt(xx);
    return true;
}

/* Fit a trend to points, of which a share must be near it, and are if they are off by `least`.
 */
static bool fit_trend(const point *points, size_t count, double share, double least,
                      trend *ret_trend)
{
    *ret_trend = (trend){.most = INFINITY, .least = least};
    for (int i = 0; i < 6; i++)
        if (!improve_trend(points, count, ret_trend))
            return false;
    return (double)ret_trend->used >= share * (double)count;
}

/* ---- numbers that make all entries ---- */

/* How far a number may be off that became this one when it was rounded, and a few times before
 * that in float32. */
static double bound_rounded(double number, double unit)
{
    const double size = fmax(fabs(number), LEAST_HALF);
    return ldexp(0.5 * ldexp(1, ilogb(unit)), ilogb(size)) + pe_dtypes[PE_F32].unit * size;
}

/* The constants with which a factor makes all points, as near as their sizes: between the two.
 * Returns how much room is between them; below 0 there are none. */
static double bound_constant(const point *points, size_t count, double factor, double ret[2])
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

/* The factor near a measured one, and the constant, of the fewest digits that make all points.
 * The room that a factor leaves to the constant has one maximum. False: there are none, and
 * *ret_line is as it was. */
static bool settle_numbers(const point *points, size_t count, double measured, line *ret_line)
{
    double ends[] = {measured * (1 - FAR_OFF), measured * (1 + FAR_OFF)}, room[2];
    for (int i = 0; i < SETTLED_STEPS; i++) {
        const double third = (ends[1] - ends[0]) / 3;
        const bool left = bound_constant(points, count, ends[0] + third, room) >
                          bound_constant(points, count, ends[1] - third, room);
        ends[left] += left ? -third : third;
    }
    double factor = (ends[0] + ends[1]) / 2;
    const bool fits = bound_constant(points, count, factor, room) >= 0;
    double told = factor;
    for (double off = FAR_OFF; fits && off > LEAST_ERROR; off /= 2) {
        told = pe_find_decimal(factor, off);
        if (bound_constant(points, count, told, room) >= 0)
            break;
    }
    const double middle = (room[0] + room[1]) / 2;
    if (!fits || room[1] < room[0])
        return false;
    *ret_line = (line){.factor = told, .settled = true};
    if (room[0] > 0 || room[1] < 0)
        ret_line->constant = pe_find_decimal(middle, (room[1] - room[0]) / 2 / fabs(middle));
    return true;
}

/* ---- sines and cosines ---- */

/* Fit groups of entries a·cos + b and a·sin + b of unknown angles, as many of each, whose
 * squares have the sum 2b·(their own sum) + size·(a²/2 - b²). Without their own sums b is 0. */
static bool fit_squares(const sample *seen, size_t count, double size, line *ret_line)
{
    trend own;
    if (!fit_trend(seen->points, count, 0.8, 0, &own))
        return false;
    const double times = seen->noise > 0 ? NOISY : 1;
    const double constant = own.slope / 2;
    const double square = 2 * ((own.y - own.slope * own.x) / size + constant * constant);
    const double factor = sqrt(square);
    *ret_line = (line){.factor = factor,
                       .constant = constant,
                       .constant_error = own.slope == 0 ? 0 : times * own.tilt / 2};
    ret_line->factor_error =
        (times * own.error / size + fabs(own.x / size - constant) * ret_line->constant_error) /
        factor;
    return isnormal(factor) &&
           own.spread <=
               (4 * seen->unit * (square + constant * constant) + 2 * seen->grain * factor) *
                   sqrt(size) &&
           ret_line->constant_error <= FAR_OFF * factor;
}

/* Add up the rows of a sample, or its pairs, which are neighbours or in its halves. */
static size_t add_groups(const sample *seen, size_t size, size_t from, size_t step, bool moved)
{
    const size_t groups = seen->columns / size;
    for (size_t i = 0; i < seen->rows * groups; i++) {
        const double *first = seen->entries + i / groups * seen->columns + i % groups * from;
        point *sum = &seen->points[i];
        *sum = (point){0, 0, 1};
        for (size_t c = 0; c < size; c++) {
            sum->x += moved ? first[c * step] : 0;
            sum->y += first[c * step] * first[c * step] - seen->noise;
        }
    }
    return seen->rows * groups;
}

/* The factor and the constant of rows that have cosines and sines of the same angles; of few
 * rows it matters where these are. Noise hides whether there is a constant, unless it is
 * measured. */
static bool fit_circle(const sample *seen, line *ret_line)
{
    const size_t all = seen->columns;
    const bool noisy = seen->noise > 0;
    bool found = false;
    for (int i = 0; all % 2 == 0 && !found && i < 2; i++) {
        const bool moved = noisy == (i == 0);
        found =
            fit_squares(seen, add_groups(seen, all, all, 1, moved), (double)all, ret_line) ||
            fit_squares(seen, add_groups(seen, 2, 1, all / 2, moved), 2, ret_line) ||
            fit_squares(seen, add_groups(seen, 2, 2, 1, moved), 2, ret_line);
        if (noisy && moved && fabs(ret_line->constant) <= 2 * ret_line->constant_error)
            found = false;
    }
    return found;
}

/* Fit a column of entries x = a·cos(w·row + p) + b, of which the second difference is
 * 2·(cos(w) - 1)·(x - b), wherever three rows follow each other. */
static bool fit_column(const sample *seen, size_t column, line *ret_line)
{
    const size_t count = seen->rows - 2, next = seen->columns;
    const double *entries = seen->entries + column;
    double squares = 0, used = 0;
    trend own;
    for (size_t i = 0; i < count; i++) {
        const double *at = entries + (i + 1) * next;
        seen->points[i] = (point){*at, at[next] - 2 * *at + *(at - next), 1};
    }
    if (!fit_trend(seen->points, count, 0.5, 0, &own) || !(own.slope < 0 && own.slope > -4))
        return false;
    const double constant = own.x - own.y / own.slope, cosine = 1 + own.slope / 2;
    for (size_t i = 0; i < count; i++)
        if (measure_distance(&own, seen->points[i]) <= own.most) {
            const double *at = entries + (i + 1) * next, middle = *at - constant;
            squares += middle * middle - (at[next] - constant) * (*(at - next) - constant);
            used++;
        }
    const double sine = (1 - cosine) * (1 + cosine);
    *ret_line = (line){.factor = sqrt(squares / used / sine), .constant = constant};
    ret_line->constant_error =
        (own.error + own.tilt * fabs(constant - own.x)) / fabs(own.slope);
    ret_line->factor_error = ret_line->constant_error / sqrt(sine);
    return isnormal(ret_line->factor) &&
           own.spread <= FAR_OFF * fabs(own.slope) * ret_line->factor;
}

static bool agree(const line *one, const line *other)
{
    const double off = 8 * (one->factor_error + other->factor_error) + 1e-3 * other->factor;
    return fabs(one->factor - other->factor) <= off &&
           fabs(one->constant - other->constant) <= off;
}

/* The factor and the constant of columns that are waves, as most that tell something must be:
 * the mean of those that agree with the best one. */
static bool fit_waves(const sample *seen, line *ret_line)
{
    line best = {.factor_error = INFINITY}, own;
    double weights = 0, told = 0, same = 0;
    *ret_line = (line){0};
    for (size_t c = 0; seen->rows >= FEWEST && c < seen->columns; c++)
        if (fit_column(seen, c, &own) && own.factor_error <= FAR_OFF * own.factor) {
            told++;
            best = own.factor_error < best.factor_error ? own : best;
        }
    for (size_t c = 0; told > 1 && c < seen->columns; c++)
        if (fit_column(seen, c, &own) && own.factor_error <= FAR_OFF * own.factor &&
            agree(&own, &best)) {
            const double error = fmax(own.factor_error, 1e-16 * own.factor);
            const double weight = 1 / (error * error);
            ret_line->factor += own.factor * weight;
            ret_line->constant += own.constant * weight;
            weights += weight;
            same++;
        }
    ret_line->factor /= weights;
    ret_line->constant /= weights;
    ret_line->factor_error = ret_line->constant_error = 1 / sqrt(weights);
    return same > 1 && 3 * same >= 2 * told;
}

/* ---- others ---- */

/* The factor and the constant of angles, of which the first frequency is 1: the first row is
 * that of an offset, as far as rows differ. */
static bool fit_angles(const sample *seen, line *ret_line)
{
    const size_t half = (seen->rows - 1) / 2, columns = seen->columns;
    const double *first = seen->entries, *middle = first + half * columns;
    const double *last = middle + half * columns;
    double most = 0;
    size_t bent = 0;
    trend own;
    for (size_t c = 0; c < columns; c++) {
        const double moved = last[c] - first[c];
        seen->points[c] = (point){moved, first[c], 1};
        most = fabs(moved) > fabs(most) ? moved : most;
        bent += !(fabs(first[c] + last[c] - 2 * middle[c]) <= FAR_OFF * fabs(moved));
    }
    if (half < FEWEST || 4 * bent > columns || most != last[0] - first[0] ||
        !fit_trend(seen->points, columns, 0.8, 0, &own) || own.spread > FAR_OFF * fabs(most))
        return false;
    const double constant = own.y - own.slope * own.x;
    const double factor = most / (2 * (double)half * (double)seen->distance);
    *ret_line = (line){.factor = factor,
                       .constant = constant,
                       .constant_error = own.error + own.tilt * fabs(own.x)};
    return isnormal(factor);
}

static int smaller_first(const void *a, const void *b)
{
    const double one = *(const double *)a, other = *(const double *)b;
    return one < other ? -1 : one > other;
}

/* Give different numbers in order whole ones from 0 on, of which half are there: by the step
 * from the first one to the one before, as rounding makes the least one short. */
static bool count_steps(const double *numbers, size_t count, point *points)
{
    double step = INFINITY, whole = 0;
    for (size_t i = 1; i < count; i++)
        step = fmin(step, numbers[i] - numbers[i - 1]);
    for (size_t i = 0; i < count; i++) {
        const double more = i > 0 ? (numbers[i] - numbers[i - 1]) / step : 0;
        whole += rint(more);
        step = i > 0 ? (numbers[i] - numbers[0]) / whole : step;
        /* it may have been rounded beside the first one, a constant */
        points[i] =
            (point){whole, numbers[i], hypot(numbers[i], fmax(fabs(numbers[0]), step / 1024))};
        if (!(fabs(more - rint(more)) <= 0.25) || whole > 2 * (double)count)
            return false;
    }
    return true;
}

/* Whether so many entries are whole numbers times a factor, from a constant on. They are
 * sorted. */
static bool fit_steps(double *entries, size_t count, double unit, point *points, line *ret_line)
{
    size_t known = 0;
    trend own;
    size_t finite = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(entries[i]))
            entries[finite++] = entries[i];
    qsort(entries, finite, sizeof *entries, smaller_first);
    for (size_t i = 0; i < finite; i++)
        if (known == 0 || entries[i] != entries[known - 1])
            entries[known++] = entries[i];
    if (known > WHOLE_MAX || !count_steps(entries, known, points))
        return false;
    if (known >= FEWEST && fit_trend(points, known, 0.8, unit, &own))
        *ret_line = (line){.factor = own.slope,
                           .constant = own.y - own.slope * own.x,
                           .factor_error = own.tilt,
                           .constant_error = own.error,
                           .centre = own.x};
    else if (known > 1 && known < FEWEST) /* which tell it if they are the numbers' own */
        *ret_line = (line){.factor = (entries[known - 1] - entries[0]) / points[known - 1].x,
                           .constant = entries[0],
                           .factor_error = unit / 4 * hypot(entries[0], entries[known - 1]),
                           .constant_error = unit / 4 * fabs(entries[0])};
    else
        return false;
    for (size_t i = 0; i < known; i++)
        points[i].size = bound_rounded(points[i].y, unit);
    if (unit >= SHORT_UNIT)
        settle_numbers(points, known, ret_line->factor, ret_line);
    return true;
}

/* The factor and the constant of whole numbers. */
static bool fit_whole(const sample *seen, line *ret_line)
{
    const size_t count = seen->rows * seen->columns;
    double tried[WHOLE_TRIED];
    for (size_t i = 0; i < WHOLE_TRIED; i++)
        tried[i] = seen->entries[i * (count - 1) / (WHOLE_TRIED - 1)];
    *ret_line = (line){0};
    if (!fit_steps(tried, WHOLE_TRIED, seen->unit, seen->points, ret_line))
        return false;
    memcpy(seen->sorted, seen->entries, count * sizeof *seen->sorted);
    if (!fit_steps(seen->sorted, count, seen->unit, seen->points, ret_line) ||
        !isnormal(ret_line->factor))
        return false;
    const double first = ret_line->constant / ret_line->factor;
    if (first > -0.5 && fabs(first - rint(first)) <= 1e-3)
        ret_line->constant = 0;
    return true;
}

/* ---- layers ---- */

/* The factor that a measured one is taken for: the root of the width of a table, as what is
 * multiplied by that has, or the cheapest within its error. Entries of few digits may all have
 * been rounded to the same side. */
static line choose_factor(double number, double error, const pe_view *view)
{
    const double square = number * number, unit = pe_observation_unit(view);
    /* the number itself was rounded, too */
    const double size = fabs(number);
    const double near = fmax(2 * error, fmin(unit, pe_dtypes[PE_F32].unit)) * size;
    const double likely = fmax(near, SIDE * unit * size);
    const double width = sqrt((double)view->shape[view->rank - 1]),
                 numbers[] = {PE_LOG2_E, 1 / PE_LOG2_E, sqrt(rint(square)),
                              1 / sqrt(rint(1 / square))};
    line chosen = {.factor = pe_find_decimal(number, error)};
    chosen.sure = pe_count_digits(chosen.factor) <= SURE_DIGITS;
    if (fabs(width - number) <= likely)
        return (line){.factor = width, .sure = true};
    for (size_t i = 0; i < PE_COUNT(numbers); i++)
        if (fabs(numbers[i] - number) <= (i < 2 ? likely : near) &&
            pe_price_number(numbers[i]) < pe_price_number(chosen.factor))
            chosen = (line){.factor = numbers[i], .sure = true};
    return chosen;
}

/* The numbers of a line that fits: a constant that is within its error of 0 is none. */
static line choose_line(const line *own, double unit, const pe_view *view)
{
    const double least = fmax(unit / 64, LEAST_ERROR) * fabs(own->factor);
    if (own->settled)
        return *own;
    line chosen = choose_factor(own->factor,
                                fmax(2 * own->factor_error, least) / fabs(own->factor), view);
    chosen.constant_error = fmax(4 * own->constant_error, least);
    if (fabs(own->constant) <= chosen.constant_error)
        return chosen;
    chosen.constant = own->constant + own->centre * (own->factor - chosen.factor);
    chosen.constant =
        pe_find_decimal(chosen.constant, chosen.constant_error / 2 / fabs(chosen.constant));
    return chosen;
}

/* Add the layer without a factor and a constant. */
static bool add_scaled(pe_layers *layers, const pe_layer *layer, pe_mapping mapping, line found)
{
    const pe_view *views[] = {&layer->view, &layer->other};
    pe_layer beneath = pe_layer_beneath(layer);
    pe_view *scaled[] = {&beneath.view, &beneath.other};
    if (pe_layer_has(layer, PE_TRANSFORM_NOISE) &&
        fmax(pe_price_number(found.factor), pe_price_number(found.constant)) > NOISY_BITS)
        return true; /* noise leaves few digits */
    if ((fabs(found.factor - 1) < 1e-5 && found.constant == 0) ||
        !pe_layer_note(&beneath, (pe_transform){.kind = PE_TRANSFORM_FACTOR,
                                                .value = found.factor,
                                                .constant = found.constant}) ||
        beneath.bits >= layers->least)
        return true;
    pe_mapped_view *mapped = pe_layers_hold(layers, 2 * sizeof *mapped);
    for (size_t i = 0; i < (layer->is == PE_OTHER_NONE ? 1 : 2); i++) {
        if (!mapped)
            return false;
        pe_mapped_view_init(&mapped[i], views[i], mapping, found.factor, found.constant,
                            scaled[i]);
        if (mapping == PE_MAP_MADE)
            continue;
        const double unit = pe_observation_unit(views[i]);
        if (found.constant == 0 && !found.sure)
            scaled[i]->unit *= 1 + 2 * SIDE;
        if (found.constant != 0) /* beside which it was rounded */
            scaled[i]->grain +=
                (unit * (fabs(found.factor) + fabs(found.constant)) + found.constant_error) /
                fabs(found.factor);
        else if (mapping == PE_MAP_WHOLE &&
                 pe_round_number(found.factor, PE_F32) != found.factor)
            scaled[i]->grain += unit; /* it was rounded, too */
    }
    pe_layers_add(layers, &beneath);
    return true;
}

/* What slopes of a bias are of those of ALiBi, which are powers of the first one, by the last
 * line of both first heads; 0: they are none. False: the view cannot be read. */
static bool find_slope_factor(const pe_view *view, const sample *seen, double *ret_factor)
{
    double slopes[2] = {0, 0};
    for (uint64_t head = 0; view->rank > 1 && view->shape[0] > 1 && head < 2; head++) {
        pe_view row = pe_view_at(view, 0, head);
        trend own;
        while (row.rank > 1)
            row = pe_view_at(&row, 0, row.shape[0] - 1);
        if (!pe_view_read(&row, 0, seen->columns, seen->sorted))
            return false;
        for (size_t i = 0; i < seen->columns; i++)
            seen->points[i] = (point){(double)i, seen->sorted[i], 1};
        if (fit_trend(seen->points, seen->columns, 0.8, 0, &own) &&
            own.spread <= 4 * seen->unit * fabs(own.slope) * (double)seen->columns)
            slopes[head] = fabs(own.slope);
    }
    *ret_factor = slopes[1] > 0 ? slopes[0] * slopes[0] / slopes[1] : 0;
    return true;
}

/* Factors of tables that have an entry of 1 first, or slopes of ALiBi's. */
static bool undo_others(pe_layers *layers, const pe_layer *layer, const sample *seen)
{
    const double error = fmax(pe_observation_unit(&layer->view) / 2, 1e-7);
    double factors[2] = {seen->entries[0]};
    if (!find_slope_factor(&layer->view, seen, &factors[1]))
        return false;
    for (size_t i = 0; i < PE_COUNT(factors); i++)
        if (isnormal(factors[i]) && factors[i] > 0 &&
            !add_scaled(layers, layer, PE_MAP_SCALE,
                        choose_factor(factors[i], error, &layer->view)))
            return false;
    return true;
}

/* Read the rows that are looked at. False: they cannot be read, or memory ran out. */
static bool read_sample(const pe_layer *layer, sample *seen)
{
    const uint64_t lines = pe_view_lines(&layer->view), columns = pe_view_columns(&layer->view);
    const size_t tensors = layer->is == PE_OTHER_NONE ? 1 : 2;
    seen->grain = layer->view.grain;
    seen->noise = pe_layer_has(layer, PE_TRANSFORM_NOISE) ? seen->grain * seen->grain / 25 : 0;
    seen->unit = fmax(pe_observation_unit(&layer->view), 1e-7);
    seen->columns = tensors * (size_t)columns;
    seen->rows = ENTRIES_MAX / seen->columns < lines ? ENTRIES_MAX / seen->columns : lines;
    seen->distance = seen->rows > 1 ? (lines - 1) / (seen->rows - 1) : 1;
    seen->entries = malloc(seen->rows * seen->columns * sizeof *seen->entries);
    seen->points = malloc((seen->rows * seen->columns + WHOLE_TRIED) * sizeof *seen->points);
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

static void free_sample(sample *seen)
{
    free(seen->entries);
    free(seen->points);
    free(seen->sorted);
}

/* How a sample of whole numbers is mapped: exactly, if it is made of them exactly. */
static pe_mapping choose_mapping(const sample *seen, const line *found, pe_element element)
{
    const pe_dtype dtype = pe_get_mapped_dtype(element);
    double whole;
    bool made = true;
    for (size_t i = 0; made && i < seen->rows * seen->columns; i++)
        made = pe_find_whole_number(seen->entries[i], found->factor, found->constant, dtype,
                                    &whole);
    return made ? PE_MAP_MADE : PE_MAP_WHOLE;
}

/* Add the layers of whole numbers, as many from the largest down as from the smallest up. */
static bool add_whole(pe_layers *layers, const pe_layer *layer, const sample *seen, line found)
{
    const double unit = pe_observation_unit(&layer->view);
    double most = -INFINITY;
    for (size_t i = 0; i < seen->rows * seen->columns; i++)
        most = isfinite(seen->entries[i]) ? fmax(most, seen->entries[i]) : most;
    const line up = choose_line(&found, unit, &layer->view);
    found.factor = -found.factor;
    found.constant = rint((most - found.constant) / up.factor) * up.factor + found.constant;
    const line down = choose_line(&found, unit, &layer->view);
    return add_scaled(layers, layer, choose_mapping(seen, &up, layer->view.element), up) &&
           add_scaled(layers, layer, choose_mapping(seen, &down, layer->view.element), down);
}

/* Undo what a sample tells: what fits first is taken for what it is, but whole numbers, as -1
 * and 1 are, may have squares of the same sum. */
static bool undo_sample(pe_layers *layers, const pe_layer *layer, const sample *seen)
{
    static bool (*const FITS[])(const sample *, line *) = {fit_circle, fit_waves, fit_angles};
    const double unit = pe_observation_unit(&layer->view);
    const bool alone = layer->is == PE_OTHER_NONE;
    line found;
    const bool whole = alone && fit_whole(seen, &found);
    if (whole && !add_whole(layers, layer, seen, found))
        return false;
    for (size_t i = 0; i < (alone && !whole ? PE_COUNT(FITS) : 1); i++)
        if (FITS[i](seen, &found))
            return add_scaled(layers, layer, PE_MAP_SCALE,
                              choose_line(&found, unit, &layer->view));
    return whole || !alone || undo_others(layers, layer, seen);
}

/* Whether a sample is one number, which tells neither a factor nor a constant. */
static bool is_one_number(const sample *seen)
{
    const size_t count = seen->rows * seen->columns;
    size_t same = 1;
    while (same < count && seen->entries[same] == seen->entries[0])
        same++;
    return same >= count;
}

bool pe_undo_factor(pe_layers *layers, const pe_layer *layer)
{
    sample seen = {.rows = 0};
    if (layer->is == PE_OTHER_TABLE || pe_layer_has(layer, PE_TRANSFORM_FACTOR) ||
        layer->view.rank < 1 || pe_view_columns(&layer->view) > ENTRIES_MAX / 2)
        return true;
    const bool good = read_sample(layer, &seen) &&
                      (is_one_number(&seen) || undo_sample(layers, layer, &seen));
    free_sample(&seen);
    return good;
}

bool pe_undo_other_sign(pe_layers *layers, const pe_layer *layer)
{
    const line negative = {.factor = -1, .sure = true};
    return add_scaled(layers, layer, PE_MAP_SCALE, negative);
}

/* ---- by what was found ---- */

/* Read the rows of a request's tensor that are those of the sample. */
static bool read_exact(const pe_factor_fit *fit, const pe_scheme *scheme, const char *query,
                       const char *tensor, const pe_view *view, const sample *seen,
                       double *exact)
{
    pe_request *request = pe_parse_query(scheme, query, "f64", fit->limits);
    const int index = request ? pe_find_query_tensor(request, tensor, view) : -1;
    const size_t size = (size_t)pe_view_columns(view) * sizeof *exact;
    pe_stream *stream = NULL;
    pe_error error;
    bool good =
        index >= 0 && pe_request_tensor(request, (size_t)index)->dtype == PE_F64 &&
        pe_stream_new(request, (size_t)index, size, fit->runner, &stream, &error) == PE_OK;
    for (size_t r = 0; good && r < seen->rows; r++)
        good = pe_stream_read_fully(stream, r * seen->distance * size,
                                    exact + r * seen->columns, size);
    pe_stream_free(stream);
    pe_request_unref(request);
    return good;
}

/* Read the points of a sample of a layer: entries of the tensors that were found, and the
 * layer's, which are known the better the smaller they were, `beside` the constant. */
static bool read_points(const pe_factor_fit *fit, const pe_layer *layer, double beside,
                        const sample *seen)
{
    const pe_identity *found = fit->found;
    const size_t half = (size_t)pe_view_columns(&layer->view);
    if (!read_exact(fit, found->scheme, found->query, found->tensor, &layer->view, seen,
                    seen->sorted) ||
        (layer->is != PE_OTHER_NONE &&
         !read_exact(fit, found->second.scheme, found->second.query, found->second.tensor,
                     &layer->other, seen, seen->sorted + half)))
        return false;
    for (size_t i = 0; i < seen->rows * seen->columns; i++) {
        const bool negative = i % seen->columns >= half && found->second.negative;
        seen->points[i] =
            (point){negative ? -seen->sorted[i] : seen->sorted[i], seen->entries[i],
                    seen->noise > 0 ? 1 : hypot(seen->entries[i] + beside, 1e-6)};
    }
    return true;
}

/* Choose the numbers of a form by the points of a sample, if most are near a trend. */
static bool choose_by_trend(const pe_layer *layer, pe_transform form, const sample *seen,
                            line *ret_chosen)
{
    trend exact;
    if (!fit_trend(seen->points, seen->rows * seen->columns, 0.5, 0, &exact))
        return false;
    const double size = fabs(form.value) * (seen->noise > 0 ? NOISY_FIT : 1);
    const line fit = {.factor = form.value * exact.slope,
                      .constant =
                          form.value * (exact.y - exact.slope * exact.x) + form.constant,
                      .factor_error = size * exact.tilt,
                      .constant_error = size * exact.error,
                      .centre = exact.x};
    *ret_chosen = choose_line(&fit, 0, &layer->view);
    return true;
}

/* Choose those that make all points of a sample, of which the sizes are lost. */
static bool choose_by_roundings(const pe_layer *layer, pe_transform form, const sample *seen,
                                line *ret_chosen)
{
    const double unit = pe_observation_unit(&layer->view);
    const size_t count = seen->rows * seen->columns;
    for (size_t i = 0; i < count; i++) {
        point *own = &seen->points[i];
        own->y = form.value * own->y + form.constant;
        own->size = bound_rounded(own->y, unit) + SLACK * fabs(form.value);
    }
    return seen->noise == 0 && settle_numbers(seen->points, count, form.value, ret_chosen);
}

/* Add a layer with the numbers that were chosen for a form of this one. */
static bool add_better(pe_layers *layers, const pe_layer *layer, size_t form,
                       const line *chosen)
{
    const pe_transform own = layer->transforms[form];
    const pe_view *views[] = {&layer->view, &layer->other};
    pe_layer better = *layer;
    pe_view *scaled[] = {&better.view, &better.other};
    pe_mapped_view *mapped = pe_layers_hold(layers, 2 * sizeof *mapped);
    better.examined = false;
    better.waves = NULL;
    better.transforms[form].value = chosen->factor;
    better.transforms[form].constant = chosen->constant;
    for (size_t i = 0; i < (layer->is == PE_OTHER_NONE ? 1 : 2); i++) {
        if (!mapped)
            return false;
        pe_mapped_view_init(&mapped[i], views[i], PE_MAP_SCALE, chosen->factor / own.value,
                            (chosen->constant - own.constant) / own.value, scaled[i]);
        if (pe_layer_has(layer, PE_TRANSFORM_NOISE))
            continue;
        scaled[i]->unit *= chosen->sure ? 1 : 1 + 2 * SIDE;
        scaled[i]->grain =
            (chosen->constant_error + 0.5 * scaled[i]->unit * fabs(chosen->constant)) /
            fabs(chosen->factor);
    }
    pe_layers_add(layers, &better);
    return true;
}

bool pe_refit_factor(pe_layers *layers, const pe_layer *layer, const pe_factor_fit *fit)
{
    sample seen = {.rows = 0};
    line chosen = {0};
    size_t form = 0;
    while (form < layer->count && layer->transforms[form].kind != PE_TRANSFORM_FACTOR)
        form++;
    if (form == layer->count ||
        (layer->transforms[form].constant == 0 && !pe_layer_has(layer, PE_TRANSFORM_NOISE)) ||
        pe_layer_has(layer, PE_TRANSFORM_ANGLES) || layer->is == PE_OTHER_TABLE ||
        fmax(pe_observation_unit(&layer->view), layer->view.grain) < SHORT_UNIT)
        return true;
    const pe_transform own = layer->transforms[form];
    bool good = read_sample(layer, &seen);
    if (good && read_points(fit, layer, own.constant / own.value, &seen)) {
        const bool near = choose_by_trend(layer, own, &seen, &chosen);
        if (choose_by_roundings(layer, own, &seen, &chosen) || near)
            good = add_better(layers, layer, form, &chosen);
    }
    free_sample(&seen);
    return good;
}

void pe_write_factor(const pe_identity *identity, const pe_transform *form,
                     char dst[PE_FORM_TEXT])
{
    const char *of = form->value < 0 ? "every finite entry " : ""; /* masks stay */
    (void)identity;
    const int size = form->value == 1 && form->constant != 0
                         ? 0
                         : snprintf(dst, PE_FORM_TEXT, "%stimes %.9g", of, form->value);
    if (form->constant != 0)
        snprintf(dst + size, PE_FORM_TEXT - (size_t)size, "%splus %.9g", size > 0 ? ", " : "",
                 form->constant);
}
