/* The form of a table that was multiplied, and perhaps moved, by a number. Neither is known,
 * but what they leave: rows whose squares add up to the same, columns whose bends are multiples
 * of their entries, angles, whole numbers, or an entry that is 1. */
#include "identify/form_factor_line.h"

#include "identify/compared_lines.h"
#include "identify/price.h"
#include "numerics/dtype.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOISY      2 /* errors of a trend of sums that noise moves it by */
#define NOISY_BITS 18
#define WHOLE_MAX  4096

/* ---- sines and cosines ---- */

/* Fit groups of entries a·cos + b and a·sin + b of unknown angles, as many of each, whose
 * squares have the sum 2b·(their own sum) + size·(a²/2 - b²). Without their own sums b is 0. */
static bool fit_squares(const pe_factor_sample *seen, size_t count, double size,
                        pe_factor_line *ret_line)
{
    pe_factor_trend own;
    if (!pe_fit_trend(seen->points, count, 0.8, 0, &own))
        return false;
    const double times = seen->noise > 0 ? NOISY : 1;
    const double constant = own.slope / 2;
    const double square = 2 * ((own.y - own.slope * own.x) / size + constant * constant);
    const double factor = sqrt(square);
    *ret_line = (pe_factor_line){.factor = factor,
                                 .constant = constant,
                                 .constant_error = own.slope == 0 ? 0 : times * own.tilt / 2};
    ret_line->factor_error =
        (times * own.error / size + fabs(own.x / size - constant) * ret_line->constant_error) /
        factor;
    return isnormal(factor) &&
           own.spread <=
               (4 * seen->unit * (square + constant * constant) + 2 * seen->grain * factor) *
                   sqrt(size) &&
           ret_line->constant_error <= PE_FAR_OFF * factor;
}

/* Add up the rows of a sample, or its pairs, which are neighbours or in its halves. */
static size_t add_groups(const pe_factor_sample *seen, size_t size, size_t from, size_t step,
                         bool moved)
{
    const size_t groups = seen->columns / size;
    for (size_t i = 0; i < seen->rows * groups; i++) {
        const double *first = seen->entries + i / groups * seen->columns + i % groups * from;
        pe_factor_point *sum = &seen->points[i];
        *sum = (pe_factor_point){0, 0, 1};
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
static bool fit_circle(const pe_factor_sample *seen, pe_factor_line *ret_line)
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
static bool fit_column(const pe_factor_sample *seen, size_t column, pe_factor_line *ret_line)
{
    const size_t count = seen->rows - 2, next = seen->columns;
    const double *entries = seen->entries + column;
    double squares = 0, used = 0;
    pe_factor_trend own;
    for (size_t i = 0; i < count; i++) {
        const double *at = entries + (i + 1) * next;
        seen->points[i] = (pe_factor_point){*at, at[next] - 2 * *at + *(at - next), 1};
    }
    if (!pe_fit_trend(seen->points, count, 0.5, 0, &own) || !(own.slope < 0 && own.slope > -4))
        return false;
    const double constant = own.x - own.y / own.slope, cosine = 1 + own.slope / 2;
    for (size_t i = 0; i < count; i++)
        if (pe_measure_distance(&own, seen->points[i]) <= own.most) {
            const double *at = entries + (i + 1) * next, middle = *at - constant;
            squares += middle * middle - (at[next] - constant) * (*(at - next) - constant);
            used++;
        }
    const double sine = (1 - cosine) * (1 + cosine);
    *ret_line = (pe_factor_line){.factor = sqrt(squares / used / sine), .constant = constant};
    ret_line->constant_error =
        (own.error + own.tilt * fabs(constant - own.x)) / fabs(own.slope);
    ret_line->factor_error = ret_line->constant_error / sqrt(sine);
    return isnormal(ret_line->factor) &&
           own.spread <= PE_FAR_OFF * fabs(own.slope) * ret_line->factor;
}

static bool agree(const pe_factor_line *one, const pe_factor_line *other)
{
    const double off = 8 * (one->factor_error + other->factor_error) + 1e-3 * other->factor;
    return fabs(one->factor - other->factor) <= off &&
           fabs(one->constant - other->constant) <= off;
}

/* The factor and the constant of columns that are waves, as most that tell something must be:
 * the mean of those that agree with the best one. */
static bool fit_waves(const pe_factor_sample *seen, pe_factor_line *ret_line)
{
    pe_factor_line best = {.factor_error = INFINITY}, own;
    double weights = 0, told = 0, same = 0;
    *ret_line = (pe_factor_line){0};
    for (size_t c = 0; seen->rows >= PE_FEWEST_POINTS && c < seen->columns; c++)
        if (fit_column(seen, c, &own) && own.factor_error <= PE_FAR_OFF * own.factor) {
            told++;
            best = own.factor_error < best.factor_error ? own : best;
        }
    for (size_t c = 0; told > 1 && c < seen->columns; c++)
        if (fit_column(seen, c, &own) && own.factor_error <= PE_FAR_OFF * own.factor &&
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
static bool fit_angles(const pe_factor_sample *seen, pe_factor_line *ret_line)
{
    const size_t half = (seen->rows - 1) / 2, columns = seen->columns;
    const double *first = seen->entries, *middle = first + half * columns;
    const double *last = middle + half * columns;
    double most = 0;
    size_t bent = 0;
    pe_factor_trend own;
    for (size_t c = 0; c < columns; c++) {
        const double moved = last[c] - first[c];
        seen->points[c] = (pe_factor_point){moved, first[c], 1};
        most = fabs(moved) > fabs(most) ? moved : most;
        bent += !(fabs(first[c] + last[c] - 2 * middle[c]) <= PE_FAR_OFF * fabs(moved));
    }
    if (half < PE_FEWEST_POINTS || 4 * bent > columns || most != last[0] - first[0] ||
        !pe_fit_trend(seen->points, columns, 0.8, 0, &own) ||
        own.spread > PE_FAR_OFF * fabs(most))
        return false;
    const double constant = own.y - own.slope * own.x;
    const double factor = most / (2 * (double)half * (double)seen->distance);
    *ret_line = (pe_factor_line){.factor = factor,
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
static bool count_steps(const double *numbers, size_t count, pe_factor_point *points)
{
    double step = INFINITY, whole = 0;
    for (size_t i = 1; i < count; i++)
        step = fmin(step, numbers[i] - numbers[i - 1]);
    for (size_t i = 0; i < count; i++) {
        const double more = i > 0 ? (numbers[i] - numbers[i - 1]) / step : 0;
        whole += rint(more);
        step = i > 0 ? (numbers[i] - numbers[0]) / whole : step;
        /* it may have been rounded beside the first one, a constant */
        points[i] = (pe_factor_point){whole, numbers[i],
                                      hypot(numbers[i], fmax(fabs(numbers[0]), step / 1024))};
        if (!(fabs(more - rint(more)) <= 0.25) || whole > 2 * (double)count)
            return false;
    }
    return true;
}

/* Whether so many entries are whole numbers times a factor, from a constant on. They are
 * sorted. */
static bool fit_steps(double *entries, size_t count, double unit, pe_factor_point *points,
                      pe_factor_line *ret_line)
{
    size_t known = 0;
    pe_factor_trend own;
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
    if (known >= PE_FEWEST_POINTS && pe_fit_trend(points, known, 0.8, unit, &own))
        *ret_line = (pe_factor_line){.factor = own.slope,
                                     .constant = own.y - own.slope * own.x,
                                     .factor_error = own.tilt,
                                     .constant_error = own.error,
                                     .centre = own.x};
    else if (known > 1 &&
             known < PE_FEWEST_POINTS) /* which tell it if they are the numbers' own */
        *ret_line =
            (pe_factor_line){.factor = (entries[known - 1] - entries[0]) / points[known - 1].x,
                             .constant = entries[0],
                             .factor_error = unit / 4 * hypot(entries[0], entries[known - 1]),
                             .constant_error = unit / 4 * fabs(entries[0])};
    else
        return false;
    for (size_t i = 0; i < known; i++)
        points[i].size = pe_bound_rounded(points[i].y, unit);
    if (unit >= PE_FACTOR_UNIT)
        pe_settle_numbers(points, known, ret_line->factor, ret_line);
    return true;
}

/* The factor and the constant of whole numbers. */
static bool fit_whole(const pe_factor_sample *seen, pe_factor_line *ret_line)
{
    const size_t count = seen->rows * seen->columns;
    double tried[PE_WHOLE_TRIED];
    for (size_t i = 0; i < PE_WHOLE_TRIED; i++)
        tried[i] = seen->entries[i * (count - 1) / (PE_WHOLE_TRIED - 1)];
    *ret_line = (pe_factor_line){0};
    if (!fit_steps(tried, PE_WHOLE_TRIED, seen->unit, seen->points, ret_line))
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

/* Add the layer without a factor and a constant. */
static bool add_scaled(pe_layers *layers, const pe_layer *layer, pe_mapping mapping,
                       pe_factor_line found)
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
            scaled[i]->unit *= 1 + 2 * PE_FACTOR_SIDE;
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
static bool find_slope_factor(const pe_view *view, const pe_factor_sample *seen,
                              double *ret_factor)
{
    double slopes[2] = {0, 0};
    for (uint64_t head = 0; view->rank > 1 && view->shape[0] > 1 && head < 2; head++) {
        pe_view row = pe_view_at(view, 0, head);
        pe_factor_trend own;
        while (row.rank > 1)
            row = pe_view_at(&row, 0, row.shape[0] - 1);
        if (!pe_view_read(&row, 0, seen->columns, seen->sorted))
            return false;
        for (size_t i = 0; i < seen->columns; i++)
            seen->points[i] = (pe_factor_point){(double)i, seen->sorted[i], 1};
        if (pe_fit_trend(seen->points, seen->columns, 0.8, 0, &own) &&
            own.spread <= 4 * seen->unit * fabs(own.slope) * (double)seen->columns)
            slopes[head] = fabs(own.slope);
    }
    *ret_factor = slopes[1] > 0 ? slopes[0] * slopes[0] / slopes[1] : 0;
    return true;
}

/* Factors of tables that have an entry of 1 first, or slopes of ALiBi's. */
static bool undo_others(pe_layers *layers, const pe_layer *layer, const pe_factor_sample *seen)
{
    const double error = fmax(pe_observation_unit(&layer->view) / 2, 1e-7);
    double factors[2] = {seen->entries[0]};
    if (!find_slope_factor(&layer->view, seen, &factors[1]))
        return false;
    for (size_t i = 0; i < PE_COUNT(factors); i++)
        if (isnormal(factors[i]) && factors[i] > 0 &&
            !add_scaled(layers, layer, PE_MAP_SCALE,
                        pe_choose_factor(factors[i], error, &layer->view)))
            return false;
    return true;
}

/* How a sample of whole numbers is mapped: exactly, if it is made of them exactly. */
static pe_mapping choose_mapping(const pe_factor_sample *seen, const pe_factor_line *found,
                                 pe_element element)
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
static bool add_whole(pe_layers *layers, const pe_layer *layer, const pe_factor_sample *seen,
                      pe_factor_line found)
{
    const double unit = pe_observation_unit(&layer->view);
    double most = -INFINITY;
    for (size_t i = 0; i < seen->rows * seen->columns; i++)
        most = isfinite(seen->entries[i]) ? fmax(most, seen->entries[i]) : most;
    const pe_factor_line up = pe_choose_line(&found, unit, &layer->view);
    found.factor = -found.factor;
    found.constant = rint((most - found.constant) / up.factor) * up.factor + found.constant;
    const pe_factor_line down = pe_choose_line(&found, unit, &layer->view);
    return add_scaled(layers, layer, choose_mapping(seen, &up, layer->view.element), up) &&
           add_scaled(layers, layer, choose_mapping(seen, &down, layer->view.element), down);
}

/* Undo what a sample tells: what fits first is taken for what it is, but whole numbers, as -1
 * and 1 are, may have squares of the same sum. */
static bool undo_sample(pe_layers *layers, const pe_layer *layer, const pe_factor_sample *seen)
{
    static bool (*const FITS[])(const pe_factor_sample *,
                                pe_factor_line *) = {fit_circle, fit_waves, fit_angles};
    const double unit = pe_observation_unit(&layer->view);
    const bool alone = layer->is == PE_OTHER_NONE;
    pe_factor_line found;
    const bool whole = alone && fit_whole(seen, &found);
    if (whole && !add_whole(layers, layer, seen, found))
        return false;
    for (size_t i = 0; i < (alone && !whole ? PE_COUNT(FITS) : 1); i++)
        if (FITS[i](seen, &found))
            return add_scaled(layers, layer, PE_MAP_SCALE,
                              pe_choose_line(&found, unit, &layer->view));
    return whole || !alone || undo_others(layers, layer, seen);
}

/* Whether a sample is one number, which tells neither a factor nor a constant. */
static bool is_one_number(const pe_factor_sample *seen)
{
    const size_t count = seen->rows * seen->columns;
    size_t same = 1;
    while (same < count && seen->entries[same] == seen->entries[0])
        same++;
    return same >= count;
}

bool pe_undo_factor(pe_layers *layers, const pe_layer *layer)
{
    pe_factor_sample seen = {.rows = 0};
    if (layer->is == PE_OTHER_TABLE || pe_layer_has(layer, PE_TRANSFORM_FACTOR) ||
        layer->view.rank < 1 || pe_view_columns(&layer->view) > PE_FACTOR_ENTRIES / 2)
        return true;
    const bool good = pe_read_factor_sample(layer, &seen) &&
                      (is_one_number(&seen) || undo_sample(layers, layer, &seen));
    pe_free_factor_sample(&seen);
    return good;
}

bool pe_undo_other_sign(pe_layers *layers, const pe_layer *layer)
{
    const pe_factor_line negative = {.factor = -1, .sure = true};
    return add_scaled(layers, layer, PE_MAP_SCALE, negative);
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
