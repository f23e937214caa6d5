/* The layers of a table. */
#include "identify/form.h"

#include "identify/price.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HELD_MAX  ((size_t)32 << 20) /* bytes of tables that lie otherwise */
#define TURN_BITS 24

/* Memory that layers' views read. */
typedef struct pe_held_view {
    struct pe_held_view *next;
    void *memory;
    void (*release)(void *memory);
} pe_held_view;

static void remove_unit_axes(pe_layer *layer)
{
    size_t kept = 0;
    for (size_t axis = 0; axis < layer->view.rank; axis++)
        if (layer->view.shape[axis] > 1)
            layer->axes[kept++] = layer->axes[axis];
    layer->view = pe_view_squeezed(&layer->view);
    if (layer->is != PE_OTHER_NONE)
        layer->other = pe_view_squeezed(&layer->other);
}

bool pe_layers_refuse(pe_layers *layers)
{
    if (layers->reterr->count == 0)
        pe_error_add(layers->reterr, PE_MALFORMED, "body", "",
                     "a table that can be read and held in part");
    return false;
}

bool pe_layers_begin(pe_layers *layers, const pe_view *view, pe_error *reterr)
{
    pe_layer whole = {.view = *view, .copies = 1};
    for (size_t axis = 0; axis < view->rank; axis++)
        whole.axes[axis] = axis;
    layers->count = 0;
    layers->held = NULL;
    layers->noisy = false;
    layers->least = INFINITY;
    layers->room = HELD_MAX;
    layers->reterr = reterr;
    pe_layers_add(layers, &whole);
    return layers->count > 0 || pe_layers_refuse(layers);
}

void pe_layers_done(pe_layers *layers)
{
    for (pe_held_view *held = layers->held, *next; held; held = next) {
        next = held->next;
        held->release(held->memory);
        free(held);
    }
}

void *pe_layers_keep(pe_layers *layers, void *memory, void (*release)(void *memory))
{
    pe_held_view *held = memory ? malloc(sizeof *held) : NULL;
    if (!held) {
        if (memory)
            release(memory);
        pe_error_add(layers->reterr, PE_NO_MEMORY, "", "", "memory for the search");
        return NULL;
    }
    *held = (pe_held_view){layers->held, memory, release};
    layers->held = held;
    return memory;
}

void *pe_layers_hold(pe_layers *layers, size_t size)
{
    return pe_layers_keep(layers, malloc(size), free);
}

pe_layer pe_layer_beneath(const pe_layer *layer)
{
    pe_layer beneath = *layer;
    beneath.examined = false;
    beneath.waves = NULL;
    beneath.depth++;
    return beneath;
}

bool pe_layer_note(pe_layer *layer, pe_transform transform)
{
    if (layer->count == PE_TRANSFORMS_MAX)
        return false;
    const double bits = pe_price_form(&transform, &layer->view);
    layer->bits += bits;
    layer->turn += fmin(bits, TURN_BITS);
    transform.axis = transform.axis < layer->view.rank ? layer->axes[transform.axis] : 0;
    layer->transforms[layer->count++] = transform;
    return true;
}

bool pe_layer_has(const pe_layer *layer, pe_transform_kind kind)
{
    for (size_t i = 0; i < layer->count; i++)
        if (layer->transforms[i].kind == kind)
            return true;
    return false;
}

bool pe_layer_is_of_entries(const pe_layer *layer)
{
    return pe_layer_has(layer, PE_TRANSFORM_FACTOR) ||
           pe_layer_has(layer, PE_TRANSFORM_DECIMALS);
}

/* Whether two forms leave the same table; a mask may be filled in two ways. */
static bool is_same_form(const pe_transform *one, const pe_transform *other)
{
    return one->kind != PE_TRANSFORM_MASKED && one->kind == other->kind &&
           one->axis == other->axis && one->first == other->first &&
           one->count == other->count && one->value == other->value &&
           one->constant == other->constant;
}

static bool has_same_columns(const pe_layer *one, const pe_layer *other)
{
    const uint64_t count = one->order ? one->view.shape[one->view.rank - 1] : 0;
    return one->order == other->order ||
           (one->order && other->order && count == other->view.shape[other->view.rank - 1] &&
            memcmp(one->order, other->order, (size_t)count * sizeof *one->order) == 0);
}

/* Whether the same forms have been undone, in whatever order. */
static bool has_same_forms(const pe_layer *one, const pe_layer *other)
{
    bool same = one->count == other->count && has_same_columns(one, other);
    for (size_t i = 0; same && i < one->count; i++) {
        same = false;
        for (size_t j = 0; !same && j < other->count; j++)
            same = is_same_form(&one->transforms[i], &other->transforms[j]);
    }
    return same;
}

/* Read elements that are held: a pe_view's function. */
static bool read_held(void *context, uint64_t offset, void *dst, size_t size)
{
    memcpy(dst, (const unsigned char *)context + offset, size);
    return true;
}

pe_view pe_view_held(const pe_view *view, void *elements)
{
    pe_view held = *view;
    held.read = read_held;
    held.context = elements;
    held.offset = 0;
    held.swapped = false;
    pe_view_set_row_major(&held);
    return held;
}

/* Let a view that is not row-major be so, as what reads it line by line needs. False: it is too
 * large to be held, or cannot be read, or memory ran out. */
static bool pack_view(pe_layers *layers, pe_view *view)
{
    const size_t bytes = (size_t)pe_view_elements(view) * pe_element_size(view->element);
    uint64_t run = 1;
    size_t axis = view->rank;
    for (; axis > 0 && view->strides[axis - 1] == run; axis--)
        run *= view->shape[axis - 1];
    if (view->rank < 2 || axis == 0)
        return true;
    if (bytes > layers->room) /* a matrix is read by its strides, and so is the table itself */
        return view->rank == 2 || layers->count == 0;
    unsigned char *elements = pe_layers_hold(layers, bytes);
    if (!elements || !pe_view_read_elements(view, 0, view->shape[0], elements))
        return false;
    layers->room -= bytes;
    *view = pe_view_held(view, elements);
    return true;
}

/* Whether columns that were put in order are all there: their order is said of the tensor. */
static bool keeps_order(const pe_layer *layer)
{
    for (size_t i = 0; i < layer->count; i++)
        if (layer->transforms[i].kind == PE_TRANSFORM_COLUMNS &&
            layer->view.shape[layer->view.rank - 1] != layer->transforms[i].count)
            return false;
    return true;
}

void pe_layers_add(pe_layers *layers, const pe_layer *layer)
{
    pe_layer *added = &layers->items[layers->count];
    if (layers->count == PE_LAYERS_MAX || layer->bits >= layers->least)
        return;
    *added = *layer;
    remove_unit_axes(added);
    if (!keeps_order(added))
        return;
    for (size_t i = 0; i < layers->count; i++) {
        const pe_layer *known = &layers->items[i];
        if (known->is == added->is && has_same_forms(known, added))
            return;
    }
    if (pack_view(layers, &added->view) &&
        (added->is == PE_OTHER_NONE || pack_view(layers, &added->other)))
        layers->count++;
}

void pe_layers_add_two(pe_layers *layers, const pe_layer *layer, pe_transform form, pe_other is,
                       const pe_view views[2])
{
    pe_layer beneath = pe_layer_beneath(layer);
    if (!pe_layer_note(&beneath, form))
        return;
    for (size_t axis = form.axis;
         views[0].rank < layer->view.rank && axis + 1 < layer->view.rank; axis++)
        beneath.axes[axis] = layer->axes[axis + 1];
    beneath.is = is;
    beneath.view = views[0];
    beneath.other = views[1];
    pe_layers_add(layers, &beneath);
}
