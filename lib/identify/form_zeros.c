/* The forms of a table with zeros around it: padding, tokens without a position, columns that
 * no position turns. */
#include "identify/form.h"

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
            zero = entries[i] == 0;
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
