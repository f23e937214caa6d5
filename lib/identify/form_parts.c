/* The form of two tables in one axis, each of its own request. */
#include "identify/form.h"

#include <stdio.h>

/* Add the layer of two parts of an axis. */
static void add_parts(pe_layers *layers, const pe_layer *layer, size_t axis,
                      const pe_view views[2])
{
    pe_layer beneath = pe_layer_beneath(layer);
    if (!pe_layer_note(&beneath, (pe_transform){.kind = PE_TRANSFORM_PARTS, .axis = axis}))
        return;
    for (size_t i = axis; i + 1 < layer->view.rank; i++)
        beneath.axes[i] = layer->axes[i + 1];
    beneath.is = PE_OTHER_TABLE;
    beneath.view = views[0];
    beneath.other = views[1];
    pe_layers_add(layers, &beneath);
}

bool pe_undo_parts(pe_layers *layers, const pe_layer *layer)
{
    for (size_t axis = 0; layer->is == PE_OTHER_NONE && axis < layer->view.rank; axis++)
        if (layer->view.rank > 2 && layer->view.shape[axis] == 2) {
            const pe_view views[] = {pe_view_at(&layer->view, axis, 0),
                                     pe_view_at(&layer->view, axis, 1)};
            add_parts(layers, layer, axis, views);
        }
    return true;
}

void pe_write_parts(const pe_identity *identity, const pe_transform *form,
                    char dst[PE_FORM_TEXT])
{
    (void)identity;
    snprintf(dst, PE_FORM_TEXT, "axis %zu has two tables", form->axis);
}
