/* The form of two tables in one axis, each of its own request. */
#include "identify/form.h"

#include <stdio.h>

/* Cosines and sines are of one request. */
bool pe_undo_parts(pe_layers *layers, const pe_layer *layer)
{
    const size_t rank = layer->view.rank;
    bool read = true;
    for (size_t axis = 0; layer->is == PE_OTHER_NONE && rank > 2 && read && axis < rank;
         axis++) {
        if (layer->view.shape[axis] != 2)
            continue;
        const pe_view views[] = {pe_view_at(&layer->view, axis, 0),
                                 pe_view_at(&layer->view, axis, 1)};
        if (!pe_views_are_turned(views, &read) && read)
            pe_layers_add_two(layers, layer,
                              (pe_transform){.kind = PE_TRANSFORM_PARTS, .axis = axis},
                              PE_OTHER_TABLE, views);
    }
    return read;
}

void pe_write_parts(const pe_identity *identity, const pe_transform *form,
                    char dst[PE_FORM_TEXT])
{
    (void)identity;
    snprintf(dst, PE_FORM_TEXT, "axis %zu has two tables", form->axis);
}
