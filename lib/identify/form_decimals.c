/* The form of a table whose entries were rounded to a number of decimal places. */
#include "identify/form.h"

#include "foreign/narrow_view.h"

#include <math.h>
#include <stdio.h>

bool pe_undo_decimals(pe_layers *layers, const pe_layer *layer)
{
    pe_layer beneath = pe_layer_beneath(layer);
    int decimals = 0;
    bool found = false;
    if (layer->view.grain > 0 || pe_layer_has(layer, PE_TRANSFORM_FACTOR))
        return true;
    if (!pe_view_find_decimals(&layer->view, &decimals, &found))
        return false;
    if (!found || !pe_layer_note(&beneath, (pe_transform){.kind = PE_TRANSFORM_DECIMALS,
                                                          .count = (uint64_t)decimals}))
        return true;
    beneath.view.grain = beneath.other.grain = 0.5000001 * pow(10, -decimals);
    pe_layers_add(layers, &beneath);
    return true;
}

void pe_write_decimals(const pe_identity *identity, const pe_transform *form,
                       char dst[PE_FORM_TEXT])
{
    (void)identity;
    snprintf(dst, PE_FORM_TEXT, "rounded to %llu decimals", (unsigned long long)form->count);
}
