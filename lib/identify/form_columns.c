/* The form of a matrix whose columns lie in another order: waves in any one, others with their
 * halves exchanged. */
#include "identify/form.h"

#include "foreign/ordered_view.h"
#include "identify/column_order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Views of the columns in order. */
typedef struct ordered_columns {
    pe_ordered_view views[2];
    uint16_t order[PE_IDENTITY_COLUMNS_MAX];
} ordered_columns;

static void release_columns(void *memory)
{
    ordered_columns *columns = memory;
    for (size_t i = 0; i < PE_COUNT(columns->views); i++)
        pe_ordered_view_done(&columns->views[i]);
    free(columns);
}

/* Add the layer whose columns are in an order. */
static bool add_ordered(pe_layers *layers, const pe_layer *layer, const uint16_t *order,
                        bool halves)
{
    const uint64_t count = layer->view.shape[1];
    pe_layer beneath = pe_layer_beneath(layer);
    if (!pe_layer_note(&beneath, (pe_transform){.kind = PE_TRANSFORM_COLUMNS,
                                                .axis = 1,
                                                .count = count,
                                                .value = halves}) ||
        beneath.bits >= layers->least)
        return true;
    ordered_columns *columns =
        pe_layers_keep(layers, calloc(1, sizeof *columns), release_columns);
    if (!columns)
        return false;
    memcpy(columns->order, order, (size_t)count * sizeof *order);
    beneath.order = columns->order;
    if (!pe_ordered_view_init(&columns->views[0], &layer->view, columns->order,
                              &beneath.view) ||
        (layer->is == PE_OTHER_TENSOR &&
         !pe_ordered_view_init(&columns->views[1], &layer->other, columns->order,
                               &beneath.other))) {
        pe_error_add(layers->reterr, PE_NO_MEMORY, "", "", "memory for the search");
        return false;
    }
    pe_layers_add(layers, &beneath);
    return true;
}

bool pe_undo_column_order(pe_layers *layers, const pe_layer *layer)
{
    uint16_t order[PE_IDENTITY_COLUMNS_MAX], halves[PE_IDENTITY_COLUMNS_MAX];
    uint64_t sorted = 0;
    bool pairs = false;
    if (layer->is == PE_OTHER_TABLE || layer->view.rank != 2 ||
        layer->view.shape[1] > PE_IDENTITY_COLUMNS_MAX ||
        pe_layer_has(layer, PE_TRANSFORM_COLUMNS))
        return true;
    const uint64_t count = layer->view.shape[1], half = count / 2;
    for (uint64_t c = 0; c < count; c++)
        order[c] = (uint16_t)((c + half) % count);
    if (count >= 4 && !add_ordered(layers, layer, order, true))
        return false;
    if (layer->is == PE_OTHER_NONE && !pe_column_order_find(&layer->view, layer->waves, order,
                                                            &sorted, &pairs, layers->reterr))
        return false;
    for (uint64_t c = 0; c < sorted; c++) /* cosines, and then sines */
        halves[c] = order[c < half ? 2 * c + 1 : 2 * (c - half)];
    return (sorted == 0 || add_ordered(layers, layer, order, false)) &&
           (!pairs || sorted == 0 || add_ordered(layers, layer, halves, false));
}

void pe_write_columns(const pe_identity *identity, const pe_transform *form,
                      char dst[PE_FORM_TEXT])
{
    (void)identity;
    snprintf(dst, PE_FORM_TEXT, "with its columns in another order%s",
             form->value > 0 ? ": their halves are exchanged" : "");
}
