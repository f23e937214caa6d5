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

/* Order the waves that columns of a layer have; NULL, and a problem, without memory. */
static pe_observed_wave *order_waves(pe_layers *layers, const pe_layer *layer,
                                     const uint16_t *order, uint64_t count)
{
    pe_observed_wave *waves = pe_layers_hold(layers, (size_t)count * sizeof *waves);
    for (uint64_t c = 0; waves && c < count; c++)
        waves[c] = layer->waves[order[c]];
    return waves;
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
    if (layer->waves && !(beneath.waves = order_waves(layers, layer, order, count)))
        return false;
    beneath.is_rough = !halves;
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
    uint16_t orders[PE_COLUMN_ORDERS][PE_IDENTITY_COLUMNS_MAX];
    size_t found = 0;
    if (layer->is == PE_OTHER_TABLE || layer->view.rank != 2 ||
        layer->view.shape[1] > PE_IDENTITY_COLUMNS_MAX ||
        pe_layer_has(layer, PE_TRANSFORM_COLUMNS))
        return true;
    const uint64_t count = layer->view.shape[1];
    for (uint64_t c = 0; c < count; c++)
        orders[0][c] = (uint16_t)((c + count / 2) % count);
    bool good = count < 4 || add_ordered(layers, layer, orders[0], true);
    if (good && layer->is == PE_OTHER_NONE)
        good =
            pe_column_orders_find(&layer->view, layer->waves, orders, &found, layers->reterr);
    for (size_t i = 0; good && i < found; i++)
        good = add_ordered(layers, layer, orders[i], false);
    return good;
}

void pe_write_columns(const pe_identity *identity, const pe_transform *form,
                      char dst[PE_FORM_TEXT])
{
    (void)identity;
    snprintf(dst, PE_FORM_TEXT, "with its columns in another order%s",
             form->value > 0 ? ": their halves are exchanged" : "");
}
