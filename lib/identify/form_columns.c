/* The form of a matrix of waves whose columns lie in another order. */
#include "identify/form.h"

#include "foreign/ordered_view.h"
#include "identify/column_order.h"

#include <stdio.h>
#include <stdlib.h>

/* A view of the columns in order. */
typedef struct ordered_columns {
    pe_ordered_view view;
    uint16_t order[PE_IDENTITY_COLUMNS_MAX];
} ordered_columns;

static void release_columns(void *memory)
{
    ordered_columns *columns = memory;
    pe_ordered_view_done(&columns->view);
    free(columns);
}

bool pe_undo_column_order(pe_layers *layers, const pe_layer *layer)
{
    pe_layer beneath = pe_layer_beneath(layer);
    uint64_t count = 0;
    if (layer->is != PE_OTHER_NONE || layer->view.rank != 2 ||
        pe_layer_has(layer, PE_TRANSFORM_COLUMNS))
        return true;
    ordered_columns *columns =
        pe_layers_keep(layers, calloc(1, sizeof *columns), release_columns);
    if (!columns || !pe_column_order_find(&layer->view, layer->waves, columns->order, &count,
                                          layers->reterr))
        return false;
    if (count == 0 ||
        !pe_layer_note(&beneath,
                       (pe_transform){.kind = PE_TRANSFORM_COLUMNS, .axis = 1, .count = count}))
        return true;
    beneath.order = columns->order;
    if (!pe_ordered_view_init(&columns->view, &layer->view, columns->order, &beneath.view)) {
        pe_error_add(layers->reterr, PE_NO_MEMORY, "", "", "memory for the search");
        return false;
    }
    pe_layers_add(layers, &beneath);
    return true;
}

void pe_write_columns(const pe_identity *identity, const pe_transform *form,
                      char dst[PE_FORM_TEXT])
{
    (void)identity;
    (void)form;
    snprintf(dst, PE_FORM_TEXT, "with its columns in another order");
}
