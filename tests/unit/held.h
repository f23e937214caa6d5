/* Tables in memory as views. */
#ifndef UNIT_HELD_H
#define UNIT_HELD_H

#include "posenc.h"

/* The view reads data[0, size), which tests may change, and cut short. */
typedef struct unit_held {
    unsigned char *data;
    size_t size;
    pe_view view;
} unit_held;

/* Let a view in row-major order have data as they are, which belong to the caller. */
void unit_hold(unit_held *ret_held, void *data, pe_element element, size_t rank,
               const uint64_t *shape);

/* Hold a copy of a tensor of a table, whose reference is dropped. The caller frees the data. */
void unit_hold_tensor(unit_held *ret_held, pe_table *table, size_t tensor);

#endif
