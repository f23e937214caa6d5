/* The forms of a table with zeros around it: padding, tokens without a position, columns that
 * no position turns; and with other rows before it, as those of tokens that were trained. */
#include "identify/form.h"

#include <math.h>
#include <stdio.h>

#define AT_ONCE 64 /* entries */

/* Whether an index of an axis has zeros alone. */
static bool is_zero(const pe_view *view, bool *ret_read)
{
    double entries[AT_ONCE];
    bool zero = true;
    if (view->rank > 1) {
        for (uint64_t i = 0; zero && *ret_read && i < view->shape[0]; i++) {
            const pe_view line = pe_view_at(view, 0, i);
            zero = is_zero(&line, ret_read);
        }
        return zero && *ret_read;
    }
    for (uint64_t at = 0, now; zero && *ret_read && at < view->shape[0]; at += now) {
        now = view->shape[0] - at < AT_ONCE ? view->shape[0] - at : AT_ONCE;
        *ret_read = pe_view_read(view, at, now, entries);
        for (uint64_t i = 0; zero && *ret_read && i < now; i++)
            zero = fabs(entries[i]) <= view->grain;
    }
    return zero && *ret_read;
}

/* How many indices of an axis have zeros alone, from one end on; 0 of zeros alone. */
static uint64_t count_zeros(const pe_view *view, size_t axis, bool last, bool *ret_read)
{
    const uint64_t extent = view->shape[axis];
    uint64_t count = 0;
    for (; *ret_read && count < extent; count++) {
        const pe_view part = pe_view_at(view, axis, last ? extent - 1 - count : count);
        if (!is_zero(&part, ret_read))
            return count;
    }
    return 0; /* all are */
}

static bool has_room(const pe_layer *layer)
{
    const pe_view *view = &layer->view;
    return layer->is == PE_OTHER_NONE && !pe_layer_is_of_entries(layer) && view->rank >= 2 &&
           view->shape[0] >= 8 && view->shape[view->rank - 1] >= 2;
}

bool pe_undo_zero_columns(pe_layers *layers, const pe_layer *layer)
{
    const size_t last = layer->view.rank - 1;
    pe_layer beneath = pe_layer_beneath(layer);
    bool read = true;
    if (!has_room(layer) || pe_layer_has(layer, PE_TRANSFORM_ZERO_COLUMNS))
        return true;
    const uint64_t columns = count_zeros(&layer->view, last, true, &read);
    const uint64_t left = layer->view.shape[last] - columns;
    if (read && columns > 0 &&
        pe_layer_note(&beneath,
                      (pe_transform){PE_TRANSFORM_ZERO_COLUMNS, last, left, columns, 0, 0})) {
        beneath.view = pe_view_part(&layer->view, last, 0, left);
        pe_layers_add(layers, &beneath);
    }
    return read;
}

bool pe_undo_zero_rows(pe_layers *layers, const pe_layer *layer)
{
    pe_layer beneath = pe_layer_beneath(layer);
    bool read = true, noted = true;
    if (!has_room(layer) || pe_layer_has(layer, PE_TRANSFORM_ZERO_ROWS))
        return true;
    const uint64_t before = count_zeros(&layer->view, 0, false, &read);
    const uint64_t after = read ? count_zeros(&layer->view, 0, true, &read) : 0;
    if (!read || before + after == 0 || before + after >= layer->view.shape[0])
        return read;
    const uint64_t rows = layer->view.shape[0] - before - after;
    if (before > 0)
        noted =
            pe_layer_note(&beneath, (pe_transform){PE_TRANSFORM_ZERO_ROWS, 0, 0, before, 0, 0});
    if (after > 0)
        noted = noted && pe_layer_note(&beneath, (pe_transform){PE_TRANSFORM_ZERO_ROWS, 0,
                                                                before + rows, after, 0, 0});
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

void pe_write_other_rows(const pe_identity *identity, const pe_transform *form,
                         char dst[PE_FORM_TEXT])
{
    (void)identity;
    if (form->count == 1)
        snprintf(dst, PE_FORM_TEXT, "row 0 is another");
    else
        snprintf(dst, PE_FORM_TEXT, "rows 0 to %llu are others",
                 (unsigned long long)(form->count - 1));
}

/* Write "row 0 is zero", or of several "rows 0 to 3 are zero". */
static void write_zeros(const pe_transform *form, const char *what, char dst[PE_FORM_TEXT])
{
    if (form->count == 1)
        snprintf(dst, PE_FORM_TEXT, "%s %llu is zero", what, (unsigned long long)form->first);
    else
        snprintf(dst, PE_FORM_TEXT, "%ss %llu to %llu are zero", what,
                 (unsigned long long)form->first,
                 (unsigned long long)(form->first + form->count - 1));
}

void pe_write_zero_rows(const pe_identity *identity, const pe_transform *form,
                        char dst[PE_FORM_TEXT])
{
    (void)identity;
    write_zeros(form, "row", dst);
}

void pe_write_zero_columns(const pe_identity *identity, const pe_transform *form,
                           char dst[PE_FORM_TEXT])
{
    (void)identity;
    write_zeros(form, "column", dst);
}
