/* The forms of a table that has its indices along an axis several times. */
#include "identify/form.h"

#include "foreign/repeats.h"
#include "identify/price.h"

#include <stdio.h>

/* Undo how one axis repeats. */
static bool undo_axis(pe_layers *layers, const pe_layer *layer, size_t axis)
{
    const uint64_t extent = layer->view.shape[axis];
    pe_layer beneath = pe_layer_beneath(layer);
    pe_repeats repeats;
    if (!pe_repeats_find(&layer->view, axis, &repeats))
        return false;
    const pe_transform form = {.kind = repeats.period == 1 ? PE_TRANSFORM_REPEATED
                                       : repeats.run > 1   ? PE_TRANSFORM_EACH
                                                           : PE_TRANSFORM_TILED,
                               .axis = axis,
                               .first = repeats.period,
                               .count =
                                   repeats.run > 1 ? repeats.run : extent / repeats.period};
    if (form.count == 1 || !pe_layer_note(&beneath, form))
        return true;
    beneath.view = pe_repeats_once(&layer->view, axis, &repeats);
    beneath.differing += repeats.differing;
    beneath.copies *= form.count;
    beneath.bits += pe_price_others(repeats.differing, &layer->view);
    const pe_view once = pe_view_squeezed(&beneath.view);
    bool constant = false; /* of which nothing can be told */
    if (once.rank == 1 && !pe_repeats_are_constant(&once, 0, &constant))
        return false;
    if (once.rank > 0 && !constant)
        pe_layers_add(layers, &beneath);
    return true;
}

bool pe_undo_repeats(pe_layers *layers, const pe_layer *layer)
{
    bool good = true;
    if (pe_layer_is_of_entries(layer) || layer->order)
        return true; /* what repeats does so before an entry is changed, or a column moved */
    for (size_t axis = 0; layer->is == PE_OTHER_NONE && good && axis < layer->view.rank; axis++)
        good = undo_axis(layers, layer, axis);
    return good;
}

void pe_write_repeated(const pe_identity *identity, const pe_transform *form,
                       char dst[PE_FORM_TEXT])
{
    (void)identity;
    snprintf(dst, PE_FORM_TEXT, "axis %zu has it %llu times", form->axis,
             (unsigned long long)form->count);
}

void pe_write_tiled(const pe_identity *identity, const pe_transform *form,
                    char dst[PE_FORM_TEXT])
{
    (void)identity;
    snprintf(dst, PE_FORM_TEXT, "axis %zu has its %llu indices %llu times in turn", form->axis,
             (unsigned long long)form->first, (unsigned long long)form->count);
}

void pe_write_each(const pe_identity *identity, const pe_transform *form,
                   char dst[PE_FORM_TEXT])
{
    (void)identity;
    snprintf(dst, PE_FORM_TEXT, "axis %zu has each index %llu times in a row", form->axis,
             (unsigned long long)form->count);
}
