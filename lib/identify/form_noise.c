/* The form of a table with noise, as one that was trained a little has it: what is left is
 * known to fewer digits. */
#include "identify/form.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LENGTH   256    /* entries of a line of which the noise is estimated */
#define SHORTEST 13     /* of such lines */
#define FEWEST   12     /* of differences */
#define LINES    48     /* along each axis */
#define LEAST    0.5    /* of the noise, in units in the last place */
#define MOST     0.1    /* of the root of the mean square of entries */
#define LIKE     3.0    /* times the least noise of a line: no more of another line by chance */
#define ORDERS   6      /* of differences, in which slow waves vanish */
#define MIDDLE   0.6745 /* the median of sizes, of noise of 1 */

static int smaller_first(const void *a, const void *b)
{
    const double one = *(const double *)a, other = *(const double *)b;
    return one < other ? -1 : one > other;
}

/* A line along an axis, at one of the places of the other axes. */
static pe_view find_line(const pe_view *view, size_t axis, uint64_t place)
{
    pe_view line = *view;
    for (size_t i = view->rank; i-- > 0;)
        if (i != axis) {
            line = pe_view_at(&line, i, place % view->shape[i]);
            place /= view->shape[i];
        }
    return line;
}

/* Estimate the noise of numbers in a line by the middle one of their differences, of the order
 * that leaves the least. The entries are overwritten. */
static double estimate_noise(double *entries, size_t count)
{
    double least = INFINITY, bends[LENGTH], square = 1;
    for (size_t order = 1; order <= ORDERS && order + FEWEST <= count; order++) {
        const size_t left = count - order;
        for (size_t i = 0; i < left; i++) {
            entries[i] = entries[i + 1] - entries[i];
            bends[i] = isnan(entries[i]) ? INFINITY : fabs(entries[i]); /* it overflowed */
        }
        square *= (double)(4 * order - 2) / (double)order; /* of the coefficients, summed */
        qsort(bends, left, sizeof *bends, smaller_first);
        least = fmin(least, bends[left / 2] / (MIDDLE * sqrt(square)));
    }
    return least;
}

/* What is estimated of a view: the noise of lines that show it. */
typedef struct estimate {
    double noise[PE_VIEW_RANK_MAX * LINES], squares;
    size_t lines, count;
} estimate;

/* The noise of the whole: the middle one of lines that have about the least, as the others have
 * fast waves. */
static double join_estimates(estimate *self)
{
    size_t like = 0;
    qsort(self->noise, self->lines, sizeof *self->noise, smaller_first);
    for (int i = 0; i < 2; i++) {
        const double most = LIKE * (self->lines > 0 ? self->noise[like / 2] : 0);
        while (like < self->lines && self->noise[like] <= most)
            like++;
    }
    return self->lines > 0 ? self->noise[like / 2] : INFINITY;
}

/* Look at a line up to what is masked, whose noise says something if it is above what rounding
 * leaves. False: it cannot be read. */
static bool look_at_line(const pe_view *line, double unit, estimate *ret)
{
    double entries[LENGTH], most = 0;
    const size_t read = line->shape[0] < LENGTH ? (size_t)line->shape[0] : LENGTH;
    size_t count = 0;
    if (!pe_view_read(line, 0, read, entries))
        return false;
    while (count < read && isfinite(entries[count]))
        count++;
    if (count < SHORTEST)
        return true;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fabs(entries[i]));
        ret->squares += entries[i] * entries[i];
    }
    ret->count += count;
    const double noise = estimate_noise(entries, count);
    if (noise > LEAST * unit * most)
        ret->noise[ret->lines++] = noise;
    return true;
}

bool pe_undo_noise(pe_layers *layers, const pe_layer *layer)
{
    const pe_view *view = &layer->view;
    const double unit = pe_observation_unit(view);
    estimate seen = {.lines = 0};
    pe_layer beneath = pe_layer_beneath(layer);
    if (!layers->noisy || layer->count > 0 || unit == 0)
        return true; /* it came last */
    for (size_t axis = 0; axis < view->rank; axis++) {
        const uint64_t places = pe_view_elements(view) / view->shape[axis];
        const uint64_t lines = places < LINES ? places : LINES;
        for (uint64_t i = 0; view->shape[axis] >= SHORTEST && i < lines; i++) {
            const pe_view line =
                find_line(view, axis, i * (places - 1) / (lines > 1 ? lines - 1 : 1));
            if (!look_at_line(&line, unit, &seen))
                return false;
        }
    }
    const double size = sqrt(seen.squares / (double)seen.count);
    const double noise = join_estimates(&seen);
    if (!(noise < MOST * size && noise > unit * size / 16) ||
        !pe_layer_note(&beneath, (pe_transform){.kind = PE_TRANSFORM_NOISE, .value = noise}))
        return true;
    beneath.depth--; /* it is no form of the others' kind */
    beneath.view.unit = fmax(unit, 4 * noise);
    beneath.view.grain = 5 * noise;
    pe_layers_add(layers, &beneath);
    return true;
}

void pe_write_noise(const pe_identity *identity, const pe_transform *form,
                    char dst[PE_FORM_TEXT])
{
    (void)form;
    snprintf(dst, PE_FORM_TEXT, "but for noise of %.1e (root mean square)", identity->noise);
}
