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

/* Whether a layer beneath another one says all that it does: its form was checked in full, and
 * took away nothing but what repeats or is zero. */
static bool is_proved(const pe_layer *layer, const pe_layer *above)
{
    switch (layer->transforms[layer->count - 1].kind) {
    case PE_TRANSFORM_REPEATED:
    case PE_TRANSFORM_MATRICES:
        return true;
    case PE_TRANSFORM_ZERO_COLUMNS:
        return layer->view.rank < above->view.rank && layer->view.rank > 1;
    default:
        return false;
    }
}

/* Keep no other layer than a proved one, which is no step of the search. */
static bool keep_proved(pe_layers *layers, size_t known, const pe_layer *above)
{
    for (size_t i = known; i < layers->count; i++) {
        pe_layer *layer = &layers->items[i];
        if (!is_proved(layer, above))
            continue;
        layer->depth = above->depth;
        layers->items[known] = *layer;
        layers->count = known + 1;
        return true;
    }
    return false;
}

bool pe_forms_undo(pe_layers *layers, const pe_layer *layer)
{
    bool good = true, proved = false;
    const size_t known = layers->count;
    for (size_t i = 0; layer->view.rank > 0 && good && !proved && i < PE_COUNT(FORMS); i++) {
        good = (i > 0 && FORMS[i].undo == FORMS[i - 1].undo) || FORMS[i].undo(layers, layer);
        proved = keep_proved(layers, known, layer);
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
