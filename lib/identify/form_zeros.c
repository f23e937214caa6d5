/* The forms of a table with zeros around it: padding, tokens without a position, columns that
 * no position turns; of a bias whose last keys are masked; and with other rows before it, as
 * those of tokens that were trained. */
#include "identify/form.h"

#include <math.h>
#include <stdio.h>

#define AT_ONCE    64 /* entries */
#define LEAST_MASK (-1000.0)

/* What fills lines: zeros, or what stands for minus infinity. */
typedef struct filling {
    bool masks;
    double value; /* of all entries that were looked at; NaN: they are several */
    bool begun;
} filling;

static bool is_filler(filling *self, double entry, double grain)
{
    const bool filled = self->masks ? entry < LEAST_MASK : fabs(entry) <= grain;
    if (filled) {
        self->value = !self->begun || entry == self->value ? entry : (double)NAN;
        self->begun = true;
    }
    return filled;
}

/* Whether an index of an axis is filled alone. */
static bool is_filled(const pe_view *view, filling *with, bool *ret_read)
{
    double entries[AT_ONCE];
    bool filled = true;
    if (view->rank > 1) {
        for (uint64_t i = 0; filled && *ret_read && i < view->shape[0]; i++) {
            const pe_view line = pe_view_at(view, 0, i);
            filled = is_filled(&line, with, ret_read);
        }
        return filled && *ret_read;
    }
    for (uint64_t at = 0, now; filled && *ret_read && at < view->shape[0]; at += now) {
        now = view->shape[0] - at < AT_ONCE ? view->shape[0] - at : AT_ONCE;
        *ret_read = pe_view_read(view, at, now, entries);
        for (uint64_t i = 0; filled && *ret_read && i < now; i++)
            filled = is_filler(with, entries[i], view->grain);
    }
    return filled && *ret_read;
}

/* How many indices of an axis are filled, from one end on; 0 if all are. `value`: as of a
 * filling. */
static uint64_t count_filled(const pe_view *view, size_t axis, bool last, bool masks,
                             double *ret_value, bool *ret_read)
{
    const uint64_t extent = view->shape[axis];
    filling with = {.masks = masks};
    uint64_t count = 0;
    for (; *ret_read && count < extent; count++) {
        const pe_view part = pe_view_at(view, axis, last ? extent - 1 - count : count);
        filling own = with;
        if (!is_filled(&part, &own, ret_read))
            break;
        with = own;
    }
    *ret_value = with.value;
    return *ret_read && count < extent ? count : 0;
}

bool pe_undo_masked_keys(pe_layers *layers, const pe_layer *layer)
{
    const size_t last = layer->view.rank - 1;
    pe_layer beneath = pe_layer_beneath(layer);
    bool read = true;
    double value;
    if (layer->is != PE_OTHER_NONE || last < 1 || pe_layer_has(layer, PE_TRANSFORM_MASKED_KEYS))
        return true;
    const uint64_t keys = count_filled(&layer->view, last, true, true, &value, &read);
    const uint64_t left = layer->view.shape[last] - keys;
    if (keys > 0 && pe_layer_note(&beneath, (pe_transform){PE_TRANSFORM_MASKED_KEYS, last, left,
                                                           keys, value, 0})) {
        beneath.view = pe_view_part(&layer->view, last, 0, left);
        pe_layers_add(layers, &beneath);
    }
    return read;
}

static bool has_room(const pe_layer *layer)
{
    const pe_view *view = &layer->view;
    return layer->is == PE_OTHER_NONE && !pe_layer_is_of_entries(layer) && !layer->order &&
           view->rank >= 2 && view->shape[0] >= 8 && view->shape[view->rank - 1] >= 2;
}

bool pe_undo_zero_columns(pe_layers *layers, const pe_layer *layer)
{
    pe_layer beneath = pe_layer_beneath(layer);
    bool read = true, noted = true;
    const bool noisy = pe_layer_has(layer, PE_TRANSFORM_NOISE); /* in which slow sines vanish */
    if (!has_room(layer) || pe_layer_has(layer, PE_TRANSFORM_ZERO_COLUMNS) ||
        (noisy && layer->view.shape[layer->view.rank - 1] > 2))
        return true;
    for (size_t axis = layer->view.rank - 1; read && noted && axis > 0; axis--) {
        const uint64_t columns =
            count_filled(&beneath.view, axis, true, false, &(double){0}, &read);
        const uint64_t left = layer->view.shape[axis] - columns;
        if (!read || columns == 0)
            continue;
        noted = pe_layer_note(
            &beneath, (pe_transform){PE_TRANSFORM_ZERO_COLUMNS, axis, left, columns, 0, 0});
        beneath.view = pe_view_part(&beneath.view, axis, 0, left);
    }
    if (read && noted && beneath.count > layer->count)
        pe_layers_add(layers, &beneath);
    return read;
}

bool pe_undo_zero_rows(pe_layers *layers, const pe_layer *layer)
{
    pe_layer beneath = pe_layer_beneath(layer);
    bool read = true, noted = true;
    if (!has_room(layer) || pe_layer_has(layer, PE_TRANSFORM_ZERO_ROWS))
        return true;
    const uint64_t before = count_filled(&layer->view, 0, false, false, &(double){0}, &read);
    const uint64_t after =
        read ? count_filled(&layer->view, 0, true, false, &(double){0}, &read) : 0;
    if (!read || before + after == 0 || before + after >= layer->view.shape[0])
        return read;
    const uint64_t rows = layer->view.shape[0] - before - after;
    const pe_transform zeros[] = {{PE_TRANSFORM_ZERO_ROWS, 0, 0, before, 0, 0},
                                  {PE_TRANSFORM_ZERO_ROWS, 0, before + rows, after, 0, 0}};
    for (size_t i = 0; i < PE_COUNT(zeros); i++)
        noted = noted && (zeros[i].count == 0 || pe_layer_note(&beneath, zeros[i]));
    beneath.view = pe_view_part(&layer->view, 0, before, rows);
    if (noted)
        pe_layers_add(layers, &beneath);
    return true;
}

#define OTHERS_MAX 4   /* rows */
#define LOOKED     48  /* rows behind them */
#define APART      1.5 /* times as far from the next one as any two neighbours behind */

/* The square of the distance of a row to the next one, by its first columns. */
static double find_distance(const pe_view *view, uint64_t row, bool *ret_read)
{
    double entries[2 * PE_LOOKED_COLUMNS], sum = 0;
    const uint64_t all = view->shape[1];
    const pe_view part =
        pe_view_part(view, 1, 0, all < PE_LOOKED_COLUMNS ? all : PE_LOOKED_COLUMNS);
    *ret_read = *ret_read && pe_view_read(&part, row, 2, entries);
    for (uint64_t c = 0; *ret_read && c < part.shape[1]; c++) {
        const double step = entries[part.shape[1] + c] - entries[c];
        sum += step * step;
    }
    return sum;
}

/* How many rows at the beginning are farther apart than those behind them. */
static uint64_t count_others(const pe_view *view, bool *ret_read)
{
    const uint64_t rows = view->shape[0] - 1;
    double most = 0;
    uint64_t count = 0;
    for (uint64_t row = rows < LOOKED ? rows : LOOKED; *ret_read && row-- > 0;) {
        const double distance = find_distance(view, row, ret_read);
        if (row < OTHERS_MAX && count == 0 && distance > APART * most)
            count = row + 1;
        most = distance > most ? distance : most;
    }
    return count;
}

bool pe_undo_other_rows(pe_layers *layers, const pe_layer *layer)
{
    pe_layer beneath = pe_layer_beneath(layer);
    bool read = true;
    if (!has_room(layer) || layer->view.rank != 2 ||
        layer->view.shape[0] < 2 * OTHERS_MAX + 4 ||
        pe_layer_has(layer, PE_TRANSFORM_OTHER_ROWS))
        return true;
    const uint64_t count = count_others(&layer->view, &read);
    if (read && count > 0 &&
        pe_layer_note(&beneath,
                      (pe_transform){.kind = PE_TRANSFORM_OTHER_ROWS, .count = count})) {
        beneath.view = pe_view_part(&layer->view, 0, count, layer->view.shape[0] - count);
        pe_layers_add(layers, &beneath);
    }
    return read;
}

/* ---- saying ---- */

/* What the table that was given calls rows of the layer that a form was undone in, or columns.
 */
static const char *name_lines(const pe_identity *identity, const pe_transform *form, bool rows)
{
    for (const pe_transform *t = identity->transforms; t < form; t++)
        rows ^= t->kind == PE_TRANSFORM_TRANSPOSED;
    return rows ? "row" : "column";
}

/* Write "row 0 is zero", or of several "rows 0 to 3 are zero". */
static void write_lines(const pe_transform *form, const char *what, const char *one,
                        const char *several, char dst[PE_FORM_TEXT])
{
    if (form->count == 1)
        snprintf(dst, PE_FORM_TEXT, "%s %llu is %s", what, (unsigned long long)form->first,
                 one);
    else
        snprintf(dst, PE_FORM_TEXT, "%ss %llu to %llu are %s", what,
                 (unsigned long long)form->first,
                 (unsigned long long)(form->first + form->count - 1), several);
}

void pe_write_other_rows(const pe_identity *identity, const pe_transform *form,
                         char dst[PE_FORM_TEXT])
{
    write_lines(form, name_lines(identity, form, true), "another", "others", dst);
}

void pe_write_masked_keys(const pe_identity *identity, const pe_transform *form,
                          char dst[PE_FORM_TEXT])
{
    const unsigned long long first = form->first, last = first + form->count - 1;
    int used = last > first
                   ? snprintf(dst, PE_FORM_TEXT, "keys %llu to %llu have ", first, last)
                   : snprintf(dst, PE_FORM_TEXT, "key %llu has ", first);
    (void)identity;
    if (isnan(form->value))
        snprintf(dst + used, PE_FORM_TEXT - (size_t)used, "less than %g", LEAST_MASK);
    else
        snprintf(dst + used, PE_FORM_TEXT - (size_t)used, "%g", form->value);
}

void pe_write_zero_rows(const pe_identity *identity, const pe_transform *form,
                        char dst[PE_FORM_TEXT])
{
    const char *zero = identity->noise > 0 ? "noise alone" : "zero";
    write_lines(form, name_lines(identity, form, true), zero, zero, dst);
}

void pe_write_zero_columns(const pe_identity *identity, const pe_transform *form,
                           char dst[PE_FORM_TEXT])
{
    const char *zero = identity->noise > 0 ? "noise alone" : "zero";
    char what[32];
    for (const pe_transform *t = identity->transforms; t < form; t++)
        if (t->kind == PE_TRANSFORM_OTHER_ROWS) {
            snprintf(dst, PE_FORM_TEXT, "from row %llu on, the last %llu columns have zeros",
                     (unsigned long long)t->count, (unsigned long long)form->count);
            return;
        }
    if (identity->is_complex && form->count == 1 && form->first == 1) {
        snprintf(dst, PE_FORM_TEXT, "its imaginary part is %s", zero);
        return;
    }
    snprintf(what, sizeof what, "axis %zu: column", form->axis);
    write_lines(form, identity->rank > 2 ? what : name_lines(identity, form, false), zero, zero,
                dst);
}
