/* The table of forms. */
#include "identify/form.h"

static const struct {
    const char *name;
    pe_form_undo *undo;
    pe_form_write *write;
} FORMS[PE_TRANSFORM_KINDS] = {
#define FORM(kind, name, undo, write) [PE_TRANSFORM_##kind] = {name, undo, write},
#include "identify/forms.def"
#undef FORM
};

/* Whether a layer that was added is another one without an axis of equal indices: then that one
 * tells no more than it. */
static bool has_repeated(const pe_layers *layers, size_t known)
{
    for (size_t i = known; i < layers->count; i++) {
        const pe_layer *layer = &layers->items[i];
        if (layer->transforms[layer->count - 1].kind == PE_TRANSFORM_REPEATED)
            return true;
    }
    return false;
}

bool pe_forms_undo(pe_layers *layers, const pe_layer *layer)
{
    pe_dtype dtype;
    bool good = true, repeated = false;
    const size_t known = layers->count;
    if (layer->view.rank == 0 || !pe_element_is_real(layer->view.element, &dtype))
        return true;
    for (size_t i = 0; good && !repeated && i < PE_COUNT(FORMS); i++) {
        good = (i > 0 && FORMS[i].undo == FORMS[i - 1].undo) || FORMS[i].undo(layers, layer);
        repeated = i == 0 && has_repeated(layers, known);
    }
    return good || pe_layers_refuse(layers);
}

const char *pe_form_name(const pe_transform *form)
{
    return FORMS[form->kind].name;
}

void pe_form_text(const pe_identity *identity, const pe_transform *form, char dst[PE_FORM_TEXT])
{
    FORMS[form->kind].write(identity, form, dst);
}
