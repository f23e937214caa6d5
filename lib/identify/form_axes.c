/* The forms of a table whose axes lie otherwise: rows along several axes, the columns first,
 * axes exchanged. */
#include "identify/form.h"

#include "recognise/distances.h"

#include <stdio.h>

bool pe_undo_grid(pe_layers *layers, const pe_layer *layer)
{
    const pe_view *view = &layer->view;
    const size_t last = view->rank - 1;
    pe_layer beneath = pe_layer_beneath(layer);
    pe_view *views[] = {&beneath.view, &beneath.other};
    if (view->rank < 3 ||
        !pe_layer_note(&beneath, (pe_transform){.kind = PE_TRANSFORM_FLATTENED, .count = last}))
        return true;
    for (size_t i = 0; i < (layer->is == PE_OTHER_NONE ? 1 : 2); i++) {
        pe_view *own = views[i];
        if (own->rank != view->rank)
            return true;
        for (size_t axis = 0; axis + 1 < last; axis++) {
            if (own->strides[axis] != own->strides[axis + 1] * own->shape[axis + 1])
                return true;
            own->shape[last - 1] *= own->shape[axis];
        }
        for (size_t axis = 0; axis < 2; axis++) {
            own->shape[axis] = own->shape[last - 1 + axis];
            own->strides[axis] = own->strides[last - 1 + axis];
        }
        own->rank = 2;
    }
    beneath.axes[0] = layer->axes[last - 1];
    beneath.axes[1] = layer->axes[last];
    pe_layers_add(layers, &beneath);
    return true;
}

/* Add the layer whose axis `axis` is this layer's axis (axis + first) % rank. */
static void add_rotated(pe_layers *layers, const pe_layer *layer, pe_transform form,
                        size_t first)
{
    const size_t rank = layer->view.rank;
    pe_layer beneath = pe_layer_beneath(layer);
    if (!pe_layer_note(&beneath, form))
        return;
    for (size_t axis = 0; axis < rank; axis++) {
        const size_t from = (axis + first) % rank;
        beneath.view.shape[axis] = layer->view.shape[from];
        beneath.view.strides[axis] = layer->view.strides[from];
        beneath.axes[axis] = layer->axes[from];
    }
    pe_layers_add(layers, &beneath);
}

bool pe_undo_moved_axis(pe_layers *layers, const pe_layer *layer)
{
    const pe_view *view = &layer->view;
    const size_t last = view->rank - 1;
    if (view->rank < 3 || layer->is != PE_OTHER_NONE ||
        pe_layer_has(layer, PE_TRANSFORM_CHANNELS_FIRST) ||
        pe_layer_has(layer, PE_TRANSFORM_HEADS_LAST))
        return true;
    add_rotated(layers, layer, (pe_transform){.kind = PE_TRANSFORM_CHANNELS_FIRST}, 1);
    const pe_view head = pe_view_at(view, last, 0);
    if (view->rank == 3 && pe_distances_are_diagonals(&head))
        add_rotated(layers, layer,
                    (pe_transform){.kind = PE_TRANSFORM_HEADS_LAST, .axis = last}, last);
    return true;
}

/* Whether many columns are waves, as those of a table whose axes were exchanged are not. */
static bool has_waves(const pe_layer *layer)
{
    const uint64_t columns = layer->view.shape[1];
    uint64_t found = 0;
    for (uint64_t c = 0; layer->waves && c < columns; c++)
        found += layer->waves[c].found;
    return 4 * found >= columns;
}

bool pe_undo_transposition(pe_layers *layers, const pe_layer *layer)
{
    if (layer->view.rank == 2 && layer->is == PE_OTHER_NONE &&
        !pe_layer_has(layer, PE_TRANSFORM_TRANSPOSED) && !has_waves(layer))
        add_rotated(layers, layer, (pe_transform){.kind = PE_TRANSFORM_TRANSPOSED}, 1);
    return true;
}

void pe_write_grid(const pe_identity *identity, const pe_transform *form,
                   char dst[PE_FORM_TEXT])
{
    (void)identity;
    snprintf(dst, PE_FORM_TEXT, "its rows lie along %llu axes",
             (unsigned long long)form->count);
}

void pe_write_channels_first(const pe_identity *identity, const pe_transform *form,
                             char dst[PE_FORM_TEXT])
{
    (void)identity;
    snprintf(dst, PE_FORM_TEXT, "its columns lie along axis %zu", form->axis);
}

void pe_write_heads_last(const pe_identity *identity, const pe_transform *form,
                         char dst[PE_FORM_TEXT])
{
    (void)identity;
    snprintf(dst, PE_FORM_TEXT, "its heads lie along axis %zu", form->axis);
}

void pe_write_transposed(const pe_identity *identity, const pe_transform *form,
                         char dst[PE_FORM_TEXT])
{
    (void)identity;
    (void)form;
    snprintf(dst, PE_FORM_TEXT, "transposed");
}
