/* The form of two tables in one axis, each of its own request. */
#include "identify/form.h"

#include <stdio.h>

bool pe_undo_parts(pe_layers *layers, const pe_layer *layer)
{
    for (size_t axis = 0; layer->is == PE_OTHER_NONE && axis < layer->view.rank; axis++)
        if (layer->view.rank > 2 && layer->view.shape[axis] == 2) {
            const pe_view views[] = {pe_view_at(&layer->view, axis, 0),
                                     pe_view_at(&layer->view, axis, 1)};
            pe_layers_add_two(layers, layer,
                              (pe_transform){.kind = PE_TRANSFORM_PARTS, .axis = axis},
                              PE_OTHER_TABLE, views);
        }
    return true;
}

void pe_write_parts(const pe_identity *identity, const pe_transform *form,
                    char dst[PE_FORM_TEXT])
{
    (void)identity;
    snprintf(dst, PE_FORM_TEXT, "axis %zu has two tables", form->axis);
}
