/* The form of a table that was multiplied, and perhaps moved, by a number: what is left of it
 * has sines and cosines of amplitude 1, or slopes that are powers of 2. */
#include "identify/form.h"

#include "identify/price.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NOISY_BITS 18
#define SEVERAL    4 /* entries */
#define FAR_OFF    0.02

/* A factor and a constant. */
typedef struct line {
    double factor, constant;
} line;

/* How far the squares of two entries are from the line's, of its factor. */
static double measure_circle(const line *own, double one, double other)
{
    const double x = one - own->constant, y = other - own->constant;
    return fabs(x * x + y * y - own->factor * own->factor) / (own->factor * own->factor);
}

/* Fit entries a·cos + b and a·sin + b of unknown angles, whose squares have the sum
 * a² - 2b² + 2b·(the sum of both); the second time without those that are far off, if they are
 * few. False: they are none. */
static bool fit_circle(const pe_view views[2], line *ret_line, bool *ret_read)
{
    double entries[2][PE_LOOKED_ROWS * PE_LOOKED_COLUMNS];
    size_t count, used = 0;
    *ret_line = (line){.factor = 1};
    *ret_read = pe_view_read_sample(&views[0], entries[0], &count) &&
                pe_view_read_sample(&views[1], entries[1], &count);
    if (!*ret_read || count < 16)
        return false;
    for (int again = 0; again < 2; again++) {
        double x = 0, y = 0, xx = 0, xy = 0, n = 0;
        for (size_t i = 0; i < count; i++) {
            const double one = entries[0][i], other = entries[1][i], sum = one + other;
            const double square = one * one + other * other;
            if (again && !(measure_circle(ret_line, one, other) <= FAR_OFF))
                continue;
            n++;
            x += sum;
            y += square;
            xx += sum * sum;
            xy += sum * square;
        }
        const double spread = xx - x * x / n,
                     slope = spread > 0 ? (xy - x * y / n) / spread : 0;
        const double constant = slope / 2, mean = (y - slope * x) / n;
        *ret_line = (line){sqrt(mean + 2 * constant * constant), constant};
        if (!isnormal(ret_line->factor) || !(spread > 1e-3 * xx))
            return false;
        for (size_t i = used = 0; i < count; i++)
            used += measure_circle(ret_line, entries[0][i], entries[1][i]) <= FAR_OFF;
        if (8 * used < 7 * count)
            return false;
    }
    return true;
}

/* The number that a measured one is taken for: the root of the width of a table, as what is
 * multiplied by that has, or the cheapest within its error. */
static double choose_number(double number, double error, const pe_view *view)
{
    const double square = number * number;
    const double width = sqrt((double)view->shape[view->rank - 1]);
    const double numbers[] = {pe_find_decimal(number, fmax(error, 1e-6)), sqrt(rint(square)),
                              1 / sqrt(rint(1 / square)), PE_LOG2_E, 1 / PE_LOG2_E};
    double chosen = pe_find_decimal(number, error);
    if (fabs(width - number) <= error * number)
        return width;
    for (size_t i = 0; i < PE_COUNT(numbers); i++)
        if (fabs(numbers[i] - number) <= fmax(2 * error, i == 0 ? 1e-6 : 0) * number &&
            pe_price_number(numbers[i]) < pe_price_number(chosen))
            chosen = numbers[i];
    return chosen;
}

/* Add the layer without a factor and a constant. */
static bool add_scaled(pe_layers *layers, const pe_layer *layer, line found)
{
    pe_layer beneath = pe_layer_beneath(layer);
    if (pe_layer_has(layer, PE_TRANSFORM_NOISE) &&
        (found.constant != 0 || pe_price_number(found.factor) > NOISY_BITS))
        return true; /* noise leaves few digits */
    if ((fabs(found.factor - 1) < 1e-5 && found.constant == 0) ||
        !pe_layer_note(&beneath, (pe_transform){.kind = PE_TRANSFORM_FACTOR,
                                                .value = found.factor,
                                                .constant = found.constant}) ||
        beneath.bits >= layers->least)
        return true;
    pe_mapped_view *mapped = pe_layers_hold(layers, 2 * sizeof *mapped);
    if (!mapped ||
        !pe_mapped_view_init(&mapped[0], &layer->view, PE_MAP_SCALE, found.factor,
                             found.constant, &beneath.view) ||
        (layer->is != PE_OTHER_NONE &&
         !pe_mapped_view_init(&mapped[1], &layer->other, PE_MAP_SCALE, found.factor,
                              found.constant, &beneath.other)))
        return false;
    if (found.constant != 0) /* beside which entries were rounded */
        beneath.view.grain +=
            pe_observation_unit(&layer->view) * (1 + fabs(found.constant / found.factor));
    pe_layers_add(layers, &beneath);
    return true;
}

/* What a number that many entries tell is off by, relative; noise is a part of its unit. */
static double find_mean_error(const pe_layer *layer)
{
    const double entries = pe_layer_has(layer, PE_TRANSFORM_NOISE) ? 16 : 64;
    return fmax(pe_observation_unit(&layer->view) / entries, 1e-7);
}

/* The factor of two tensors whose squares add up to its own. */
static bool undo_of_tensors(pe_layers *layers, const pe_layer *layer)
{
    double entries[2][PE_LOOKED_ROWS * PE_LOOKED_COLUMNS], sum = 0;
    size_t count;
    if (!pe_view_read_sample(&layer->view, entries[0], &count) ||
        !pe_view_read_sample(&layer->other, entries[1], &count))
        return false;
    for (size_t i = 0; i < count; i++)
        sum += entries[0][i] * entries[0][i] + entries[1][i] * entries[1][i];
    const double factor = sqrt(sum / (double)count);
    return !isnormal(factor) ||
           add_scaled(layers, layer,
                      (line){choose_number(factor, find_mean_error(layer), &layer->view), 0});
}

/* The factor and the constant of sines and cosines, whose pairs may lie in three ways. */
static bool undo_circle(pe_layers *layers, const pe_layer *layer, bool *ret_found)
{
    const pe_view *view = &layer->view;
    const double error = find_mean_error(layer);
    bool read = true;
    for (size_t i = 0; read && !*ret_found && i < 3; i++) {
        /* the halves of a grid's channels are of two axes, each with its own pairs */
        const pe_view half = i == 2 ? pe_view_half(view, false, 0) : *view;
        const pe_view views[] = {pe_view_half(&half, i == 1, 0),
                                 pe_view_half(&half, i == 1, 1)};
        line found;
        *ret_found = fit_circle(views, &found, &read);
        if (!*ret_found)
            continue;
        const bool moved =
            fabs(found.constant) > 16 * fmax(error, view->grain / 96) * found.factor;
        const line numbers = {choose_number(found.factor, error, view),
                              moved ? pe_find_decimal(found.constant, error) : 0};
        if (!add_scaled(layers, layer, numbers))
            return false;
    }
    return read;
}

/* The number of which all entries that are looked at are whole multiples, as those of a table
 * of whole numbers; 0: there is none. */
static double find_divisor(const double *entries, size_t count)
{
    double least = INFINITY;
    for (size_t i = 0; i < count; i++)
        if (entries[i] != 0 && isfinite(entries[i]))
            least = fmin(least, fabs(entries[i]));
    for (size_t i = 0; isfinite(least) && i < count; i++) {
        const double whole = entries[i] / least;
        if (isfinite(entries[i]) && fabs(whole - rint(whole)) > 1e-3)
            return 0;
    }
    return isfinite(least) ? least : 0;
}

/* The slope of the last line of a head of a bias; 0: it is not straight. False: the view cannot
 * be read. */
static bool find_slope(const pe_view *view, uint64_t head, double *ret_slope)
{
    pe_view row = pe_view_at(view, 0, head);
    double first, middle, last;
    while (row.rank > 1)
        row = pe_view_at(&row, 0, row.shape[0] - 1);
    const uint64_t end = row.shape[0] - 1, half = end / 2;
    *ret_slope = 0;
    if (end < 3)
        return true;
    if (!pe_view_read(&row, 0, 1, &first) || !pe_view_read(&row, half, 1, &middle) ||
        !pe_view_read(&row, end, 1, &last))
        return false;
    const double slope = (last - first) / (double)end;
    if (fabs(first + slope * (double)half - middle) <= 1e-2 * fabs(last - first))
        *ret_slope = fabs(slope);
    return true;
}

/* What slopes of a bias are of those of ALiBi, which are powers of the first one; 0: they are
 * none. False: the view cannot be read. */
static bool find_slope_factor(const pe_view *view, double *ret_factor)
{
    double first, second;
    *ret_factor = 0;
    if (view->rank < 2 || view->shape[0] < 2)
        return true;
    if (!find_slope(view, 0, &first) || !find_slope(view, 1, &second))
        return false;
    if (second > 0)
        *ret_factor = first * first / second;
    return true;
}

static int larger_first(const void *a, const void *b)
{
    const double one = fabs(*(const double *)a), other = fabs(*(const double *)b);
    return one > other ? -1 : one < other;
}

/* The largest size that several entries have, as cosines of position 0, or slow ones; 0: none.
 * The entries are sorted. */
static double find_most(double *entries, size_t count, double error)
{
    size_t finite = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(entries[i])) /* numbers have an order, NaN has none */
            entries[finite++] = entries[i];
    qsort(entries, finite, sizeof *entries, larger_first);
    for (size_t i = 0; i + SEVERAL < finite; i++)
        if (fabs(entries[i + SEVERAL]) >= (1 - 2 * error) * fabs(entries[i]))
            return fabs(entries[i + SEVERAL / 2]);
    return 0;
}

/* Factors of tables without pairs: what waves are of those of amplitude 1, what slopes are of
 * those of ALiBi, what the first entry is of 1, what all entries are multiples of, and what the
 * largest ones are of 1. */
static bool undo_others(pe_layers *layers, const pe_layer *layer)
{
    const double error = fmax(pe_observation_unit(&layer->view), 1e-7);
    double entries[PE_LOOKED_ROWS * PE_LOOKED_COLUMNS], factors[5] = {layer->amplitude};
    size_t count;
    if (!pe_view_read_sample(&layer->view, entries, &count) ||
        !find_slope_factor(&layer->view, &factors[1]))
        return false;
    factors[2] = entries[0];
    factors[3] = find_divisor(entries, count);
    factors[4] = find_most(entries, count, error);
    for (size_t i = 0; i < PE_COUNT(factors); i++)
        if (isnormal(factors[i]) && factors[i] > 0 &&
            !add_scaled(layers, layer,
                        (line){choose_number(factors[i], i == 0 ? fmax(error, 1e-4) : error,
                                             &layer->view),
                               0}))
            return false;
    return true;
}

bool pe_undo_factor(pe_layers *layers, const pe_layer *layer)
{
    const size_t rank = layer->view.rank;
    bool found = false;
    if (layer->is == PE_OTHER_TABLE || pe_layer_has(layer, PE_TRANSFORM_FACTOR))
        return true;
    if (layer->is == PE_OTHER_TENSOR)
        return undo_of_tensors(layers, layer);
    if (rank < 1)
        return true;
    if (layer->view.shape[rank - 1] % 4 == 0 && !undo_circle(layers, layer, &found))
        return false;
    return found || undo_others(layers, layer);
}

void pe_write_factor(const pe_identity *identity, const pe_transform *form,
                     char dst[PE_FORM_TEXT])
{
    (void)identity;
    const int size = form->value == 1 && form->constant != 0
                         ? 0
                         : snprintf(dst, PE_FORM_TEXT, "times %.9g", form->value);
    if (form->constant != 0)
        snprintf(dst + size, PE_FORM_TEXT - (size_t)size, "%splus %.9g", size > 0 ? ", " : "",
                 form->constant);
}
