/* Tables in memory as views. */
#include "held.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static bool read_held(void *context, uint64_t offset, void *dst, size_t size)
{
    const unit_held *self = context;
    if (offset > self->size || size > self->size - offset)
        return false;
    memcpy(dst, self->data + offset, size);
    return true;
}

void unit_hold(unit_held *ret_held, void *data, pe_element element, size_t rank,
               const uint64_t *shape)
{
    *ret_held = (unit_held){
        .data = data,
        .size = pe_element_size(element),
        .view = {.read = read_held, .context = ret_held, .element = element, .rank = rank}};
    for (size_t axis = 0; axis < rank; axis++)
        ret_held->size *= (size_t)(ret_held->view.shape[axis] = shape[axis]);
    pe_view_set_row_major(&ret_held->view);
}

void unit_hold_tensor(unit_held *ret_held, pe_table *table, size_t tensor)
{
    const pe_tensor *shape = pe_table_tensor(table, tensor);
    void *data = malloc((size_t)shape->bytes);
    ck_assert_ptr_nonnull(data);
    memcpy(data, pe_table_data(table, tensor), (size_t)shape->bytes);
    unit_hold(ret_held, data, pe_get_element(shape->dtype), shape->rank, shape->shape);
    pe_table_unref(table);
}
